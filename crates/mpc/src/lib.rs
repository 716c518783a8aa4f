//! Secure computation on whole vectors: the [`Backend`] trait, and circuits and operations written once over it. The
//! engines are [`backends::Clear`] (reference, no security), [`backends::Rep3`] (three nodes, replicated sharing,
//! semi-honest), [`backends::Two`] (two nodes, oblivious transfer, semi-honest) and [`backends::Tally`] (no data: the
//! declared costs of an engine).

pub mod backend;
pub mod backends;
mod bilinear;
mod bits;
pub mod block;
pub mod circuits;
pub mod error;
pub mod fixed;
mod function;
pub mod linear;
pub mod ops;
pub mod permit;
pub mod products;
pub mod rows;
pub mod scan;
mod shared_types;
mod split;

pub use backend::Backend;
pub use bilinear::{Bilinear, Form, Layout, Matrices, MatrixProduct};
pub use block::{Block, Shape};
pub use error::{MpcError, Result};
pub use linear::Linear;
pub use permit::{OpenedColumn, OpenedKind, Permit, PermitKind, Permits, Sharing};
pub use products::common_factors;
pub use rows::Rows;
pub use scan::{LinearScan, Place};
pub use shared_types::SharedTypes;
pub use split::{Apart, Split};
pub use tacit_net::Link;
