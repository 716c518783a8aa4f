//! What can go wrong in a table operation, by whose fault it is.

use tacit_mpc::MpcError;
use tacit_net::{Fault, NetError};

/// The result of a table operation.
pub type Result<T> = std::result::Result<T, TableError>;

/// An error of a table operation.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The plan or the owner's data is wrong.
    #[error("{0}")]
    Input(String),
    /// The approved disclosures do not contain what a step would open.
    #[error("{0}")]
    Policy(String),
    /// A peer is gone, misbehaves or cheats.
    #[error(transparent)]
    Net(NetError),
    /// A peer misbehaves, and which one cannot be told.
    #[error("{0}")]
    Peer(String),
    /// tacit's own fault, or the machine's.
    #[error("{0}")]
    Internal(String),
}

impl TableError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Input(_) => Fault::Input,
            Self::Policy(_) => Fault::Policy,
            Self::Net(error) => error.fault(),
            Self::Peer(_) => Fault::Misbehaved,
            Self::Internal(_) => Fault::Internal,
        }
    }

    /// The same error; one about the plan or the data says in which step.
    pub(crate) fn within(self, step: &str) -> Self {
        match self {
            Self::Input(text) => Self::Input(format!("{step}: {text}")),
            other => other,
        }
    }
}

impl From<MpcError> for TableError {
    fn from(error: MpcError) -> Self {
        match error {
            MpcError::Net(error) => Self::Net(error),
            MpcError::Misbehaved(_) => Self::Peer(error.to_string()),
            MpcError::NotPermitted { .. } => Self::Policy(error.to_string()),
            MpcError::Randomness(_) => Self::Internal(error.to_string()),
        }
    }
}
