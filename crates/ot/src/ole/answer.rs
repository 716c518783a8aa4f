//! The answerer: multiplies encrypted numbers by its own, masks the products, and hides what they were made of.

use super::ask::raised;
use super::lift::{lift, multiples};
use super::moduli::{DROPPED, FLOOD_DIGIT_BITS, FLOOD_DIGITS, KEPT, LIMBS, Moduli, moduli};
use super::planes::{pack, unpack_residues};
use super::sample::{digits, errors, ternary, uniform};
use super::{PLACES, REQUEST};
use tacit_math::ntt::{DEGREE, PRIME_BITS};
use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Prg, Ring};
use zeroize::Zeroizing;

/// Coefficients that are divided at a time: all their residues are in the cache.
const PIECE: usize = 512;

/// The peer's encryption of zero, and generators.
pub(super) struct Answerer {
    /// Its polynomials' values modulo each prime, times 2^52.
    pub(super) zero: Vec<[Vec<u64>; 2]>,
    /// What both parties draw alike.
    pub(super) public: Prg,
    pub(super) secret: Prg,
}

/// A polynomial's residues modulo each prime.
type Residues = [Vec<u64>; LIMBS];

impl Answerer {
    /// Takes a peer's encryption of zero; none if it has numbers that are no residues.
    pub(super) fn new(mut public: Prg, mut key: &[u8], secret: Prg) -> Option<Self> {
        assert_eq!(key.len(), REQUEST, "a whole key");
        let limbs = moduli().primes.iter().map(|prime| {
            let mut zero = [vec![0; DEGREE], vec![0; DEGREE]];
            let fits = unpack_residues(&mut key, prime.number(), &mut zero[0]);
            uniform(&mut public, prime.number(), &mut zero[1]);
            zero.iter_mut().for_each(|words| prime.multiply(words, prime.factor(prime.shifted(1))));
            fits.then_some(zero)
        });
        let zero = limbs.collect::<Option<_>>()?;
        Some(Self { zero, public, secret })
    }

    /// Answers a request with its numbers times y, masked, in an empty message; subtracts the masks from shares, and
    /// gives the bits of those in the upper half of Z_T.
    ///
    /// None if the request has numbers that are no residues.
    pub(super) fn answer<R: Ring>(
        &mut self,
        request: &[u8],
        y: &[i64],
        (shares, upper): (&mut [R], &mut [u64]),
        mut message: Vec<u8>,
    ) -> Option<Vec<u8>> {
        let moduli = moduli();
        // c_0 = b y + (-p s + e') u + f, c_1 = a y + p u + e''.
        let [mut c_0, mut c_1] = self.products(moduli, request, y)?;
        // Both divided by P.
        for c in [&mut c_0, &mut c_1] {
            divide(moduli, c);
        }
        // r is added to the first; the shares are the slots of -r.
        let mut r = vec![R::ZERO; shares.len()];
        self.mask(moduli, &mut c_0, &mut r, upper);
        shares.iter_mut().zip(r).for_each(|(share, r)| *share = share.sub(r));
        // The binary places that are kept, then the residues modulo T.
        let shifts = PLACES.map(|places| PLACES[1] - places);
        for (c, (places, shift)) in [&mut c_0, &mut c_1].into_iter().zip(PLACES.into_iter().zip(shifts)) {
            dispatch(Places { moduli, words: &mut c[DROPPED - 1], shift });
            pack(&c[DROPPED - 1], places, &mut message);
        }
        for (c_0, c_1) in c_0[DROPPED..].iter().zip(&c_1[DROPPED..]) {
            pack(c_0, PRIME_BITS, &mut message);
            pack(c_1, PRIME_BITS, &mut message);
        }
        Some(message)
    }

