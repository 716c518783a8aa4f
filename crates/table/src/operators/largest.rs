//! The largest row of a column: a tree of comparisons that gets broader where rows are few.
//!
//! Of several rows the first one that no other exceeds is taken, after comparisons of all pairs of them at once. A node
//! of the tree that joins n rows takes n (n - 1) / 2 comparisons, and the rounds of one comparison and log2(n) more. So
//! a level over many rows joins two, which takes the least comparisons, and one over few rows as many as it can.

use tacit_math::Plane;
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Linear, linear};

use crate::error::Result;
use crate::table::slice_bits;

/// About as many comparisons are made on each level, and at most half as many as it has rows where these are more.
const COMPARISONS: usize = 1 << 14;

/// The largest of all rows, of which there is at least one, as one row. The key has at least one plane.
pub(super) fn largest<B: Backend>(b: &mut B, mut key: Planes<B>) -> Result<Planes<B>> {
    while key[0].rows() > 1 {
        let rows = key[0].rows();
        let joined = joined(rows);
        let each = rows / joined;
        let found = largest_of(b, &part::<B>(&key, 0, joined * each), joined)?;
        let rest = part::<B>(&key, joined * each, rows - joined * each);
        key = found.iter().zip(&rest).map(|(found, rest)| linear::concat_bits(&[found, rest])).collect();
    }
    Ok(key)
}

/// How many rows a node of the tree joins on a level of more than one row.
fn joined(rows: usize) -> usize {
    (1 + 2 * COMPARISONS / rows).clamp(2, rows)
}

/// The largest number of each row among `parts` equally long columns, at least two, which are one below the other.
fn largest_of<B: Backend>(b: &mut B, key: &[B::Bits], parts: usize) -> Result<Planes<B>> {
    let (rows, each) = (key[0].rows(), key[0].rows() / parts);
    // Columns that are `apart` from each other are compared in one piece.
    let pieces: Vec<usize> = (1..parts).map(|apart| rows - apart * each).collect();
    let low: Vec<Planes<B>> = pieces.iter().map(|&length| part::<B>(key, 0, length)).collect();
    let high: Vec<Planes<B>> = pieces.iter().map(|&length| part::<B>(key, rows - length, length)).collect();
    let less = circuits::less_than(b, &one_below_the_other::<B>(&low), &one_below_the_other::<B>(&high), false)?;
    if parts == 2 {
        return Ok(circuits::mux(b, &less, &high[0], &low[0])?);
    }
    let starts = pieces.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length)));
    let less: Planes<B> = starts.zip(&pieces).map(|(start, &length)| slice_bits::<B>(&less, start, length)).collect();
    // A column against the one that comes `apart` columns behind it, or beyond the last one from the first one on.
    let against = |(behind, before): (&B::Bits, &B::Bits)| linear::concat_bits(&[&b.not(behind), before]);
    let against: Planes<B> = less.iter().zip(less.iter().rev()).map(against).collect();
    let first = circuits::and_all(b, rows, against)?;
    let kept = circuits::mask_all(b, &first, key)?;
    Ok(kept.iter().map(|plane| plane.map(each, |plane| folded(plane, parts))).collect())
}

fn part<B: Backend>(key: &[B::Bits], start: usize, rows: usize) -> Planes<B> {
    key.iter().map(|plane| slice_bits::<B>(plane, start, rows)).collect()
}

/// The planes of numbers of one width, one column below the other.
fn one_below_the_other<B: Backend>(columns: &[Planes<B>]) -> Planes<B> {
    let plane = |j: usize| linear::concat_bits(&columns.iter().map(|planes| &planes[j]).collect::<Vec<_>>());
    (0..columns[0].len()).map(plane).collect()
}

/// The XOR of the equally long parts of a plane.
fn folded(plane: &Plane, parts: usize) -> Plane {
    let each = plane.rows() / parts;
    (1..parts).fold(plane.slice(0, each), |sum, number| sum.xor(&plane.slice(number * each, each)))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn many_rows_are_joined_in_pairs_and_few_all_at_once() {
        assert_eq!([100_000, 33_000, 16_384, 4_096, 100, 3, 2].map(joined), [2, 2, 3, 9, 100, 3, 2]);
    }
}
