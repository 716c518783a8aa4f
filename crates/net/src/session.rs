//! One party's end of a connected group.

use crate::abort::AbortHandle;
use crate::attendance::Attendance;
use crate::error::NetError;
use crate::frame::{self, Frame, Kind};
use crate::hub::Hub;
use crate::meter::{Meter, Step};
use crate::options::Record;
use crate::party::PartyId;
use crate::received::Received;
use crate::route::Links;
use crate::secret::Secret;
use crate::transcript::{Direction, Message, Source, Transcript};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Pulses after which waiting in a circle is a fault and not a slow network: one frame must pass in this time.
const STANDSTILL: u32 = 60;

/// Where errors are located that come after the last step.
const CLOSE: &str = "close";

/// One party's end of a fully connected group. Used by one thread; dropping it without [`Session::close`] tells every
/// peer that this party failed.
pub struct Session {
    me: usize,
    links: Links,
    partial: Vec<Option<Partial>>,
    round: u64,
    path: String,
    /// Length of `path` before each step that is entered now.
    outer: Vec<usize>,
    step: Arc<Step>,
    meter: Arc<Meter>,
    transcript: Option<Arc<Transcript>>,
    /// Whether the peers know how this session ended.
    told: bool,
    /// At a node that has clients: the session between nodes and clients.
    clients: Option<Box<Session>>,
    /// Who takes part, where all signed that.
    attendance: Option<Attendance>,
}

/// A frame of which the first bytes are used.
struct Partial {
    frame: Frame,
    used: usize,
}

impl Session {
    pub(crate) fn new(me: usize, links: Links, meter: Arc<Meter>, record: Record) -> Self {
        Self {
            me,
            partial: links.routes.iter().map(|_| None).collect(),
            links,
            round: 0,
            path: String::new(),
            outer: Vec::new(),
            step: meter.switch(""),
            meter,
            transcript: Transcript::of(record).map(Arc::new),
            told: false,
            clients: None,
            attendance: None,
        }
    }

    /// Keep who takes part.
    pub(crate) fn keep_attendance(&mut self, attendance: Option<Attendance>) {
        self.attendance = attendance;
    }

    /// Who takes part, each by its signature, where all signed when the session began.
    pub fn attendance(&self) -> Option<&Attendance> {
        self.attendance.as_ref()
    }

    /// Put the session between nodes and clients beside this one. Both have the same steps, fail together and end
    /// together. Rounds are counted in each by itself, because clients know nothing of those between nodes.
    pub(crate) fn attach(&mut self, clients: Session) {
        self.links.hub.join(&clients.links.hub);
        self.clients = Some(Box::new(clients));
    }

    /// At a node that has clients: the session between nodes and clients, in which the nodes come first.
    pub fn clients(&self) -> Option<&Session> {
        self.clients.as_deref()
    }

    /// The same, to send and receive.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`] where there are no clients.
    pub fn clients_mut(&mut self) -> Result<&mut Session, NetError> {
        let detail = || "the nodes have no clients".to_owned();
        self.clients.as_deref_mut().ok_or_else(|| NetError::BadConfiguration { detail: detail() })
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        PartyId(self.me)
    }

    /// How many parties there are, this one included.
    pub fn parties(&self) -> usize {
        self.links.routes.len()
    }

    /// Random numbers that the nodes have drawn together when the session began, the same at all parties of a run if
    /// all nodes follow the protocol. They are no secret, and nobody knew them when the plan was made. Zero where
    /// somebody else carries the bytes.
    pub fn drawn(&self) -> [u8; 32] {
        self.links.drawn
    }

