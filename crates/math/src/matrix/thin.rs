//! Products of a matrix and a few vectors. Each element of the matrix is read once, where it lies: memory is the limit.

use std::borrow::Cow;
use std::ops::Range;

use super::View;
use crate::simd::{Kernel, dispatch};
use crate::{Ring, lanes};

/// Elements of the matrix that are worth a lane of their own.
const LEAST: usize = 1 << 16;

/// Lines whose sums are in the first-level cache, with some elements of each.
const LINES: usize = 512;

/// Elements of each line that are read together.
const DEEP: usize = 8;

/// C += A B if one of them has few lines, and elements of the other that are neighbours in a row or in a column lie so;
/// returns false otherwise.
pub fn add_product<R: Ring>(few: usize, a: View<'_, R>, b: View<'_, R>, c: &mut [R]) -> bool {
    let (columns, b) = (b.columns, b.transposed());
    let strides = |view: View<'_, R>| view.row_stride == 1 || view.column_stride == 1;
    if b.rows <= few && strides(a) {
        sums(a, b, |line, vector, sum| add(&mut c[line * columns + vector], sum));
    } else if a.rows <= few && strides(b) {
        sums(b, a, |line, vector, sum| add(&mut c[vector * columns + line], sum));
    } else {
        return false;
    }
    true
}

fn add<R: Ring>(to: &mut R, sum: R) {
    *to = to.add(sum);
}

/// The sums of each line of the matrix with each vector, given with the numbers of both.
fn sums<R: Ring>(matrix: View<'_, R>, vectors: View<'_, R>, mut found: impl FnMut(usize, usize, R)) {
    let depth = matrix.columns;
    let vectors: Vec<Cow<'_, [R]>> = (0..vectors.rows).map(|vector| side_by_side(vectors, vector)).collect();
    let vectors: Vec<&[R]> = vectors.iter().map(AsRef::as_ref).collect();
    let cut = lanes::cut(matrix.rows, LEAST.div_ceil(depth), DEEP);
    let by_lane = lanes::map(cut.len() > 1, cut.clone(), |lines| lane(matrix, &vectors, lines));
    for (lines, sums) in cut.into_iter().zip(by_lane) {
        for (vector, sums) in sums.chunks_exact(lines.len()).enumerate() {
            lines.clone().zip(sums).for_each(|(line, &sum)| found(line, vector, sum));
        }
    }
}

/// A row of a view: where it lies, or copied if its elements lie apart.
fn side_by_side<R: Ring>(view: View<'_, R>, row: usize) -> Cow<'_, [R]> {
    let row = &view.data[row * view.row_stride..];
    if view.column_stride == 1 {
        Cow::Borrowed(&row[..view.columns])
    } else {
        Cow::Owned((0..view.columns).map(|column| row[column * view.column_stride]).collect())
    }
}

/// The sums of some lines, vector after vector.
fn lane<R: Ring>(matrix: View<'_, R>, vectors: &[&[R]], lines: Range<usize>) -> Vec<R> {
    let mut sums = vec![R::ZERO; vectors.len() * lines.len()];
    if matrix.column_stride == 1 {
        dispatch(Along { matrix, vectors, lines, sums: &mut sums });
    } else {
        dispatch(Across { matrix, vectors, lines, sums: &mut sums });
    }
    sums
}

/// Lines whose elements lie side by side.
struct Along<'a, 's, R> {
    matrix: View<'a, R>,
    vectors: &'a [&'a [R]],
    lines: Range<usize>,
    sums: &'s mut [R],
}

impl<R: Ring> Kernel for Along<'_, '_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { matrix, vectors, lines, sums } = self;
        let count = lines.len();
        for (at, line) in lines.enumerate() {
            let elements = &matrix.data[line * matrix.row_stride..][..matrix.columns];
            let put = |(vector, sum)| sums[vector * count + at] = sum;
            match *vectors {
                [v] => inner_products(elements, [v]).into_iter().enumerate().for_each(put),
                [v, w] => inner_products(elements, [v, w]).into_iter().enumerate().for_each(put),
                [v, w, x] => inner_products(elements, [v, w, x]).into_iter().enumerate().for_each(put),
                _ => vectors.iter().map(|v| inner_products(elements, [v])[0]).enumerate().for_each(put),
            }
        }
    }
}

/// The inner products of one line with several vectors.
#[inline(always)]
fn inner_products<R: Ring, const N: usize>(line: &[R], vectors: [&[R]; N]) -> [R; N] {
    let vectors = vectors.map(|vector| &vector[..line.len()]);
    let mut sums = [R::ZERO; N];
    for (k, &x) in line.iter().enumerate() {
        for i in 0..N {
            sums[i] = sums[i].add(x.mul(vectors[i][k]));
        }
    }
    sums
}

/// Lines that lie side by side, element by element.
struct Across<'a, 's, R> {
    matrix: View<'a, R>,
    vectors: &'a [&'a [R]],
    lines: Range<usize>,
    sums: &'s mut [R],
}

impl<R: Ring> Kernel for Across<'_, '_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { matrix, vectors, lines, sums } = self;
        for from in (0..lines.len()).step_by(LINES) {
            let count = LINES.min(lines.len() - from);
            let element = |k: usize| &matrix.data[k * matrix.column_stride + lines.start + from..][..count];
            for deep in (0..matrix.columns).step_by(DEEP) {
                for (vector, sums) in vectors.iter().zip(sums.chunks_exact_mut(lines.len())) {
                    let (sums, factors) = (&mut sums[from..][..count], &vector[deep..]);
                    match factors.first_chunk::<DEEP>() {
                        Some(factors) => add_multiples(sums, std::array::from_fn(|i| element(deep + i)), factors),
                        None => {
                            (deep..).zip(factors).for_each(|(k, &factor)| add_multiples(sums, [element(k)], &[factor]))
                        }
                    }
                }
            }
        }
    }
}

/// Adds multiples of vectors to one.
#[inline(always)]
fn add_multiples<R: Ring, const N: usize>(sums: &mut [R], vectors: [&[R]; N], factors: &[R; N]) {
    let vectors = vectors.map(|vector| &vector[..sums.len()]);
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = vectors.iter().zip(factors).fold(*sum, |sum, (vector, &factor)| sum.add(vector[i].mul(factor)));
    }
}
