//! Products of matrices and convolutions of shared vectors: maps that are linear in both of two vectors.
//!
//! Sizes and places are public. An engine computes a sum of any number of products as one element where it can, so that
//! what is sent grows with what comes out alone. Engines without a way of their own make inner products.

use std::ops::Range;

use tacit_math::matrix::{self, Convolution, Element, View};
use tacit_math::{Ring, lanes};

use crate::{Backend, Linear, Result, linear};

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

/// Where a matrix lies in a vector. Elements may coincide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The first element.
    pub start: usize,
    /// Elements from one row to the next.
    pub row_stride: usize,
    /// Elements from one column to the next.
    pub column_stride: usize,
}

impl Layout {
    /// Row after row, each of this number of elements.
    pub fn rows_of(columns: usize) -> Self {
        Self { start: 0, row_stride: columns, column_stride: 1 }
    }

    /// Column after column, each of this number of elements: the transpose of a matrix that lies row after row.
    pub fn columns_of(rows: usize) -> Self {
        Self { start: 0, row_stride: 1, column_stride: rows }
    }

    /// The elements from the first to behind the last one.
    fn span(self, rows: usize, columns: usize) -> usize {
        if rows == 0 || columns == 0 { 0 } else { self.at(rows - 1, columns - 1) + 1 }
    }

    /// An element's distance from the first one.
    fn at(self, row: usize, column: usize) -> usize {
        row * self.row_stride + column * self.column_stride
    }

    fn view<R>(self, data: &[R], rows: usize, columns: usize) -> View<'_, R> {
        View { data, rows, columns, row_stride: self.row_stride, column_stride: self.column_stride }
    }
}

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

/// Sizes of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrices {
    rows: usize,
    inner: usize,
    columns: usize,
    x: Layout,
    y: Layout,
}

/// Maps that are linear in each of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The product of two matrices, row after row.
    Matrices(Matrices),
    /// A convolution of images by filters.
    Convolution(Convolution),
    /// The gradient of its filters, from images and the gradient of what comes out.
    GradientOfFilters(Convolution),
    /// The gradient of its images, from filters and the gradient of what comes out.
    GradientOfImages(Convolution),
}

impl Form {
    /// Elements of both operands, from the first to behind the last one, and of what comes out.
    ///
    /// # Panics
    /// If a convolution has no room for its filters.
    pub fn lengths(&self) -> [usize; 3] {
        match self {
            Self::Matrices(Matrices { rows, inner, columns, x, y }) => {
                [x.span(*rows, *inner), y.span(*inner, *columns), rows * columns]
            }
            Self::Convolution(sizes) => sizes.lengths(),
            Self::GradientOfFilters(sizes) => {
                let [images, filters, out] = sizes.lengths();
                [images, out, filters]
            }
            Self::GradientOfImages(sizes) => {
                let [images, filters, out] = sizes.lengths();
                [filters, out, images]
            }
        }
    }

    /// How many products are summed for each element, those with zeros around an image included.
    pub fn terms(&self) -> usize {
        match self {
            Self::Matrices(Matrices { inner, .. }) => *inner,
            Self::Convolution(sizes) => sizes.channels * area(sizes.window),
            Self::GradientOfFilters(sizes) => sizes.images * area(sizes.output()),
            Self::GradientOfImages(sizes) => sizes.filters * area(sizes.window),
        }
    }

    /// The elements of both operands whose product is a term of an element. None if one is a zero around an image.
    fn term(&self, element: usize, term: usize) -> Option<[usize; 2]> {
        match self {
            Self::Matrices(Matrices { columns, x, y, .. }) => {
                Some([x.at(element / columns, term), y.at(term, element % columns)])
            }
            Self::Convolution(sizes) => {
                let [image, filter, row, column] =
                    places(element, [sizes.filters, sizes.output()[0], sizes.output()[1]]);
                let [_, channel, i, j] = places(term, [sizes.channels, sizes.window[0], sizes.window[1]]);
                Some([
                    pixel(sizes, [image, channel], [row, column], [i, j])?,
                    filter * sizes.channels * area(sizes.window) + term,
                ])
            }
            Self::GradientOfFilters(sizes) => {
                let [filter, channel, i, j] = places(element, [sizes.channels, sizes.window[0], sizes.window[1]]);
                let [_, image, row, column] = places(term, [sizes.images, sizes.output()[0], sizes.output()[1]]);
                let of_out = out_pixel(sizes, [image, filter], [row, column]);
                Some([pixel(sizes, [image, channel], [row, column], [i, j])?, of_out])
            }
            Self::GradientOfImages(sizes) => {
                let [image, channel, y, x] = places(element, [sizes.channels, sizes.size[0], sizes.size[1]]);
                let [_, filter, i, j] = places(term, [sizes.filters, sizes.window[0], sizes.window[1]]);
                let of_filter = ((filter * sizes.channels + channel) * sizes.window[0] + i) * sizes.window[1] + j;
                let window = |side: usize, at: usize, of: usize| {
                    let from = (at + sizes.padding[side]).checked_sub(of)?;
                    let window = from / sizes.stride[side];
                    (from % sizes.stride[side] == 0 && window < sizes.output()[side]).then_some(window)
                };
                Some([of_filter, out_pixel(sizes, [image, filter], [window(0, y, i)?, window(1, x, j)?])])
            }
        }
    }

