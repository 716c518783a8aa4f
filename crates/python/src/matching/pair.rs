//! Two parties that match their tables: one session for each worker.

use std::sync::{Arc, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tacit_linkage::messages::prepared::fingerprint;
use tacit_linkage::messages::{Asked, Point};
use tacit_linkage::plan::Chosen;
use tacit_linkage::{family, shares};
use tacit_psi::{Protocol, Role};

use super::announced::Announcement;
use super::binned::{Binned, KeyedTable};
use super::joined::{Connection, Metrics, Shape};
use super::plan::MatchPlan;
use super::plugin::plugged;
use super::prepared::{Offer, PreparedSet};
use super::whole::{Identified, SharedRows, method_named};
use crate::fault::Failure;
use crate::keys::PrivateKey;
use crate::party::Party;
use crate::testimony::Attendance;

/// Two connected parties that compared version and plan.
#[pyclass(frozen, module = "tacit._native")]
pub struct Pair(Connection);

#[pymethods]
impl Pair {
    /// Connect to the other of two parties over TLS 1.3 and compare versions and plans.
    #[staticmethod]
    #[pyo3(signature = (parties, me, private_key_pem, plan, *, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None, ledger=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn connect(
        py: Python<'_>,
        parties: [Party; 2],
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
        Ok(Self(Connection::open(py, parties.into(), me, private_key_pem, plan.get(), shape, ledger)?))
    }

    /// Who takes part, each by its signature; None where nobody signed.
    fn attendance(&self, py: Python<'_>) -> PyResult<Option<Attendance>> {
        self.0.attendance(py)
    }

    /// Tell the peer of this party. Both announcements, in the parties' order.
    fn announce<'py>(&self, py: Python<'py>, mine: &Announcement) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.announce(py, mine)?)
    }

    /// Agree with the peer on a fresh key for tokens, and on the run's name.
    fn agree(&self, py: Python<'_>) -> PyResult<([u8; 16], String)> {
        self.0.agree(py)
    }

    /// Wait until the peer's input is ready, too.
    fn ready(&self, py: Python<'_>) -> PyResult<()> {
        self.0.wait_at(py, Point::Ready)
    }

    /// Connect further workers, until there are `count`. Both parties call it at the same point, when both are ready.
    fn add_workers(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.0.work(py, move |parties| parties.add_workers(count))
    }

    /// Wait until the peer has its results, too.
    fn done(&self, py: Python<'_>) -> PyResult<()> {
        self.0.wait_at(py, Point::Done)
    }

    /// Wait until the peer has had the time to find for itself what this party is about to refuse.
    fn refuse(&self, py: Python<'_>) -> PyResult<()> {
        self.0.refuse(py)
    }

    /// Match a table's bins. sender: this party's role. todo: the bins to do. plugin: a protocol written elsewhere and
    /// its name, in place of a named one.
    #[pyo3(signature = (table, protocol, *, sender, todo, plugin=None))]
    fn run(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        protocol: &str,
        sender: bool,
        todo: Vec<usize>,
        plugin: Option<(Py<PyAny>, String)>,
    ) -> PyResult<()> {
        let (bins, results) = table.get().parts();
        let (name, elsewhere) = match &plugin {
            Some((_, name)) => (name.clone(), true),
            None => (protocol.to_owned(), false),
        };
        let protocol: Arc<dyn Protocol> = match plugin {
            Some((plugin, name)) => Arc::new(plugged(plugin, &name)),
            None => family::named(protocol, bins.count()).map_err(Failure::from)?,
        };
        let progress = Arc::clone(&self.0.progress);
        self.0.work(py, move |parties| {
            let chosen = if elsewhere { Chosen::Elsewhere(&name) } else { Chosen::Named(&name) };
            let run = parties.run(role(sender), chosen, bins.count(), todo)?;
            run.execute(protocol.as_ref(), parties.sessions(), &bins, &results, &progress)
        })
    }

    /// How many keys match, and, if the plan says so and enough do, the sum of the sender's first payload column over
    /// them. None at a party that learns nothing.
    fn aggregate(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        sender: bool,
    ) -> PyResult<Option<(u64, Option<i64>)>> {
        let (bins, _) = table.get().parts();
        let found = self.0.work(py, move |parties| parties.aggregate(role(sender), &bins))?;
        Ok(found.map(|numbers| (numbers.keys, numbers.sum)))
    }

    /// Give every row of both parties a universal id. method: as in `ids_methods`.
    fn identify(&self, py: Python<'_>, table: &Bound<'_, Binned>, method: &str, sender: bool) -> PyResult<Identified> {
        let ((bins, _), method) = (table.get().parts(), method_named(method)?);
        self.0.work(py, move |parties| Ok(Identified(Arc::new(parties.identify(role(sender), method, bins)?))))
    }

    /// Give every row of both parties a universal id by the first of several keys that two rows share.
    fn identify_by_keys(&self, py: Python<'_>, table: &Bound<'_, KeyedTable>, sender: bool) -> PyResult<Identified> {
        let table = Arc::clone(&table.get().rows);
        self.0.work(py, move |parties| Ok(Identified(Arc::new(parties.identify_by_keys(role(sender), &table)?))))
    }

    /// Share both payloads of the pairs of rows that match. names: of all columns of shares, the sender's first.
    #[pyo3(signature = (table, *, sender, names))]
    fn share(
        &self,
        py: Python<'_>,
        table: &Bound<'_, KeyedTable>,
        sender: bool,
        names: Vec<String>,
    ) -> PyResult<SharedRows> {
        let table = Arc::clone(&table.get().rows);
        self.0.work(py, move |parties| {
            let found = parties.share(role(sender), &table)?;
            let (pairs, contaminated) = (found.pairs, found.contaminated);
            Ok(SharedRows { pairs, contaminated, shares: shares::table(found, &names)? })
        })
    }

    /// Offer a prepared table to be asked about. Returns how many rows the peer asks about, and whether it has what is
    /// published.
    fn offer(&self, py: Python<'_>, offer: &Offer) -> PyResult<(u64, bool)> {
        let offer = offer.0.clone();
        self.0.work(py, move |parties| {
            parties.offer(&offer).map(|asked| (asked.rows, asked.has == Some(offer.published)))
        })
    }

    /// Ask about a prepared table with `rows` rows and `keys` key columns. held: what the peer has published before.
    fn question(&self, py: Python<'_>, rows: u64, keys: usize, held: Option<&[u8]>) -> PyResult<Offer> {
        let asked = Asked { rows, has: py.detach(|| held.map(fingerprint)) };
        self.0.work(py, move |parties| parties.question(&asked, keys).map(Offer))
    }

    /// Answer a query about `asked` items from a prepared set, after the published set if the client does not have it.
    fn answer(
        &self,
        py: Python<'_>,
        set: &Bound<'_, PreparedSet>,
        asked: usize,
        published: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let set = Arc::clone(&set.get().0);
        self.0.work(py, move |parties| {
            let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
            parties.answer(&mut set, asked, published.as_deref())
        })
    }

    /// Ask which keys of a table of `rows` rows the prepared set of an offer has. held: the published set; it is
    /// received and returned if this party does not have it.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Binned>,
        rows: usize,
        held: Option<Vec<u8>>,
        offer: &Offer,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let ((bins, results), offer) = (table.get().parts(), offer.0.clone());
        let received = self.0.work(py, move |parties| parties.ask(&bins, &results, rows, held.as_deref(), &offer))?;
        Ok(received.map(|set| PyBytes::new(py, &set)))
    }

    /// Bins done, and payload bytes and rounds of all workers. May be called from any thread during a run.
    fn metrics(&self, py: Python<'_>) -> Metrics {
        self.0.metrics(py)
    }

    /// End in order, with an acknowledgement from the peer.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    /// End at once and tell the peer why; without effect on a connection that has ended.
    fn abort(&self, py: Python<'_>, reason: &str) {
        self.0.abort(py, reason);
    }
}

fn role(sender: bool) -> Role {
    if sender { Role::Sender } else { Role::Receiver }
}
