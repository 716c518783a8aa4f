//! The engines.

#[cfg(test)]
mod attacks;
mod cell;
mod clear;
pub mod clients;
mod components;
pub mod cost;
pub mod four;
mod generator;
mod networked;
mod numbers;
mod recipients;
pub mod rep3;
mod stored;
mod tally;
pub mod two;
mod waves;
mod wire;

pub use clear::Clear;
pub use components::Components;
pub use cost::{Costs, Needs, Ordered, Products};
pub use four::Four;
pub use networked::Networked;
pub use rep3::Rep3;
pub use tally::{Circuits, Tally};
pub use two::Two;
