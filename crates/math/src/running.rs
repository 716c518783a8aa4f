//! Running sums of 32-bit numbers.

/// `out[i] = start + x[0] + ... + x[i - 1]`. Returns what would follow: `start` and the sum of all.
///
/// # Panics
/// Unless there is room for exactly as many numbers.
pub fn before(x: &[u32], start: u32, out: &mut [u32]) -> u32 {
    assert_eq!(x.len(), out.len(), "vectors of one length");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F.
        return unsafe { before_wide(x, start, out) };
    }
    before_portable(x, start, out)
}

fn before_portable(x: &[u32], start: u32, out: &mut [u32]) -> u32 {
    x.iter().zip(out).fold(start, |sum, (&x, out)| {
        *out = sum;
        sum.wrapping_add(x)
    })
}

/// Sixteen at a time, whose sums are built in four steps (Hillis and Steele, "Data parallel algorithms", CACM 1986).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn before_wide(x: &[u32], start: u32, out: &mut [u32]) -> u32 {
    use std::arch::x86_64::{
        _mm_cvtsi128_si32, _mm512_add_epi32, _mm512_alignr_epi32, _mm512_castsi512_si128, _mm512_loadu_si512,
        _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_sub_epi32,
    };
    let (zero, last) = (_mm512_setzero_si512(), _mm512_set1_epi32(15));
    let mut sum = _mm512_set1_epi32(start as i32);
    let (blocks, rest) = x.as_chunks::<16>();
    let (outs, rest_out) = out.as_chunks_mut::<16>();
    for (block, out) in blocks.iter().zip(outs) {
        // SAFETY: 16 numbers of 32 bits.
        let block = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        // Each number, and those 1, 2, 4 and 8 places before it.
        let mut sums = _mm512_add_epi32(block, _mm512_alignr_epi32::<15>(block, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
        sums = _mm512_add_epi32(sums, sum);
        // SAFETY: room for 16 numbers of 32 bits.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_sub_epi32(sums, block)) };
        sum = _mm512_permutexvar_epi32(last, sums);
    }
    before_portable(rest, _mm_cvtsi128_si32(_mm512_castsi512_si128(sum)) as u32, rest_out)
}

#[cfg(test)]
mod tests {
    use super::{before, before_portable};
    use crate::{Prg, Seed};

    #[test]
    fn sums_of_what_came_before() {
        let mut prg = Prg::new(&Seed::from_bytes([8; 16]));
        for len in (0..70).chain([512, 1000]) {
            let (x, start): (Vec<u32>, u32) = (prg.vector(len), prg.vector(1)[0]);
            let [mut sums, mut portable] = [vec![0; len], vec![0; len]];
            let total = before(&x, start, &mut sums);
            assert_eq!(total, before_portable(&x, start, &mut portable));
            assert_eq!(sums, portable);
            let expected = |i: usize| x[..i].iter().fold(start, |sum, &x| sum.wrapping_add(x));
            assert!(sums.iter().enumerate().all(|(i, &sum)| sum == expected(i)) && total == expected(len));
        }
    }
}
