//! Transposes of 64 x 64 bits: a portable one, and one of bit-matrix instructions.

#[cfg(target_arch = "x86_64")]
mod wide;

/// A transpose in place: bit j of word i becomes bit i of word j.
pub(crate) type Square = fn(&mut [u64; 64]);

/// Transposes a 64 x 64 bit matrix in place: bit j of word i becomes bit i of word j.
pub fn square(m: &mut [u64; 64]) {
    fastest()(m);
}

/// The fastest transpose of this processor.
pub(crate) fn fastest() -> Square {
    wide().unwrap_or(portable)
}

/// The transpose of AVX-512 and GFNI instructions, where the processor has them.
pub(crate) fn wide() -> Option<Square> {
    #[cfg(target_arch = "x86_64")]
    return wide::transpose();
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The transpose that runs everywhere: swaps quarters, then quarters of quarters (Hacker's Delight, section 7-3).
pub(crate) fn portable(m: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    while width != 0 {
        for block in m.chunks_exact_mut(2 * width) {
            let (upper, lower) = block.split_at_mut(width);
            for (a, b) in upper.iter_mut().zip(lower) {
                let swap = (*a >> width ^ *b) & mask;
                *a ^= swap << width;
                *b ^= swap;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::{fastest, portable, wide};
    use crate::{Prg, Seed};

    fn naive(m: &[u64; 64]) -> [u64; 64] {
        std::array::from_fn(|j| (0..64).fold(0, |word, i| word | (m[i] >> j & 1) << i))
    }

    #[test]
    fn every_path_transposes() {
        println!("64 x 64 transposes run as: {}", if wide().is_some() { "AVX-512 with GFNI" } else { "portable" });
        let mut prg = Prg::new(&Seed::from_bytes([5; 16]));
        for path in [portable, fastest()].into_iter().chain(wide()) {
            for bit in 0..64 {
                let mut single = [0; 64];
                single[bit] = 1 << (bit * 7 % 64);
                let expected = naive(&single);
                path(&mut single);
                assert_eq!(single, expected);
            }
            for _ in 0..200 {
                let mut m = [0; 64];
                prg.fill(&mut m);
                let (original, expected) = (m, naive(&m));
                path(&mut m);
                assert_eq!(m, expected);
                path(&mut m);
                assert_eq!(m, original);
            }
        }
    }
}
