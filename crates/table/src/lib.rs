//! Oblivious relational operators over shared columns: what the secure, input and release steps of a placed plan do.
//!
//! Every operator is written once over [`tacit_mpc::Backend`]. A table's row count is public; which rows are valid,
//! which values are NULL and all values are secret. Nothing secret steers a branch, an index or a message size. The
//! format of the operators is docs/placed-plan.md.

pub mod approval;
mod bundle;
pub mod client;
mod convert;
pub mod cost;
pub mod data;
mod decode;
mod encode;
pub mod error;
pub mod executor;
mod expression;
pub mod kept;
mod mask;
pub mod matching;
pub mod operator;
mod operators;
mod parties;
pub mod table;
pub mod tables;
pub mod wrong_input;

pub use approval::{Approval, Program};
pub use client::Client;
pub use cost::{Forecast, StepCost, cost};
pub use data::{ColumnData, DataColumn, DataTable, Text};
pub use error::TableError;
pub use executor::{Executor, IdsSide, Matched};
pub use matching::KeyGroups;
pub use operator::{CircuitPsi, Operator, Psi, UniversalIds};
pub use operators::program::failure;
pub use parties::Parties;
pub use table::Table;
pub use tables::{Spill, Tables};
pub use tacit_sealed::Scratch;
pub use wrong_input::{WrongInput, WrongValue};
