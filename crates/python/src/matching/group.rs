//! More than two parties that match their tables, in one session.

use std::sync::Arc;

use pyo3::prelude::*;
use tacit_linkage::messages::Point;

use super::announced::Announcement;
use super::binned::Binned;
use super::joined::{Connection, Metrics, Shape};
use super::plan::MatchPlan;
use crate::keys::PrivateKey;
use crate::party::Party;
use crate::testimony::Attendance;

/// Connected parties that compared version and plan.
#[pyclass(frozen, module = "tacit._native")]
pub struct Group(Connection);

#[pymethods]
impl Group {
    /// Connect to all others over TLS 1.3 and compare versions and plans.
    #[staticmethod]
    #[pyo3(signature = (parties, me, private_key_pem, plan, *, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None, ledger=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn connect(
        py: Python<'_>,
        parties: Vec<Party>,
        me: usize,
        private_key_pem: PrivateKey,
        plan: &Bound<'_, MatchPlan>,
        connect_timeout: f64,
        idle_timeout: f64,
        latency: f64,
        bandwidth: Option<f64>,
        ledger: Option<&[u8]>,
    ) -> PyResult<Self> {
        let shape = Shape { connect_timeout, idle_timeout, latency, bandwidth };
        Ok(Self(Connection::open(py, parties, me, private_key_pem, plan.get(), shape, ledger)?))
    }

    /// Who takes part, each by its signature; None where nobody signed.
    fn attendance(&self, py: Python<'_>) -> PyResult<Option<Attendance>> {
        self.0.attendance(py)
    }

    /// Tell everybody of this party. Everybody's announcement, in the parties' order.
    fn announce(&self, py: Python<'_>, mine: &Announcement) -> PyResult<Vec<Announcement>> {
        self.0.announce(py, mine)
    }

    /// Agree with everybody on a fresh key for tokens, and on the run's name.
    fn agree(&self, py: Python<'_>) -> PyResult<([u8; 16], String)> {
        self.0.agree(py)
    }

    /// Wait until everybody's input is ready.
    fn ready(&self, py: Python<'_>) -> PyResult<()> {
        self.0.wait_at(py, Point::Ready)
    }

    /// Find the rows whose keys all tables have. table: in one bin. leader: by number.
    #[pyo3(signature = (table, *, leader))]
    fn intersect(&self, py: Python<'_>, table: &Bound<'_, Binned>, leader: usize) -> PyResult<()> {
        let (bins, results) = table.get().parts();
        let progress = Arc::clone(&self.0.progress);
        self.0.work(py, move |parties| parties.intersect(leader, &bins, &results, &progress))
    }

    /// Wait until everybody has its results.
    fn done(&self, py: Python<'_>) -> PyResult<()> {
        self.0.wait_at(py, Point::Done)
    }

    /// Wait until all have had the time to find for themselves what this party is about to refuse.
    fn refuse(&self, py: Python<'_>) -> PyResult<()> {
        self.0.refuse(py)
    }

    /// Bins done, and payload bytes and rounds. May be called from any thread during a run.
    fn metrics(&self, py: Python<'_>) -> Metrics {
        self.0.metrics(py)
    }

    /// End in order, with an acknowledgement from every peer.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    /// End at once and tell the peers why; without effect on a connection that has ended.
    fn abort(&self, py: Python<'_>, reason: &str) {
        self.0.abort(py, reason);
    }
}
