//! Protocols whose outcome is an intersection: one file a protocol.

pub mod alignment;
pub mod circuit_psi;
pub mod dh_psi;
pub mod kkrt;
pub mod multi_party;
pub mod unbalanced;
pub mod vole_psi;
