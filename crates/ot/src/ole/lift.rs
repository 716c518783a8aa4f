//! From residues modulo the primes of T to integers below T, modulo a power of two.

use super::moduli::{KEPT, Moduli};
use tacit_math::Ring;
use tacit_math::simd::{Kernel, dispatch};

/// The integers i with these digits, so that i/T plus an offset is between 0 and 1; the bits of those where it is above
/// a half. Quotients by T are computed to 2^-48: an integer so near to a bound is taken for one behind it, or its bit
/// is the other one.
pub(super) fn lift<R: Ring>(moduli: &Moduli, digits: &[Vec<u64>; KEPT], offset: f64, out: &mut [R], upper: &mut [u64]) {
    let digits = digits.each_ref().map(|words| &words[..out.len()]);
    dispatch(Lift { moduli, digits, offset, out, upper });
}

/// How often T goes into the sums of digits, rounded to the nearest.
pub(super) fn multiples(moduli: &Moduli, digits: &[Vec<u64>; KEPT], out: &mut [u64]) {
    let digits = digits.each_ref().map(|words| &words[..out.len()]);
    dispatch(Multiples { moduli, digits, out });
}

/// The sum of digits as a multiple of T.
#[inline(always)]
fn quotient(moduli: &Moduli, digits: &[&[u64]; KEPT], i: usize) -> f64 {
    (0..KEPT).map(|j| digits[j][i] as f64 * moduli.reciprocals[j]).sum()
}

/// The whole part of a number that is not above [`KEPT`] and a half.
#[inline(always)]
fn whole(number: f64) -> u64 {
    (1..=KEPT).map(|step| u64::from(number >= step as f64)).sum()
}

struct Lift<'a, R> {
    moduli: &'a Moduli,
    digits: [&'a [u64]; KEPT],
    offset: f64,
    out: &'a mut [R],
    upper: &'a mut [u64],
}

impl<R: Ring> Kernel for Lift<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { moduli, digits, offset, out, upper } = self;
        let cofactors = moduli.cofactors.map(R::from_u128);
        let modulus = R::from_u128(moduli.modulus);
        for (part, (out, upper)) in out.chunks_mut(64).zip(upper).enumerate() {
            let digits = digits.map(|words| &words[64 * part..][..out.len()]);
            *upper = 0;
            for (i, out) in out.iter_mut().enumerate() {
                let quotient = quotient(moduli, &digits, i) + offset;
                let whole = whole(quotient);
                *upper |= u64::from(quotient - whole as f64 >= 0.5) << i;
                let terms = (0..KEPT).map(|j| R::from_u128(u128::from(digits[j][i])).mul(cofactors[j]));
                *out = terms.fold(R::ZERO, R::add).sub(R::from_u128(u128::from(whole)).mul(modulus));
            }
        }
    }
}

struct Multiples<'a> {
    moduli: &'a Moduli,
    digits: [&'a [u64]; KEPT],
    out: &'a mut [u64],
}

impl Kernel for Multiples<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { moduli, digits, out } = self;
        for (i, out) in out.iter_mut().enumerate() {
            *out = whole(quotient(moduli, &digits, i) + 0.5);
        }
    }
}
