//! The first rows in an order, without sorting the others.
//!
//! Functionality: the `count` rows with the smallest unsigned keys, in ascending order; of equal keys any, in an order
//! that no node knows. Discloses nothing.
//!
//! Method: of rows in random order some are a random sample. The row of a certain rank in the sample's order, the
//! pivot, is compared with all rows. Rows that are not behind it move to the front, and a fixed part of the front is
//! kept. By rank and part of a [`Narrowing`] that part holds the first `count` rows, but for a probability below
//! 2^-44. What is kept is brought into random order and narrowed again. Few rows are sorted by comparing all pairs: a
//! row's destination is the number of rows before it. Every step is an oblivious operation on public numbers of rows;
//! nothing is opened. Source of sampling: Floyd and Rivest, "Expected time bounds for selection", CACM 1975, here with
//! public sizes. Ranks come from all pairs as in comparison counting: Knuth, TAOCP vol. 3, section 5.2.
//!
//! Cost: n rows with keys of w bits and W bits are shuffled, compared, partitioned and moved once, then a half
//! to an eighth of them, and so on. That takes about 3 (w + log2 n) + 3 W + 200 bits a row, as much as a sort takes for
//! some planes of the key. About 30 rounds for each narrowing under rep3.

use super::{label_width, partition, sort_order};
use crate::circuits::{self, Planes};
use crate::{Backend, Linear, Result, Rows, linear};

/// No more rows than this are sorted by all pairs.
pub const PAIRED_ROWS: usize = 512;

/// One way to leave rows out. Of n rows in random order, the first n / `divisor` of all stay when the first `count`
/// are wanted and `count` * `at_most` <= n. This fails if the pivot is not behind the wanted rows, or behind more than
/// are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrowing {
    /// How many rows are sampled.
    pub sample: usize,
    /// The pivot's rank in the sample's order, from 1.
    pub rank: usize,
    /// By what the number of rows is divided.
    pub divisor: usize,
    /// By what it is at least as many as are wanted.
    pub at_most: usize,
}

impl Narrowing {
    /// All ways. Each fails with a probability below 2^-44, whatever the number of rows (a test computes it). Fewer
    /// than 16 follow each other, so that all of them fail with one below 2^-40.
    pub const ALL: [Self; 8] = [
        Self { sample: 128, rank: 22, divisor: 2, at_most: 64 },
        Self { sample: 256, rank: 66, divisor: 2, at_most: 16 },
        Self { sample: 256, rank: 16, divisor: 4, at_most: 512 },
        Self { sample: 512, rank: 168, divisor: 2, at_most: 8 },
        Self { sample: 512, rank: 57, divisor: 4, at_most: 32 },
        Self { sample: 512, rank: 14, divisor: 8, at_most: 1024 },
        Self { sample: 1024, rank: 152, divisor: 4, at_most: 16 },
        Self { sample: 1024, rank: 52, divisor: 8, at_most: 128 },
    ];

    /// The way that leaves fewest rows, of those whose sample takes fewer comparisons than all rows twice, or than few
    /// rows do. None if the rows are better sorted.
    fn of(rows: usize, count: usize) -> Option<Self> {
        let possible = |way: &&Self| {
            let pairs = way.sample * (way.sample - 1) / 2;
            rows > PAIRED_ROWS && count * way.at_most <= rows && pairs <= (2 * rows).max(1 << 15)
        };
        Self::ALL.iter().filter(possible).max_by_key(|way| (way.divisor, usize::MAX - way.sample)).copied()
    }
}

/// The first `count` rows of a bundle by a key, whose planes come least significant first.
///
/// # Errors
/// Of the engine.
pub fn first<B: Backend>(b: &mut B, count: usize, key: &[B::Bits], moving: Rows<B>) -> Result<Rows<B>> {
    b.step("first", |b| {
        let (width, mut rows) = (key.len(), moving);
        rows.bits.extend(key.iter().cloned());
        rows = b.shuffle(rows)?;
        while let Some(way) = Narrowing::of(rows.rows, count) {
            rows = narrowed(b, rows, width, way)?;
            rows = b.shuffle(rows)?;
        }
        let key = keys(&rows, width).to_vec();
        let destinations = match rows.rows <= PAIRED_ROWS {
            true => ranks(b, rows.rows, &key)?,
            false => sort_order(b, rows.rows, &key)?,
        };
        let kept = count.min(rows.rows);
        rows = super::apply(b, rows, destinations)?.slice(0, kept);
        rows.bits.truncate(rows.bits.len() - width);
        Ok(rows)
    })
}

/// Fewer rows, among them the first ones in the order of a key, which is the last `width` planes of the bundle. The
/// rows are in random order.
///
/// # Errors
/// Of the engine.
pub fn narrowed<B: Backend>(b: &mut B, rows: Rows<B>, width: usize, way: Narrowing) -> Result<Rows<B>> {
    b.step("narrow", |b| {
        // Equal keys are told apart by where their rows are, which is public: a pivot has its own rank among all.
        let labels = (0..label_width(rows.rows)).map(|j| position_bit(b, rows.rows, j));
        let key: Planes<B> = labels.chain(keys(&rows, width).iter().cloned()).collect();
        let pivot = pivot(b, &key, rows.rows, way)?;
        let behind = circuits::less_than(b, &pivot, &key, false)?;
        let front = b.not(&behind);
        let destinations = partition(b, &front)?;
        let kept = rows.rows / way.divisor;
        Ok(super::apply(b, rows, destinations)?.slice(0, kept))
    })
}

