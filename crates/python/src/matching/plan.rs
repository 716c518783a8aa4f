//! What the parties of a match have approved.

use pyo3::prelude::*;

use crate::fault::{Failure, Result};

/// A plan of a match: parties compare its hash, and their connection runs nothing else.
#[pyclass(frozen, module = "tacit._native")]
pub struct MatchPlan(pub tacit_linkage::MatchPlan);

#[pymethods]
impl MatchPlan {
    /// From JSON.
    #[new]
    fn new(text: &str) -> Result<Self> {
        Ok(Self(tacit_linkage::MatchPlan::from_json(text).map_err(Failure::from)?))
    }

    /// 32 bytes that are equal exactly if the plans and the versions of tacit are.
    #[getter]
    fn hash(&self) -> [u8; 32] {
        self.0.digest()
    }
}
