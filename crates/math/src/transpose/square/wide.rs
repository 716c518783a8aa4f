//! The 64 x 64 transpose in about 50 instructions (x86-64 with AVX-512 VBMI and GFNI).

use core::arch::x86_64::*;

use super::{EightSquares, Square};

fn capable() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni")
}

/// The transpose; None when the processor lacks the instructions.
pub(super) fn transpose() -> Option<Square> {
    capable().then_some(|m: &mut [u64; 64]| {
        // SAFETY: this function is handed out only after the processor was seen to have these features.
        unsafe { square(m) }
    })
}

/// That of eight squares.
pub(super) fn transpose_eight() -> Option<EightSquares> {
    capable().then_some(|lines: &[u64], stride: usize, squares: &mut [[u64; 64]; 8]| {
        // SAFETY: this function is handed out only after the processor was seen to have these features.
        unsafe { eight_squares(lines, stride, squares) }
    })
}

/// Byte 8a + b of a register moves to byte 8b + a: a transpose of 8 x 8 bytes, its own inverse.
const BYTES: [u8; 64] = bytes(false);
/// The same with the bytes of every result word in reverse, the order in which GFNI numbers the rows of a matrix.
const BYTES_REVERSED: [u8; 64] = bytes(true);

const fn bytes(reversed: bool) -> [u8; 64] {
    let mut from = [0; 64];
    let mut to = 0;
    while to < 64 {
        let (word, byte) = (to / 8, if reversed { 7 - to % 8 } else { to % 8 });
        from[to] = (8 * byte + word) as u8;
        to += 1;
    }
    from
}

/// Register r holds words 8r..8r+8. Four steps take bit (8r + w, 8b + k) to (8b + k, 8r + w). First bytes of a register
/// move, so that its word b holds byte b of its eight rows. Then the 8 x 8 bits of each word do (the affine instruction
/// multiplies the matrix in the word by the unit vectors). Last come words across registers; bytes of a register.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn square(m: &mut [u64; 64]) {
    let bytes = load_bytes(&BYTES);
    let bytes_reversed = load_bytes(&BYTES_REVERSED);
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
    let (words, _) = m.as_chunks_mut::<8>();
    let mut r = [_mm512_setzero_si512(); 8];
    for (register, words) in r.iter_mut().zip(words.iter()) {
        let columns = _mm512_permutexvar_epi8(bytes_reversed, load(words));
        *register = _mm512_gf2p8affine_epi64_epi8::<0>(units, columns);
    }
    for (words, register) in words.iter_mut().zip(transpose_words(r)) {
        store(words, _mm512_permutexvar_epi8(bytes, register));
    }
}

/// Eight lines at a time, eight words of each, become eight words of each square.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn eight_squares(lines: &[u64], stride: usize, squares: &mut [[u64; 64]; 8]) {
    for first in (0..64).step_by(8) {
        let mut r = [_mm512_setzero_si512(); 8];
        for (i, register) in r.iter_mut().enumerate() {
            *register = load(lines[(first + i) * stride..].first_chunk().expect("eight words of every line"));
        }
        for (m, register) in squares.iter_mut().zip(transpose_words(r)) {
            store(m[first..].first_chunk_mut().expect("eight words of a square"), register);
        }
    }
    for m in squares {
        square(m);
    }
}

/// Word i of register j becomes word j of register i: swaps at distance 1, 2 and 4.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_words(r: [__m512i; 8]) -> [__m512i; 8] {
    let a: [__m512i; 8] = [
        _mm512_unpacklo_epi64(r[0], r[1]),
        _mm512_unpackhi_epi64(r[0], r[1]),
        _mm512_unpacklo_epi64(r[2], r[3]),
        _mm512_unpackhi_epi64(r[2], r[3]),
        _mm512_unpacklo_epi64(r[4], r[5]),
        _mm512_unpackhi_epi64(r[4], r[5]),
        _mm512_unpacklo_epi64(r[6], r[7]),
        _mm512_unpackhi_epi64(r[6], r[7]),
    ];
    // Pairs of words: (0, 2) of both sources, then (1, 3).
    let b: [__m512i; 8] = [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(a[0], a[2]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(a[1], a[3]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(a[0], a[2]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(a[1], a[3]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(a[4], a[6]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(a[5], a[7]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(a[4], a[6]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(a[5], a[7]),
    ];
    [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(b[0], b[4]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(b[1], b[5]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(b[2], b[6]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(b[3], b[7]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(b[0], b[4]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(b[1], b[5]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(b[2], b[6]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(b[3], b[7]),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: reads the 64 bytes behind the reference; the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: reads the 64 bytes behind the reference; the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; 8], register: __m512i) {
    // SAFETY: writes the 64 bytes behind the exclusive reference; the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), register) }
}
