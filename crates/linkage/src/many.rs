//! A match of more than two parties' tables: the rows whose keys all of them have, in the same order at every party
//! that learns them.
//!
//! One instance over whole sets, padded to the announced numbers of rows.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tacit_math::Seed;
use tacit_net::{Cost, PartyId, Session};
use tacit_psi::binning::pad;
use tacit_psi::multi_party::{self, Owners};
use tacit_psi::{PsiError, Role};

use crate::bins::Bins;
use crate::distinct::Distinct;
use crate::error::MatchError;
use crate::repetitions::{Learner, Places, Repetitions};
use crate::results::{Matches, Results};
use crate::run::Progress;
use crate::wrong_input::WrongInput;

/// What a match costs all parties. owners: their sizes are the announced numbers of rows.
///
/// # Panics
/// When the leader is none of the parties.
pub fn cost(owners: &Owners) -> Cost {
    let mut cost = owners.cost();
    let learning = owners.recipients.len() as u64;
    if learning > 1 {
        cost.rounds += 1;
        let learns = |party: &PartyId| owners.recipients.contains(party);
        for party in (0..owners.sizes.len()).map(PartyId).filter(learns) {
            cost.sent[party.0] += (learning - 1) * places(owners, party).bytes() as u64;
        }
    }
    cost
}

/// The room in which a recipient tells how often its keys repeat.
fn places(owners: &Owners, party: PartyId) -> Places {
    let matches = owners.sizes.iter().copied().min().unwrap_or(0);
    Places::new(matches, owners.sizes[party.0], 1)
}

/// Matches and keeps the result of the one bin: of a recipient its rows, of another party nothing. owners: their sizes
/// are the announced numbers of rows. Returns how many rows a recipient's output has: all combinations of the
/// recipients' rows with one key. If these are more than `most`, nothing is kept, and all recipients find that.
///
/// # Errors
/// Those of the protocol.
pub fn intersect(
    session: &mut Session,
    owners: &Owners,
    bins: &Bins,
    results: &Results,
    progress: &Progress,
    most: u64,
) -> Result<u64, MatchError> {
    let me = session.me();
    let mut distinct = Distinct::of(bins.tokens(0)?);
    let tokens = distinct.tokens.len();
    let announced = owners.sizes.get(me.0).copied().unwrap_or(0);
    if tokens > announced {
        return Err(WrongInput::Unannounced { keys: tokens, rows: announced }.into());
    }
    // No padding of another party is ever equal to the leader's.
    let role = if me == owners.leader { Role::Receiver } else { Role::Sender };
    pad(&mut distinct.tokens, announced, role, &Seed::random().map_err(PsiError::from)?);
    let mut matched = multi_party::intersect(session, owners, &distinct.tokens)?;
    if me == owners.leader {
        // What passes by chance is told to the others, but nobody else has it.
        matched.retain(|&item| (item as usize) < tokens);
    } else if matched.iter().any(|&item| item as usize >= tokens) {
        let detail = "it reports a match of padding, which matches nothing";
        return Err(PsiError::cheating(session, owners.leader, detail).into());
    }
    let (rows, found) = match owners.recipients.contains(&me) {
        true => joint(session, owners, &distinct, &matched, most)?,
        false => {
            if owners.recipients.len() > 1 {
                session.next_round();
            }
            (0, Matches::default())
        }
    };
    results.put(0, found)?;
    progress.done.fetch_add(1, Relaxed);
    Ok(rows)
}

/// A recipient's number of rows, and its result if these are not too many.
fn joint(
    session: &mut Session,
    owners: &Owners,
    distinct: &Distinct,
    matched: &[u32],
    most: u64,
) -> Result<(u64, Matches), MatchError> {
    let keys = matched.len() as u64;
    if let [_] = owners.recipients[..] {
        let rows: Vec<u32> = matched.iter().flat_map(|&token| distinct.rows(token)).collect();
        return Ok((rows.len() as u64, Matches { keys, rows, ..Matches::default() }));
    }
    let mine = matched.iter().map(|&token| distinct.count(token)).collect();
    let left: Vec<AtomicU64> = owners.sizes.iter().map(|&rows| AtomicU64::new(rows as u64)).collect();
    let learner = |&party: &PartyId| Learner { party, places: places(owners, party), left: &left[party.0] };
    let learners: Vec<Learner<'_>> = owners.recipients.iter().map(learner).collect();
    let repetitions = Repetitions::exchange(session, &learners, mine)?;
    let count = repetitions.joint_rows();
    let rows = if count <= most { repetitions.rows(distinct, matched) } else { Vec::new() };
    Ok((count, Matches { keys, rows, ..Matches::default() }))
}
