//! From digits in the residue number system of T to integers below T, modulo a power of two.

use super::moduli::{KEPT, Moduli};
use tacit_math::Ring;
use tacit_math::simd::{Kernel, dispatch};

/// Nearer to an end than this part of T, a masked product may have wrapped around.
const ZONE: f64 = 1.0 / (1_u64 << 47) as f64;

/// The integers below T with these digits; whether all are far from 0 and T. Their quotients by T are computed to 2^-49.
pub(super) fn lift<R: Ring>(moduli: &Moduli, digits: &[Vec<u64>; KEPT], out: &mut [R]) -> bool {
    let digits = digits.each_ref().map(|words| &words[..out.len()]);
    dispatch(Lift { moduli, digits, out })
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

/// How many of these are not above a number.
#[inline(always)]
fn steps(number: f64, steps: [f64; KEPT]) -> u64 {
    steps.iter().map(|&step| u64::from(number >= step)).sum()
}

struct Lift<'a, R> {
    moduli: &'a Moduli,
    digits: [&'a [u64]; KEPT],
    out: &'a mut [R],
}

impl<R: Ring> Kernel for Lift<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { moduli, digits, out } = self;
        let cofactors = moduli.cofactors.map(R::from_u128);
        let modulus = R::from_u128(moduli.modulus);
        let mut near = 0;
        for (i, out) in out.iter_mut().enumerate() {
            let quotient = quotient(moduli, &digits, i);
            let whole = steps(quotient, [1.0, 2.0, 3.0, 4.0]);
            let part = quotient - whole as f64;
            near |= u64::from(part < ZONE) | u64::from(part > 1.0 - ZONE);
            let terms = (0..KEPT).map(|j| R::from_u128(u128::from(digits[j][i])).mul(cofactors[j]));
            *out = terms.fold(R::ZERO, R::add).sub(R::from_u128(u128::from(whole)).mul(modulus));
        }
        near == 0
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
            *out = steps(quotient(moduli, &digits, i), [0.5, 1.5, 2.5, 3.5]);
        }
    }
}
