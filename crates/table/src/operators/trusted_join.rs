//! The rows of a join brought together by a party that sees the keys.
//!
//! Functionality: as that of [`super::join_order`], and which rows found one of the other side. The trusted party
//! learns of either side the keys of the rows that count, in an order that no node knows.
//!
//! Method: the rows of left (its columns, labels and keys) and those of right (labels and keys) are shuffled, each side
//! by itself. The trusted party sees the keys. It shares how left rows rank among each other, and where all rows go in
//! sorted order, left rows first among equals. It also shares which rows there found one. The rest is the copy-down of
//! [`super::join_order`]: left rows go by rank, and the differences between neighbours to their sorted positions among
//! zeros, where they are summed up. By the labels, which moved along, everything goes back to where it came from.
//! (Conclave's party joins the keys and gives positions in both tables, by which rows are fetched. Here one right row
//! is fetched for by every label, so that the result does not grow with what matches.)
//!
//! Cost: n left rows with W bits of columns, m right rows, keys of w bits and labels of l. An AND of (n + m) w bits.
//! Shuffles of n (W + w + l) + m (w + l) bits, moves of n (W + l) and (n + m) (W + l) bits and one back of (n + m) W.
//! 18 rounds under rep3, whatever the width of the keys.

use std::cell::LazyCell;

use tacit_math::{Plane, transpose};
use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Block, Rows, Shape, linear, ops};

use super::join_order::{old_row, slice_vector};
use super::trusted::{Seen, Trusted, masked};
use crate::error::{Result, TableError};

/// What the trusted party's order brings.
pub(super) struct Met<B: Backend> {
    /// For each right row, the columns of a left row: of its key, if it found one.
    pub copied: Rows<B>,
    /// Which right rows found a left row.
    pub found: B::Bits,
    /// Which left rows were found.
    pub matched: B::Bits,
}

/// The rows of one side as they are shuffled: what moves on, and what the trusted party sees.
struct Side<B: Backend> {
    moving: Rows<B>,
    shown: Rows<B>,
}

/// The columns of left at m right rows. keys, usable: of left rows and then right rows; usable None: all.
pub(super) fn meet<B: Backend>(
    b: &mut B,
    trusted: Trusted,
    keys: Planes<B>,
    usable: Option<B::Bits>,
    payload: Rows<B>,
    m: usize,
) -> Result<Met<B>> {
    let n = payload.rows;
    let shown: Planes<B> = masked(b, keys, usable.as_ref())?.into_iter().chain(usable.clone()).collect();
    let shown = Rows { bits: shown, ..Rows::empty(n + m) };
    let first_right = 1 << ops::label_width(n.max(m));
    let labels = labels(b, n, m, first_right);
    let left = shuffled(b, payload, &labels.slice(0, n), shown.slice(0, n))?;
    let right = shuffled(b, Rows::empty(m), &labels.slice(n, m), shown.slice(n, m))?;
    let both = left.shown.bits.iter().zip(&right.shown.bits).map(|(left, right)| linear::concat_bits(&[left, right]));
    let shown = Rows { bits: both.collect(), ..Rows::empty(n + m) };
    let shape = Shape { rows: n + m, bits: 1, r32: 2, ..Shape::default() };
    let told = trusted.ask(b, &shown, usable.is_none(), shape, |seen| tell(n, seen))?;
    copy_down(b, left.moving, &right.moving.bits, told, first_right)
}

/// The labels of n left rows, their numbers, and of m right rows, which begin at a power of two.
fn labels<B: Backend>(b: &B, n: usize, m: usize, first_right: usize) -> Rows<B> {
    let rows = n + m;
    let width = first_right.ilog2() as usize + 1;
    let planes = LazyCell::new(|| {
        let labels: Vec<u64> = (0..n).chain(first_right..first_right + m).map(|label| label as u64).collect();
        transpose::planes_of_rows(&labels, width)
    });
    let bits = (0..width).map(|j| b.public_bits(rows, || planes[j].clone())).collect();
    Rows { bits, ..Rows::empty(rows) }
}

