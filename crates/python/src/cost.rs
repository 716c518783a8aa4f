//! Declared costs of operators, without data.

use std::collections::HashMap;

use pyo3::prelude::*;
use tacit_run::{contain, declared_link};
use tacit_table::StepCost;

use crate::fault::Result;

/// The declared cost of one operator.
#[derive(IntoPyObject)]
pub struct OperatorCost {
    step: String,
    rows: usize,
    rounds: u64,
    rounds_ahead: u64,
    bytes_sent: Vec<u64>,
    circuits: usize,
    garbled: usize,
    processor: f64,
}

impl From<(String, StepCost)> for OperatorCost {
    fn from((step, cost): (String, StepCost)) -> Self {
        Self {
            step,
            rows: cost.rows,
            rounds: cost.rounds,
            rounds_ahead: cost.ahead,
            bytes_sent: cost.sent,
            circuits: cost.circuits.asked,
            garbled: cost.circuits.whole,
            processor: cost.processor.as_secs_f64(),
        }
    }
}

/// Declared cost of input, secure and release operators (a JSON list in execution order), without data.
///
/// nodes: the names of the nodes in engine order, as the operators name owners and recipients. rows: row count per
/// input step id. link: latency and bandwidth between the nodes, as they declare them. ahead: whether the engine makes
/// ahead what it can, in a second session, whose bytes are counted too. Returns, per operator,
/// {"step","rows","rounds","rounds_ahead","bytes_sent":[per node],"circuits","garbled","processor"}.
#[pyfunction]
#[pyo3(signature = (engine, operators, rows, *, nodes, link=None, ahead=false))]
pub fn cost(
    py: Python<'_>,
    engine: &str,
    operators: &str,
    rows: HashMap<usize, usize>,
    nodes: Vec<String>,
    link: Option<(f64, f64)>,
    ahead: bool,
) -> Result<Vec<OperatorCost>> {
    let link = link.map(declared_link).transpose()?;
    let costs = py.detach(|| contain(|| tacit_run::cost(engine, operators, &rows, &nodes, link, ahead)))?;
    Ok(costs.into_iter().map(OperatorCost::from).collect())
}

/// The permits that operators (a JSON list in execution order) need, as a JSON list without bounds on rows: what a
/// planner has to disclose.
#[pyfunction]
#[pyo3(signature = (engine, operators, *, nodes))]
pub fn permits(py: Python<'_>, engine: &str, operators: &str, nodes: Vec<String>) -> Result<String> {
    Ok(py.detach(|| contain(|| tacit_run::permits(engine, operators, &nodes)))?)
}

/// How many rows a `circuit_psi` of `left` and `right` items has.
#[pyfunction]
pub fn circuit_psi_rows(left: usize, right: usize) -> usize {
    tacit_run::circuit_psi_rows([left, right])
}

/// Operators (a JSON list in execution order) as they are understood, each as JSON with all members: what parties
/// compare.
#[pyfunction]
pub fn operators(listed: &str) -> Result<Vec<String>> {
    Ok(tacit_run::operators(listed)?)
}
