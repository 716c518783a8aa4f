//! Oblivious transfer between two parties: base OT, OT extension, vector oblivious linear evaluation (VOLE).

mod adversary;
mod error;

pub use adversary::Adversary;
pub use error::OtError;
