//! Who takes part.

/// Index of a party in the session's party list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct PartyId(pub usize);
