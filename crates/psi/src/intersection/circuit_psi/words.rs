//! Values as words: the planes of a block, 64 to a word, then its vectors; those over Z/2^128 take two words from an
//! even position on, low word first.

use tacit_math::{Plane, transpose};
use tacit_mpc::{Block, Shape};

/// How many pairs of words a row of such a block has.
pub(super) fn pairs_of(shape: Shape) -> usize {
    (shape.bits.div_ceil(64) + shape.r64).div_ceil(2) + shape.r128
}

/// Rows of a block minus rows of masks, two words at a time (XOR for planes). A mask fills its words: bits that hold no
/// column are masked, too.
pub(super) struct Difference<'a> {
    /// Words of planes, and words of planes and of vectors over Z/2^64.
    planes: usize,
    words: usize,
    values: Vec<Vec<u128>>,
    masks: &'a [Vec<u128>],
}

impl<'a> Difference<'a> {
    /// Of a block, and of masks that have as many pairs of words a row.
    pub(super) fn new(values: &Block, masks: &'a [Vec<u128>]) -> Self {
        let planes = values.bits.len().div_ceil(64);
        Self { planes, words: planes + values.r64.len(), values: pairs(values), masks }
    }

    /// A pair of neighbouring words of a value minus a mask; beyond the last one, of zeros minus the mask.
    pub(super) fn pair(&self, value: usize, mask: usize, number: usize) -> u128 {
        let (x, y) = (self.values[number][value], self.masks[number][mask]);
        if 2 * number >= self.words {
            return x.wrapping_sub(y);
        }
        let word = |k: usize, x: u64, y: u64| if k < self.planes { x ^ y } else { x.wrapping_sub(y) };
        let low = word(2 * number, x as u64, y as u64);
        wide(low, word(2 * number + 1, (x >> 64) as u64, (y >> 64) as u64))
    }
}

/// The block of this shape whose rows have these words, two to each number.
pub(super) fn block(shape: Shape, pairs: &[Vec<u128>]) -> Block {
    let column = |k: usize| pairs[k / 2].iter().map(move |pair| (pair >> (64 * (k % 2))) as u64);
    let planes = shape.bits.div_ceil(64);
    let of_word = |k: usize| transpose::planes_of_rows(&column(k).collect::<Vec<_>>(), (shape.bits - 64 * k).min(64));
    Block {
        rows: shape.rows,
        bits: (0..planes).flat_map(of_word).collect(),
        r32: vec![],
        r64: (planes..planes + shape.r64).map(|k| column(k).collect()).collect(),
        r128: pairs[(planes + shape.r64).div_ceil(2)..].to_vec(),
    }
}

fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The inverse of [`block`], with zeros where a word holds no column.
fn pairs(block: &Block) -> Vec<Vec<u128>> {
    let planes = block
        .bits
        .chunks(64)
        .map(|planes| transpose::rows_of_planes(&planes.iter().collect::<Vec<&Plane>>(), block.rows));
    let words: Vec<Vec<u64>> = planes.chain(block.r64.iter().cloned()).collect();
    let pair = |words: &[Vec<u64>]| match words {
        [low, high] => low.iter().zip(high).map(|(&low, &high)| wide(low, high)).collect(),
        words => words.iter().flatten().map(|&low| u128::from(low)).collect(),
    };
    words.chunks(2).map(pair).chain(block.r128.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_math::{Prg, Seed};

    const SHAPES: [(usize, usize, usize); 8] =
        [(0, 0, 0), (1, 0, 0), (61, 1, 0), (61, 2, 0), (64, 0, 1), (65, 2, 2), (128, 0, 0), (130, 1, 3)];

    /// A value for each of five rows, and a mask for each of seven.
    fn drawn((bits, r64, r128): (usize, usize, usize), prg: &mut Prg) -> (Shape, Block, Vec<Vec<u128>>) {
        let shape = Shape { rows: 5, bits, r64, r128, ..Shape::default() };
        (shape, Block::random(shape, prg), (0..pairs_of(shape)).map(|_| prg.vector(7)).collect())
    }

    #[test]
    fn differences_and_masks_add_up_to_the_values() {
        let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
        for shape in SHAPES {
            let (shape, values, masks) = drawn(shape, &mut prg);
            let difference = Difference::new(&values, &masks);
            let pairs: Vec<Vec<u128>> = (0..pairs_of(shape))
                .map(|number| (0..5).map(|row| difference.pair(row, 6 - row, number)).collect())
                .collect();
            let masks = block(Shape { rows: 7, ..shape }, &masks);
            let sum = block(shape, &pairs).plus(&masks.gather(&[6, 5, 4, 3, 2]));
            assert!(sum.bits.iter().zip(&values.bits).all(|(x, y)| x.to_bools() == y.to_bools()), "{shape:?}");
            assert_eq!((sum.r64, sum.r128), (values.r64, values.r128), "{shape:?}");
        }
    }

    #[test]
    fn masks_change_every_bit_of_a_difference() {
        let mut prg = Prg::new(&Seed::from_bytes([8; 16]));
        for shape in SHAPES {
            let (shape, values, mut masks) = drawn(shape, &mut prg);
            let all = |masks: &[Vec<u128>]| -> Vec<u128> {
                let difference = Difference::new(&values, masks);
                (0..pairs_of(shape)).map(|number| difference.pair(0, 0, number)).collect()
            };
            let before = all(&masks);
            let mut changed = vec![0; before.len()];
            for _ in 0..64 {
                masks.iter_mut().for_each(|masks| masks[0] = prg.vector(1)[0]);
                changed
                    .iter_mut()
                    .zip(all(&masks))
                    .zip(&before)
                    .for_each(|((changed, now), before)| *changed |= now ^ before);
            }
            assert!(changed.iter().all(|&changed| changed == u128::MAX), "{shape:?}: {changed:x?}");
        }
    }
}
