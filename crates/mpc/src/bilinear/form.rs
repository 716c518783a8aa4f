//! The kinds of bilinear maps, and the pairs of elements that each kind multiplies.

use tacit_math::matrix::{self, Convolution, Element, View};

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

/// Sizes of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrices {
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
    pub(super) x: Layout,
    pub(super) y: Layout,
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
    pub(super) fn term(&self, element: usize, term: usize) -> Option<[usize; 2]> {
        Some([self.place(0, element, term)?, self.place(1, element, term)?])
    }

    /// The element of an operand in a term of an element. None if that is a zero around an image.
    pub(crate) fn place(&self, operand: usize, element: usize, term: usize) -> Option<usize> {
        match self {
            Self::Matrices(Matrices { columns, x, y, .. }) => Some(match operand {
                0 => x.at(element / columns, term),
                _ => y.at(term, element % columns),
            }),
            Self::Convolution(sizes) => {
                let [image, filter, row, column] =
                    places(element, [sizes.filters, sizes.output()[0], sizes.output()[1]]);
                let [_, channel, i, j] = places(term, [sizes.channels, sizes.window[0], sizes.window[1]]);
                match operand {
                    0 => pixel(sizes, [image, channel], [row, column], [i, j]),
                    _ => Some(filter * sizes.channels * area(sizes.window) + term),
                }
            }
            Self::GradientOfFilters(sizes) => {
                let [filter, channel, i, j] = places(element, [sizes.channels, sizes.window[0], sizes.window[1]]);
                let [_, image, row, column] = places(term, [sizes.images, sizes.output()[0], sizes.output()[1]]);
                match operand {
                    0 => pixel(sizes, [image, channel], [row, column], [i, j]),
                    _ => Some(out_pixel(sizes, [image, filter], [row, column])),
                }
            }
            Self::GradientOfImages(sizes) => {
                let [image, channel, y, x] = places(element, [sizes.channels, sizes.size[0], sizes.size[1]]);
                let [_, filter, i, j] = places(term, [sizes.filters, sizes.window[0], sizes.window[1]]);
                let window = |side: usize, at: usize, of: usize| {
                    let from = (at + sizes.padding[side]).checked_sub(of)?;
                    let window = from / sizes.stride[side];
                    (from % sizes.stride[side] == 0 && window < sizes.output()[side]).then_some(window)
                };
                match operand {
                    0 => Some(((filter * sizes.channels + channel) * sizes.window[0] + i) * sizes.window[1] + j),
                    _ => Some(out_pixel(sizes, [image, filter], [window(0, y, i)?, window(1, x, j)?])),
                }
            }
        }
    }

    /// The sizes of a product of two matrices that has the same elements, and the operand whose elements the left one
    /// has. A term is the same for all elements; the left matrix depends on the row, the right one on the column.
    pub(crate) fn as_matrices(&self) -> ([usize; 3], usize) {
        match self {
            Self::Matrices(Matrices { rows, inner, columns, .. }) => ([*rows, *inner, *columns], 0),
            Self::Convolution(sizes) => ([sizes.images * area(sizes.output()), self.terms(), sizes.filters], 0),
            Self::GradientOfFilters(sizes) => ([sizes.filters, self.terms(), sizes.channels * area(sizes.window)], 1),
            Self::GradientOfImages(sizes) => ([sizes.images * area(sizes.size), self.terms(), sizes.channels], 1),
        }
    }

    /// The element that is in a row and a column of this product.
    pub(crate) fn element(&self, row: usize, column: usize) -> usize {
        // Pixels of an image are rows there, and follow the channels here.
        let pixels_behind = |pixels: usize, channels: usize| (row / pixels * channels + column) * pixels + row % pixels;
        match self {
            Self::Matrices(Matrices { columns, .. }) => row * columns + column,
            Self::GradientOfFilters(sizes) => row * sizes.channels * area(sizes.window) + column,
            Self::Convolution(sizes) => pixels_behind(area(sizes.output()), sizes.filters),
            Self::GradientOfImages(sizes) => pixels_behind(area(sizes.size), sizes.channels),
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

#[cfg(test)]
mod tests {
    use tacit_math::matrix::Convolution;

    use super::Form;
    use crate::MatrixProduct;

    /// As products of matrices, maps have the same terms.
    #[test]
    fn maps_are_products_of_matrices() {
        let sizes = Convolution {
            images: 2,
            channels: 3,
            size: [4, 5],
            filters: 2,
            window: [2, 3],
            stride: [1, 2],
            padding: [1, 0],
        };
        let layouts = MatrixProduct::new(&(), &(), [3, 4, 5]).with_x_transposed().bilinear().form;
        for form in [layouts, Form::Convolution(sizes), Form::GradientOfFilters(sizes), Form::GradientOfImages(sizes)] {
            let ([rows, inner, columns], left) = form.as_matrices();
            let elements = (0..rows).flat_map(|row| (0..columns).map(move |column| form.element(row, column)));
            let mut sorted: Vec<usize> = elements.collect();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..form.lengths()[2]), "{form:?}");
            for (row, term, column) in (0..rows)
                .flat_map(|row| (0..inner).flat_map(move |term| (0..columns).map(move |column| (row, term, column))))
            {
                let element = form.element(row, column);
                let of_left = form.place(left, form.element(row, 0), term);
                let of_right = form.place(1 - left, form.element(0, column), term);
                let places = [form.place(left, element, term), form.place(1 - left, element, term)];
                assert_eq!(places, [of_left, of_right], "{form:?}");
            }
        }
    }
}
