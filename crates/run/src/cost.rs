//! Declared costs of operators, without data.

use std::collections::HashMap;

use tacit_mpc::Link;
use tacit_table::cost::psi_sizes;
use tacit_table::{Operator, Program, StepCost};

use crate::error::Result;
use crate::registry::Engine;
use crate::{circuit_join, kept, psi_join};

/// The declared cost of operators (a JSON list in execution order) on an engine of these nodes.
///
/// rows: row count per input step id. ahead: whether the engine makes ahead what it can, in a second session, whose
/// bytes are counted too. Returns each operator's name with its cost.
///
/// # Errors
/// When there is no such engine, the operators do not fit each other, or a size is missing.
pub fn cost(
    engine: &str,
    operators: &str,
    rows: &HashMap<usize, usize>,
    nodes: &[String],
    link: Option<Link>,
    ahead: bool,
) -> Result<Vec<(String, StepCost)>> {
    let engine = Engine::among(engine, nodes)?;
    let operators = Operator::list_from_json(operators)?;
    let mut costs = (engine.cost)(nodes, &operators, rows, link, ahead)?;
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
            cost.sent[circuit_join::place(nodes, &side.owner)?.0] += bytes;
        }
    }
    Ok(operators.iter().map(Operator::name).zip(costs).collect())
}

/// The permits that operators (a JSON list in execution order) need, as a JSON list without bounds on rows.
///
/// # Errors
/// When there is no such engine, or the operators do not fit each other.
pub fn permits(engine: &str, operators: &str, nodes: &[String]) -> Result<String> {
    let engine = Engine::among(engine, nodes)?;
    let operators = Operator::list_from_json(operators)?;
    Ok((engine.permits)(nodes, &operators)?)
}

/// Operators (a JSON list in execution order) as they are understood, each as JSON with all members: what parties
/// compare.
///
/// # Errors
/// When they are malformed.
pub fn operators(listed: &str) -> Result<Vec<String>> {
    Ok(Program::from_json(listed)?.texts())
}
