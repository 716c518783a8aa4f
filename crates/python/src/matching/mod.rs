//! The binding of private set intersection: a connection of two parties, a party's rows in bins, and their match.

mod binned;
mod cost;
mod pair;
mod plugin;
mod prepared;
mod rows;
mod whole;

pub use binned::{Binned, KeyedTable};
pub use cost::{matching_capacity, matching_cost, matching_protocols};
pub use pair::Pair;
pub use prepared::{PreparedSet, published_bytes, query_cost};
pub use rows::MatchedRows;
pub use whole::{Identified, SharedRows, aggregate_cost, ids_by_keys_cost, ids_cost, ids_methods, shares_cost};
