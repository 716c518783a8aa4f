//! Carry-less inner products, eight words at a time (x86-64 with AVX-512 and VPCLMULQDQ).

use core::arch::x86_64::*;

use super::Product;
use crate::gf::carryless;

/// The product; None when the processor lacks the instructions.
pub(super) fn product() -> Option<Product> {
    let capable = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("vpclmulqdq");
    capable.then_some(|a: &[u64], b: &[u64]| {
        // SAFETY: this function is handed out only after the processor was seen to have these features.
        unsafe { inner(a, b) }
    })
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
