//! Private set intersection and its relatives: one file a protocol, all behind the traits of [`protocol`] (the
//! functionality) and [`rounds`] (the same without a transport).

pub mod alignment;
pub mod binning;
pub mod blind_join;
mod blinding;
pub mod cardinality_sum;
pub mod chance;
pub mod circuit_psi;
pub mod cuckoo;
pub mod dh_psi;
pub mod error;
pub mod group;
pub mod kkrt;
mod masking;
pub mod matching;
pub mod multi_key;
pub mod multi_party;
pub mod okvs;
pub mod permute_share;
pub mod private_id;
pub mod private_id_oprf;
pub mod protocol;
pub mod ps3i;
pub mod relatives;
pub mod rounds;
pub mod row_counts;
pub mod set_union;
pub mod switching;
mod tag_map;
pub mod tags;
pub mod tokens;
pub mod unbalanced;
pub mod vole_psi;

pub use dh_psi::DhPsi;
pub use error::PsiError;
pub use kkrt::Kkrt;
pub use protocol::{Declared, Held, Item, Match, Outcome, Prepared, Protocol, Role, Sizes, Traffic};
pub use rounds::{Driven, Relayed, Rounds};
pub use vole_psi::VolePsi;
