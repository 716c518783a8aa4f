//! The session handle: one method per operator.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use tacit_run::kept::{Target, sealing_key};
use tacit_run::{Agreement, Facts, Memory, Network, agreed_link, options, reason_for_peers};
use tacit_table::DataTable;

use crate::arrow::{Stream, import_stream, read_table, to_batch};
use crate::fault::{Failure, Result};
use crate::kept::KeptShares;
use crate::keys::PrivateKey;
use crate::party::Party;
use crate::prices;
use crate::report::{self, Entry, StepMetrics};
use crate::table::{Opened, SharedTable};
use crate::testimony::{Attendance, hash};
use crate::waiting::wait_for;

/// One party's end of a connected group of nodes and clients running one placed plan.
///
/// Driven by one thread. A native error of an operator, or Ctrl-C, ends the session and tells every peer what kind of
/// error it was.
#[pyclass(frozen, module = "tacit._native")]
pub struct Session(Arc<tacit_run::Session>);

#[pymethods]
impl Session {
    /// Connect to all peers over TLS 1.3 and compare versions, plan hashes and what is approved. permits: JSON list.
    /// operators: JSON list of all that the session will execute, in order. kept: for each operator that reads a kept
    /// table, in order, the shares that it will take. clients: owners and recipients that are no nodes. ledger: the
    /// hash of this party's last ledger entry, with which all parties sign that they take part. memory: this party's
    /// budget in bytes, and the folder of what does not fit. threads: how many of them compute here.
    #[staticmethod]
    #[pyo3(signature = (parties, me, nodes, private_key_pem, plan_hash, permits, operators, *, engine, tls=true, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None, record=false, link=None, prices=None, kept=None, clients=vec![], ledger=None, memory=None, threads=1))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn connect(
        py: Python<'_>,
        parties: Vec<Party>,
        me: String,
        nodes: Vec<String>,
        private_key_pem: PrivateKey,
        plan_hash: &[u8],
        permits: String,
        operators: String,
        engine: &str,
        tls: bool,
        connect_timeout: f64,
        idle_timeout: f64,
        latency: f64,
        bandwidth: Option<f64>,
        record: bool,
        link: Option<(f64, f64)>,
        prices: Option<&str>,
        kept: Option<Vec<Bound<'_, KeptShares>>>,
        clients: Vec<String>,
        ledger: Option<&[u8]>,
        memory: Option<(u64, PathBuf)>,
        threads: usize,
    ) -> PyResult<Self> {
        let (link, plan_hash) = (agreed_link(link).map_err(Failure::from)?, hash(plan_hash)?);
        let head = ledger.map(hash).transpose()?;
        let kept = Some(kept.iter().flatten().map(|shares| shares.get().table().clone()).collect());
        let (engine, prices) = (engine.to_owned(), prices::read(prices)?);
        let agreement =
            Agreement { engine, nodes, clients, plan_hash, permits, operators, link, prices, kept, ahead: true };
        let options =
            options(tls, [connect_timeout, idle_timeout], latency, bandwidth, record).map_err(Failure::from)?;
        let parties = parties.into_iter().map(Party::into_endpoint).collect();
        let memory = budget(memory);
        let network = Network { parties, me, private_key_pem: private_key_pem.0, head, options, memory, threads };
        Ok(Self::new(wait_for(py, move || Ok(tacit_run::Session::connect(network, &agreement)?), || ())?))
    }

    /// The ends of all nodes of an engine, then of its clients, in this process (tests): each is driven by its own
    /// thread. Nodes that wait for each other, none of which can go on, know it after 15 times the idle timeout. ahead:
    /// whether an engine that can makes ahead what it needs. memory: as for `connect`, of each node.
    #[staticmethod]
    #[pyo3(signature = (nodes, permits, operators, *, engine, idle_timeout=30.0, record=false, link=None, prices=None, ahead=true, clients=vec![], memory=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn in_memory(
        py: Python<'_>,
        nodes: Vec<String>,
        permits: String,
        operators: String,
        engine: &str,
        idle_timeout: f64,
        record: bool,
        link: Option<(f64, f64)>,
        prices: Option<&str>,
        ahead: bool,
        clients: Vec<String>,
        memory: Option<(u64, PathBuf)>,
    ) -> PyResult<Vec<Self>> {
        let (link, prices) = (agreed_link(link).map_err(Failure::from)?, prices::read(prices)?);
        let agreement =
            Agreement { link, prices, ahead, clients, ..Agreement::within_process(engine, nodes, permits, operators) };
        let options = options(true, [idle_timeout; 2], 0.0, None, record).map_err(Failure::from)?;
        let memory = budget(memory);
        let sessions =
            wait_for(py, move || Ok(tacit_run::Session::in_memory(&agreement, &options, memory.as_ref())?), || ())?;
        Ok(sessions.into_iter().map(Self::new).collect())
    }

    /// The reference engine without any security: one session plays every party. Only for tests.
    #[staticmethod]
    fn clear(parties: Vec<String>, permits: String, operators: String) -> Result<Self> {
        let agreement = Agreement::within_process("clear", parties, permits, operators);
        Ok(Self::new(tacit_run::Session::clear(&agreement)?))
    }

    /// This party's name.
    #[getter]
    fn me(&self) -> &str {
        self.0.me()
    }

    /// Who takes part, each by its signature; None where nobody signed.
    fn attendance(&self) -> Option<Attendance> {
        self.0.attendance().map(Attendance::of)
    }

    /// Share the owner's table (data only at the owner).
    #[pyo3(signature = (step, data, *, pad_to=None))]
    fn input(
        &self,
        py: Python<'_>,
        step: usize,
        data: Option<&Bound<'_, PyAny>>,
        pad_to: Option<usize>,
    ) -> PyResult<SharedTable> {
        let stream = data.map(import_stream).transpose()?;
        self.make(py, move |session| session.input(step, || read(stream, pad_to)))
    }

    /// Join two owners' tables by private set intersection (data of its own side only at each owner).
    #[pyo3(signature = (step, left, right, *, pad_to=None))]
    fn psi(
        &self,
        py: Python<'_>,
        step: usize,
        left: Option<&Bound<'_, PyAny>>,
        right: Option<&Bound<'_, PyAny>>,
        pad_to: Option<(Option<usize>, Option<usize>)>,
    ) -> PyResult<SharedTable> {
        let (left, right) = (left.map(import_stream).transpose()?, right.map(import_stream).transpose()?);
        let (pad_left, pad_right) = pad_to.unwrap_or_default();
        self.make(py, move |session| session.psi(step, || Ok([read(left, pad_left)?, read(right, pad_right)?])))
    }

    /// Execute a secure operator on the tables of the steps that it names.
    fn run(&self, py: Python<'_>, step: usize) -> PyResult<SharedTable> {
        self.make(py, move |session| session.run(step))
    }

    /// Take up a kept table. shares: what its file gave for the operator.
    fn kept(&self, py: Python<'_>, step: usize, shares: &Bound<'_, KeptShares>) -> PyResult<SharedTable> {
        let part = shares.get().take()?;
        self.make(py, move |session| session.kept(step, part))
    }

    /// Keep a table: write this node's shares to a file under a key of 32 bytes, and know that all nodes have.
    ///
    /// about: what the planner has to know of the table, as JSON. Returns what the file says of itself, as JSON.
    fn keep(&self, py: Python<'_>, step: usize, path: PathBuf, key: &[u8], about: String) -> PyResult<String> {
        let target = Target { path, key: sealing_key(key).map_err(Failure::from)?, about };
        self.work(py, move |session| Ok(session.keep(step, &target)?))
    }

    /// Open to the operator's recipients; None at other parties.
    fn release(&self, py: Python<'_>, step: usize) -> PyResult<Option<Opened>> {
        self.work(py, move |session| session.release(step)?.map(|table| opened(session, table)).transpose())
    }

    /// Cost per step so far. May be called from any thread during a run.
    #[pyo3(signature = (*, nested=false))]
    fn metrics(&self, py: Python<'_>, nested: bool) -> Vec<StepMetrics> {
        py.detach(|| report::metrics(&self.0, nested))
    }

    /// With record=True: every message and every opened value.
    fn transcript(&self, py: Python<'_>) -> Vec<Entry> {
        py.detach(|| report::transcript(&self.0))
    }

    /// End in order, with an acknowledgement from every peer.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |session| Ok(session.close()?))
    }

    /// End at once and tell every peer.
    fn abort(&self, py: Python<'_>, reason: &str) {
        py.detach(|| self.0.abort(reason));
    }

    fn __repr__(&self) -> String {
        format!("Session({:?} among {})", self.0.me(), self.0.nodes().join(", "))
    }
}

