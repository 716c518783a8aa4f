//! Private arrays: numeric functions of shared fixed-point numbers.

pub mod functions;
