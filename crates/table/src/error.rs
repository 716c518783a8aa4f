//! What can go wrong in a table operation, by whose fault it is.

use tacit_mpc::MpcError;
use tacit_net::{Fault, NetError};
use tacit_sealed::SealedError;

use crate::wrong_input::WrongInput;

/// The result of a table operation.
pub type Result<T, E = TableError> = std::result::Result<T, E>;

/// An error of a table operation.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The plan or the owner's data is wrong.
    #[error("{}{what}", place(.step.as_deref()))]
    Input {
        /// Name of the step that it is about, where there is one.
        step: Option<String>,
        /// What is wrong.
        what: WrongInput,
    },
    /// A bound that the program checks does not hold. Every party ends the run by itself.
    #[error("a bound that the program checks does not hold, so that nothing is revealed; bound the array more widely")]
    Withheld,
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
            Self::Input { .. } => Fault::Input,
            Self::Withheld => Fault::Withheld,
            Self::Policy(_) => Fault::Policy,
            Self::Net(error) => error.fault(),
            Self::Peer(_) => Fault::Misbehaved,
            Self::Internal(_) => Fault::Internal,
        }
    }

    /// The same error; one about the plan or the data is of this step, unless it is of one already.
    pub(crate) fn within(self, step: &str) -> Self {
        match self {
            Self::Input { step: None, what } => Self::Input { step: Some(step.to_owned()), what },
            other => other,
        }
    }
}

/// How a sentence about a step begins.
fn place(step: Option<&str>) -> String {
    step.map_or_else(String::new, |step| format!("{step}: "))
}

impl From<WrongInput> for TableError {
    fn from(what: WrongInput) -> Self {
        Self::Input { step: None, what }
    }
}

impl From<SealedError> for TableError {
    fn from(error: SealedError) -> Self {
        match error {
            SealedError::Randomness(_) => Self::Internal(error.to_string()),
            error => WrongInput::File { error }.into(),
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
