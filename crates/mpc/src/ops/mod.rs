//! Operations on whole shared bundles, written once for all engines: permuting, sorting, partitioning.

mod permute;
mod sort;

pub use permute::{apply, invert};
pub use sort::{label_width, partition, place_by_labels, sort_order, sorted_labels};
