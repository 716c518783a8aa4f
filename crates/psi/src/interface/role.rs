//! The two roles of a protocol.

/// The two parts of a protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Role {
    /// Evaluates or masks its items for the receiver.
    Sender,
    /// Learns the matches first.
    Receiver,
}
