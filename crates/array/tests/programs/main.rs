//! Programs on arrays: every operation against plain integers, on every engine; costs, rounds, sizes, refusals.

mod functions;
mod operations;
#[path = "../../../mpc/tests/permits/mod.rs"]
mod permits;
mod plain;
mod random;
mod reading;
mod rounds;
mod withheld;
mod world;
