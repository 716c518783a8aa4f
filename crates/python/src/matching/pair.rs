//! The connection of two parties that match their tables: one session for each worker.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_matching::aggregate::aggregate;
use tacit_matching::{Ids, Progress, Run, family, prepared, shares};
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{Options, PartyId, Session};
use tacit_psi::alignment::Learns;
use tacit_psi::blind_join::Rule;
use tacit_psi::tokens::agree_key;
use tacit_psi::unbalanced::send_set;
use tacit_psi::{Protocol, Role};

use super::binned::{Binned, KeyedTable};
use super::plugin::plugged;
use super::prepared::PreparedSet;
use super::whole::{Identified, SharedRows, announced, method_named};
use crate::connection::{Party, options};
use crate::fault::{Failure, Fault, Result};
use crate::lifecycle::Watch;
use crate::waiting::wait_for;

/// Longest message of [`Pair::exchange`].
const LONGEST: usize = 1 << 20;

/// What the peer is told when the user interrupts this party.
const INTERRUPTED: &str = "it was interrupted";

/// Two connected parties that compared version and plan.
#[pyclass(frozen, module = "tacit._native")]
pub struct Pair {
    how: Arc<Connecting>,
    /// Empty while something runs, and after the end.
    sessions: Arc<Mutex<Vec<Session>>>,
    watches: Mutex<Vec<Watch>>,
    progress: Arc<Progress>,
}

struct Connecting {
    endpoints: Vec<Endpoint>,
    me: usize,
    private_key_pem: String,
    plan_hash: [u8; 32],
    options: Options,
    /// Stays open so that a peer's next worker never finds a closed door.
    listener: TcpListener,
}

impl Connecting {
    fn connect(&self, worker: usize) -> Result<Session> {
        let identity = Identity::from_pem(&self.private_key_pem, &self.endpoints[self.me].certificate_pem)?;
        let hello = Hello::new(self.plan_hash, &format!("psi, worker {worker}"));
        let listener = self.listener.try_clone().map_err(|error| {
            Failure::new(Fault::Internal, format!("no socket is left ({error}); close other programs"))
        })?;
        Ok(tcp::connect_with_listener(listener, &self.endpoints, self.me, identity, hello, &self.options)?)
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
        private_key_pem: String,
        plan_hash: [u8; 32],
        connect_timeout: f64,
        idle_timeout: f64,
        latency: f64,
        bandwidth: Option<f64>,
    ) -> PyResult<Self> {
        let options = options(true, [connect_timeout, idle_timeout], latency, bandwidth, false)?;
        let endpoints: Vec<Endpoint> = parties.into_iter().map(Party::into_endpoint).collect();
        let address = &endpoints.get(me).ok_or_else(|| Failure::input("there are two parties, 0 and 1"))?.address;
        let listener = tcp::listen(address).map_err(Failure::from)?;
        let how = Arc::new(Connecting { endpoints, me, private_key_pem, plan_hash, options, listener });
        let connecting = Arc::clone(&how);
        let session = wait_for(py, move || connecting.connect(0), || ())?;
        let watches = Mutex::new(vec![Watch::of(&session)]);
        Ok(Self { how, sessions: Arc::new(Mutex::new(vec![session])), watches, progress: Arc::default() })
    }

