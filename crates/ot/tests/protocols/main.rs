//! Protocols of oblivious transfer between two parties, honest and corrupted.

mod base;
#[cfg(tacit_memcheck)]
mod constant_time;
mod correlated;
mod iknp;
mod lookup;
mod matrices;
mod ole;
mod pair;
mod relay;
mod silent;
mod softspoken;
