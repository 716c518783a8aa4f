//! What stock a plan takes, told to the engine as soon as it is known: the plan's operators are run on row counts alone, ahead of the engine,
//! as far as the sizes are known that are announced when they are executed.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use tacit_mpc::Link;
use tacit_mpc::backends::Two;
use tacit_mpc::backends::two::TwoCosts;
use tacit_table::cost::stretches;
use tacit_table::{Forecast, Operator};

use crate::cost::shared_matches;
use crate::error::Result;

/// What is still to come of a plan.
pub struct Foresight {
    nodes: Vec<String>,
    operators: Vec<Operator>,
    /// What is not ordered yet.
    stretches: VecDeque<Range<usize>>,
    forecast: Forecast<TwoCosts>,
    /// Announced sizes, by the ids of steps and local steps.
    sizes: HashMap<usize, usize>,
}

impl Foresight {
    /// Before the first of these operators, among nodes of these names which declare a link or none.
    pub fn new(operators: &[Operator], nodes: &[String], link: Option<Link>) -> Self {
        let forecast = Forecast::new(nodes, link, true);
        let stretches = stretches(operators).into();
        Self { nodes: nodes.to_vec(), operators: operators.to_vec(), stretches, forecast, sizes: HashMap::new() }
    }

    /// Orders all that is known to be needed, now that these sizes are announced too. Every node calls it at the same place.
    ///
    /// # Errors
    /// An input error when the operators do not fit each other.
    pub fn order(&mut self, engine: &mut Two, announced: &[(usize, usize)]) -> Result<()> {
        self.sizes.extend(announced.iter().copied());
        while let Some(stretch) = self.stretches.front()
            && self.operators[stretch.start].announced().iter().all(|id| self.sizes.contains_key(id))
        {
            let operators = &self.operators[stretch.clone()];
            let (_, orders) = self.forecast.stretch(operators, &self.sizes, shared_matches(&self.nodes))?;
            orders.iter().for_each(|ordered| engine.order(&operators[ordered.step].name(), ordered.order));
            self.stretches.pop_front();
        }
        Ok(())
    }
}