    /// Send a short message to the peer and return the one that it sends. One round.
    fn exchange<'py>(&self, py: Python<'py>, message: Vec<u8>) -> PyResult<Bound<'py, PyBytes>> {
        let theirs = self.work(py, move |sessions| exchange(&mut sessions[0], &message))?;
        Ok(PyBytes::new(py, &theirs))
    }

    /// Agree with the peer on a fresh key for tokens.
    fn agree_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.work(py, |sessions| {
            let peer = PartyId(1 - sessions[0].me().0);
            Ok(agree_key(&mut sessions[0], peer)?.expose())
        })?;
        Ok(PyBytes::new(py, &key))
    }

    /// Connect further workers, until there are so many. Both parties call it at the same point, after an exchange.
    fn add_workers(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        let how = Arc::clone(&self.how);
        self.work(py, move |sessions| {
            for worker in sessions.len()..count {
                let session = how.connect(worker)?;
                sessions.push(session);
                // The peer's door for this worker is shut before the next one knocks.
                exchange(&mut sessions[worker], b"ready")?;
            }
            Ok(())
        })
    }

    /// Match a table's bins. sender: this party's role. both_learn: whether the sender learns the matches too. rows: announced by
    /// this party and by the peer. todo: the bins to do. plugin: a protocol written elsewhere, in place of a named one.
    #[pyo3(signature = (table, protocol, *, sender, both_learn, rows, todo, plugin=None))]
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
        plugin: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let protocol: Arc<dyn Protocol> = match plugin {
            Some(plugin) => Arc::new(plugged(plugin)),
            None => family::named(protocol).map_err(Failure::from)?,
        };
        let role = if sender { Role::Sender } else { Role::Receiver };
        let learns = if both_learn { Learns::Both } else { Learns::Receiver };
        let run = Run { role, learns, rows, todo };
        let table = table.get();
        let (bins, results, progress) =
            (Arc::clone(&table.bins), Arc::clone(&table.results), Arc::clone(&self.progress));
        self.work(py, move |sessions| Ok(run.execute(protocol.as_ref(), sessions, &bins, &results, &progress)?))
    }

    /// How many keys match, and the sum of the sender's first payload column over them (summed). None at the sender.
    fn aggregate(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Binned>,
        sender: bool,
        rows: [usize; 2],
        summed: bool,
    ) -> PyResult<(Option<usize>, Option<i64>)> {
        let bins = Arc::clone(&table.get().bins);
        let role = if sender { Role::Sender } else { Role::Receiver };
        self.work(py, move |sessions| {
            let found = aggregate(&mut sessions[0], role, &bins, rows, summed)?;
            Ok((found.cardinality, found.sums.and_then(|sums| sums.first().map(|&sum| sum as i64))))
        })
    }

    /// Give every row of both parties a universal id. method: as in `ids_methods`. rows: announced by this party and by the peer.
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
        self.work(py, move |sessions| Ok(Identified(Arc::new(Ids::agree(&mut sessions[0], role, method, bins, rows)?))))
    }

    /// Give every row of both parties a universal id by the first of several keys that two rows share. theirs: the peer's rows.
    fn identify_by_keys(
        &self,
        py: Python<'_>,
        table: &Bound<'_, KeyedTable>,
        sender: bool,
        theirs: usize,
    ) -> PyResult<Identified> {
        let table = Arc::clone(&table.get().rows);
        let role = if sender { Role::Sender } else { Role::Receiver };
        self.work(py, move |sessions| {
            Ok(Identified(Arc::new(Ids::agree_by_keys(&mut sessions[0], role, &table, theirs)?)))
        })
    }

    /// Share both payloads of the pairs of rows that match. mine, theirs: (rows, columns), announced. names: of all columns of shares,
    /// the sender's first. single: a row is in one pair at most; otherwise dropped says whether rows of the sender and of the receiver
    /// that have several counterparts are left out.
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
        self.work(py, move |sessions| {
            let found = shares::share(&mut sessions[0], role, &table, announced, rule)?;
            let (pairs, contaminated) = (found.pairs, found.contaminated);
            Ok(SharedRows { pairs, contaminated, shares: shares::table(found, &names)? })
        })
    }

    /// Answer a query about so many items from a prepared set, after the published set if the client does not have it.
    fn answer(
        &self,
        py: Python<'_>,
        set: &Bound<'_, PreparedSet>,
        asked: usize,
        published: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let set = Arc::clone(&set.get().0);
        self.work(py, move |sessions| {
            let client = PartyId(1 - sessions[0].me().0);
            if let Some(published) = published {
                send_set(&mut sessions[0], client, &published)?;
            }
            let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(set.answer(&mut sessions[0], client, asked)?)
        })
    }

    /// Ask which keys of a table of so many rows a prepared set of `items` rows has. held: the published set; it is received and
    /// returned if this party does not have it.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Binned>,
        rows: usize,
        held: Option<Vec<u8>>,
        items: u32,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (bins, results) = (Arc::clone(&table.get().bins), Arc::clone(&table.get().results));
        let received = self.work(py, move |sessions| {
            Ok(prepared::ask(&mut sessions[0], &bins, &results, rows, held.as_deref(), items)?)
        })?;
        Ok(received.map(|set| PyBytes::new(py, &set)))
    }

    /// Bins done, and payload bytes and rounds of all workers. May be called from any thread during a run.
    fn metrics(&self, py: Python<'_>) -> Metrics {
        py.detach(|| {
            let mut sum = Metrics {
                bins: self.progress.done.load(std::sync::atomic::Ordering::Relaxed),
                bytes_sent: 0,
                bytes_received: 0,
                rounds: 0,
            };
            for meter in self.watches().iter().filter_map(|watch| watch.meter.as_ref()) {
                let total = meter.snapshot().total;
                sum.bytes_sent += total.bytes_sent;
                sum.bytes_received += total.bytes_received;
                sum.rounds += total.rounds;
            }
            sum
        })
    }

    /// End in order, with an acknowledgement from the peer.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |sessions| Ok(sessions.drain(..).try_for_each(Session::close)?))
    }

    /// End at once and tell the peer why; without effect on a connection that has ended.
    fn abort(&self, py: Python<'_>, reason: &str) {
        py.detach(|| {
            self.interrupt(reason);
            let ended = std::mem::take(&mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner));
            ended.into_iter().for_each(|session| session.abort(reason));
        });
    }
}

impl Pair {
    fn watches(&self) -> std::sync::MutexGuard<'_, Vec<Watch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self, reason: &str) {
        self.watches().iter().for_each(|watch| watch.interrupt(reason));
    }

    /// Runs `work` on the sessions without the GIL. A failure ends them all, and tells the peer what kind it was.
    fn work<T: Send + 'static>(
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
                sessions.into_iter().for_each(|session| session.abort(failure.fault.reason_for_peers()));
                Err(failure)
            }
        };
        let (sessions, value) = wait_for(py, run, || self.interrupt(INTERRUPTED))?;
        *self.watches() =
            if sessions.is_empty() { self.watches().clone() } else { sessions.iter().map(Watch::of).collect() };
        *self.sessions.lock().unwrap_or_else(PoisonError::into_inner) = sessions;
        Ok(value)
    }
}

fn exchange(session: &mut Session, message: &[u8]) -> Result<Vec<u8>> {
    let peer = PartyId(1 - session.me().0);
    if message.len() > LONGEST {
        return Err(Failure::new(Fault::Internal, "a message to agree on parameters is too long"));
    }
    session.next_round();
    session.send(peer, (message.len() as u32).to_le_bytes().to_vec())?;
    session.send(peer, message.to_vec())?;
    let mut length = [0; 4];
    session.recv(peer, &mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        let name = session.name(peer).to_owned();
        return Err(Failure::new(
            Fault::Peer,
            format!("party {name:?} sends {length} bytes where parameters are short"),
        ));
    }
    let mut theirs = vec![0; length];
    session.recv(peer, &mut theirs)?;
    Ok(theirs)
}
