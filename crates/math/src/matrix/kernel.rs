//! Micro-kernels: how a processor multiplies packed panels (Van Zee, van de Geijn, "BLIS", ACM TOMS 41, 2015).

use std::ops::Range;

use super::pack::Operand;

/// Elements of the largest tile.
pub const TILE: usize = 128;

/// Positions of the inner dimension that are packed and multiplied at a time, at most. `limbs` has room
/// for 1,300 products before carries have to move.
pub const DEPTH: usize = 256;

/// Sizes of a micro-kernel's tile. Both sides are 4, 8 or 32.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Rows of a tile: the width of a panel of A.
    pub rows: usize,
    /// Columns of a tile: the width of a panel of B.
    pub columns: usize,
    /// Words of a packed element.
    pub words: usize,
    /// Products of this number of rows or columns, or fewer, are faster without packing.
    pub thin: usize,
}

/// How a processor packs panels and multiplies them.
///
/// A panel has, for each position of the inner dimension, as many elements as it is wide, in [`Shape::words`] words
/// each. How elements become words is the kernel's own affair.
pub trait MicroKernel<R>: Sync {
    /// The instructions.
    fn name(&self) -> &'static str;

    /// The sizes.
    fn shape(&self) -> Shape;

    /// Packs lines of an operand, [`Shape::rows`] or [`Shape::columns`] of them to a panel, one panel behind the other.
    /// Lines that the last panel lacks are zeros.
    fn pack(&self, operand: Operand<'_, R>, lines: Range<usize>, depth: Range<usize>, width: usize, panels: &mut [u64]);

    /// The product of panels of A and B of equal depth, at most [`DEPTH`]: the tile's rows one behind the other.
    fn multiply(&self, a: &[u64], b: &[u64], tile: &mut [R; TILE]);
}
