//! The combinations as products of 8 by 8 bit matrices, eight to a 512-bit register (x86-64 with AVX-512 and GFNI).
//!
//! One byte of eight symbols is a matrix of bits, one byte of eight rows holds its coefficients. The instruction
//! multiplies a matrix with bytes, so bytes are brought together by permutations before it and apart after it.

use super::BLOCK;
use core::arch::x86_64::*;

/// Symbols to a matrix.
const EIGHT: usize = 8;

/// Proof that the processor has the instructions.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni"))
        .then_some(Self(()))
    }

    pub(super) fn combine64(self, own: &mut [u64], others: &[u64], rows: &[u32; BLOCK]) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { combine64(own, others, rows) }
    }

    pub(super) fn combine128(self, own: &mut [u128], others: &[u128], rows: &[u32; BLOCK]) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { combine128(own, others, rows) }
    }
}

#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
fn combine64(own: &mut [u64], others: &[u64], rows: &[u32; BLOCK]) {
    let coefficients = coefficients(rows);
    let (gather, scatter) = (permutation(|at| EIGHT * (7 - at % EIGHT) + at / EIGHT), permutation(transposed));
    let blocks = own.as_chunks_mut::<BLOCK>().0.iter_mut().zip(others.as_chunks::<BLOCK>().0);
    for (own, others) in blocks {
        let mut matrices = [_mm512_setzero_si512(); BLOCK / EIGHT];
        for (matrix, eight) in matrices.iter_mut().zip(others.as_chunks::<EIGHT>().0) {
            *matrix = transpose(_mm512_permutexvar_epi8(gather, load(eight)));
        }
        for (i, own) in own.as_chunks_mut::<EIGHT>().0.iter_mut().enumerate() {
            let sum = _mm512_permutexvar_epi8(scatter, product(&matrices, &coefficients, i));
            store(own, _mm512_xor_si512(load(own), sum));
        }
    }
}

#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
fn combine128(own: &mut [u128], others: &[u128], rows: &[u32; BLOCK]) {
    let coefficients = coefficients(rows);
    // Byte c of eight symbols, the last one first; c from 0 and from 8. And back: symbols from 0 and from 4.
    let gather = [0, 8].map(|first| permutation(|at| 2 * EIGHT * (7 - at % EIGHT) + at / EIGHT + first));
    let scatter = [0, 4].map(|first| permutation(|at| EIGHT * (at % 16) + at / 16 + first));
    let blocks = own.as_chunks_mut::<BLOCK>().0.iter_mut().zip(others.as_chunks::<BLOCK>().0);
    for (own, others) in blocks {
        let mut matrices = [[_mm512_setzero_si512(); BLOCK / EIGHT]; 2];
        for (group, fours) in bytemuck::cast_slice::<u128, [u128; 4]>(others).as_chunks::<2>().0.iter().enumerate() {
            let [first, second] = [load(&fours[0]), load(&fours[1])];
            for (matrices, gather) in matrices.iter_mut().zip(gather) {
                matrices[group] = transpose(_mm512_permutex2var_epi8(first, gather, second));
            }
        }
        let own: &mut [[u128; 4]] = bytemuck::cast_slice_mut(own);
        for (i, own) in own.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let [low, high] = [&matrices[0], &matrices[1]].map(|matrices| product(matrices, &coefficients, i));
            for (own, scatter) in own.iter_mut().zip(scatter) {
                let sum = _mm512_permutex2var_epi8(low, scatter, high);
                store(own, _mm512_xor_si512(load(own), sum));
            }
        }
    }
}

/// For each byte of the rows the bytes of each eight rows.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn coefficients(rows: &[u32; BLOCK]) -> [[u64; BLOCK / EIGHT]; 4] {
    let rows: &[[u32; 16]; 2] = bytemuck::cast_ref(rows);
    let [first, second] = [load(&rows[0]), load(&rows[1])];
    let mut out = [[0; BLOCK / EIGHT]; 4];
    let halves: &mut [[[u64; BLOCK / EIGHT]; 2]; 2] = bytemuck::cast_mut(&mut out);
    for (half, byte) in halves.iter_mut().zip([0, 2]) {
        let order = permutation(|at| 4 * (at % BLOCK) + at / BLOCK + byte);
        store(half, _mm512_permutex2var_epi8(first, order, second));
    }
    out
}

/// The sums for the i-th eight rows: in each word a byte of eight symbols.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn product(matrices: &[__m512i; BLOCK / EIGHT], coefficients: &[[u64; BLOCK / EIGHT]; 4], i: usize) -> __m512i {
    let mut sum = _mm512_setzero_si512();
    for (&matrix, bytes) in matrices.iter().zip(coefficients) {
        let part = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(bytes[i] as i64), matrix);
        sum = _mm512_xor_si512(sum, part);
    }
    sum
}

/// The transposed matrices, in the instruction's order of rows: products with the unit vectors.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn transpose(matrices: __m512i) -> __m512i {
    _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(0x0102_0408_1020_4080), matrices)
}

/// Rows of eight bytes become columns.
fn transposed(at: usize) -> usize {
    EIGHT * (at % EIGHT) + at / EIGHT
}

/// The order of bytes in which byte `at` of a register is the one numbered `source(at)`.
#[inline(always)]
fn permutation(source: impl Fn(usize) -> usize) -> __m512i {
    let order: [u8; 64] = core::array::from_fn(|at| source(at) as u8);
    // SAFETY: a register is 64 bytes without any meaning.
    unsafe { core::mem::transmute(order) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<T: bytemuck::Pod>(words: &T) -> __m512i {
    const { assert!(size_of::<T>() == 64) };
    // SAFETY: reads the 64 bytes behind the reference; the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(core::ptr::from_ref(words).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store<T: bytemuck::Pod>(words: &mut T, register: __m512i) {
    const { assert!(size_of::<T>() == 64) };
    // SAFETY: writes the 64 bytes behind the exclusive reference; the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(core::ptr::from_mut(words).cast(), register) }
}
