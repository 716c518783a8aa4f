//! Private set intersection and its relatives: one file a protocol, all behind the traits of [`protocol`].

pub mod error;
pub mod protocol;

pub use error::PsiError;
pub use protocol::{Declared, Item, Match, Outcome, Prepared, Protocol, Role, Sizes, Traffic};
