//! Permutations of row numbers, as vectors of destinations: row i goes to position `p[i]`.

mod buckets;

use crate::lanes;
use crate::plane::words_for;
use crate::prg::Prg;

/// Fewer rows stay in the first-level cache, and one thread exchanges them.
const BY_BUCKETS: usize = 1 << 14;

/// Rows that are worth a lane of their own.
const LEAST: usize = 1 << 15;

/// A uniformly random permutation of 0..n drawn from a PRG, the same by any number of threads. Few rows are exchanged
/// at random (Fisher-Yates; indices without bias, Lemire 2019), many are dealt into buckets first ([`buckets`]).
pub fn random(n: usize, prg: &mut Prg) -> Vec<u32> {
    assert!(u32::try_from(n).is_ok(), "at most 2^32 - 1 rows");
    if n >= BY_BUCKETS {
        return buckets::random(n, buckets::width(n), prg);
    }
    let mut out: Vec<u32> = (0..n as u32).collect();
    exchange(&mut out, prg);
    out
}

/// Brings rows into a uniformly random order.
fn exchange(rows: &mut [u32], prg: &mut Prg) {
    let mut words = Words::new(prg);
    for i in (1..rows.len()).rev() {
        let j = below(i as u32 + 1, &mut words);
        rows.swap(i, j as usize);
    }
}

/// A uniform number in 0..bound.
fn below(bound: u32, words: &mut Words<'_>) -> u32 {
    let mut wide = u64::from(words.next()) * u64::from(bound);
    if (wide as u32) < bound {
        let threshold = bound.wrapping_neg() % bound;
        while (wide as u32) < threshold {
            wide = u64::from(words.next()) * u64::from(bound);
        }
    }
    (wide >> 32) as u32
}

/// A buffered stream of 32-bit words.
struct Words<'a> {
    prg: &'a mut Prg,
    buffer: [u32; 1024],
    used: usize,
}

impl<'a> Words<'a> {
    fn new(prg: &'a mut Prg) -> Self {
        Self { prg, buffer: [0; 1024], used: 1024 }
    }

    fn next(&mut self) -> u32 {
        if self.used == self.buffer.len() {
            self.prg.fill(&mut self.buffer);
            // A random order is independent of all data, and whoever applies it addresses memory by it.
            tacit_marks::public(&mut self.buffer);
            self.used = 0;
        }
        self.used += 1;
        self.buffer[self.used - 1]
    }
}

/// `out[p[i]] = x[i]`.
pub fn scatter<T: Copy + Default>(x: &[T], p: &[u32]) -> Vec<T> {
    assert_eq!(x.len(), p.len(), "one destination per row");
    let mut out = vec![T::default(); x.len()];
    for (&value, &to) in x.iter().zip(p) {
        out[to as usize] = value;
    }
    out
}

/// `out[i] = x[p[i]]`.
pub fn gather<T: Copy>(x: &[T], p: &[u32]) -> Vec<T> {
    p.iter().map(|&from| x[from as usize]).collect()
}

/// Whether p has every number below its length, and each once: then as many different numbers below it as there are
/// places. Every lane notes those that it sees.
pub fn is_permutation(p: &[u32]) -> bool {
    let lanes = lanes::cut(p.len(), LEAST.max(p.len().div_ceil(lanes::threads())), 1);
    let seen = lanes::map(true, lanes, |lane| seen(&p[lane], p.len()));
    let all = seen.into_iter().reduce(|mut all, more| {
        all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
        all
    });
    let different: u32 = all.iter().flatten().map(|word| word.count_ones()).sum();
    different as usize == p.len()
}

/// The numbers below `n` that come, each as a bit.
fn seen(numbers: &[u32], n: usize) -> Vec<u64> {
    let mut seen = vec![0; words_for(n)];
    for &number in numbers.iter().filter(|&&number| (number as usize) < n) {
        seen[number as usize / 64] |= 1 << (number % 64);
    }
    seen
}

/// The permutation that undoes p. None if p is no permutation: a number that is no row, or one that comes twice.
pub fn invert(p: &[u32]) -> Option<Vec<u32>> {
    // No row has this number: there are at most 2^32 - 1.
    const FREE: u32 = u32::MAX;
    let mut out = vec![FREE; p.len()];
    for (i, &to) in p.iter().enumerate() {
        let place = out.get_mut(to as usize).filter(|place| **place == FREE)?;
        *place = i as u32;
    }
    Some(out)
}
