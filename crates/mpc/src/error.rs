//! What can go wrong in a secure computation, by whose fault it is.

use tacit_net::{Fault, NetError};
use tacit_ot::OtError;

/// The result of a protocol step.
pub type Result<T, E = MpcError> = std::result::Result<T, E>;

/// An error of a protocol.
#[derive(Debug, thiserror::Error)]
pub enum MpcError {
    /// A peer is gone, misbehaves or cheats.
    #[error(transparent)]
    Net(#[from] NetError),
    /// What the nodes made public together is not what it must be; which of the peers misbehaves cannot be told.
    #[error("a peer misbehaves: {0}; no result was produced")]
    Misbehaved(String),
    /// The approved disclosures do not contain what would be opened.
    #[error("step {site} would disclose {what}, which the approved plan does not contain; nothing was opened")]
    NotPermitted {
        /// The step that asked.
        site: String,
        /// What it would have shown, in words.
        what: String,
    },
    /// The operating system gives no randomness.
    #[error("the operating system gives no randomness: {0}")]
    Randomness(String),
}

impl MpcError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Net(error) => error.fault(),
            Self::Misbehaved(_) => Fault::Misbehaved,
            Self::NotPermitted { .. } => Fault::Policy,
            Self::Randomness(_) => Fault::Internal,
        }
    }
}

impl From<OtError> for MpcError {
    fn from(error: OtError) -> Self {
        match error {
            OtError::Net(error) => Self::Net(error),
            OtError::Cheating { peer, step, detail } => Self::Net(NetError::Cheating { peer, step, detail }),
            OtError::Ended { peer, step } => {
                let detail = "transfers with it have ended with an earlier error".to_owned();
                Self::Net(NetError::Gone { peer, step, detail })
            }
            OtError::Randomness(detail) => Self::Randomness(detail),
        }
    }
}
