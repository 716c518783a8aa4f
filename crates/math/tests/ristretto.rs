//! The eight-lane kernel against curve25519-dalek and the vectors of RFC 9496, on processors that have it.

#![cfg(target_arch = "x86_64")]

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::{RistrettoPoint, Scalar};
use proptest::prelude::*;
use tacit_math::ristretto::Wide;

/// Scalars at the ends of every digit: 0, 1, the order less one, and words that make all digits carry.
fn scalars() -> Vec<Scalar> {
    let patterns = [[0x88; 32], [0x77; 32], [0xff; 32], [0x08; 32], [0x80; 32]];
    let edges = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(8u64), Scalar::from(16u64)];
    edges.into_iter().chain(patterns.map(Scalar::from_bytes_mod_order)).collect()
}

fn map_and_multiply(wide: Wide, scalar: &Scalar, uniform: &[[u8; 64]]) -> Vec<[u8; 32]> {
    let mut out = vec![[0; 32]; uniform.len()];
    wide.map_and_multiply(scalar.as_bytes(), uniform, &mut out);
    out
}

fn multiply(wide: Wide, scalar: &Scalar, points: &[[u8; 32]]) -> Result<Vec<[u8; 32]>, usize> {
    let mut out = vec![[0; 32]; points.len()];
    wide.multiply(scalar.as_bytes(), points, &mut out).map(|()| out)
}

/// Twice the sums of points and multiples of one point: from uniform bytes, and from encodings.
fn add(
    wide: Wide,
    fixed: &RistrettoPoint,
    scalars: &[Scalar],
    uniform: &[[u8; 64]],
    points: &[[u8; 32]],
) -> [Result<Vec<[u8; 32]>, usize>; 2] {
    let comb = wide.comb(&fixed.compress().to_bytes()).expect("a point");
    let scalars: Vec<_> = scalars.iter().map(Scalar::to_bytes).collect();
    let mut out = [vec![[0; 32]; uniform.len()], vec![[0; 32]; uniform.len()]];
    wide.map_and_add(&comb, &scalars, uniform, &mut out[0]);
    let added = wide.add(&comb, &scalars, points, &mut out[1]);
    let [mapped, decoded] = out;
    [Ok(mapped), added.map(|()| decoded)]
}

/// Sums of every point and a multiple, the scalar being another one for each.
fn check_sums(fixed: &RistrettoPoint, scalars: &[Scalar], uniform: &[[u8; 64]]) {
    let Some(wide) = Wide::detect() else { return };
    let points: Vec<_> = uniform.iter().map(RistrettoPoint::from_uniform_bytes).collect();
    let sums = points.iter().zip(scalars).map(|(point, scalar)| point + fixed * scalar);
    let expected: Vec<_> = sums.map(|sum| (sum + sum).compress().to_bytes()).collect();
    let encodings: Vec<_> = points.iter().map(|point| point.compress().to_bytes()).collect();
    assert_eq!(add(wide, fixed, scalars, uniform, &encodings), [Ok(expected.clone()), Ok(expected)]);
}

fn check(scalar: &Scalar, uniform: &[[u8; 64]]) {
    let Some(wide) = Wide::detect() else { return };
    let points: Vec<_> = uniform.iter().map(RistrettoPoint::from_uniform_bytes).collect();
    let expected: Vec<_> = points.iter().map(|point| (point * scalar).compress().to_bytes()).collect();
    assert_eq!(map_and_multiply(wide, scalar, uniform), expected);
    let encodings: Vec<_> = points.iter().map(|point| point.compress().to_bytes()).collect();
    assert_eq!(multiply(wide, scalar, &encodings), Ok(expected));
}

#[test]
fn every_length_of_the_last_group() {
    for n in 0..=17 {
        let uniform: Vec<[u8; 64]> = (0..n).map(|i| core::array::from_fn(|j| (17 * i + j * j) as u8)).collect();
        check(&Scalar::from_bytes_mod_order([0x5a; 32]), &uniform);
        let scalars: Vec<_> = (0..n).map(|i| Scalar::from_bytes_mod_order([13 * i as u8 + 1; 32])).collect();
        check_sums(&RISTRETTO_BASEPOINT_POINT, &scalars, &uniform);
    }
}

