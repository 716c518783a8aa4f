//! The largest row of a column: a tree of comparisons that gets broader where rows are few.
//!
//! Of several rows the first one that no other exceeds is taken, after comparisons of all pairs of them at once. A node
//! of the tree that joins n rows takes n (n - 1) / 2 comparisons, and the rounds of one comparison and log2(n) more. So
//! a level over many rows joins two, which takes the least comparisons, and one over few rows as many as it can.

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
        let part = |start, rows| key.iter().map(|plane| slice_bits::<B>(plane, start, rows)).collect::<Planes<B>>();
        let parts: Vec<Planes<B>> = (0..joined).map(|number| part(number * each, each)).collect();
        let rest = part(joined * each, rows - joined * each);
        let found = largest_of(b, &parts)?;
        key = found.iter().zip(&rest).map(|(found, rest)| linear::concat_bits(&[found, rest])).collect();
    }
    Ok(key)
}

/// How many rows a node of the tree joins on a level of more than one row.
fn joined(rows: usize) -> usize {
    (1 + 2 * COMPARISONS / rows).clamp(2, rows)
}

/// Of several columns, at least two of equal length, the largest number in each row.
fn largest_of<B: Backend>(b: &mut B, parts: &[Planes<B>]) -> Result<Planes<B>> {
    let rows = parts[0][0].rows();
    let pairs: Vec<(usize, usize)> = (1..parts.len()).flat_map(|high| (0..high).map(move |low| (low, high))).collect();
    let low = one_below_the_other::<B>(pairs.iter().map(|&(low, _)| &parts[low]));
    let high = one_below_the_other::<B>(pairs.iter().map(|&(_, high)| &parts[high]));
    let less = circuits::less_than(b, &low, &high, false)?;
    if let [low, high] = parts {
        return Ok(circuits::mux(b, &less, high, low)?);
    }
    let less = |low: usize, high: usize| slice_bits::<B>(&less, (high * (high - 1) / 2 + low) * rows, rows);
    let exceeds = |one: usize, other: usize| match one < other {
        true => b.not(&less(one, other)),
        false => less(other, one),
    };
    let others = |one: usize| (0..parts.len()).filter(move |&other| other != one);
    let won: Vec<Planes<B>> =
        (0..parts.len()).map(|one| others(one).map(|other| exceeds(one, other)).collect()).collect();
    let won = one_below_the_other::<B>(won.iter());
    let first = circuits::and_all(b, rows * parts.len(), won)?;
    let kept = circuits::mask_all(b, &first, &one_below_the_other::<B>(parts.iter()))?;
    Ok(kept.iter().map(|plane| folded::<B>(plane, rows, parts.len())).collect())
}

/// The planes of numbers of one width, one column below the other.
fn one_below_the_other<'a, B: Backend>(columns: impl Iterator<Item = &'a Planes<B>>) -> Planes<B>
where
    B: 'a,
{
    let columns: Vec<&Planes<B>> = columns.collect();
    let plane = |j: usize| linear::concat_bits(&columns.iter().map(|planes| &planes[j]).collect::<Vec<_>>());
    (0..columns[0].len()).map(plane).collect()
}

/// The XOR of the equally long parts of a plane. Local.
fn folded<B: Backend>(plane: &B::Bits, rows: usize, parts: usize) -> B::Bits {
    let part = |number: usize| slice_bits::<B>(plane, number * rows, rows);
    (1..parts).map(part).fold(part(0), |sum, part| linear::xor(&sum, &part))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn many_rows_are_joined_in_pairs_and_few_all_at_once() {
        assert_eq!([100_000, 33_000, 16_384, 4_096, 100, 3, 2].map(joined), [2, 2, 3, 9, 100, 3, 2]);
    }
}
