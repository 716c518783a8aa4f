//! Programs on arrays: every operation against plain integers, on every engine; costs, rounds, sizes, refusals.

mod operations;
mod plain;
mod random;
mod reading;
mod rounds;
mod world;
#[path = "../../../mpc/tests/permits/mod.rs"]
mod permits;
