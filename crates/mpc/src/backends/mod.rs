//! The engines.

mod clear;
pub mod cost;
pub mod rep3;
mod tally;

pub use clear::Clear;
pub use cost::{Cost, Costs};
pub use rep3::Rep3;
pub use tally::Tally;
