//! Tables cross the border as Arrow streams in PyCapsules, from and to any library that speaks that interface.

mod capsule;
mod export;
mod import;

pub use capsule::{Stream, capsule_of, export_stream, import_stream};
pub use export::to_batch;
pub use import::read_table;
