//! Eight or four columns to a 512-bit register, added under a mask made of the row's bits.

use super::{Row, Word};
use core::arch::x86_64::*;

/// Proof that the processor has masked 512-bit operations and spreads bits.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

/// How words of one kind lie in registers.
pub(super) trait Lanes {
    type Word: Word;
    /// Registers that the columns of one word of bits fill.
    const REGISTERS: usize;

    /// The masks of all registers under one word of bits, a byte each.
    fn masks(bits: u64) -> [u64; 2];

    /// The sum of the words in a register.
    fn sum(register: __m512i) -> Self::Word;
}

/// 64-bit words: bits are masks as they are.
pub(super) struct Lanes64;

impl Lanes for Lanes64 {
    type Word = u64;
    const REGISTERS: usize = 8;

    #[inline(always)]
    fn masks(bits: u64) -> [u64; 2] {
        [bits, 0]
    }

    #[inline(always)]
    fn sum(register: __m512i) -> u64 {
        // SAFETY: a register is 64 bytes without any meaning.
        let words: [u64; 8] = unsafe { core::mem::transmute(register) };
        words.into_iter().fold(0, |sum, word| sum ^ word)
    }
}

/// 128-bit words: each bit is doubled.
pub(super) struct Lanes128;

impl Lanes for Lanes128 {
    type Word = u128;
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn masks(bits: u64) -> [u64; 2] {
        // SAFETY: reached only through Wide, so the processor has BMI2.
        [bits & 0xffff_ffff, bits >> 32].map(|half| 3 * unsafe { _pdep_u64(half, 0x5555_5555_5555_5555) })
    }

    #[inline(always)]
    fn sum(register: __m512i) -> u128 {
        // SAFETY: a register is 64 bytes without any meaning.
        let words: [u128; 4] = unsafe { core::mem::transmute(register) };
        words[0] ^ words[1] ^ words[2] ^ words[3]
    }
}

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi2")).then_some(Self(()))
    }

    /// As [`super::products`], whose checks have passed.
    pub(super) fn products<L: Lanes, const W: usize>(self, rows: &[Row<W>], columns: &[L::Word], out: &mut [L::Word]) {
        // SAFETY: self exists, so the processor has the instructions; every band lies within the columns.
        unsafe { products::<L, W>(rows, columns, out) }
    }

    /// As [`super::substitute`], whose checks have passed.
    pub(super) fn substitute<L: Lanes, const W: usize>(self, pivots: &[[u64; W]], columns: &mut [L::Word]) {
        // SAFETY: self exists, so the processor has the instructions; every band lies within the columns.
        unsafe { substitute::<L, W>(pivots, columns) }
    }
}

#[target_feature(enable = "avx512f,bmi2")]
unsafe fn products<L: Lanes, const W: usize>(rows: &[Row<W>], columns: &[L::Word], out: &mut [L::Word]) {
    for (row, out) in rows.iter().zip(out) {
        debug_assert!(row.start as usize + 64 * W <= columns.len());
        // SAFETY: the caller has checked what is asserted.
        *out = unsafe { product::<L, W>(&row.bits, columns.as_ptr().add(row.start as usize)) };
    }
}

#[target_feature(enable = "avx512f,bmi2")]
unsafe fn substitute<L: Lanes, const W: usize>(pivots: &[[u64; W]], columns: &mut [L::Word]) {
    for (place, pivot) in pivots.iter().enumerate().rev() {
        let mut rest = *pivot;
        rest[0] &= !1;
        debug_assert!(place + 64 * W <= columns.len());
        // SAFETY: the caller has checked what is asserted.
        let sum = unsafe { product::<L, W>(&rest, columns.as_ptr().add(place)) };
        columns[place] ^= sum;
    }
}

/// The product of a band and the 64 W words from `columns` on.
///
/// # Safety
/// All of these words must be readable.
#[target_feature(enable = "avx512f,bmi2")]
#[inline]
unsafe fn product<L: Lanes, const W: usize>(bits: &[u64; W], columns: *const L::Word) -> L::Word {
    let mut sums = [_mm512_setzero_si512(); 4];
    for (number, &word) in bits.iter().enumerate() {
        let masks = L::masks(word);
        for register in 0..L::REGISTERS {
            let mask = (masks[register / 8] >> (8 * (register % 8))) as u8;
            let at = (number * L::REGISTERS + register) * 64;
            // SAFETY: the 64 bytes lie within the words that the caller vouches for.
            let loaded = unsafe { _mm512_loadu_si512(columns.cast::<u8>().add(at).cast()) };
            let sum = sums[register % 4];
            sums[register % 4] = _mm512_mask_xor_epi64(sum, mask, sum, loaded);
        }
    }
    L::sum(_mm512_xor_si512(_mm512_xor_si512(sums[0], sums[1]), _mm512_xor_si512(sums[2], sums[3])))
}
