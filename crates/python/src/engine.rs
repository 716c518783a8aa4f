//! The engines behind one type: the only place that knows which there are.

use tacit_mpc::backends::{Clear, Rep3};
use tacit_table::{DataTable, Executor, Operator, Table};

use crate::fault::{Failure, Result};
use crate::psi_join::{self, BothSides};

/// An engine at one node, with the plan's permits.
pub enum Engine {
    /// The reference without security.
    Clear(Box<Executor<Clear>>),
    /// Three nodes, replicated sharing.
    Rep3(Box<Executor<Rep3>>),
}

/// A table under one engine: in clear, or this node's shares. Not printable.
pub enum Shares {
    /// In clear.
    Clear(Table<Clear>),
    /// Shared among three nodes.
    Rep3(Table<Rep3>),
}

impl Shares {
    /// The number of rows. Public.
    pub fn rows(&self) -> usize {
        match self {
            Self::Clear(table) => table.rows(),
            Self::Rep3(table) => table.rows(),
        }
    }

    /// The names of the columns. Public.
    pub fn columns(&self) -> Vec<String> {
        match self {
            Self::Clear(table) => table.names().map(str::to_owned).collect(),
            Self::Rep3(table) => table.names().map(str::to_owned).collect(),
        }
    }

    fn clear(&self) -> Result<&Table<Clear>> {
        match self {
            Self::Clear(table) => Ok(table),
            Self::Rep3(_) => Err(other_engine()),
        }
    }

    fn rep3(&self) -> Result<&Table<Rep3>> {
        match self {
            Self::Rep3(table) => Ok(table),
            Self::Clear(_) => Err(other_engine()),
        }
    }
}

fn other_engine() -> Failure {
    Failure::input("a table of another engine; give tables of this session")
}

impl Engine {
    /// Shares the owner's table (given only at the owner).
    pub fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Shares> {
        if data.is_none() && self.owns(operator) {
            return Err(Failure::input("this party owns the input; give its data"));
        }
        match self {
            Self::Clear(executor) => Ok(Shares::Clear(executor.input(operator, data)?)),
            Self::Rep3(executor) => Ok(Shares::Rep3(executor.input(operator, data)?)),
        }
    }

    /// Whether the data of an input is this party's to give.
    fn owns(&self, operator: &Operator) -> bool {
        let Operator::Input(input) = operator else { return false };
        match self {
            Self::Clear(_) => true,
            Self::Rep3(executor) => {
                let session = executor.backend().session();
                session.name(session.me()) == input.owner
            }
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
        }
    }

    /// Joins two owners' tables by private set intersection. Each owner gives its side.
    pub fn psi(&mut self, operator: &Operator, data: BothSides) -> Result<Shares> {
        let Operator::Psi(psi) = operator else {
            return Err(Failure::input(format!(
                "{} is no psi; give it to the method that executes it",
                operator.name()
            )));
        };
        match self {
            Self::Clear(executor) => Ok(Shares::Clear(psi_join::in_clear(executor, psi, data)?)),
            Self::Rep3(executor) => {
                let session = executor.backend().session();
                let me = session.name(session.me());
                let owned = psi.sides().map(|side| side.owner == me);
                if data.each_ref().map(Option::is_some) != owned {
                    return Err(Failure::input("each owner of a psi gives the data of its own side, and of no other"));
                }
                Ok(Shares::Rep3(psi_join::among_nodes(executor, psi, data)?))
            }
        }
    }

    /// Opens a table to the operator's recipients. None at other nodes.
    pub fn release(&mut self, operator: &Operator, input: &Shares) -> Result<Option<DataTable>> {
        match self {
            Self::Clear(executor) => Ok(executor.release(operator, input.clear()?)?),
            Self::Rep3(executor) => Ok(executor.release(operator, input.rep3()?)?),
        }
    }

    /// Ends in order, with an acknowledgement from every peer.
    pub fn close(self) -> Result<()> {
        match self {
            Self::Clear(_) => Ok(()),
            Self::Rep3(executor) => Ok(executor.into_backend().into_session().close()?),
        }
    }

    /// Ends at once and tells every peer.
    pub fn abort(self, reason: &str) {
        if let Self::Rep3(executor) = self {
            executor.into_backend().into_session().abort(reason);
        }
    }
}
