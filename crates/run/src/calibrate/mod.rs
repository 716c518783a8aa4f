//! Measures what this machine takes for what prices are of.
//!
//! Plans run among nodes of one process, and what each step takes of a node's processor stands beside what is predicted
//! of it. A predicted time is linear in the prices as long as the same protocols are chosen. So the difference of two
//! predictions tells how often a step does what one price is of. Prices are those by which the steps take what was
//! measured (least squares). What messages take between machines is measured apart ([`link`]).

pub mod fit;
pub mod link;
mod matching;
mod measure;

use serde_json::Value;
use tacit_mpc::Link;
use tacit_table::Parties;

use crate::cost::{Conditions, OperatorCost, cost};
use crate::error::Result;
use crate::prices::Prices;
use fit::Equation;
pub use matching::intersections;

/// A plan to be measured.
pub struct Measured {
    /// The engine's name.
    pub engine: String,
    /// The nodes in engine order.
    pub nodes: Vec<String>,
    /// The operators, as JSON. All inputs have declared sizes.
    pub operators: String,
    /// The network by which protocols are chosen.
    pub link: Link,
}

/// A step of a measured plan.
#[derive(Clone, Debug)]
pub struct Step {
    /// The engine's and the operator's name.
    pub name: String,
    /// Seconds of a node's processor: the mean of all nodes.
    pub taken: f64,
    /// What the prices of before predicted.
    pub predicted: f64,
    /// What the fitted prices predict; the same as before until they are fitted.
    pub fitted: f64,
}

/// Plans that were measured, and what follows.
pub struct Calibration {
    before: Value,
    equations: Vec<Equation>,
    steps: Vec<Step>,
}

/// A network that takes no time: what is left of a predicted time is the processor's.
const NO_NETWORK: Link = Link { latency: 0.0, bandwidth: f64::INFINITY };

/// What a step takes at least, in seconds, to be measured: less is mostly the clock's and the threads' own.
const LEAST: f64 = 0.002;

impl Calibration {
    /// Before any plan. before: the prices that are predicted by, and that unmeasured prices follow.
    pub fn new(before: &Prices) -> Self {
        let before = serde_json::from_str(&before.to_json()).expect("a table of prices");
        Self { before, equations: vec![], steps: vec![] }
    }

    /// Runs a plan among nodes of this process and notes what its steps take.
    ///
    /// # Errors
    /// When the plan cannot be run.
    pub fn run(&mut self, plan: &Measured) -> Result<()> {
        let paths = fit::paths(&self.before);
        let base = predicted(plan, &self.before)?;
        let mut coefficients = vec![vec![0.0; paths.len()]; base.len()];
        let mut chosen_alike = vec![true; base.len()];
        for (column, path) in paths.iter().enumerate() {
            let (more, difference) = fit::raised(&self.before, path);
            for (row, (now, then)) in predicted(plan, &more)?.into_iter().zip(&base).enumerate() {
                chosen_alike[row] &= now.declared.communication.sent == then.declared.communication.sent;
                coefficients[row][column] = (now.seconds - then.seconds) / difference;
            }
        }
        let taken = measure::steps(plan)?;
        for (((base, coefficients), alike), taken) in base.into_iter().zip(coefficients).zip(chosen_alike).zip(taken) {
            if !alike || taken < LEAST || base.seconds == 0.0 {
                continue;
            }
            self.equations.push(Equation { coefficients, taken });
            let name = format!("{} {}", plan.engine, base.step);
            self.steps.push(Step { name, taken, predicted: base.seconds, fitted: base.seconds });
        }
        Ok(())
    }

    /// The prices by which the measured steps take what they took, and the steps. date and machine: when and where they
    /// were measured. matching: prices of intersections ([`intersections`]).
    ///
    /// # Errors
    /// When prices come out absurd, on a machine that is.
    pub fn prices(&self, date: &str, machine: &str, matching: &tacit_psi::Prices) -> Result<(Prices, Vec<Step>)> {
        let mut fitted = fit::fitted(&self.before, &self.equations);
        fitted["date"] = date.into();
        fitted["machine"] = machine.into();
        fitted["matching"] = serde_json::to_value(matching).expect("names and numbers");
        let paths = fit::paths(&fitted);
        let prices: Vec<f64> = paths.iter().map(|path| fit::price(&fitted, path)).collect();
        let predict = |equation: &Equation| equation.coefficients.iter().zip(&prices).map(|(a, b)| a * b).sum();
        let steps = self.equations.iter().zip(&self.steps);
        let steps = steps.map(|(each, step)| Step { fitted: predict(each), ..step.clone() });
        Ok((Prices::from_json(&fitted.to_string())?, steps.collect()))
    }
}

/// What each step of a plan takes of the processor by a table of prices.
fn predicted(plan: &Measured, prices: &Value) -> Result<Vec<OperatorCost>> {
    let prices = Prices::from_json(&prices.to_string())?;
    let parties = Parties { nodes: plan.nodes.clone(), clients: vec![] };
    let conditions =
        Conditions { parties: &parties, link: plan.link, network: Some(NO_NETWORK), prices: &prices, ahead: false };
    cost(&plan.engine, &plan.operators, &measure::sizes(plan)?, &conditions)
}
