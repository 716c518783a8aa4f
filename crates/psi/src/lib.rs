//! Private set intersection and its relatives: one file a protocol.
//!
//! - [`intersection`]: protocols whose outcome is an intersection, and [`relatives`]: protocols with other outcomes;
//! - [`parts`]: stores, groups, tags and sizes that protocols share;
//! - [`interface`]: the traits of all of them, [`protocol`] (the functionality) and [`rounds`] (the same without a
//!   transport);
//! - [`choice`]: which of the protocols runs, by [`prices`].

pub mod choice;
pub mod error;
pub mod interface;
pub mod intersection;
pub mod parts;
pub mod prices;
pub mod relatives;
pub mod wrong_input;

pub use error::PsiError;
pub use interface::protocol::{Declared, Held, Item, Match, Outcome, Prepared, Protocol, Sizes};
pub use interface::role::Role;
pub use interface::rounds::{Driven, Relayed, Rounds};
pub use interface::{protocol, rounds};
pub use intersection::dh_psi::DhPsi;
pub use intersection::kkrt::Kkrt;
pub use intersection::vole_psi::VolePsi;
pub use intersection::{alignment, circuit_psi, dh_psi, kkrt, multi_party, unbalanced, vole_psi};
pub use parts::{binning, chance, cuckoo, group, okvs, permute_share, row_counts, tag_lookup, tags, tokens};
pub use prices::Prices;
pub use relatives::{blind_join, cardinality_sum, multi_key, private_id, private_id_oprf, ps3i, set_union};
pub use wrong_input::WrongInput;
