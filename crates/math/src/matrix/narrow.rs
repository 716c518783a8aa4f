//! The micro-kernel modulo 2^64 on registers of 256 bits, which multiply halves of words: 4 rows by 4 columns.
//!
//! With x = x0 + 2^32 x1, x y = x0 y0 + 2^32 (x0 y1 + x1 y0) modulo 2^64. The first product has 64 bits. Of the others
//! 32 bits count: one instruction makes both of x and y with its halves exchanged, and they are summed side by side.

use core::arch::x86_64::*;
use std::ops::Range;

use super::kernel::{MicroKernel, Shape, TILE};
use super::pack::{Operand, Packing};
use super::portable::Whole;
use crate::simd::dispatch;

/// Rows and columns of a tile; words of a register.
const SIDE: usize = 4;

/// Proof that the processor has AVX2.
pub struct Narrow(());

impl Narrow {
    pub fn detect() -> Option<&'static dyn MicroKernel<u64>> {
        is_x86_feature_detected!("avx2").then_some(&Self(()))
    }
}

impl MicroKernel<u64> for Narrow {
    fn name(&self) -> &'static str {
        "AVX2"
    }

    fn shape(&self) -> Shape {
        Shape { rows: SIDE, columns: SIDE, words: 1, thin: 4 }
    }

    fn pack(
        &self,
        operand: Operand<'_, u64>,
        lines: Range<usize>,
        depth: Range<usize>,
        width: usize,
        panels: &mut [u64],
    ) {
        dispatch(Packing::<u64, Whole>::new(operand, lines, depth, width, panels));
    }

    fn multiply(&self, a: &[u64], b: &[u64], tile: &mut [u64; TILE]) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { multiply(a, b, tile) }
    }
}

#[target_feature(enable = "avx2")]
fn multiply(a: &[u64], b: &[u64], tile: &mut [u64; TILE]) {
    let zero = _mm256_setzero_si256();
    let (mut low, mut middle) = ([zero; SIDE], [zero; SIDE]);
    for (a, b) in a.as_chunks::<SIDE>().0.iter().zip(b.as_chunks::<SIDE>().0) {
        let b = load(b);
        let exchanged = _mm256_shuffle_epi32::<0b10_11_00_01>(b);
        for i in 0..SIDE {
            let x = _mm256_set1_epi64x(a[i] as i64);
            low[i] = _mm256_add_epi64(low[i], _mm256_mul_epu32(x, b));
            middle[i] = _mm256_add_epi32(middle[i], _mm256_mullo_epi32(x, exchanged));
        }
    }
    for (i, row) in tile.as_chunks_mut::<SIDE>().0[..SIDE].iter_mut().enumerate() {
        let both = _mm256_add_epi32(middle[i], _mm256_srli_epi64::<32>(middle[i]));
        put(row, _mm256_add_epi64(low[i], _mm256_slli_epi64::<32>(both)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(from: &[u64; SIDE]) -> __m256i {
    // SAFETY: reads the 32 bytes behind the reference, which need no alignment.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn put(to: &mut [u64; SIDE], register: __m256i) {
    // SAFETY: writes the 32 bytes behind the exclusive reference.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), register) }
}
