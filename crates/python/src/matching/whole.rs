//! What comes out of a match of whole tables that is no join: universal ids, and shares.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use tacit_linkage::ids::METHODS;
use tacit_linkage::{IdRows, Ids};
use tacit_psi::relatives::PrivateId;

use super::rows::{MatchedRows, Reader};
use crate::fault::{Failure, Result};

/// A party's rows with universal ids, and the ids of the other party's.
#[pyclass(frozen, module = "tacit._native")]
pub struct Identified(pub Arc<Ids>);

#[pymethods]
impl Identified {
    /// How many ids there are.
    #[getter]
    fn union(&self) -> usize {
        self.0.union()
    }

    /// With several keys, rows of the sender and of the receiver that share keys with more than one row of the other.
    #[getter]
    fn contaminated(&self) -> (usize, usize) {
        self.0.contaminated()
    }

    /// The rows of the union in the order of their ids. column: the name of the column of ids.
    fn output(&self, column: &str) -> MatchedRows {
        let rows = IdRows::new(Arc::clone(&self.0), column);
        MatchedRows::of(Reader { schema: rows.schema(), rows })
    }
}

/// A party's shares of the pairs of rows that match.
#[pyclass(frozen, module = "tacit._native")]
pub struct SharedRows {
    pub pairs: usize,
    pub contaminated: (usize, usize),
    pub shares: RecordBatch,
}

#[pymethods]
impl SharedRows {
    /// How many pairs there are.
    #[getter]
    fn pairs(&self) -> usize {
        self.pairs
    }

    /// Rows of the sender and of the receiver that are in more than one pair.
    #[getter]
    fn contaminated(&self) -> (usize, usize) {
        self.contaminated
    }

    /// The shares, one row a pair: the sender's columns, then the receiver's.
    fn output(&self) -> MatchedRows {
        MatchedRows::of(RecordBatchIterator::new([Ok(self.shares.clone())], self.shares.schema()))
    }
}

/// The names of the ways to compute universal ids.
#[pyfunction]
pub fn ids_methods() -> Vec<&'static str> {
    METHODS.iter().map(|(name, _)| *name).collect()
}

/// A method by its name.
pub fn method_named(name: &str) -> Result<PrivateId> {
    let found = METHODS.into_iter().find(|(known, _)| *known == name).map(|(_, method)| method);
    found.ok_or_else(|| Failure::input(format!("there is no way {name:?} to compute ids")))
}
