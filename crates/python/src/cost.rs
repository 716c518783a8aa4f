//! Costs of operators, without data.

use std::collections::HashMap;

use pyo3::prelude::*;
use tacit_run::{Conditions, Parties, agreed_link, contain, declared_link};

use crate::fault::Result;
use crate::prices;

/// The cost of one operator.
#[derive(IntoPyObject)]
pub struct OperatorCost {
    step: String,
    rows: usize,
    rounds: u64,
    rounds_ahead: u64,
    bytes_sent: Vec<u64>,
    circuits: usize,
    garbled: usize,
    seconds: f64,
    memory: u64,
    memory_alone: u64,
    failure: f64,
}

impl From<tacit_run::OperatorCost> for OperatorCost {
    fn from(cost: tacit_run::OperatorCost) -> Self {
        let tacit_run::OperatorCost { step, declared, seconds } = cost;
        Self {
            step,
            rows: declared.rows,
            rounds: declared.communication.rounds,
            rounds_ahead: declared.ahead,
            bytes_sent: declared.communication.sent,
            circuits: declared.circuits.asked,
            garbled: declared.circuits.whole,
            seconds,
            memory: declared.memory.most,
            memory_alone: declared.memory.alone,
            failure: declared.failure,
        }
    }
}

/// Cost of input, secure and release operators (a JSON list in execution order), without data.
///
/// nodes: the names of the nodes in engine order, as the operators name owners and recipients. clients: owners and
/// recipients that are no nodes. rows: row count per input step id. link: latency and bandwidth between the nodes, if
/// they declare them. network: those on which seconds are predicted, if they are others. prices: a table of prices
/// (JSON) that all nodes agree on. ahead: whether an engine that can makes ahead what it needs, in a second session,
/// whose bytes are counted too. Returns, per operator,
/// {"step","rows","rounds","rounds_ahead","bytes_sent":[per node, then per client],"circuits","garbled","seconds",
/// "memory","memory_alone","failure"}. memory and memory_alone are bytes of a node at the step's peak, with the tables
/// that later steps take, and without them. failure: the probability, at most, that the result is wrong.
#[pyfunction]
#[pyo3(signature = (engine, operators, rows, *, nodes, clients=vec![], link=None, network=None, prices=None, ahead=true))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn cost(
    py: Python<'_>,
    engine: &str,
    operators: &str,
    rows: HashMap<usize, usize>,
    nodes: Vec<String>,
    clients: Vec<String>,
    link: Option<(f64, f64)>,
    network: Option<(f64, f64)>,
    prices: Option<&str>,
    ahead: bool,
) -> Result<Vec<OperatorCost>> {
    let (link, network) = (agreed_link(link)?, network.map(declared_link).transpose()?);
    let (parties, prices) = (&Parties { nodes, clients }, &prices::read(prices)?);
    let conditions = Conditions { parties, link, network, prices, ahead };
    let costs = py.detach(|| contain(|| tacit_run::cost(engine, operators, &rows, &conditions)))?;
    Ok(costs.into_iter().map(OperatorCost::from).collect())
}

/// The names of all engines, each with its number of nodes. The first is for federations that name none.
#[pyfunction]
pub fn engines() -> Vec<(&'static str, usize)> {
    tacit_run::engines()
}

/// The permits that operators (a JSON list in execution order) need, as a JSON list without bounds on rows: what a
/// planner has to disclose.
#[pyfunction]
#[pyo3(signature = (engine, operators, *, nodes, clients=vec![]))]
pub fn permits(
    py: Python<'_>,
    engine: &str,
    operators: &str,
    nodes: Vec<String>,
    clients: Vec<String>,
) -> Result<String> {
    let parties = Parties { nodes, clients };
    Ok(py.detach(|| contain(|| tacit_run::permits(engine, operators, &parties)))?)
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
