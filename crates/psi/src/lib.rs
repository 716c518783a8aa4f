//! Private set intersection and its relatives: one file a protocol, all behind the traits of [`protocol`] (the
//! functionality) and [`rounds`] (the same without a transport).

pub mod error;
pub mod protocol;
pub mod rounds;

pub use error::PsiError;
pub use protocol::{Declared, Item, Match, Outcome, Prepared, Protocol, Role, Sizes, Traffic};
pub use rounds::{Driven, Relayed, Rounds};
