//! Decryption at the ends of its bounds, and what an asker is left with.

use tacit_math::ntt::DEGREE;
use tacit_math::{Prg, Ring, Seed};

use super::super::answer::Answerer;
use super::super::ask::Asker;
use super::Sizes;
use super::answer::factor;
use super::base::{base, halves, logarithms};
use super::blocks::Plan;

fn generator(number: u8) -> Prg {
    Prg::new(&Seed::from_bytes([number; 16]))
}

fn parties() -> (Asker, Answerer) {
    let (asker, key) = Asker::new(generator(1), generator(2));
    (asker, Answerer::new(generator(1), &key, generator(3)).expect("residues"))
}

/// Numbers of the largest size, of one sign or both, and random ones.
fn numbers<R: Ring>(prg: &mut Prg) -> [Vec<R>; 5] {
    let random: Vec<u128> = prg.vector(DEGREE);
    let (top, ones) = (R::ONE.shl(R::BITS - 1), R::ZERO.sub(R::ONE));
    let signs = random.iter().map(|word| if word & 1 == 1 { top } else { top.sub(R::ONE) }).collect();
    let random = random.into_iter().map(R::from_u128).collect();
    [vec![top; DEGREE], vec![top.sub(R::ONE); DEGREE], signs, vec![ones; DEGREE], random]
}

/// The coefficients of a polynomial, with their places.
fn polynomial<R: Ring>(x: &[R]) -> impl Iterator<Item = (usize, R)> {
    x.iter().copied().enumerate()
}

/// Sums of two products of whole polynomials, at some places.
fn sums_are_exact<R: Ring>() {
    let (base, mut prg) = (base(R::BITS), generator(4));
    let (mut asker, mut answerer) = parties();
    let places = [0, 1, 77, DEGREE / 2, DEGREE - 1];
    for x in numbers::<R>(&mut prg) {
        for y in numbers::<R>(&mut prg) {
            let requests: Vec<_> = (0..2)
                .map(|_| {
                    let message = asker.ask_block(base, polynomial(&x), Vec::new());
                    answerer.read(base, &message).expect("residues")
                })
                .collect();
            let factors = [factor(base, DEGREE, polynomial(&y)), factor(base, DEGREE, polynomial(&y))];
            let (message, masks) =
                answerer.answer_blocks::<R>(base, &[requests], &factors, &[places.to_vec()]).remove(0);
            let shares = asker.end_block::<R>(base, &message, &places).expect("residues");
            for ((&place, share), mask) in places.iter().zip(shares).zip(masks) {
                let term = |i: usize| {
                    let product = x[i].mul(y[(place + DEGREE - i) % DEGREE]);
                    if i > place { product.neg() } else { product }
                };
                let sum = (0..DEGREE).map(term).fold(R::ZERO, R::add);
                assert_eq!(share.sub(mask), sum.add(sum), "place {place}");
            }
        }
    }
}

#[test]
fn sums_of_64_bits_are_exact() {
    sums_are_exact::<u64>();
}

#[test]
fn sums_of_128_bits_are_exact() {
    sums_are_exact::<u128>();
}

/// An asker that takes off all that it knows is left with the answerer's fresh noise, uniform below 2^F.
fn noise_drowns<R: Ring>() {
    let base = base(R::BITS);
    let (mut asker, mut answerer) = parties();
    let most = R::ONE.shl(R::BITS - 1);
    let message = asker.ask_block(base, (0..DEGREE).map(|place| (place, most)), Vec::new());
    let requests = vec![answerer.read(base, &message).expect("residues")];
    let places: Vec<usize> = (0..DEGREE).collect();
    let factors = [factor(base, DEGREE, (0..DEGREE).map(|place| (place, most.sub(R::ONE))))];
    let (message, _) =
        answerer.answer_blocks::<R>(base, &[requests], &factors, std::slice::from_ref(&places)).remove(0);
    let mut residues = asker.decrypt(base, &message, &places).expect("residues");
    // What rounding takes off, as a part of 1.
    let noise: Vec<f64> = base
        .scaled(&mut residues)
        .map(|(whole, fraction)| (if R::BITS == 64 { whole as i64 } else { fraction as i64 }) as f64 / 2_f64.powi(64))
        .collect();
    let [log2_modulus, _, log2_flood] = logarithms(R::BITS);
    let below = (log2_flood - log2_modulus + f64::from(R::BITS)).exp2();
    let mean = noise.iter().sum::<f64>() / DEGREE as f64;
    let variance = noise.iter().map(|noise| (noise - mean).powi(2)).sum::<f64>() / DEGREE as f64;
    assert!(below <= 0.2501 && noise.iter().all(|noise| (-0.01..1.01).contains(&(noise / below))));
    let (mean, variance) = (mean / below, variance / (below * below));
    assert!((mean - 0.5).abs() < 0.02 && (variance * 12.0 - 1.0).abs() < 0.05, "{mean} {variance}");
}

#[test]
fn an_asker_sees_noise_that_drowns_what_it_knows() {
    noise_drowns::<u64>();
    noise_drowns::<u128>();
}

/// Why coefficients that are not results are not sent: they are sums of fewer products, which nobody asked for. An
/// asker that got them without a mask would have the answerer's elements one by one.
#[test]
fn coefficients_that_are_not_results_would_tell_partial_sums() {
    let base = base(64);
    let (mut asker, mut answerer) = parties();
    let sizes = Sizes { rows: 1, inner: 4, columns: 1 };
    let plan = Plan { transposed: false, sizes, block: sizes };
    let [x, y] = [[1_u64, 0, 0, 0], [11, 22, 33, 44]];
    let places = |place: &dyn Fn(usize) -> usize, numbers: [u64; 4]| -> Vec<(usize, u64)> {
        (0..4).map(|at| (place(at), numbers[at])).collect()
    };
    let message = asker.ask_block(base, places(&|at| plan.left(0, at), x).into_iter(), Vec::new());
    let requests = vec![answerer.read(base, &message).expect("residues")];
    let factors = [factor(base, DEGREE, places(&|at| plan.right(at, 0), y).into_iter())];
    let all: Vec<usize> = (0..8).collect();
    let (message, masks) =
        answerer.answer_blocks::<u64>(base, &[requests], &factors, std::slice::from_ref(&all)).remove(0);
    let shares = asker.end_block::<u64>(base, &message, &all).expect("residues");
    let unmasked: Vec<u64> = shares.iter().zip(masks).map(|(share, mask)| share.wrapping_sub(mask)).collect();
    assert_eq!(plan.result(0, 0), 3);
    // The product that was asked for is 11.
    assert_eq!(unmasked, [0, 0, 0, 11, 22, 33, 44, 0]);
}

#[test]
fn halves_make_up_the_number() {
    for x in [0, 1, u128::MAX, 1 << 63, (1 << 64) - 1, 1 << 64, 3 << 126, i128::MAX as u128, 1 << 127] {
        let [low, high] = halves(x).map(|half| (half ^ 1 << 63) as i64 as u128);
        assert_eq!(low.wrapping_add(high << 64), x);
    }
}
