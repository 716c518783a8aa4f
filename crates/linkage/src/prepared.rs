//! A large table prepared once and asked about many times: [`unbalanced`] for tables.
//!
//! Both sides are padded to their numbers of rows. So neither the size of the published set nor that of a query tells
//! how often keys repeat or how many rows have none.

use tacit_math::Seed;
use tacit_net::{PartyId, Session};
use tacit_psi::binning::pad;
use tacit_psi::unbalanced::{PreparedSet, PublishedSet, receive_set, send_set};
use tacit_psi::{PsiError, Role};

use crate::bins::Bins;
use crate::distinct::Distinct;
use crate::error::MatchError;
use crate::messages::prepared::fingerprint;
use crate::messages::{Misbehaviour, Offered};
use crate::results::{Matches, Results};

/// Prepares a table of `rows` rows, in one bin, for `budget` asked items in all: the set to keep, and the published
/// one.
///
/// # Errors
/// A budget or a table that is too large.
pub fn prepare(bins: &Bins, rows: usize, budget: u64) -> Result<(PreparedSet, Vec<u8>), MatchError> {
    let mut distinct = Distinct::of(bins.tokens(0)?);
    pad(&mut distinct.tokens, rows, Role::Sender, &Seed::random().map_err(PsiError::from)?);
    Ok(PreparedSet::prepare(&distinct.tokens, budget)?)
}

/// Answers a query about `asked` items, after the published set if the other party does not have it.
///
/// # Errors
/// More items than the set may be asked about; the connection's failure, or a client that deviates.
pub fn answer(
    session: &mut Session,
    set: &mut PreparedSet,
    asked: usize,
    published: Option<&[u8]>,
) -> Result<(), MatchError> {
    let client = PartyId(1 - session.me().0);
    if let Some(published) = published {
        send_set(session, client, published)?;
    }
    Ok(set.answer(session, client, asked)?)
}

/// Asks which keys of a table, in one bin, the prepared set of an offer has, and keeps the result of the bin. held: the
/// published set, if this party has it; otherwise it is received and returned. rows: how many this party asks about.
///
/// # Errors
/// A damaged set, or another one than the offer's; the connection's failure, or a server that deviates.
pub fn ask(
    session: &mut Session,
    bins: &Bins,
    results: &Results,
    rows: usize,
    held: Option<&[u8]>,
    offer: &Offered,
) -> Result<Option<Vec<u8>>, MatchError> {
    let server = PartyId(1 - session.me().0);
    let received = match held {
        Some(_) => None,
        None => Some(receive_set(session, server, u32::try_from(offer.rows).unwrap_or(u32::MAX), offer.budget)?),
    };
    if received.as_deref().is_some_and(|set| fingerprint(set) != offer.published) {
        return Err(MatchError::misbehaved(session, server, Misbehaviour::Published));
    }
    let set = PublishedSet::from_bytes(received.as_deref().or(held).unwrap_or_default())?;
    let mut distinct = Distinct::of(bins.tokens(0)?);
    let tokens = distinct.tokens.len();
    pad(&mut distinct.tokens, rows, Role::Receiver, &Seed::random().map_err(PsiError::from)?);
    let found = set.query(session, server, &distinct.tokens)?;
    let keys: Vec<u32> = found.iter().map(|found| found.mine).filter(|&item| (item as usize) < tokens).collect();
    let rows = keys.iter().flat_map(|&key| distinct.rows(key)).collect();
    results.put(0, Matches { keys: keys.len() as u64, rows, ..Matches::default() })?;
    Ok(received)
}
