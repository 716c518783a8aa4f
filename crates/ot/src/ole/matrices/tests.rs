//! Decryption at the ends of its bounds, and what an asker is left with.

use tacit_math::ntt::DEGREE;
use tacit_math::{Prg, Ring, Seed};
use tacit_net::PartyId;

use super::super::Ole;
use super::super::answer::Answerer;
use super::super::ask::Asker;
use super::answer::{Request, factor};
use super::base::{base, halves, logarithms};
use super::blocks::{Plan, Unit};
use super::{Planned, Product, Sizes};

pub(super) fn generator(number: u8) -> Prg {
    Prg::new(&Seed::from_bytes([number; 16]))
}

pub(super) fn parties() -> (Asker, Answerer) {
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
pub(super) fn polynomial<R: Ring>(x: &[R]) -> impl Iterator<Item = (usize, R)> {
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

/// The product of two matrices in small blocks: two rows of them, two columns, and this many inner elements, two to a
/// block. All elements are random. One party asks and answers.
fn blocks_are_exact<R: Ring>(inner: usize, transposed: bool) {
    let base = base(R::BITS);
    let (asker, answerer) = parties();
    let mut ole = Ole { peer: PartyId(1), asker, answerer };
    let sizes = Sizes { rows: 5, inner, columns: 3 };
    let turned = Sizes { rows: sizes.columns, inner, columns: sizes.rows };
    let [x, y]: [Vec<R>; 2] = [sizes.rows * inner, inner * sizes.columns].map(|count| {
        let random: Vec<u128> = generator(count as u8).vector(count);
        random.into_iter().map(R::from_u128).collect()
    });
    let (left, right) = (|i: usize, t: usize| x[i * inner + t], |t: usize, j: usize| y[t * sizes.columns + j]);
    let product = Product { sizes, left: &left, right: &right };
    let block = Sizes { rows: 3, inner: 2, columns: 2 };
    let plan = Plan { transposed, sizes: if transposed { turned } else { sizes }, block };
    let planned = Planned { product: &product, plan };
    let [unit]: [Unit; 1] = plan.units(0).try_into().expect("one unit");
    assert_eq!([unit.rows.len(), unit.columns.len()], if transposed { [1, 3] } else { [2, 2] });
    let requests: Vec<Request> = unit
        .blocks()
        .map(|(rows, inner)| {
            let message = ole.asker.ask_block(base, planned.left(rows, inner), Vec::new());
            ole.answerer.read(base, &message).expect("residues")
        })
        .collect();
    let requests: Vec<Vec<Request>> = requests.chunks(unit.inner.len()).map(<[_]>::to_vec).collect();
    let mut sums = vec![R::ZERO; sizes.rows * sizes.columns];
    for columns in &unit.columns {
        let answers = ole.answers(base, &planned, &unit, &requests, columns);
        for (block, (message, masks)) in unit.results(columns).iter().zip(answers) {
            let shares = ole.asker.end_block::<R>(base, &message, &planned.places(block)).expect("residues");
            let results: Vec<R> = shares.into_iter().zip(masks).map(|(share, mask)| share.sub(mask)).collect();
            planned.add(block, &results, &mut sums);
        }
    }
    for (i, j) in (0..sizes.rows).flat_map(|i| (0..sizes.columns).map(move |j| (i, j))) {
        let exact = (0..inner).fold(R::ZERO, |sum, t| sum.add(left(i, t).mul(right(t, j))));
        assert_eq!(sums[i * sizes.columns + j], exact, "row {i}, column {j} of {inner} inner elements");
    }
}

/// Two inner blocks, and six: more than are multiplied at a time, and a rest.
#[test]
fn blocks_of_several_rows_parts_and_columns_are_exact() {
    for inner in [3, 11] {
        blocks_are_exact::<u64>(inner, false);
        blocks_are_exact::<u128>(inner, false);
    }
    blocks_are_exact::<u64>(11, true);
}

/// What an asker is left with of an answer, as a part of 1, once it takes off its secret: what rounding takes off.
pub(super) fn noise<R: Ring>(asker: &Asker, message: &[u8], places: &[usize]) -> Vec<f64> {
    let base = base(R::BITS);
    let mut residues = asker.decrypt(base, message, places).expect("residues");
    base.scaled(&mut residues)
        .map(|(whole, fraction)| (if R::BITS == 64 { whole as i64 } else { fraction as i64 }) as f64 / 2_f64.powi(64))
        .collect()
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
    let noise = noise::<R>(&asker, &message, &places);
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
