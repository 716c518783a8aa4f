use tacit_math::Seed;
use tacit_net::{Fault, NetError, PartyId, Session};

/// Why a protocol between two parties ended.
#[derive(Debug, thiserror::Error)]
pub enum OtError {
    /// The connection failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The peer's messages contradict each other: it deviates from the protocol, or runs another version of it.
    #[error(
        "{peer} sent something at {step} that no honest party sends: {detail}; the run is aborted and nothing is opened"
    )]
    Cheating {
        /// Name of the peer.
        peer: String,
        /// Path of the step.
        step: String,
        /// What is wrong, without any secret.
        detail: String,
    },
    /// Transfers with a peer go on after an error, in which this party has erased its secret.
    #[error(
        "{step}: the transfers with {peer} have ended with an earlier error, and their secret is erased; set both parties up anew"
    )]
    Ended {
        /// Name of the peer.
        peer: String,
        /// Path of the step.
        step: String,
    },
    /// The operating system gives no randomness.
    #[error("the operating system gives no randomness: {0}")]
    Randomness(String),
}

impl OtError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Net(error) => error.fault(),
            Self::Cheating { .. } => Fault::Cheating,
            Self::Ended { .. } | Self::Randomness(_) => Fault::Internal,
        }
    }

    /// The peer sent, in the session's present step, what no honest party sends.
    pub fn cheating(session: &Session, peer: PartyId, detail: &str) -> Self {
        let (peer, step) = (session.name(peer).to_owned(), session.path().to_owned());
        Self::Cheating { peer, step, detail: detail.to_owned() }
    }

    /// This party's part in transfers with the peer is over since an error.
    pub fn ended(session: &Session, peer: PartyId) -> Self {
        Self::Ended { peer: session.name(peer).to_owned(), step: session.path().to_owned() }
    }
}

/// A fresh seed from the operating system.
pub(crate) fn fresh_seed() -> Result<Seed, OtError> {
    Seed::random().map_err(|error| OtError::Randomness(error.to_string()))
}

/// A fresh block from the operating system.
pub(crate) fn fresh_block() -> Result<u128, OtError> {
    Ok(u128::from_le_bytes(*fresh_seed()?.expose()))
}
