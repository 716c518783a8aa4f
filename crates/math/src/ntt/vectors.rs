//! Sums and products of vectors modulo a prime. Products of two vectors are Montgomery's, divided by 2^52.

use super::lanes::{Job, Lanes, vectors, vectors_mut};
use super::transform::{Constants, Root};
use super::{Factor, Prime};

/// The sum of up to six products of words below 2^52 and residues, in two halves.
#[derive(Clone, Copy)]
struct Sum<L> {
    low: L,
    high: L,
}

impl<L: Lanes> Sum<L> {
    #[inline(always)]
    fn zero() -> Self {
        Self { low: L::splat(0), high: L::splat(0) }
    }

    #[inline(always)]
    fn plus(self, a: L, b: L) -> Self {
        Self { low: self.low.plus_low(a, b), high: self.high.plus_high(a, b) }
    }

    /// The sum divided by 2^52: more than zero, and up to p more than the sum's high half.
    #[inline(always)]
    fn divided(self, prime: &Prime) -> L {
        let (p, inverse) = (L::splat(prime.p), L::splat(prime.inverse));
        let quotient = L::splat(0).plus_low(self.low, inverse);
        self.high.plus(self.low.above()).plus(p).minus(L::splat(0).plus_high(quotient, p))
    }
}

/// out = out + sum of a b.
pub(super) struct Products<'a, const N: usize> {
    pub(super) prime: &'a Prime,
    pub(super) out: &'a mut [u64],
    pub(super) pairs: [[&'a [u64]; 2]; N],
}

impl<const N: usize> Job for Products<'_, N> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let c = Constants::<L>::new(self.prime.p);
        let out = vectors_mut(self.out);
        let pairs = self.pairs.map(|pair| pair.map(|words| &vectors(words)[..out.len()]));
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = Sum::zero();
            for [a, b] in pairs {
                sum = sum.plus(L::load(&a[i]), L::load(&b[i]));
            }
            c.canonical(c.canonical(sum.divided(self.prime)).plus(L::load(out))).store(out);
        }
    }
}

/// out = the sum of digits times factors.
pub(super) struct Combination<'a, const N: usize> {
    pub(super) prime: &'a Prime,
    pub(super) out: &'a mut [u64],
    pub(super) digits: [&'a [u64]; N],
    pub(super) factors: [u64; N],
}

impl<const N: usize> Job for Combination<'_, N> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let c = Constants::<L>::new(self.prime.p);
        let out = vectors_mut(self.out);
        let digits = self.digits.map(|words| &vectors(words)[..out.len()]);
        let mut factors = [L::splat(0); N];
        for (splat, &factor) in factors.iter_mut().zip(&self.factors) {
            *splat = L::splat(factor);
        }
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = Sum::zero();
            for (digit, &factor) in digits.iter().zip(&factors) {
                sum = sum.plus(L::load(&digit[i]), factor);
            }
            c.canonical(sum.divided(self.prime)).store(out);
        }
    }
}

/// out = out + an integer times a factor.
pub(super) struct Multiples<'a> {
    pub(super) prime: &'a Prime,
    pub(super) out: &'a mut [u64],
    /// Integers plus 2^63.
    pub(super) values: &'a [u64],
    /// The factor times 2^52 and 2^104, and what 2^63 times the factor lacks to a multiple of p.
    pub(super) factors: [u64; 3],
}

impl Job for Multiples<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let c = Constants::<L>::new(self.prime.p);
        let [low, high, offset] = self.factors;
        let (low, high, offset) = (L::splat(low), L::splat(high), L::splat(offset));
        let (out, twice) = (vectors_mut(self.out), L::splat(2 * self.prime.p));
        for (out, value) in out.iter_mut().zip(vectors(self.values)) {
            let value = L::load(value);
            let sum = Sum::zero().plus(value, low).plus(value.above(), high).divided(self.prime);
            let total = sum.plus(offset).plus(L::load(out));
            c.canonical(total.least(total.minus(twice))).store(out);
        }
    }
}

/// out = (out - remainder) divided by a number.
pub(super) struct Quotients<'a> {
    pub(super) prime: &'a Prime,
    pub(super) out: &'a mut [u64],
    pub(super) remainders: &'a [u64],
    pub(super) inverse: Factor,
}

impl Job for Quotients<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let c = Constants::<L>::new(self.prime.p);
        // Above every remainder, whose primes have up to two bits more.
        let (inverse, multiple) = (Root::splat(self.inverse), L::splat(8 * self.prime.p));
        for (out, remainder) in vectors_mut(self.out).iter_mut().zip(vectors(self.remainders)) {
            let difference = L::load(out).plus(multiple).minus(L::load(remainder));
            c.canonical(inverse.times(difference, L::splat(0), &c)).store(out);
        }
    }
}

/// x = x times a number.
pub(super) struct Scaled<'a> {
    pub(super) prime: &'a Prime,
    pub(super) out: &'a mut [u64],
    pub(super) by: Factor,
}

impl Job for Scaled<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (c, by) = (Constants::<L>::new(self.prime.p), Root::splat(self.by));
        for out in vectors_mut(self.out) {
            c.canonical(by.times(L::load(out), L::splat(0), &c)).store(out);
        }
    }
}

/// out = out + an integer above -p and below p.
pub(super) struct Added<'a> {
    pub(super) prime: &'a Prime,
    pub(super) out: &'a mut [u64],
    /// The integers, modulo 2^64.
    pub(super) values: &'a [u64],
}

impl Job for Added<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (p, twice) = (L::splat(self.prime.p), L::splat(2 * self.prime.p));
        for (out, value) in vectors_mut(self.out).iter_mut().zip(vectors(self.values)) {
            let sum = L::load(out).plus(L::load(value)).plus(p);
            let sum = sum.least(sum.minus(twice));
            sum.least(sum.minus(p)).store(out);
        }
    }
}
