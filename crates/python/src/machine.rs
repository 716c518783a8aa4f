//! What this machine gives a party.

use std::num::NonZero;
use std::thread;

use pyo3::prelude::*;

/// How many processors this process may use: of those that it may run on, as many as it is given time for. One where
/// the operating system does not say.
#[pyfunction]
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
