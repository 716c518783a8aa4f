//! The middle values of a column, for MEDIAN: which rows of a sorted column hold them.
//!
//! Functionality: of c values in order, the lower middle one is value (c - 1) / 2 and the upper one value c / 2, both
//! rounded down. They are one value where c is odd. Discloses nothing: not even how many values there are.
//!
//! Method: a value has r values up to itself and q from itself on. e = q - r + 1 is 2 at the lower middle value and 0
//! at the upper one. At the middle value of an odd number it is 1. P is the number of values up to a row, e' the end of
//! the group before and e its own end: e = P(e) + P(e') + 2 - 2 P. All but the first two terms is
//! local. Their sum is one number a group. The rows at the ends of groups are brought to the front. The differences
//! between neighbours' sums go to the groups' first rows, and prefix sums spread them over all rows.
//!
//! Cost for n rows: two bundles of a number and a bit brought to the front, one taken back, one product and log2(n)
//! planes compared with zero.

use tacit_math::{Plane, ring};
use tacit_mpc::circuits;
use tacit_mpc::{Backend, Linear, Rows, linear, ops};

use crate::error::Result;

/// The rows with the lower middle value of each group, and those with the upper one.
///
/// The rows are in order, each group's values behind its NULLs. ends: the last row of each group. present: the rows
/// that are not NULL; None: all. Rows that are in no group, and those of a group without a value, may be named too.
pub(crate) fn of_groups<B: Backend>(
    b: &mut B,
    rows: usize,
    ends: &B::Bits,
    present: Option<&B::Bits>,
) -> Result<[B::Bits; 2]> {
    let counts = counted(b, rows, present)?;
    let of_group = spread(b, rows, ends, &counts, [1, 1])?;
    let two = b.public_vector(rows, || vec![2; rows]);
    let distances = linear::sub(&linear::add(&of_group, &two), &linear::scale(&counts, 2));
    at(b, rows, &distances, None)
}

/// How many values there are up to each row. present: as of [`of_groups`].
pub(crate) fn counted<B: Backend>(b: &mut B, rows: usize, present: Option<&B::Bits>) -> Result<B::Vector<u32>> {
    Ok(match present {
        None => b.public_vector(rows, || (1..=rows as u32).collect()),
        Some(present) => b.inject(&[present])?.swap_remove(0).map(rows, |x: &Vec<u32>| ring::prefix_sum(x)),
    })
}

/// In all rows of a group, the count at its end and that at the end of the group before, each times its factor, added
/// up. ends: as of [`of_groups`].
pub(crate) fn spread<B: Backend>(
    b: &mut B,
    rows: usize,
    ends: &B::Bits,
    counts: &B::Vector<u32>,
    [of_end, of_before]: [u32; 2],
) -> Result<B::Vector<u32>> {
    let to_front = ops::partition(b, ends)?;
    let moving = Rows { bits: vec![ends.clone()], r32: vec![counts.clone()], ..Rows::empty(rows) };
    let front = ops::apply(b, moving, to_front)?;
    // A group's number less that of the group before, which is of the ends of the two groups before it.
    let steps = front.r32[0].map(rows, |x| {
        let added = |i: usize| x[i].wrapping_sub(if i < 1 { 0 } else { x[i - 1] });
        let before = |i: usize| if i < 1 { 0 } else { added(i - 1).wrapping_mul(of_before) };
        (0..rows).map(|i| added(i).wrapping_mul(of_end).wrapping_add(before(i))).collect()
    });
    let steps = b.select(&[&front.bits[0]], &[&steps])?.swap_remove(0);
    let starts =
        linear::xor(&ends.map(rows, Plane::shift_down), &b.public_bits(rows, || Plane::from_fn(rows, |i| i == 0)));
    let to_front = ops::partition(b, &starts)?;
    let back = ops::invert(b, to_front)?;
    let placed = ops::apply(b, Rows { r32: vec![steps], ..Rows::empty(rows) }, back)?;
    Ok(placed.r32[0].map(rows, |x| ring::prefix_sum(x)))
}

/// The same of one group, whose values stand before all other rows. count: how many values there are, in one row.
/// present: which rows hold them; None: all.
pub(crate) fn of_all<B: Backend>(
    b: &mut B,
    rows: usize,
    count: &B::Vector<u32>,
    present: Option<B::Bits>,
) -> Result<[B::Bits; 2]> {
    let count = count.map(rows, |x| std::iter::repeat_n(x[0], rows).collect());
    let before = b.public_vector(rows, || (0..rows as u32).map(|i| 2 * i).collect());
    at(b, rows, &linear::sub(&count, &before), present)
}

/// Where distances are 1 or 2, and where they are 0 or 1, each where a row is present. Those of rows with a value are
/// between -n and n + 2.
fn at<B: Backend>(
    b: &mut B,
    rows: usize,
    distances: &B::Vector<u32>,
    present: Option<B::Bits>,
) -> Result<[B::Bits; 2]> {
    let planes = circuits::to_planes(b, distances, ops::label_width(rows + 3).min(32))?;
    let zero = planes[2..].iter().map(|plane| b.not(plane));
    let small = circuits::and_all(b, rows, zero.chain(present).collect())?;
    let [lower, upper] = [linear::xor(&planes[0], &planes[1]), b.not(&planes[1])];
    let found = b.and(&[&small, &small], &[&lower, &upper])?;
    Ok(<[_; 2]>::try_from(found).unwrap_or_else(|_| unreachable!("two planes")))
}
