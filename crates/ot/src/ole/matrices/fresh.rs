//! What requests and answers are drawn from: as wide as it has to be, and drawn anew each time. The tests hold what the
//! other party lacks: the asker's secret, or the answerer's matrix.

use std::collections::HashSet;

use tacit_math::Ring;
use tacit_math::ntt::{DEGREE, Prime};

use super::super::answer::Answerer;
use super::super::ask::Asker;
use super::super::moduli::moduli;
use super::super::planes::unpack_residues;
use super::super::sample::ERROR_BITS;
use super::answer::{Request, factor};
use super::base::{Base, Halves, base, padded};
use super::tests::{generator, noise, parties, polynomial};

/// What errors have; a mean of [`DEGREE`] numbers is off by 1/128 of a standard deviation.
const VARIANCE: f64 = ERROR_BITS as f64 / 2.0;

/// Residues as numbers around zero.
pub(super) fn centred(prime: &Prime, residues: &[u64]) -> Vec<i64> {
    let p = prime.number();
    residues.iter().map(|&residue| if residue > p / 2 { residue as i64 - p as i64 } else { residue as i64 }).collect()
}

/// The difference of residues.
pub(super) fn difference(prime: &Prime, left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut out = left.to_vec();
    prime.add(&mut out, &right.iter().map(|residue| residue.wrapping_neg()).collect::<Vec<_>>());
    out
}

fn is_uniform_in(classes: impl Iterator<Item = usize>) -> bool {
    let mut counts = [0_u32; 64];
    classes.for_each(|class| counts[class] += 1);
    let expected = DEGREE as f64 / 64.0;
    let squares: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    // 63 in the mean, with a standard deviation of 11.
    (20.0..150.0).contains(&squares)
}

/// Whether residues of a polynomial are uniform: their highest and their lowest bits are.
pub(super) fn are_uniform(prime: &Prime, residues: &[u64]) -> bool {
    assert_eq!(residues.len(), DEGREE);
    let highest = residues.iter().map(|&residue| (residue * 64 / prime.number()) as usize);
    is_uniform_in(highest) && is_uniform_in(residues.iter().map(|&residue| residue as usize % 64))
}

/// Means, variances and the correlation of two lists of numbers.
pub(super) fn moments(lists: [&[i64]; 2]) -> ([f64; 2], [f64; 2], f64) {
    let of = |f: &dyn Fn(usize) -> f64| (0..DEGREE).map(f).sum::<f64>() / DEGREE as f64;
    let means = lists.map(|list| of(&|i| list[i] as f64));
    let from_mean = |which: usize, i: usize| lists[which][i] as f64 - means[which];
    let variances = [0, 1].map(|which| of(&|i| from_mean(which, i).powi(2)));
    let covariance = of(&|i| from_mean(0, i) * from_mean(1, i));
    (means, variances, covariance / (variances[0] * variances[1]).sqrt())
}

/// Two polynomials of errors have their variance, and nothing to do with each other.
pub(super) fn are_errors(lists: [&[i64]; 2]) {
    let (means, variances, correlation) = moments(lists);
    assert!(lists.iter().all(|list| list.iter().all(|error| error.unsigned_abs() <= u64::from(ERROR_BITS))));
    assert!(means.iter().all(|mean| mean.abs() < 0.2), "{means:?}");
    assert!(variances.iter().all(|variance| (variance / VARIANCE - 1.0).abs() < 0.1), "{variances:?}");
    assert!(correlation.abs() < 0.05, "{correlation}");
}

/// Coefficients of values modulo a prime of q.
pub(super) fn coefficients(base: &Base, limb: usize, values: &[u64]) -> Vec<u64> {
    let mut out = values.to_vec();
    base.prime(limb).backward(&mut out, base.plain_scale(limb));
    out
}

/// What is left of a request once its asker takes off its secret and its numbers; the same modulo every prime.
fn error_of<R: Ring>(base: &Base, asker: &Asker, request: &Request, x: &[R]) -> Vec<i64> {
    let mut remainders = base.zeros(DEGREE);
    for (place, &number) in x.iter().enumerate() {
        remainders.iter_mut().zip(base.remainder(number)).for_each(|(words, half)| words[place] = half);
    }
    let of_limb = |limb: usize| {
        let (prime, [b, a]) = (base.prime(limb), &request[limb]);
        let mut negative = vec![0; DEGREE];
        prime.add_products(&mut negative, [[a, &asker.negative[base.limbs[limb]]]]);
        let mut known = coefficients(base, limb, &negative);
        base.add_rounded(limb, &mut known, &remainders);
        centred(prime, &difference(prime, &coefficients(base, limb, b), &known))
    };
    let error = of_limb(0);
    assert!((1..base.limbs.len()).all(|limb| of_limb(limb) == error), "one error modulo all primes");
    error
}

/// What is left of a setup's encryption of zero once its asker takes off its secret; the same modulo every prime.
fn error_of_key(asker: &Asker, answerer: &Answerer) -> Vec<i64> {
    let of_prime = |(place, prime): (usize, &Prime)| {
        let mut zero = answerer.zero[place].clone();
        zero.iter_mut().for_each(|values| prime.multiply(values, prime.factor(prime.inverse_of(prime.shifted(1)))));
        let [mut values, p] = zero;
        let mut negative = vec![0; DEGREE];
        prime.add_products(&mut negative, [[&p, &asker.negative[place]]]);
        values = difference(prime, &values, &negative);
        prime.backward(&mut values, &moduli().plain[place]);
        centred(prime, &values)
    };
    let mut errors = moduli().primes.iter().enumerate().map(of_prime);
    let error = errors.next().expect("a prime");
    assert!(errors.all(|other| other == error), "one error modulo all primes");
    error
}

