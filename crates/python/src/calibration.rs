//! Prices of this machine, and links between machines.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use tacit_net::AbortHandle;
use tacit_run::calibrate::link::{self, Links, Pair};
use tacit_run::calibrate::{self, Measured, intersections};
use tacit_run::{Link, Network, agreed_link, options, reason_for_peers};

use crate::fault::{Failure, Fault, Result};
use crate::keys::PrivateKey;
use crate::party::Party;
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
            let plan = Measured { engine, nodes, operators, link: agreed_link(link)? };
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

/// A measured link: the names of two parties, seconds one way, and bytes a second in each direction.
type Measurement = (String, String, f64, f64);

/// Connect to all others over TLS 1.3, all of which measure links, and measure those of all pairs. The pairs, then the
/// worst latency and bandwidth.
#[pyfunction]
#[pyo3(signature = (parties, me, private_key_pem, *, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn measure_links(
    py: Python<'_>,
    parties: Vec<Party>,
    me: String,
    private_key_pem: PrivateKey,
    connect_timeout: f64,
    idle_timeout: f64,
    latency: f64,
    bandwidth: Option<f64>,
) -> PyResult<(Vec<Measurement>, (f64, f64))> {
    let options = options(true, [connect_timeout, idle_timeout], latency, bandwidth, false).map_err(Failure::from)?;
    let parties = parties.into_iter().map(Party::into_endpoint).collect();
    let network =
        Network { parties, me, private_key_pem: private_key_pem.0, head: None, options, memory: None, threads: 1 };
    let abort = Arc::new(OnceLock::<AbortHandle>::new());
    let watch = Arc::clone(&abort);
    let measure = move || Ok(link::measure(network, |handle| drop(watch.set(handle)))?);
    let stop = || abort.get().into_iter().for_each(|handle| handle.abort(reason_for_peers(Fault::Interrupted)));
    let Links { pairs, worst } = wait_for(py, measure, stop)?;
    let measurement = |Pair { names: [one, other], link }| (one, other, link.latency, link.bandwidth);
    let Link { latency, bandwidth } = worst;
    Ok((pairs.into_iter().map(measurement).collect(), (latency, bandwidth)))
}
