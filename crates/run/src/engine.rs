//! The engines behind one type: the only place that knows which there are.

use tacit_mpc::backends::{Clear, Networked, Rep3, Two};
use tacit_net::Session;
use tacit_table::kept::KeptShares;
use tacit_table::{DataTable, Executor, Operator, Table};

use crate::circuit_join;
use crate::error::{Result, RunError};
use crate::foresight::Foresight;
use crate::kept::{self, Target};
use crate::psi_join::{self, BothSides, Learn};

/// Which engine of nodes runs a plan.
#[derive(Clone, Copy)]
pub enum Suite {
    /// Three nodes, replicated sharing.
    Rep3,
    /// Two nodes, oblivious transfer.
    Two,
}

impl Suite {
    /// The engine of a name, among nodes of these names.
    ///
    /// # Errors
    /// An input error for another name, or other nodes than as many different ones as the engine has.
    pub fn among(name: &str, nodes: &[String]) -> Result<Self> {
        let suite = [Self::Rep3, Self::Two].into_iter().find(|suite| suite.name() == name);
        let suite = suite.ok_or_else(|| RunError::NoEngine(name.to_owned()))?;
        let (count, needed) = (nodes.len(), suite.nodes());
        if count != needed {
            return Err(RunError::NodeCount { engine: suite.name(), needed, given: count });
        }
        if (1..count).any(|i| nodes[..i].contains(&nodes[i])) {
            return Err(RunError::NodeTwice);
        }
        Ok(suite)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rep3 => Rep3::NAME,
            Self::Two => Two::NAME,
        }
    }

    fn nodes(self) -> usize {
        match self {
            Self::Rep3 => Rep3::NODES,
            Self::Two => Two::NODES,
        }
    }
}

/// An engine at one node, with the plan's permits.
pub enum Engine {
    /// The reference without security.
    Clear(Box<Executor<Clear>>),
    /// Three nodes, replicated sharing.
    Rep3(Box<Executor<Rep3>>),
    /// Two nodes, oblivious transfer; what is known of its plan, where stock is made ahead.
    Two(Box<Executor<Two>>, Option<Box<Foresight>>),
}

/// A table under one engine: in clear, or this node's shares. Not printable.
pub enum Shares {
    /// In clear.
    Clear(Table<Clear>),
    /// Shared among three nodes.
    Rep3(Table<Rep3>),
    /// Shared between two nodes.
    Two(Table<Two>),
}

impl Shares {
    /// The number of rows. Public.
    pub fn rows(&self) -> usize {
        match self {
            Self::Clear(table) => table.rows(),
            Self::Rep3(table) => table.rows(),
            Self::Two(table) => table.rows(),
        }
    }

    /// The names of the columns. Public.
    pub fn columns(&self) -> Vec<String> {
        match self {
            Self::Clear(table) => table.names().map(str::to_owned).collect(),
            Self::Rep3(table) => table.names().map(str::to_owned).collect(),
            Self::Two(table) => table.names().map(str::to_owned).collect(),
        }
    }

    fn clear(&self) -> Result<&Table<Clear>> {
        match self {
            Self::Clear(table) => Ok(table),
            Self::Rep3(_) | Self::Two(_) => Err(RunError::OtherEngine),
        }
    }

    fn rep3(&self) -> Result<&Table<Rep3>> {
        match self {
            Self::Rep3(table) => Ok(table),
            Self::Clear(_) | Self::Two(_) => Err(RunError::OtherEngine),
        }
    }

    fn two(&self) -> Result<&Table<Two>> {
        match self {
            Self::Two(table) => Ok(table),
            Self::Clear(_) | Self::Rep3(_) => Err(RunError::OtherEngine),
        }
    }
}

impl Engine {
    /// Shares the owner's table (given only at the owner).
    pub fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Shares> {
        if data.is_none() && self.owns(operator) {
            return Err(RunError::NoData);
        }
        match self {
            Self::Clear(executor) => Ok(Shares::Clear(executor.input(operator, data)?)),
            Self::Rep3(executor) => Ok(Shares::Rep3(executor.input(operator, data)?)),
            Self::Two(executor, foresight) => {
                let table = executor.input(operator, data)?;
                foresee(foresight, executor.backend_mut(), &[(operator.id(), table.rows())])?;
                Ok(Shares::Two(table))
            }
        }
    }

    /// Whether the data of an input is this party's to give.
    fn owns(&self, operator: &Operator) -> bool {
        let Operator::Input(input) = operator else { return false };
        self.session().is_none_or(|session| session.name(session.me()) == input.owner)
    }

    /// The session with the other nodes; none without them.
    fn session(&self) -> Option<&Session> {
        match self {
            Self::Clear(_) => None,
            Self::Rep3(executor) => Some(executor.backend().session()),
            Self::Two(executor, _) => Some(executor.backend().session()),
        }
    }

    /// Ends the engine and gives its session back.
    fn into_session(self) -> Option<Session> {
        match self {
            Self::Clear(_) => None,
            Self::Rep3(executor) => Some(executor.into_backend().into_session()),
            Self::Two(executor, _) => Some(executor.into_backend().into_session()),
        }
    }

