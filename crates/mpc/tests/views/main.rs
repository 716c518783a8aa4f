//! What can a node compute from everything that it saw? Every method of the engines and everything written once above
//! them.

#[cfg(tacit_memcheck)]
mod constant_time;
mod faults;
mod methods;
#[path = "../permits/mod.rs"]
mod permits;
mod programs;
mod simulators;
mod watched;
mod world;
