//! One node of a run, whatever its engine: the tables that it holds, and what it executes on them.

use tacit_mpc::backends::{Clear, Costs};
use tacit_mpc::{Backend, Permits};
use tacit_table::kept::KeptShares;
use tacit_table::{DataTable, Executor, Operator, Program, Table, Tables};

use crate::agreement::{Agreement, Sessions};
use crate::circuit_join;
use crate::error::{Result, RunError};
use crate::foresight::Foresight;
use crate::ids_join;
use crate::kept::{self, Target};
use crate::memory::{Budget, Memory};
use crate::psi_join::{self, BothSides, Learn, Terms};
use crate::suite::Suite;

/// What every node knows of a shared table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The public bound on the number of rows. None at a client, which knows none.
    pub rows: Option<usize>,
    /// The names of the columns.
    pub columns: Vec<String>,
}

/// One party's node. It holds the table of every step, or its shares, under the step's id.
pub trait Node: Send {
    /// Makes ready for an operator, which is next. later: whether a step behind it takes the table of a step.
    fn prepare(&mut self, _operator: &Operator, _later: &dyn Fn(usize) -> bool) -> Result<()> {
        Ok(())
    }

    /// Shares the owner's table, which is given only there.
    fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Facts>;

    /// Joins two owners' tables by their keys. Each owner gives its side.
    fn psi(&mut self, operator: &Operator, data: BothSides) -> Result<Facts>;

    /// Executes a secure operator on the tables of the steps that it names.
    fn run(&mut self, operator: &Operator) -> Result<Facts>;

    /// A kept table's shares as a table.
    fn kept(&mut self, operator: &Operator, shares: KeptShares) -> Result<Facts>;

    /// Keeps a table for later sessions. Returns what this node's file says of itself.
    fn keep(&mut self, operator: &Operator, target: &Target) -> Result<String>;

    /// Opens a table to the operator's recipients. None at other nodes.
    fn release(&mut self, operator: &Operator) -> Result<Option<DataTable>>;

    /// Drops the tables of the steps that are not needed.
    fn drop_tables(&mut self, needed: &dyn Fn(usize) -> bool);

    /// Ends in order, with an acknowledgement from every peer.
    fn close(self: Box<Self>) -> Result<()>;

    /// Ends at once and tells every peer.
    fn abort(self: Box<Self>, reason: &str);
}

/// An engine with the plan's permits, and the tables of steps.
struct Held<B: Backend> {
    executor: Executor<B>,
    tables: Tables<B>,
    /// The steps whose tables the next operator is the last to take.
    spent: Vec<usize>,
}

impl<B: Backend> Held<B> {
    /// components: how many the node has of each value.
    fn new(executor: Executor<B>, components: usize) -> Self {
        Self { executor, tables: Tables::new(components), spent: vec![] }
    }

    fn prepare(&mut self, operator: &Operator, later: &dyn Fn(usize) -> bool) {
        self.spent = operator.inputs().into_iter().filter(|&step| !later(step)).collect();
    }

    /// The tables that an operator takes. Those that it is the last to take are its own.
    fn inputs(&mut self, operator: &Operator) -> Result<Vec<Table<B>>> {
        let Self { tables, spent, .. } = self;
        let none = |step| RunError::NoTable { operator: operator.name(), step };
        let table = |step| tables.get(step)?.ok_or_else(|| none(step));
        let inputs = operator.inputs().into_iter().map(table).collect::<Result<Vec<_>>>()?;
        tables.retain(|step| !spent.contains(&step));
        Ok(inputs)
    }

    /// The table that an operator of one input takes.
    fn only_input(&mut self, operator: &Operator) -> Result<Table<B>> {
        let mut inputs = self.inputs(operator)?;
        inputs.pop().ok_or_else(|| RunError::NoTable { operator: operator.name(), step: operator.id() })
    }

    /// Holds the tables that an operator made: of several, the facts are of all together.
    fn hold_all(&mut self, made: Vec<(usize, Table<B>)>) -> Facts {
        let rows = made.iter().map(|(_, table)| table.rows()).sum();
        let columns = made.iter().flat_map(|(_, table)| table.names().map(str::to_owned)).collect();
        made.into_iter().for_each(|(step, table)| self.tables.insert(step, table));
        Facts { rows: Some(rows), columns }
    }

    fn hold(&mut self, operator: &Operator, table: Table<B>) -> Facts {
        self.hold_all(vec![(operator.id(), table)])
    }

    fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Facts> {
        let table = self.executor.input(operator, data)?;
        Ok(self.hold(operator, table))
    }

    fn run(&mut self, operator: &Operator) -> Result<Facts> {
        let inputs = self.inputs(operator)?;
        let made = self.executor.make(operator, inputs)?;
        Ok(self.hold_all(made))
    }

    fn release(&mut self, operator: &Operator) -> Result<Option<DataTable>> {
        let Operator::Release(_) = operator else { return Err(RunError::NoRelease(operator.name())) };
        let table = self.only_input(operator)?;
        Ok(self.executor.release(operator, table)?)
    }
}

/// A node of an engine of nodes.
pub struct NodeOf<B: Suite> {
    held: Held<B>,
    /// What is known of the plan, where stock is made ahead.
    foresight: Option<Foresight<B>>,
    /// What two owners choose their protocol by.
    terms: Terms,
    /// This party's memory budget, if it has one.
    budget: Option<Budget<B>>,
}

impl<B: Suite> NodeOf<B>
where
    Self: Send,
{
    /// Sets the engine up, with what is foreseen of its plan if there is a session to make it in.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn start(
        sessions: Sessions,
        agreement: &Agreement,
        permits: Permits,
        program: &Program,
        memory: Option<&Memory>,
    ) -> Result<Box<dyn Node>> {
        let Sessions { main, background } = sessions;
        let drawn = main.drawn();
        let (_, prices) = B::prices(&agreement.prices);
        let (mut engine, mut foresight) = match background.zip(B::AHEAD) {
            Some((background, ahead)) => {
                let (operators, parties) = (program.operators(), &agreement.parties());
                let foresight = Foresight::new(operators, parties, agreement.link, prices.clone(), ahead.order);
                ((ahead.start)(main, background)?, Some(foresight))
            }
            None => (B::start(main)?, None),
        };
        let ahead = foresight.is_some();
        let budget = memory.map(|memory| Budget::new(memory, agreement, prices.clone(), program, ahead)).transpose()?;
        engine.price(prices);
        engine.declare(agreement.link);
        foresee(&mut foresight, &mut engine, &[])?;
        let held = Held::new(agreement.executor(engine, permits, &drawn), B::COUNT);
        Ok(Box::new(Self { held, foresight, terms: Terms::of(agreement.link, &agreement.prices), budget }))
    }

    fn is(&self, party: &str) -> bool {
        let session = self.held.executor.backend().session();
        session.name(session.me()) == party
    }
}

/// Has stock made ahead for what follows from announced sizes.
fn foresee<B: Suite>(foresight: &mut Option<Foresight<B>>, engine: &mut B, sizes: &[(usize, usize)]) -> Result<()> {
    foresight.as_mut().map_or(Ok(()), |foresight| foresight.order(engine, sizes))
}

/// Takes in what a step has announced.
fn noted<B: Suite>(budget: &mut Option<Budget<B>>, operator: &Operator, sizes: &[(usize, usize)]) -> Result<()> {
    budget.as_mut().map_or(Ok(()), |budget| {
        budget.learn(sizes);
        budget.note(operator)
    })
}

