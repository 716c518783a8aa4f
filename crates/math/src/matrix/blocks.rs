//! The loops around a micro-kernel: blocks of columns and of the inner dimension, packed once for all threads, then
//! blocks of rows in each lane, then tiles.

use std::ops::Range;

use super::kernel::{DEPTH, MicroKernel, Shape, TILE};
use super::pack::{Operand, Panels};
use crate::simd::{Kernel, dispatch};
use crate::{Ring, lanes};

/// Bytes of a packed block of rows: a part of a core's own cache.
const ROWS_AT_ONCE: usize = 256 << 10;

/// Bytes of a packed block of columns: a part of the cache of all cores.
const COLUMNS_AT_ONCE: usize = 2 << 20;

/// Where elements of C lie: element (i, j) at `rows[i] + columns[j]`.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// The first elements of rows.
    pub rows: &'a [usize],
    /// The elements of a row, from there.
    pub columns: &'a [usize],
}

/// Rows of C that one thread computes.
pub struct Lane<'c, R> {
    /// Which.
    pub rows: Range<usize>,
    /// Their elements.
    pub sums: &'c mut [R],
    /// The place at which `sums` begins.
    pub first: usize,
}

/// Lines of the panels of both sides.
#[derive(Clone, Copy)]
pub struct Widths {
    /// Of rows of C.
    pub rows: usize,
    /// Of columns of C.
    pub columns: usize,
    /// The micro-kernel's rows are columns of C.
    pub turned: bool,
}

/// Of both ways to cover C with tiles the one that covers less beyond it.
pub fn widths(shape: Shape, rows: usize, columns: usize) -> Widths {
    let covered = |height, width| rows.next_multiple_of(height) * columns.next_multiple_of(width);
    let turned = covered(shape.columns, shape.rows) < covered(shape.rows, shape.columns);
    let [rows, columns] = if turned { [shape.columns, shape.rows] } else { [shape.rows, shape.columns] };
    Widths { rows, columns, turned }
}

/// C += A B, for the rows of all lanes. The operands are rows of A and columns of B.
pub fn accumulate<R: Ring>(
    kernel: &dyn MicroKernel<R>,
    [a, b]: [Operand<'_, R>; 2],
    places: Places<'_>,
    lanes: Vec<Lane<'_, R>>,
) {
    assert_eq!(a.depth(), b.depth(), "one inner dimension");
    assert!(a.lines() == places.rows.len() && b.lines() == places.columns.len(), "a place for each sum");
    if a.depth() == 0 {
        return;
    }
    let (shape, widths) = (kernel.shape(), widths(kernel.shape(), a.lines(), b.lines()));
    let words = shape.words * a.depth().min(DEPTH);
    let rows_at_once = lines(ROWS_AT_ONCE, words, widths.rows);
    let columns_at_once = lines(COLUMNS_AT_ONCE, words, widths.columns);
    let several = lanes.len() > 1;
    let mut lanes: Vec<_> =
        lanes.into_iter().map(|lane| (panels(&lane.rows, rows_at_once, widths.rows, words), lane)).collect();
    let mut packed = panels(&(0..b.lines()), columns_at_once, widths.columns, words);
    for columns in steps(0..b.lines(), columns_at_once) {
        for depth in steps(0..a.depth(), DEPTH) {
            let words = shape.words * depth.len();
            pack(kernel, b, [columns.clone(), depth.clone()], widths.columns, words, several, packed.words());
            let (packed, columns) = (&*packed.words(), columns.clone());
            let block = Block { kernel, a, places, widths, words, depth, columns, packed };
            lanes::each(lanes.iter_mut().collect(), |(panels, lane)| block.add(rows_at_once, panels, lane));
        }
    }
}

/// The lines that make up a number of bytes, in whole panels.
fn lines(bytes: usize, words: usize, width: usize) -> usize {
    (bytes / (words * size_of::<u64>())).next_multiple_of(width)
}

/// Room for the panels of these lines, if `at_once` of them are packed at a time.
fn panels(lines: &Range<usize>, at_once: usize, width: usize, words: usize) -> Panels {
    Panels::new(lines.len().min(at_once).next_multiple_of(width) * words)
}

fn steps(range: Range<usize>, step: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(step).map(move |at| at..end.min(at + step))
}

/// Packs the panels, each by whichever thread is free.
fn pack<R: Ring>(
    kernel: &dyn MicroKernel<R>,
    operand: Operand<'_, R>,
    [lines, depth]: [Range<usize>; 2],
    width: usize,
    words: usize,
    several: bool,
    panels: &mut [u64],
) {
    if !several {
        return kernel.pack(operand, lines, depth, width, panels);
    }
    let parts = steps(lines, width).zip(panels.chunks_exact_mut(width * words)).collect();
    lanes::each(parts, |(lines, panel)| kernel.pack(operand, lines, depth.clone(), width, panel));
}

/// Columns of B, packed, for all lanes.
struct Block<'a, R> {
    kernel: &'a dyn MicroKernel<R>,
    a: Operand<'a, R>,
    places: Places<'a>,
    widths: Widths,
    /// Words of a packed line.
    words: usize,
    depth: Range<usize>,
    columns: Range<usize>,
    packed: &'a [u64],
}

impl<R: Ring> Block<'_, R> {
    fn add(&self, at_once: usize, panels: &mut Panels, lane: &mut Lane<'_, R>) {
        for rows in steps(lane.rows.clone(), at_once) {
            self.kernel.pack(self.a, rows.clone(), self.depth.clone(), self.widths.rows, panels.words());
            let (first, sums) = (lane.first, &mut *lane.sums);
            dispatch(Tiles { block: self, rows, panels: panels.words(), sums, first });
        }
    }
}

/// All tiles of a block of rows and one of columns.
struct Tiles<'a, 'c, R> {
    block: &'a Block<'a, R>,
    rows: Range<usize>,
    panels: &'a [u64],
    sums: &'c mut [R],
    first: usize,
}

impl<R: Ring> Kernel for Tiles<'_, '_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { block, rows, panels, sums, first } = self;
        let Block { kernel, places, widths, words, columns, packed, .. } = block;
        let stride = kernel.shape().columns;
        let mut tile = [R::ZERO; TILE];
        for (columns, b) in steps(columns.clone(), widths.columns).zip(packed.chunks_exact(widths.columns * words)) {
            let columns = &places.columns[columns];
            let run = columns.iter().enumerate().all(|(j, &column)| column == columns[0] + j);
            for (rows, a) in steps(rows.clone(), widths.rows).zip(panels.chunks_exact(widths.rows * words)) {
                let (a, b) = if widths.turned { (b, a) } else { (a, b) };
                kernel.multiply(a, b, &mut tile);
                for (i, row) in places.rows[rows].iter().enumerate() {
                    if widths.turned {
                        add(columns, false, row - first, sums, tile[i..].iter().step_by(stride));
                    } else {
                        add(columns, run, row - first, sums, tile[i * stride..][..stride].iter());
                    }
                }
            }
        }
    }
}

/// Adds a row of a tile to C, where its elements lie side by side or not.
#[inline(always)]
fn add<'a, R: Ring>(columns: &[usize], run: bool, row: usize, sums: &mut [R], tile: impl Iterator<Item = &'a R>) {
    if run {
        for (sum, &element) in sums[row + columns[0]..][..columns.len()].iter_mut().zip(tile) {
            *sum = sum.add(element);
        }
    } else {
        for (column, &element) in columns.iter().zip(tile) {
            sums[row + column] = sums[row + column].add(element);
        }
    }
}
