//! Whole plans at nodes and clients, and what is refused.

mod clients;
mod faults;
mod plans;
mod world;