    /// A party's name.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn name(&self, party: PartyId) -> &str {
        &self.links.hub.names()[party.0]
    }

    /// Enter a step inside the present one: `"3.join"`, then `"sort"` give the path `"3.join/sort"`.
    pub fn enter(&mut self, name: &str) {
        self.outer.push(self.path.len());
        if !self.path.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(name);
        self.step = self.meter.switch(&self.path);
        self.clients.iter_mut().for_each(|clients| clients.enter(name));
    }

    /// Leave the step entered last.
    ///
    /// # Panics
    /// If no step is entered: the caller's steps are not balanced.
    pub fn leave(&mut self) {
        let outer = self.outer.pop().expect("leave() follows an enter()");
        self.path.truncate(outer);
        self.step = self.meter.switch(&self.path);
        self.clients.iter_mut().for_each(|clients| clients.leave());
    }

    /// The present step path: key of the meter and location of errors.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Begin the next communication round. Every party calls it equally often, also when it has nothing to send.
    pub fn next_round(&mut self) {
        self.round += 1;
        self.step.rounds.fetch_add(1, Relaxed);
    }

    /// Queue `bytes` for a peer in the present round, without waiting for the network. Several messages of one round
    /// are one stream at the receiver. No bytes, no message.
    ///
    /// # Errors
    /// The session's failure, if it has failed; [`NetError::BadConfiguration`] if `to` is not a peer.
    pub fn send(&mut self, to: PartyId, mut bytes: Vec<u8>) -> Result<(), NetError> {
        self.check_peer(to)?;
        // The receiver knows them, and what it may do with them is not a matter of time.
        tacit_marks::public(&mut bytes);
        if let Some(failure) = self.links.hub.failure() {
            return Err(self.failed(failure));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let length = bytes.len();
        self.note(to, Direction::Sent, length);
        self.note_content(Source::Sent(to), &bytes);
        if let Some(route) = &self.links.routes[to.0] {
            route.post(Frame::new(Kind::Data, self.round, bytes));
        }
        self.step.sent(length, frame::overhead(length));
        Ok(())
    }

    /// Wait until at most `bytes` bytes of what was sent to a peer are still in this process. Call between messages of
    /// a long stream, so that production does not outrun the network and messages are written while they are in the
    /// cache. It is no promise: a link that moves nothing for some seconds, or that has no queue, ends the wait too.
    ///
    /// # Errors
    /// The session's failure, if it has failed; [`NetError::BadConfiguration`] if `to` is not a peer.
    pub fn settle(&mut self, to: PartyId, bytes: usize) -> Result<(), NetError> {
        self.check_peer(to)?;
        if let Some(route) = &self.links.routes[to.0] {
            route.settle(bytes, self.links.hub.pulse());
        }
        self.links.hub.failure().map_or(Ok(()), |failure| Err(self.failed(failure)))
    }

    /// Fill `out` with the next bytes that a peer sent in the present round, waiting for them.
    ///
    /// # Errors
    /// The session's failure, located in the present step: any peer that is gone, silent or aborts ends the wait, not
    /// only `from`. [`NetError::Desynchronised`] if the peer's next byte belongs to another round;
    /// [`NetError::BadConfiguration`] if `from` is not a peer.
    pub fn recv(&mut self, from: PartyId, out: &mut [u8]) -> Result<(), NetError> {
        let mut filled = 0;
        self.recv_pieces(from, out.len(), |piece| {
            out[filled..filled + piece.len()].copy_from_slice(piece);
            filled += piece.len();
        })
    }

    /// Receive the next `length` bytes as [`Self::recv`] does, handing them on piece by piece as they lie in the
    /// messages, so that the caller need not prepare a buffer. Where the pieces are cut is arbitrary.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn recv_pieces(&mut self, from: PartyId, length: usize, mut take: impl FnMut(&[u8])) -> Result<(), NetError> {
        self.check_peer(from)?;
        let mut taken = 0;
        let mut content = Vec::new();
        let records = self.transcript.as_ref().is_some_and(|transcript| transcript.has_contents());
        while taken < length {
            let mut partial = match self.partial[from.0].take() {
                Some(partial) => partial,
                None => self.open_frame(from)?,
            };
            self.check_round(from, partial.frame.round)?;
            let left = &partial.frame.payload[partial.used..];
            let count = left.len().min(length - taken);
            take(&left[..count]);
            if records {
                content.extend_from_slice(&left[..count]);
            }
            taken += count;
            partial.used += count;
            if partial.used < partial.frame.payload.len() {
                self.partial[from.0] = Some(partial);
            } else {
                self.links.pool.give(partial.frame.payload);
            }
        }
        if length > 0 {
            self.step.received(length);
            self.note(from, Direction::Received, length);
            self.note_content(Source::Received(from), &content);
        }
        Ok(())
    }

    /// Receive the next `length` bytes as [`Self::recv`] does, as they lie in the messages. Several threads may read
    /// them.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn recv_held(&mut self, from: PartyId, length: usize) -> Result<Received, NetError> {
        self.check_peer(from)?;
        let mut received = Received::default();
        while received.len() < length {
            let partial = match self.partial[from.0].take() {
                Some(partial) => partial,
                None => self.open_frame(from)?,
            };
            self.check_round(from, partial.frame.round)?;
            let Partial { frame, used } = partial;
            let end = frame.payload.len().min(used + length - received.len());
            if end < frame.payload.len() {
                received.push(frame.payload[used..end].to_vec(), 0);
                self.partial[from.0] = Some(Partial { frame, used: end });
            } else {
                received.push(frame.payload, used);
            }
        }
        if length > 0 {
            self.step.received(length);
            self.note(from, Direction::Received, length);
            if self.transcript.as_ref().is_some_and(|transcript| transcript.has_contents()) {
                let content: Vec<&[u8]> = received.slices(0..length).collect();
                self.note_content(Source::Received(from), &content.concat());
            }
        }
        Ok(received)
    }

    /// Give the memory of what was received back, for messages to come.
    pub fn give_back(&mut self, received: Received) {
        received.into_payloads().for_each(|payload| self.links.pool.give(payload));
    }

    /// The next 32 secret bytes that this party and a peer have in common and nobody else, without a message. Both take
    /// them equally often, in the same order and for the same purpose. They are fresh in every session, and come of
    /// keys that both connections of the pair export; without TLS whoever listens knows them.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`] if `with` is not a peer, or somebody else carries the bytes ([`crate::relay`]).
    pub fn pair_secret(&mut self, with: PartyId, purpose: &str) -> Result<Secret, NetError> {
        self.check_peer(with)?;
        let chain = self.links.chains[with.0].as_mut();
        let chain = chain.ok_or_else(|| NetError::BadConfiguration {
            detail: "parties whose bytes somebody else carries have no secret in common".to_owned(),
        })?;
        let mut secret = chain.next(purpose);
        tacit_marks::secret(&mut secret[..]);
        self.note_content(Source::Drawn, &secret[..]);
        Ok(secret)
    }

    /// An empty buffer with at least this capacity, one of an earlier message where possible.
    pub fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        self.links.pool.take(capacity)
    }

    /// The counters, to be read by any thread.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// The record, if [`crate::Options::record`] asked for one.
    pub fn transcript(&self) -> Option<Arc<Transcript>> {
        self.transcript.clone()
    }

    /// For ending this session from another thread.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::new(&self.links.hub)
    }

    /// End the session well: wait until every peer has done so too and each knows it of all others.
    ///
    /// # Errors
    /// The session's failure, if a peer fails before the end; [`NetError::Desynchronised`] if a peer sent bytes that
    /// were never received.
    pub fn close(mut self) -> Result<(), NetError> {
        if self.path.is_empty() {
            self.path.push_str(CLOSE);
        }
        if let Some(peer) = self.partial.iter().position(Option::is_some) {
            return Err(self.fail_out_of_step(peer, "it sent bytes that this party never asked for".to_owned()));
        }
        self.post_all(Kind::Goodbye, self.round);
        self.wait(|hub, me| Ok(hub.all_goodbyes(me)?.then_some(())))?;
        self.post_all(Kind::Farewell, self.round);
        self.wait(|hub, me| Ok(hub.all_farewells(me)?.then_some(())))?;
        self.told = true;
        self.clients.take().map_or(Ok(()), |clients| clients.close())
    }

    /// End the session at once and tell every peer why.
    pub fn abort(mut self, reason: &str) {
        self.tell(reason);
    }

    fn post_all(&self, kind: Kind, round: u64) {
        self.links.routes.iter().flatten().for_each(|route| route.post(Frame::new(kind, round, Vec::new())));
    }

    /// Tell every peer once that this party failed.
    fn tell(&mut self, reason: &str) {
        if !self.told {
            self.told = true;
            self.links.routes.iter().flatten().for_each(|route| route.abort(reason));
        }
        self.clients.iter_mut().for_each(|clients| clients.tell(reason));
    }

    /// Fail because a peer is not where the protocol is; if the session has failed already, because of that.
    fn fail_out_of_step(&mut self, peer: usize, detail: String) -> NetError {
        let first = self.links.hub.fail_out_of_step(peer, detail);
        self.failed(first)
    }

    /// Locate the session's failure in the present step and pass it on, so that every other party ends as well.
    fn failed(&mut self, failure: NetError) -> NetError {
        let failure = failure.at(&self.path);
        self.tell(&failure.to_string());
        failure
    }

    fn open_frame(&mut self, from: PartyId) -> Result<Partial, NetError> {
        let frame = self.wait(|hub, _| hub.next(from.0))?;
        self.step.overhead_received.fetch_add(frame::overhead(frame.payload.len()), Relaxed);
        Ok(Partial { frame, used: 0 })
    }

    /// Look again and again until there is something, each time telling the peers that this party waits.
    fn wait<T>(&mut self, look: impl Fn(&Hub, usize) -> Result<Option<T>, NetError>) -> Result<T, NetError> {
        let start = Instant::now();
        let hub = Arc::clone(&self.links.hub);
        loop {
            if let Some(found) = look(&hub, self.me).map_err(|failure| self.failed(failure))? {
                self.step.waited(start.elapsed());
                return Ok(found);
            }
            let mark = hub.mark().map_err(|failure| self.failed(failure))?;
            self.post_all(Kind::Waiting, mark);
            let limit = STANDSTILL * hub.pulse();
            // Who has just sent something knows of no answer yet, and what its peer said before that counts no longer.
            if start.elapsed() >= limit && hub.standstill(self.me, limit) {
                let detail = "all parties wait for each other and nothing is under way".to_owned();
                return Err(self.fail_out_of_step(self.next_peer(), detail));
            }
        }
    }

    /// The first party behind this one, in a circle, with which it has a link.
    fn next_peer(&self) -> usize {
        let behind = (1..self.parties()).map(|steps| (self.me + steps) % self.parties());
        behind.into_iter().find(|&peer| self.links.routes[peer].is_some()).unwrap_or(self.me)
    }

    fn check_round(&mut self, from: PartyId, theirs: u64) -> Result<(), NetError> {
        if theirs == self.round {
            return Ok(());
        }
        let detail = format!("its bytes belong to round {theirs}, this party is in round {}", self.round);
        Err(self.fail_out_of_step(from.0, detail))
    }

    fn check_peer(&self, party: PartyId) -> Result<(), NetError> {
        if self.links.routes.get(party.0).is_some_and(Option::is_some) {
            return Ok(());
        }
        let detail = format!("party {} is no peer of party {} among {}", party.0, self.me, self.parties());
        Err(NetError::BadConfiguration { detail })
    }

    fn note(&self, peer: PartyId, direction: Direction, bytes: usize) {
        if let Some(transcript) = &self.transcript {
            transcript.note(Message { step: self.path.clone(), round: self.round, peer, direction, bytes });
        }
    }

    fn note_content(&self, source: Source, bytes: &[u8]) {
        if let Some(transcript) = &self.transcript {
            transcript.note_seen(&self.path, source, bytes);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tell("it stopped without closing the session");
        self.links.hub.stop();
        self.links.routes.iter_mut().flatten().for_each(|route| route.finish());
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.links.hub.names();
        f.debug_struct("Session").field("me", &names[self.me]).field("parties", &names).finish_non_exhaustive()
    }
}
