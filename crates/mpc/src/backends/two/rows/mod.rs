//! Whole rows: input, opening, permutations.

mod input;
mod lanes;
mod open;
mod permute;
pub(super) mod shuffle;

pub(super) use lanes::Layout;
pub(in crate::backends) use open::{component, share_rows};
