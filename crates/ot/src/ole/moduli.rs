//! The primes, and public numbers made of them.

use std::sync::LazyLock;
use tacit_math::ntt::{Factor, Prime, Scale};

/// Primes by whose product answers are divided: P.
pub(super) const DROPPED: usize = 5;

/// Primes of the plaintext: T.
pub(super) const KEPT: usize = 3;

/// All primes, P's first.
pub(super) const LIMBS: usize = DROPPED + KEPT;

/// The largest of 44 bits that are 1 modulo 2^15.
const PRIMES: [u64; LIMBS] = [
    0xfff_ffdf_8001,
    0xfff_ffd7_8001,
    0xfff_ffd6_8001,
    0xfff_ffcf_0001,
    0xfff_ffc6_0001,
    0xfff_ffb7_0001,
    0xfff_ffb5_0001,
    0xfff_ffaf_0001,
];

/// The binary logarithms of T and P.
pub(super) fn log2_plaintext_and_dropped() -> [f64; 2] {
    let (p, t) = PRIMES.split_at(DROPPED);
    [t, p].map(|primes| primes.iter().map(|&prime| (prime as f64).log2()).sum())
}

/// Digits of a number that drowns noise, and bits of each.
pub(super) const FLOOD_DIGITS: usize = 6;
pub(super) const FLOOD_DIGIT_BITS: u32 = 36;

/// Bits of the last dropped prime that do not matter to the binary places that are kept, and of the quotient.
const FRACTION_SHIFTS: [u32; 2] = [11, 50];

/// The primes, and what is public of them.
pub(super) struct Moduli {
    pub(super) primes: Vec<Prime>,
    /// P modulo each prime of T.
    pub(super) message: [u64; KEPT],
    /// From slots times 2^52 to the digits of coefficients in the residue number system.
    pub(super) to_digits: [Scale; KEPT],
    /// From digits of slots to coefficients.
    pub(super) of_digits: [Scale; KEPT],
    /// From slots to their digits.
    pub(super) digit: [Factor; KEPT],
    /// Of each prime of P what digits, and what a multiple of T, stand for, times 2^104.
    pub(super) lift: [[u64; KEPT + 1]; DROPPED],
    /// Of each prime what the digits of a number that drowns noise stand for, times 2^52.
    pub(super) flood: [[u64; FLOOD_DIGITS]; LIMBS],
    /// The inverse of each prime of P modulo those after it.
    pub(super) inverses: Vec<Vec<Factor>>,
    /// From slots to coefficients.
    pub(super) plain: Vec<Scale>,
    /// 1/t for each prime of T.
    pub(super) reciprocals: [f64; KEPT],
    /// T/t for each prime of T, and T, modulo 2^128.
    pub(super) cofactors: [u128; KEPT],
    pub(super) modulus: u128,
    fraction: u64,
}

/// The one instance.
pub(super) fn moduli() -> &'static Moduli {
    static MODULI: LazyLock<Moduli> = LazyLock::new(Moduli::new);
    &MODULI
}

impl Moduli {
    fn new() -> Self {
        let primes: Vec<Prime> = PRIMES.iter().map(|&p| Prime::new(p)).collect();
        let (dropped, kept) = primes.split_at(DROPPED);
        let (p, t) = PRIMES.split_at(DROPPED);
        let others = |j: usize| -> Vec<u64> { (0..KEPT).filter(|&i| i != j).map(|i| t[i]).collect() };
        let cofactor = |prime: &Prime, j: usize| prime.product(&others(j));
        let per_kept = |f: &dyn Fn(&Prime, usize) -> u64| -> [u64; KEPT] { std::array::from_fn(|j| f(&kept[j], j)) };
        let digit = per_kept(&|prime, j| prime.inverse_of(cofactor(prime, j)));
        let to_digits = per_kept(&|prime, j| prime.product(&[digit[j], prime.inverse_of(prime.shifted(1))]));
        let of_digits = per_kept(&cofactor);
        let lift = |i: usize| {
            let twice = |number: u64| dropped[i].shifted(dropped[i].shifted(number));
            std::array::from_fn(|j| match j {
                KEPT => p[i] - twice(dropped[i].product(t)),
                _ => twice(cofactor(&dropped[i], j)),
            })
        };
        let inverses = |k: usize| -> Vec<Factor> {
            primes[k + 1..].iter().map(|prime| prime.factor(prime.inverse_of(p[k]))).collect()
        };
        let wrapping = |numbers: &[u64]| numbers.iter().fold(1_u128, |x, &y| x.wrapping_mul(u128::from(y)));
        Self {
            message: per_kept(&|prime, _| prime.product(p)),
            to_digits: std::array::from_fn(|j| kept[j].scale(to_digits[j])),
            of_digits: std::array::from_fn(|j| kept[j].scale(of_digits[j])),
            digit: std::array::from_fn(|j| kept[j].factor(digit[j])),
            lift: std::array::from_fn(lift),
            flood: std::array::from_fn(|i| {
                let digit = |k: usize| (0..k).fold(1, |unit, _| primes[i].product(&[unit, 1 << FLOOD_DIGIT_BITS]));
                std::array::from_fn(|k| primes[i].shifted(digit(k)))
            }),
            inverses: (0..DROPPED).map(inverses).collect(),
            plain: primes.iter().map(|prime| prime.scale(1)).collect(),
            reciprocals: std::array::from_fn(|j| 1.0 / t[j] as f64),
            cofactors: std::array::from_fn(|j| wrapping(&others(j))),
            modulus: wrapping(t),
            fraction: ((1_u128 << (super::PLACES[1] + FRACTION_SHIFTS[0] + FRACTION_SHIFTS[1]))
                / u128::from(p[DROPPED - 1])) as u64,
            primes,
        }
    }

    /// The binary places of a residue of the last dropped prime, divided by it: a step function that never falls.
    #[inline(always)]
    pub(super) fn places(&self, residue: u64) -> u64 {
        ((residue >> FRACTION_SHIFTS[0]) * self.fraction) >> FRACTION_SHIFTS[1]
    }

    /// The primes of T.
    pub(super) fn kept(&self) -> &[Prime] {
        &self.primes[DROPPED..]
    }
}
