//! Deviations in a peer's messages.

/// The deviation in a message that no honest party sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misbehaviour {
    /// It is longer than any message.
    #[error("a message longer than any is")]
    Length,
    /// It has another layout.
    #[error("a message of another layout")]
    Layout,
    /// Rows.
    #[error("more rows than a table can have")]
    Rows,
    /// Memory.
    #[error("no memory, or more than a machine can have")]
    Memory,
    /// Workers.
    #[error("no worker, or more than a machine can have")]
    Workers,
    /// Kinds of key columns.
    #[error("kinds of other columns than those of the key")]
    Kinds,
    /// Names of columns.
    #[error("columns without proper names")]
    Columns,
    /// Columns that the plan does not share.
    #[error("other columns than those of the plan")]
    OtherColumns,
    /// Results of an earlier run.
    #[error("more bins than there can be")]
    Bins,
    /// Another point of the run.
    #[error("another point of the run")]
    Point,
    /// Numbers that cannot be, from such tables.
    #[error("numbers that do not follow from the tables")]
    Numbers,
    /// What a prepared table may be asked about.
    #[error("a budget that there cannot be")]
    Budget,
    /// Another published set than the one that was offered.
    #[error("another published set than it offered")]
    Published,
}
