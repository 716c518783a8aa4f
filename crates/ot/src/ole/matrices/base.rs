//! The ciphertext modulus of each ring, and public numbers made of it.

use std::sync::LazyLock;

use tacit_math::Ring;
use tacit_math::ntt::{DEGREE, Factor, PRIME_BITS, Prime, Scale};
use zeroize::Zeroizing;

use super::super::moduli::{LIMBS, moduli};
use super::super::planes::{bytes, bytes_of};

/// Digits of the noise that drowns what an answer was made of.
pub(super) const FLOOD_DIGITS: usize = 6;

/// The primes by whose product answers are divided, as places among all primes.
const DROPPED: [usize; 4] = [1, 2, 3, 4];

/// Those that stay, in the order of the asker's secret: the first two for 64 bits, all for 128.
const KEPT: [usize; 4] = [5, 6, 7, 0];

/// Numbers as halves: all low ones, then all high ones if the ring has 128 bits.
pub(super) type Halves = Vec<Zeroizing<Vec<u64>>>;

/// What products of a ring are encrypted with.
pub(super) struct Base {
    /// Bits of the ring, k.
    pub(super) bits: u32,
    /// The primes of q as places among all primes: those of P, then those of Q.
    pub(super) limbs: Vec<usize>,
    /// Bits of each digit of the noise.
    pub(super) flood_bits: u32,
    /// Of each prime what the digits stand for, times 2^52.
    flood: Vec<[u64; FLOOD_DIGITS]>,
    /// q modulo 2^128.
    modulus: u128,
    /// Of each prime what the low and the high half of a number stand for, as a factor, times 2^52.
    plain: Vec<[u64; 2]>,
    /// The same for the remainder of q x modulo 2^k, when q x / 2^k is rounded.
    rounded: Vec<[u64; 2]>,
    /// The inverse of each prime of P modulo those after it.
    inverses: Vec<Vec<Factor>>,
    /// From residues to digits, for each prime of Q.
    digit: Vec<Factor>,
    /// floor(2^192 / p) for each of them, its 64 bits that are worth least first.
    reciprocals: Vec<[u64; 3]>,
}

/// That of a ring.
pub(super) fn base(bits: u32) -> &'static Base {
    static BASES: LazyLock<[Base; 2]> = LazyLock::new(|| [Base::new(64, 2, 32), Base::new(128, 4, 37)]);
    match bits {
        64 => &BASES[0],
        128 => &BASES[1],
        _ => panic!("matrices over rings of 64 or 128 bits"),
    }
}

/// What halves are raised by.
const RAISED: u64 = 1 << 63;

/// A number as two halves, each raised by 2^63: signed ones of 64 bits, the second one times 2^64. They make up the
/// number modulo 2^128, and are at most 2^127 + 2^63 away from zero.
pub(super) fn halves<R: Ring>(x: R) -> [u64; 2] {
    let x = x.to_u128();
    let low = x as i64;
    [low as u64 ^ RAISED, (x.wrapping_sub(low as u128) >> 64) as u64 ^ RAISED]
}

impl Base {
    fn new(bits: u32, kept: usize, flood_bits: u32) -> Self {
        let primes = &moduli().primes;
        let limbs: Vec<usize> = DROPPED.iter().chain(&KEPT[..kept]).copied().collect();
        let numbers: Vec<u64> = limbs.iter().map(|&limb| primes[limb].number()).collect();
        let of_each = |f: &dyn Fn(&Prime) -> [u64; 2]| limbs.iter().map(|&limb| f(&primes[limb])).collect();
        let two_to = |prime: &Prime, power: u32| (0..power).fold(1, |number, _| prime.product(&[number, 2]));
        let flood = |&limb: &usize| {
            let prime = &primes[limb];
            std::array::from_fn(|digit| prime.shifted(two_to(prime, digit as u32 * flood_bits)))
        };
        let inverses = |k: usize| {
            let later = limbs[k + 1..].iter().map(|&limb| &primes[limb]);
            later.map(|prime| prime.factor(prime.inverse_of(numbers[k]))).collect()
        };
        let digit = |j: usize| {
            let (prime, kept) = (&primes[limbs[j]], &numbers[DROPPED.len()..]);
            let others: Vec<u64> = kept.iter().copied().filter(|&number| number != prime.number()).collect();
            prime.factor(prime.inverse_of(prime.product(&others)))
        };
        Self {
            bits,
            flood_bits,
            flood: limbs.iter().map(flood).collect(),
            modulus: numbers.iter().fold(1, |product, &p| product.wrapping_mul(u128::from(p))),
            plain: of_each(&|prime| [prime.shifted(1), prime.shifted(two_to(prime, 64))]),
            rounded: of_each(&|prime| {
                let negative = |power| prime.number() - prime.inverse_of(two_to(prime, power));
                // The halves are worth 1/2^k and 2^64/2^k.
                [negative(bits), if bits == 64 { prime.number() - 1 } else { negative(bits - 64) }]
            }),
            inverses: (0..DROPPED.len()).map(inverses).collect(),
            digit: (DROPPED.len()..limbs.len()).map(digit).collect(),
            reciprocals: numbers[DROPPED.len()..].iter().map(|&p| reciprocal(p)).collect(),
            limbs,
        }
    }

    /// Zeros as halves.
    pub(super) fn zeros(&self, length: usize) -> Halves {
        (0..self.bits / 64).map(|_| Zeroizing::new(vec![RAISED; length])).collect()
    }

