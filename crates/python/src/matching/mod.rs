//! The binding of private set intersection: a connection of two parties, a party's rows in bins, and their match.

mod binned;
mod cost;
mod pair;
mod plugin;

pub use binned::{Binned, MatchedRows};
pub use cost::{matching_capacity, matching_cost, matching_protocols};
pub use pair::Pair;
