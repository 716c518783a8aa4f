//! A table that is prepared once and asked about many times.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_linkage::messages::Offered;
use tacit_linkage::messages::prepared::fingerprint;
use tacit_linkage::prepared::prepare;
use tacit_math::Seed;
use tacit_net::Traffic;
use tacit_psi::unbalanced;

use super::announced::kinds_named;
use super::binned::Binned;
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

/// What the owner of a prepared table offers.
#[pyclass(frozen, module = "tacit._native")]
pub struct Offer(pub Offered);

#[pymethods]
impl Offer {
    /// Of this party's table. most: rows that may be asked about now; budget: in all. published: the published set.
    #[new]
    #[pyo3(signature = (*, rows, most, budget, kinds, token_key, published))]
    fn new(
        py: Python<'_>,
        rows: u64,
        most: u64,
        budget: u64,
        kinds: Vec<String>,
        token_key: [u8; 16],
        published: &[u8],
    ) -> Result<Self> {
        let (kinds, token_key) = (kinds_named(&kinds)?, Seed::from_bytes(token_key));
        let published = py.detach(|| fingerprint(published));
        Ok(Self(Offered { rows, most, budget, kinds, published, token_key }))
    }

    /// Rows of the table.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows
    }

    /// How many rows may be asked about now.
    #[getter]
    fn most(&self) -> u64 {
        self.0.most
    }

    /// How many rows may be asked about in all.
    #[getter]
    fn budget(&self) -> u64 {
        self.0.budget
    }

    /// The kinds of the key columns.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.0.kinds.iter().map(|kind| kind.name()).collect()
    }

    /// The key of tokens.
    #[getter]
    fn token_key(&self) -> [u8; 16] {
        *self.0.token_key.expose()
    }

    /// Whether bytes are the published set of this offer.
    fn publishes(&self, py: Python<'_>, held: &[u8]) -> bool {
        py.detach(|| fingerprint(held) == self.0.published)
    }
}

/// Rounds and payload bytes of a query.
#[derive(IntoPyObject)]
pub struct QueryCost {
    rounds: u64,
    sender: u64,
    receiver: u64,
}

/// The declared cost of a query about `asked` rows; the owner is the sender.
#[pyfunction]
pub fn query_cost(asked: usize) -> QueryCost {
    let Traffic { rounds, sender, receiver } = unbalanced::query_cost(asked);
    QueryCost { rounds, sender, receiver }
}

/// Bytes of a published set of `rows` rows, for `budget` asked items in all.
#[pyfunction]
pub fn published_bytes(rows: usize, budget: u64) -> usize {
    unbalanced::published_bytes(rows, budget)
}
