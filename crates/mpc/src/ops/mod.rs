//! Operations on whole shared columns, written once for all engines: permuting, sorting, the first rows, merging,
//! partitioning, adding up, the sums of a trial.

mod first;
mod merge;
mod permute;
mod sort;
mod sums;
mod trial;

pub use first::{Narrowing, first, narrowed};
pub use merge::{Merging, merge};
#[cfg(test)]
pub(crate) use permute::numbers_of;
pub use permute::{apply, invert};
pub(crate) use sort::nonzero_digits;
pub use sort::{label_width, partition, place_by_labels, sort_order, sorted_labels};
pub use sums::{Chosen, sums_where};
pub use trial::{Moments, Subjects, events_of, moments};
