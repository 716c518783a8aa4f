//! Permutations of row numbers, as vectors of destinations: row i goes to position `p[i]`.

use crate::plane::words_for;
use crate::prg::Prg;

/// A uniformly random permutation of 0..n drawn from a PRG (Fisher-Yates; indices without bias, Lemire 2019).
pub fn random(n: usize, prg: &mut Prg) -> Vec<u32> {
    let n = u32::try_from(n).expect("at most 2^32 - 1 rows");
    let mut out: Vec<u32> = (0..n).collect();
    let mut words = Words::new(prg);
    for i in (1..n).rev() {
        let j = below(i + 1, &mut words);
        out.swap(i as usize, j as usize);
    }
    out
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

/// Whether p has every number below its length, and each once.
pub fn is_permutation(p: &[u32]) -> bool {
    let mut seen = vec![0u64; words_for(p.len())];
    let mut again = false;
    for &to in p {
        if to as usize >= p.len() {
            return false;
        }
        let (word, bit) = (&mut seen[to as usize / 64], 1 << (to % 64));
        again |= *word & bit != 0;
        *word |= bit;
    }
    !again
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
