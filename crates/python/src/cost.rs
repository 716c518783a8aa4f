//! Declared costs of operators, without data.

use std::collections::HashMap;

use pyo3::prelude::*;
use tacit_mpc::Link;
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_net::PartyId;
use tacit_table::cost::psi_sizes;
use tacit_table::{Operator, Program, StepCost, TableError};

use crate::connection::declared_link;
use crate::containment::contain;
use crate::engine::Suite;
use crate::fault::Result;
use crate::{circuit_join, kept, psi_join};

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

/// Declared cost of input, secure and release operators (a JSON list in execution order), without data.
///
/// nodes: the names of the nodes in engine order, as the operators name owners and recipients. rows: row count per input step
/// id. link: latency and bandwidth between the nodes, as they declare them. ahead: whether the engine makes ahead what it can, in a
/// second session, whose bytes are counted too.
/// Returns, per operator, {"step","rows","rounds","rounds_ahead","bytes_sent":[per node],"circuits","garbled","processor"}.
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
    let suite = Suite::among(engine, &nodes)?;
    py.detach(|| contain(|| declared(suite, operators, &rows, &nodes, link, ahead)))
}

fn declared(
    suite: Suite,
    operators: &str,
    rows: &HashMap<usize, usize>,
    nodes: &[String],
    link: Option<Link>,
    ahead: bool,
) -> Result<Vec<OperatorCost>> {
    let operators = Operator::list_from_json(operators)?;
    let mut costs = match suite {
        Suite::Rep3 => of_engine::<Rep3>(&operators, rows, nodes, link, ahead)?,
        Suite::Two => of_engine::<Two>(&operators, rows, nodes, link, ahead)?,
    };
    for (operator, cost) in operators.iter().zip(&mut costs) {
        if let Operator::Keep(_) = operator {
            let (rounds, sent) = kept::declared(nodes.len());
            cost.rounds += rounds;
            cost.sent.iter_mut().for_each(|bytes| *bytes += sent);
        }
        let Some(sides) = operator.matched_sides() else { continue };
        let sizes = psi_sizes(sides, operator, rows)?;
        let (rounds, sent) = match operator {
            Operator::CircuitPsi(psi) => circuit_join::declared(psi, sizes),
            Operator::Psi(psi) => psi_join::declared(psi, sizes, cost.rows),
            _ => continue,
        };
        cost.rounds += rounds;
        for (side, bytes) in sides.into_iter().zip(sent) {
            cost.sent[place(nodes, &side.owner)?.0] += bytes;
        }
    }
    let named = |(operator, cost): (&Operator, StepCost)| OperatorCost {
        step: operator.name(),
        rows: cost.rows,
        rounds: cost.rounds,
        rounds_ahead: cost.ahead,
        bytes_sent: cost.sent,
        circuits: cost.circuits.asked,
        garbled: cost.circuits.whole,
        processor: cost.processor.as_secs_f64(),
    };
    Ok(operators.iter().zip(costs).map(named).collect())
}

/// What the engine's parts cost.
fn of_engine<B: Networked>(
    operators: &[Operator],
    rows: &HashMap<usize, usize>,
    nodes: &[String],
    link: Option<Link>,
    ahead: bool,
) -> std::result::Result<Vec<StepCost>, TableError> {
    tacit_table::cost::<B::Formulas>(nodes, operators, rows, link, ahead, |b, psi, sizes| {
        let owners = [place(nodes, &psi.left.owner)?, place(nodes, &psi.right.owner)?];
        circuit_join::matched(b, psi, sizes, owners, None)
    })
}

/// The permits that operators (a JSON list in execution order) need, as a JSON list without bounds on rows: what a planner has to disclose.
#[pyfunction]
#[pyo3(signature = (engine, operators, *, nodes))]
pub fn permits(py: Python<'_>, engine: &str, operators: &str, nodes: Vec<String>) -> Result<String> {
    let suite = Suite::among(engine, &nodes)?;
    py.detach(|| {
        contain(|| {
            let operators = Operator::list_from_json(operators)?;
            Ok(match suite {
                Suite::Rep3 => permits_of::<Rep3>(&operators, &nodes)?,
                Suite::Two => permits_of::<Two>(&operators, &nodes)?,
            })
        })
    })
}

fn permits_of<B: Networked>(operators: &[Operator], nodes: &[String]) -> std::result::Result<String, TableError> {
    tacit_table::cost::permits::<B::Formulas>(nodes, operators, |b, psi, sizes| {
        let owners = [place(nodes, &psi.left.owner)?, place(nodes, &psi.right.owner)?];
        circuit_join::matched(b, psi, sizes, owners, None)
    })
}

/// The place of an owner among the nodes.
pub fn place(nodes: &[String], owner: &str) -> std::result::Result<PartyId, TableError> {
    let place = nodes.iter().position(|node| node == owner);
    place.map(PartyId).ok_or_else(|| TableError::Input(format!("the owner {owner:?} is no node")))
}

/// How many rows a `circuit_psi` of so many items on both sides has.
#[pyfunction]
pub fn circuit_psi_rows(left: usize, right: usize) -> usize {
    circuit_join::rows([left, right])
}

/// Operators (a JSON list in execution order) as they are understood, each as JSON with all members: what parties compare.
#[pyfunction]
pub fn operators(listed: &str) -> Result<Vec<String>> {
    Ok(Program::from_json(listed)?.texts())
}
