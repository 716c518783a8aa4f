//! Cuckoo hashing of pseudorandom numbers with three choices and no stash: every number in one of its three bins, at
//! most one to a bin.
//!
//! **How many bins** is derived from their count n so that an assignment exists except with probability 2^-45 over the
//! numbers. That is a proof and not an experiment. By Hall's theorem an assignment fails only if some s items have all
//! their bins among s-1. In a smallest such set every one of those bins is hit at least twice, else the item that alone
//! hits it could be taken away. Items have three different bins each, uniformly, so the probability is at most the sum
//! over s from 4 to n of
//!
//! C(n, s) C(m, s-1) N(s) / (m (m-1) (m-2))^s,
//!
//! where N(s) bounds the ways to throw 3 s balls into s-1 bins with two in each at least: (3s)! (e^z - 1 - z)^(s-1) /
//! z^(3s) for any z > 0 (coefficients of a power series are not negative), or without that condition
//! ((s-1)(s-2)(s-3))^s. For a fixed ratio m/n every term falls with n, so the ratio of [`LARGEST`] items serves larger
//! sets: 1.306. Insertion finds an assignment whenever there is one. A run of several tables takes 45 + log2 of their
//! number instead of 45, so that all of them have one ([`crate::chance`]).
//!
//! **Source** the counting: Fountoulakis, Panagiotou, "Sharp Load Thresholds for Cuckoo Hashing" (Random Structures &
//! Algorithms 2012), section 3. Experiments give about the same for large sets: Pinkas, Schneider, Zohner, "Scalable
//! Private Set Intersection Based on OT Extension" (TOPS 2018), table 4, has 1.27 for 2^20 items.

use crate::interface::protocol::Item;
use crate::parts::chance::EVENT_BITS;
use std::collections::{HashMap, VecDeque};
use std::sync::OnceLock;
use tacit_math::Prg;

/// Choices of a number.
pub const CHOICES: usize = 3;

/// The bins of [`LARGEST`] items take milliseconds to find, and all large sets need them. By the logarithm of the
/// number of tables.
static BINS_OF_LARGEST: [OnceLock<usize>; usize::BITS as usize + 1] =
    [const { OnceLock::new() }; usize::BITS as usize + 1];

/// Above this number of items the ratio of bins to items no longer changes.
const LARGEST: usize = 1 << 12;

/// Evictions by chance before a way is searched.
const WALK: usize = 500;

/// An empty bin.
pub const EMPTY: u32 = u32::MAX;

/// How many bins n numbers take in each of the tables of a run, all of which have an assignment but for a probability
/// of 2^-45.
pub fn bins(n: usize, tables: usize) -> usize {
    let log = tables.max(1).next_power_of_two().ilog2();
    let bits = f64::from(EVENT_BITS + log);
    match n {
        0..=3 => CHOICES,
        4..=LARGEST => least_bins(n, bits),
        _ => (n * *BINS_OF_LARGEST[log as usize].get_or_init(|| least_bins(LARGEST, bits))).div_ceil(LARGEST),
    }
}

/// The least number of bins that fails with probability 2^-bits at most.
fn least_bins(n: usize, bits: f64) -> usize {
    let enough = |m: usize| failure_log2(n, m) <= -bits;
    let (mut too_few, mut enough_bins) = (n, 64.max(2 * n));
    while !enough(enough_bins) {
        enough_bins *= 2;
    }
    while enough_bins - too_few > 1 {
        let middle = (enough_bins + too_few) / 2;
        if enough(middle) { enough_bins = middle } else { too_few = middle }
    }
    enough_bins
}

