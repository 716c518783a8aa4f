//! The intersections of all bins: each worker has a session with the peer's worker of the same number, sets the protocol up once and
//! takes every W-th bin of those to do. What is sent depends on the padded sizes and on what the peer learns, on nothing else.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use tacit_math::Seed;
use tacit_net::{NetError, PartyId, Session};
use tacit_psi::alignment::{Learns, intersect};
use tacit_psi::binning::{Overflow, capacity, pad};
use tacit_psi::{Prepared, Protocol, PsiError, Role, Sizes};

use crate::bins::Bins;
use crate::distinct::Distinct;
use crate::error::MatchError;
use crate::repetitions::Repetitions;
use crate::results::{Matches, Results};

/// What both parties have agreed on, from one party's view.
#[derive(Clone, Debug)]
pub struct Run {
    /// This party's part in the protocol.
    pub role: Role,
    /// Who learns the matches.
    pub learns: Learns,
    /// The announced rows of this party and of the peer.
    pub rows: [usize; 2],
    /// The bins to do, in order.
    pub todo: Vec<usize>,
}

/// How far a run is, to be read by any thread.
#[derive(Default)]
pub struct Progress {
    /// Bins done.
    pub done: AtomicU64,
}

impl Run {
    /// The padded size of every bin at both parties.
    pub fn sizes(&self, bins: usize) -> Sizes {
        let [mine, theirs] = self.rows.map(|rows| capacity(rows, bins));
        match self.role {
            Role::Sender => Sizes { sender: mine, receiver: theirs },
            Role::Receiver => Sizes { sender: theirs, receiver: mine },
        }
    }

    /// Ends with an error before anything is sent if a bin overflows.
    ///
    /// # Errors
    /// [`MatchError::Overflow`]; a file that cannot be read.
    pub fn check(&self, bins: &Bins) -> Result<(), MatchError> {
        let most = capacity(self.rows[0], bins.count());
        for bin in 0..bins.count() {
            // Repeated keys are one token: they are counted only where the rows alone would not fit.
            if bins.rows(bin) > most {
                let tokens = Distinct::of(bins.tokens(bin)?).tokens.len();
                if tokens > most {
                    return Err(Overflow { bin, bins: bins.count(), tokens, capacity: most }.into());
                }
            }
        }
        Ok(())
    }

    /// Does all bins that are to do. One worker for each session; the peer has as many.
    ///
    /// # Errors
    /// The first failure of any worker; the others are ended by it.
    pub fn execute(
        &self,
        protocol: &dyn Protocol,
        sessions: &mut [Session],
        bins: &Bins,
        results: &Results,
        progress: &Progress,
    ) -> Result<(), MatchError> {
        self.check(bins)?;
        let workers = sessions.len();
        let handles: Vec<_> = sessions.iter().map(Session::abort_handle).collect();
        thread::scope(|scope| {
            let work = |(number, session)| {
                let (handles, todo) = (&handles, self.todo.iter().copied().skip(number).step_by(workers));
                scope.spawn(move || {
                    let outcome = self.work(protocol, session, bins, results, progress, todo);
                    if outcome.is_err() {
                        handles.iter().for_each(|handle| handle.abort("another worker of this party failed"));
                    }
                    outcome
                })
            };
            let running: Vec<_> = sessions.iter_mut().enumerate().map(work).collect();
            let outcomes = running
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            outcomes.collect::<Vec<_>>().into_iter().min_by_key(rank).unwrap_or(Ok(()))
        })
    }

    /// One worker.
    fn work(
        &self,
        protocol: &dyn Protocol,
        session: &mut Session,
        bins: &Bins,
        results: &Results,
        progress: &Progress,
        todo: impl Iterator<Item = usize>,
    ) -> Result<(), MatchError> {
        let peer = PartyId(1 - session.me().0);
        session.enter("setup");
        let mut prepared = protocol.setup(self.role, session, peer)?;
        session.leave();
        session.enter("bins");
        for bin in todo {
            let matches = self.one_bin(prepared.as_mut(), session, peer, bins, bin)?;
            results.put(bin, matches)?;
            progress.done.fetch_add(1, Relaxed);
        }
        session.leave();
        Ok(())
    }

    fn one_bin(
        &self,
        prepared: &mut dyn Prepared,
        session: &mut Session,
        peer: PartyId,
        bins: &Bins,
        bin: usize,
    ) -> Result<Matches, MatchError> {
        let sizes = self.sizes(bins.count());
        let mut distinct = Distinct::of(bins.tokens(bin)?);
        let tokens = distinct.tokens.len();
        pad(&mut distinct.tokens, capacity(self.rows[0], bins.count()), self.role, &fresh()?);
        let matched = intersect(prepared, self.learns, session, peer, &distinct.tokens, sizes)?;
        if matched.iter().any(|&item| item as usize >= tokens) {
            let detail = "it reports a match of padding, which matches nothing";
            return Err(PsiError::cheating(session, peer, detail).into());
        }
        if self.learns == Learns::Receiver {
            let rows = matched.iter().flat_map(|&token| distinct.rows(token)).collect();
            return Ok(Matches { keys: matched.len() as u64, peer_rows: 0, rows });
        }
        let mine = matched.iter().map(|&token| distinct.count(token)).collect();
        let repetitions = Repetitions::exchange(session, &[PartyId(0), PartyId(1)], mine)?;
        Ok(Matches {
            keys: matched.len() as u64,
            peer_rows: repetitions.rows_of(peer.0),
            rows: repetitions.rows(&distinct, &matched),
        })
    }
}

/// Failures of this party or of a peer come before those that merely follow from them.
fn rank(outcome: &Result<(), MatchError>) -> u8 {
    match outcome {
        Err(MatchError::Protocol(PsiError::Net(NetError::Interrupted { .. } | NetError::Aborted { .. }))) => 1,
        Err(_) => 0,
        Ok(()) => 2,
    }
}

fn fresh() -> Result<Seed, MatchError> {
    Seed::random()
        .map_err(|error| MatchError::Input(format!("the operating system gives no randomness ({error}); start again")))
}
