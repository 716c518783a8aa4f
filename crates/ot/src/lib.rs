//! Oblivious transfer between two parties: base OT, OT extension, oblivious linear evaluation (OLE) and that of vectors
//! (VOLE).

mod adversary;
pub mod base;
pub mod correlated;
mod error;
mod ggm;
pub mod iknp;
pub mod ole;
pub mod silent;
pub mod softspoken;
pub mod vole;

pub use adversary::Adversary;
pub use error::OtError;