    /// Executes one secure operator.
    pub fn run<'a>(&mut self, operator: &Operator, inputs: impl Iterator<Item = &'a Shares>) -> Result<Shares> {
        match self {
            Self::Clear(executor) => {
                let inputs: Vec<_> = inputs.map(Shares::clear).collect::<Result<_>>()?;
                Ok(Shares::Clear(executor.run(operator, &inputs)?))
            }
            Self::Rep3(executor) => {
                let inputs: Vec<_> = inputs.map(Shares::rep3).collect::<Result<_>>()?;
                Ok(Shares::Rep3(executor.run(operator, &inputs)?))
            }
            Self::Two(executor, _) => {
                let inputs: Vec<_> = inputs.map(Shares::two).collect::<Result<_>>()?;
                Ok(Shares::Two(executor.run(operator, &inputs)?))
            }
        }
    }

    /// Joins two owners' tables by private set intersection. Each owner gives its side.
    pub fn psi(&mut self, operator: &Operator, data: BothSides) -> Result<Shares> {
        if let (Some(session), Some(sides)) = (self.session(), operator.matched_sides()) {
            let owned = sides.map(|side| side.owner == session.name(session.me()));
            if data.each_ref().map(Option::is_some) != owned {
                return Err(RunError::OtherSide);
            }
        }
        match self {
            Self::Clear(executor) => Ok(Shares::Clear(match operator {
                Operator::Psi(psi) => psi_join::in_clear(executor, psi, data)?,
                Operator::CircuitPsi(psi) => circuit_join::in_clear(executor, psi, data)?,
                _ => return Err(no_psi(operator)),
            })),
            Self::Rep3(executor) => Ok(Shares::Rep3(matched(executor, operator, data, &mut |_, _| Ok(()))?)),
            Self::Two(executor, foresight) => {
                let learn: Learn<'_, Two> = &mut |engine, sizes| foresee(foresight, engine, sizes);
                Ok(Shares::Two(matched(executor, operator, data, learn)?))
            }
        }
    }

    /// A kept table's shares as a table.
    pub fn kept(&mut self, operator: &Operator, shares: KeptShares) -> Result<Shares> {
        match self {
            Self::Clear(_) => Err(RunError::Unkept),
            Self::Rep3(executor) => {
                Ok(Shares::Rep3(executor.kept(operator, |_, kept| shares.into_rows::<Rep3>(kept))?))
            }
            Self::Two(executor, _) => {
                Ok(Shares::Two(executor.kept(operator, |_, kept| shares.into_rows::<Two>(kept))?))
            }
        }
    }

    /// Keeps a table for later sessions. Returns what this node's file says of itself.
    pub fn keep(&mut self, operator: &Operator, input: &Shares, target: &Target) -> Result<String> {
        match self {
            Self::Clear(_) => Err(RunError::Unkept),
            Self::Rep3(executor) => kept::keep(executor, operator, input.rep3()?, target),
            Self::Two(executor, _) => kept::keep(executor, operator, input.two()?, target),
        }
    }

    /// Opens a table to the operator's recipients. None at other nodes.
    pub fn release(&mut self, operator: &Operator, input: &Shares) -> Result<Option<DataTable>> {
        match self {
            Self::Clear(executor) => Ok(executor.release(operator, input.clear()?)?),
            Self::Rep3(executor) => Ok(executor.release(operator, input.rep3()?)?),
            Self::Two(executor, _) => Ok(executor.release(operator, input.two()?)?),
        }
    }

    /// Ends in order, with an acknowledgement from every peer.
    pub fn close(self) -> Result<()> {
        self.into_session().map_or(Ok(()), |session| Ok(session.close()?))
    }

    /// Ends at once and tells every peer.
    pub fn abort(self, reason: &str) {
        match self {
            Self::Clear(_) => {}
            Self::Rep3(executor) => executor.into_backend().abort(reason),
            Self::Two(executor, _) => executor.into_backend().abort(reason),
        }
    }
}

/// Has stock made ahead for what follows from announced sizes.
fn foresee(foresight: &mut Option<Box<Foresight>>, engine: &mut Two, sizes: &[(usize, usize)]) -> Result<()> {
    foresight.as_mut().map_or(Ok(()), |foresight| foresight.order(engine, sizes))
}

/// The join of two owners' tables among nodes.
fn matched<B: Networked>(
    executor: &mut Executor<B>,
    operator: &Operator,
    data: BothSides,
    learn: Learn<'_, B>,
) -> Result<Table<B>> {
    match operator {
        Operator::Psi(psi) => psi_join::among_nodes(executor, psi, data, learn),
        Operator::CircuitPsi(psi) => circuit_join::among_nodes(executor, psi, data, learn),
        _ => Err(no_psi(operator)),
    }
}

fn no_psi(operator: &Operator) -> RunError {
    RunError::NoPsi(operator.name())
}
