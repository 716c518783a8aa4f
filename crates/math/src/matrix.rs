//! Products of matrices modulo 2^64 and 2^128, and what is made of them: convolutions and sums over windows.
//!
//! Matrices are [`View`]s: a slice with a distance between rows and one between columns, counted in elements. So a
//! transpose, a slice and a repeated row are views, and nobody copies them. Everything is added to what the output
//! holds, C += A B, so that a caller may put shares of zero there first.
//!
//! Blocks are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS 34, 2008).
//! Both operands are packed, block by block, into panels in the order in which a micro-kernel reads them (`pack`,
//! `blocks`). A convolution packs panels from the image itself (`convolution`). Products with few rows or columns
//! are bound by memory and read the large operand where it lies (`thin`).
//!
//! | ring | processor | micro-kernel |
//! |---|---|---|
//! | 2^64 | AVX-512DQ | `wide`: 64-bit multiplications |
//! | 2^64 | AVX2 | `narrow`: products of halves |
//! | 2^128 | AVX-512 IFMA | `limbs`: products of 52-bit limbs |
//! | both | any | `portable`: the machine's own words |
//!
//! All of them give equal results, whatever the number of threads. Time and addresses depend on sizes and strides
//! alone, which are public.

mod blocks;
mod convolution;
mod element;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod limbs;
#[cfg(target_arch = "x86_64")]
mod narrow;
mod pack;
mod pool;
mod portable;
#[cfg(test)]
mod tests;
mod thin;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use convolution::Convolution;
pub use element::Element;
pub use pool::Pool;

use blocks::{Lane, Places, accumulate, widths};
use kernel::MicroKernel;
use pack::Operand;

use crate::lanes;

/// A matrix whose element (i, j) is `data[i * row_stride + j * column_stride]`. Elements may coincide: a stride of zero
/// repeats a row or a column.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, R> {
    /// Elements, others among them perhaps.
    pub data: &'a [R],
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Elements from one row to the next.
    pub row_stride: usize,
    /// Elements from one column to the next.
    pub column_stride: usize,
}

impl<'a, R> View<'a, R> {
    /// A matrix that lies row after row.
    pub fn new(data: &'a [R], rows: usize, columns: usize) -> Self {
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The transpose.
    pub fn transposed(self) -> Self {
        let Self { data, rows, columns, row_stride, column_stride } = self;
        Self { data, rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride }
    }

    /// Panics if an element lies outside.
    fn check(&self) {
        if self.rows > 0 && self.columns > 0 {
            let rows = (self.rows - 1).checked_mul(self.row_stride);
            let columns = (self.columns - 1).checked_mul(self.column_stride);
            let last = rows.zip(columns).and_then(|(rows, columns)| rows.checked_add(columns));
            assert!(last.is_some_and(|last| last < self.data.len()), "a view lies within its data");
        }
    }
}

/// C += A B for an m x k matrix A, a k x n matrix B and an m x n matrix C, which lies row after row.
///
/// # Panics
/// If the sizes do not fit, or a view reaches beyond its data.
pub fn product<R: Element>(a: View<'_, R>, b: View<'_, R>, c: &mut [R]) {
    product_by(kernel(), a, b, c);
}

/// C += A B for each (A, B, C), as [`product`] does one after the other. All threads compute.
///
/// # Panics
/// As [`product`].
pub fn products<R: Element>(all: Vec<(View<'_, R>, View<'_, R>, &mut [R])>) {
    lanes::each(all, |(a, b, c)| product(a, b, c));
}

/// How products are computed on this processor.
pub fn path<R: Element>() -> &'static str {
    kernel::<R>().name()
}

/// Multiplies one pair of panels several times, in the first-level cache, and returns the number of multiply-adds.
/// Their rate is the limit that a bench holds products against.
pub fn tiles<R: Element>(times: usize) -> usize {
    const DEPTH: usize = 64;
    let (kernel, mut tile) = (kernel::<R>(), [R::ZERO; kernel::TILE]);
    let shape = kernel.shape();
    let mut panels = [shape.rows, shape.columns].map(|width| pack::Panels::new(width * shape.words * DEPTH));
    let [a, b] = panels.each_mut().map(|panels| &*panels.words());
    (0..times).for_each(|_| kernel.multiply(std::hint::black_box(a), b, &mut tile));
    std::hint::black_box(tile);
    times * shape.rows * shape.columns * DEPTH
}

/// The best micro-kernel of this processor.
fn kernel<R: Element>() -> &'static dyn MicroKernel<R> {
    R::kernels().next().expect("one for any processor")
}

/// Products of elements that are worth a lane of their own.
const LEAST: usize = 1 << 20;

fn product_by<R: Element>(kernel: &dyn MicroKernel<R>, a: View<'_, R>, b: View<'_, R>, c: &mut [R]) {
    a.check();
    b.check();
    let [m, k, n] = [a.rows, a.columns, b.columns];
    assert_eq!(k, b.rows, "as many columns of A as rows of B");
    assert_eq!(Some(c.len()), m.checked_mul(n), "C has the rows of A and the columns of B");
    if c.is_empty() || k == 0 || thin::add_product(kernel.shape().thin, a, b, c) {
        return;
    }
    let [a_rows, a_columns] = [offsets(m, a.row_stride), offsets(k, a.column_stride)];
    let [b_rows, b_columns] = [offsets(k, b.row_stride), offsets(n, b.column_stride)];
    let operands = [Operand::new(a.data, &a_rows, &a_columns), Operand::new(b.data, &b_columns, &b_rows)];
    let [c_rows, c_columns] = [offsets(m, n), offsets(n, 1)];
    let lanes = lanes_of_rows(kernel, [m, k, n], c);
    accumulate(kernel, operands, Places { rows: &c_rows, columns: &c_columns }, lanes);
}

/// Places that are this far apart.
fn offsets(count: usize, stride: usize) -> Vec<usize> {
    (0..count).map(|i| i * stride).collect()
}

/// The rows of C, which lies row after row, cut into lanes.
fn lanes_of_rows<'c, R: Element>(
    kernel: &dyn MicroKernel<R>,
    [m, k, n]: [usize; 3],
    mut c: &'c mut [R],
) -> Vec<Lane<'c, R>> {
    let least = LEAST.div_ceil(k * n);
    let lane = |rows: std::ops::Range<usize>| {
        let (sums, rest) = std::mem::take(&mut c).split_at_mut(rows.len() * n);
        c = rest;
        Lane { first: rows.start * n, rows, sums }
    };
    lanes::cut(m, least, widths(kernel.shape(), m, n).rows).into_iter().map(lane).collect()
}
