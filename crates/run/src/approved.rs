//! A node bound to what its party has approved: it executes the operators of the plan in their order, and nothing else.

use std::collections::HashMap;

use tacit_table::{Operator, Program};

use crate::error::{Result, RunError};
use crate::kept::KeptTable;
use crate::node::Node;

/// The ids of the operators that read kept tables, in order.
pub fn readers(program: &Program) -> impl Iterator<Item = usize> {
    let reads = |operator: &&Operator| matches!(operator, Operator::Kept(_));
    program.operators().iter().filter(reads).map(Operator::id)
}

/// A node with what it will execute.
pub struct Approved {
    /// The node.
    pub node: Box<dyn Node>,
    program: Program,
    /// Digests of the kept tables that the plan reads, by the ids of the operators that read them. None among nodes of one
    /// process, which do not compare them.
    kept: Option<HashMap<usize, [u8; 32]>>,
}

impl Approved {
    /// Before the first operator of the program. kept: the tables that [readers] read, one for each.
    pub fn new(node: Box<dyn Node>, program: Program, kept: Option<&[KeptTable]>) -> Self {
        let kept = kept.map(|tables| readers(&program).zip(tables).map(|(id, table)| (id, table.digest)).collect());
        Self { node, program, kept }
    }

    /// The operator that is executed now: the next one of the program, which has to be that which is asked for (as JSON). tables: the ids of
    /// the steps whose tables it is given. Tables that neither it nor a later one takes are dropped.
    ///
    /// # Errors
    /// An internal error when another one is asked for, or with other tables; an input error when what is asked for is no operator.
    pub fn next(&mut self, asked: &str, tables: &[usize]) -> Result<Operator> {
        let operator = self.program.take(asked, tables)?;
        let Self { node, program, .. } = self;
        node.drop_tables(&|step| operator.inputs().contains(&step) || program.needs(step));
        Ok(operator)
    }

    /// Whether an operator may read shares of the kept table with this digest: that which the nodes have compared.
    ///
    /// # Errors
    /// An internal error when it is another one.
    pub fn check_kept(&self, operator: &Operator, digest: [u8; 32]) -> Result<()> {
        match &self.kept {
            Some(kept) if kept.get(&operator.id()) != Some(&digest) => Err(RunError::OtherKept),
            _ => Ok(()),
        }
    }
}
