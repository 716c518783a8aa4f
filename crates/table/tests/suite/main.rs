//! The operators: on every engine, their faults, kept tables, orders.

mod clear;
mod engines;
mod faults;
mod kept;
mod orders;
mod programs;
mod world;
