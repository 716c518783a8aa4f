//! The asker: encrypts blocks of its matrix, and decrypts masked blocks of the product.

use tacit_math::Ring;
use tacit_math::ntt::{DEGREE, PRIME_BITS};
use zeroize::Zeroizing;

use super::super::ask::Asker;
use super::super::planes::{pack, unpack_residues};
use super::super::sample::{errors, uniform};
use super::base::{Base, padded};

impl Asker {
    /// Encrypts a polynomial of which these are the coefficients, at their places and zero elsewhere, as b = round(q x
    /// / 2^k) + e - a s.
    pub(super) fn ask_block<R: Ring>(
        &mut self,
        base: &Base,
        block: impl Iterator<Item = (usize, R)>,
        mut message: Vec<u8>,
    ) -> Vec<u8> {
        let mut x = base.zeros(DEGREE);
        for (place, number) in block {
            x.iter_mut().zip(base.remainder(number)).for_each(|(x, half)| x[place] = half);
        }
        let mut e = Zeroizing::new(vec![0; DEGREE]);
        errors(&mut self.noise, &mut e);
        let (mut a, mut b) = (vec![0; DEGREE], vec![0; DEGREE]);
        for (limb, &place) in base.limbs.iter().enumerate() {
            let prime = base.prime(limb);
            uniform(&mut self.public, prime.number(), &mut a);
            b.fill(0);
            prime.add(&mut b, &e);
            base.add_rounded(limb, &mut b, &x);
            prime.forward(&mut b);
            prime.add_products(&mut b, [[&a, &self.negative[place]]]);
            pack(&b, PRIME_BITS, &mut message);
        }
        message
    }

    /// Decrypts the coefficients at some places. None if an answer has numbers that are no residues.
    pub(super) fn end_block<R: Ring>(&self, base: &Base, message: &[u8], places: &[usize]) -> Option<Vec<R>> {
        let mut shares = base.decoded::<R>(&mut self.decrypt(base, message, places)?);
        shares.truncate(places.len());
        Some(shares)
    }

    /// The residues of c_0 + c_1 s at some places, and some others behind them.
    pub(super) fn decrypt(&self, base: &Base, mut message: &[u8], places: &[usize]) -> Option<Vec<Vec<u64>>> {
        assert_eq!(message.len(), base.answer(places.len()), "a whole answer");
        let mut c_1 = vec![0; DEGREE];
        let residues = base.kept_primes().enumerate().map(|(j, prime)| {
            let mut c_0 = vec![0; padded(places.len())];
            let fits = [&mut c_0, &mut c_1].map(|words| unpack_residues(&mut message, prime.number(), words));
            prime.forward(&mut c_1);
            let mut product = vec![0; DEGREE];
            prime.add_products(&mut product, [[&c_1, &self.secret[j]]]);
            prime.backward(&mut product, base.plain_scale(base.limbs.len() - base.kept() + j));
            let mut of_results: Vec<u64> = places.iter().map(|&place| product[place]).collect();
            of_results.resize(c_0.len(), 0);
            prime.add(&mut c_0, &of_results);
            (fits == [true; 2]).then_some(c_0)
        });
        residues.collect()
    }
}
