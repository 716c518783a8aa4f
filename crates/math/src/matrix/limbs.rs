//! The micro-kernel modulo 2^128 on registers of 512 bits with 52-bit multiplications: 8 rows by 8 columns.
//!
//! An element is x0 + 2^52 x1 + 2^104 x2 with limbs of 52, 52 and 24 bits. Nine multiply-adds make a product: six of
//! low halves and three of high halves of limb products. They are summed by their weight, 1, 2^52 and 2^104. Three
//! terms below 2^52 go into the middle sum, so that 1,300 products fit in 64 bits before carries have to move; of the
//! last sum 24 bits count.

use core::arch::x86_64::*;
use std::ops::Range;

use super::kernel::{DEPTH, MicroKernel, Shape, TILE};
use super::pack::{FOUR, Operand, Packing, Store};
use super::wide::{load, put};
use crate::simd::dispatch;

/// Rows and columns of a tile; words of a register.
const SIDE: usize = 8;

const LIMBS: usize = 3;

/// Bits of a limb.
const BITS: u32 = 52;

const MASK: u64 = (1 << BITS) - 1;

const _: () = assert!(3 * DEPTH as u64 <= u64::MAX >> BITS, "no sum overflows");

/// Proof that the processor has AVX-512F, AVX-512DQ and AVX-512 IFMA.
pub struct Limbs(());

impl Limbs {
    pub fn detect() -> Option<&'static dyn MicroKernel<u128>> {
        let capable = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma");
        capable.then_some(&Self(()))
    }
}

impl MicroKernel<u128> for Limbs {
    fn name(&self) -> &'static str {
        "AVX-512 IFMA"
    }

    fn shape(&self) -> Shape {
        Shape { rows: SIDE, columns: SIDE, words: LIMBS, thin: 2 }
    }

    fn pack(
        &self,
        operand: Operand<'_, u128>,
        lines: Range<usize>,
        depth: Range<usize>,
        width: usize,
        panels: &mut [u64],
    ) {
        dispatch(Packing::<u128, Split>::new(operand, lines, depth, width, panels));
    }

    fn multiply(&self, a: &[u64], b: &[u64], tile: &mut [u128; TILE]) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { multiply(a, b, tile) }
    }
}

/// Limbs of one weight side by side.
struct Split;

impl Store<u128> for Split {
    const WORDS: usize = LIMBS;

    #[inline(always)]
    fn store<const W: usize>(values: [u128; FOUR], first: usize, elements: &mut [u64]) {
        let (limbs, _) = elements.as_chunks_mut::<W>();
        let (low, high) = (values.map(|value| value as u64), values.map(|value| (value >> 64) as u64));
        for i in 0..FOUR {
            limbs[0][first + i] = low[i] & MASK;
            limbs[1][first + i] = (low[i] >> BITS | high[i] << (64 - BITS)) & MASK;
            limbs[2][first + i] = high[i] >> (2 * BITS - 64);
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn multiply(a: &[u64], b: &[u64], tile: &mut [u128; TILE]) {
    let mut sums = [[_mm512_setzero_si512(); LIMBS]; SIDE];
    for (a, b) in a.as_chunks::<{ LIMBS * SIDE }>().0.iter().zip(b.as_chunks::<{ LIMBS * SIDE }>().0) {
        let (b, _) = b.as_chunks::<SIDE>();
        let b = [load(&b[0]), load(&b[1]), load(&b[2])];
        for (i, sums) in sums.iter_mut().enumerate() {
            *sums = plus_product(*sums, [splat(a[i]), splat(a[SIDE + i]), splat(a[2 * SIDE + i])], b);
        }
    }
    for (row, sums) in tile.as_chunks_mut::<SIDE>().0.iter_mut().zip(sums) {
        *row = elements(sums);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(limb: u64) -> __m512i {
    _mm512_set1_epi64(limb as i64)
}

/// The sums by weight, with the product of eight pairs of elements.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn plus_product([one, middle, last]: [__m512i; LIMBS], x: [__m512i; LIMBS], y: [__m512i; LIMBS]) -> [__m512i; LIMBS] {
    let one = _mm512_madd52lo_epu64(one, x[0], y[0]);
    let middle = _mm512_madd52hi_epu64(middle, x[0], y[0]);
    let middle = _mm512_madd52lo_epu64(middle, x[0], y[1]);
    let middle = _mm512_madd52lo_epu64(middle, x[1], y[0]);
    let last = _mm512_madd52hi_epu64(last, x[0], y[1]);
    let last = _mm512_madd52hi_epu64(last, x[1], y[0]);
    let last = _mm512_madd52lo_epu64(last, x[0], y[2]);
    let last = _mm512_madd52lo_epu64(last, x[1], y[1]);
    [one, middle, _mm512_madd52lo_epu64(last, x[2], y[0])]
}

/// Carries move.
#[inline]
#[target_feature(enable = "avx512f")]
fn elements(sums: [__m512i; LIMBS]) -> [u128; SIDE] {
    let [mut one, mut middle, mut last] = [[0; SIDE]; LIMBS];
    put(&mut one, sums[0]);
    put(&mut middle, sums[1]);
    put(&mut last, sums[2]);
    let mut elements = [0; SIDE];
    for (i, element) in elements.iter_mut().enumerate() {
        let [middle, last] = [u128::from(middle[i]) << BITS, u128::from(last[i]) << (2 * BITS)];
        *element = u128::from(one[i]).wrapping_add(middle).wrapping_add(last);
    }
    elements
}
