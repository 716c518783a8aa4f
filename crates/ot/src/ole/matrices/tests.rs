//! Decryption at the ends of its bounds, and what an asker is left with.

use tacit_math::ntt::DEGREE;
use tacit_math::{Prg, Ring, Seed};

use super::super::answer::Answerer;
use super::super::ask::Asker;
use super::answer::factor;
use super::base::{base, halves};

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

/// Sums of two products of whole polynomials, at some places.
fn sums_are_exact<R: Ring>() {
    let (base, mut prg) = (base(R::BITS), generator(4));
    let (mut asker, mut answerer) = parties();
    let places = [0, 1, 77, DEGREE / 2, DEGREE - 1];
    for x in numbers::<R>(&mut prg) {
        for y in numbers::<R>(&mut prg) {
            let polynomial = |x: &[R]| x.to_vec().into_iter().enumerate();
            let requests: Vec<_> = (0..2)
                .map(|_| {
                    let message = asker.ask_block(base, polynomial(&x), Vec::new());
                    answerer.read(base, &message).expect("residues")
                })
                .collect();
            let factors = [factor(base, polynomial(&y)), factor(base, polynomial(&y))];
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

#[test]
fn halves_make_up_the_number() {
    for x in [0, 1, u128::MAX, 1 << 63, (1 << 64) - 1, 1 << 64, 3 << 126, i128::MAX as u128, 1 << 127] {
        let [low, high] = halves(x).map(|half| (half ^ 1 << 63) as i64 as u128);
        assert_eq!(low.wrapping_add(high << 64), x);
    }
}