#[test]
fn scalars_and_field_elements_at_their_ends() {
    let modulus: [u8; 32] = core::array::from_fn(|i| [0xed, 0xff, 0x7f][usize::from(i > 0) + usize::from(i > 30)]);
    let halves = [[0; 32], [0xff; 32], modulus, core::array::from_fn(|i| u8::from(i == 0)), [0x80; 32]];
    let pairs: Vec<[u8; 64]> = halves
        .iter()
        .flat_map(|a| halves.map(|b| core::array::from_fn(|i| if i < 32 { a[i] } else { b[i - 32] })))
        .filter(|pair| RistrettoPoint::from_uniform_bytes(pair) != RistrettoPoint::default())
        .collect();
    scalars().iter().for_each(|scalar| check(scalar, &pairs));
    for scalar in scalars() {
        check_sums(&RistrettoPoint::from_uniform_bytes(&[7; 64]), &vec![scalar; pairs.len()], &pairs);
    }
}

#[test]
fn a_sum_that_is_the_identity_and_one_of_equal_points() {
    let uniform = [[9; 64]; 8];
    let point = RistrettoPoint::from_uniform_bytes(&uniform[0]);
    let scalars = [0u8, 1, 2, 15, 16, 17, 31, 32].map(Scalar::from);
    check_sums(&point, &scalars, &uniform);
    check_sums(&-point, &scalars, &uniform);
}

/// RFC 9496, appendix A.1: multiples of the base point.
#[test]
fn small_multiples_of_the_base_point() {
    let Some(wide) = Wide::detect() else { return };
    let base = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76";
    let five = "e882b131016b52c1d3337080187cf768423efccbb517bb495ab812c4160ff44e";
    let bytes = |hex: &str| core::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex"));
    assert_eq!(RISTRETTO_BASEPOINT_POINT.compress().to_bytes(), bytes(base));
    assert_eq!(multiply(wide, &Scalar::from(5u64), &[bytes(base)]), Ok(vec![bytes(five)]));
}

#[test]
fn an_invalid_encoding_is_named() {
    let Some(wide) = Wide::detect() else { return };
    let good = RISTRETTO_BASEPOINT_POINT.compress().to_bytes();
    let mut high_bit = good;
    high_bit[31] |= 0x80;
    let mut negative = good;
    negative[0] |= 1;
    let modulus: [u8; 32] = core::array::from_fn(|i| [0xed, 0xff, 0x7f][usize::from(i > 0) + usize::from(i > 30)]);
    for bad in [high_bit, negative, modulus, [0xff; 32], [0; 32]] {
        assert!(wide.comb(&bad).is_none());
        for place in [0, 7, 8, 12] {
            let mut points = [good; 13];
            points[place] = bad;
            assert_eq!(multiply(wide, &Scalar::ONE, &points), Err(place));
            let sums = add(wide, &RISTRETTO_BASEPOINT_POINT, &[Scalar::ONE; 13], &[[1; 64]; 13], &points);
            assert_eq!(sums[1], Err(place));
        }
    }
}

proptest! {
    #[test]
    fn equals_the_library(scalar: [u8; 32], uniform in prop::collection::vec(any::<[u8; 64]>(), 1..10)) {
        check(&Scalar::from_bytes_mod_order(scalar), &uniform);
    }

    #[test]
    fn sums_equal_the_library(fixed: [u8; 64], inputs in prop::collection::vec(any::<([u8; 32], [u8; 64])>(), 1..10)) {
        let (scalars, uniform): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        let scalars: Vec<_> = scalars.into_iter().map(Scalar::from_bytes_mod_order).collect();
        check_sums(&RistrettoPoint::from_uniform_bytes(&fixed), &scalars, &uniform);
    }

    #[test]
    fn accepts_what_the_library_accepts(mut encoding: [u8; 32]) {
        encoding[0] &= 0xfe;
        encoding[31] &= 0x7f;
        if let Some(wide) = Wide::detect() {
            let valid = CompressedRistretto(encoding).decompress().is_some();
            prop_assert_eq!(multiply(wide, &Scalar::ONE, &[encoding]).is_ok(), valid);
        }
    }
}
