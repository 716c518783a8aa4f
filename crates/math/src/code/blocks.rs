//! Sums of blocks of 128 bits on vector registers, some of them at secret positions.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__m128i, _mm_and_si128, _mm_xor_si128};

/// A block in one register: numbers of 128 bits are kept in two, which takes twice as many instructions.
#[cfg(target_arch = "x86_64")]
type Register = __m128i;
#[cfg(not(target_arch = "x86_64"))]
type Register = u128;

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn xor(x: Register, y: Register) -> Register {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_xor_si128(x, y) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn xor(x: Register, y: Register) -> Register {
    x ^ y
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn and(x: Register, y: Register) -> Register {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_and_si128(x, y) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn and(x: Register, y: Register) -> Register {
    x & y
}

/// Replaces blocks, of which only the bits of a mask count, by their running sums, which begin after `before`, and
/// returns the last of them.
pub fn accumulate_masked(blocks: &mut [u128], mask: u128, before: u128) -> u128 {
    let mask: Register = bytemuck::cast(mask);
    let mut sum: Register = bytemuck::cast(before);
    for block in blocks {
        sum = xor(sum, and(bytemuck::cast(*block), mask));
        *block = bytemuck::cast(sum);
    }
    bytemuck::cast(sum)
}

/// Writes the running sums of the blocks at some indices.
pub(super) fn accumulate_reordered(blocks: &[u128], indices: &[u32], out: &mut [u128]) {
    let mut sum: Register = bytemuck::cast(0_u128);
    for (out, &index) in out.iter_mut().zip(indices) {
        sum = xor(sum, bytemuck::cast(blocks[index as usize]));
        *out = bytemuck::cast(sum);
    }
}

/// Adds a block to all blocks from a secret position on, which is below their number: what a value at this position
/// adds to running sums.
pub fn add_from(blocks: &mut [u128], place: u32, block: u128) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { add_from_wide(blocks, place, block) };
    }
    add_from_each(blocks, place, block);
}

#[inline(always)]
fn add_from_each(blocks: &mut [u128], place: u32, block: u128) {
    // Word by word, so that the compiler finds vectors.
    let words: [u64; 2] = bytemuck::cast(block);
    for (i, pair) in bytemuck::cast_slice_mut::<_, [u64; 2]>(blocks).iter_mut().enumerate() {
        let from = !((i as i64 - i64::from(place)) >> 63) as u64;
        pair[0] ^= words[0] & from;
        pair[1] ^= words[1] & from;
    }
}

/// The same on vector registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_from_wide(blocks: &mut [u128], place: u32, block: u128) {
    add_from_each(blocks, place, block);
}

/// Adds two blocks to the pair at a secret position.
pub fn add_at(pairs: &mut [[u128; 2]], place: u32, both: [u128; 2]) {
    let both: [Register; 2] = both.map(bytemuck::cast);
    for (i, pair) in pairs.iter_mut().enumerate() {
        // Of all differences zero alone has its highest bit set after one less and not before.
        let difference = i as u64 ^ u64::from(place);
        let here = ((difference.wrapping_sub(1) & !difference) as i64 >> 63) as u64;
        let here: Register = bytemuck::cast([here; 2]);
        *pair = [0, 1].map(|side| bytemuck::cast(xor(bytemuck::cast(pair[side]), and(both[side], here))));
    }
}

#[cfg(test)]
mod tests {
    use super::{accumulate_masked, accumulate_reordered, add_at, add_from, add_from_each};
    use crate::{Prg, Seed};

    #[test]
    fn sums_are_those_of_the_blocks() {
        let mut prg = Prg::new(&Seed::from_bytes([5; 16]));
        let (blocks, mask, before) = (prg.vector::<u128>(100), prg.vector::<u128>(1)[0], prg.vector::<u128>(1)[0]);
        let mut sums = blocks.clone();
        let last = accumulate_masked(&mut sums, mask, before);
        let indices: Vec<u32> = (0..100).map(|i| i * 37 % 100).collect();
        let mut reordered = vec![0; 100];
        accumulate_reordered(&blocks, &indices, &mut reordered);
        let (mut sum, mut other) = (before, 0);
        for i in 0..100 {
            sum ^= blocks[i] & mask;
            other ^= blocks[indices[i] as usize];
            assert_eq!((sums[i], reordered[i]), (sum, other));
        }
        assert_eq!(last, sum);
    }

    #[test]
    fn secret_places_are_met_on_every_path() {
        let mut prg = Prg::new(&Seed::from_bytes([6; 16]));
        let [first, second] = prg.vector::<u128>(2)[..] else { unreachable!("two blocks") };
        for length in [1, 2, 7, 8, 64] {
            let pairs: Vec<[u128; 2]> = prg.vector(length);
            for place in 0..length {
                let (mut got, mut expected) = (pairs.clone(), pairs.clone());
                add_at(&mut got, place as u32, [first, second]);
                expected[place] = [expected[place][0] ^ first, expected[place][1] ^ second];
                assert_eq!(got, expected);
                for add in [add_from, add_from_each] {
                    let (mut got, mut expected) = (pairs.concat(), pairs.concat());
                    add(&mut got, place as u32, first);
                    expected[place..].iter_mut().for_each(|block| *block ^= first);
                    assert_eq!(got, expected);
                }
            }
        }
    }
}
