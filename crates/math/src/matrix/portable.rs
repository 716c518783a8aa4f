//! The micro-kernel of any processor: elements are packed as they are.

use std::ops::Range;

use super::kernel::{MicroKernel, Shape, TILE};
use super::pack::{FOUR, Operand, Packing};
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
        Shape { rows: SIDE, columns: SIDE, words: size_of::<R>() / size_of::<u64>(), thin: 4 }
    }

    fn pack(
        &self,
        operand: Operand<'_, R>,
        lines: Range<usize>,
        depth: Range<usize>,
        width: usize,
        panels: &mut [u64],
    ) {
        let words = size_of::<R>() / size_of::<u64>();
        Packing { operand, lines, depth, width, words, panels, store: store::<R> }.run();
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
#[inline(always)]
pub fn store<R: Ring>(values: [R; FOUR], first: usize, _width: usize, elements: &mut [u64]) {
    bytemuck::cast_slice_mut(elements)[first..first + FOUR].copy_from_slice(&values);
}
