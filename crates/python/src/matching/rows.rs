//! Rows that come out of a match, on their way to Python.

use std::sync::{Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tacit_linkage::MatchError;

use crate::arrow::capsule_of;
use crate::fault::Failure;

/// Rows that come out of a match; exports the Arrow PyCapsule stream interface, once.
#[pyclass(frozen, module = "tacit._native")]
pub struct MatchedRows(Mutex<Option<Box<dyn RecordBatchReader + Send>>>);

impl MatchedRows {
    /// Of a reader that nobody has read from.
    pub fn of(reader: impl RecordBatchReader + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(reader))))
    }
}

#[pymethods]
impl MatchedRows {
    /// A capsule with the stream. requested_schema: not followed, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _not_followed = requested_schema;
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let rows = rows.ok_or_else(|| Failure::input("these rows were read already; ask for the output again"))?;
        capsule_of(py, FFI_ArrowArrayStream::new(rows))
    }
}

/// Batches of one schema as Arrow's own kind of reader.
pub struct Reader<R> {
    pub schema: SchemaRef,
    pub rows: R,
}

impl<R: Iterator<Item = Result<RecordBatch, MatchError>>> Iterator for Reader<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next().map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl<R: Iterator<Item = Result<RecordBatch, MatchError>>> RecordBatchReader for Reader<R> {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
