//! More than two parties that match their tables, in one session.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_linkage::many;
use tacit_net::PartyId;
use tacit_psi::multi_party::Owners;
use tacit_psi::tokens::agree_key;

use super::binned::Binned;
use super::joined::{Connection, Metrics, Shape, exchange};
use crate::keys::PrivateKey;
use crate::party::Party;

/// Connected parties that compared version and plan.
#[pyclass(frozen, module = "tacit._native")]
pub struct Group(Connection);

#[pymethods]
impl Group {
    /// Connect to all others over TLS 1.3 and compare versions and plan hashes.
    #[staticmethod]
    #[pyo3(signature = (parties, me, private_key_pem, plan_hash, *, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn connect(
        py: Python<'_>,
        parties: Vec<Party>,
        me: usize,
        private_key_pem: PrivateKey,
        plan_hash: [u8; 32],
        connect_timeout: f64,
        idle_timeout: f64,
        latency: f64,
        bandwidth: Option<f64>,
    ) -> PyResult<Self> {
        let shape = Shape { connect_timeout, idle_timeout, latency, bandwidth };
        Ok(Self(Connection::open(py, parties, me, private_key_pem, plan_hash, shape)?))
    }

    /// Send a short message to everybody and return everybody's, in the parties' order. One round.
    fn exchange<'py>(&self, py: Python<'py>, message: Vec<u8>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let all = self.0.work(py, move |sessions| exchange(&mut sessions[0], message))?;
        Ok(all.iter().map(|message| PyBytes::new(py, message)).collect())
    }

    /// Agree with everybody on a fresh key for tokens.
    fn agree_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.0.work(py, |sessions| Ok(*agree_key(&mut sessions[0])?.expose()))?;
        Ok(PyBytes::new(py, &key))
    }

    /// Find the rows whose keys all tables have. table: in one bin. rows: announced, by party. leader, recipients: by
    /// number. most: rows that the output may have. Returns how many it has; if these are more, nothing is kept.
    #[pyo3(signature = (table, *, rows, leader, recipients, most))]
    fn intersect(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        rows: Vec<usize>,
        leader: usize,
        recipients: Vec<usize>,
        most: u64,
    ) -> PyResult<u64> {
        let table = table.get();
        let (bins, results) = (Arc::clone(&table.bins), Arc::clone(&table.results));
        let (owners, progress) = (owners(rows, leader, recipients), Arc::clone(&self.0.progress));
        self.0
            .work(py, move |sessions| Ok(many::intersect(&mut sessions[0], &owners, &bins, &results, &progress, most)?))
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

fn owners(sizes: Vec<usize>, leader: usize, recipients: Vec<usize>) -> Owners {
    Owners { sizes, leader: PartyId(leader), recipients: recipients.into_iter().map(PartyId).collect() }
}
