//! A node bound to what its party has approved: it executes the operators of the plan in their order, and nothing else.

use std::collections::HashMap;

use tacit_table::{Operator, Program};

use crate::error::{Result, RunError};
use crate::kept::{KeptPart, KeptTable, readers};
use crate::node::{Facts, Node};

/// A node with what it will execute.
pub struct Approved {
    node: Box<dyn Node>,
    program: Program,
    /// Digests of the kept tables that the plan reads, by the ids of the operators that read them. None among nodes of
    /// one process, which do not compare them.
    kept: Option<HashMap<usize, [u8; 32]>>,
}

impl Approved {
    /// Before the first operator of the program. kept: the tables that [readers] read, one for each.
    pub fn new(node: Box<dyn Node>, program: Program, kept: Option<&[KeptTable]>) -> Self {
        let kept = kept.map(|tables| readers(&program).zip(tables).map(|(id, table)| (id, table.digest)).collect());
        Self { node, program, kept }
    }

    /// Executes a step, which has to be the next one of the program. Afterwards the tables go that no later one takes.
    ///
    /// # Errors
    /// An internal error when it is another step's turn; those of `work`, located in the step.
    pub fn execute<T>(&mut self, step: usize, work: impl FnOnce(&mut dyn Node, &Operator) -> Result<T>) -> Result<T> {
        let Self { node, program, .. } = self;
        let operator = program.take(step)?;
        let done = node.prepare(&operator, &|step| program.needs(step)).and_then(|()| work(&mut **node, &operator));
        let done = done.map_err(|error| error.at(&operator.name()))?;
        node.drop_tables(&|step| program.needs(step));
        Ok(done)
    }

    /// Executes a step that reads a kept table: that which the nodes have compared.
    ///
    /// # Errors
    /// Those of [`Self::execute`]; an internal error for a part of another table.
    pub fn kept(&mut self, step: usize, part: KeptPart) -> Result<Facts> {
        let other = self.kept.as_ref().is_some_and(|kept| kept.get(&step) != Some(&part.table.digest));
        self.execute(
            step,
            |node, operator| {
                if other { Err(RunError::OtherKept) } else { node.kept(operator, part.shares) }
            },
        )
    }

    /// Ends in order, with an acknowledgement from every peer.
    ///
    /// # Errors
    /// When a peer does not acknowledge.
    pub fn close(self) -> Result<()> {
        self.node.close()
    }

    /// Ends at once and tells every peer.
    pub fn abort(self, reason: &str) {
        self.node.abort(reason);
    }
}
