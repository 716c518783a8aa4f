//! Keyed BLAKE3 of sixteen short strings at once, a word of each in a 512-bit register (x86-64 with AVX-512).
//!
//! A string of at most one block is one call of the compression function (BLAKE3 paper, sections 2.1 to 2.3).

use core::arch::x86_64::*;

/// Strings side by side.
const LANES: usize = 16;

/// The initial value, of which the compression function takes a half (table 1 of the paper).
const INITIAL: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];

/// Which word of the message each round takes where: from round to round they move as table 2 says.
const SCHEDULE: [[usize; 16]; 7] = {
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut rounds = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut round = 1;
    while round < 7 {
        let mut place = 0;
        while place < 16 {
            rounds[round][place] = rounds[round - 1][PERMUTATION[place]];
            place += 1;
        }
        round += 1;
    }
    rounds
};

/// First and last block of a chunk, root, keyed (table 3).
const FLAGS: u32 = 1 | 2 | 8 | 16;

/// Proof that the processor has 512-bit registers.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx512f").then_some(Self(()))
    }

    /// Hashes string i, which is `columns[0][i]`, `columns[1][i]` and so on, at most four, to `out[i]`.
    pub(super) fn hash<const N: usize>(self, key: &[u8; 32], columns: [&[u128]; N], out: &mut [u128]) {
        // SAFETY: self exists, so the processor has AVX-512F.
        unsafe { hash(key, columns, out) }
    }
}

#[target_feature(enable = "avx512f")]
fn hash<const N: usize>(key: &[u8; 32], columns: [&[u128]; N], out: &mut [u128]) {
    let key: [u32; 8] = bytemuck::cast(*key);
    let key = key.map(|word| _mm512_set1_epi32(word as i32));
    for (number, out) in out.chunks_mut(LANES).enumerate() {
        let mut message = [_mm512_setzero_si512(); 16];
        for (words, column) in message.as_chunks_mut().0.iter_mut().zip(columns) {
            let mut blocks = [0; LANES];
            blocks[..out.len()].copy_from_slice(&column[number * LANES..][..out.len()]);
            *words = transpose(bytemuck::cast_ref::<_, [[u128; 4]; 4]>(&blocks).each_ref().map(|four| load(four)));
        }
        let mut digests = [[0_u128; 4]; 4];
        let words = transpose(compress(&key, &message, 16 * N as u32));
        digests.iter_mut().zip(words).for_each(|(out, words)| store(out, words));
        out.copy_from_slice(&digests.as_flattened()[..out.len()]);
    }
}

/// The first four words of the compression function's output.
#[inline]
#[target_feature(enable = "avx512f")]
fn compress(key: &[__m512i; 8], message: &[__m512i; 16], length: u32) -> [__m512i; 4] {
    let mut state = [_mm512_setzero_si512(); 16];
    state[..8].copy_from_slice(key);
    let others = [INITIAL[0], INITIAL[1], INITIAL[2], INITIAL[3], 0, 0, length, FLAGS];
    for (word, other) in state[8..].iter_mut().zip(others) {
        *word = _mm512_set1_epi32(other as i32);
    }
    for words in &SCHEDULE {
        let word = |i: usize| &message[words[i]];
        mix(&mut state, [0, 4, 8, 12], word(0), word(1));
        mix(&mut state, [1, 5, 9, 13], word(2), word(3));
        mix(&mut state, [2, 6, 10, 14], word(4), word(5));
        mix(&mut state, [3, 7, 11, 15], word(6), word(7));
        mix(&mut state, [0, 5, 10, 15], word(8), word(9));
        mix(&mut state, [1, 6, 11, 12], word(10), word(11));
        mix(&mut state, [2, 7, 8, 13], word(12), word(13));
        mix(&mut state, [3, 4, 9, 14], word(14), word(15));
    }
    // A loop instead of a closure, which would be compiled without the instructions.
    let mut out = [_mm512_setzero_si512(); 4];
    for (i, out) in out.iter_mut().enumerate() {
        *out = _mm512_xor_si512(state[i], state[i + 8]);
    }
    out
}

/// The function G of one column or diagonal.
#[inline]
#[target_feature(enable = "avx512f")]
fn mix(v: &mut [__m512i; 16], [a, b, c, d]: [usize; 4], x: &__m512i, y: &__m512i) {
    v[a] = _mm512_add_epi32(_mm512_add_epi32(v[a], v[b]), *x);
    v[d] = _mm512_ror_epi32::<16>(_mm512_xor_si512(v[d], v[a]));
    v[c] = _mm512_add_epi32(v[c], v[d]);
    v[b] = _mm512_ror_epi32::<12>(_mm512_xor_si512(v[b], v[c]));
    v[a] = _mm512_add_epi32(_mm512_add_epi32(v[a], v[b]), *y);
    v[d] = _mm512_ror_epi32::<8>(_mm512_xor_si512(v[d], v[a]));
    v[c] = _mm512_add_epi32(v[c], v[d]);
    v[b] = _mm512_ror_epi32::<7>(_mm512_xor_si512(v[b], v[c]));
}

/// From four blocks a register to one of their words a register and back. Word z of lane l of the i-th register and
/// word i of lane l of the z-th change places.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let [low, high] = [_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)];
    let [other_low, other_high] = [_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d)];
    [
        _mm512_unpacklo_epi64(low, other_low),
        _mm512_unpackhi_epi64(low, other_low),
        _mm512_unpacklo_epi64(high, other_high),
        _mm512_unpackhi_epi64(high, other_high),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(four: &[u128; 4]) -> __m512i {
    // SAFETY: reads the 64 bytes behind the reference; the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(four.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(four: &mut [u128; 4], register: __m512i) {
    // SAFETY: writes the 64 bytes behind the exclusive reference; the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(four.as_mut_ptr().cast(), register) }
}
