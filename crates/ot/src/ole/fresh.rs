//! What answers are drawn from: a ternary polynomial, an error and noise, anew for each. The tests hold the answerer's
//! polynomials before the division, which hides errors from every message.

use std::collections::HashSet;

use tacit_math::ntt::DEGREE;
use tacit_math::{Prg, Seed};

use super::answer::Answerer;
use super::ask::Asker;
use super::moduli::moduli;

fn generator(number: u8) -> Prg {
    Prg::new(&Seed::from_bytes([number; 16]))
}

/// Coefficients that are near zero modulo a prime.
fn near_zero(p: u64, coefficients: impl Iterator<Item = u64>) -> usize {
    coefficients.filter(|&each| each.min(p - each) < 1 << 20).count()
}

/// With numbers that are all zero c_1 is p u + e'', and c_0 is (-p s + e') u + f.
#[test]
fn answers_have_a_polynomial_an_error_and_noise_of_their_own() {
    let (mut asker, key) = Asker::new(generator(1), generator(2));
    let mut answerer = Answerer::new(generator(1), &key, generator(3)).expect("residues");
    let zeros = vec![0; DEGREE];
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request = asker.ask(&zeros, Vec::new());
        answers.push(answerer.products(moduli(), &request, &zeros).expect("residues"));
    }
    for (limb, prime) in moduli().primes.iter().enumerate() {
        let p = prime.number();
        for [_, c_1] in &answers {
            // Without u an error is left, which is small. Of a uniform polynomial few coefficients are.
            assert!(near_zero(p, c_1[limb].iter().copied()) < 10, "no u");
            // Without an error c_1 divided by p would be a multiple of u, which has three different coefficients.
            let mut values = c_1[limb].clone();
            prime.forward(&mut values);
            for (value, &zero) in values.iter_mut().zip(&answerer.zero[limb][1]) {
                *value = prime.product(&[*value, prime.inverse_of(zero)]);
            }
            prime.backward(&mut values, &prime.scale(1));
            let different: HashSet<u64> = values.into_iter().collect();
            assert!(different.len() > DEGREE / 2, "no error: {} different coefficients", different.len());
        }
        let [[first_0, first_1], [second_0, second_1]] = [&answers[0], &answers[1]];
        for (first, second) in [(first_0, second_0), (first_1, second_1)] {
            let differences = first[limb].iter().zip(&second[limb]).map(|(a, b)| (a + p - b) % p);
            assert!(near_zero(p, differences) < 10, "two answers have one u");
        }
    }
}
