//! Two parties that match their tables: one session for each worker.

use std::sync::{Arc, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_linkage::aggregate::aggregate;
use tacit_linkage::{Ids, Run, family, prepared, shares};
use tacit_net::PartyId;
use tacit_psi::alignment::Learns;
use tacit_psi::blind_join::Rule;
use tacit_psi::tokens::agree_key;
use tacit_psi::unbalanced::send_set;
use tacit_psi::{Protocol, Role};

use super::binned::{Binned, KeyedTable};
use super::joined::{Connection, Metrics, Shape, exchange};
use super::plugin::plugged;
use super::prepared::PreparedSet;
use super::whole::{Identified, SharedRows, announced, method_named};
use crate::fault::Failure;
use crate::keys::PrivateKey;
use crate::party::Party;

/// Two connected parties that compared version and plan.
#[pyclass(frozen, module = "tacit._native")]
pub struct Pair(Connection);

#[pymethods]
impl Pair {
    /// Connect to the other of two parties over TLS 1.3 and compare versions and plan hashes.
    #[staticmethod]
    #[pyo3(signature = (parties, me, private_key_pem, plan_hash, *, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn connect(
        py: Python<'_>,
        parties: [Party; 2],
        me: usize,
        private_key_pem: PrivateKey,
        plan_hash: [u8; 32],
        connect_timeout: f64,
        idle_timeout: f64,
        latency: f64,
        bandwidth: Option<f64>,
    ) -> PyResult<Self> {
        let shape = Shape { connect_timeout, idle_timeout, latency, bandwidth };
        Ok(Self(Connection::open(py, parties.into(), me, private_key_pem, plan_hash, shape)?))
    }

    /// Send a short message to the peer and return the one that it sends. One round.
    fn exchange<'py>(&self, py: Python<'py>, message: Vec<u8>) -> PyResult<Bound<'py, PyBytes>> {
        let theirs = self.0.work(py, move |sessions| {
            let peer = 1 - sessions[0].me().0;
            Ok(exchange(&mut sessions[0], message)?.swap_remove(peer))
        })?;
        Ok(PyBytes::new(py, &theirs))
    }

    /// Agree with the peer on a fresh key for tokens.
    fn agree_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.0.work(py, |sessions| Ok(*agree_key(&mut sessions[0])?.expose()))?;
        Ok(PyBytes::new(py, &key))
    }

    /// Connect further workers, until there are `count`. Both parties call it at the same point, after an exchange.
    fn add_workers(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.0.add_workers(py, count)
    }

    /// Match a table's bins. sender: this party's role. both_learn: whether the sender learns the matches too. rows:
    /// announced by this party and by the peer. todo: the bins to do. joint_rows: how many rows of the join fit into
    /// memory. plugin: a protocol written elsewhere and its name, in place of a named one.
    #[pyo3(signature = (table, protocol, *, sender, both_learn, rows, todo, joint_rows, plugin=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn run(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        protocol: &str,
        sender: bool,
        both_learn: bool,
        rows: [usize; 2],
        todo: Vec<usize>,
        joint_rows: u64,
        plugin: Option<(Py<PyAny>, String)>,
    ) -> PyResult<()> {
        let protocol: Arc<dyn Protocol> = match plugin {
            Some((plugin, name)) => Arc::new(plugged(plugin, &name)),
            None => family::named(protocol, table.get().bins.count()).map_err(Failure::from)?,
        };
        let role = if sender { Role::Sender } else { Role::Receiver };
        let learns = if both_learn { Learns::Both } else { Learns::Receiver };
        let run = Run { role, learns, rows, todo, joint_rows };
        let table = table.get();
        let (bins, results, progress) =
            (Arc::clone(&table.bins), Arc::clone(&table.results), Arc::clone(&self.0.progress));
        self.0.work(py, move |sessions| Ok(run.execute(protocol.as_ref(), sessions, &bins, &results, &progress)?))
    }

    /// How many keys match, and, if at least `least` do, the sum of the sender's first payload column over them.
    /// None at the sender.
    fn aggregate(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        sender: bool,
        rows: [usize; 2],
        least: Option<usize>,
    ) -> PyResult<(Option<usize>, Option<i64>)> {
        let bins = Arc::clone(&table.get().bins);
        let role = if sender { Role::Sender } else { Role::Receiver };
        self.0.work(py, move |sessions| {
            let found = aggregate(&mut sessions[0], role, &bins, rows, least)?;
            Ok((found.cardinality, found.sums.and_then(|sums| sums.first().map(|&sum| sum as i64))))
        })
    }

    /// Give every row of both parties a universal id. method: as in `ids_methods`. rows: announced by this party and by
    /// the peer.
    fn identify(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        method: &str,
        sender: bool,
        rows: [usize; 2],
    ) -> PyResult<Identified> {
        let (bins, method) = (Arc::clone(&table.get().bins), method_named(method)?);
        let role = if sender { Role::Sender } else { Role::Receiver };
        self.0
            .work(py, move |sessions| Ok(Identified(Arc::new(Ids::agree(&mut sessions[0], role, method, bins, rows)?))))
    }

    /// Give every row of both parties a universal id by the first of several keys that two rows share. theirs: the
    /// peer's rows.
    fn identify_by_keys(
        &self,
        py: Python<'_>,
        table: &Bound<'_, KeyedTable>,
        sender: bool,
        theirs: usize,
    ) -> PyResult<Identified> {
        let table = Arc::clone(&table.get().rows);
        let role = if sender { Role::Sender } else { Role::Receiver };
        self.0.work(py, move |sessions| {
            Ok(Identified(Arc::new(Ids::agree_by_keys(&mut sessions[0], role, &table, theirs)?)))
        })
    }

    /// Share both payloads of the pairs of rows that match. mine, theirs: (rows, columns), announced. names: of all
    /// columns of shares, the sender's first. single: a row is in one pair at most; otherwise dropped says whether rows
    /// of the sender and of the receiver that have several counterparts are left out.
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (table, *, sender, mine, theirs, names, single, dropped))]
    fn share(
        &self,
        py: Python<'_>,
        table: &Bound<'_, KeyedTable>,
        sender: bool,
        mine: (usize, usize),
        theirs: (usize, usize),
        names: Vec<String>,
        single: bool,
        dropped: (bool, bool),
    ) -> PyResult<SharedRows> {
        let table = Arc::clone(&table.get().rows);
        let (role, announced) = match sender {
            true => (Role::Sender, announced(table.keys, mine, theirs)),
            false => (Role::Receiver, announced(table.keys, theirs, mine)),
        };
        let (drop_sender, drop_receiver) = dropped;
        let rule = if single { Rule::Single } else { Rule::Collect { drop_sender, drop_receiver } };
        self.0.work(py, move |sessions| {
            let found = shares::share(&mut sessions[0], role, &table, announced, rule)?;
            let (pairs, contaminated) = (found.pairs, found.contaminated);
            Ok(SharedRows { pairs, contaminated, shares: shares::table(found, &names)? })
        })
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
        self.0.work(py, move |sessions| {
            let client = PartyId(1 - sessions[0].me().0);
            if let Some(published) = published {
                send_set(&mut sessions[0], client, &published)?;
            }
            let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(set.answer(&mut sessions[0], client, asked)?)
        })
    }

    /// Ask which keys of a table of `rows` rows a prepared set of `items` rows has. held: the published set; it is
    /// received and returned if this party does not have it.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Binned>,
        rows: usize,
        held: Option<Vec<u8>>,
        items: u32,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (bins, results) = (Arc::clone(&table.get().bins), Arc::clone(&table.get().results));
        let received = self.0.work(py, move |sessions| {
            Ok(prepared::ask(&mut sessions[0], &bins, &results, rows, held.as_deref(), items)?)
        })?;
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