    /// out += the map of both operands, each of which begins at its first element. All threads compute.
    ///
    /// # Panics
    /// If the lengths are not those of [`Self::lengths`].
    pub(crate) fn add_to<R: Element>(&self, x: &[R], y: &[R], out: &mut [R]) {
        assert_eq!([x.len(), y.len(), out.len()], self.lengths(), "operands of a product's sizes");
        match self {
            Self::Matrices(Matrices { rows, inner, columns, x: of_x, y: of_y }) => {
                matrix::product(of_x.view(x, *rows, *inner), of_y.view(y, *inner, *columns), out);
            }
            Self::Convolution(sizes) => sizes.forward(x, y, out),
            Self::GradientOfFilters(sizes) => sizes.gradient_of_filters(x, y, out),
            Self::GradientOfImages(sizes) => sizes.gradient_of_images(x, y, out),
        }
    }
}

fn area([height, width]: [usize; 2]) -> usize {
    height * width
}

/// The four indices of an element of an array whose last three sides are these.
fn places(element: usize, [b, c, d]: [usize; 3]) -> [usize; 4] {
    [element / (b * c * d), element / (c * d) % b, element / d % c, element % d]
}

/// The pixel of an image that a filter's pixel (i, j) meets in a window. None beside the image.
fn pixel(sizes: &Convolution, [image, channel]: [usize; 2], window: [usize; 2], of: [usize; 2]) -> Option<usize> {
    let [height, width] = sizes.size;
    let place = |side: usize| {
        let place = (window[side] * sizes.stride[side] + of[side]).checked_sub(sizes.padding[side])?;
        (place < sizes.size[side]).then_some(place)
    };
    Some(((image * sizes.channels + channel) * height + place(0)?) * width + place(1)?)
}

/// A pixel of what comes out.
fn out_pixel(sizes: &Convolution, [image, filter]: [usize; 2], [row, column]: [usize; 2]) -> usize {
    let [height, width] = sizes.output();
    ((image * sizes.filters + filter) * height + row) * width + column
}

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

/// The maps by inner products of vectors of their factors, a bounded number at a time.
pub(crate) fn by_inner_products<R: Element, B: Backend>(
    b: &mut B,
    products: &[Bilinear<'_, B::Vector<R>>],
) -> Result<Vec<B::Vector<R>>> {
    let zeros = |b: &B, rows: usize| b.public_vector(rows, || vec![R::ZERO; rows]);
    // For each product the sums of its elements, in pieces that follow each other.
    let mut sums: Vec<Vec<(usize, B::Vector<R>)>> = products.iter().map(|_| Vec::new()).collect();
    for batch in batches(products) {
        let factors: Vec<[Vec<B::Vector<R>>; 2]> =
            batch.iter().map(|piece| factors(&products[piece.product], piece)).collect();
        let terms: Vec<Vec<_>> = factors.iter().map(|[x, y]| x.iter().zip(y).collect()).collect();
        for (piece, sum) in batch.into_iter().zip(b.inner_products::<R>(&terms)?) {
            let so_far = &mut sums[piece.product];
            match so_far.last_mut() {
                Some((start, last)) if *start == piece.elements.start => *last = linear::add(last, &sum),
                _ => so_far.push((piece.elements.start, sum)),
            }
        }
    }
    let whole = |(product, sums): (&Bilinear<'_, B::Vector<R>>, Vec<(usize, B::Vector<R>)>)| {
        let parts: Vec<&B::Vector<R>> = sums.iter().map(|(_, sum)| sum).collect();
        if parts.is_empty() { zeros(b, product.rows()) } else { linear::concat_vectors(&parts) }
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
        assert_eq!(sums.sum::<usize>(), SIZES.iter().map(|[rows, inner, columns]| rows * inner * columns).sum());
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
        let [kernels, others] =
            [b.bilinear(&products), by_inner_products(&mut b, &products)].map(|out| out.expect("a result"));
        for (kernel, other) in kernels.iter().zip(&others) {
            assert!(kernel.value() == other.value());
        }
    }
}
