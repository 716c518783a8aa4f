//! The binding of private set intersection: connections of two parties and of more, a party's rows in bins, and their
//! match.

mod announced;
mod binned;
mod choice;
mod group;
mod joined;
mod pair;
mod plan;
mod plugin;
mod prepared;
mod protocols;
mod rows;
mod sealed;
mod whole;

pub use announced::{Announcement, key_kinds};
pub use binned::{Binned, KeyedTable};
pub use choice::{choose_bins, choose_leader, choose_whole};
pub use group::Group;
pub use pair::Pair;
pub use plan::MatchPlan;
pub use prepared::{Offer, PreparedSet, published_bytes, query_cost};
pub use protocols::{matching_protocols, matching_questions};
pub use rows::MatchedRows;
pub use sealed::{read_sealed, seal, unseal, write_sealed};
pub use whole::{Identified, SharedRows, ids_methods};