/// The pivot's key in each of the rows.
fn pivot<B: Backend>(b: &mut B, key: &[B::Bits], rows: usize, way: Narrowing) -> Result<Planes<B>> {
    let all: Rows<B> = Rows { bits: key.to_vec(), ..Rows::empty(rows) };
    let sample = all.slice(0, way.sample);
    let destinations = ranks(b, way.sample, &sample.bits)?;
    let sorted = super::apply(b, sample, destinations)?;
    Ok(sorted.slice(way.rank - 1, 1).gather_public(&vec![0; rows]).bits)
}

/// The destinations that sort rows by a key, stably, from the comparisons of all pairs.
fn ranks<B: Backend>(b: &mut B, rows: usize, key: &[B::Bits]) -> Result<B::Vector<u32>> {
    let (earlier, later): (Vec<u32>, Vec<u32>) =
        (0..rows as u32).flat_map(|later| (0..later).map(move |earlier| (earlier, later))).unzip();
    if key.is_empty() || earlier.is_empty() {
        return Ok(b.public_vector(rows, || (0..rows as u32).collect()));
    }
    let key: Rows<B> = Rows { bits: key.to_vec(), ..Rows::empty(rows) };
    let turned = circuits::less_than(b, &key.gather_public(&later).bits, &key.gather_public(&earlier).bits, false)?;
    let turned = b.inject::<u32>(&[&turned])?.swap_remove(0);
    // A row moves behind each later one that is smaller, and before each earlier one that is greater.
    let moved = turned.map(rows, |turned: &Vec<u32>| {
        let mut moved = vec![0u32; rows];
        for ((&earlier, &later), &turned) in earlier.iter().zip(&later).zip(turned) {
            moved[earlier as usize] = moved[earlier as usize].wrapping_add(turned);
            moved[later as usize] = moved[later as usize].wrapping_sub(turned);
        }
        moved
    });
    let own = b.public_vector(rows, || (0..rows as u32).collect());
    Ok(linear::add(&moved, &own))
}

fn keys<B: Backend>(rows: &Rows<B>, width: usize) -> &[B::Bits] {
    &rows.bits[rows.bits.len() - width..]
}

fn position_bit<B: Backend>(b: &B, rows: usize, bit: usize) -> B::Bits {
    b.public_bits(rows, || tacit_math::Plane::from_fn(rows, |row| row >> bit & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::{Narrowing, PAIRED_ROWS};

    /// The relative entropy of two coins, in bits. Of s draws without replacement a part p counts on average. That a
    /// part a or more counts (above p), or a or less (below), has a probability of at most 2^(-s d(a, p)). (Hoeffding,
    /// "Probability inequalities for sums of bounded random variables", JASA 1963, theorem 1 and section 6.)
    fn divergence(a: f64, p: f64) -> f64 {
        let term = |a: f64, p: f64| if a == 0.0 { 0.0 } else { a * (a / p).log2() };
        term(a, p) + term(1.0 - a, 1.0 - p)
    }

    #[test]
    fn a_pivot_is_where_it_has_to_be() {
        for way in Narrowing::ALL {
            let (sample, rank) = (way.sample as f64, way.rank as f64);
            let part = |divisor: usize| 1.0 / divisor as f64;
            // Of the wanted rows there are `rank` in the sample: the pivot is not behind all of them.
            let early = sample * divergence(rank / sample, part(way.at_most));
            assert!(rank / sample > part(way.at_most) && early > 45.0, "{way:?} fails early, {early}");
            // Of the rows that can be kept there are fewer than `rank` in the sample: the pivot is behind more. What
            // is kept is rounded down, by most of all rows where these are fewest.
            let lost = (way.divisor - 1) as f64 / (PAIRED_ROWS + 1) as f64;
            let kept = (1.0 - lost) * part(way.divisor);
            let late = sample * divergence((rank - 1.0) / sample, kept);
            assert!((rank - 1.0) / sample < kept && late > 45.0, "{way:?} fails late, {late}");
        }
    }

    #[test]
    fn ways_are_chosen_by_public_numbers() {
        assert_eq!(Narrowing::of(PAIRED_ROWS, 1), None);
        assert_eq!(Narrowing::of(100_000, 10).map(|way| way.divisor), Some(8));
        assert_eq!(Narrowing::of(60_000, 10).map(|way| way.divisor), Some(4));
        assert_eq!(Narrowing::of(60_000, 20_000), None);
        for (exponent, power) in (9..32).flat_map(|exponent| (0..28).map(move |power| (exponent, power))) {
            let (mut rows, count, mut steps) = ((3usize << exponent) / 2, 1usize << power, 0);
            while let Some(way) = Narrowing::of(rows, count) {
                assert!(way.sample < rows && rows / way.divisor >= count, "{rows} {count}");
                (rows, steps) = (rows / way.divisor, steps + 1);
            }
            // All steps together fail with a probability below 2^-40.
            assert!(steps < 16, "{steps} steps for {count} of 2^{exponent} rows");
        }
    }
}
