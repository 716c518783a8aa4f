//! Why matching tables ends, by whose fault.

use std::io;
use std::path::Path;

use tacit_net::{Fault, NetError};
use tacit_psi::PsiError;
use tacit_psi::binning::Overflow;

/// Why matching tables ended.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The protocol or the connection failed.
    #[error(transparent)]
    Protocol(#[from] PsiError),
    /// A bin does not fit its public size.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// This party's data cannot be used.
    #[error("{0}")]
    Input(String),
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
}

impl MatchError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Protocol(error) => error.fault(),
            Self::Overflow(_) | Self::Input(_) | Self::File { .. } | Self::Damaged { .. } => Fault::Input,
        }
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

impl From<NetError> for MatchError {
    fn from(error: NetError) -> Self {
        Self::Protocol(error.into())
    }
}
