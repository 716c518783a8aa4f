//! Declared costs of operators, without data.

use std::collections::HashMap;

use tacit_mpc::Link;
use tacit_mpc::backends::Circuits;
use tacit_table::cost::psi_sizes;
use tacit_table::{Operator, Parties, Program, StepCost};

use crate::circuit_join::places;
use crate::error::Result;
use crate::prices::Prices;
use crate::psi_join::Terms;
use crate::registry::Engine;
use crate::{circuit_join, ids_join, kept, psi_join};

/// What the parties of a run declare and agree on, as far as its cost follows from it.
pub struct Conditions<'a> {
    /// The nodes and their clients.
    pub parties: &'a Parties,
    /// The network by which the engine chooses protocols.
    pub link: Link,
    /// The network on which times are predicted, if it is another one.
    pub network: Option<Link>,
    /// The prices.
    pub prices: &'a Prices,
    /// Whether an engine that can makes ahead what it needs, in a second session, whose bytes are counted too.
    pub ahead: bool,
}

/// What a step costs.
pub struct OperatorCost {
    /// The operator's name.
    pub step: String,
    /// What it declares.
    pub declared: StepCost,
    /// The predicted time: of rounds, of the busiest party's bytes, and of its processor.
    pub seconds: f64,
}

/// The cost of operators (a JSON list in execution order) on an engine. rows: row count per input step id.
///
/// # Errors
/// When there is no such engine, the operators do not fit each other, or a size is missing.
pub fn cost(
    engine: &str,
    operators: &str,
    rows: &HashMap<usize, usize>,
    conditions: &Conditions<'_>,
) -> Result<Vec<OperatorCost>> {
    let Conditions { parties, link, network, prices, ahead } = *conditions;
    let (nodes, engine) = (&parties.nodes, Engine::among(engine, &parties.nodes)?);
    let operators = Operator::list_from_json(operators)?;
    let mut costs = (engine.cost)(parties, &operators, rows, link, prices, ahead && engine.ahead)?;
    let terms = Terms::of(link, prices);
    for (operator, cost) in operators.iter().zip(&mut costs) {
        if let Operator::Keep(_) = operator {
            cost.communication += kept::declared(nodes.len());
        }
        let Some(sides) = operator.matched_sides() else { continue };
        let (sizes, owners) = (psi_sizes(sides, operator, rows)?, places(nodes, sides)?);
        cost.communication += match operator {
            Operator::CircuitPsi(psi) => circuit_join::declared(psi, sizes, owners, nodes.len()),
            Operator::Psi(psi) => psi_join::declared(psi, sizes, cost.rows, &terms, owners, nodes.len()),
            Operator::UniversalIds(_) => {
                cost.processor += terms.ids_processor(sizes);
                ids_join::declared(sizes, cost.rows, &terms, owners, nodes.len())
            }
            _ => continue,
        };
    }
    if !engine.garbles {
        costs.iter_mut().for_each(|cost| cost.circuits = Circuits::default());
    }
    let network = network.unwrap_or(link);
    let mut sizes = rows.clone();
    let step = |(operator, declared): (&Operator, StepCost)| {
        sizes.insert(operator.id(), declared.rows);
        if let Operator::Program(program) = operator {
            let rows = |output| (output.id, program.result(output).elements());
            sizes.extend(program.outputs.iter().map(rows));
        }
        let processor = (engine.rows)(prices).seconds(operator, worked_on(operator, &sizes)?);
        let seconds = declared.communication.seconds(network) + (processor + declared.processor.as_secs_f64());
        Ok(OperatorCost { step: operator.name(), declared, seconds })
    };
    operators.iter().zip(costs).map(step).collect()
}

/// The rows that a step works on: all its inputs together, as sorts and joins do, or the rows of its own table.
fn worked_on(operator: &Operator, sizes: &HashMap<usize, usize>) -> Result<usize> {
    let rows = |id: usize| sizes.get(&id).copied().unwrap_or(0);
    let inputs = match operator.matched_sides() {
        Some(sides) => psi_sizes(sides, operator, sizes)?.iter().sum(),
        None => operator.inputs().into_iter().map(rows).sum(),
    };
    Ok(rows(operator.id()).max(inputs))
}

/// The permits that operators (a JSON list in execution order) need, as a JSON list without bounds on rows.
///
/// # Errors
/// When there is no such engine, or the operators do not fit each other.
pub fn permits(engine: &str, operators: &str, parties: &Parties) -> Result<String> {
    let engine = Engine::among(engine, &parties.nodes)?;
    let operators = Operator::list_from_json(operators)?;
    Ok((engine.permits)(parties, &operators)?)
}

/// Operators (a JSON list in execution order) as they are understood, each as JSON with all members: what parties
/// compare.
///
/// # Errors
/// When they are malformed.
pub fn operators(listed: &str) -> Result<Vec<String>> {
    Ok(Program::from_json(listed)?.texts())
}
