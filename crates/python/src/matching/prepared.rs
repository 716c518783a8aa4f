//! A table that is prepared once and asked about many times.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_linkage::prepared::prepare;
use tacit_psi::unbalanced;

use super::binned::Binned;
use super::cost::Phase;
use crate::fault::{Failure, Result};
use crate::waiting::wait_for;

/// The owner's prepared set with its key.
#[pyclass(frozen, module = "tacit._native")]
pub struct PreparedSet(pub Arc<Mutex<unbalanced::PreparedSet>>);

#[pymethods]
impl PreparedSet {
    /// Prepare a table of `rows` rows for `budget` asked items in all: the set to keep, and the published one.
    #[staticmethod]
    fn prepare<'py>(
        py: Python<'py>,
        table: &Bound<'py, Binned>,
        rows: usize,
        budget: u64,
    ) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let bins = Arc::clone(&table.get().bins);
        let (set, published) = wait_for(py, move || Ok(prepare(&bins, rows, budget)?), || ())?;
        Ok((Self(Arc::new(Mutex::new(set))), PyBytes::new(py, &published)))
    }

    /// The set whose secret part is in a file, after `answered` asked items.
    #[staticmethod]
    fn load(py: Python<'_>, secret: Vec<u8>, answered: u64) -> Result<Self> {
        let secret = zeroize::Zeroizing::new(secret);
        py.detach(|| {
            let mut set = unbalanced::PreparedSet::from_bytes(&secret).map_err(Failure::from)?;
            set.go_on(answered).map_err(Failure::from)?;
            Ok(Self(Arc::new(Mutex::new(set))))
        })
    }

    /// The secret part, for a file that only the owner may read.
    fn secret<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.lock().unwrap_or_else(PoisonError::into_inner).to_bytes())
    }
}

/// The declared cost of a query about `asked` rows; the owner is the sender.
#[pyfunction]
pub fn query_cost(asked: usize) -> Phase {
    unbalanced::query_cost(asked).into()
}

/// Bytes of a published set of `rows` rows, for `budget` asked items in all.
#[pyfunction]
pub fn published_bytes(rows: usize, budget: u64) -> usize {
    unbalanced::published_bytes(rows, budget)
}
