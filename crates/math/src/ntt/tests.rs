use super::lanes::Portable;
use super::vectors::{Added, Combination, Multiples, Products, Quotients, Scaled};
use super::widest::run;
use super::{Backward, DEGREE, Forward, Prime, multiply};
use crate::{Prg, Seed};
use std::sync::LazyLock;

/// The largest and the smallest kind.
const NUMBERS: [u64; 2] = [0xfff_ffdf_8001, 0x3ff_fffa_8001];

static PRIMES: LazyLock<[Prime; 2]> = LazyLock::new(|| NUMBERS.map(Prime::new));

fn generator() -> Prg {
    Prg::new(&Seed::from_bytes([23; 16]))
}

/// Random residues, and the largest ones.
fn polynomials(prg: &mut Prg, p: u64) -> [Vec<u64>; 3] {
    let random = prg.vector::<u64>(DEGREE).into_iter().map(|word| word % p).collect();
    [random, vec![p - 1; DEGREE], (0..DEGREE as u64).map(|i| (i % 3) / 2 * (p - 1)).collect()]
}

#[test]
fn products_of_values_are_products_of_polynomials() {
    let mut prg = generator();
    for prime in PRIMES.iter() {
        let p = prime.number();
        for polynomial in polynomials(&mut prg, p) {
            let sparse: Vec<(usize, u64)> = prg
                .vector::<[u32; 2]>(20)
                .iter()
                .map(|&[at, by]| (at as usize % DEGREE, p - 1 - u64::from(by)))
                .collect();
            let mut expected = vec![0; DEGREE];
            let mut factor = vec![0; DEGREE];
            for &(at, by) in &sparse {
                factor[at] = (factor[at] + by) % p;
                for (i, &x) in polynomial.iter().enumerate() {
                    let (place, term) = ((at + i) % DEGREE, multiply(x, by, p));
                    let sum = expected[place] + if at + i < DEGREE { term } else { p - term };
                    expected[place] = sum % p;
                }
            }
            let (mut values, mut product) = (polynomial.clone(), vec![0; DEGREE]);
            prime.forward(&mut values);
            prime.forward(&mut factor);
            prime.add_products(&mut product, [[&values, &factor]]);
            prime.backward(&mut product, &prime.scale(prime.shifted(1)));
            assert_eq!(product, expected);
        }
    }
}

#[test]
fn the_transform_and_back_is_the_identity_times_the_scale() {
    let mut prg = generator();
    for prime in PRIMES.iter() {
        for polynomial in polynomials(&mut prg, prime.number()) {
            let mut there = polynomial.clone();
            prime.forward(&mut there);
            assert!(there.iter().all(|&value| value < prime.number()));
            prime.backward(&mut there, &prime.scale(3));
            let scaled: Vec<u64> = polynomial.iter().map(|&x| multiply(x, 3, prime.number())).collect();
            assert_eq!(there, scaled);
        }
    }
}

/// Checks a job in place on every processor: with these residues to begin with, every word as `expected` says.
macro_rules! check {
    ($begin:expr, $expected:expr, |$out:ident| $job:expr) => {{
        let (mut portable, mut widest) = ($begin.clone(), $begin.clone());
        {
            let $out = &mut portable[..];
            super::lanes::Job::run::<Portable>($job);
        }
        {
            let $out = &mut widest[..];
            run($job);
        }
        assert_eq!(portable, widest);
        let expected: Option<Box<dyn Fn(usize) -> u64>> = $expected;
        if let Some(expected) = expected {
            (0..portable.len()).for_each(|i| assert_eq!(portable[i], expected(i), "word {i}"));
        }
    }};
}

#[test]
fn processors_agree_on_transforms() {
    let mut prg = generator();
    for prime in PRIMES.iter() {
        for x in polynomials(&mut prg, prime.number()) {
            check!(x, None, |polynomial| Forward { prime, polynomial });
            let scale = prime.scale(5).0;
            check!(x, None, |polynomial| Backward { prime, polynomial, scale });
        }
    }
}

#[test]
fn vectors_are_integers_modulo_the_prime() {
    let mut prg = generator();
    for (prime, other) in PRIMES.iter().zip(PRIMES.iter().rev()) {
        let p = prime.number();
        let shift = prime.inverse_of(prime.shifted(1));
        let modulo = move |x: i128| x.rem_euclid(i128::from(p)) as u64;
        for (begin, [a, b, c]) in
            polynomials(&mut prg, p).into_iter().zip([(); 3].map(|()| polynomials(&mut generator(), p)))
        {
            let words: [Vec<u64>; 3] = [prg.vector(DEGREE), vec![u64::MAX; DEGREE], vec![0; DEGREE]];
            let (x, y, z) = (begin.clone(), a.clone(), b.clone());
            let expected = move |i: usize| {
                let sum = multiply(multiply(y[i], z[i], p), shift, p) + multiply(multiply(z[i], x[i], p), shift, p);
                (x[i] + sum) % p
            };
            let pairs = [[&a[..], &b[..]], [&b[..], &begin[..]]];
            check!(begin, Some(Box::new(expected)), |out| Products { prime, out, pairs });

            let (y, z) = (a.clone(), c.clone());
            let expected = move |i: usize| {
                let sum = multiply(y[i], p - 1, p) + multiply(z[i], 77, p);
                multiply(sum % p, shift, p)
            };
            let (digits, factors) = ([&a[..], &c[..]], [p - 1, 77]);
            check!(begin, Some(Box::new(expected)), |out| Combination { prime, out, digits, factors });

            for words in &words {
                let (x, w) = (begin.clone(), words.clone());
                let expected =
                    move |i: usize| modulo(i128::from(x[i]) + (i128::from(w[i]) - (1 << 63)) * i128::from(p - 2));
                let offset = p - prime.product(&[p - 2, 1 << 63]);
                let factors = [prime.shifted(p - 2), prime.shifted(prime.shifted(p - 2)), offset];
                check!(begin, Some(Box::new(expected)), |out| Multiples { prime, out, values: words, factors });
            }

            let [remainders, ..] = polynomials(&mut prg, other.number());
            let (x, r) = (begin.clone(), remainders.clone());
            let expected = move |i: usize| modulo((i128::from(x[i]) - i128::from(r[i])) * 9);
            let (remainders, inverse) = (&remainders[..], prime.factor(9));
            check!(begin, Some(Box::new(expected)), |out| Quotients { prime, out, remainders, inverse });

            let x = begin.clone();
            let expected = move |i: usize| multiply(x[i], 12_345, p);
            let by = prime.factor(12_345);
            check!(begin, Some(Box::new(expected)), |out| Scaled { prime, out, by });

            let signed: Vec<i64> =
                words[0].iter().map(|&word| (word >> 1) as i64 % p as i64 * (1 - 2 * (word as i64 & 1))).collect();
            let values: Vec<u64> = signed.iter().map(|&value| value as u64).collect();
            let x = begin.clone();
            let expected = move |i: usize| modulo(i128::from(x[i]) + i128::from(signed[i]));
            check!(begin, Some(Box::new(expected)), |out| Added { prime, out, values: &values });
        }
    }
}
