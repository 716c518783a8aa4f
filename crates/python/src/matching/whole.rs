//! What comes out of a match of whole tables that is no join: universal ids, and shares.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use tacit_matching::ids::{METHODS, cost_by_keys};
use tacit_matching::shares::Announced;
use tacit_matching::{IdRows, Ids};
use tacit_psi::cardinality_sum::{self, Sums};
use tacit_psi::relatives::{PrivateId, Relative};
use tacit_psi::{Role, Sizes};

use super::cost::Phase;
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

/// The declared cost of universal ids for tables of these numbers of rows: at most, for it grows with the union.
#[pyfunction]
pub fn ids_cost(method: &str, sender: usize, receiver: usize) -> Result<Phase> {
    Ok(method_named(method)?.cost(Sizes { sender, receiver }).into())
}

/// The declared cost of universal ids by `keys` keys: at most, for it grows with the union.
#[pyfunction]
pub fn ids_by_keys_cost(keys: usize, sender: usize, receiver: usize) -> Phase {
    cost_by_keys(keys, Sizes { sender, receiver }).into()
}

/// The names of the ways to compute universal ids.
#[pyfunction]
pub fn ids_methods() -> Vec<&'static str> {
    METHODS.iter().map(|(name, _)| *name).collect()
}

/// The declared cost of shares of pairs by `keys` keys, for (rows, columns) of the sender and of the receiver.
#[pyfunction]
pub fn shares_cost(keys: usize, sender: (usize, usize), receiver: (usize, usize)) -> Phase {
    announced(keys, sender, receiver).cost().into()
}

/// The declared cost of the number of common keys, and of the sum of a column of the sender over them.
#[pyfunction]
pub fn aggregate_cost(sender: usize, receiver: usize, summed: bool) -> Phase {
    let sums = summed.then_some(Sums { columns: 1, to: Role::Receiver, least: 1 });
    cardinality_sum::cost(Sizes { sender: sender.max(1), receiver: receiver.max(1) }, sums).into()
}

/// From the number of keys, and (rows, columns) of the sender and of the receiver.
pub fn announced(keys: usize, sender: (usize, usize), receiver: (usize, usize)) -> Announced {
    Announced {
        rows: Sizes { sender: sender.0, receiver: receiver.0 },
        columns: Sizes { sender: sender.1, receiver: receiver.1 },
        keys,
    }
}

/// A method by its name.
pub fn method_named(name: &str) -> Result<PrivateId> {
    let found = METHODS.into_iter().find(|(known, _)| *known == name).map(|(_, method)| method);
    found.ok_or_else(|| Failure::input(format!("there is no way {name:?} to compute ids")))
}
