//! One party's end of a run: it has the whole plan, and executes one step of it a call.

use std::sync::Arc;

use tacit_math::Workers;
use tacit_net::attendance::Attendance;
use tacit_net::{Fault, Options, Transcript};
use tacit_table::{DataTable, Operator};

use crate::agreement::Agreement;
use crate::approved::Approved;
use crate::connection::{self, Connected, Network};
use crate::containment::contain;
use crate::error::{End, Result, RunError, reason_for_peers};
use crate::kept::{KeptPart, Target};
use crate::lifecycle::{Lifecycle, Watch};
use crate::memory::Memory;
use crate::node::{Facts, Node};
use crate::progress::{self, StepMetrics};
use crate::psi_join::BothSides;

/// One party's end of a connected group of nodes that run one placed plan, or the engine without security.
///
/// One thread at a time executes steps; what else there is may be called from any thread. An error of a step ends the
/// session and tells every peer what kind of error it was.
pub struct Session {
    me: String,
    nodes: Vec<String>,
    clients: Vec<String>,
    lifecycle: Lifecycle,
    watch: Watch,
    attendance: Option<Attendance>,
    workers: Workers,
}

impl Session {
    /// Connects to the other nodes, compares what all approve, and sets the engine up.
    ///
    /// # Errors
    /// When the agreement cannot be run by this party, or a peer is gone or has another agreement.
    pub fn connect(network: Network, agreement: &Agreement) -> Result<Self> {
        Ok(Self::new(network.connect(agreement)?))
    }

    /// The ends of all nodes in this process, each to be driven by its own thread. memory: the budget of each.
    ///
    /// # Errors
    /// When the agreement cannot be run.
    pub fn in_memory(agreement: &Agreement, options: &Options, memory: Option<&Memory>) -> Result<Vec<Self>> {
        Ok(connection::in_memory(agreement, options, memory)?.into_iter().map(Self::new).collect())
    }

    /// The engine without security, which plays every party.
    ///
    /// # Errors
    /// When the agreement cannot be run.
    pub fn clear(agreement: &Agreement) -> Result<Self> {
        Ok(Self::new(connection::clear(agreement)?))
    }

    fn new(connected: Connected) -> Self {
        let Connected { me, nodes, clients, approved, watch, attendance, workers } = connected;
        Self { me, nodes, clients, lifecycle: Lifecycle::new(approved), watch, attendance, workers }
    }

    /// This party's name.
    pub fn me(&self) -> &str {
        &self.me
    }

    /// The nodes in engine order.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The nodes, then the clients: all whom [`Self::transcripts`] names by their places.
    pub fn parties(&self) -> Vec<&str> {
        self.nodes.iter().chain(&self.clients).map(String::as_str).collect()
    }

    /// Who takes part, each by its signature, where all signed when they connected.
    pub fn attendance(&self) -> Option<&Attendance> {
        self.attendance.as_ref()
    }

    /// Executes an input. data: gives the owner's table, at the owner alone; called when it is this step's turn.
    ///
    /// # Errors
    /// When it is not this step's turn, the data is missing or not as declared, or the engine fails.
    pub fn input(&self, step: usize, data: impl FnOnce() -> Result<Option<DataTable>> + Send) -> Result<Facts> {
        self.execute(step, |node, operator| node.input(operator, data()?))
    }

    /// Executes a join of two owners' tables by private set intersection. data: gives each owner its own side.
    ///
    /// # Errors
    /// Those of [`Self::input`].
    pub fn psi(&self, step: usize, data: impl FnOnce() -> Result<BothSides> + Send) -> Result<Facts> {
        self.execute(step, |node, operator| node.psi(operator, data()?))
    }

    /// Executes a secure operator on the tables of the steps that it names.
    ///
    /// # Errors
    /// When it is not this step's turn, or the engine fails.
    pub fn run(&self, step: usize) -> Result<Facts> {
        self.execute(step, |node, operator| node.run(operator))
    }

    /// Takes up a kept table.
    ///
    /// # Errors
    /// When it is not this step's turn, or the shares are not those that it reads.
    pub fn kept(&self, step: usize, part: KeptPart) -> Result<Facts> {
        self.work(|approved| approved.kept(step, part))
    }

    /// Keeps a table: writes this node's part, and knows that all nodes have. Returns what the file says of itself
    /// (JSON).
    ///
    /// # Errors
    /// When it is not this step's turn, the file cannot be written, or a node keeps something else.
    pub fn keep(&self, step: usize, target: &Target) -> Result<String> {
        self.execute(step, |node, operator| node.keep(operator, target))
    }

    /// Opens a table to the operator's recipients. None at other nodes. A guard that is set ends the session in order.
    ///
    /// # Errors
    /// When it is not this step's turn, the approved disclosures do not contain it, the engine fails or a guard is set.
    pub fn release(&self, step: usize) -> Result<Option<DataTable>> {
        self.execute(step, |node, operator| node.release(operator))
    }

    fn execute<T: Send>(
        &self,
        step: usize,
        work: impl FnOnce(&mut dyn Node, &Operator) -> Result<T> + Send,
    ) -> Result<T> {
        self.work(|approved| approved.execute(step, work))
    }

    /// Runs it by this party's threads. Whatever goes wrong ends the session.
    fn work<T: Send>(&self, work: impl FnOnce(&mut Approved) -> Result<T> + Send) -> Result<T> {
        let mut approved = self.lifecycle.take()?;
        match self.workers.run(|| contain(|| work(&mut approved))) {
            Ok(value) => self.lifecycle.give_back(approved).map_or(Ok(value), |_ended| Err(RunError::Aborted)),
            Err(error) => {
                match error.fault() {
                    // All are told alike, and none is to lose a peer before it is told: the session ends in order.
                    Fault::Withheld => drop(contain(|| approved.close())),
                    fault => approved.abort(reason_for_peers(fault)),
                }
                self.lifecycle.end(End::Failed);
                Err(error)
            }
        }
    }

    /// The cost per step so far; or with `nested`, of every nested step by itself. None without peers.
    pub fn metrics(&self, nested: bool) -> Vec<StepMetrics> {
        progress::metrics(&self.watch.meters, nested)
    }

    /// What was sent, received and opened, where that is recorded: of the session and of what is made in the
    /// background.
    pub fn transcripts(&self) -> &[Arc<Transcript>] {
        &self.watch.transcripts
    }

    /// Ends in order, with an acknowledgement from every peer. Without effect on a session that was closed.
    ///
    /// # Errors
    /// When the session has ended otherwise, or a peer does not acknowledge.
    pub fn close(&self) -> Result<()> {
        if self.lifecycle.ended() == Some(End::Closed) {
            return Ok(());
        }
        let approved = self.lifecycle.take()?;
        let closed = contain(|| approved.close());
        self.lifecycle.end(if closed.is_ok() { End::Closed } else { End::Failed });
        closed
    }

    /// Ends at once and tells every peer why. Without effect on a session that has ended.
    pub fn abort(&self, reason: &str) {
        self.watch.interrupt(reason);
        if let Some(approved) = self.lifecycle.end(End::Aborted) {
            approved.abort(reason);
        }
    }

    /// Has the step that runs fail, which ends the session; peers are told why.
    pub fn interrupt(&self, reason: &str) {
        self.watch.interrupt(reason);
        drop(self.lifecycle.end(End::Failed));
    }

    /// Ends without closing, as if the session were dropped, though a step may still run.
    pub fn leave(&self) {
        drop(self.lifecycle.end(End::Aborted));
    }
}
