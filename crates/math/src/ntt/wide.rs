//! Vectors of 512 bits with 52-bit multiplications (x86-64 with AVX-512 IFMA).

use core::arch::x86_64::*;

use super::lanes::{BITS, Job, LANES, Lanes};

/// Proof that the processor has the instructions.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        let capable = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma");
        capable.then_some(Self(()))
    }

    #[inline]
    pub(super) fn run(self, job: impl Job) {
        // SAFETY: self exists, so the processor has the instructions.
        unsafe { run(job) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn run(job: impl Job) {
    job.run::<Register>();
}

/// A register. It is made within [`run`] alone: that is why what its methods do is safe.
#[derive(Clone, Copy)]
struct Register(__m512i);

impl Lanes for Register {
    #[inline(always)]
    fn load(from: &[u64; LANES]) -> Self {
        // SAFETY: `run` was called with the instructions; reads the 64 bytes behind the reference, which need no
        // alignment.
        Self(unsafe { _mm512_loadu_si512(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        // SAFETY: `run` was called with the instructions; writes the 64 bytes behind the exclusive reference.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_set1_epi64(word as i64) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_min_epu64(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn above(self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_srli_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn plus_low(self, a: Self, b: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn plus_high(self, a: Self, b: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn transpose(v: [Self; LANES]) -> [Self; LANES] {
        let even = quarters([v[0].even(v[1]), v[2].even(v[3]), v[4].even(v[5]), v[6].even(v[7])]);
        let odd = quarters([v[0].odd(v[1]), v[2].odd(v[3]), v[4].odd(v[5]), v[6].odd(v[7])]);
        [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
    }
}

/// Of registers of pairs, the pair at each place: those of all registers.
#[inline(always)]
fn quarters(pairs: [Register; 4]) -> [Register; 4] {
    let near = [pairs[0].first(pairs[1]), pairs[2].first(pairs[3])];
    let far = [pairs[0].second(pairs[1]), pairs[2].second(pairs[3])];
    [near[0].first(near[1]), far[0].first(far[1]), near[0].second(near[1]), far[0].second(far[1])]
}

impl Register {
    /// Pairs of the even words of both.
    #[inline(always)]
    fn even(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_unpacklo_epi64(self.0, other.0) })
    }

    /// Pairs of the odd words of both.
    #[inline(always)]
    fn odd(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_unpackhi_epi64(self.0, other.0) })
    }

    /// The first and third pairs of both.
    #[inline(always)]
    fn first(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_shuffle_i64x2::<0x88>(self.0, other.0) })
    }

    /// The second and fourth pairs of both.
    #[inline(always)]
    fn second(self, other: Self) -> Self {
        // SAFETY: `run` was called with the instructions.
        Self(unsafe { _mm512_shuffle_i64x2::<0xdd>(self.0, other.0) })
    }
}
