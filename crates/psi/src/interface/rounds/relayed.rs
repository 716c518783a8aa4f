//! Any protocol, round by round: its straight-line code runs on a thread over a session without a network.
//!
//! **A run that moves.** A thread cannot be moved to another process, but it can be made again. All that a party sends
//! is a function of its role, its items, the randomness that it draws and what it has received. A run of
//! [`Relayed::movable`] draws its randomness from one seed. It is saved as that seed, its items and what came in.
//! Restoring it computes once more what had been computed, and compares the digest of what had been sent. What the
//! protocol's object holds (values to sum, payload, rules) stays with its owner. The state has its digest, so that a
//! run does not go on with other values than those it began with. Time and bytes are those of everything since setup.
//! So a run that moves has a setup of its own for each pair of sets, or few pairs, or moves between pairs seldom.
//!
//! **Once.** Whoever continues one state twice with different messages makes two runs with the same randomness. Like a
//! party whose clock is put back, it may show its secrets by the difference (two messages under one key stream, two
//! answers under one mask). A state that is continued again with the *same* messages sends the same bytes as before,
//! which is how a task that was lost is run again. A process refuses what it can see of the runs that it restores:
//! another message, set or end at a place at which it has gone on before. The state by which the process comes there
//! does not matter. What a restored state computes once more counts too. The process remembers the latest 32,768 such
//! steps, some of each run, and forgets those before them without a word. Between processes, and beyond that number, it
//! is the engine's duty.

use super::Rounds;
use super::state::{DIGEST, Event, State};
use crate::error::PsiError;
use crate::interface::protocol::{Held, Item, Outcome, Protocol, Sizes};
use crate::interface::role::Role;
use crate::wrong_input::WrongInput;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tacit_math::{Seed, randomness};
use tacit_net::relay::{self, Relay};
use tacit_net::{AbortHandle, Options, PartyId, Session};
use zeroize::Zeroizing;

/// Steps of restored runs that a process remembers: 2 MiB of digests. A run has about ten.
const REMEMBERED: usize = 1 << 15;

/// Of the places at which restored runs went on here, and of what each went on with, the digests; the latest first.
static CONTINUED: Mutex<VecDeque<[[u8; DIGEST]; 2]>> = Mutex::new(VecDeque::new());

/// [`Rounds`] of a [`Protocol`].
///
/// A protocol of r rounds takes r + 1 calls, the last of which only takes in. It must send what it sends in a round
/// before it waits for bytes of that round, or the calls do not suffice, which is an error.
pub struct Relayed<O = Outcome> {
    protocol: Arc<dyn Protocol<O>>,
    relay: Arc<Relay>,
    abort: AbortHandle,
    jobs: Option<Sender<Job>>,
    results: Receiver<Result<Done<O>, PsiError>>,
    thread: Option<JoinHandle<()>>,
    phase: Phase,
    /// The call that comes next in the phase.
    next: u32,
    done: Option<Done<O>>,
    /// Of the last pair of sets whose outcome is taken.
    proofs: Option<Vec<u64>>,
    role: Role,
    /// What it is saved from, of a run that moves.
    history: Option<History>,
}

/// All that a run's messages follow from, and their digest.
struct History {
    seed: Seed,
    events: Vec<Event>,
    sent: blake3::Hasher,
    /// The digest of the seed and of all events: the place at which the run is.
    place: [u8; DIGEST],
    /// Whether it is restored, so that another one may be at the same place.
    restored: bool,
    /// Whether it has come to a place at which another one went on with something else.
    refused: bool,
}

impl History {
    fn new(seed: Seed) -> Self {
        let mut place = blake3::derive_key("tacit 2026 psi: the beginning of a run that moves", seed.expose());
        // Looked up among those of other runs: it says which run this is, and nothing of the seed.
        tacit_marks::public(&mut place);
        Self { seed, events: Vec::new(), sent: blake3::Hasher::new(), place, restored: false, refused: false }
    }

