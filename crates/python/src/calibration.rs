//! Prices of this machine.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use tacit_run::calibrate::{self, Measured, intersections};
use tacit_run::declared_link;

use crate::fault::Result;
use crate::prices;
use crate::waiting::wait_for;

/// A step that was measured: its operator's name, and seconds of a node's processor.
#[derive(IntoPyObject)]
pub struct Step {
    name: String,
    taken: f64,
    predicted: f64,
    fitted: f64,
}

/// Plans that run among nodes of this process, and the prices that follow from what they take.
#[pyclass]
pub struct Calibration {
    before: tacit_psi::Prices,
    measured: Arc<Mutex<calibrate::Calibration>>,
}

#[pymethods]
impl Calibration {
    /// prices: the table (JSON) that prices which nothing measures follow.
    #[new]
    #[pyo3(signature = (prices=None))]
    fn new(prices: Option<&str>) -> Result<Self> {
        let before = prices::read(prices)?;
        let measured = Arc::new(Mutex::new(calibrate::Calibration::new(&before)));
        Ok(Self { before: before.matching, measured })
    }

    /// Measures a plan: secure operators (a JSON list in execution order) whose inputs have declared sizes.
    #[pyo3(signature = (engine, operators, *, nodes, link=None))]
    fn run(
        &self,
        py: Python<'_>,
        engine: String,
        operators: String,
        nodes: Vec<String>,
        link: Option<(f64, f64)>,
    ) -> PyResult<()> {
        let measured = Arc::clone(&self.measured);
        let run = move || {
            let plan = Measured { engine, nodes, operators, link: link.map(declared_link).transpose()? };
            Ok(measured.lock().unwrap_or_else(PoisonError::into_inner).run(&plan)?)
        };
        wait_for(py, run, || {})
    }

    /// Measures intersections, and gives the table of prices (JSON) and the steps that were measured.
    fn prices(&self, py: Python<'_>, date: String, machine: String) -> PyResult<(String, Vec<Step>)> {
        let (measured, before) = (Arc::clone(&self.measured), self.before.clone());
        let run = move || {
            let matching = intersections(&before)?;
            Ok(measured.lock().unwrap_or_else(PoisonError::into_inner).prices(&date, &machine, &matching)?)
        };
        let (prices, steps) = wait_for(py, run, || {})?;
        let step = |calibrate::Step { name, taken, predicted, fitted }| Step { name, taken, predicted, fitted };
        Ok((prices.to_json(), steps.into_iter().map(step).collect()))
    }
}
