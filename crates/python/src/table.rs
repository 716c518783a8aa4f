//! Tables as Python sees them: the public facts of shared ones, and opened ones.

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tacit_run::Facts;

use crate::arrow::export_stream;

/// What is public of a shared table. The session holds its shares, as long as the plan needs them.
#[pyclass(frozen, module = "tacit._native")]
pub struct SharedTable(pub Facts);

#[pymethods]
impl SharedTable {
    /// The public bound on the number of rows; None at a client, which knows none.
    #[getter]
    fn rows(&self) -> Option<usize> {
        self.0.rows
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns.clone()
    }

    fn __repr__(&self) -> String {
        let rows = self.rows().map_or_else(String::new, |rows| format!("{rows} rows, "));
        format!("SharedTable({rows}columns {})", self.columns().join(", "))
    }
}

/// Opened rows; exports the Arrow PyCapsule stream interface.
#[pyclass(frozen, module = "tacit._native")]
pub struct Opened(pub RecordBatch);

#[pymethods]
impl Opened {
    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.0.num_rows()
    }

    /// A capsule with an Arrow stream of one record batch. requested_schema: not followed, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _not_followed = requested_schema;
        export_stream(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("Opened({} rows, {} columns)", self.0.num_rows(), self.0.num_columns())
    }
}
