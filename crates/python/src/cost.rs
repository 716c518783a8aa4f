//! Declared costs of operators, without data.

use std::collections::HashMap;

use pyo3::prelude::*;
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_table::cost::psi_sizes;
use tacit_table::{Operator, Psi, StepCost};

use crate::containment::contain;
use crate::engine::Suite;
use crate::fault::{Failure, Result};
use crate::psi_join;

/// The declared cost of one operator.
#[derive(IntoPyObject)]
pub struct OperatorCost {
    step: String,
    rows: usize,
    rounds: u64,
    bytes_sent: Vec<u64>,
}

/// Declared cost of input, secure and release operators (a JSON list in execution order), without data.
///
/// nodes: the names of the nodes in engine order, as the operators name owners and recipients. rows: row count per input step
/// id. Returns, per operator, {"step","rows","rounds","bytes_sent":[per node]}.
#[pyfunction]
#[pyo3(signature = (engine, operators, rows, *, nodes))]
pub fn cost(
    py: Python<'_>,
    engine: &str,
    operators: &str,
    rows: HashMap<usize, usize>,
    nodes: Vec<String>,
) -> Result<Vec<OperatorCost>> {
    let suite = Suite::among(engine, &nodes)?;
    py.detach(|| contain(|| declared(suite, operators, &rows, &nodes)))
}

fn declared(
    suite: Suite,
    operators: &str,
    rows: &HashMap<usize, usize>,
    nodes: &[String],
) -> Result<Vec<OperatorCost>> {
    let operators = Operator::list_from_json(operators)?;
    let mut costs = match suite {
        Suite::Rep3 => tacit_table::cost::<<Rep3 as Networked>::Formulas>(nodes, &operators, rows)?,
        Suite::Two => tacit_table::cost::<<Two as Networked>::Formulas>(nodes, &operators, rows)?,
    };
    for (operator, cost) in operators.iter().zip(&mut costs) {
        if let Operator::Psi(psi) = operator {
            add_matching(psi, nodes, rows, cost)?;
        }
    }
    let named = |(operator, cost): (&Operator, StepCost)| OperatorCost {
        step: operator.name(),
        rows: cost.rows,
        rounds: cost.rounds,
        bytes_sent: cost.sent,
    };
    Ok(operators.iter().zip(costs).map(named).collect())
}

/// Adds what the intersection protocol of a `psi` costs its two owners.
fn add_matching(psi: &Psi, nodes: &[String], rows: &HashMap<usize, usize>, cost: &mut StepCost) -> Result<()> {
    let (rounds, sent) = psi_join::declared(psi, psi_sizes(psi, rows)?, cost.rows);
    cost.rounds += rounds;
    for (side, bytes) in psi.sides().into_iter().zip(sent) {
        let owner = nodes.iter().position(|node| *node == side.owner);
        let owner = owner.ok_or_else(|| Failure::input(format!("the owner {:?} is no node", side.owner)))?;
        cost.sent[owner] += bytes;
    }
    Ok(())
}
