//! The value at a position in the order of a column's values, for quantiles: which row of a sorted column holds it.
//!
//! Functionality: of n values in order, the position (a n + t) / b, rounded up, from public a, b and t. A row holds it
//! if no row of its group before it has a rank r with b r - a n - t >= 0, and its own has. Discloses nothing: not even
//! how many values there are.
//!
//! Method: as [`super::middle`] finds middle values. P is the number of values up to a row, E the count at its group's
//! end and E' that at the end of the group before. Then b r - a n = b P - (a E + (b - a) E'), of which the sum in
//! brackets is one number a group.
//!
//! Cost for n rows: two bundles of a number and a bit brought to the front, one taken back, the sign of log2(b n)
//! planes, and one AND.

use tacit_math::Plane;
use tacit_mpc::circuits;
use tacit_mpc::{Backend, Linear, linear, ops};

use super::middle::{counted, spread};
use super::totals::same_as_previous;
use crate::error::Result;
use crate::operator::{Aggregation, Rank};
use crate::wrong_input::WrongInput;

/// The position that an aggregate takes, which must be one of all values, and not too fine for the number of rows.
pub(crate) fn rank_of(aggregation: &Aggregation, rows: usize) -> Result<Rank> {
    let wrong = || WrongInput::Rank { aggregate: aggregation.name.clone() };
    let rank = aggregation.rank.ok_or_else(wrong)?;
    let (a, b, t) = (i64::from(rank.numerator), i64::from(rank.denominator), i64::from(rank.shift));
    if 0 < a && a < b && -a < t && t <= b - a && width(rank, rows) <= 32 { Ok(rank) } else { Err(wrong().into()) }
}

/// The row of each group that holds the position. The rows are in order, each group's values behind its NULLs.
///
/// ends, present: as of [`super::middle::of_groups`]. same_group: whether each row is in the group of the next one.
/// Rows of no group, and of a group without a value, may be named too.
pub(crate) fn of_groups<B: Backend>(
    b: &mut B,
    rows: usize,
    ends: &B::Bits,
    same_group: &B::Bits,
    present: Option<&B::Bits>,
    rank: Rank,
) -> Result<B::Bits> {
    let counts = counted(b, rows, present)?;
    let of_group = spread(b, rows, ends, &counts, [rank.numerator, rank.denominator - rank.numerator])?;
    let reached = linear::sub(&linear::scale(&counts, rank.denominator), &of_group);
    let reached = not_below(b, rows, &reached, rank)?;
    let before = reached.map(rows, Plane::shift_down);
    let before = b.and(&[&before], &[&same_as_previous::<B>(same_group)])?.swap_remove(0);
    Ok(linear::xor(&reached, &before))
}

/// The same of one group, whose values stand before all other rows. count: how many values there are, in one row.
pub(crate) fn of_all<B: Backend>(b: &mut B, rows: usize, count: &B::Vector<u32>, rank: Rank) -> Result<B::Bits> {
    let count = count.map(rows, |x| std::iter::repeat_n(x[0].wrapping_mul(rank.numerator), rows).collect());
    let ranks = b.public_vector(rows, || (1..=rows as u32).map(|r| r.wrapping_mul(rank.denominator)).collect());
    let reached = not_below(b, rows, &linear::sub(&ranks, &count), rank)?;
    Ok(linear::xor(&reached, &reached.map(rows, Plane::shift_down)))
}

/// Where b r - a n is not below the shift.
fn not_below<B: Backend>(b: &mut B, rows: usize, found: &B::Vector<u32>, rank: Rank) -> Result<B::Bits> {
    let shift = b.public_vector(rows, || vec![rank.shift as u32; rows]);
    let planes = circuits::to_planes(b, &linear::sub(found, &shift), width(rank, rows))?;
    Ok(b.not(&planes[planes.len() - 1]))
}

/// Planes of b r - a n - t, with a sign.
fn width(rank: Rank, rows: usize) -> usize {
    ops::label_width((rows + 1).saturating_mul(rank.denominator as usize).saturating_add(1)) + 1
}
