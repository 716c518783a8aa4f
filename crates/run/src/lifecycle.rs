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

/// What any thread may look at and do while an operator runs.
#[derive(Clone, Default)]
pub struct Watch {
    /// The counters of each session, the background's last; none without peers.
    pub meters: Vec<Arc<Meter>>,
    /// The records, if any are kept.
    pub transcripts: Vec<Arc<Transcript>>,
    /// End a running operator; none without peers.
    aborts: Vec<AbortHandle>,
}

impl Watch {
    /// What can be watched of the sessions with peers.
    pub fn of(sessions: &[&tacit_net::Session]) -> Self {
        Self {
            meters: sessions.iter().map(|session| session.meter()).collect(),
            transcripts: sessions.iter().filter_map(|session| session.transcript()).collect(),
            aborts: sessions.iter().map(|session| session.abort_handle()).collect(),
        }
    }

    /// Makes the running operator end; the peers are told why.
    pub fn interrupt(&self, reason: &str) {
        self.aborts.iter().for_each(|handle| handle.abort(reason));
    }
}
