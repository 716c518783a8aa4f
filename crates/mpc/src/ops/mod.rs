//! Operations on whole shared columns, written once for all engines: permuting, sorting, partitioning, the sums of a trial.

mod permute;
mod sort;
mod trial;

pub use permute::{apply, invert};
pub use sort::{label_width, partition, place_by_labels, sort_order, sorted_labels};
pub use trial::{Moments, Subjects, events_of, moments};
