//! Declared costs of a plan: the same executor, run on row counts alone.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tacit_mpc::backends::{Circuits, Costs, Needs, Ordered, Tally};
use tacit_mpc::{Backend, Link, Permits};
use tacit_net::Cost;

use crate::error::{Result, TableError};
use crate::executor::{Executor, Matched};
use crate::operator::{CircuitPsi, GroupBy, Join, Operator, PsiSide, Resize};
use crate::operators::input::Prepared;
use crate::operators::program::promised;
use crate::operators::release::opened_columns;
use crate::operators::trusted;
use crate::parties::Parties;
use crate::table::Table;
use crate::tables::Tables;
use crate::wrong_input::WrongInput;

/// What one step costs.
#[derive(Clone, Debug, PartialEq)]
pub struct StepCost {
    /// Rows of its result.
    pub rows: usize,
    /// Rounds that are waited for, and what each node, in engine order, and each client behind them sends in all
    /// sessions.
    pub communication: Cost,
    /// Rounds of what is made ahead for it meanwhile, in a session of its own.
    pub ahead: u64,
    /// What each node's processor takes, what is made ahead included, as far as the engine has prices.
    pub processor: Duration,
    /// Its circuits that could be evaluated as a whole, and those that are.
    pub circuits: Circuits,
    /// The memory that a node takes for it.
    pub memory: Memory,
    /// The probability, at most, that its result is wrong ([`Costs::failure`]).
    pub failure: f64,
}

/// The memory of a node at a step's peak, in bytes: of shares, messages, and what owners give and recipients get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// With the tables that later steps take, all of them in memory.
    pub most: u64,
    /// Of the step alone, with its inputs.
    pub alone: u64,
}

/// The declared cost of every operator, in execution order, among these parties.
///
/// `input_rows` gives the size of each input, and of each `resize` to the number of valid rows, by its step id; one
/// with a size in the plan needs none. For a `psi`
/// and `universal_ids` it gives the rows of the join by its step id. For these and a `circuit_psi` it gives the sizes
/// of both sides by the ids of their local steps. `link` is the network between the nodes, `prices` are those that they
/// agree on. What the intersection protocol between the owners costs is not included, nor what the nodes agree on in a
/// `keep`. `circuit` is how the engine makes shared matches of a `circuit_psi` for the sizes of both sides. `ahead`:
/// whether the nodes have a second session to make ahead in.
///
/// # Errors
/// [`TableError::Input`] when the operators do not fit each other or an input's size is missing.
pub fn cost<E: Costs>(
    parties: &Parties,
    operators: &[Operator],
    input_rows: &HashMap<usize, usize>,
    link: Link,
    prices: E::Prices,
    ahead: bool,
    circuit: impl Fn(&mut Tally<E>, &CircuitPsi, [usize; 2]) -> Result<Matched<Tally<E>>>,
) -> Result<Vec<StepCost>> {
    let mut forecast = Forecast::<E>::new(parties, link, prices, ahead).forgetting(operators);
    let mut out = Vec::new();
    for stretch in stretches(operators) {
        out.extend(forecast.stretch(&operators[stretch], input_rows, &circuit)?.0);
    }
    Ok(out)
}

