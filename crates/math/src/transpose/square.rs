//! Transposes of 64 x 64 bits: a portable one, and one of bit-matrix instructions.

#[cfg(target_arch = "x86_64")]
mod wide;

/// A transpose in place: bit j of word i becomes bit i of word j.
pub(crate) type Square = fn(&mut [u64; 64]);

/// Transposes eight squares: word i of square t is word t of line i of 64, each the given number of words behind the
/// one before.
pub(crate) type EightSquares = fn(&[u64], usize, &mut [[u64; 64]; 8]);

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

/// The fastest transpose of eight squares.
pub(crate) fn fastest_eight() -> EightSquares {
    wide_eight().unwrap_or(portable_eight)
}

/// The transpose of eight squares of the same instructions.
pub(crate) fn wide_eight() -> Option<EightSquares> {
    #[cfg(target_arch = "x86_64")]
    return wide::transpose_eight();
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The transpose of eight squares that runs everywhere.
pub(crate) fn portable_eight(lines: &[u64], stride: usize, squares: &mut [[u64; 64]; 8]) {
    for j in 0..64 {
        squares.iter_mut().zip(&lines[j * stride..]).for_each(|(m, word)| m[j] = *word);
    }
    squares.iter_mut().for_each(portable);
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
    use super::{fastest, fastest_eight, portable, portable_eight, wide, wide_eight};
    use crate::{Prg, Seed};

    fn naive(m: &[u64; 64]) -> [u64; 64] {
        std::array::from_fn(|j| (0..64).fold(0, |word, i| word | (m[i] >> j & 1) << i))
    }

    #[test]
    fn every_path_transposes_eight_squares() {
        let mut prg = Prg::new(&Seed::from_bytes([6; 16]));
        for stride in [8, 9, 64] {
            let lines: Vec<u64> = prg.vector(63 * stride + 8);
            for path in [portable_eight, fastest_eight()].into_iter().chain(wide_eight()) {
                let mut squares = [[0; 64]; 8];
                path(&lines, stride, &mut squares);
                for (t, square) in squares.iter().enumerate() {
                    assert_eq!(*square, naive(&std::array::from_fn(|i| lines[i * stride + t])));
                }
            }
        }
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
