//! A public pseudorandom permutation of the numbers below rows * 2^bits.

use crate::{Prg, Seed};

/// Rounds of the Feistel network.
const ROUNDS: usize = 4;

/// A Feistel network between a column of `bits` bits and a row below `rows`, which need not be a power of two: rows are
/// added modulo their number. Each round's function is a hash of the other part and the round's key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    rows: u32,
    bits: u32,
    keys: [u32; ROUNDS],
}

impl Order {
    /// The permutation of a seed.
    pub(super) fn new(seed: &Seed, rows: u32, bits: u32) -> Self {
        let mut keys = [0; ROUNDS];
        Prg::new(seed).fill(&mut keys);
        Self { rows, bits, keys }
    }

    /// The images of consecutive numbers.
    pub(super) fn indices(&self, first: u32, out: &mut [u32]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the instructions.
            return unsafe { indices_wide(self, first, out) };
        }
        indices(self, first, out);
    }

    #[inline(always)]
    fn image(&self, number: u32) -> u32 {
        let (mut column, mut row) = (number & ((1 << self.bits) - 1), number >> self.bits);
        for pair in self.keys.as_chunks::<2>().0 {
            column ^= (u64::from(hash(pair[0], row)) >> (32 - self.bits)) as u32;
            let sum = row + ((u64::from(hash(pair[1], column)) * u64::from(self.rows)) >> 32) as u32;
            row = sum.min(sum.wrapping_sub(self.rows));
        }
        row << self.bits | column
    }
}

#[inline(always)]
fn indices(order: &Order, first: u32, out: &mut [u32]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = order.image(first + i as u32);
    }
}

/// The same on vector registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn indices_wide(order: &Order, first: u32, out: &mut [u32]) {
    indices(order, first, out);
}

/// Two multiplications with a shift between: every bit of the input reaches the high bits of the output.
#[inline(always)]
fn hash(key: u32, x: u32) -> u32 {
    let x = (x ^ key).wrapping_mul(0x9e37_79b1);
    (x ^ x >> 15).wrapping_mul(0x85eb_ca77)
}

#[cfg(test)]
mod tests {
    use super::Order;
    use crate::Seed;

    #[test]
    fn is_a_permutation_and_the_paths_agree() {
        for (rows, bits) in [(1, 5), (3, 4), (464, 4), (512, 4), (660, 7), (177, 8)] {
            for number in 0..2 {
                let order = Order::new(&Seed::from_bytes([number; 16]), rows, bits);
                let mut images = vec![0; (rows << bits) as usize];
                order.indices(0, &mut images);
                let mut portable = vec![0; images.len()];
                super::indices(&order, 0, &mut portable);
                assert_eq!(images, portable);
                images.sort_unstable();
                assert!(images.iter().copied().eq(0..rows << bits), "{rows} rows of 2^{bits}");
            }
        }
    }

    /// Neighbours go to unrelated places: distances between images of neighbours look uniform. With fixed keys, so it
    /// cannot flake.
    #[test]
    fn neighbours_part() {
        let order = Order::new(&Seed::from_bytes([1; 16]), 512, 12);
        let mut images = vec![0; 1 << 21];
        order.indices(0, &mut images);
        for distance in [1, 2, 4096, 8192] {
            let mut counts = [0_i32; 64];
            for pair in images.windows(distance + 1) {
                counts[(pair[distance].wrapping_sub(pair[0]) as usize >> 15) & 63] += 1;
            }
            let mean = (images.len() - distance) as f64 / 64.0;
            let chi: f64 = counts.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum();
            assert!(chi < 160.0, "chi-square of 63 degrees of freedom is {chi} at distance {distance}");
        }
    }
}
