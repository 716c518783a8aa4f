//! Carry-less inner products by PCLMULQDQ (x86-64): a word at a time, or eight with AVX-512.

use core::arch::x86_64::*;

use super::Product;
use crate::gf::carryless;

/// The products that the processor has the instructions for, the fastest one first.
pub(super) fn products() -> impl Iterator<Item = Product> {
    let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("vpclmulqdq");
    let narrow = is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("sse4.1");
    let wide = wide.then_some::<Product>(|a, b| {
        // SAFETY: this function is handed out only after the processor was seen to have these features.
        unsafe { inner(a, b) }
    });
    let narrow = narrow.then_some::<Product>(|a, b| {
        // SAFETY: as above.
        unsafe { word_by_word(a, b) }
    });
    wide.into_iter().chain(narrow)
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
fn word_by_word(a: &[u64], b: &[u64]) -> u128 {
    let mut sum = _mm_setzero_si128();
    for (&a, &b) in a.iter().zip(b) {
        let product = _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64));
        sum = _mm_xor_si128(sum, product);
    }
    let (low, high) = (_mm_cvtsi128_si64(sum), _mm_extract_epi64::<1>(sum));
    u128::from(low as u64) | u128::from(high as u64) << 64
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
fn inner(a: &[u64], b: &[u64]) -> u128 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [_mm512_setzero_si512(); 2];
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (load(a), load(b));
        sums[0] = _mm512_xor_si512(sums[0], _mm512_clmulepi64_epi128::<0x00>(a, b));
        sums[1] = _mm512_xor_si512(sums[1], _mm512_clmulepi64_epi128::<0x11>(a, b));
    }
    let lanes = store(_mm512_xor_si512(sums[0], sums[1]));
    let rest = a_rest.iter().zip(b_rest).fold(0, |sum, (&a, &b)| sum ^ carryless(a, b));
    lanes.iter().fold(rest, |sum, lane| sum ^ lane)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: reads the 64 bytes behind the reference; the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(register: __m512i) -> [u128; 4] {
    let mut lanes = [0; 4];
    // SAFETY: writes the 64 bytes behind the exclusive reference; the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), register) };
    lanes
}