    /// The coefficients of the request times y plus zero times a small polynomial, and fresh noise. The noise is what
    /// drowns all that they were made of in the first, an error in the second.
    pub(super) fn products(&mut self, moduli: &Moduli, mut request: &[u8], y: &[i64]) -> Option<[Residues; 2]> {
        assert_eq!(request.len(), REQUEST, "a whole request");
        let factors = Factors::new(moduli, y);
        // u, f as digits, and e''.
        let mut ternary_u = Zeroizing::new(vec![0; DEGREE]);
        ternary(&mut self.secret, &mut ternary_u);
        let mut f: [Zeroizing<Vec<u64>>; FLOOD_DIGITS] = std::array::from_fn(|_| Zeroizing::new(vec![0; DEGREE]));
        f.iter_mut().for_each(|words| digits(&mut self.secret, FLOOD_DIGIT_BITS, words));
        let mut error = Zeroizing::new(vec![0; DEGREE]);
        errors(&mut self.secret, &mut error);
        let mut out = [(); 2].map(|()| std::array::from_fn(|_| Vec::new()));
        let [mut a, mut b, mut lifted, mut u] = [(); 4].map(|()| vec![0; DEGREE]);
        for (i, (prime, zero)) in moduli.primes.iter().zip(&self.zero).enumerate() {
            if !unpack_residues(&mut request, prime.number(), &mut b) {
                return None;
            }
            uniform(&mut self.public, prime.number(), &mut a);
            u.fill(0);
            prime.add(&mut u, &ternary_u);
            prime.forward(&mut u);
            let y: &[u64] = if i < DROPPED {
                let [d_0, d_1, d_2] = &factors.digits;
                prime.combine(&mut lifted, [d_0, d_1, d_2, &factors.multiples], moduli.lift[i]);
                prime.forward(&mut lifted);
                &lifted
            } else {
                &factors.slots[i - DROPPED]
            };
            // b y + (-p s + e') u, and a y + p u.
            for (out, (c, zero)) in out.iter_mut().zip([&b, &a].into_iter().zip(zero)) {
                let mut product = vec![0; DEGREE];
                prime.add_products(&mut product, [[c, y], [zero, &u]]);
                prime.backward(&mut product, &moduli.plain[i]);
                out[i] = product;
            }
            prime.combine(&mut u, f.each_ref().map(|words| &words[..]), moduli.flood[i]);
            // f and e''.
            for (out, noise) in out.iter_mut().zip([&u, &*error]) {
                prime.add(&mut out[i], noise);
            }
        }
        Some(out)
    }

    /// Adds a uniform polynomial to the residues modulo T, and gives its first slots and which of them are in the upper
    /// half.
    fn mask<R: Ring>(&mut self, moduli: &Moduli, c: &mut Residues, masks: &mut [R], upper: &mut [u64]) {
        let mut digits: [Vec<u64>; KEPT] = std::array::from_fn(|_| vec![0; DEGREE]);
        for (prime, digits) in moduli.kept().iter().zip(&mut digits) {
            uniform(&mut self.secret, prime.number(), digits);
        }
        lift(moduli, &digits, 0.0, masks, upper);
        for (j, (prime, digits)) in moduli.kept().iter().zip(&mut digits).enumerate() {
            prime.backward(digits, &moduli.of_digits[j]);
            prime.add(&mut c[DROPPED + j], digits);
        }
    }
}

/// The answerer's numbers as a polynomial, in the forms that products need.
struct Factors {
    /// Its slots modulo each prime of T, times 2^52.
    slots: [Vec<u64>; KEPT],
    /// Its coefficients' digits, and how often T goes into them.
    digits: [Vec<u64>; KEPT],
    multiples: Vec<u64>,
}

impl Factors {
    fn new(moduli: &Moduli, y: &[i64]) -> Self {
        let y = raised(y);
        let slots: [Vec<u64>; KEPT] = std::array::from_fn(|j| {
            let (prime, mut slots) = (&moduli.kept()[j], vec![0; DEGREE]);
            prime.add_multiples(&mut slots, &y, prime.shifted(1));
            slots
        });
        let mut digits = slots.clone();
        for (j, (prime, digits)) in moduli.kept().iter().zip(&mut digits).enumerate() {
            prime.backward(digits, &moduli.to_digits[j]);
        }
        let mut times = vec![0; DEGREE];
        multiples(moduli, &digits, &mut times);
        Self { slots, digits, multiples: times }
    }
}

/// Divides by P, rounding down: modulo T, and what is left of it modulo the last prime of P.
fn divide(moduli: &Moduli, c: &mut Residues) {
    for at in (0..DEGREE).step_by(PIECE) {
        for (k, inverses) in moduli.inverses.iter().enumerate() {
            let (done, rest) = c.split_at_mut(k + 1);
            let remainders = &done[k][at..at + PIECE];
            for ((prime, c), &inverse) in moduli.primes[k + 1..].iter().zip(rest).zip(inverses) {
                prime.subtract_and_scale(&mut c[at..at + PIECE], remainders, inverse);
            }
        }
    }
}

/// The binary places of remainders, without the last ones.
struct Places<'a> {
    moduli: &'a Moduli,
    words: &'a mut [u64],
    shift: u32,
}

impl Kernel for Places<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.words.iter_mut().for_each(|word| *word = self.moduli.places(*word) >> self.shift);
    }
}