    /// Notes what comes next; says whether a restored run goes on as another one did here at this place, if one did.
    fn take(&mut self, event: Event) -> bool {
        let with = event.digest();
        if self.restored {
            let mut continued = CONTINUED.lock().unwrap_or_else(PoisonError::into_inner);
            match continued.iter().find(|[before, _]| *before == self.place) {
                Some([_, before]) if *before != with => {
                    self.refused = true;
                    return false;
                }
                Some(_) => {}
                None => {
                    continued.truncate(REMEMBERED - 1);
                    continued.push_front([self.place, with]);
                }
            }
        }
        self.place = *blake3::keyed_hash(&self.place, &with).as_bytes();
        self.events.push(event);
        true
    }
}

/// A pair of sets for the thread.
struct Job {
    items: Vec<Item>,
    sizes: Sizes,
}

/// What the thread has completed.
enum Done<O> {
    Setup,
    Online { outcome: O, proofs: Option<Vec<u64>> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Setup,
    Online(Sizes),
}

impl<O: Send + 'static> Relayed<O> {
    /// The party that plays `role`.
    ///
    /// # Errors
    /// [`PsiError::Input`] if the operating system gives no thread.
    pub fn new(protocol: Arc<dyn Protocol<O>>, role: Role) -> Result<Self, PsiError> {
        Self::start(protocol, role, None)
    }

    /// The party that plays `role`, in a run that can be saved. It keeps all that it receives until its end.
    ///
    /// # Errors
    /// [`PsiError::Input`] if the operating system gives no thread; no randomness.
    pub fn movable(protocol: Arc<dyn Protocol<O>>, role: Role) -> Result<Self, PsiError> {
        Self::start(protocol, role, Some(Seed::random()?))
    }

    /// The run that [`Rounds::save`] has ended, here. `protocol` is as it was: what it holds is compared
    /// ([`Protocol::held`]).
    ///
    /// # Errors
    /// [`PsiError::Input`] if the state is damaged, is of another protocol, role or values, or is not what this
    /// `protocol` does.
    pub fn restore(protocol: Arc<dyn Protocol<O>>, role: Role, state: &[u8]) -> Result<Self, PsiError> {
        let name = protocol.name();
        let saved = State::read(state)?;
        if (saved.protocol.as_str(), saved.role) != (name, role) {
            let (saved, saved_role) = (saved.protocol.clone(), saved.role);
            return Err(WrongInput::OtherProtocol { saved, saved_role, protocol: name.to_owned(), role }.into());
        }
        // The comparison takes one time, for the values may be few; how it ends is told by the refusal.
        if !tacit_marks::published(blake3::Hash::from_bytes(saved.held) == Held::digest(&*protocol)) {
            return Err(WrongInput::OtherValues { protocol: name.to_owned() }.into());
        }
        let other = || PsiError::from(WrongInput::OtherEvents { protocol: name.to_owned() });
        let mut run = Self::start(protocol, role, Some(saved.seed.clone()))?;
        if let Some(history) = &mut run.history {
            history.restored = true;
        }
        for event in &saved.events {
            let done = match event {
                Event::Round(input) if run.phase == Phase::Setup => run.setup(run.next, input).map(drop),
                Event::Round(input) => run.round(run.next, input).map(drop),
                Event::Begin(items, sizes) => run.begin(items, *sizes),
                Event::Outcome => run.outcome().map(drop),
            };
            let refused = run.history.as_ref().is_some_and(|history| history.refused);
            done.map_err(|error| if refused { error } else { other() })?;
        }
        match &run.history {
            Some(history) if *history.sent.finalize().as_bytes() == saved.sent => Ok(run),
            _ => Err(WrongInput::OtherMessages { protocol: name.to_owned() }.into()),
        }
    }

