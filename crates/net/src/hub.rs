//! Where frames from all peers arrive, and where the first failure of a session is kept.
//!
//! Transports deliver from their own threads; the session's thread takes. One condition variable serves all peers, so
//! that whoever waits for one peer is woken when another one fails.

use crate::error::NetError;
use crate::frame::{Frame, Kind};
use crate::inbox::{Inbox, Stage};
use crate::lock::lock;
use crate::options::Shape;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Memory that one inbox may hold before a transport stops reading, so that a fast or hostile peer cannot fill this
/// party's. Reaching it stops nobody forever: what stays unread waits at the peer, whose sends never block.
const INBOX_BYTES: usize = 256 << 20;

/// The arriving side of a session.
pub(crate) struct Hub {
    names: Vec<String>,
    /// Parties that have no link with this one.
    apart: Range<usize>,
    /// The hub of another session of this party, which fails when this one does.
    other: OnceLock<Weak<Hub>>,
    /// Of [`Hub::mark`].
    key: OnceLock<[u8; 32]>,
    shape: Shape,
    /// Longest pause between signs of life.
    pulse: Duration,
    state: Mutex<State>,
    arrived: Condvar,
    room: Condvar,
    rested: Condvar,
}

/// With whom a party has no link in the session between nodes, which come first, and clients: with those of its kind.
pub(crate) fn apart(me: usize, nodes: usize, parties: usize) -> Range<usize> {
    if me < nodes { 0..nodes } else { nodes..parties }
}

/// Where the session's thread is, as far as whoever carries its bytes must know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// It computes or sends.
    Runs,
    /// It waits for bytes that have not come.
    Starves,
    /// It has said that it asks for nothing.
    Rests,
}

struct State {
    inboxes: Vec<Inbox>,
    /// Data frames that have arrived, and when the last one did.
    arrivals: u64,
    last_arrival: Instant,
    failure: Option<NetError>,
    stopped: bool,
    progress: Progress,
}

/// What looking at the state came to.
enum Look<T> {
    Found(T),
    /// Not yet; look again at this moment, if it is known, or when something arrives.
    Later(Option<Instant>),
}

impl Hub {
    pub fn new(names: Vec<String>, shape: Shape, pulse: Duration) -> Self {
        let inboxes = names.iter().map(|_| Inbox::default()).collect();
        Self::with(names, shape, pulse, inboxes)
    }

    /// That of another session between the same parties, over the same links.
    pub fn beside(&self) -> Self {
        let inboxes = lock(&self.state).inboxes.iter().map(|inbox| Inbox::over(inbox.wire())).collect();
        Self::with(self.names.clone(), self.shape, self.pulse, inboxes)
    }

    fn with(names: Vec<String>, shape: Shape, pulse: Duration, inboxes: Vec<Inbox>) -> Self {
        let state = State {
            inboxes,
            arrivals: 0,
            last_arrival: Instant::now(),
            failure: None,
            stopped: false,
            progress: Progress::Runs,
        };
        let [arrived, room, rested] = std::array::from_fn(|_| Condvar::new());
        Self {
            names,
            apart: 0..0,
            other: OnceLock::new(),
            key: OnceLock::new(),
            shape,
            pulse,
            state: Mutex::new(state),
            arrived,
            room,
            rested,
        }
    }

    /// The same, of a party that has no link with these ones, itself among them.
    pub fn apart_from(self, apart: Range<usize>) -> Self {
        Self { apart, ..self }
    }

