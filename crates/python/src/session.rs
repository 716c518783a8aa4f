//! The session handle: one method per operator.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use tacit_run::kept::{Target, sealing_key};
use tacit_run::{
    Agreement, Approved, Connected, End, Facts, Lifecycle, Link, Network, RunError, Watch, clear, contain,
    declared_link, in_memory, options, reason_for_peers,
};
use tacit_table::{DataTable, Operator};

use crate::arrow::{Stream, import_stream, read_table, to_batch};
use crate::fault::{Failure, Result};
use crate::kept::KeptShares;
use crate::keys::PrivateKey;
use crate::party::Party;
use crate::report::{self, Entry, StepMetrics};
use crate::table::{Opened, SharedTable};
use crate::waiting::wait_for;

/// One party's end of a connected group of nodes running one placed plan.
///
/// Driven by one thread. A native error of an operator, or Ctrl-C, ends the session and tells every peer what kind of error it was.
#[pyclass(frozen, module = "tacit._native")]
pub struct Session {
    id: u64,
    me: String,
    nodes: Vec<String>,
    lifecycle: Lifecycle,
    watch: Watch,
}

#[pymethods]
impl Session {
    /// Connect to all peers over TLS 1.3 and compare versions, plan hashes and what is approved. permits: JSON list. operators: JSON list of all
    /// that the session will execute, in order. kept: for each operator that reads a kept table, in order, the shares that it will take.
    #[staticmethod]
    #[pyo3(signature = (parties, me, nodes, private_key_pem, plan_hash, permits, operators, *, engine="rep3", tls=true, connect_timeout=30.0, idle_timeout=30.0, latency=0.0, bandwidth=None, record=false, link=None, kept=None))]
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
        kept: Option<Vec<Bound<'_, KeptShares>>>,
    ) -> PyResult<Self> {
        let (link, plan_hash) = (declared(link)?, hash(plan_hash)?);
        let kept = Some(kept.iter().flatten().map(|shares| shares.get().table().clone()).collect());
        let engine = engine.to_owned();
        let agreement = Agreement { engine, nodes, plan_hash, permits, operators, link, kept, ahead: true };
        let options =
            options(tls, [connect_timeout, idle_timeout], latency, bandwidth, record).map_err(Failure::from)?;
        let parties = parties.into_iter().map(Party::into_endpoint).collect();
        let network = Network { parties, me, private_key_pem: private_key_pem.0, options };
        Ok(Self::new(wait_for(py, move || Ok(network.connect(&agreement)?), || ())?))
    }

    /// The ends of all nodes of an engine in this process (tests): each is driven by its own thread. Nodes that wait for each
    /// other, none of which can go on, know it after 15 times the idle timeout. ahead: whether an engine that can makes ahead what it needs.
    #[staticmethod]
    #[pyo3(signature = (nodes, permits, operators, *, engine="rep3", idle_timeout=30.0, record=false, link=None, ahead=true))]
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
        ahead: bool,
    ) -> PyResult<Vec<Self>> {
        let link = declared(link)?;
        let agreement = Agreement { link, ahead, ..Agreement::within_process(engine, nodes, permits, operators) };
        let options = options(true, [idle_timeout; 2], 0.0, None, record).map_err(Failure::from)?;
        Ok(wait_for(py, move || Ok(in_memory(&agreement, &options)?), || ())?.into_iter().map(Self::new).collect())
    }

    /// The reference engine without any security: one session plays every party. Only for tests.
    #[staticmethod]
    fn clear(parties: Vec<String>, permits: String, operators: String) -> Result<Self> {
        Ok(Self::new(clear(&Agreement::within_process("clear", parties, permits, operators))?))
    }

    /// This party's name.
    #[getter]
    fn me(&self) -> &str {
        &self.me
    }

    /// Share the owner's table (data only at the owner).
    #[pyo3(signature = (operator, data, *, pad_to=None))]
    fn input(
        &self,
        py: Python<'_>,
        operator: String,
        data: Option<&Bound<'_, PyAny>>,
        pad_to: Option<usize>,
    ) -> PyResult<SharedTable> {
        let stream = data.map(import_stream).transpose()?;
        self.make(py, operator, vec![], move |approved, operator| {
            Ok(approved.node.input(operator, read(stream, pad_to)?)?)
        })
    }

    /// Join two owners' tables by private set intersection (data of its own side only at each owner).
    #[pyo3(signature = (operator, left, right, *, pad_to=None))]
    fn psi(
        &self,
        py: Python<'_>,
        operator: String,
        left: Option<&Bound<'_, PyAny>>,
        right: Option<&Bound<'_, PyAny>>,
        pad_to: Option<(Option<usize>, Option<usize>)>,
    ) -> PyResult<SharedTable> {
        let (left, right) = (left.map(import_stream).transpose()?, right.map(import_stream).transpose()?);
        let (pad_left, pad_right) = pad_to.unwrap_or_default();
        self.make(py, operator, vec![], move |approved, operator| {
            Ok(approved.node.psi(operator, [read(left, pad_left)?, read(right, pad_right)?])?)
        })
    }

    /// Execute one secure operator.
    fn run(&self, py: Python<'_>, operator: String, inputs: Vec<Bound<'_, SharedTable>>) -> PyResult<SharedTable> {
        let steps = inputs.iter().map(|input| self.step(input.get())).collect::<Result<_>>()?;
        self.make(py, operator, steps, move |approved, operator| Ok(approved.node.run(operator)?))
    }

    /// A kept table as a table of this session. shares: what its file gave for the operator.
    fn kept(&self, py: Python<'_>, operator: String, shares: &Bound<'_, KeptShares>) -> PyResult<SharedTable> {
        let (digest, shares) = (shares.get().table().digest, shares.get().take()?);
        self.make(py, operator, vec![], move |approved, operator| {
            approved.check_kept(operator, digest)?;
            Ok(approved.node.kept(operator, shares)?)
        })
    }

    /// Keep a table: write this node's shares to a file under a key of 32 bytes, and know that all nodes have.
    ///
    /// about: what the planner has to know of the table, as JSON. Returns what the file says of itself, as JSON.
    fn keep(
        &self,
        py: Python<'_>,
        operator: String,
        input: &Bound<'_, SharedTable>,
        path: PathBuf,
        key: &[u8],
        about: String,
    ) -> PyResult<String> {
        let step = self.step(input.get())?;
        let target = Target { path, key: sealing_key(key).map_err(Failure::from)?, about };
        self.operate(py, operator, vec![step], move |approved, operator| Ok(approved.node.keep(operator, &target)?))
    }

    /// Open to the operator's recipients; None at other parties.
    fn release(&self, py: Python<'_>, operator: String, input: &Bound<'_, SharedTable>) -> PyResult<Option<Opened>> {
        let step = self.step(input.get())?;
        self.operate(py, operator, vec![step], move |approved, operator| {
            let opened = approved.node.release(operator)?;
            opened.map(|table| to_batch(table).map(Opened)).transpose()
        })
    }

    /// Cost per step so far. May be called from any thread during a run.
    #[pyo3(signature = (*, nested=false))]
    fn metrics(&self, py: Python<'_>, nested: bool) -> Vec<StepMetrics> {
        py.detach(|| report::metrics(&self.watch.meters, nested))
    }

    /// With record=True: every message and every opened value.
    fn transcript(&self, py: Python<'_>) -> Vec<Entry> {
        py.detach(|| report::transcript(&self.watch.transcripts, &self.nodes))
    }

    /// End in order, with an acknowledgement from every peer.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.lifecycle.ended() == Some(End::Closed) {
            return Ok(());
        }
        let approved = self.lifecycle.take().map_err(Failure::from)?;
        let closed = wait_for(py, move || Ok(approved.node.close()?), || self.watch.interrupt(INTERRUPTED));
        self.lifecycle.end(if closed.is_ok() { End::Closed } else { End::Failed });
        closed
    }

    /// End at once and tell every peer.
    fn abort(&self, py: Python<'_>, reason: &str) {
        py.detach(|| {
            self.watch.interrupt(reason);
            if let Some(approved) = self.lifecycle.end(End::Aborted) {
                approved.node.abort(reason);
            }
        });
    }

    fn __repr__(&self) -> String {
        format!("Session({:?} among {})", self.me, self.nodes.join(", "))
    }
}

