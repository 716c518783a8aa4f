//! The asker: encrypts its numbers, and decrypts masked products.

use super::lift::lift;
use super::moduli::{DROPPED, KEPT, LIMBS, Moduli, moduli};
use super::planes::{pack, unpack, unpack_residues};
use super::sample::{errors, ternary, uniform};
use super::{ANSWER, PLACES, REQUEST};
use tacit_math::ntt::{DEGREE, PRIME_BITS};
use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Prg, Ring};
use zeroize::Zeroizing;

/// What the fractions' sums are raised by, so that they are not negative: above 2^13 N.
const RAISED: u64 = 1 << 28;

/// Binary places of c_1's fractions when they are taken at their middle.
const FRACTION: u32 = PLACES[1] + 1;

/// A party's secret key, and the generators of what it sends.
pub(super) struct Asker {
    /// The secret's values modulo the primes of T and then the first prime, times 2^52.
    pub(super) secret: Zeroizing<Vec<Vec<u64>>>,
    /// The negative secret's values modulo each prime, times 2^52.
    pub(super) negative: Zeroizing<Vec<Vec<u64>>>,
    /// What both parties draw alike.
    pub(super) public: Prg,
    pub(super) noise: Prg,
}

/// Numbers plus 2^63, zeros behind them.
pub(super) fn raised(numbers: &[i64]) -> Vec<u64> {
    let mut out = vec![1 << 63; DEGREE];
    out.iter_mut().zip(numbers).for_each(|(out, &number)| *out ^= number as u64);
    out
}

impl Asker {
    /// A fresh secret, and what the peer needs to rerandomise: an encryption of zero.
    pub(super) fn new(public: Prg, mut noise: Prg) -> (Self, Vec<u8>) {
        let moduli = moduli();
        let mut s = Zeroizing::new(vec![0; DEGREE]);
        ternary(&mut noise, &mut s);
        let values = |i: usize, sign: u64| {
            let prime = &moduli.primes[i];
            let mut values = vec![0; DEGREE];
            prime.add(&mut values, &s);
            prime.forward(&mut values);
            prime.multiply(&mut values, prime.factor(prime.product(&[prime.shifted(1), sign % prime.number()])));
            values
        };
        let positive = (DROPPED..LIMBS).chain([0]).map(|i| values(i, 1)).collect();
        let negative = (0..LIMBS).map(|i| values(i, moduli.primes[i].number() - 1)).collect();
        let mut asker = Self { secret: Zeroizing::new(positive), negative: Zeroizing::new(negative), public, noise };
        // A request without numbers is -p s + e'.
        let key = asker.ask(&[], Vec::with_capacity(REQUEST));
        (asker, key)
    }

    /// Encrypts numbers as b = P x + e - a s, at most [`DEGREE`], into an empty message.
    pub(super) fn ask(&mut self, x: &[i64], mut message: Vec<u8>) -> Vec<u8> {
        let (moduli, x) = (moduli(), raised(x));
        let mut e = Zeroizing::new(vec![0; DEGREE]);
        errors(&mut self.noise, &mut e);
        let (mut a, mut b) = (vec![0; DEGREE], vec![0; DEGREE]);
        for (i, prime) in moduli.primes.iter().enumerate() {
            uniform(&mut self.public, prime.number(), &mut a);
            b.fill(0);
            // e - a s, and P x, which is zero modulo the primes of P.
            prime.add(&mut b, &e);
            prime.forward(&mut b);
            prime.add_products(&mut b, [[&a, &self.negative[i]]]);
            if i >= DROPPED {
                prime.add_multiples(&mut b, &x, moduli.message[i - DROPPED]);
            }
            pack(&b, PRIME_BITS, &mut message);
        }
        message
    }

    /// Decrypts an answer to shares, which are added to those there, and gives the bits of those in the lower half of
    /// Z_T once T/4 is added to them.
    ///
    /// None if the answer has numbers that are no residues.
    pub(super) fn end<R: Ring>(&self, mut message: &[u8], shares: &mut [R], lower: &mut [u64]) -> Option<()> {
        assert_eq!(message.len(), ANSWER, "a whole answer");
        let moduli = moduli();
        // What the fractions of c_0/P + c_1/P s add up to, rounded.
        let mut carries = self.fractions(moduli, &mut message);
        carries.iter_mut().for_each(|sum| *sum = (*sum >> FRACTION).wrapping_sub(RAISED >> FRACTION));
        // The slots of c_0/P + c_1/P s, which are x y + r modulo T, prime by prime.
        let mut digits: [Vec<u64>; KEPT] = std::array::from_fn(|_| vec![0; DEGREE]);
        let mut c_1 = vec![0; DEGREE];
        for (j, (prime, slots)) in moduli.kept().iter().zip(&mut digits).enumerate() {
            let fits = [&mut *slots, &mut c_1].map(|words| unpack_residues(&mut message, prime.number(), words));
            if fits != [true; 2] {
                return None;
            }
            prime.add(slots, &carries);
            prime.forward(slots);
            prime.forward(&mut c_1);
            prime.add_products(slots, [[&c_1, &self.secret[j]]]);
            prime.multiply(slots, moduli.digit[j]);
        }
        // z between -T/4 and 3T/4, and whether z + T/4 is below T/2.
        let mut z = vec![R::ZERO; shares.len()];
        lift(moduli, &digits, 0.25, &mut z, lower);
        lower.iter_mut().for_each(|word| *word = !*word);
        shares.iter_mut().zip(z).for_each(|(share, z)| *share = share.add(z));
        Some(())
    }

