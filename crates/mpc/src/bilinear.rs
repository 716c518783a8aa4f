//! Products of matrices and convolutions of shared vectors: maps that are linear in both of two vectors.
//!
//! Sizes and places are public. An engine computes a sum of any number of products as one element where it can, so that
//! what is sent grows with what comes out alone. Engines without a way of their own make inner products.

mod form;

use std::ops::Range;

use tacit_math::matrix::Element;
use tacit_math::{Ring, lanes};

use crate::{Linear, Result, linear};

pub use form::{Form, Layout, Matrices};

/// A product of two matrices. Element (i, j) of each is `start + i * row_stride + j * column_stride` of its vector.
#[derive(Debug)]
pub struct MatrixProduct<'a, V> {
    /// The vector with the left matrix, `rows` x `inner`.
    pub x: &'a V,
    /// The vector with the right matrix, `inner` x `columns`.
    pub y: &'a V,
    /// Rows of what comes out.
    pub rows: usize,
    /// Terms of each sum.
    pub inner: usize,
    /// Columns of what comes out.
    pub columns: usize,
    /// Where the left matrix lies.
    pub x_layout: Layout,
    /// Where the right matrix lies.
    pub y_layout: Layout,
}

impl<V> Clone for MatrixProduct<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for MatrixProduct<'_, V> {}

impl<'a, V> MatrixProduct<'a, V> {
    /// Of matrices that lie row after row: `rows` x `inner` times `inner` x `columns`.
    pub fn new(x: &'a V, y: &'a V, [rows, inner, columns]: [usize; 3]) -> Self {
        let (x_layout, y_layout) = (Layout::rows_of(inner), Layout::rows_of(columns));
        Self { x, y, rows, inner, columns, x_layout, y_layout }
    }

    /// The left matrix is the transpose of one that lies row after row.
    #[must_use]
    pub fn with_x_transposed(self) -> Self {
        Self { x_layout: Layout::columns_of(self.rows), ..self }
    }

    /// The right matrix is the transpose of one that lies row after row.
    #[must_use]
    pub fn with_y_transposed(self) -> Self {
        Self { y_layout: Layout::columns_of(self.inner), ..self }
    }

    /// As a map of both vectors.
    pub fn bilinear(&self) -> Bilinear<'a, V> {
        let Self { x, y, rows, inner, columns, x_layout, y_layout } = *self;
        let matrices = Matrices { rows, inner, columns, x: x_layout, y: y_layout };
        Bilinear { x, y, starts: [x_layout.start, y_layout.start], form: Form::Matrices(matrices) }
    }
}

/// A map of two vectors that is linear in each of them.
#[derive(Debug)]
pub struct Bilinear<'a, V> {
    /// The vector with the first operand.
    pub x: &'a V,
    /// The vector with the second operand.
    pub y: &'a V,
    /// The first element of each operand.
    pub starts: [usize; 2],
    /// Which map.
    pub form: Form,
}

impl<V> Clone for Bilinear<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Bilinear<'_, V> {}

impl<V> Bilinear<'_, V> {
    /// Elements that come out.
    pub fn rows(&self) -> usize {
        self.form.lengths()[2]
    }

    /// Where both operands lie in their vectors.
    pub(crate) fn ranges(&self) -> [Range<usize>; 2] {
        let [x, y, _] = self.form.lengths();
        [(self.starts[0], x), (self.starts[1], y)]
            .map(|(start, length)| if length == 0 { 0..0 } else { start..start + length })
    }
}

