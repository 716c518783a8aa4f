//! Whose fault an error is: one classification for the errors of all rooms.

/// Whose fault an error is. Every room's error says it; whoever tells a person looks at this and at no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// This party's user, data or configuration.
    Input,
    /// The plan: it would disclose what is not approved.
    Policy,
    /// The data: a bound that a program checks does not hold, as all parties are told alike.
    Withheld,
    /// A peer is no longer there, or has ended the run.
    Gone,
    /// A peer is there and does not do what was agreed: another key, version or plan, or bytes that are not the
    /// protocol.
    Misbehaved,
    /// A peer sent what no honest party sends, where a protocol checks that.
    Cheating,
    /// This party ended the run by its own wish.
    Interrupted,
    /// tacit itself, or the machine.
    Internal,
}
