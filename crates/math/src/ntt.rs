//! Polynomials modulo X^N + 1 and a prime, for N = [`DEGREE`]: the number-theoretic transform, and arithmetic of whole
//! vectors.
//!
//! Primes are below 2^44 and one more than a multiple of 2N. Words are residues below the prime unless it is said
//! otherwise. Every loop is compiled for AVX-512 with 52-bit multiplications and for any processor, with equal results,
//! and takes the same time whatever the numbers are.

mod lanes;
mod transform;
mod vectors;
#[cfg(target_arch = "x86_64")]
mod wide;
mod widest;

use lanes::BITS;
use transform::{Backward, Forward, Roots};
use vectors::{Added, Combination, Multiples, Products, Quotients, Scaled};
use widest::run;

/// Coefficients of a polynomial.
pub const DEGREE: usize = 1 << 14;

/// Bits of the largest primes.
pub const PRIME_BITS: u32 = 44;

/// A public number to multiply by, prepared for one prime.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    number: u64,
    /// floor(2^52 number / p).
    quotient: u64,
}

impl Factor {
    fn new(number: u64, p: u64) -> Self {
        Self { number, quotient: ((u128::from(number) << BITS) / u128::from(p)) as u64 }
    }
}

/// A public factor of what the backward transform gives, prepared for one prime.
#[derive(Clone, Copy, Debug)]
pub struct Scale([Factor; 2]);

/// A prime with its roots of unity.
pub struct Prime {
    p: u64,
    /// 1/p modulo 2^52.
    inverse: u64,
    forward: Roots,
    backward: Roots,
    /// The inverse root of the backward transform's last level.
    last: u64,
}

impl Prime {
    /// Prepares a prime.
    ///
    /// # Panics
    /// Unless p - 1 is a multiple of 2 [`DEGREE`] and p has 42 to [`PRIME_BITS`] bits.
    pub fn new(p: u64) -> Self {
        let order = 2 * DEGREE as u64;
        assert!(p % order == 1 && (PRIME_BITS - 2..=PRIME_BITS).contains(&(p.ilog2() + 1)), "a prime of another kind");
        let minus_one = |&root: &u64| power(root, order / 2, p) == p - 1;
        let root =
            (2..p).map(|base| power(base, (p - 1) / order, p)).find(minus_one).expect("a prime has primitive roots");
        let inverse_root = invert(root, p);
        // Newton's iteration doubles the correct bits.
        let inverse = (0..6).fold(p, |x, _| x.wrapping_mul(2_u64.wrapping_sub(p.wrapping_mul(x))));
        Self {
            p,
            inverse: inverse & ((1 << BITS) - 1),
            forward: Roots::new(root, p),
            backward: Roots::new(inverse_root, p),
            last: power(inverse_root, DEGREE as u64 / 2, p),
        }
    }

    /// The prime.
    pub fn number(&self) -> u64 {
        self.p
    }

    /// The residue of a product of public numbers.
    pub fn product(&self, numbers: &[u64]) -> u64 {
        numbers.iter().fold(1, |product, &number| multiply(product, number % self.p, self.p))
    }

    /// The inverse of a public number.
    pub fn inverse_of(&self, number: u64) -> u64 {
        invert(number % self.p, self.p)
    }

    /// A public number times 2^52: what products of vectors are divided by.
    pub fn shifted(&self, number: u64) -> u64 {
        self.product(&[number, 1 << BITS])
    }

    /// Prepares a public number to multiply by.
    pub fn factor(&self, number: u64) -> Factor {
        Factor::new(number % self.p, self.p)
    }

    /// Prepares a public factor of [`Self::backward`].
    pub fn scale(&self, number: u64) -> Scale {
        let number = self.product(&[number, self.inverse_of(DEGREE as u64)]);
        Scale([self.factor(number), self.factor(self.product(&[number, self.last]))])
    }

    /// From coefficients to values, in place. The order of values is the same for every prime.
    ///
    /// # Panics
    /// Unless there are [`DEGREE`] coefficients.
    pub fn forward(&self, polynomial: &mut [u64]) {
        run(Forward { prime: self, polynomial });
    }

    /// From values to coefficients times a factor, in place.
    ///
    /// # Panics
    /// Unless there are [`DEGREE`] values.
    pub fn backward(&self, polynomial: &mut [u64], scale: &Scale) {
        run(Backward { prime: self, polynomial, scale: scale.0 });
    }

    /// Adds to each word the sum of its pairs' products, divided by 2^52.
    ///
    /// # Panics
    /// Unless all lengths are equal and multiples of 8, as for all vectors here.
    pub fn add_products<const N: usize>(&self, out: &mut [u64], pairs: [[&[u64]; 2]; N]) {
        const { assert!(N <= 6, "sums are below p") };
        run(Products { prime: self, out, pairs });
    }

    /// Sets each word to the sum of its digits, any words below 2^44, times their public factors, divided by 2^52.
    pub fn combine<const N: usize>(&self, out: &mut [u64], digits: [&[u64]; N], factors: [u64; N]) {
        const { assert!(N <= 6, "sums are below p") };
        run(Combination { prime: self, out, digits, factors });
    }

    /// Adds integers times a public factor.
    pub fn add_multiples(&self, out: &mut [u64], values: &[u64], factor: u64) {
        assert_eq!(out.len(), values.len(), "an integer for each word");
        let offset = self.p - self.product(&[factor, 1 << 63]);
        let factors = [self.shifted(factor), self.shifted(self.shifted(factor)), offset];
        run(Multiples { prime: self, out, values, factors });
    }

    /// Subtracts residues modulo any of the primes and multiplies by a public factor.
    pub fn subtract_and_scale(&self, out: &mut [u64], remainders: &[u64], inverse: Factor) {
        assert_eq!(out.len(), remainders.len(), "a remainder for each word");
        run(Quotients { prime: self, out, remainders, inverse });
    }

    /// Multiplies by a public factor.
    pub fn multiply(&self, out: &mut [u64], by: Factor) {
        run(Scaled { prime: self, out, by });
    }

    /// Adds integers above -p and below p, modulo 2^64.
    pub fn add(&self, out: &mut [u64], values: &[u64]) {
        assert_eq!(out.len(), values.len(), "an integer for each word");
        run(Added { prime: self, out, values });
    }
}

/// The product of public residues.
fn multiply(a: u64, b: u64, p: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(p)) as u64
}

fn power(base: u64, exponent: u64, p: u64) -> u64 {
    let bits = (0..u64::BITS - exponent.leading_zeros()).rev();
    bits.fold(1, |result, bit| {
        let square = multiply(result, result, p);
        if exponent >> bit & 1 == 1 { multiply(square, base, p) } else { square }
    })
}

fn invert(number: u64, p: u64) -> u64 {
    power(number, p - 2, p)
}

#[cfg(test)]
mod tests;