/// The binary logarithm of the bound on the probability that n items do not fit into m bins.
pub fn failure_log2(n: usize, m: usize) -> f64 {
    let (items, bins) = (n as f64, m as f64);
    let triples = (bins * (bins - 1.0) * (bins - 2.0)).ln();
    let falling =
        |s: f64, terms: f64| (1..=terms as usize).map(|i| ((s - i as f64 + 1.0) / i as f64).ln()).sum::<f64>();
    // Logarithms of C(n, s), C(m, s-1) and (3s)! for s = 3, then kept up.
    let (mut of_items, mut of_bins) = (falling(items, 3.0), falling(bins, 2.0));
    let mut factorial = 720f64.ln() + (7.0 * 8.0 * 9.0f64).ln();
    let (mut z, mut sum) = (3.0, 0.0);
    for s in 4..=n.min(m) {
        let s = s as f64;
        of_items += ((items - s + 1.0) / s).ln();
        of_bins += ((bins - s + 2.0) / (s - 1.0)).ln();
        factorial += (3.0 * s * (3.0 * s - 1.0) * (3.0 * s - 2.0)).ln();
        // Towards the best z, where z (e^z - 1) / (e^z - 1 - z) is the mean number of balls in a bin; every z gives a
        // bound.
        for _ in 0..2 {
            let power = f64::exp(z);
            z *= 3.0 * s / (s - 1.0) * (power - 1.0 - z) / (z * (power - 1.0));
        }
        let twice = factorial + (s - 1.0) * (f64::exp(z) - 1.0 - z).ln() - 3.0 * s * z.ln();
        let any = s * ((s - 1.0) * (s - 2.0) * (s - 3.0)).ln();
        sum += (of_items + of_bins + twice.min(any) - s * triples).exp();
    }
    sum.log2()
}

/// The three different bins of a number, by its low 126 bits: the i-th is one of those that remain. 42 bits for each
/// keep every bin's probability within a factor of 1 + bins / 2^42.
pub fn choices(number: u128, bins: usize) -> [usize; CHOICES] {
    let below = |bound: usize, word: u32| {
        let bits = (number >> (42 * word)) & ((1 << 42) - 1);
        ((bits * bound as u128) >> 42) as usize
    };
    let first = below(bins, 0);
    let second = below(bins - 1, 1);
    let second = second + usize::from(second >= first);
    let third = below(bins - 2, 2);
    let third = third + usize::from(third >= first.min(second));
    [first, second, third + usize::from(third >= first.max(second))]
}

/// A number in a bin, as an item of its own: a function of it has nothing to do with the same function of the number in
/// another bin. Numbers are pseudorandom, so no two of n numbers are one item in any bins but for a probability of n^2
/// / 2^123. Two such numbers would differ in the low bits alone that a bin's number has. These hardly move choices,
/// which leaves fewer than 64 differences that two of the choices have, in the mean of all numbers.
fn in_bin(number: u128, bin: usize) -> Item {
    number ^ bin as u128
}

/// Every number in each of its bins, and these bins: those of number i are at 3 i and behind it.
pub fn in_all_bins(numbers: &[u128], bins: usize) -> (Vec<Item>, Vec<u32>) {
    let places = numbers.iter().flat_map(|&number| choices(number, bins).map(|bin| (in_bin(number, bin), bin as u32)));
    places.unzip()
}

/// For each bin of a table the number that is there in that bin, a random one where the bin is empty: as many items for
/// any numbers.
pub fn in_own_bins(numbers: &[u128], table: &[u32], random: &mut Prg) -> Vec<Item> {
    let mut items: Vec<u128> = random.vector(table.len());
    // They stand for items, and like those of an item their places in stores follow from them.
    tacit_marks::public(&mut items);
    for (bin, (item, &index)) in items.iter_mut().zip(table).enumerate() {
        if index != EMPTY {
            *item = numbers[index as usize];
        }
        *item = in_bin(*item, bin);
    }
    items
}

/// For each of the `m` [`bins`] of these numbers, the index of the number in it, or [`EMPTY`]. None with probability
/// 2^-45, or if numbers are not distinct.
///
/// # Panics
/// If there are 2^32 - 1 numbers or more.
pub fn table(numbers: &[u128], m: usize) -> Option<Vec<u32>> {
    let of_index = |index: u32| choices(numbers[index as usize], m);
    let table = place(numbers.len(), m, of_index)?;
    // Equal numbers have equal choices: they are in bins of each other's.
    let equals = |index: u32| {
        let in_its_bins = of_index(index).map(|bin| table[bin]);
        in_its_bins
            .into_iter()
            .any(|other| other != EMPTY && other != index && numbers[other as usize] == numbers[index as usize])
    };
    (0..numbers.len() as u32).all(|index| !equals(index)).then_some(table)
}