/// What peers are told when the user interrupts this party.
const INTERRUPTED: &str = "it was interrupted";

impl Session {
    fn new(connected: Connected) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Connected { me, nodes, approved, watch } = connected;
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), me, nodes, lifecycle: Lifecycle::new(approved), watch }
    }

    /// Runs one operator on a native thread. Whatever goes wrong ends the session.
    fn operate<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operator: String,
        tables: Vec<usize>,
        work: impl FnOnce(&mut Approved, &Operator) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let approved = self.lifecycle.take().map_err(Failure::from)?;
        let outcome =
            wait_for(py, move || execute(approved, &operator, &tables, work), || self.watch.interrupt(INTERRUPTED));
        let (approved, value) = outcome.inspect_err(|_| drop(self.lifecycle.end(End::Failed)))?;
        match self.lifecycle.give_back(approved) {
            None => Ok(value),
            Some(approved) => {
                py.detach(|| drop(approved));
                Err(Failure::from(RunError::Aborted).into())
            }
        }
    }

    /// The same for an operator that makes a table.
    fn make(
        &self,
        py: Python<'_>,
        operator: String,
        tables: Vec<usize>,
        work: impl FnOnce(&mut Approved, &Operator) -> Result<Facts> + Send + 'static,
    ) -> PyResult<SharedTable> {
        let made = move |approved: &mut Approved, operator: &Operator| Ok((operator.id(), work(approved, operator)?));
        let (step, facts) = self.operate(py, operator, tables, made)?;
        Ok(SharedTable { session: self.id, step, facts })
    }

    fn step(&self, table: &SharedTable) -> Result<usize> {
        if table.session == self.id {
            Ok(table.step)
        } else {
            Err(Failure::input("a table of another session; give tables that this session returned"))
        }
    }
}

