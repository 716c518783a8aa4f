//! Why a matching protocol ends, by whose fault.

use tacit_net::{Fault, NetError, PartyId, Session};
use tacit_ot::OtError;

use crate::wrong_input::WrongInput;

/// Why a matching protocol ended.
#[derive(Debug, thiserror::Error)]
pub enum PsiError {
    /// The connection failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Oblivious transfer failed.
    #[error(transparent)]
    Ot(#[from] OtError),
    /// This party's own input or configuration cannot be used.
    #[error(transparent)]
    Input(#[from] WrongInput),
    /// Identifiers that repeat at both parties may give more pairs of rows than memory holds.
    #[error(
        "keys repeat at both parties, so that up to {} pairs of rows match, more than the {} that the declared memory allows; declare more --memory at both parties, leave out such rows, or let each key stand in one row",
        grouped(*.pairs),
        grouped(*.most)
    )]
    Pairs {
        /// Pairs of equal identifiers.
        pairs: u64,
        /// How many of them fit.
        most: u64,
    },
    /// The operating system gives no randomness.
    #[error("the operating system gives no randomness: {0}")]
    Randomness(String),
    /// The peer sent something that no honest party sends.
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
}

impl PsiError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Net(error) => error.fault(),
            Self::Ot(error) => error.fault(),
            Self::Input(_) | Self::Pairs { .. } => Fault::Input,
            Self::Randomness(_) => Fault::Internal,
            Self::Cheating { .. } => Fault::Cheating,
        }
    }

    /// The peer and the step concerned, where there are.
    pub fn place(&self) -> [Option<&str>; 2] {
        match self {
            Self::Net(error) | Self::Ot(OtError::Net(error)) => [error.peer(), error.step()],
            Self::Cheating { peer, step, .. }
            | Self::Ot(OtError::Cheating { peer, step, .. } | OtError::Ended { peer, step }) => {
                [Some(peer), Some(step)]
            }
            Self::Input(_) | Self::Pairs { .. } | Self::Randomness(_) | Self::Ot(OtError::Randomness(_)) => {
                [None, None]
            }
        }
    }

    /// The peer sent, in the session's present step, what no honest party sends.
    pub fn cheating(session: &Session, peer: PartyId, detail: &str) -> Self {
        let (peer, step) = (session.name(peer).to_owned(), session.path().to_owned());
        Self::Cheating { peer, step, detail: detail.to_owned() }
    }
}

impl From<getrandom::Error> for PsiError {
    fn from(error: getrandom::Error) -> Self {
        Self::Randomness(error.to_string())
    }
}

/// A number with commas between thousands.
pub fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::PsiError;

    #[test]
    fn large_numbers_have_commas() {
        let told = PsiError::Pairs { pairs: 64_000_007, most: 999 }.to_string();
        assert!(told.contains("up to 64,000,007 pairs of rows match, more than the 999 that"), "{told}");
    }
}