    /// seed: of all randomness, of a run that moves.
    fn start(protocol: Arc<dyn Protocol<O>>, role: Role, seed: Option<Seed>) -> Result<Self, PsiError> {
        let (me, peer) = match role {
            Role::Sender => (0, PartyId(1)),
            Role::Receiver => (1, PartyId(0)),
        };
        let (session, relay) = relay::session(["sender", "receiver"], me, &Options::default());
        let (relay, abort) = (Arc::new(relay), session.abort_handle());
        let (jobs, inbox) = channel();
        let (outbox, results) = channel();
        let worker = Worker { protocol: Arc::clone(&protocol), role, peer, session, relay: Arc::clone(&relay), outbox };
        let drawn = seed.clone();
        let thread = std::thread::Builder::new()
            .name(protocol.name().to_owned())
            .spawn(move || match drawn {
                Some(seed) => randomness::replayed(&seed, || worker.run(&inbox)),
                None => worker.run(&inbox),
            })
            .map_err(|error| WrongInput::NoThread { reason: error.to_string() })?;
        let (jobs, thread) = (Some(jobs), Some(thread));
        let (phase, history) = (Phase::Setup, seed.map(History::new));
        Ok(Self {
            protocol,
            relay,
            abort,
            jobs,
            results,
            thread,
            phase,
            next: 0,
            done: None,
            proofs: None,
            role,
            history,
        })
    }

    /// What comes next in a run that moves.
    fn happens(&mut self, event: impl FnOnce() -> Event) -> Result<(), PsiError> {
        let Some(history) = &mut self.history else { return Ok(()) };
        if history.take(event()) {
            return Ok(());
        }
        Err(WrongInput::Continued { protocol: self.protocol.name().to_owned() }.into())
    }

    /// Call `id` of `count` of a phase: hand in `input`, take what is to be sent.
    fn call(&mut self, id: u32, count: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        if id != self.next || id >= count {
            return Err(WrongInput::Round { round: id, rounds: count, next: self.next }.into());
        }
        self.happens(|| Event::Round(input.to_vec()))?;
        self.next += 1;
        let output = self.exchange(count, input);
        match (&output, &mut self.history) {
            (Ok(output), Some(history)) => {
                history.sent.update(&(output.len() as u64).to_le_bytes()).update(output);
            }
            // A run that has failed is not saved.
            (Err(_), history) => *history = None,
            _ => {}
        }
        output
    }

    /// Hands in what came, and takes what the thread has sent or completed.
    fn exchange(&mut self, count: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        let output = self.relay.exchange(input);
        match self.results.try_recv() {
            Ok(result) => self.done = Some(result?),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                return Err(WrongInput::NoResult { protocol: self.protocol.name().to_owned() }.into());
            }
        }
        let output = output?;
        if self.next == count && (self.done.is_none() || !output.is_empty()) {
            let protocol = self.protocol.name().to_owned();
            return Err(WrongInput::Incomplete { protocol, calls: count }.into());
        }
        Ok(output)
    }

    fn out_of_order(&self, call: &'static str) -> PsiError {
        WrongInput::OutOfOrder { call, protocol: self.protocol.name().to_owned() }.into()
    }
}

/// How many calls a protocol of `rounds` rounds takes.
fn calls(rounds: u64) -> u32 {
    u32::try_from(rounds + 1).expect("protocols have a few rounds")
}

impl<O: Send + 'static> Rounds<O> for Relayed<O> {
    fn setup_round_count(&self) -> u32 {
        calls(self.protocol.declared(Sizes { sender: 0, receiver: 0 }).setup.rounds)
    }

    fn setup(&mut self, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        if self.phase != Phase::Setup {
            return Err(self.out_of_order("a setup round"));
        }
        self.call(id, self.setup_round_count(), input)
    }

    fn begin(&mut self, items: &[Item], sizes: Sizes) -> Result<(), PsiError> {
        let ready = matches!(self.done, Some(Done::Setup)) || matches!(self.phase, Phase::Online(_));
        let complete = match self.phase {
            Phase::Setup => self.next == self.setup_round_count(),
            Phase::Online(_) => self.next == self.online_round_count() && self.done.is_none(),
        };
        if !ready || !complete {
            return Err(self.out_of_order("the beginning"));
        }
        self.happens(|| Event::Begin(items.to_vec(), sizes))?;
        (self.phase, self.next, self.done, self.proofs) = (Phase::Online(sizes), 0, None, None);
        self.relay.resume();
        let job = Job { items: items.to_vec(), sizes };
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        if sent { Ok(()) } else { Err(self.out_of_order("the beginning, after a failure,")) }
    }

    fn online_round_count(&self) -> u32 {
        match self.phase {
            Phase::Setup => 0,
            Phase::Online(sizes) => calls(self.protocol.declared(sizes).online.rounds),
        }
    }

    fn round(&mut self, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        if self.phase == Phase::Setup {
            return Err(self.out_of_order("an online round"));
        }
        self.call(id, self.online_round_count(), input)
    }

    fn outcome(&mut self) -> Result<O, PsiError> {
        match self.done.take() {
            Some(Done::Online { outcome, proofs }) if self.next == self.online_round_count() => {
                self.happens(|| Event::Outcome)?;
                self.proofs = proofs;
                Ok(outcome)
            }
            other => {
                self.done = other;
                Err(self.out_of_order("the outcome"))
            }
        }
    }

    fn proofs(&mut self) -> Option<Vec<u64>> {
        self.proofs.take()
    }

    fn save(mut self: Box<Self>) -> Result<Zeroizing<Vec<u8>>, PsiError> {
        let name = self.protocol.name();
        let Some(history) = self.history.take() else {
            return Err(WrongInput::Unsaved { protocol: name.to_owned() }.into());
        };
        let History { seed, events, sent, .. } = history;
        let sent = *sent.finalize().as_bytes();
        let held = Held::digest(&*self.protocol);
        Ok(State { protocol: name.to_owned(), role: self.role, held, seed, sent, events }.write())
    }
}