/// The operators cut where nodes learn a size, so that the sizes of each stretch are known when its first operator's
/// are.
pub fn stretches(operators: &[Operator]) -> Vec<Range<usize>> {
    let first = |place: &usize| *place == 0 || !operators[*place].announced().is_empty();
    let starts: Vec<usize> = (0..operators.len()).filter(first).collect();
    let ends = starts.iter().skip(1).copied().chain([operators.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// What operators cost that are declared one stretch after the other.
pub struct Forecast<E: Costs> {
    pub(crate) executor: Executor<Tally<E>>,
    pub(crate) tables: HashMap<usize, Table<Tally<E>>>,
    parties: Parties,
    permits: Vec<Json>,
    /// Whether numbers of rows are those of a run. Otherwise only columns and their kinds are.
    sized: bool,
    /// The last step that takes the table of a step, by that one's id.
    last: HashMap<usize, usize>,
}

impl<E: Costs> Forecast<E> {
    /// Before the first of all operators. The rest as for [`cost()`].
    pub fn new(parties: &Parties, link: Link, prices: E::Prices, ahead: bool) -> Self {
        let tally = Tally::<E>::new(parties.nodes.clone()).with_clients(parties.clients.clone());
        let mut executor = Executor::new(tally, Permits::default(), parties.clone(), [0; 32]);
        executor.backend_mut().take();
        executor.backend_mut().price(prices);
        executor.backend_mut().declare(link);
        if ahead {
            executor.backend_mut().make_ahead();
        }
        let (tables, permits, last) = Default::default();
        Self { executor, tables, parties: parties.clone(), permits, sized: true, last }
    }

    /// The same where nobody knows announced sizes, but what columns tables have.
    #[must_use]
    pub(crate) fn without_sizes(self) -> Self {
        Self { sized: false, ..self }
    }

    /// The same of these operators, which drops a table after its last use, as a run does. So memory is foreseen, too.
    #[must_use]
    pub fn forgetting(self, operators: &[Operator]) -> Self {
        let uses = operators.iter().flat_map(|operator| operator.inputs().into_iter().map(|id| (id, operator.id())));
        Self { last: uses.collect(), ..self }
    }

    /// The costs of the next [stretch](stretches), and what is to be made ahead for it, each with the position of its
    /// step in the stretch. A `resize` that counts has ended when its number is known: what it needs is made as it
    /// comes.
    ///
    /// # Errors
    /// Those of [`cost()`].
    pub fn stretch(
        &mut self,
        operators: &[Operator],
        input_rows: &HashMap<usize, usize>,
        circuit: impl Fn(&mut Tally<E>, &CircuitPsi, [usize; 2]) -> Result<Matched<Tally<E>>>,
    ) -> Result<(Vec<StepCost>, Vec<Ordered<E::Order>>)> {
        let (mut costs, mut needs) = (Vec::new(), Vec::new());
        for operator in operators {
            costs.push(self.step(operator, input_rows, &circuit)?);
            needs.push(self.executor.backend_mut().take_needs());
        }
        let counting = matches!(operators.first(), Some(Operator::Resize(Resize { rows: None, .. })));
        let unforeseen = if counting { std::mem::take(&mut needs[0]) } else { Needs::default() };
        let unforeseen = self.executor.backend_mut().unforeseen(&unforeseen);
        let orders = self.executor.backend_mut().orders(&needs);
        for Ordered { step, cost, processor, .. } in unforeseen.iter().chain(&orders) {
            let step = &mut costs[*step];
            step.ahead += cost.rounds;
            step.processor += *processor;
            step.communication += Cost { rounds: 0, sent: cost.sent.clone() };
        }
        Ok((costs, orders))
    }

    pub(crate) fn step(
        &mut self,
        operator: &Operator,
        input_rows: &HashMap<usize, usize>,
        circuit: impl Fn(&mut Tally<E>, &CircuitPsi, [usize; 2]) -> Result<Matched<Tally<E>>>,
    ) -> Result<StepCost> {
        let Self { executor, tables, parties, permits, sized, last } = self;
        let inputs = operator.inputs().into_iter().map(|id| table(tables, operator, id).cloned());
        let inputs = inputs.collect::<Result<Vec<Table<Tally<E>>>>>()?;
        tables.retain(|id, _| last.get(id) != Some(&operator.id()));
        let beside = beside::<E>(executor.backend().memory(), &inputs);
        executor.backend_mut().take_memory();
        let needed = needed_permits(parties, operator, &inputs.iter().collect::<Vec<_>>())?;
        executor.permit(Permits::from_json(&Json::from(needed.clone()).to_string()).map_err(TableError::Internal)?);
        permits.extend(needed);
        let (rows, made) = match operator {
            Operator::Program(x) => {
                let tables = if *sized { executor.make(operator, inputs)? } else { promised(executor.backend(), x) };
                (tables.iter().map(|(_, table)| table.rows()).sum(), tables)
            }
            _ => {
                let (rows, table) = Self::one(executor, operator, inputs, input_rows, circuit)?;
                (rows, table.into_iter().map(|table| (operator.id(), table)).collect())
            }
        };
        tables.extend(made);
        let communication = executor.backend_mut().take();
        let (processor, circuits) = (executor.backend_mut().take_processor(), executor.backend_mut().take_circuits());
        let most = executor.backend_mut().take_memory();
        let memory = Memory { most, alone: most.saturating_sub(beside) };
        let failure = executor.backend_mut().take_failure();
        Ok(StepCost { rows, communication, ahead: 0, processor, circuits, memory, failure })
    }

    /// The rows of an operator's result, and its only table, if it has one.
    fn one(
        executor: &mut Executor<Tally<E>>,
        operator: &Operator,
        mut inputs: Vec<Table<Tally<E>>>,
        input_rows: &HashMap<usize, usize>,
        circuit: impl Fn(&mut Tally<E>, &CircuitPsi, [usize; 2]) -> Result<Matched<Tally<E>>>,
    ) -> Result<(usize, Option<Table<Tally<E>>>)> {
        Ok(match operator {
            Operator::Input(input) => {
                let rows = input.rows.map_or_else(|| known(operator, input.id, input_rows), Ok)?;
                executor.backend_mut().pass(in_clear(rows, input.columns.len()));
                let table = executor.share(operator, Some(Prepared { rows, block: None }))?;
                (table.rows(), Some(table))
            }
            Operator::Psi(psi) => {
                let [left, right] = psi_sizes(psi.sides(), operator, input_rows)?;
                let (_, permit) = executor.psi_sizes(psi, [Some(left), Some(right)])?;
                let rows = executor.psi_rows(psi, permit, Some(known(operator, psi.id, input_rows)?))?;
                (rows, Some(executor.psi_share(psi, rows, [None, None])?))
            }
            Operator::CircuitPsi(psi) => {
                let sizes = psi_sizes(psi.sides(), operator, input_rows)?;
                executor.circuit_sizes(psi, sizes.map(Some))?;
                let matched = circuit(executor.backend_mut(), psi, sizes)?;
                let table = executor.circuit_table(psi, matched)?;
                (table.rows(), Some(table))
            }
            Operator::UniversalIds(ids) => {
                let [left, right] = psi_sizes(ids.sides(), operator, input_rows)?;
                let (_, permit) = executor.ids_sizes(ids, [Some(left), Some(right)])?;
                let rows = executor.ids_rows(ids, permit, Some(known(operator, ids.id, input_rows)?))?;
                (rows, Some(executor.ids_table(ids, rows, [None, None])?))
            }
            Operator::Kept(_) => {
                let table = executor.kept(operator, |b, kept| Ok(b.columns(kept.shape())))?;
                (table.rows(), Some(table))
            }
            Operator::Keep(_) => (inputs[0].rows(), None),
            Operator::Release(_) => {
                let (rows, table) = (inputs[0].rows(), inputs.swap_remove(0));
                executor.backend_mut().pass(in_clear(rows, table.names().count()));
                executor.release(operator, table)?;
                (rows, None)
            }
            Operator::Resize(Resize { id, rows: None, .. }) => {
                let rows = known(operator, *id, input_rows)?;
                let table = executor.resize(operator, inputs.swap_remove(0), rows)?;
                (table.rows(), Some(table))
            }
            _ => {
                let table = executor.run(operator, inputs)?;
                (table.rows(), Some(table))
            }
        })
    }
}

/// The permits that operators need, in execution order, as a JSON list without bounds on rows. The rest as for
/// [`cost()`].
///
/// # Errors
/// [`TableError::Input`] when the operators do not fit each other.
pub fn permits<E: Costs>(
    parties: &Parties,
    operators: &[Operator],
    circuit: impl Fn(&mut Tally<E>, &CircuitPsi, [usize; 2]) -> Result<Matched<Tally<E>>>,
) -> Result<String> {
    let mut forecast = Forecast::<E>::new(parties, Link::UNDECLARED, E::Prices::default(), false).without_sizes();
    // Kinds depend on no number of rows, but where a scalar has none, which is in no plan that the planner makes.
    let sizes = operators.iter().flat_map(Operator::announced).map(|id| (id, 1)).collect();
    for operator in operators {
        forecast.step(operator, &sizes, &circuit)?;
    }
    Ok(Json::from(forecast.permits).to_string())
}

/// How many items both sides of such an operator have: as the plan says, or as `input_rows` does by the ids of the
/// local steps.
///
/// # Errors
/// [`TableError::Input`] when one is missing.
pub fn psi_sizes(sides: [&PsiSide; 2], operator: &Operator, input_rows: &HashMap<usize, usize>) -> Result<[usize; 2]> {
    let [left, right] = sides.map(|side| side.rows.map_or_else(|| known(operator, side.local, input_rows), Ok));
    Ok([left?, right?])
}

/// What other columns than those of a step's inputs take, of all there are.
fn beside<E: Costs>(all: u64, inputs: &[Table<Tally<E>>]) -> u64 {
    let mut own = Tables::new(E::COMPONENTS);
    inputs.iter().cloned().enumerate().for_each(|(place, table)| own.insert(place, table));
    all.saturating_sub(own.bytes())
}

/// Memory of columns in clear: as Arrow has them, and beside it as native code does.
fn in_clear(rows: usize, columns: usize) -> u64 {
    (2 * size_of::<i64>() * rows * columns) as u64
}

/// A number of rows that the caller has to know, by the id of a step.
fn known(operator: &Operator, id: usize, input_rows: &HashMap<usize, usize>) -> Result<usize> {
    let missing = || TableError::from(WrongInput::StepRows { step: id }).within(&operator.name());
    input_rows.get(&id).copied().ok_or_else(missing)
}

pub(crate) fn table<'a, B: Backend>(
    tables: &'a HashMap<usize, Table<B>>,
    operator: &Operator,
    id: usize,
) -> Result<&'a Table<B>> {
    tables.get(&id).ok_or_else(|| TableError::from(WrongInput::NoTable { step: id }).within(&operator.name()))
}

/// The permits for what an operator on these tables discloses. Nothing is opened by an estimate.
fn needed_permits<B: Backend>(parties: &Parties, operator: &Operator, inputs: &[&Table<B>]) -> Result<Vec<Json>> {
    let number_to = |kind: &str, site: String, recipients: &[String]| json!({"site": site, "kind": kind, "recipients": recipients, "columns": [], "rows": null});
    let size_to = |site: String, recipients: &[String]| number_to("size", site, recipients);
    let size = |site: String| size_to(site, &parties.nodes);
    let sides = |sides: [&PsiSide; 2]| {
        let named = sides.into_iter().zip(["left", "right"]).filter(|(side, _)| side.rows.is_none());
        named.map(|(_, side)| format!("{}/{side}", operator.name())).map(size).collect::<Vec<_>>()
    };
    Ok(match operator {
        Operator::Input(input) if input.rows.is_none() => vec![size(operator.name())],
        Operator::Resize(resize) if resize.rows.is_none() => {
            vec![number_to("count", operator.name(), &parties.nodes)]
        }
        Operator::Join(Join { trusted: Some(party), .. }) | Operator::GroupBy(GroupBy { trusted: Some(party), .. }) => {
            let columns = trusted::shown_columns(operator, inputs)?;
            vec![
                json!({"site": operator.name(), "kind": "keys", "recipients": [party], "columns": columns, "rows": null}),
            ]
        }
        Operator::Psi(psi) => {
            let site = operator.name();
            let matches = psi.sides().map(|side| {
                json!({"site": site, "kind": "matches", "recipients": [side.owner], "columns": [], "rows": null})
            });
            sides(psi.sides()).into_iter().chain([size(site.clone())]).chain(matches).collect()
        }
        Operator::CircuitPsi(psi) => sides(psi.sides()),
        Operator::UniversalIds(ids) => sides(ids.sides()).into_iter().chain([size(operator.name())]).collect(),
        Operator::Release(release) => {
            let (site, to, columns) = (operator.name(), &release.to, opened_columns(inputs[0], release)?);
            let clients = parties.clients_among(to);
            let told = (!clients.is_empty()).then(|| size_to(site.clone(), &clients));
            let answer = json!({"site": site, "kind": "answer", "recipients": to, "columns": columns, "rows": null});
            told.into_iter().chain([answer]).collect()
        }
        _ => vec![],
    })
}
