//! Declared costs of a plan: the same executor, run on row counts alone.

use std::collections::HashMap;

use serde_json::json;
use tacit_mpc::Permits;
use tacit_mpc::backends::{Costs, Tally};

use crate::error::{Result, TableError};
use crate::executor::Executor;
use crate::operator::Operator;
use crate::operators::input::Prepared;
use crate::table::Table;

/// What one step costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCost {
    /// The step's id.
    pub step: usize,
    /// Rows of its result.
    pub rows: usize,
    /// Communication rounds.
    pub rounds: u64,
    /// Payload bytes sent by each node, in engine order.
    pub sent: Vec<u64>,
}

/// The declared cost of every operator, in execution order, on an engine of nodes of these names.
///
/// `input_rows` gives the size of each input by its step id; an input with a size in the plan needs none.
///
/// # Errors
/// [`TableError::Input`] when the operators do not fit each other or an input's size is missing.
pub fn cost<E: Costs>(
    names: &[String],
    operators: &[Operator],
    input_rows: &HashMap<usize, usize>,
) -> Result<Vec<StepCost>> {
    let permits = Permits::from_json(&needed_permits(names, operators)).map_err(TableError::Internal)?;
    let mut executor = Executor::new(Tally::<E>::new(names.to_vec()), permits, names.to_vec(), [0; 32]);
    executor.backend_mut().take();
    let mut tables: HashMap<usize, Table<Tally<E>>> = HashMap::new();
    let mut out = Vec::new();
    for operator in operators {
        let inputs =
            operator.inputs().into_iter().map(|id| table(&tables, operator, id)).collect::<Result<Vec<_>>>()?;
        let (rows, table) = match operator {
            Operator::Input(input) => {
                let missing = || TableError::Input(format!("{}: the number of its rows is needed", operator.name()));
                let rows = input.rows.or_else(|| input_rows.get(&input.id).copied()).ok_or_else(missing)?;
                let table = executor.share(operator, Some(Prepared { rows, block: None }))?;
                (table.rows(), Some(table))
            }
            Operator::Release(_) => {
                executor.release(operator, inputs[0])?;
                (inputs[0].rows(), None)
            }
            _ => {
                let table = executor.run(operator, &inputs)?;
                (table.rows(), Some(table))
            }
        };
        tables.extend(table.map(|table| (operator.id(), table)));
        let spent = executor.backend_mut().take();
        out.push(StepCost { step: operator.id(), rows, rounds: spent.rounds, sent: spent.sent });
    }
    Ok(out)
}

fn table<'a, B: tacit_mpc::Backend>(
    tables: &'a HashMap<usize, Table<B>>,
    operator: &Operator,
    id: usize,
) -> Result<&'a Table<B>> {
    tables.get(&id).ok_or_else(|| TableError::Input(format!("{}: step {id} gives no table before it", operator.name())))
}

/// A permit for every disclosure of the operators: a cost estimate opens nothing.
fn needed_permits(names: &[String], operators: &[Operator]) -> String {
    let permit = |operator: &Operator| match operator {
        Operator::Input(input) if input.rows.is_none() => {
            Some(json!({"site": operator.name(), "kind": "size", "recipients": names, "columns": []}))
        }
        Operator::Release(release) => Some(
            json!({"site": operator.name(), "kind": "answer", "recipients": release.to, "columns": release.columns}),
        ),
        _ => None,
    };
    let list: Vec<_> = operators.iter().filter_map(permit).collect();
    serde_json::Value::from(list).to_string()
}
