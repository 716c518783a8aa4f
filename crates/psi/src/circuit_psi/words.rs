//! Values as words: the planes of a block, 64 to a word, then its vectors, low word first.

use tacit_math::{Plane, transpose};
use tacit_mpc::{Block, Shape};

/// How many words a row of such a block has.
pub(super) fn count(shape: Shape) -> usize {
    shape.bits.div_ceil(64) + shape.r64 + 2 * shape.r128
}

/// Rows of one block minus rows of another, word by word (XOR for planes).
pub(super) struct Difference {
    shape: Shape,
    values: Vec<Vec<u64>>,
    masks: Vec<Vec<u64>>,
}

impl Difference {
    /// Of two blocks of one shape, but for the number of rows.
    pub(super) fn new(values: &Block, masks: &Block) -> Self {
        Self { shape: values.shape(), values: columns(values), masks: columns(masks) }
    }

    /// Two neighbouring words of a value minus a mask; zeros beyond the last one.
    pub(super) fn pair(&self, value: usize, mask: usize, number: usize) -> u128 {
        let word = |k| if k < self.values.len() { self.word(value, mask, k) } else { 0 };
        u128::from(word(2 * number)) | u128::from(word(2 * number + 1)) << 64
    }

    fn word(&self, value: usize, mask: usize, k: usize) -> u64 {
        let planes = self.shape.bits.div_ceil(64);
        let vectors = planes + self.shape.r64;
        let (x, y) = (&self.values, &self.masks);
        if k < planes {
            return x[k][value] ^ y[k][mask];
        }
        if k < vectors {
            return x[k][value].wrapping_sub(y[k][mask]);
        }
        let low = k - (k - vectors) % 2;
        let wide = |columns: &[Vec<u64>], row: usize| wide(columns[low][row], columns[low + 1][row]);
        (wide(x, value).wrapping_sub(wide(y, mask)) >> (64 * (k - low))) as u64
    }
}

/// The block of this shape whose rows have these words, two to each number.
pub(super) fn block(shape: Shape, pairs: &[Vec<u128>]) -> Block {
    let column = |k: usize| pairs[k / 2].iter().map(move |pair| (pair >> (64 * (k % 2))) as u64);
    let planes = shape.bits.div_ceil(64);
    let of_word = |k: usize| transpose::planes_of_rows(&column(k).collect::<Vec<_>>(), (shape.bits - 64 * k).min(64));
    let wide_column = |k: usize| {
        let low = planes + shape.r64 + 2 * k;
        column(low).zip(column(low + 1)).map(|(low, high)| wide(low, high)).collect()
    };
    Block {
        rows: shape.rows,
        bits: (0..planes).flat_map(of_word).collect(),
        r32: vec![],
        r64: (planes..planes + shape.r64).map(|k| column(k).collect()).collect(),
        r128: (0..shape.r128).map(wide_column).collect(),
    }
}

fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn columns(block: &Block) -> Vec<Vec<u64>> {
    let planes = block
        .bits
        .chunks(64)
        .map(|planes| transpose::rows_of_planes(&planes.iter().collect::<Vec<&Plane>>(), block.rows));
    let mut out: Vec<Vec<u64>> = planes.collect();
    out.extend(block.r64.iter().cloned());
    for column in &block.r128 {
        out.push(column.iter().map(|&x| x as u64).collect());
        out.push(column.iter().map(|&x| (x >> 64) as u64).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_math::{Prg, Seed};

    #[test]
    fn differences_and_masks_add_up_to_the_values() {
        let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
        for (bits, r64, r128) in [(0, 0, 0), (1, 0, 0), (61, 1, 0), (64, 0, 1), (65, 2, 2), (130, 1, 3)] {
            let shape = Shape { rows: 5, bits, r64, r128, ..Shape::default() };
            let (values, masks) = (Block::random(shape, &mut prg), Block::random(Shape { rows: 7, ..shape }, &mut prg));
            let difference = Difference::new(&values, &masks);
            let pairs: Vec<Vec<u128>> = (0..count(shape).div_ceil(2))
                .map(|number| (0..5).map(|row| difference.pair(row, 6 - row, number)).collect())
                .collect();
            let sum = block(shape, &pairs).plus(&masks.gather(&[6, 5, 4, 3, 2]));
            assert!(sum.bits.iter().zip(&values.bits).all(|(x, y)| x.to_bools() == y.to_bools()), "{shape:?}");
            assert_eq!((sum.r64, sum.r128), (values.r64, values.r128), "{shape:?}");
        }
    }
}
