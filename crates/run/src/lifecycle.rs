//! From connecting to the end: who has the engine, and what others may watch meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tacit_net::{AbortHandle, Meter, Transcript};

use crate::approved::Approved;
use crate::error::{End, Result, RunError};

/// Where a session's engine is. No lock is held while an operator runs: the operator has taken the engine.
pub struct Lifecycle(Mutex<State>);

enum State {
    Ready(Approved),
    Busy,
    Over(End),
}

impl Lifecycle {
    /// A session that begins.
    pub fn new(engine: Approved) -> Self {
        Self(Mutex::new(State::Ready(engine)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the engine for an operator.
    ///
    /// # Errors
    /// An input error when an operator has it, or the session is over.
    pub fn take(&self) -> Result<Approved> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Busy) {
            State::Ready(engine) => Ok(engine),
            State::Busy => Err(RunError::Busy),
            State::Over(end) => {
                *state = State::Over(end);
                Err(RunError::Ended(end))
            }
        }
    }

    /// Gives the engine back after an operator. The caller keeps it when the session was ended meanwhile.
    pub fn give_back(&self, engine: Approved) -> Option<Approved> {
        let mut state = self.state();
        if let State::Over(_) = *state {
            return Some(engine);
        }
        *state = State::Ready(engine);
        None
    }

    /// Ends the session, unless it is over. The engine, unless an operator has it.
    pub fn end(&self, end: End) -> Option<Approved> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Over(end)) {
            State::Ready(engine) => Some(engine),
            State::Busy => None,
            State::Over(earlier) => {
                *state = State::Over(earlier);
                None
            }
        }
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<End> {
        match *self.state() {
            State::Over(end) => Some(end),
            State::Ready(_) | State::Busy => None,
        }
    }
}

/// The counters of a party's sessions.
#[derive(Clone, Default)]
pub struct Meters {
    /// Those in which it executes steps, one after the other: with nodes, and with clients.
    pub steps: Vec<Arc<Meter>>,
    /// That in which stock is made ahead.
    pub ahead: Vec<Arc<Meter>>,
}

impl Meters {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Meter>> {
        self.steps.iter().chain(&self.ahead)
    }
}

/// What any thread may look at and do while an operator runs.
#[derive(Clone, Default)]
pub struct Watch {
    /// The counters of each of this party's sessions, that in which stock is made ahead apart; none without peers.
    pub meters: Meters,
    /// The records, if any are kept.
    pub transcripts: Vec<Arc<Transcript>>,
    /// End a running operator; none without peers.
    aborts: Vec<AbortHandle>,
}

impl Watch {
    /// What can be watched of the sessions with peers: the engine's, and that in which stock is made ahead, if there is
    /// one.
    pub fn of(sessions: &[tacit_net::Session]) -> Self {
        let (first, ahead) = sessions.split_at(sessions.len().min(1));
        let first: Vec<&tacit_net::Session> =
            first.iter().flat_map(|main| [Some(main), main.clients()]).flatten().collect();
        let all = || first.iter().copied().chain(ahead);
        Self {
            meters: Meters {
                steps: first.iter().map(|session| session.meter()).collect(),
                ahead: ahead.iter().map(|session| session.meter()).collect(),
            },
            transcripts: all().filter_map(|session| session.transcript()).collect(),
            aborts: all().map(|session| session.abort_handle()).collect(),
        }
    }

    /// Makes the running operator end; the peers are told why.
    pub fn interrupt(&self, reason: &str) {
        self.aborts.iter().for_each(|handle| handle.abort(reason));
    }
}
