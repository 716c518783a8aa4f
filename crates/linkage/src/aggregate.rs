//! What may be learnt instead of the rows: how many keys match, and the sum of one column over the rows that do.
//!
//! One instance over whole sets, padded to the announced numbers of rows: counts bin by bin would tell more than the
//! whole count. A key that repeats counts once, and its rows' values all belong to the sum.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use tacit_math::Seed;
use tacit_net::{PartyId, Session};
use tacit_psi::binning::pad;
use tacit_psi::cardinality_sum::{Aggregates, Sums, receive, send};
use tacit_psi::{PsiError, Role, Sizes};

use crate::bins::Bins;
use crate::distinct::Distinct;
use crate::error::MatchError;
use crate::wrong_input::WrongInput;

/// The receiver learns the number of matching keys. If this number is `least` or more, the receiver also learns the sum
/// of the sender's first payload column (64-bit integers). bins: a single one. rows: announced by this party and by the
/// peer.
///
/// # Errors
/// Those of the protocol; values that are no 64-bit integers.
pub fn aggregate(
    session: &mut Session,
    role: Role,
    bins: &Bins,
    rows: [usize; 2],
    least: Option<usize>,
) -> Result<Aggregates, MatchError> {
    let peer = PartyId(1 - session.me().0);
    let [mine, theirs] = rows.map(|rows| rows.max(1));
    let mut distinct = Distinct::of(bins.tokens(0)?);
    let tokens = distinct.tokens.len();
    let seed = Seed::random().map_err(PsiError::from)?;
    pad(&mut distinct.tokens, mine, role, &seed);
    let sums = least.map(|least| Sums { columns: 1, to: Role::Receiver, least });
    Ok(match role {
        Role::Sender => {
            let values = if least.is_some() { vec![values(bins, &distinct, tokens, mine)?] } else { Vec::new() };
            send(session, peer, &distinct.tokens, &values, Sizes { sender: mine, receiver: theirs }, sums)?
        }
        Role::Receiver => receive(session, peer, &distinct.tokens, Sizes { sender: theirs, receiver: mine }, sums)?,
    })
}

/// Of every item the sum of its rows' values, modulo 2^64; NULL and padding are 0.
fn values(bins: &Bins, distinct: &Distinct, tokens: usize, items: usize) -> Result<Vec<u64>, MatchError> {
    let all: Vec<u32> = (0..bins.rows(0) as u32).collect();
    let rows = if all.is_empty() { Vec::new() } else { column(&bins.load(0)?.take(&all)?)? };
    let of_token = |token: u32| distinct.rows(token).fold(0u64, |sum, row| sum.wrapping_add(rows[row as usize]));
    Ok((0..tokens as u32).map(of_token).chain(std::iter::repeat_n(0, items - tokens)).collect())
}

fn column(batch: &arrow_array::RecordBatch) -> Result<Vec<u64>, MatchError> {
    let values = batch.columns().first().and_then(|column| column.as_primitive_opt::<Int64Type>());
    let values = values.ok_or(WrongInput::SummedType)?;
    Ok(values.iter().map(|value| value.unwrap_or(0) as u64).collect())
}