/// What peers are told when the user interrupts this party.
const INTERRUPTED: &str = "it was interrupted";

impl Session {
    fn new(session: tacit_run::Session) -> Self {
        Self(Arc::new(session))
    }

    /// Runs one call on a native thread, which Ctrl-C interrupts.
    fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&tacit_run::Session) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let session = Arc::clone(&self.0);
        wait_for(py, move || work(&session), || self.0.interrupt(INTERRUPTED))
    }

    /// The same for a step that makes a table.
    fn make(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&tacit_run::Session) -> tacit_run::Result<Facts> + Send + 'static,
    ) -> PyResult<SharedTable> {
        self.work(py, |session| Ok(SharedTable(work(session)?)))
    }
}

impl Drop for Session {
    /// Telling the peers may take a moment, in which other Python threads can run.
    fn drop(&mut self) {
        Python::try_attach(|py| py.detach(|| self.0.leave()));
    }
}

fn budget(memory: Option<(u64, PathBuf)>) -> Option<Memory> {
    memory.map(|(budget, folder)| Memory { budget, folder })
}

fn read(stream: Option<Stream>, pad_to: Option<usize>) -> tacit_run::Result<Option<DataTable>> {
    stream.map(|stream| read_table(stream).map(|table| DataTable { pad_to, ..table })).transpose()
}

/// An opened table as Arrow. Where that fails, the session ends as by any other error.
fn opened(session: &tacit_run::Session, table: DataTable) -> Result<Opened> {
    let batch = to_batch(table).inspect_err(|failure| session.interrupt(reason_for_peers(failure.fault)));
    Ok(Opened(batch?))
}
