//! Tells the engine what stock a plan takes, as soon as that is known. The plan's operators are run on row counts
//! alone, ahead of the engine, as far as the announced sizes are known that they need.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use tacit_mpc::Link;
use tacit_mpc::backends::{Costs, Networked};
use tacit_table::cost::stretches;
use tacit_table::{Forecast, Operator, Parties};

use crate::circuit_join::shared_matches;
use crate::error::Result;

/// What an engine is told to make for a step.
pub type OrderOf<B> = <<B as Networked>::Formulas as Costs>::Order;

/// What is still to come of a plan.
pub struct Foresight<B: Networked> {
    nodes: Vec<String>,
    operators: Vec<Operator>,
    /// What is not ordered yet.
    stretches: VecDeque<Range<usize>>,
    forecast: Forecast<B::Formulas>,
    /// Announced sizes, by the ids of steps and local steps.
    sizes: HashMap<usize, usize>,
    /// Has the engine make stock for the step of this name.
    order: fn(&mut B, &str, OrderOf<B>),
}

impl<B: Networked> Foresight<B> {
    /// Before the first of these operators, among parties of these names, whose nodes agree on a link and on prices.
    pub fn new(
        operators: &[Operator],
        parties: &Parties,
        link: Link,
        prices: <B::Formulas as Costs>::Prices,
        order: fn(&mut B, &str, OrderOf<B>),
    ) -> Self {
        Self {
            nodes: parties.nodes.clone(),
            operators: operators.to_vec(),
            stretches: stretches(operators).into(),
            forecast: Forecast::new(parties, link, prices, true),
            sizes: HashMap::new(),
            order,
        }
    }

    /// Orders all that is known to be needed, now that these sizes are announced too. Every node calls it at the same
    /// place.
    ///
    /// # Errors
    /// An input error when the operators do not fit each other.
    pub fn order(&mut self, engine: &mut B, announced: &[(usize, usize)]) -> Result<()> {
        self.sizes.extend(announced.iter().copied());
        while let Some(stretch) = self.stretches.front()
            && self.operators[stretch.start].announced().iter().all(|id| self.sizes.contains_key(id))
        {
            let operators = &self.operators[stretch.clone()];
            let (_, orders) = self.forecast.stretch(operators, &self.sizes, shared_matches(&self.nodes))?;
            orders.into_iter().for_each(|ordered| (self.order)(engine, &operators[ordered.step].name(), ordered.order));
            self.stretches.pop_front();
        }
        Ok(())
    }
}
