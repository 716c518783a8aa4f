//! The micro-kernel of any processor: elements are packed as they are.

use std::ops::Range;

use super::kernel::{MicroKernel, Shape, TILE};
use super::pack::{FOUR, Operand, Packing, Store};
use crate::Ring;
use crate::simd::Kernel;

/// Rows and columns of a tile.
const SIDE: usize = 4;

/// Needs nothing.
pub struct Portable;

impl<R: Ring> MicroKernel<R> for Portable {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn shape(&self) -> Shape {
        Shape { rows: SIDE, columns: SIDE, words: <Whole as Store<R>>::WORDS, thin: 4 }
    }

    fn pack(
        &self,
        operand: Operand<'_, R>,
        lines: Range<usize>,
        depth: Range<usize>,
        width: usize,
        panels: &mut [u64],
    ) {
        Packing::<R, Whole>::new(operand, lines, depth, width, panels).run();
    }

    fn multiply(&self, a: &[u64], b: &[u64], tile: &mut [R; TILE]) {
        let [a, b] = [a, b].map(bytemuck::cast_slice::<u64, R>).map(|panel| panel.as_chunks::<SIDE>().0);
        for (i, row) in tile.as_chunks_mut::<SIDE>().0[..SIDE].iter_mut().enumerate() {
            *row = a.iter().zip(b).fold([R::ZERO; SIDE], |sums, (a, b)| plus_multiple(sums, a[i], b));
        }
    }
}

#[inline(always)]
fn plus_multiple<R: Ring>(sums: [R; SIDE], x: R, row: &[R; SIDE]) -> [R; SIDE] {
    std::array::from_fn(|j| sums[j].add(x.mul(row[j])))
}

/// Elements as they are.
pub struct Whole;

impl<R: Ring> Store<R> for Whole {
    const WORDS: usize = size_of::<R>() / size_of::<u64>();

    #[inline(always)]
    fn store<const W: usize>(values: [R; FOUR], first: usize, elements: &mut [u64]) {
        bytemuck::cast_slice_mut(elements)[first..first + FOUR].copy_from_slice(&values);
    }
}
