//! Why matching tables ends, by whose fault.

use std::io;
use std::path::Path;

use tacit_net::{Fault, NetError, PartyId, Session};
use tacit_psi::PsiError;
use tacit_psi::binning::Overflow;
use tacit_psi::error::grouped;
use tacit_sealed::SealedError;

use crate::messages::Misbehaviour;
use crate::wrong_input::{Unapproved, WrongInput, WrongPlan};

/// Why matching tables ended.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The protocol or the connection failed.
    #[error(transparent)]
    Protocol(#[from] PsiError),
    /// A peer told what no honest party tells.
    #[error("{step}: party {peer:?} tells what no honest party tells: {what}; the match has ended")]
    Misbehaved {
        /// The peer's name.
        peer: String,
        /// Path of the step.
        step: String,
        /// What is wrong with it.
        what: Misbehaviour,
    },
    /// A peer refuses to go on.
    #[error("party {peer:?} refuses to go on; it says there why")]
    Refused {
        /// The peer's name.
        peer: String,
    },
    /// This party would announce what cannot be.
    #[error("this party would announce {0}; correct its options or its private file")]
    Announced(Misbehaviour),
    /// A text that is no plan of a match.
    #[error("this is no plan of a match: {0}")]
    Plan(#[from] WrongPlan),
    /// Something is to be run that the approved plan does not say.
    #[error("the approved plan of this match does not show {0}")]
    NotApproved(Unapproved),
    /// A step is taken after the end.
    #[error("the connection has ended; connect again")]
    Ended,
    /// A step is taken before the parties have announced their tables.
    #[error("a match begins with what its parties announce")]
    Unannounced,
    /// The operating system gives no socket.
    #[error("no socket is left ({0}); close other programs")]
    Socket(String),
    /// A bin does not fit its public size.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// This party's data cannot be used.
    #[error(transparent)]
    Input(#[from] WrongInput),
    /// Keys that repeat at both parties give more rows than memory holds.
    #[error(
        "keys repeat at both parties, so that a bin of the output has {rows} rows where {most} fit into the declared memory; declare more --memory at both parties, or let each key stand in one row"
    )]
    JointRows {
        /// Rows of the bin.
        rows: u64,
        /// How many of them fit.
        most: u64,
    },
    /// Keys that repeat at several parties give more rows than memory holds.
    #[error(
        "keys repeat at several parties, so that the output has {} rows, more than the {} that the declared memory allows; declare more --memory at all parties, or let each key stand in one row",
        grouped(*.rows),
        grouped(*.most)
    )]
    OutputRows {
        /// Rows of the output.
        rows: u64,
        /// How many of them fit.
        most: u64,
    },
    /// A temporary file cannot be read or written.
    #[error(
        "{path}: cannot be read or written ({reason}); free space or choose another folder, and run the same command again"
    )]
    File {
        /// Which file.
        path: String,
        /// The operating system's reason.
        reason: String,
    },
    /// A temporary file is not as it was written.
    #[error("{path}: is damaged; remove the folder that it is in, check the disk, and start the match anew")]
    Damaged {
        /// Which file.
        path: String,
    },
    /// A temporary file was encrypted under another key of this party.
    #[error(
        "{path}: was encrypted under another private key of this party; put that key back, or remove the folder that it is in and start the match anew"
    )]
    OtherKey {
        /// Which file.
        path: String,
    },
}

impl MatchError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Protocol(error) => error.fault(),
            Self::Misbehaved { .. } => Fault::Misbehaved,
            Self::Refused { .. } => Fault::Gone,
            Self::NotApproved(_) | Self::Ended | Self::Unannounced | Self::Socket(_) => Fault::Internal,
            Self::Overflow(_)
            | Self::Input(_)
            | Self::Announced(_)
            | Self::Plan(_)
            | Self::JointRows { .. }
            | Self::OutputRows { .. }
            | Self::File { .. }
            | Self::Damaged { .. }
            | Self::OtherKey { .. } => Fault::Input,
        }
    }

    /// The peer and the step concerned, where there are.
    pub fn place(&self) -> [Option<&str>; 2] {
        match self {
            Self::Protocol(error) => error.place(),
            Self::Misbehaved { peer, step, .. } => [Some(peer), Some(step)],
            Self::Refused { peer } => [Some(peer), None],
            _ => [None, None],
        }
    }

    /// A peer told, in the session's present step, what no honest party tells.
    pub fn misbehaved(session: &Session, peer: PartyId, what: Misbehaviour) -> Self {
        Self::Misbehaved { peer: session.name(peer).to_owned(), step: session.path().to_owned(), what }
    }

    /// A file that is not as it was written.
    pub fn damaged(path: &Path) -> Self {
        Self::Damaged { path: path.display().to_string() }
    }

    /// An error of one file.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self::File { path: path.display().to_string(), reason: error.to_string() }
    }
}

impl From<SealedError> for MatchError {
    fn from(error: SealedError) -> Self {
        match error {
            SealedError::Damaged { path, .. } => Self::damaged(&path),
            SealedError::OtherKey { path } => Self::OtherKey { path: path.display().to_string() },
            SealedError::Unread { path, reason } | SealedError::Unwritten { path, reason } => {
                Self::File { path: path.display().to_string(), reason }
            }
            SealedError::Randomness(reason) => Self::Protocol(PsiError::Randomness(reason)),
        }
    }
}

impl From<NetError> for MatchError {
    fn from(error: NetError) -> Self {
        Self::Protocol(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::MatchError;

    #[test]
    fn large_numbers_have_commas() {
        let told = MatchError::OutputRows { rows: 64_000_007, most: 999 }.to_string();
        assert!(told.contains("the output has 64,000,007 rows, more than the 999 that"), "{told}");
    }
}