/// A side in an order that no node knows, its labels behind its columns.
fn shuffled<B: Backend>(b: &mut B, mut rows: Rows<B>, labels: &Rows<B>, shown: Rows<B>) -> Result<Side<B>> {
    rows.bits.extend(labels.bits.iter().cloned());
    let moving = rows.bits.len();
    rows.bits.extend(shown.bits);
    let mut moved = b.shuffle(rows)?;
    let shown = Rows { bits: moved.bits.split_off(moving), ..Rows::empty(moved.rows) };
    Ok(Side { moving: moved, shown })
}

/// What the trusted party gives of n left rows and the right rows behind them. That is where rows go, those of left by
/// rank, and the rank of every left row, with zeros behind. At every sorted position it says whether that row found
/// one.
fn tell(n: usize, seen: &Seen) -> Block {
    let positions = seen.positions();
    let rows = positions.len();
    let mut is_left = vec![false; rows];
    positions[..n].iter().for_each(|&position| is_left[position as usize] = true);
    let before = is_left.iter().scan(0, |before, &left| {
        *before += u32::from(left);
        Some(*before - u32::from(left))
    });
    let before: Vec<u32> = before.collect();
    let mut ranks: Vec<u32> = positions[..n].iter().map(|&position| before[position as usize]).collect();
    let mut destinations = positions.clone();
    ranks.iter().zip(&positions).for_each(|(&rank, &position)| destinations[rank as usize] = position);
    ranks.resize(rows, 0);

    let mut sides = vec![[false; 2]; seen.distinct()];
    let counted = |row: &usize| seen.usable.get(*row);
    (0..rows).filter(counted).for_each(|row| sides[seen.ranks[row] as usize][usize::from(row >= n)] = true);
    let mut found = vec![false; rows];
    (0..rows).filter(counted).for_each(|row| {
        found[positions[row] as usize] = sides[seen.ranks[row] as usize] == [true; 2];
    });
    let found = Plane::from_fn(rows, |position| found[position]);
    Block { rows, bits: vec![found], r32: vec![destinations, ranks], ..Block::default() }
}

/// Brings left columns to right rows as the trusted party told.
fn copy_down<B: Backend>(
    b: &mut B,
    mut left: Rows<B>,
    right_labels: &[B::Bits],
    told: Rows<B>,
    first_right: usize,
) -> Result<Met<B>> {
    let (n, rows) = (left.rows, told.rows);
    let m = rows - n;
    let columns = left.bits.len() - right_labels.len();
    let back = b.step("copy_down", |b| {
        left = ops::apply(b, left, slice_vector::<u32, B>(&told.r32[1], 0, n))?;
        let left_labels = left.bits.split_off(columns);
        let mut steps = left.differences().pad_zeros(m);
        let labels = left_labels.iter().zip(right_labels).map(|(left, right)| linear::concat_bits(&[left, right]));
        steps.bits.extend(labels);
        let mut sorted = ops::apply(b, steps, told.r32[0].clone())?;
        let labels = sorted.bits.split_off(columns);
        let mut sums = sorted.prefix_sums();
        sums.bits.extend(told.bits);
        ops::place_by_labels(b, sums, labels, |label| old_row(label, n, first_right))
    })?;
    let (mut copied, mut matched) = (back.slice(n, m), back.slice(0, n));
    let lost = || TableError::Internal("which rows were found got lost".into());
    let found = copied.bits.pop().ok_or_else(lost)?;
    let matched = matched.bits.pop().ok_or_else(lost)?;
    Ok(Met { copied, found, matched })
}

#[cfg(test)]
mod tests {
    use tacit_math::Plane;

    use super::{Seen, tell};

    /// Three left rows and four right rows, of which the last one of either side does not count.
    #[test]
    fn the_trusted_party_tells_where_rows_go_and_which_found_one() {
        let usable = Plane::from_fn(7, |row| row != 2 && row != 6);
        let told = tell(3, &Seen { keys: vec![], ranks: vec![1, 0, 3, 2, 1, 1, 3], usable });
        let [destinations, ranks] = &told.r32[..] else { panic!("two columns") };
        assert_eq!(ranks, &[1, 0, 2, 0, 0, 0, 0]);
        assert_eq!(destinations, &[0, 1, 5, 4, 2, 3, 6]);
        assert_eq!(told.bits[0].to_bools(), [false, true, true, true, false, false, false]);
    }
}