/// Of two keys with one public seed. Without an error, a key would tell its secret.
#[test]
fn keys_have_an_error_of_their_own() {
    let errors = [2, 8].map(|number| {
        let (asker, key) = Asker::new(generator(1), generator(number));
        let answerer = Answerer::new(generator(1), &key, generator(3)).expect("residues");
        error_of_key(&asker, &answerer)
    });
    are_errors(errors.each_ref().map(Vec::as_slice));
}

fn requests_are_fresh<R: Ring>() {
    let base = base(R::BITS);
    let (mut asker, mut answerer) = parties();
    let random: Vec<u128> = generator(5).vector(DEGREE);
    let x: Vec<R> = random.into_iter().map(R::from_u128).collect();
    let requests = [(); 2].map(|()| {
        let message = asker.ask_block(base, polynomial(&x), Vec::new());
        answerer.read(base, &message).expect("residues")
    });
    let errors = requests.each_ref().map(|request| error_of(base, &asker, request, &x));
    are_errors(errors.each_ref().map(Vec::as_slice));
    for limb in 0..base.limbs.len() {
        let prime = base.prime(limb);
        let [first, second] = requests.each_ref().map(|request| request[limb].each_ref());
        // b in its coefficients, where an error that is bare is small, and a as it is drawn.
        let b = [first[0], second[0]].map(|b| coefficients(base, limb, b));
        for [left, right] in [[&b[0], &b[1]], [first[1], second[1]]] {
            assert!(are_uniform(prime, left), "prime {limb}");
            assert!(are_uniform(prime, &difference(prime, left, right)), "prime {limb}");
        }
    }
}

/// Of two requests for one matrix.
#[test]
fn requests_have_a_secret_and_an_error_of_their_own() {
    requests_are_fresh::<u64>();
    requests_are_fresh::<u128>();
}

/// c_1 of an answer, modulo the primes of Q.
fn second_of(base: &Base, mut message: &[u8], results: usize) -> Vec<Vec<u64>> {
    let of_prime = |prime: &Prime| {
        let [mut c_0, mut c_1] = [vec![0; padded(results)], vec![0; DEGREE]];
        let fits = [&mut c_0, &mut c_1].map(|words| unpack_residues(&mut message, prime.number(), words));
        assert_eq!(fits, [true; 2], "residues");
        c_1
    };
    base.kept_primes().map(of_prime).collect()
}

/// The sum of a y for one request, modulo a prime of q.
pub(super) fn product(base: &Base, limb: usize, request: &Request, y: &Halves) -> Vec<u64> {
    let (prime, mut values, mut product) = (base.prime(limb), vec![0; DEGREE], vec![0; DEGREE]);
    base.add_plain(limb, &mut values[..y[0].len()], y);
    prime.forward(&mut values);
    prime.add_products(&mut product, [[&request[limb][1], &values]]);
    coefficients(base, limb, &product)
}

fn answers_are_fresh<R: Ring>() {
    let base = base(R::BITS);
    let (mut asker, mut answerer) = parties();
    let [x, y]: [Vec<R>; 2] = [6, 7].map(|number| {
        let random: Vec<u128> = generator(number).vector(DEGREE);
        random.into_iter().map(R::from_u128).collect()
    });
    let message = asker.ask_block(base, polynomial(&x), Vec::new());
    let request = answerer.read(base, &message).expect("residues");
    let factors = [factor(base, DEGREE, polynomial(&y))];
    // The asker knows a. If it guesses y, it knows what c_1 is without u.
    let mut guess: Vec<Vec<u64>> =
        (0..base.limbs.len()).map(|limb| product(base, limb, &request, &factors[0])).collect();
    base.divide(&mut guess);
    let places = [(); 2].map(|()| (0..DEGREE).collect::<Vec<_>>());
    let requests = [(); 2].map(|()| vec![request.clone()]);
    // Two rows of one call and two of another: four answers to one request with one y.
    let answers: Vec<(Vec<u8>, Vec<R>)> =
        (0..2).flat_map(|_| answerer.answer_blocks::<R>(base, &requests, &factors, &places)).collect();
    let seconds: Vec<_> = answers.iter().map(|(message, _)| second_of(base, message, DEGREE)).collect();
    let noises: Vec<Vec<i64>> = answers
        .iter()
        .map(|(message, _)| noise::<R>(&asker, message, &places[0]).iter().map(|f| (f * 1e12) as i64).collect())
        .collect();
    for (number, second) in seconds.iter().enumerate() {
        for (which, prime) in base.kept_primes().enumerate() {
            let left = difference(prime, &second[which], &guess[which]);
            let near = centred(prime, &left).iter().filter(|coefficient| coefficient.abs() < 1 << 20).count();
            assert!(near < 10 && are_uniform(prime, &left), "answer {number} tells y");
        }
        for (before, earlier) in seconds[..number].iter().enumerate() {
            for (which, prime) in base.kept_primes().enumerate() {
                let left = difference(prime, &second[which], &earlier[which]);
                assert!(are_uniform(prime, &left), "u of answers {before} and {number}");
            }
            let (.., correlation) = moments([&noises[before], &noises[number]]);
            assert!(correlation.abs() < 0.05, "f of answers {before} and {number}: {correlation}");
        }
    }
    let masks: HashSet<u128> = answers.iter().flat_map(|(_, masks)| masks).map(|mask| mask.to_u128()).collect();
    assert_eq!(masks.len(), 4 * DEGREE, "a mask of each result of each answer");
}

/// Of four answers to one request with one matrix: u, f and r of each.
#[test]
fn answers_hide_what_they_are_made_of_and_have_randomness_of_their_own() {
    answers_are_fresh::<u64>();
    answers_are_fresh::<u128>();
}
