//! Ring arithmetic against wide integers, and vector operations against their definitions.

use proptest::prelude::*;
use tacit_math::Ring;
use tacit_math::ring::{add, differences, prefix_sum, scale, sub, sum};

/// The residue of an integer in the ring, computed in 128 bits.
fn residue<R: Ring>(value: u128) -> u128 {
    if R::BITS == 128 { value } else { value & ((1 << R::BITS) - 1) }
}

/// Laws of elements against 128-bit arithmetic, whose low bits every smaller ring shares.
fn element_laws<R: Ring>(x: u128, y: u128, bits: u32) {
    let (a, b, bits) = (R::from_u128(x), R::from_u128(y), bits % R::BITS);
    assert_eq!(a.to_u128(), residue::<R>(x));
    assert_eq!(a.add(b).to_u128(), residue::<R>(x.wrapping_add(y)));
    assert_eq!(a.sub(b).to_u128(), residue::<R>(x.wrapping_sub(y)));
    assert_eq!(a.mul(b).to_u128(), residue::<R>(x.wrapping_mul(y)));
    assert_eq!(a.neg().to_u128(), residue::<R>(x.wrapping_neg()));
    assert_eq!(a.shl(bits).to_u128(), residue::<R>(x << bits));
    assert_eq!((a.add(R::ZERO), a.mul(R::ONE), a.add(a.neg())), (a, a, R::ZERO));
}

fn vector_laws<R: Ring>(pairs: &[(u128, u128)], by: u128) {
    let x: Vec<R> = pairs.iter().map(|p| R::from_u128(p.0)).collect();
    let y: Vec<R> = pairs.iter().map(|p| R::from_u128(p.1)).collect();
    let by = R::from_u128(by);
    for (i, (&a, &b)) in x.iter().zip(&y).enumerate() {
        assert_eq!((add(&x, &y)[i], sub(&x, &y)[i], scale(&x, by)[i]), (a.add(b), a.sub(b), a.mul(by)));
        assert_eq!(prefix_sum(&x)[i], x[..=i].iter().fold(R::ZERO, |total, &a| total.add(a)));
    }
    assert_eq!(prefix_sum(&x).last().copied().unwrap_or(R::ZERO), sum(&x));
    assert_eq!(differences(&prefix_sum(&x)), x);
    assert_eq!(prefix_sum(&differences(&x)), x);
    assert_eq!(sub(&add(&x, &y), &y), x);
    assert_eq!(add(&x, &y).len(), pairs.len());
}

#[test]
fn constants_and_edges() {
    assert_eq!((u32::BITS, <u64 as Ring>::BITS, <u128 as Ring>::BITS), (32, 64, 128));
    assert_eq!(Ring::add(u64::MAX, 1), 0);
    assert_eq!(Ring::sub(0_u32, 1), u32::MAX);
    assert_eq!(Ring::neg(u128::MAX), 1);
    assert_eq!(Ring::mul(u64::MAX, u64::MAX), 1);
    assert_eq!(Ring::shl(3_u64, 63), 1 << 63);
    assert_eq!(<u32 as Ring>::from_u128(1 << 40 | 5), 5);
    assert_eq!(sum::<u64>(&[]), 0);
    assert!(prefix_sum::<u64>(&[]).is_empty() && differences::<u64>(&[]).is_empty());
}

#[test]
#[should_panic(expected = "vectors of one length")]
fn sums_need_equal_lengths() {
    add(&[1_u64, 2], &[3]);
}

#[test]
#[should_panic(expected = "vectors of one length")]
fn differences_need_equal_lengths() {
    sub(&[1_u64], &[3, 4]);
}

proptest! {
    #[test]
    fn elements(x: u128, y: u128, bits in 0u32..128) {
        element_laws::<u32>(x, y, bits);
        element_laws::<u64>(x, y, bits);
        element_laws::<u128>(x, y, bits);
    }

    #[test]
    fn vectors(pairs in prop::collection::vec(any::<(u128, u128)>(), 0..40), by: u128) {
        vector_laws::<u32>(&pairs, by);
        vector_laws::<u64>(&pairs, by);
        vector_laws::<u128>(&pairs, by);
    }
}
