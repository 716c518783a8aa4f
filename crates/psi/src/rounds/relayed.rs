//! Any protocol, round by round: its straight-line code runs on a thread over a session without a network.

use super::Rounds;
use crate::error::PsiError;
use crate::protocol::{Item, Outcome, Protocol, Role, Sizes};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use tacit_net::relay::{self, Relay};
use tacit_net::{AbortHandle, Options, PartyId, Session};

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
}

/// A pair of sets for the thread.
struct Job {
    items: Vec<Item>,
    sizes: Sizes,
}

/// What the thread has completed.
enum Done<O> {
    Setup,
    Online(O),
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
        let (me, peer) = match role {
            Role::Sender => (0, PartyId(1)),
            Role::Receiver => (1, PartyId(0)),
        };
        let (session, relay) = relay::session(["sender", "receiver"], me, &Options::default());
        let (relay, abort) = (Arc::new(relay), session.abort_handle());
        let (jobs, inbox) = channel();
        let (outbox, results) = channel();
        let worker = Worker { protocol: Arc::clone(&protocol), role, peer, session, relay: Arc::clone(&relay), outbox };
        let thread = std::thread::Builder::new()
            .name(protocol.name().to_owned())
            .spawn(move || worker.run(&inbox))
            .map_err(|error| PsiError::Input(format!("no thread for a matching protocol: {error}")))?;
        let (jobs, thread) = (Some(jobs), Some(thread));
        Ok(Self { protocol, relay, abort, jobs, results, thread, phase: Phase::Setup, next: 0, done: None })
    }

    /// Call `id` of `count` of a phase: hand in `input`, take what is to be sent.
    fn call(&mut self, id: u32, count: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        if id != self.next || id >= count {
            return Err(PsiError::Input(format!("round {id} of {count} is called where round {} is next", self.next)));
        }
        self.next += 1;
        let output = self.relay.exchange(input);
        match self.results.try_recv() {
            Ok(result) => self.done = Some(result?),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                let name = self.protocol.name();
                return Err(PsiError::Input(format!(
                    "{name} ended without a result: an earlier failure or its own fault"
                )));
            }
        }
        let output = output?;
        if self.next == count && (self.done.is_none() || !output.is_empty()) {
            let name = self.protocol.name();
            return Err(PsiError::Input(format!(
                "{name} is not complete after its {count} calls: in some round it waits before it has sent"
            )));
        }
        Ok(output)
    }

    fn out_of_order(&self, what: &str) -> PsiError {
        PsiError::Input(format!("{what} of {} is called out of order", self.protocol.name()))
    }
}

/// Calls for so many rounds.
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
        (self.phase, self.next, self.done) = (Phase::Online(sizes), 0, None);
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
            Some(Done::Online(outcome)) if self.next == self.online_round_count() => Ok(outcome),
            other => {
                self.done = other;
                Err(self.out_of_order("the outcome"))
            }
        }
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
            self.report(result.map(Done::Online));
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