/// Assigns `count` numbers to `bins` bins; None if there is no assignment.
fn place(count: usize, bins: usize, choices: impl Fn(u32) -> [usize; CHOICES]) -> Option<Vec<u32>> {
    assert!(count < EMPTY as usize, "indices are 32 bits");
    let mut table = Table { choices, occupants: vec![EMPTY; bins], random: 0x9e37_79b9_7f4a_7c15 };
    for index in 0..count as u32 {
        if let Some(homeless) = table.walk(index) {
            table.search(homeless)?;
        }
    }
    Some(table.occupants)
}

struct Table<C> {
    choices: C,
    occupants: Vec<u32>,
    /// A state for turns that only matter for speed.
    random: u64,
}

impl<C: Fn(u32) -> [usize; CHOICES]> Table<C> {
    /// Inserts a number, evicting others by chance; returns the one that is left without a bin after too many steps.
    fn walk(&mut self, mut homeless: u32) -> Option<u32> {
        let mut from = usize::MAX;
        for _ in 0..WALK {
            let choices = (self.choices)(homeless);
            if let Some(free) = choices.into_iter().find(|&bin| self.occupants[bin] == EMPTY) {
                self.occupants[free] = homeless;
                return None;
            }
            // Whoever was put out of a bin does not go back there at once.
            let turn = self.below_three();
            from = if choices[turn] == from { choices[(turn + 1) % CHOICES] } else { choices[turn] };
            std::mem::swap(&mut self.occupants[from], &mut homeless);
        }
        Some(homeless)
    }