/// Sums of products that are worth a lane of their own.
pub(crate) fn each_worth<V>(products: &[Bilinear<'_, V>]) -> bool {
    const WORTH_IT: usize = 1 << 16;
    products.len() > 1
        && products.iter().map(|product| product.rows() * product.form.terms()).sum::<usize>() >= WORTH_IT
}

/// What comes out of some maps, of which an engine makes those as a whole that are chosen, and the others in another
/// way.
pub(crate) fn in_two_ways<B, V>(
    b: &mut B,
    products: &[Bilinear<'_, V>],
    is_whole: impl Fn(&Form) -> bool,
    whole: impl FnOnce(&mut B, &[Bilinear<'_, V>]) -> Result<Vec<V>>,
    others: impl FnOnce(&mut B, &[Bilinear<'_, V>]) -> Result<Vec<V>>,
) -> Result<Vec<V>> {
    let chosen: Vec<bool> = products.iter().map(|product| is_whole(&product.form)).collect();
    let some = |which: bool| -> Vec<Bilinear<'_, V>> {
        products.iter().zip(&chosen).filter(|&(_, &chosen)| chosen == which).map(|(&product, _)| product).collect()
    };
    let mut whole = whole(b, &some(true))?.into_iter();
    let mut others = others(b, &some(false))?.into_iter();
    let made = chosen.iter().map(|&chosen| if chosen { whole.next() } else { others.next() });
    Ok(made.map(|made| made.expect("as many as asked for")).collect())
}

/// Products that are made at a time: bounds the memory of their factors.
const AT_ONCE: usize = 1 << 18;

/// Some terms of some elements of a product.
struct Piece {
    product: usize,
    elements: Range<usize>,
    terms: Range<usize>,
}

impl Piece {
    fn products(&self) -> usize {
        self.elements.len() * self.terms.len()
    }
}

/// All terms of all products, in order, in batches of [`AT_ONCE`] products at most.
fn batches<V>(products: &[Bilinear<'_, V>]) -> Vec<Vec<Piece>> {
    let mut batches: Vec<Vec<Piece>> = Vec::new();
    let mut made = AT_ONCE;
    for (product, of) in products.iter().enumerate() {
        let (rows, terms) = (of.rows(), of.form.terms());
        for elements in steps(rows, AT_ONCE) {
            for terms in steps(terms, AT_ONCE / elements.len()) {
                let piece = Piece { product, elements: elements.clone(), terms };
                made += piece.products();
                if made > AT_ONCE {
                    made = piece.products();
                    batches.push(Vec::new());
                }
                batches.last_mut().expect("a batch").push(piece);
            }
        }
    }
    batches
}

fn steps(length: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length).step_by(step).map(move |at| at..length.min(at + step))
}

/// The terms of some inner products: pairs of vectors.
pub(crate) type Terms<'a, V> = [Vec<(&'a V, &'a V)>];

/// The maps by inner products of vectors of their factors, a bounded number at a time.
pub(crate) fn by_inner_products<R: Element, V: Linear<Vec<R>>>(
    products: &[Bilinear<'_, V>],
    mut inner_products: impl FnMut(&Terms<'_, V>) -> Result<Vec<V>>,
) -> Result<Vec<V>> {
    // For each product the sums of its elements, in pieces that follow each other.
    let mut sums: Vec<Vec<(usize, V)>> = products.iter().map(|_| Vec::new()).collect();
    for batch in batches(products) {
        let factors: Vec<[Vec<V>; 2]> = batch.iter().map(|piece| factors(&products[piece.product], piece)).collect();
        let terms: Vec<Vec<_>> = factors.iter().map(|[x, y]| x.iter().zip(y).collect()).collect();
        for (piece, sum) in batch.into_iter().zip(inner_products(&terms)?) {
            let so_far = &mut sums[piece.product];
            match so_far.last_mut() {
                Some((start, last)) if *start == piece.elements.start => *last = linear::add(last, &sum),
                _ => so_far.push((piece.elements.start, sum)),
            }
        }
    }
    let whole = |(product, sums): (&Bilinear<'_, V>, Vec<(usize, V)>)| {
        let parts: Vec<&V> = sums.iter().map(|(_, sum)| sum).collect();
        let zeros = || product.x.map(product.rows(), |_| vec![R::ZERO; product.rows()]);
        if parts.is_empty() { zeros() } else { linear::concat_vectors(&parts) }
    };
    Ok(products.iter().zip(sums).map(whole).collect())
}

/// For each term of a piece both factors of all its elements.
fn factors<R: Ring, V: Linear<Vec<R>>>(product: &Bilinear<'_, V>, piece: &Piece) -> [Vec<V>; 2] {
    let rows = piece.elements.len();
    [(product.x, 0), (product.y, 1)].map(|(vector, side)| {
        let (form, start) = (product.form, product.starts[side]);
        V::map_many(&[vector], piece.terms.len(), rows, |columns| {
            let factor = |element, term| {
                let place = form.term(element, term);
                place.map_or(R::ZERO, |places| columns[0][start + places[side]])
            };
            let of_term = |term| piece.elements.clone().map(|element| factor(element, term)).collect();
            lanes::map(true, piece.terms.clone().collect(), of_term)
        })
    })
}

#[cfg(test)]
mod tests {
    use tacit_math::Prg;
    use tacit_net::PartyId;

    use super::{AT_ONCE, MatrixProduct, batches, by_inner_products};
    use crate::backends::Clear;
    use crate::{Backend, Block};

    const SIZES: [[usize; 3]; 6] = [[3, 2, 1], [90, 70, 80], [0, 5, 5], [5, 0, 5], [600, 3, 500], [2, 300_000, 1]];

    #[test]
    fn batches_have_every_product_once() {
        let (x, y) = ((), ());
        let products = SIZES.map(|sizes| MatrixProduct::new(&x, &y, sizes).bilinear());
        let batches = batches(&products);
        let sums = batches.iter().map(|batch| batch.iter().map(super::Piece::products).sum::<usize>());
        assert!(sums.clone().all(|sum| (1..=AT_ONCE).contains(&sum)));
        let all: usize = SIZES.iter().map(|[rows, inner, columns]| rows * inner * columns).sum();
        assert_eq!(sums.sum::<usize>(), all);
        let pieces = batches.iter().flatten();
        let (mut last, mut found) = ((0, 0, 0), [0; SIZES.len()]);
        for piece in pieces {
            let place = (piece.product, piece.elements.start, piece.terms.start);
            assert!(place >= last, "in order");
            last = (piece.product, piece.elements.start, piece.terms.end);
            found[piece.product] += piece.products();
        }
        assert_eq!(found, SIZES.map(|[rows, inner, columns]| rows * inner * columns));
    }

    #[test]
    fn inner_products_give_what_kernels_give() {
        let mut b = Clear::new().expect("an engine");
        let drawn: Vec<u64> = Prg::new(&tacit_views::seed("inner products")).vector(600_000);
        let block = Block { rows: drawn.len(), r64: vec![drawn], ..Block::default() };
        let shared = b.input(PartyId(0), block.shape(), Some(block)).expect("input");
        let x = &shared.r64[0];
        let products = SIZES.map(|sizes| MatrixProduct::new(x, x, sizes).with_y_transposed().bilinear());
        let kernels = b.bilinear(&products).expect("a result");
        let others = by_inner_products(&products, |terms| b.inner_products::<u64>(terms)).expect("a result");
        for (kernel, other) in kernels.iter().zip(&others) {
            assert!(kernel.value() == other.value());
        }
    }
}
