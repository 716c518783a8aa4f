use tacit_net::NetError;

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
}