    fn below_three(&mut self) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % CHOICES as u64) as usize
    }

    /// Inserts a number by the shortest chain of evictions; None if there is no chain, and so no assignment of all.
    fn search(&mut self, homeless: u32) -> Option<()> {
        // How a bin was reached: by the number that would move into it.
        let mut mover = HashMap::new();
        let mut queue = VecDeque::from([homeless]);
        while let Some(next) = queue.pop_front() {
            for bin in (self.choices)(next) {
                if mover.contains_key(&bin) {
                    continue;
                }
                mover.insert(bin, next);
                match self.occupants[bin] {
                    EMPTY => {
                        self.move_along(bin, homeless, &mover);
                        return Some(());
                    }
                    occupant => queue.push_back(occupant),
                }
            }
        }
        None
    }

    /// Moves every number of a chain into the bin that it reached, from the free bin back to the homeless one.
    fn move_along(&mut self, mut bin: usize, homeless: u32, mover: &HashMap<usize, u32>) {
        loop {
            let moving = mover[&bin];
            let left = (self.choices)(moving).into_iter().find(|&bin| self.occupants[bin] == moving);
            self.occupants[bin] = moving;
            match left {
                Some(left) if moving != homeless => bin = left,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_math::Seed;

    #[test]
    fn bins_meet_the_bound_and_are_few() {
        for n in [4, 5, 63, 64, 1000, 4095, 4096] {
            assert!(failure_log2(n, bins(n, 1)) <= -45.0 && failure_log2(n, bins(n, 1) - 1) > -45.0, "{n} items");
        }
        assert_eq!([0, 1, 3].map(|n| bins(n, 1)), [3, 3, 3]);
        for (n, ratio) in [(1 << 10, 1.34), (1 << 12, 1.306), (1 << 20, 1.306), (1 << 30, 1.306)] {
            assert!((bins(n, 1) as f64) < ratio * n as f64, "{n} items");
        }
    }

    #[test]
    fn the_ratio_serves_larger_sets() {
        for n in [5000, 1 << 14, 1 << 17] {
            assert!(failure_log2(n, bins(n, 1)) <= -45.0, "{n} items");
        }
    }

    #[test]
    fn all_tables_of_a_run_meet_the_bound() {
        for (n, tables) in [(5, 2), (1000, 3), (5000, 1 << 14), (1 << 17, 954)] {
            assert!(failure_log2(n, bins(n, tables)) + (tables as f64).log2() <= -45.0, "{tables} tables of {n} items");
        }
    }

    #[test]
    fn the_bound_is_above_the_exact_probability() {
        // Four items into four bins fail only if all have one triple: 4 triples of 4, to the power of -4.
        let exact = |triples: f64| (triples * triples.powi(-4)).log2();
        assert!(failure_log2(4, 4) >= exact(4.0) - 1e-9);
        // For ten bins: 120 triples.
        assert!(failure_log2(4, 10) >= exact(120.0) - 1e-9);
    }

    fn check(count: usize, table: &[u32], choices: impl Fn(u32) -> [usize; CHOICES]) {
        let placed = |(bin, &index): (usize, &u32)| (index != EMPTY).then_some((bin, index));
        let mut found: Vec<u32> = Vec::new();
        for (bin, index) in table.iter().enumerate().filter_map(placed) {
            assert!(choices(index).contains(&bin));
            found.push(index);
        }
        found.sort_unstable();
        assert!(found.into_iter().eq(0..count as u32), "every number is in one bin");
    }

    #[test]
    fn every_number_is_in_one_of_its_bins() {
        let mut prg = Prg::new(&Seed::from_bytes([51; 16]));
        for n in [0, 1, 2, 3, 4, 10, 255, 256, 257, 5000, 40_000] {
            let numbers: Vec<u128> = prg.vector(n);
            let table = table(&numbers, bins(n, 1)).expect("an assignment");
            assert_eq!(table.len(), bins(n, 1));
            check(n, &table, |index| choices(numbers[index as usize], table.len()));
        }
    }

    #[test]
    fn equal_numbers_are_refused() {
        let mut prg = Prg::new(&Seed::from_bytes([53; 16]));
        for n in [2, 3, 4, 1000] {
            let mut numbers: Vec<u128> = prg.vector(n);
            assert!(table(&numbers, bins(n, 1)).is_some(), "{n} numbers");
            numbers[n - 1] = numbers[0];
            assert!(table(&numbers, bins(n, 1)).is_none(), "{n} numbers");
        }
    }

    #[test]
    fn what_is_in_a_bin_is_what_would_be_there() {
        let mut prg = Prg::new(&Seed::from_bytes([54; 16]));
        let numbers: Vec<u128> = prg.vector(500);
        let table = table(&numbers, bins(500, 1)).expect("an assignment");
        let (all, bins) = in_all_bins(&numbers, table.len());
        let own = in_own_bins(&numbers, &table, &mut prg);
        for (bin, (item, &index)) in own.iter().zip(&table).enumerate() {
            let places =
                bins.iter().zip(&all).enumerate().filter(|(_, (at, here))| **at as usize == bin && *here == item);
            let found: Vec<usize> = places.map(|(place, _)| place / CHOICES).collect();
            assert_eq!(found, if index == EMPTY { vec![] } else { vec![index as usize] }, "bin {bin}");
        }
    }

    #[test]
    fn a_numbers_bins_are_different_and_bins_are_chosen_alike() {
        let mut prg = Prg::new(&Seed::from_bytes([52; 16]));
        for m in [3, 4, 10] {
            let (count, mut hits) = (20_000, vec![[0usize; CHOICES]; m]);
            for number in prg.vector::<u128>(count) {
                let [a, b, c] = choices(number, m);
                assert!(a != b && b != c && a != c);
                [a, b, c].iter().enumerate().for_each(|(choice, &bin)| hits[bin][choice] += 1);
            }
            // The numbers are fixed; ten standard deviations would be far more.
            assert!(hits.as_flattened().iter().all(|hits| hits.abs_diff(count / m) < count / m / 8), "{hits:?}");
        }
    }

    #[test]
    fn a_full_table_is_found_and_an_impossible_one_is_refused() {
        // As many numbers as bins, and few ways to place them.
        let ring = |index: u32| [0, 1, 2].map(|step| (index as usize + step) % 50);
        check(50, &place(50, 50, ring).expect("an assignment"), ring);
        let tight = |index: u32| [index, index / 2, index / 3].map(|bin| bin as usize);
        check(2000, &place(2000, 2000, tight).expect("an assignment"), tight);
        assert_eq!(place(4, 10, |_| [0, 1, 2]), None);
    }
}
