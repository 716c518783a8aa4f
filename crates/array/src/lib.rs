//! Programs on shaped arrays of shares: the instructions that a program on private arrays becomes, and their execution
//! on an engine.
//!
//! An array is a vector of ring elements, or a plane of bits, with a public shape; its elements lie row by row. What
//! an instruction sends follows from the instructions alone: shapes, rings, bounds and constants are public.

mod array;
mod executor;
pub mod program;

pub use array::{Array, Shares};
pub use executor::execute;
pub use program::{Instruction, Instructions, Operation, Ring};
