//! Carry-less multiplication by instruction: one product at a time, or four to a 512-bit register.

use super::portable;
use core::arch::x86_64::*;

/// Proof that the processor multiplies without carries.
#[derive(Clone, Copy)]
pub(super) struct Narrow(());

impl Narrow {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("sse4.1")).then_some(Self(()))
    }

    pub(super) fn carryless(self, a: u64, b: u64) -> u128 {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { carryless(a, b) }
    }
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
fn carryless(a: u64, b: u64) -> u128 {
    let product = _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64));
    let (low, high) = (_mm_cvtsi128_si64(product), _mm_extract_epi64::<1>(product));
    u128::from(low as u64) | u128::from(high as u64) << 64
}

/// Proof that the processor multiplies without carries on 512-bit registers.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("vpclmulqdq")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw"))
        .then_some(Self(()))
    }

    pub(super) fn add_scaled64(self, out: &mut [u128], scalars: &[u64], element: u128) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { add_scaled64(out, scalars, element) }
    }

    pub(super) fn add_scaled128(self, out: &mut [u128], scalars: &[u128], element: u128) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { add_scaled128(out, scalars, element) }
    }

    pub(super) fn inner_product64(self, scalars: &[u64], elements: &[u128]) -> u128 {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { inner_product64(scalars, elements) }
    }

    pub(super) fn inner_product128(self, scalars: &[u128], elements: &[u128]) -> u128 {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { inner_product128(scalars, elements) }
    }
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw")]
fn add_scaled64(out: &mut [u128], scalars: &[u64], element: u128) {
    let factor = splat(element);
    let (outs, out_rest) = out.as_chunks_mut::<4>();
    let (fours, rest) = scalars.as_chunks::<4>();
    for (out, four) in outs.iter_mut().zip(fours) {
        store(out, _mm512_xor_si512(load(out), scaled64(spread(four), factor)));
    }
    for (out, &scalar) in out_rest.iter_mut().zip(rest) {
        *out ^= lanes(scaled64(splat(scalar.into()), factor))[0];
    }
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw")]
fn inner_product64(scalars: &[u64], elements: &[u128]) -> u128 {
    let zero = _mm512_setzero_si512();
    let (mut low, mut high) = (zero, zero);
    let mut add = |scalars: __m512i, elements: __m512i| {
        low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128::<0x00>(scalars, elements));
        high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128::<0x10>(scalars, elements));
    };
    let (fours, rest) = scalars.as_chunks::<4>();
    let (element_fours, element_rest) = elements.as_chunks::<4>();
    for (scalars, elements) in fours.iter().zip(element_fours) {
        add(spread(scalars), load(elements));
    }
    for (&scalar, &element) in rest.iter().zip(element_rest) {
        add(first(scalar.into()), first(element));
    }
    let [low, high] = [low, high].map(|sum| portable::reduce64(xor_lanes(sum)));
    u128::from(low) | u128::from(high) << 64
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw")]
fn add_scaled128(out: &mut [u128], scalars: &[u128], element: u128) {
    let factor = splat(element);
    let (outs, out_rest) = out.as_chunks_mut::<4>();
    let (fours, rest) = scalars.as_chunks::<4>();
    for (out, four) in outs.iter_mut().zip(fours) {
        store(out, _mm512_xor_si512(load(out), product128(load(four), factor)));
    }
    for (out, &scalar) in out_rest.iter_mut().zip(rest) {
        *out ^= lanes(product128(splat(scalar), factor))[0];
    }
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw")]
fn inner_product128(scalars: &[u128], elements: &[u128]) -> u128 {
    let zero = _mm512_setzero_si512();
    let (mut low, mut middle, mut high) = (zero, zero, zero);
    let mut add = |a: __m512i, b: __m512i| {
        let [l, m, h] = unreduced(a, b);
        (low, middle, high) = (_mm512_xor_si512(low, l), _mm512_xor_si512(middle, m), _mm512_xor_si512(high, h));
    };
    let (fours, rest) = scalars.as_chunks::<4>();
    let (element_fours, element_rest) = elements.as_chunks::<4>();
    for (scalars, elements) in fours.iter().zip(element_fours) {
        add(load(scalars), load(elements));
    }
    for (&scalar, &element) in rest.iter().zip(element_rest) {
        add(first(scalar), first(element));
    }
    let [low, middle, high] = [low, middle, high].map(|sum| xor_lanes(sum));
    portable::reduce128(low ^ middle << 64, high ^ middle >> 64)
}

/// Low, middle and high 128 bits of four products of 128-bit numbers, overlapping by 64.
#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f")]
fn unreduced(a: __m512i, b: __m512i) -> [__m512i; 3] {
    let cross = _mm512_xor_si512(_mm512_clmulepi64_epi128::<0x01>(a, b), _mm512_clmulepi64_epi128::<0x10>(a, b));
    [_mm512_clmulepi64_epi128::<0x00>(a, b), cross, _mm512_clmulepi64_epi128::<0x11>(a, b)]
}

/// Four products in GF(2^128): the tail of the polynomial, times what lies above, twice.
#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw")]
fn product128(a: __m512i, b: __m512i) -> __m512i {
    let [low, middle, high] = unreduced(a, b);
    let tail = splat(0x87);
    // Words from low to high: low.0, low.1 + middle.0 + fold(high.1).., each fold moves a word two words down.
    let top = _mm512_clmulepi64_epi128::<0x01>(high, tail);
    let middle = _mm512_xor_si512(middle, top);
    let next = _mm512_xor_si512(_mm512_bsrli_epi128::<8>(middle), high);
    let folded = _mm512_clmulepi64_epi128::<0x00>(next, tail);
    _mm512_xor_si512(_mm512_xor_si512(low, folded), _mm512_bslli_epi128::<8>(middle))
}

/// Four module elements over GF(2^64), each scaled by the scalar in the low word of its lane.
#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f")]
fn scaled64(scalars: __m512i, elements: __m512i) -> __m512i {
    let low = _mm512_clmulepi64_epi128::<0x00>(scalars, elements);
    let high = _mm512_clmulepi64_epi128::<0x10>(scalars, elements);
    let tail = splat(0x1b);
    let [low, high] = [low, high].map(|product| {
        let fold = _mm512_clmulepi64_epi128::<0x01>(product, tail);
        let rest = _mm512_clmulepi64_epi128::<0x01>(fold, tail);
        _mm512_xor_si512(product, _mm512_xor_si512(fold, rest))
    });
    _mm512_unpacklo_epi64(low, high)
}

/// Four 64-bit numbers, each in the low word of a lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn spread(four: &[u64; 4]) -> __m512i {
    _mm512_set_epi64(0, four[3] as i64, 0, four[2] as i64, 0, four[1] as i64, 0, four[0] as i64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(number: u128) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x((number >> 64) as i64, number as i64))
}

/// One number in the first lane, zero elsewhere.
#[inline]
#[target_feature(enable = "avx512f")]
fn first(number: u128) -> __m512i {
    _mm512_maskz_mov_epi64(3, splat(number))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(register: __m512i) -> [u128; 4] {
    let mut out = [0; 4];
    store(&mut out, register);
    out
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor_lanes(register: __m512i) -> u128 {
    lanes(register).into_iter().fold(0, |sum, lane| sum ^ lane)
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
