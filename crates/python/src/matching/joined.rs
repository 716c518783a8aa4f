//! The connection of parties that match their tables: a session for each worker.

use std::net::TcpListener;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use tacit_linkage::Progress;
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{Options, PartyId, Session};
use tacit_run::{Watch, options, reason_for_peers};

use crate::fault::{Failure, Fault, Result};
use crate::keys::PrivateKey;
use crate::party::Party;
use crate::waiting::wait_for;

/// Longest message of [`exchange`].
const LONGEST: usize = 1 << 20;

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
    how: Arc<Connecting>,
    /// Empty while something runs, and after the end.
    sessions: Arc<Mutex<Vec<Session>>>,
    watches: Mutex<Vec<Watch>>,
    pub progress: Arc<Progress>,
}

struct Connecting {
    endpoints: Vec<Endpoint>,
    me: usize,
    identity: Identity,
    plan_hash: [u8; 32],
    options: Options,
    /// Stays open so that a peer's next worker never finds a closed door.
    listener: TcpListener,
}

impl Connecting {
    fn connect(&self, worker: usize) -> Result<Session> {
        let hello = Hello::new(self.plan_hash, &format!("psi, worker {worker}"));
        let listener = self.listener.try_clone().map_err(|error| {
            Failure::new(Fault::Internal, format!("no socket is left ({error}); close other programs"))
        })?;
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
    /// Connects to all others over TLS 1.3 and compares versions and plan hashes. me: this party among `parties`.
    pub fn open(
        py: Python<'_>,
        parties: Vec<Party>,
        me: usize,
        private_key_pem: PrivateKey,
        plan_hash: [u8; 32],
        shape: Shape,
    ) -> PyResult<Self> {
        let timeouts = [shape.connect_timeout, shape.idle_timeout];
        let options = options(true, timeouts, shape.latency, shape.bandwidth, false).map_err(Failure::from)?;
        let endpoints: Vec<Endpoint> = parties.into_iter().map(Party::into_endpoint).collect();
        let own = endpoints.get(me);
        let own = own.ok_or_else(|| Failure::input(format!("there is no party {me} among {}", endpoints.len())))?;
        let identity = Identity::from_pem(&*private_key_pem.0, &own.certificate_pem).map_err(Failure::from)?;
        let listener = tcp::listen(&own.address).map_err(Failure::from)?;
        let how = Arc::new(Connecting { endpoints, me, identity, plan_hash, options, listener });
        let connecting = Arc::clone(&how);
        let session = wait_for(py, move || connecting.connect(0), || ())?;
        let watches = Mutex::new(vec![Watch::of(std::slice::from_ref(&session))]);
        Ok(Self { how, sessions: Arc::new(Mutex::new(vec![session])), watches, progress: Arc::default() })
    }

    /// Connects further workers, until there are `count`. All parties call it at the same point, after an exchange.
    pub fn add_workers(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        let how = Arc::clone(&self.how);
        self.work(py, move |sessions| {
            for worker in sessions.len()..count {
                let session = how.connect(worker)?;
                sessions.push(session);
                // The peer's door for this worker is shut before the next one knocks.
                exchange(&mut sessions[worker], b"ready".to_vec())?;
            }
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
        self.work(py, |sessions| Ok(sessions.drain(..).try_for_each(Session::close)?))
    }

    /// Ends at once and tells the peers why; without effect on a connection that has ended.
    pub fn abort(&self, py: Python<'_>, reason: &str) {
        py.detach(|| {
            self.interrupt(reason);
            let ended = std::mem::take(&mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner));
            ended.into_iter().for_each(|session| session.abort(reason));
        });
    }

    fn watches(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self, reason: &str) {
        self.watches().iter().for_each(|watch| watch.interrupt(reason));
    }

    /// Runs `work` on the sessions without the GIL. A failure ends them all, and tells the peers what kind it was.
    pub fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Vec<Session>) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let mut sessions = std::mem::take(&mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner));
        if sessions.is_empty() {
            return Err(Failure::input("the connection has ended; connect again").into());
        }
        let run = move || match work(&mut sessions) {
            Ok(value) => Ok((sessions, value)),
            Err(failure) => {
                sessions.into_iter().for_each(|session| session.abort(reason_for_peers(failure.fault)));
                Err(failure)
            }
        };
        let (sessions, value) = wait_for(py, run, || self.interrupt(INTERRUPTED))?;
        *self.watches() = if sessions.is_empty() {
            self.watches().clone()
        } else {
            sessions.iter().map(|session| Watch::of(std::slice::from_ref(session))).collect()
        };
        *self.sessions.lock().unwrap_or_else(PoisonError::into_inner) = sessions;
        Ok(value)
    }
}

/// Every party's message, in the parties' order. One round.
pub fn exchange(session: &mut Session, message: Vec<u8>) -> Result<Vec<Vec<u8>>> {
    if message.len() > LONGEST {
        return Err(Failure::new(Fault::Internal, "a message to agree on parameters is too long"));
    }
    session.enter("agreement");
    session.next_round();
    let (me, parties) = (session.me(), (0..session.parties()).map(PartyId));
    for peer in parties.clone().filter(|&peer| peer != me) {
        session.send(peer, (message.len() as u32).to_le_bytes().to_vec())?;
        session.send(peer, message.clone())?;
    }
    let mut all = Vec::new();
    for party in parties {
        all.push(if party == me { message.clone() } else { receive(session, party)? });
    }
    session.leave();
    Ok(all)
}

fn receive(session: &mut Session, peer: PartyId) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    session.recv(peer, &mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        let name = session.name(peer);
        let detail = format!("party {name:?} sends {length} bytes where parameters are short");
        return Err(Failure::new(Fault::Misbehaved, detail));
    }
    let mut theirs = vec![0; length];
    session.recv(peer, &mut theirs)?;
    Ok(theirs)
}
