//! Oblivious transfer between two parties: base OT, OT extension, vector oblivious linear evaluation (VOLE).

mod adversary;
pub mod base;
pub mod correlated;
mod error;

pub use adversary::Adversary;
pub use error::OtError;
