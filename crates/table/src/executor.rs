//! Execution of a placed plan's operators, one after the other, at one node.

use tacit_math::KeyedHash;
use tacit_mpc::backends::{Costs, Tally};
use tacit_mpc::{Backend, Permits, Rows};

use crate::data::DataTable;
use crate::error::{Result, TableError};
use crate::operator::{Kept, Operator};
use crate::operators::trusted::Trusted;
use crate::operators::{
    aggregate, filter, group_by, group_join, input, join, order, pairs, program, project, release, resize, scalar,
    union, window,
};
use crate::parties::Parties;
use crate::table::Table;
use crate::wrong_input::WrongInput;

mod circuit_psi;
mod psi;
mod sides;
mod universal_ids;

pub use circuit_psi::Matched;
pub use universal_ids::IdsSide;

/// One node's execution of a plan. All nodes call the same methods with the same operators in the same order.
pub struct Executor<B: Backend> {
    backend: B,
    permits: Permits,
    parties: Parties,
    hash: KeyedHash,
}

impl<B: Backend> Executor<B> {
    /// An executor on an engine of these nodes. The hash key is common to all who give strings.
    pub fn new(backend: B, permits: Permits, parties: impl Into<Parties>, hash_key: [u8; 32]) -> Self {
        Self { backend, permits, parties: parties.into(), hash: KeyedHash::new(&hash_key) }
    }

    /// The engine.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The engine, to count with or to use its session.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Ends the executor and gives the engine back.
    pub fn into_backend(self) -> B {
        self.backend
    }

    /// Shares an owner's table. The owner gives the data; what other nodes give is ignored.
    ///
    /// # Errors
    /// [`TableError::Input`] at the owner, before anything is sent, when the data is not as the operator declares;
    /// [`TableError::Policy`] when a size would be announced without a permit; [`TableError::Net`].
    pub fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Table<B>> {
        let Operator::Input(input) = operator else { return Err(misplaced(operator, "input")) };
        let hash = &self.hash;
        let prepared = data
            .map(|data| in_step(&mut self.backend, operator, |_| input::prepare(input, &data, hash)))
            .transpose()?;
        self.share(operator, prepared)
    }

    /// Shares what the owner prepared.
    pub(crate) fn share(&mut self, operator: &Operator, prepared: Option<input::Prepared>) -> Result<Table<B>> {
        let Operator::Input(input) = operator else { return Err(misplaced(operator, "input")) };
        let Self { backend, permits, parties, .. } = self;
        in_step(backend, operator, |b| input::input(b, permits, parties, input, prepared))
    }

    /// A kept table of which the engine gives the shares. rows: they, of the operator's shape.
    ///
    /// # Errors
    /// Those of `rows`; [`TableError::Internal`] for another operator.
    pub fn kept(
        &mut self,
        operator: &Operator,
        rows: impl FnOnce(&mut B, &Kept) -> Result<Rows<B>>,
    ) -> Result<Table<B>> {
        let Operator::Kept(kept) = operator else { return Err(misplaced(operator, "kept")) };
        in_step(&mut self.backend, operator, |b| {
            let mut shared = rows(b, kept)?;
            let valid = if kept.padded { shared.bits.pop() } else { None };
            Ok(Table::new(kept.rows, valid, input::columns(&kept.columns, shared)))
        })
    }

    /// Executes any operator but `input`, `kept`, `keep`, `program` and `release` on the tables of its inputs, in the
    /// order of [`Operator::inputs`]. Columns that nobody else has are moved, and gone as soon as they are not needed.
    ///
    /// # Errors
    /// [`TableError::Input`] when the operator does not fit the tables; [`TableError::Policy`] before anything is sent,
    /// when a party is to see keys without a permit; [`TableError::Net`].
    pub fn run(&mut self, operator: &Operator, inputs: Vec<Table<B>>) -> Result<Table<B>> {
        check_count(operator, &inputs)?;
        let Self { backend, permits, parties, hash } = self;
        let trusted = |permits: &mut Permits, party: Option<&String>, inputs: &[Table<B>]| {
            Trusted::of(permits, parties, operator, party, &inputs.iter().collect::<Vec<_>>())
        };
        in_step(backend, operator, |b| match operator {
            Operator::Filter(x) => filter::filter(b, hash, only(inputs), x),
            Operator::Project(x) => project::project(b, hash, &only(inputs), x),
            Operator::Union(x) => union::union(b, inputs, x),
            Operator::Join(x) => {
                let trusted = trusted(permits, x.trusted.as_ref(), &inputs)?;
                let [left, right] = both(inputs);
                join::join(b, left, right, x, trusted)
            }
            Operator::Pairs(_) => pairs::pairs(b, &inputs[0], &inputs[1]),
            Operator::Broadcast(_) => scalar::broadcast(b, &inputs[0], &inputs[1]),
            Operator::GroupBy(x) => {
                let trusted = trusted(permits, x.trusted.as_ref(), &inputs)?;
                group_by::group_by(b, only(inputs), x, trusted)
            }
            Operator::GroupJoin(x) => group_join::group_join(b, &inputs[0], &inputs[1], x),
            Operator::Aggregate(x) => aggregate::aggregate(b, &inputs[0], x),
            Operator::Window(x) => window::window(b, only(inputs), x),
            Operator::Sort(x) => order::sort(b, only(inputs), x),
            Operator::Limit(x) => order::limit(&inputs[0], x),
            Operator::Resize(x) => resize::resize(b, permits, parties, only(inputs), x, None),
            Operator::Input(_)
            | Operator::Psi(_)
            | Operator::CircuitPsi(_)
            | Operator::UniversalIds(_)
            | Operator::Kept(_)
            | Operator::Keep(_)
            | Operator::Program(_)
            | Operator::Release(_) => Err(misplaced(operator, "run")),
        })
    }

