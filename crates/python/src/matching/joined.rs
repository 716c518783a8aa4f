//! The connection of parties that match their tables: a session for each worker.

use std::net::TcpListener;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use tacit_linkage::messages::Point;
use tacit_linkage::{MatchError, Parties, Progress};
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{Options, Session};
use tacit_run::{Watch, options, reason_for_peers};

use super::announced::Announcement;
use super::plan::MatchPlan;
use crate::fault::{Failure, Result};
use crate::keys::PrivateKey;
use crate::party::Party;
use crate::testimony::{Attendance, hash};
use crate::waiting::wait_for;

/// What the peers are told when the user interrupts this party.
const INTERRUPTED: &str = "it was interrupted";

/// How the connection behaves: seconds, and bytes a second.
pub struct Shape {
    pub connect_timeout: f64,
    pub idle_timeout: f64,
    pub latency: f64,
    pub bandwidth: Option<f64>,
}

/// Connected parties that compared version and plan.
pub struct Connection {
    /// None while something runs, and after the end.
    parties: Mutex<Option<Parties>>,
    watches: Mutex<Vec<Watch>>,
    pub progress: Arc<Progress>,
}

struct Connecting {
    endpoints: Vec<Endpoint>,
    me: usize,
    identity: Identity,
    digest: [u8; 32],
    /// The hash of this party's last ledger entry, where all sign that they take part.
    head: Option<[u8; 32]>,
    options: Options,
    /// Stays open so that a peer's next worker never finds a closed door.
    listener: TcpListener,
}

impl Connecting {
    fn connect(&self, worker: usize) -> Result<Session, MatchError> {
        let hello = Hello::new(self.digest, &format!("psi, worker {worker}"));
        let hello = self.head.into_iter().fold(hello, Hello::attesting);
        let listener = self.listener.try_clone().map_err(|error| MatchError::Socket(error.to_string()))?;
        Ok(tcp::connect_with_listener(listener, &self.endpoints, self.me, self.identity.clone(), hello, &self.options)?)
    }
}

/// How far a run is.
#[derive(IntoPyObject)]
pub struct Metrics {
    bins: u64,
    bytes_sent: u64,
    bytes_received: u64,
    rounds: u64,
}

impl Connection {
    /// Connects to all others over TLS 1.3 and compares versions and plans. me: this party among `parties`, which are
    /// those of the plan in their order.
    pub fn open(
        py: Python<'_>,
        parties: Vec<Party>,
        me: usize,
        private_key_pem: PrivateKey,
        plan: &MatchPlan,
        shape: Shape,
        ledger: Option<&[u8]>,
    ) -> PyResult<Self> {
        let head = ledger.map(hash).transpose()?;
        let timeouts = [shape.connect_timeout, shape.idle_timeout];
        let options = options(true, timeouts, shape.latency, shape.bandwidth, false).map_err(Failure::from)?;
        let endpoints: Vec<Endpoint> = parties.into_iter().map(Party::into_endpoint).collect();
        if !endpoints.iter().map(|party| &party.name).eq(&plan.0.parties) {
            return Err(Failure::input("these parties are not those of the plan").into());
        }
        let own = endpoints.get(me);
        let own = own.ok_or_else(|| Failure::input(format!("there is no party {me} among {}", endpoints.len())))?;
        let identity = Identity::from_pem(&*private_key_pem.0, &own.certificate_pem).map_err(Failure::from)?;
        let listener = tcp::listen(&own.address).map_err(Failure::from)?;
        let (plan, digest) = (plan.0.clone(), plan.0.digest());
        let how = Connecting { endpoints, me, identity, digest, head, options, listener };
        let connect = move || Ok(Parties::connect(plan, move |worker| how.connect(worker))?);
        let mut parties = wait_for(py, connect, || ())?;
        let watches = Mutex::new(watches(&mut parties));
        Ok(Self { parties: Mutex::new(Some(parties)), watches, progress: Arc::default() })
    }

    /// Who takes part, as the first worker has it.
    pub fn attendance(&self, py: Python<'_>) -> PyResult<Option<Attendance>> {
        self.work(py, |parties| Ok(parties.first()?.attendance().map(Attendance::of)))
    }

    /// Tells the others of this party. Everybody's announcement, in the parties' order.
    pub fn announce(&self, py: Python<'_>, mine: &Announcement) -> PyResult<Vec<Announcement>> {
        let mine = mine.0.clone();
        self.work(py, |parties| Ok(parties.announce(mine)?.iter().cloned().map(Announcement).collect()))
    }

    /// Agrees on the key of tokens and the name of the run.
    pub fn agree(&self, py: Python<'_>) -> PyResult<([u8; 16], String)> {
        self.work(py, |parties| parties.agree().map(|(key, run)| (*key.expose(), run.to_string())))
    }

    /// Waits until all others have come to the same point.
    pub fn wait_at(&self, py: Python<'_>, point: Point) -> PyResult<()> {
        self.work(py, move |parties| parties.wait_at(point))
    }

    /// Waits until all others have had the time to find for themselves what this party is about to refuse.
    pub fn refuse(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |parties| {
            parties.refuse();
            Ok(())
        })
    }

    /// Bins done, and payload bytes and rounds of all workers.
    pub fn metrics(&self, py: Python<'_>) -> Metrics {
        py.detach(|| {
            let bins = self.progress.done.load(Relaxed);
            let mut sum = Metrics { bins, bytes_sent: 0, bytes_received: 0, rounds: 0 };
            for meter in self.watches().iter().flat_map(|watch| watch.meters.all()) {
                let total = meter.snapshot().total;
                sum.bytes_sent += total.bytes_sent;
                sum.bytes_received += total.bytes_received;
                sum.rounds += total.rounds;
            }
            sum
        })
    }

    /// Ends in order, with an acknowledgement from every peer.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, Parties::close)
    }

    /// Ends at once and tells the peers why; without effect on a connection that has ended.
    pub fn abort(&self, py: Python<'_>, reason: &str) {
        py.detach(|| {
            self.interrupt(reason);
            let ended = self.parties.lock().unwrap_or_else(PoisonError::into_inner).take();
            ended.into_iter().for_each(|parties| parties.abort(reason));
        });
    }

    fn watches(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self, reason: &str) {
        self.watches().iter().for_each(|watch| watch.interrupt(reason));
    }

    /// Runs `work` without the GIL. A failure ends the connection, and tells the peers what kind it was.
    pub fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Parties) -> Result<T, MatchError> + Send + 'static,
    ) -> PyResult<T> {
        let parties = self.parties.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut parties = parties.ok_or_else(|| Failure::input("the connection has ended; connect again"))?;
        let run = move || match work(&mut parties) {
            Ok(value) => Ok((parties, value)),
            Err(error) => {
                parties.abort(reason_for_peers(error.fault()));
                Err(error.into())
            }
        };
        let (mut parties, value) = wait_for(py, run, || self.interrupt(INTERRUPTED))?;
        if !parties.ended() {
            *self.watches() = watches(&mut parties);
            *self.parties.lock().unwrap_or_else(PoisonError::into_inner) = Some(parties);
        }
        Ok(value)
    }
}

/// What can be watched of each worker.
fn watches(parties: &mut Parties) -> Vec<Watch> {
    parties.sessions().iter().map(|session| Watch::of(std::slice::from_ref(session))).collect()
}