impl<B: Suite> Node for NodeOf<B>
where
    Self: Send,
{
    fn prepare(&mut self, operator: &Operator, later: &dyn Fn(usize) -> bool) -> Result<()> {
        self.held.prepare(operator, later);
        self.budget.as_mut().map_or(Ok(()), |budget| budget.admit(operator, &mut self.held.tables))
    }

    fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Facts> {
        if let (Operator::Input(input), None) = (operator, &data)
            && self.is(&input.owner)
        {
            return Err(RunError::NoData);
        }
        let facts = self.held.input(operator, data)?;
        let known: Vec<_> = facts.rows.map(|rows| (operator.id(), rows)).into_iter().collect();
        foresee(&mut self.foresight, self.held.executor.backend_mut(), &known)?;
        noted(&mut self.budget, operator, &known)?;
        Ok(facts)
    }

    fn psi(&mut self, operator: &Operator, data: BothSides) -> Result<Facts> {
        if let Some(sides) = operator.matched_sides()
            && sides.map(|side| self.is(&side.owner)) != data.each_ref().map(Option::is_some)
        {
            return Err(RunError::OtherSide);
        }
        let Self { held, foresight, terms, budget } = self;
        let mut known = vec![];
        let learn: Learn<'_, B> = &mut |engine, sizes| {
            known.extend_from_slice(sizes);
            foresee(foresight, engine, sizes)
        };
        let table = match operator {
            Operator::Psi(psi) => psi_join::among_nodes(&mut held.executor, psi, data, terms, learn)?,
            Operator::CircuitPsi(psi) => circuit_join::among_nodes(&mut held.executor, psi, data, learn)?,
            Operator::UniversalIds(ids) => ids_join::among_nodes(&mut held.executor, ids, data, terms, learn)?,
            _ => return Err(RunError::NoPsi(operator.name())),
        };
        noted(budget, operator, &known)?;
        Ok(held.hold(operator, table))
    }

    fn run(&mut self, operator: &Operator) -> Result<Facts> {
        let facts = self.held.run(operator)?;
        let learnt = operator.announced().into_iter().zip(facts.rows).collect::<Vec<_>>();
        foresee(&mut self.foresight, self.held.executor.backend_mut(), &learnt)?;
        noted(&mut self.budget, operator, &learnt)?;
        Ok(facts)
    }

    fn kept(&mut self, operator: &Operator, shares: KeptShares) -> Result<Facts> {
        let table = self.held.executor.kept(operator, |_, kept| shares.into_rows::<B>(kept))?;
        Ok(self.held.hold(operator, table))
    }

    fn keep(&mut self, operator: &Operator, target: &Target) -> Result<String> {
        let Operator::Keep(keep) = operator else { return Err(RunError::NoKeep(operator.name())) };
        if B::Formulas::HOLDERS.is_some() {
            return Err(RunError::HoldsNothing(B::NAME));
        }
        let table = self.held.only_input(operator)?;
        kept::keep(&mut self.held.executor, &operator.name(), keep, &table, target)
    }

    fn release(&mut self, operator: &Operator) -> Result<Option<DataTable>> {
        self.held.release(operator)
    }

    fn drop_tables(&mut self, needed: &dyn Fn(usize) -> bool) {
        self.held.tables.retain(needed);
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.held.executor.into_backend().into_session().close()?)
    }

    fn abort(self: Box<Self>, reason: &str) {
        self.held.executor.into_backend().abort(reason);
    }
}

/// In place of what nodes draw together, where one process plays all parties.
const ALONE: [u8; 32] = [0; 32];

/// The engine without security, as every party at once.
pub struct ClearNode(Held<Clear>);

impl ClearNode {
    /// Sets it up with the plan's permits.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn start(agreement: &Agreement, permits: Permits) -> Result<Box<dyn Node>> {
        Ok(Box::new(Self(Held::new(agreement.executor(Clear::new()?, permits, &ALONE), 1))))
    }
}

impl Node for ClearNode {
    fn prepare(&mut self, operator: &Operator, later: &dyn Fn(usize) -> bool) -> Result<()> {
        self.0.prepare(operator, later);
        Ok(())
    }

    fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Facts> {
        if data.is_none() && matches!(operator, Operator::Input(_)) {
            return Err(RunError::NoData);
        }
        self.0.input(operator, data)
    }

    fn psi(&mut self, operator: &Operator, data: BothSides) -> Result<Facts> {
        let table = match operator {
            Operator::Psi(psi) => psi_join::in_clear(&mut self.0.executor, psi, data)?,
            Operator::CircuitPsi(psi) => circuit_join::in_clear(&mut self.0.executor, psi, data)?,
            Operator::UniversalIds(ids) => ids_join::in_clear(&mut self.0.executor, ids, data)?,
            _ => return Err(RunError::NoPsi(operator.name())),
        };
        Ok(self.0.hold(operator, table))
    }

    fn run(&mut self, operator: &Operator) -> Result<Facts> {
        self.0.run(operator)
    }

    fn kept(&mut self, _operator: &Operator, _shares: KeptShares) -> Result<Facts> {
        Err(RunError::Unkept)
    }

    fn keep(&mut self, _operator: &Operator, _target: &Target) -> Result<String> {
        Err(RunError::Unkept)
    }

    fn release(&mut self, operator: &Operator) -> Result<Option<DataTable>> {
        self.0.release(operator)
    }

    fn drop_tables(&mut self, needed: &dyn Fn(usize) -> bool) {
        self.0.tables.retain(needed);
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    fn abort(self: Box<Self>, _reason: &str) {}
}
