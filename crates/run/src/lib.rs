//! Runs the secure part of a placed plan at one node: engines, operators in their order, permits, declared costs, kept
//! parts, and how a session begins and ends.
//!
//! Tables and intersections do not know each other; they meet here. Whatever drives a run, Python or Rust, stands
//! above.

mod agreement;
mod approved;
pub mod calibrate;
mod circuit_join;
mod client;
mod connection;
pub mod containment;
mod cost;
mod error;
mod failure;
mod foresight;
mod ids_join;
pub mod kept;
pub mod kept_file;
mod lifecycle;
mod memory;
mod node;
pub mod prices;
mod progress;
mod psi_join;
mod registry;
mod session;
mod suite;

pub use agreement::Agreement;
pub use approved::Approved;
pub use circuit_join::rows as circuit_psi_rows;
pub use connection::{Network, agreed_link, declared_link, options};
pub use containment::contain;
pub use cost::{Conditions, OperatorCost, cost, operators, permits};
pub use error::{End, Result, RunError, reason_for_peers};
pub use lifecycle::Watch;
pub use memory::Memory;
pub use node::{Facts, Node};
pub use prices::Prices;
pub use progress::StepMetrics;
pub use psi_join::BothSides;
pub use registry::engines;
pub use session::Session;
pub use tacit_mpc::Link;
pub use tacit_table::Parties;
