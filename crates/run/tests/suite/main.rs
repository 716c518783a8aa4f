//! Whole plans at nodes and clients, and what is refused.

mod clients;
mod faults;
mod memory;
mod plans;
mod programs;
mod world;
