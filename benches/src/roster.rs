//! Who takes part.

use tacit_mpc::backends::Networked;

/// The parties' names; an engine's nodes are the first of them.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The names of an engine's nodes.
pub fn names<B: Networked>() -> &'static [&'static str] {
    &NAMES[..B::NODES]
}
