//! What can a node compute from everything that it saw while an operator ran? Every operator, on both engines.
//!
//! An operator is written over `Backend`, whose methods have view tests of their own (crates/mpc). Here three things
//! are asked of an operator at every node:
//! - no combination of what the node saw in the whole run says more than the plan declares;
//! - each call by itself says nothing;
//! - an ideal engine ([`ideal`]) makes the same view from the node's own shares and the declared answer alone.

mod aggregates;
mod faults;
mod files;
mod ideal;
mod moving;
#[allow(dead_code, reason = "these tests take permits of a plan, too")]
#[path = "../../../mpc/tests/permits/mod.rs"]
mod permits;
mod plain;
mod plays;
mod programs;
mod shown;
mod trusted;
#[path = "../../../mpc/tests/views/watched.rs"]
mod watched;
mod windows;
#[allow(dead_code, reason = "the engines' tests use the rest")]
#[path = "../../../mpc/tests/views/world.rs"]
mod world;
