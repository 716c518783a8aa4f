//! Random permutations of many rows, bucket by bucket.
//!
//! Every row draws one of 2^b buckets, uniformly and independently of the others. The rows of each bucket, which lie
//! one behind the other, are then brought into a uniformly random order.
//!
//! Source: Rao, "Generation of random permutations of given number of elements using random sampling numbers" (Sankhya
//! A 23, 1961). The same was found by Sandelius, "A simple randomization procedure" (J. Royal Statistical Society B 24,
//! 1962). Several processors deal rows as in Sanders, "Random permutations on distributed, external and hierarchical
//! memory" (Information Processing Letters 67, 1998).
//!
//! **Every order is as likely.** Take an order of n rows, and say how many rows c_k each bucket k has. One choice of
//! buckets agrees with both: the first c_0 rows of the order draw bucket 0, the next c_1 rows draw bucket 1, and so on.
//! It has the probability 2^(-b n). The buckets then come into this order with the probability 1 / (c_0! c_1! ...). The
//! sum of the products, over all c, is the same for every order.
//!
//! **Any number of threads gives the same.** Lanes of rows draw parts of one stream. Each bucket has a generator of its
//! own, whose seed is drawn from that stream. So what is drawn depends on the number of rows alone. Rows of one bucket
//! lie in their old order before they are exchanged.
//!
//! Buckets are exchanged within the cache of a core, where all rows together wait for memory at every exchange.

use std::ops::Range;

use super::{LEAST, exchange};
use crate::lanes::{self, Grow, Room};
use crate::prg::{Prg, Seed};

/// Most buckets are 2^this: each row draws a byte. Buckets are written side by side, a cache line of each at a time.
const WIDEST: u32 = u8::BITS;

/// A bucket has about 2^this rows, if there are few enough of them for the widest choice.
const ROWS: u32 = 12;

/// The bits of a bucket's number.
pub(super) fn width(n: usize) -> u32 {
    (n >> ROWS).max(2).ilog2().min(WIDEST)
}

/// A uniformly random permutation of 0..n by way of 2^width buckets.
pub(super) fn random(n: usize, width: u32, prg: &mut Prg) -> Vec<u32> {
    let mut bucket_of: Vec<u8> = prg.vector(n);
    // A random order is independent of all data, and whoever applies it addresses memory by it.
    tacit_marks::public(&mut bucket_of);
    let seeds: Vec<Seed> = (0..1 << width).map(|_| seed(prg)).collect();
    let (mut rows, lengths) = dealt(&bucket_of, width);
    let mut left = rows.as_mut_slice();
    let buckets = lengths.into_iter().zip(seeds).map(|(length, seed)| {
        let (bucket, rest) = std::mem::take(&mut left).split_at_mut(length);
        left = rest;
        (bucket, seed)
    });
    lanes::each_worth(n >= LEAST, buckets.collect(), |(bucket, seed)| exchange(bucket, &mut Prg::new(&seed)));
    rows
}

fn seed(prg: &mut Prg) -> Seed {
    let mut bytes = [0; 16];
    prg.fill(&mut bytes);
    Seed::from_bytes(bytes)
}

/// The rows, sorted by their buckets, and the number of rows of each bucket.
fn dealt(bucket_of: &[u8], width: u32) -> (Vec<u32>, Vec<usize>) {
    let (mask, lanes) = ((1 << width) - 1, lanes::cut(bucket_of.len(), LEAST, 1));
    let counts = lanes::map(true, lanes.clone(), |lane| counts(&bucket_of[lane], mask));
    let of_bucket = |bucket: usize| counts.iter().map(move |counts| counts[bucket]);
    let mut rows = Vec::new();
    let mut grow = Grow::new(&mut rows, bucket_of.len());
    let rooms = by_lanes(grow.rooms((0..=mask).flat_map(of_bucket)), lanes.len());
    lanes::each(lanes.into_iter().zip(rooms).collect(), |(lane, rooms)| deal(bucket_of, mask, lane, rooms));
    grow.finish();
    (rows, (0..=mask).map(|bucket| of_bucket(bucket).sum()).collect())
}

/// The rooms of each lane, of rooms that lie bucket by bucket.
fn by_lanes(rooms: Vec<Room<'_, u32>>, lanes: usize) -> Vec<Vec<Room<'_, u32>>> {
    let mut of_lanes: Vec<Vec<_>> = (0..lanes).map(|_| Vec::with_capacity(rooms.len() / lanes)).collect();
    rooms.into_iter().enumerate().for_each(|(number, room)| of_lanes[number % lanes].push(room));
    of_lanes
}

fn counts(bucket_of: &[u8], mask: usize) -> Vec<usize> {
    let mut counts = vec![0; mask + 1];
    bucket_of.iter().for_each(|&bucket| counts[bucket as usize & mask] += 1);
    counts
}

/// Puts the rows of a lane into its rooms of all buckets.
fn deal(bucket_of: &[u8], mask: usize, lane: Range<usize>, mut rooms: Vec<Room<'_, u32>>) {
    for row in lane {
        rooms[bucket_of[row] as usize & mask].push(row as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{random, width};
    use crate::permutation::is_permutation;
    use crate::{Prg, Seed, Workers};

    fn prg(seed: u8) -> Prg {
        Prg::new(&Seed::from_bytes([seed; 16]))
    }

    /// Chi-square over all n! outcomes: (expected mean = degrees of freedom k, deviation sqrt(2k)); six deviations.
    #[test]
    fn every_permutation_is_as_likely() {
        let mut prg = prg(41);
        for (n, width, outcomes) in [(2, 1, 2), (3, 1, 6), (4, 1, 24), (4, 2, 24), (5, 2, 120)] {
            let mut counts = BTreeMap::new();
            for _ in 0..1000 * outcomes {
                *counts.entry(random(n, width, &mut prg)).or_insert(0_u32) += 1;
            }
            assert_eq!(counts.len(), outcomes);
            let deviations: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
            let freedom = (outcomes - 1) as f64;
            assert!(deviations < freedom + 6.0 * (2.0 * freedom).sqrt(), "chi-square {deviations} for n = {n}");
        }
    }

    #[test]
    fn any_number_of_threads_draws_the_same() {
        for n in [0, 1, 5000, 300_001] {
            let drawn = |threads| {
                Workers::new(threads).expect("threads").run(|| {
                    let mut prg = prg(42);
                    (random(n, width(n), &mut prg), prg.vector::<u64>(3))
                })
            };
            let one = drawn(1);
            assert!(is_permutation(&one.0));
            assert!([2, 3, 5].into_iter().all(|threads| drawn(threads) == one), "{n} rows");
        }
    }

    #[test]
    fn buckets_fit_into_a_cache() {
        assert_eq!([0, 1 << 14, 1 << 20, 1 << 30].map(width), [1, 2, 8, 8]);
    }
}