    /// From now on each of the two fails when the other one does.
    pub fn join(self: &Arc<Self>, other: &Arc<Self>) {
        for [of, to] in [[self, other], [other, self]] {
            of.other.set(Arc::downgrade(to)).expect("a hub is joined once");
            if let Some(failure) = of.failure() {
                to.fail(failure);
            }
        }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether this party has no link with `peer`.
    pub fn is_apart(&self, peer: usize) -> bool {
        self.apart.contains(&peer)
    }

    pub fn name(&self, party: usize) -> String {
        self.names[party].clone()
    }

    pub fn pulse(&self) -> Duration {
        self.pulse
    }

    /// Take in a frame from `from` without ever waiting.
    pub fn deliver(&self, from: usize, frame: Frame) {
        self.accept(lock(&self.state), from, frame);
    }

    /// Take in a frame from `from`, first waiting while too much of it is unread.
    pub fn deliver_bounded(&self, from: usize, frame: Frame) {
        let mut state = lock(&self.state);
        while state.inboxes[from].bytes() > INBOX_BYTES && !state.stopped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.accept(state, from, frame);
    }

    fn accept(&self, mut state: MutexGuard<'_, State>, from: usize, frame: Frame) {
        match frame.kind {
            Kind::Heartbeat => return,
            Kind::Waiting => return state.inboxes[from].waits(frame.round, self.pulse),
            Kind::Data => {
                state.arrivals += 1;
                state.last_arrival = Instant::now();
                state.inboxes[from].push(frame, self.shape);
                state.progress = Progress::Runs;
            }
            Kind::Ready if state.inboxes[from].stage == Stage::Joining => {
                state.inboxes[from].announce(frame.kind);
                state.inboxes[from].presence = frame.payload;
            }
            Kind::Ready | Kind::Goodbye | Kind::Farewell => state.inboxes[from].announce(frame.kind),
            Kind::Abort => {
                drop(state);
                self.fail(NetError::Aborted { peer: self.name(from), step: String::new(), reason: frame.reason() });
                return;
            }
        }
        drop(state);
        self.arrived.notify_all();
    }

    /// Record that the session failed; only the first failure counts.
    pub fn fail(&self, failure: NetError) -> NetError {
        let mut state = lock(&self.state);
        let first = state.failure.is_none();
        let failure = state.failure.get_or_insert(failure).clone();
        // Who waits for bytes goes on: it ends.
        if state.progress == Progress::Starves {
            state.progress = Progress::Runs;
        }
        drop(state);
        self.arrived.notify_all();
        // Only the first one goes on, so that two hubs do not tell each other for ever.
        if let Some(other) = self.other.get().and_then(Weak::upgrade).filter(|_| first) {
            other.fail(failure.clone());
        }
        failure
    }

    /// As [`Hub::fail`], for a peer that is not where the protocol is.
    pub fn fail_out_of_step(&self, peer: usize, detail: String) -> NetError {
        self.fail(NetError::Desynchronised { peer: self.name(peer), step: String::new(), detail })
    }

    /// The first failure, if any.
    pub fn failure(&self) -> Option<NetError> {
        lock(&self.state).failure.clone()
    }

    /// The connection from `from` ended: an error unless that peer has taken its leave.
    pub fn ended(&self, from: usize, detail: String) {
        if lock(&self.state).inboxes[from].stage < Stage::Farewell {
            self.fail(NetError::Gone { peer: self.name(from), step: String::new(), detail });
        }
    }

    /// Release every thread that waits here; the session is over.
    pub fn stop(&self) {
        lock(&self.state).stopped = true;
        self.arrived.notify_all();
        self.room.notify_all();
        self.rested.notify_all();
    }

    /// Where the session's thread is.
    pub fn progress(&self) -> Progress {
        lock(&self.state).progress
    }

    /// Say where the session's thread is.
    pub fn set_progress(&self, progress: Progress) {
        lock(&self.state).progress = progress;
        self.rested.notify_all();
    }

    /// Wait until the session's thread starves, rests or has stopped.
    pub fn await_rest(&self) {
        let mut state = lock(&self.state);
        while state.progress == Progress::Runs && !state.stopped {
            state = self.rested.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wait at most `patience` for a failure: a broken write is often the echo of an abort still on its way.
    pub fn await_failure(&self, patience: Duration) {
        let over = |state: &mut State| if state.stopped { Ok(Look::Found(())) } else { Ok(Look::Later(None)) };
        let _ = self.wait(patience, over);
    }

    /// Whether `peer` has said that it is connected with everybody.
    pub fn is_ready(&self, peer: usize) -> bool {
        lock(&self.state).inboxes[peer].stage >= Stage::Ready
    }

    /// What `peer` has said of itself with that.
    pub fn presence(&self, peer: usize) -> Vec<u8> {
        lock(&self.state).inboxes[peer].presence.clone()
    }

    /// The next data frame from `from`; `None` if there is none within a pulse.
    pub fn next(&self, from: usize) -> Result<Option<Frame>, NetError> {
        self.wait(self.pulse, |state| {
            let inbox = &mut state.inboxes[from];
            let now = Instant::now();
            match inbox.next_at(now) {
                None if inbox.stage > Stage::Ready => {
                    Err((from, "it has ended the session where bytes of it are expected"))
                }
                None => {
                    state.progress = Progress::Starves;
                    self.rested.notify_all();
                    Ok(Look::Later(None))
                }
                Some(moment) if moment > now => Ok(Look::Later(Some(moment))),
                Some(_) => {
                    let full = inbox.bytes() > INBOX_BYTES;
                    let frame = inbox.pop();
                    if full {
                        self.room.notify_all();
                    }
                    Ok(frame.map_or(Look::Later(None), Look::Found))
                }
            }
        })
    }

    /// Whether every peer of `me` has said goodbye; waits for it for a pulse.
    pub fn all_goodbyes(&self, me: usize) -> Result<bool, NetError> {
        self.all_at(me, Stage::Goodbye)
    }

    /// Whether every peer of `me` has everybody's goodbye; waits for it for a pulse.
    pub fn all_farewells(&self, me: usize) -> Result<bool, NetError> {
        self.all_at(me, Stage::Farewell)
    }

    fn all_at(&self, me: usize, least: Stage) -> Result<bool, NetError> {
        let found = self.wait(self.pulse, |state| {
            let mut peers = state.inboxes.iter().enumerate().filter(|(peer, _)| *peer != me && !self.is_apart(*peer));
            if let Some((peer, _)) = peers.clone().find(|(_, inbox)| inbox.stage > Stage::Ready && inbox.bytes() > 0) {
                return Err((peer, "it sent bytes that this party never asked for"));
            }
            let all = peers.all(|(_, inbox)| inbox.stage >= least);
            Ok(if all { Look::Found(()) } else { Look::Later(None) })
        });
        Ok(found?.is_some())
    }

    /// What this party tells its peers while it waits: a number that is another one after each data frame that arrives.
    ///
    /// How many frames other peers send tells the size of their messages. So a peer gets a pseudorandom function of it
    /// under a key of this hub (keyed BLAKE3). It learns only whether something has arrived since it was last told.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn mark(&self) -> Result<u64, NetError> {
        let arrivals = lock(&self.state).arrivals;
        let key = match self.key.get() {
            Some(key) => key,
            None => {
                let mut key = [0; 32];
                getrandom::fill(&mut key).map_err(|error| NetError::BadConfiguration {
                    detail: format!("the operating system gives no randomness ({error}); start again"),
                })?;
                self.key.get_or_init(|| key)
            }
        };
        let hash = blake3::keyed_hash(key, &arrivals.to_le_bytes());
        Ok(hash.as_bytes()[..8].iter().fold(0, |mark, &byte| mark << 8 | u64::from(byte)))
    }

    /// Whether all parties have waited for each other for `limit` without anything reaching any of them.
    pub fn standstill(&self, me: usize, limit: Duration) -> bool {
        let state = lock(&self.state);
        let stands =
            |(peer, inbox): (usize, &Inbox)| peer == me || self.is_apart(peer) || inbox.stands_still(limit, self.pulse);
        state.last_arrival.elapsed() >= limit && state.inboxes.iter().enumerate().all(stands)
    }

    /// Look until something is found, the session fails or `patience` is over (`None`). An error of `look` names the
    /// peer that is out of step.
    fn wait<T>(
        &self,
        patience: Duration,
        mut look: impl FnMut(&mut State) -> Result<Look<T>, (usize, &'static str)>,
    ) -> Result<Option<T>, NetError> {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.state);
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let again = match look(&mut state) {
                Ok(Look::Found(found)) => return Ok(Some(found)),
                Ok(Look::Later(moment)) => moment.map_or(deadline, |moment| moment.min(deadline)),
                Err((peer, detail)) => {
                    drop(state);
                    return Err(self.fail_out_of_step(peer, detail.to_owned()));
                }
            };
            let now = Instant::now();
            if now >= deadline {
                return Ok(None);
            }
            let pause = again.saturating_duration_since(now);
            state = self.arrived.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Hub;
    use crate::frame::{Frame, Kind};
    use crate::options::Shape;

    /// A party that waits is told again what it knows, or a number that says nothing: not how many frames other peers
    /// have sent.
    #[test]
    fn what_peers_are_told_while_one_waits_counts_nothing() {
        let hub = || Hub::new(vec!["a".into(), "b".into()], Shape::default(), Duration::from_secs(1));
        let (one, other) = (hub(), hub());
        let mut marks = vec![];
        for _ in 0..20 {
            let [here, there] = [&one, &other].map(|hub| hub.mark().expect("randomness"));
            assert_eq!(one.mark().expect("randomness"), here, "nothing has arrived");
            marks.extend([here, there]);
            [&one, &other].iter().for_each(|hub| hub.deliver(1, Frame::new(Kind::Data, 1, vec![0; 8])));
        }
        assert!(marks.iter().all(|&mark| mark > 1 << 32), "no counts");
        marks.sort_unstable();
        marks.dedup();
        assert_eq!(marks.len(), 40, "each number of frames has a mark of its own in each hub");
    }
}
