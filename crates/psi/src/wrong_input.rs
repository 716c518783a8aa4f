//! What can be wrong with what a matching protocol is given, or with the order in which it is called.
//!
//! Fields are names and numbers. No field holds an item: errors are printed and logged.

use crate::interface::role::Role;

/// What is wrong with this party's sets, sizes or calls.
#[derive(Debug, thiserror::Error)]
pub enum WrongInput {
    /// More or fewer items than announced.
    #[error("{given} items are given where {announced} are announced; announce the true size")]
    Items {
        /// Items that are given.
        given: usize,
        /// Items that are announced.
        announced: usize,
    },
    /// More or fewer identifiers than announced.
    #[error("{given} identifiers are given where {announced} are announced")]
    Identifiers {
        /// Identifiers that are given.
        given: usize,
        /// Identifiers that are announced: rows by columns.
        announced: usize,
    },
    /// More or fewer items, or other payloads, than announced.
    #[error(
        "{items} items and {payloads} payloads are given where {announced} were announced; give one payload for each item"
    )]
    Payloads {
        /// Items that are given.
        items: usize,
        /// Payloads that are given.
        payloads: usize,
        /// Items that are announced.
        announced: usize,
    },
    /// Other columns of numbers to share than announced.
    #[error("the payload is not {columns} columns of {rows} numbers as announced")]
    PayloadShape {
        /// Columns that are announced.
        columns: usize,
        /// Rows that are announced.
        rows: usize,
    },
    /// Other items or values to sum than announced.
    #[error("{items} items with {columns} columns of values are announced, others are given")]
    Values {
        /// Items that are announced.
        items: usize,
        /// Columns that are announced.
        columns: usize,
    },
    /// More or fewer numbers of a union than announced.
    #[error("a union has {given} numbers where {announced} were announced")]
    UnionNumbers {
        /// Numbers that are given.
        given: usize,
        /// Numbers that are announced.
        announced: usize,
    },
    /// More keys than the secrets of a union are long enough for.
    #[error(
        "ids of {keys} keys are too many for the protocol oprf, whose secrets are long enough for {} million; use --protocol ddh",
        .most / 1_000_000
    )]
    UnionSize {
        /// The sender's keys.
        keys: usize,
        /// The largest number of keys.
        most: usize,
    },
    /// Items that repeat.
    #[error("two of this party's items are equal; give each item once")]
    EqualItems,
    /// Numbers of a union that repeat.
    #[error("the numbers of a union are not distinct")]
    EqualNumbers,
    /// A table without identifiers.
    #[error("a table has at least one column of identifiers")]
    NoIdentifiers,
    /// Several parties without their sizes, or without a leader who learns the outcome.
    #[error("a size for each party, and a leader among the recipients, are needed")]
    Owners,

    /// A set or a budget that no prepared set can have.
    #[error("a prepared set has fewer than 2^32 items and a budget of 1 to 2^48")]
    PreparedSize,
    /// A number of answered items that a prepared set cannot have.
    #[error("{answered} asked items do not fit the budget of a prepared set")]
    Answered {
        /// Items that were asked about.
        answered: u64,
    },
    /// More questions than a prepared set has left.
    #[error("{asked} items are asked about, the prepared set's budget has {left} left: prepare it anew")]
    Budget {
        /// Items that are asked about.
        asked: usize,
        /// Items that may be asked about.
        left: u64,
    },
    /// Bytes that are no prepared set.
    #[error("this is not the file of a prepared set")]
    NoPreparedSet,
    /// Bytes that are no published set.
    #[error("this is not a published set, or it is damaged")]
    NoPublishedSet,

    /// A round that is not the next.
    #[error("round {round} of {rounds} is called where round {next} is next")]
    Round {
        /// The round that is called, from 0.
        round: u32,
        /// How many there are.
        rounds: u32,
        /// The next round.
        next: u32,
    },
    /// A call before or after its turn.
    #[error("{call} of {protocol} is called out of order")]
    OutOfOrder {
        /// The call, in words.
        call: &'static str,
        /// The protocol's name.
        protocol: String,
    },
    /// A protocol that ends without a result.
    #[error("{protocol} ended without a result: an earlier failure or its own fault")]
    NoResult {
        /// The protocol's name.
        protocol: String,
    },
    /// A protocol whose rounds are more than the exchanges that it declares.
    #[error("{protocol} is not complete after its {calls} calls: in some round it waits before it has sent")]
    Incomplete {
        /// The protocol's name.
        protocol: String,
        /// How many calls it declares.
        calls: u32,
    },
    /// Rounds without the proofs that are asked of them.
    #[error("these rounds are to prove matches, and give no proofs")]
    NoProofs,
    /// No thread for a protocol.
    #[error("no thread for a matching protocol: {reason}")]
    NoThread {
        /// The operating system's reason.
        reason: String,
    },

    /// Rounds that cannot move.
    #[error("these rounds stay in the process that has begun them: they cannot be saved")]
    Unmovable,
    /// A run that cannot be saved.
    #[error("this run of {protocol} cannot be saved: it has failed, or was not begun as one that moves")]
    Unsaved {
        /// The protocol's name.
        protocol: String,
    },
    /// Bytes that are no saved state.
    #[error("these bytes are no saved state of this version, or were changed; begin the pair of sets anew")]
    NoState,
    /// A state of another protocol or role.
    #[error(
        "this state is of {saved} as {saved_role:?}, and not of {protocol} as {role:?}; restore it where it belongs"
    )]
    OtherProtocol {
        /// The protocol of the state.
        saved: String,
        /// The role of the state.
        saved_role: Role,
        /// The protocol that it is restored with.
        protocol: String,
        /// The role that it is restored with.
        role: Role,
    },
    /// A state of other parameters or values.
    #[error(
        "this state of {protocol} was saved with other parameters, values or columns than it is restored with; restore it with the same ones"
    )]
    OtherValues {
        /// The protocol's name.
        protocol: String,
    },
    /// A protocol that fails where it did not when the state was saved.
    #[error(
        "{protocol} does not do what it did before this state was saved; restore it with the same version of tacit"
    )]
    OtherEvents {
        /// The protocol's name.
        protocol: String,
    },
    /// A protocol that sends something else than when the state was saved.
    #[error(
        "{protocol} does not send what it sent before this state was saved; restore it with the same version of tacit"
    )]
    OtherMessages {
        /// The protocol's name.
        protocol: String,
    },
    /// A second continuation of one state.
    #[error(
        "this run of {protocol} went on from here before with something else; a state is continued once, or again with the same messages alone"
    )]
    Continued {
        /// The protocol's name.
        protocol: String,
    },

    /// An exception of a plug-in.
    #[error("the plug-in {name:?} raised {exception}; run it by itself to find out why")]
    Raised {
        /// The plug-in's name.
        name: String,
        /// The exception's type. Its own words could quote items.
        exception: String,
    },
    /// An outcome of a plug-in that its sets cannot have.
    #[error("the plug-in {name:?} has an outcome that is not {}; nothing of it is used", outcome(*.role))]
    Outcome {
        /// The plug-in's name.
        name: String,
        /// Whose outcome it is.
        role: Role,
    },
}

/// What a role's outcome is, in words.
fn outcome(role: Role) -> &'static str {
    match role {
        Role::Sender => "an order of all its items",
        Role::Receiver => {
            "pairs of an item of its own and a place of the sender's, each item and each place once at most"
        }
    }
}
