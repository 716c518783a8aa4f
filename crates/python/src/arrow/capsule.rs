//! The Arrow PyCapsule stream interface (the Arrow specification, "The Arrow PyCapsule Interface").

use std::ffi::CStr;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name that the specification gives to capsules of streams.
const STREAM: &CStr = c"arrow_array_stream";

/// A stream of record batches from another library of this process, not read yet.
pub type Stream = FFI_ArrowArrayStream;

/// Takes the stream out of anything that exports one.
///
/// # Errors
/// A TypeError when the object exports none; the exporter's own exception.
pub fn import_stream(source: &Bound<'_, PyAny>) -> PyResult<Stream> {
    let name = intern!(source.py(), "__arrow_c_stream__");
    if !source.hasattr(name)? {
        let kind = source.get_type().name()?;
        let message = format!(
            "data of type {kind} exports no Arrow stream; give a DuckDB relation, a pyarrow.Table or a polars.DataFrame"
        );
        return Err(PyTypeError::new_err(message));
    }
    let exported = source.call_method0(name)?;
    let capsule = exported.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the specification a capsule of this name points to an initialised ArrowArrayStream, which stays in
    // place as long as the capsule lives. Taking it marks the capsule's one as released, so that it is released once.
    // The GIL is held, so no other thread takes it at the same time.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) })
}

/// A capsule with a stream of exactly this batch. The columns are shared with it, not copied.
pub fn export_stream<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    capsule_of(py, FFI_ArrowArrayStream::new(Box::new(reader)))
}

/// A capsule that owns a stream.
pub fn capsule_of(py: Python<'_>, stream: FFI_ArrowArrayStream) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, STREAM)
}
