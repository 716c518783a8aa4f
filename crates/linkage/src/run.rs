//! The intersections of all bins. Each worker has a session with the peer's worker of the same number, sets the
//! protocol up once and takes every W-th bin of those to do. What is sent depends on the padded sizes and on what the
//! peer learns, on nothing else.

use std::collections::HashSet;
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
use crate::repetitions::{LONG, Learner, Places, Repetitions};
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
    /// Joint rows that fit into the memory which both parties declare.
    pub joint_rows: u64,
}

/// What all workers of a run spend from.
struct Budget {
    /// Announced rows of the peer of which no bin has told yet.
    left: AtomicU64,
    /// Joint rows that one bin may have, and how many more may be held in memory.
    bin: u64,
    held: Option<AtomicU64>,
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

    /// The room in which a party tells how often the keys of a bin repeat. rows: those that it announced.
    fn places(&self, rows: usize, bins: usize) -> Places {
        let Sizes { sender, receiver } = self.sizes(bins);
        Places::new(sender.min(receiver), rows, bins)
    }

    /// What the bins to do may still use of what both announced.
    fn budget(&self, workers: usize, bins: usize, results: &Results) -> Result<Budget, MatchError> {
        let mut left = self.rows[1] as u64;
        if self.learns == Learns::Both {
            let todo: HashSet<usize> = self.todo.iter().copied().collect();
            for bin in (0..bins).filter(|bin| !todo.contains(bin)) {
                left = left.saturating_sub(results.get(bin)?.peer_rows);
            }
        }
        let held = results.in_memory().then(|| AtomicU64::new(self.joint_rows));
        let bin = self.joint_rows / workers.max(1) as u64;
        Ok(Budget { left: AtomicU64::new(left), bin, held })
    }

    /// Ends with an error before anything is sent if a bin overflows.
    ///
    /// # Errors
    /// [`MatchError::Overflow`]; a file that cannot be read.
    pub fn check(&self, bins: &Bins) -> Result<(), MatchError> {
        let most = capacity(self.rows[0], bins.count());
        // Where fewer keys can match, only those that do can have no room, which is seen when they do.
        let long = Places::new(usize::MAX, self.rows[0], bins.count()).long();
        for bin in 0..bins.count() {
            // Repeated keys are one token: they are counted only where the rows alone would not fit.
            if bins.rows(bin) > most.min(LONG as usize * (long + 1) - 1) {
                let distinct = Distinct::of(bins.tokens(bin)?);
                let tokens = distinct.tokens.len();
                let often = (0..tokens as u32).filter(|&token| distinct.count(token) >= LONG).count();
                if tokens > most || often > long {
                    let (tokens, capacity) = if tokens > most { (tokens, most) } else { (often, long) };
                    return Err(Overflow { bin, bins: bins.count(), tokens, capacity }.into());
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
        let budget = self.budget(workers, bins.count(), results)?;
        let handles: Vec<_> = sessions.iter().map(Session::abort_handle).collect();
        thread::scope(|scope| {
            let work = |(number, session)| {
                let (handles, budget) = (&handles, &budget);
                let todo = self.todo.iter().copied().skip(number).step_by(workers);
                scope.spawn(move || {
                    let outcome = self.work(protocol, session, bins, results, progress, budget, todo);
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
    #[expect(clippy::too_many_arguments, reason = "what all workers share")]
    fn work(
        &self,
        protocol: &dyn Protocol,
        session: &mut Session,
        bins: &Bins,
        results: &Results,
        progress: &Progress,
        budget: &Budget,
        todo: impl Iterator<Item = usize>,
    ) -> Result<(), MatchError> {
        let peer = PartyId(1 - session.me().0);
        session.enter("setup");
        let mut prepared = protocol.setup(self.role, session, peer)?;
        session.leave();
        session.enter("bins");
        let mut before = None;
        for bin in todo {
            results.begin(bin)?;
            let matches = self.one_bin(prepared.as_mut(), session, peer, bins, budget, bin)?;
            // The peer's worker has come here, so it has kept its result of the bin before.
            results.put(bin, Matches { before, ..matches })?;
            before = Some(bin as u64);
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
        budget: &Budget,
        bin: usize,
    ) -> Result<Matches, MatchError> {
        let sizes = self.sizes(bins.count());
        let mut distinct = Distinct::of(bins.tokens(bin)?);
        pad(&mut distinct.tokens, capacity(self.rows[0], bins.count()), self.role, &fresh()?);
        let matched = intersect(prepared, self.learns, session, peer, &distinct.tokens, sizes)?;
        // A peer may report a match of padding. It stands for a key without rows; an end of the run would tell the peer
        // how many keys there are.
        if self.learns == Learns::Receiver {
            let rows = matched.iter().flat_map(|&token| distinct.rows(token)).collect();
            return Ok(Matches { keys: matched.len() as u64, rows, ..Matches::default() });
        }
        let mine = matched.iter().map(|&token| distinct.count(token)).collect();
        let learners = [PartyId(0), PartyId(1)].map(|party| {
            let rows = self.rows[usize::from(party == peer)];
            Learner { party, places: self.places(rows, bins.count()), left: &budget.left }
        });
        let repetitions = Repetitions::exchange(session, &learners, mine)?;
        budget.spend(repetitions.joint_rows())?;
        Ok(Matches {
            keys: matched.len() as u64,
            peer_rows: repetitions.rows_of(peer.0),
            rows: repetitions.rows(&distinct, &matched),
            before: None,
        })
    }
}

impl Budget {
    /// Takes the joint rows of a bin, before there is memory for them.
    fn spend(&self, rows: u64) -> Result<(), MatchError> {
        if rows > self.bin {
            return Err(MatchError::JointRows { rows, most: self.bin });
        }
        let Some(held) = &self.held else { return Ok(()) };
        let spent = held.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(rows));
        spent.map(drop).map_err(|left| MatchError::JointRows { rows, most: left })
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
    Ok(Seed::random().map_err(PsiError::from)?)
}