impl Drop for Session {
    /// Telling the peers may take a moment, in which other Python threads can run.
    fn drop(&mut self) {
        if let Some(approved) = self.lifecycle.end(End::Aborted) {
            Python::try_attach(|py| py.detach(|| drop(approved)));
        }
    }
}

/// Runs the operator that is asked for, if it is the next one; the engine comes back only when all went well, otherwise it has ended.
fn execute<T>(
    mut approved: Approved,
    asked: &str,
    tables: &[usize],
    work: impl FnOnce(&mut Approved, &Operator) -> Result<T>,
) -> Result<(Approved, T)> {
    let outcome = contain(|| {
        let operator = approved.next(asked, tables)?;
        work(&mut approved, &operator).map_err(|failure| failure.at(&operator.name()))
    });
    match outcome {
        Ok(value) => Ok((approved, value)),
        Err(failure) => {
            approved.node.abort(reason_for_peers(failure.fault));
            Err(failure)
        }
    }
}

fn read(stream: Option<Stream>, pad_to: Option<usize>) -> Result<Option<DataTable>> {
    stream.map(|stream| read_table(stream).map(|table| DataTable { pad_to, ..table })).transpose()
}

fn declared(link: Option<(f64, f64)>) -> Result<Option<Link>> {
    Ok(link.map(declared_link).transpose()?)
}

fn hash(bytes: &[u8]) -> Result<[u8; 32]> {
    Ok(bytes.try_into().map_err(|_| RunError::HashLength(bytes.len()))?)
}
