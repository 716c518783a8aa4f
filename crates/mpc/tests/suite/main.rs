//! The engines: one generic test for all, what each alone does, and what must not be possible.

mod ahead;
mod bilinear;
mod clients;
mod departures;
mod division;
mod engines;
mod faults;
mod fixed;
mod garbled;
mod lanes;
mod orders;
#[path = "../permits/mod.rs"]
mod permits;
mod rounding;
mod secrecy;
mod trial;
mod world;
