//! What can go wrong between parties, named by whose fault it is.

use crate::fault::Fault;

/// A failed session. Every variant that concerns a peer names it and the step in which this party noticed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Nobody answered at the peer's address, or the peer never dialled this party.
    #[error(
        "{step}: party {peer:?} is not reachable at {address} after {seconds} s ({detail}); check that it runs and that the address and firewall allow it"
    )]
    NotReachable {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// The address that was tried.
        address: String,
        /// For how long it was tried.
        seconds: u64,
        /// The last reason the operating system gave.
        detail: String,
    },
    /// The peer's key is not the agreed one, or the peer holds another key for this party.
    #[error(
        "{step}: wrong key between this party and {peer:?}: {detail}; compare the certificate fingerprints of both"
    )]
    WrongKey {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// Which side refused, and why.
        detail: String,
    },
    /// The peer runs another version of tacit.
    #[error("{step}: party {peer:?} runs tacit {theirs}, this party {ours}; install the same version at both")]
    DifferentVersion {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// This party's version.
        ours: String,
        /// The peer's version.
        theirs: String,
    },
    /// The peer is about to run another plan.
    #[error(
        "{step}: party {peer:?} has another plan: {detail}; compare the query, the recipients, the options and the public files of both parties"
    )]
    DifferentPlan {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// What differs.
        detail: String,
    },
    /// The peer has the same plan, and approved something else than this party.
    #[error(
        "{step}: party {peer:?} has the same plan and approved something else under it: the permits, the operators or their order, the nodes or the link differ; this is a fault in one of the two programs, install the same tacit anew at both"
    )]
    DifferentApproval {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
    },
    /// The peer has shares of another session than this party.
    #[error("{step}: party {peer:?} and this party do not have shares of one run: {what}")]
    DifferentShares {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// Which shares, and what to do.
        what: String,
    },
    /// The peer's connection ended in the middle.
    #[error("{step}: party {peer:?} is gone: {detail}; no result was produced, start the run again")]
    Gone {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// What this party saw.
        detail: String,
    },
    /// The peer ended the run and said why.
    #[error("{step}: party {peer:?} ended the run: {reason}")]
    Aborted {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// The peer's own words, cut to a line.
        reason: String,
    },
    /// The peer was silent, without even a sign of life.
    #[error("{step}: party {peer:?} gave no sign of life for {seconds} s; check its host and the network between")]
    TimedOut {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// The length of the silence.
        seconds: u64,
    },
    /// The peer is at another point of the protocol, or sent something that is not the protocol.
    #[error("{step}: party {peer:?} is out of step: {detail}; this is a fault in one of the two programs")]
    Desynchronised {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// What was expected and what came.
        detail: String,
    },
    /// The peer deviates from a protocol that checks it.
    #[error(
        "{step}: party {peer:?} sent what no honest party sends: {detail}; the run is aborted and nothing more is opened"
    )]
    Cheating {
        /// The peer's name.
        peer: String,
        /// Step path of this party.
        step: String,
        /// Which check failed.
        detail: String,
    },
    /// This party itself ended the run, by [`crate::AbortHandle`].
    #[error("{step}: {reason}")]
    Interrupted {
        /// Step path of this party.
        step: String,
        /// Why, cut to a line for the peers.
        reason: String,
    },
    /// What this party was asked to do cannot work.
    #[error("bad network configuration: {detail}")]
    BadConfiguration {
        /// What is wrong and what to do.
        detail: String,
    },
}

impl NetError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotReachable { .. } | Self::Gone { .. } | Self::Aborted { .. } | Self::TimedOut { .. } => Fault::Gone,
            Self::WrongKey { .. }
            | Self::DifferentVersion { .. }
            | Self::DifferentPlan { .. }
            | Self::DifferentApproval { .. }
            | Self::DifferentShares { .. }
            | Self::Desynchronised { .. } => Fault::Misbehaved,
            Self::Cheating { .. } => Fault::Cheating,
            Self::Interrupted { .. } => Fault::Interrupted,
            Self::BadConfiguration { .. } => Fault::Input,
        }
    }

    /// The peer at fault, where there is one.
    pub fn peer(&self) -> Option<&str> {
        match self {
            Self::NotReachable { peer, .. }
            | Self::WrongKey { peer, .. }
            | Self::DifferentVersion { peer, .. }
            | Self::DifferentPlan { peer, .. }
            | Self::DifferentApproval { peer, .. }
            | Self::DifferentShares { peer, .. }
            | Self::Gone { peer, .. }
            | Self::Aborted { peer, .. }
            | Self::TimedOut { peer, .. }
            | Self::Desynchronised { peer, .. }
            | Self::Cheating { peer, .. } => Some(peer),
            Self::Interrupted { .. } | Self::BadConfiguration { .. } => None,
        }
    }

    /// The step path in which this party noticed.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::NotReachable { step, .. }
            | Self::WrongKey { step, .. }
            | Self::DifferentVersion { step, .. }
            | Self::DifferentPlan { step, .. }
            | Self::DifferentApproval { step, .. }
            | Self::DifferentShares { step, .. }
            | Self::Gone { step, .. }
            | Self::Aborted { step, .. }
            | Self::TimedOut { step, .. }
            | Self::Desynchronised { step, .. }
            | Self::Cheating { step, .. }
            | Self::Interrupted { step, .. } => Some(step),
            Self::BadConfiguration { .. } => None,
        }
    }

    /// The same error, located in `step` unless it is located already. Threads beside the protocol notice a fault
    /// without knowing the step.
    pub(crate) fn at(mut self, step: &str) -> Self {
        if let Some(place) = self.step_mut().filter(|place| place.is_empty()) {
            step.clone_into(place);
        }
        self
    }

    fn step_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::NotReachable { step, .. }
            | Self::WrongKey { step, .. }
            | Self::DifferentVersion { step, .. }
            | Self::DifferentPlan { step, .. }
            | Self::DifferentApproval { step, .. }
            | Self::DifferentShares { step, .. }
            | Self::Gone { step, .. }
            | Self::Aborted { step, .. }
            | Self::TimedOut { step, .. }
            | Self::Desynchronised { step, .. }
            | Self::Cheating { step, .. }
            | Self::Interrupted { step, .. } => Some(step),
            Self::BadConfiguration { .. } => None,
        }
    }
}
