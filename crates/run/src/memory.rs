//! A node's memory budget: what waits and does not fit goes to files, and what cannot fit is refused.
//!
//! The plan's operators are run on row counts alone, a step ahead of the engine, for what each takes. A step's need,
//! and so what goes to files before it, follows from the plan and from announced sizes.

use std::collections::HashMap;
use std::path::PathBuf;

use tacit_mpc::backends::{Costs, Networked};
use tacit_table::{Forecast, Operator, Program, Scratch, Spill, TableError, Tables, WrongInput};

use crate::agreement::Agreement;
use crate::circuit_join::shared_matches;
use crate::error::Result;
use crate::suite::Suite;

/// What a party gives to its part of a run. No other party is told.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Bytes for the tables and the work of one step.
    pub budget: u64,
    /// Where files of what does not fit are, while the run lasts.
    pub folder: PathBuf,
}

/// A budget, and what is known of the plan that it is for.
pub struct Budget<B: Suite> {
    bytes: u64,
    spill: Spill<B>,
    forecast: Forecast<B::Formulas>,
    nodes: Vec<String>,
    /// Announced sizes, by the ids of steps and local steps.
    sizes: HashMap<usize, usize>,
}

impl<B: Suite> Budget<B> {
    /// Before the first operator of a program. ahead: whether the engine makes stock ahead, which its steps then do
    /// not.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn new(
        memory: &Memory,
        agreement: &Agreement,
        prices: <<B as Networked>::Formulas as Costs>::Prices,
        program: &Program,
        ahead: bool,
    ) -> Result<Self> {
        let scratch = Scratch::new(&memory.folder).map_err(TableError::from)?;
        let forecast = Forecast::new(&agreement.parties(), agreement.link, prices, ahead);
        Ok(Self {
            bytes: memory.budget,
            spill: Spill::new(scratch),
            forecast: forecast.forgetting(program.operators()),
            nodes: agreement.nodes.clone(),
            sizes: HashMap::new(),
        })
    }

    /// Takes in announced sizes.
    pub fn learn(&mut self, sizes: &[(usize, usize)]) {
        self.sizes.extend(sizes.iter().copied());
    }

    /// Before a step: makes room for what it needs, and brings its inputs. What a step needs that announces or opens a
    /// number of rows is known behind it.
    ///
    /// # Errors
    /// [`WrongInput::Memory`] when the step alone is beyond the budget; when a file cannot be written or read.
    pub fn admit(&mut self, operator: &Operator, tables: &mut Tables<B>) -> Result<()> {
        let need = if operator.announced().is_empty() { self.need(operator)? } else { 0 };
        let inputs = operator.inputs();
        tables.make_room(&self.spill, &inputs, self.bytes - need)?;
        Ok(tables.bring(&self.spill, &inputs)?)
    }

    /// Behind a step that has announced or opened a number of rows.
    ///
    /// # Errors
    /// [`WrongInput::Memory`] when what it took is beyond the budget.
    pub fn note(&mut self, operator: &Operator) -> Result<()> {
        if operator.announced().is_empty() { Ok(()) } else { self.need(operator).map(drop) }
    }

    /// What a step takes alone.
    fn need(&mut self, operator: &Operator) -> Result<u64> {
        let matches = shared_matches(&self.nodes);
        let costs = self.forecast.stretch(std::slice::from_ref(operator), &self.sizes, matches)?.0;
        let need = costs.iter().map(|cost| cost.memory.alone).max().unwrap_or_default();
        if need > self.bytes {
            return Err(TableError::from(WrongInput::Memory { need, budget: self.bytes }).into());
        }
        Ok(need)
    }
}
