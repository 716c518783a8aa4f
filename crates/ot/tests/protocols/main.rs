//! Protocols of oblivious transfer between two parties, honest and corrupted.

mod base;
mod correlated;
mod iknp;
mod lookup;
mod ole;
mod pair;
mod relay;
mod silent;
mod softspoken;