    /// Executes any operator that [`Self::run`] does, or a program, of which it gives all tables, by the ids that
    /// [`Operator::makes`] says.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn make(&mut self, operator: &Operator, inputs: Vec<Table<B>>) -> Result<Vec<(usize, Table<B>)>> {
        let Operator::Program(x) = operator else { return Ok(vec![(operator.id(), self.run(operator, inputs)?)]) };
        check_count(operator, &inputs)?;
        in_step(&mut self.backend, operator, |b| program::program(b, inputs, x))
    }

    /// Opens a table to the operator's recipients; None at all others.
    ///
    /// # Errors
    /// [`TableError::Policy`] before anything is sent, when the approved disclosures do not hold exactly this one;
    /// [`TableError::Withheld`] at every party where a guard is set; [`TableError::Input`]; [`TableError::Net`].
    pub fn release(&mut self, operator: &Operator, table: Table<B>) -> Result<Option<DataTable>> {
        let Operator::Release(release) = operator else { return Err(misplaced(operator, "release")) };
        let Self { backend, permits, parties, .. } = self;
        in_step(backend, operator, |b| release::release(b, permits, parties, table, release))
    }
}

impl<E: Costs> Executor<Tally<E>> {
    /// A `resize` whose number of rows is told, as an engine without data opens none.
    pub(crate) fn resize(
        &mut self,
        operator: &Operator,
        table: Table<Tally<E>>,
        rows: usize,
    ) -> Result<Table<Tally<E>>> {
        let Operator::Resize(x) = operator else { return Err(misplaced(operator, "resize")) };
        let Self { backend, permits, parties, .. } = self;
        in_step(backend, operator, |b| resize::resize(b, permits, parties, table, x, Some(rows)))
    }

    /// Has these permits instead of all earlier ones. Only an engine without data takes new permits on the way.
    pub(crate) fn permit(&mut self, permits: Permits) {
        self.permits = permits;
    }
}

/// Whether there are as many tables as an operator takes.
fn check_count<B: Backend>(operator: &Operator, inputs: &[Table<B>]) -> Result<()> {
    let (given, needed) = (inputs.len(), operator.inputs().len());
    let wrong = || TableError::from(WrongInput::TableCount { given, needed }).within(&operator.name());
    if given == needed { Ok(()) } else { Err(wrong()) }
}

/// The input of an operator that takes one table.
fn only<B: Backend>(mut inputs: Vec<Table<B>>) -> Table<B> {
    inputs.pop().expect("as many as the operator takes")
}

/// The inputs of an operator that takes two tables.
fn both<B: Backend>(inputs: Vec<Table<B>>) -> [Table<B>; 2] {
    inputs.try_into().unwrap_or_else(|_: Vec<Table<B>>| panic!("as many as the operator takes"))
}

fn misplaced(operator: &Operator, method: &str) -> TableError {
    TableError::Internal(format!("{} was given to {method}, which does not execute it", operator.name()))
}

/// Runs the body under the operator's name, which its errors about the plan or the data carry.
fn in_step<B: Backend, T>(b: &mut B, operator: &Operator, body: impl FnOnce(&mut B) -> Result<T>) -> Result<T> {
    in_step_of(b, &operator.name(), body)
}

/// Runs the body as the step of this name.
fn in_step_of<B: Backend, T>(b: &mut B, name: &str, body: impl FnOnce(&mut B) -> Result<T>) -> Result<T> {
    b.step(name, |b| Ok(body(b)))?.map_err(|error| error.within(name))
}
