//! What a protocol computes, with a transport and without one.

pub mod protocol;
pub mod role;
pub mod rounds;
