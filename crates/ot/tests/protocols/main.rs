//! Protocols of oblivious transfer between two parties, honest and corrupted.

mod base;
mod correlated;
mod pair;