    /// The fractions of c_0 + c_1 s, in units of 2^-13, plus [`RAISED`] and a half. They are taken at the middle of
    /// what was rounded down to them.
    fn fractions(&self, moduli: &Moduli, message: &mut &[u8]) -> Vec<u64> {
        let prime = &moduli.primes[0];
        let (mut c_0, mut c_1, mut sums) = (vec![0; DEGREE], vec![0; DEGREE], vec![0; DEGREE]);
        unpack(message, PLACES[0], &mut c_0);
        unpack(message, PLACES[1], &mut c_1);
        c_1.iter_mut().for_each(|places| *places = 2 * *places + 1);
        prime.forward(&mut c_1);
        prime.add_products(&mut sums, [[&c_1, &self.secret[KEPT]]]);
        prime.backward(&mut sums, &moduli.plain[0]);
        dispatch(Add { sums: &mut sums, places: &c_0, prime: prime.number() });
        sums
    }
}

/// Adds to residues of sums the places of c_0, [`RAISED`] and a half.
struct Add<'a> {
    sums: &'a mut [u64],
    places: &'a [u64],
    prime: u64,
}

impl Kernel for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, &places) in self.sums.iter_mut().zip(self.places) {
            let total = *sum + RAISED + ((2 * places + 1) << (PLACES[1] - PLACES[0])) + (1 << (FRACTION - 1));
            // Negative sums are just below the prime.
            *sum = total.min(total.wrapping_sub(self.prime));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Answerer;
    use super::{ANSWER, Asker, FRACTION, REQUEST, moduli};
    use tacit_math::ntt::DEGREE;
    use tacit_math::{Prg, Seed};

    /// Numbers of the largest size, of one sign or both, equal or not, and random ones.
    fn numbers(prg: &mut Prg) -> [Vec<i64>; 5] {
        let random: Vec<i64> = prg.vector(DEGREE);
        let signs = random.iter().map(|&word| if word < 0 { i64::MIN } else { i64::MAX }).collect();
        [vec![i64::MIN; DEGREE], vec![i64::MAX; DEGREE], signs, vec![0; DEGREE], random]
    }

    /// An asker that takes off all that it knows is left with the answerer's fresh noise, which is as wide as the last
    /// place that is kept.
    #[test]
    fn an_asker_sees_noise_that_drowns_what_it_knows() {
        let generator = |number: u8| Prg::new(&Seed::from_bytes([number; 16]));
        let (mut asker, key) = Asker::new(generator(1), generator(2));
        let mut answerer = Answerer::new(generator(1), &key, generator(3)).expect("residues");
        let request = asker.ask(&vec![0; DEGREE], Vec::with_capacity(REQUEST));
        let mut parts = (vec![0_u128; DEGREE], vec![0; DEGREE / 64]);
        let parts = (&mut parts.0[..], &mut parts.1[..]);
        let answer = answerer.answer(&request, &vec![i64::MIN; DEGREE], parts, Vec::with_capacity(ANSWER));
        let places: Vec<f64> = asker
            .fractions(moduli(), &mut &answer.expect("residues")[..])
            .into_iter()
            .map(|sum| (sum & ((1 << FRACTION) - 1)) as f64 / f64::from(1 << FRACTION))
            .collect();
        let mean = places.iter().sum::<f64>() / DEGREE as f64;
        let variance = places.iter().map(|place| (place - mean).powi(2)).sum::<f64>() / DEGREE as f64;
        // Two uniform numbers below 1/16, the noise and what c_0's rounding takes off, and what c_1's does.
        let expected = 2.0 / 256.0 / 12.0 + 0.0074_f64.powi(2);
        assert!((variance / expected - 1.0).abs() < 0.1, "{variance} where {expected} is expected");
    }

    #[test]
    fn noise_stays_far_from_what_rounding_bears() {
        let generator = |number: u8| Prg::new(&Seed::from_bytes([number; 16]));
        let (mut asker, key) = Asker::new(generator(1), generator(2));
        let mut answerer = Answerer::new(generator(1), &key, generator(3)).expect("residues");
        let mut prg = generator(4);
        for x in numbers(&mut prg) {
            for y in numbers(&mut prg) {
                let request = asker.ask(&x, Vec::with_capacity(REQUEST));
                let (mut shares, [mut upper, mut lower]) =
                    (vec![0_u128; DEGREE], [(); 2].map(|()| vec![0; DEGREE / 64]));
                let answer = answerer.answer(&request, &y, (&mut shares, &mut upper), Vec::with_capacity(ANSWER));
                let answer = answer.expect("residues");
                let middle = 1 << (FRACTION - 1);
                let noise = asker.fractions(moduli(), &mut &answer[..]).into_iter().map(|sum| {
                    let fraction = sum & ((1 << FRACTION) - 1);
                    fraction.abs_diff(middle)
                });
                // 1/32, 1/16 and twelve standard deviations of the rest; rounding bears a half.
                assert!(noise.max().is_some_and(|most| most < (1 << FRACTION) * 3 / 16));
                asker.end(&answer, &mut shares, &mut lower).expect("residues");
                for (i, share) in shares.into_iter().enumerate() {
                    let wraps = (upper[i / 64] & lower[i / 64]) >> (i % 64) & 1;
                    let integer = share.wrapping_add(u128::from(wraps).wrapping_mul(moduli().modulus));
                    assert_eq!(integer as i128, i128::from(x[i]) * i128::from(y[i]));
                }
            }
        }
    }
}
