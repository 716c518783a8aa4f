//! The micro-kernel modulo 2^64 on registers of 512 bits: 4 rows by 32 columns, a multiplication and an addition for
//! eight products. The sixteen sums stay in registers.

use core::arch::x86_64::*;
use std::ops::Range;

use super::kernel::{MicroKernel, Shape, TILE};
use super::pack::{Operand, Packing};
use super::portable::Whole;
use crate::simd::dispatch;

const ROWS: usize = 4;
const COLUMNS: usize = 32;

/// Words of a register.
const LANES: usize = 8;

/// Proof that the processor has AVX-512F and AVX-512DQ.
pub struct Wide(());

impl Wide {
    pub fn detect() -> Option<&'static dyn MicroKernel<u64>> {
        let capable = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        capable.then_some(&Self(()))
    }
}

impl MicroKernel<u64> for Wide {
    fn name(&self) -> &'static str {
        "AVX-512"
    }

    fn shape(&self) -> Shape {
        Shape { rows: ROWS, columns: COLUMNS, words: 1, thin: 4 }
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

#[target_feature(enable = "avx512f,avx512dq")]
fn multiply(a: &[u64], b: &[u64], tile: &mut [u64; TILE]) {
    let mut sums = [[_mm512_setzero_si512(); COLUMNS / LANES]; ROWS];
    for (a, b) in a.as_chunks::<ROWS>().0.iter().zip(b.as_chunks::<COLUMNS>().0) {
        let (b, _) = b.as_chunks::<LANES>();
        let b = [load(&b[0]), load(&b[1]), load(&b[2]), load(&b[3])];
        for (sums, &x) in sums.iter_mut().zip(a) {
            let x = _mm512_set1_epi64(x as i64);
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = _mm512_add_epi64(*sum, _mm512_mullo_epi64(x, b));
            }
        }
    }
    for (tile, &sum) in tile.as_chunks_mut::<LANES>().0.iter_mut().zip(sums.as_flattened()) {
        put(tile, sum);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(from: &[u64; LANES]) -> __m512i {
    // SAFETY: reads the 64 bytes behind the reference, which need no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn put(to: &mut [u64; LANES], register: __m512i) {
    // SAFETY: writes the 64 bytes behind the exclusive reference.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), register) }
}
