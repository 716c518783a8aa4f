//! Whole plans at nodes and clients, and what is refused.

mod approved;
mod calibrate;
mod clients;
mod faults;
mod memory;
mod plans;
mod prices;
mod programs;
mod world;