impl<O> Drop for Relayed<O> {
    fn drop(&mut self) {
        self.jobs = None;
        self.abort.abort("the rounds were not completed");
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to say here: its session told the driver.
            let _ = thread.join();
        }
    }
}

/// What the thread owns.
struct Worker<O> {
    protocol: Arc<dyn Protocol<O>>,
    role: Role,
    peer: PartyId,
    session: Session,
    relay: Arc<Relay>,
    outbox: Sender<Result<Done<O>, PsiError>>,
}

impl<O> Worker<O> {
    /// Setup, then every pair of sets, until the first failure or the end of `inbox`. Each result is there before the
    /// driver is told that this thread rests.
    fn run(mut self, inbox: &Receiver<Job>) {
        let mut prepared = match self.protocol.setup(self.role, &mut self.session, self.peer) {
            Ok(prepared) => prepared,
            Err(error) => return self.report(Err(error)),
        };
        self.report(Ok(Done::Setup));
        for job in inbox {
            let result = prepared.online(&mut self.session, &job.items, job.sizes);
            let failed = result.is_err();
            self.report(result.map(|outcome| Done::Online { outcome, proofs: prepared.proofs() }));
            if failed {
                return;
            }
        }
    }

    fn report(&self, result: Result<Done<O>, PsiError>) {
        // Nobody listens any more if the driver was dropped.
        let _ = self.outbox.send(result);
        self.relay.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intersection::dh_psi::DhPsi;

    /// Two states of one run, which two other processes have continued with different messages. No other test of this
    /// program restores a run.
    #[test]
    fn a_state_that_went_on_with_another_message_elsewhere_is_refused() {
        let protocol: Arc<dyn Protocol> = Arc::new(DhPsi { bins: 1 });
        let sizes = Sizes { sender: 2, receiver: 2 };
        let items: Vec<Item> = vec![1, 2];
        let forget = || CONTINUED.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let restore = |state: &[u8]| Relayed::restore(Arc::clone(&protocol), Role::Sender, state);
        let mut sender = Relayed::movable(Arc::clone(&protocol), Role::Sender).expect("a thread");
        sender.setup(0, &[]).expect("a round");
        let state = Box::new(sender).save().expect("a run that moves");
        let elsewhere = [1, 2].map(|_| {
            forget();
            let mut receiver = Relayed::new(Arc::clone(&protocol), Role::Receiver).expect("a thread");
            let other = receiver.setup(0, &[]).expect("a round");
            let mut sender = restore(&state).expect("a state");
            sender.setup(1, &other).expect("set up");
            sender.begin(&items, sizes).expect("a set");
            Box::new(sender).save().expect("a run that moves")
        });
        forget();
        restore(&elsewhere[0]).expect("the first one");
        restore(&elsewhere[0]).expect("the same one");
        let error = restore(&elsewhere[1]).err().expect("another one").to_string();
        assert!(error.contains("again with the same messages alone"), "{error}");
    }
}