    /// Primes of Q.
    pub(super) fn kept(&self) -> usize {
        self.limbs.len() - DROPPED.len()
    }

    /// The primes of Q.
    pub(super) fn kept_primes(&self) -> impl Iterator<Item = &'static Prime> {
        self.limbs[DROPPED.len()..].iter().map(|&limb| &moduli().primes[limb])
    }

    /// Bytes of a request.
    pub(super) fn request(&self) -> usize {
        self.limbs.len() * bytes(PRIME_BITS)
    }

    /// Bytes of an answer with a number of coefficients of the first polynomial.
    pub(super) fn answer(&self, results: usize) -> usize {
        self.kept() * bytes_of(padded(results) + DEGREE, PRIME_BITS)
    }

    /// The remainder of q x modulo 2^k, as halves: q x / 2^k less what it is divided by 2^k is q x / 2^k, rounded.
    pub(super) fn remainder<R: Ring>(&self, x: R) -> [u64; 2] {
        halves(R::from_u128(self.modulus).mul(x))
    }

    /// Adds numbers, given as halves, times 2^52.
    pub(super) fn add_plain(&self, limb: usize, out: &mut [u64], halves: &Halves) {
        self.add_halves(limb, out, halves, self.plain[limb]);
    }

    /// Adds q x / 2^k, rounded, given as halves of the remainder.
    pub(super) fn add_rounded(&self, limb: usize, out: &mut [u64], halves: &Halves) {
        self.add_halves(limb, out, halves, self.rounded[limb]);
    }

    fn add_halves(&self, limb: usize, out: &mut [u64], halves: &Halves, factors: [u64; 2]) {
        for (half, factor) in halves.iter().zip(factors) {
            self.prime(limb).add_multiples(out, half, factor);
        }
    }

    /// A prime of q, by its place among those of q.
    pub(super) fn prime(&self, limb: usize) -> &'static Prime {
        &moduli().primes[self.limbs[limb]]
    }

    /// From values to coefficients modulo a prime of q.
    pub(super) fn plain_scale(&self, limb: usize) -> &'static Scale {
        &moduli().plain[self.limbs[limb]]
    }

    /// Sets words to the noise that these digits are.
    pub(super) fn flood(&self, limb: usize, out: &mut [u64], digits: [&[u64]; FLOOD_DIGITS]) {
        self.prime(limb).combine(out, digits, self.flood[limb]);
    }

    /// Divides residues modulo all primes of q by P, rounding down: those modulo the primes of Q are left.
    pub(super) fn divide(&self, c: &mut Vec<Vec<u64>>) {
        for (k, inverses) in self.inverses.iter().enumerate() {
            let (done, rest) = c.split_at_mut(k + 1);
            for ((i, c), &inverse) in rest.iter_mut().enumerate().zip(inverses) {
                self.prime(k + 1 + i).subtract_and_scale(c, &done[k], inverse);
            }
        }
        c.drain(..DROPPED.len());
    }

    /// 2^k z / Q, rounded, for each z with these residues, which are turned into digits.
    pub(super) fn decoded<R: Ring>(&self, residues: &mut [Vec<u64>]) -> Vec<R> {
        let rounded = |(whole, fraction): (u128, u64)| match self.bits {
            64 => R::from_u128(whole.wrapping_add(1 << 63) >> 64),
            _ => R::from_u128(whole.wrapping_add(u128::from(fraction >> 63))),
        };
        self.scaled(residues).map(rounded).collect()
    }

    /// 2^128 z / Q modulo 2^128, and its fraction in units of 2^-64.
    pub(super) fn scaled(&self, residues: &mut [Vec<u64>]) -> impl Iterator<Item = (u128, u64)> {
        for ((prime, residues), &digit) in self.kept_primes().zip(residues.iter_mut()).zip(&self.digit) {
            prime.multiply(residues, digit);
        }
        let residues = &*residues;
        (0..residues[0].len()).map(move |i| {
            let (mut whole, mut fraction) = (0_u128, 0_u128);
            for (digits, reciprocal) in residues.iter().zip(&self.reciprocals) {
                let [low, middle, high] = reciprocal.map(|limb| u128::from(digits[i]).wrapping_mul(u128::from(limb)));
                fraction += low;
                whole = whole.wrapping_add(middle).wrapping_add(high << 64);
            }
            (whole.wrapping_add(fraction >> 64), fraction as u64)
        })
    }
}

/// Words of a number of coefficients: whole vectors.
pub(super) const fn padded(results: usize) -> usize {
    results.next_multiple_of(8)
}

fn reciprocal(p: u64) -> [u64; 3] {
    let (mut remainder, mut out) = (1_u128, [0; 3]);
    for limb in out.iter_mut().rev() {
        let part = remainder << 64;
        *limb = (part / u128::from(p)) as u64;
        remainder = part % u128::from(p);
    }
    out
}

/// Binary logarithms of q, of Q and of what f is below.
pub(super) fn logarithms(bits: u32) -> [f64; 3] {
    let base = base(bits);
    let of = |limbs: &[usize]| limbs.iter().map(|&limb| (moduli().primes[limb].number() as f64).log2()).sum();
    [of(&base.limbs), of(&base.limbs[DROPPED.len()..]), f64::from(FLOOD_DIGITS as u32 * base.flood_bits)]
}

const _: () = assert!(KEPT.len() + DROPPED.len() == LIMBS);
