//! Convolutions of images by filters, and their gradients, as products of matrices. Nobody writes down the larger
//! matrix: panels are packed from the windows of the image ("implicit im2col"; Chetlur et al., "cuDNN", arXiv
//! 1410.0759, 3).

use std::ops::Range;

use super::blocks::{Lane, Places, accumulate};
use super::kernel::MicroKernel;
use super::pack::Operand;
use super::{Element, LEAST, kernel, lanes_of_rows, offsets};
use crate::{Ring, lanes};

/// Columns of a product of several images.
const COLUMNS: usize = 1024;

/// The sizes of a convolution of images by filters.
///
/// Images are batch x channels x height x width, filters are filters x channels x height x width, row after row. As in
/// networks, filters are not mirrored: for strides (s, t) and paddings (p, q), `out[y][x]` is the sum of
/// `image[y s + i - p][x t + j - q] filter[i][j]` over the channels and a filter's pixels (i, j). Outside of an image
/// everything is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Images of the batch.
    pub images: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Height and width of an image.
    pub size: [usize; 2],
    /// Number of filters: channels of what comes out.
    pub filters: usize,
    /// Height and width of a filter.
    pub window: [usize; 2],
    /// Rows and columns from one window to the next.
    pub stride: [usize; 2],
    /// Zeros on each side, above and below, left and right.
    pub padding: [usize; 2],
}

impl Convolution {
    /// Height and width of what comes out.
    ///
    /// # Panics
    /// If a filter is larger than a padded image, or a side or a stride is zero.
    pub fn output(&self) -> [usize; 2] {
        assert!([self.size, self.window].as_flattened().iter().all(|&side| side > 0), "images and filters have pixels");
        [0, 1].map(|side| {
            let room = (self.size[side] + 2 * self.padding[side]).checked_sub(self.window[side]);
            room.expect("a filter fits in the padded image") / self.stride[side] + 1
        })
    }

    /// Elements of the images, of the filters and of what comes out.
    pub fn lengths(&self) -> [usize; 3] {
        let filters = self.filters * self.filter();
        [self.images * self.channels * area(self.size), filters, self.images * self.filters * area(self.output())]
    }

    /// Elements of one filter.
    fn filter(&self) -> usize {
        self.channels * area(self.window)
    }

    /// Adds to `out` what comes out.
    ///
    /// # Panics
    /// If lengths are not those of [`Self::lengths`].
    pub fn forward<R: Element>(&self, images: &[R], filters: &[R], out: &mut [R]) {
        self.forward_by(kernel(), images, filters, out);
    }

    /// Adds to `filters` the gradient of the filters, given that of what comes out.
    ///
    /// # Panics
    /// As [`Self::forward`].
    pub fn gradient_of_filters<R: Element>(&self, images: &[R], gradient: &[R], filters: &mut [R]) {
        self.gradient_of_filters_by(kernel(), images, gradient, filters);
    }

    /// Adds to `images` the gradient of the images, given that of what comes out: a convolution of the gradient, spread
    /// by the stride, with mirrored filters.
    ///
    /// # Panics
    /// As [`Self::forward`].
    pub fn gradient_of_images<R: Element>(&self, filters: &[R], gradient: &[R], images: &mut [R]) {
        self.gradient_of_images_by(kernel(), filters, gradient, images);
    }

    fn check(&self, lengths: [usize; 3]) {
        assert_eq!(lengths, self.lengths(), "images, filters and what comes out have the convolution's sizes");
    }

    pub(super) fn forward_by<R: Element>(&self, by: &dyn MicroKernel<R>, images: &[R], filters: &[R], out: &mut [R]) {
        self.check([images.len(), filters.len(), out.len()]);
        let (lines, depth) = (offsets(self.filters, self.filter()), offsets(self.filter(), 1));
        self.windows().add_products(by, Operand::new(filters, &lines, &depth), images, out);
    }

    pub(super) fn gradient_of_images_by<R: Element>(
        &self,
        by: &dyn MicroKernel<R>,
        filters: &[R],
        gradient: &[R],
        images: &mut [R],
    ) {
        self.check([images.len(), filters.len(), gradient.len()]);
        let area = area(self.window);
        let lines = offsets(self.channels, area);
        let mirrored = |filter| (0..area).rev().map(move |place| filter * self.filter() + place);
        let depth: Vec<usize> = (0..self.filters).flat_map(mirrored).collect();
        self.windows_of_gradients().add_products(by, Operand::new(filters, &lines, &depth), gradient, images);
    }

    pub(super) fn gradient_of_filters_by<R: Element>(
        &self,
        by: &dyn MicroKernel<R>,
        images: &[R],
        gradient: &[R],
        filters: &mut [R],
    ) {
        self.check([images.len(), filters.len(), gradient.len()]);
        if filters.is_empty() || gradient.is_empty() {
            return;
        }
        let (windows, pixels) = (self.windows(), area(self.output()));
        let (image, out, elements) = (self.channels * area(self.size), self.filters * pixels, windows.elements());
        let [lines, rows, columns] =
            [offsets(self.filters, pixels), offsets(self.filters, self.filter()), offsets(self.filter(), 1)];
        let (step, mut drawn) = (at_once(pixels), Vec::new());
        for (images, gradient) in images.chunks(step * image).zip(gradient.chunks(step * out)) {
            let canvases = windows.canvas.draw(images, &mut drawn);
            let count = gradient.len() / out;
            let depth: Vec<usize> = (0..count).flat_map(|i| (0..pixels).map(move |pixel| i * out + pixel)).collect();
            let firsts = windows.firsts(count);
            let operands = [Operand::new(gradient, &lines, &depth), Operand::new(canvases, &elements, &firsts)];
            let lanes = lanes_of_rows(by, [rows.len(), depth.len(), columns.len()], filters);
            accumulate(by, operands, Places { rows: &rows, columns: &columns }, lanes);
        }
    }

    /// The windows of padded images.
    fn windows(&self) -> Windows {
        let canvas = Canvas {
            planes: self.size,
            step: [1, 1],
            first: self.padding.map(|padding| padding as isize),
            size: [0, 1].map(|side| self.size[side] + 2 * self.padding[side]),
        };
        let Self { channels, window, stride, .. } = *self;
        Windows { canvas, channels, window, stride, count: self.output() }
    }

    /// The windows of gradients, spread by the stride, of which one belongs to each pixel of an image.
    fn windows_of_gradients(&self) -> Windows {
        let canvas = Canvas {
            planes: self.output(),
            step: self.stride,
            first: [0, 1].map(|side| self.window[side] as isize - 1 - self.padding[side] as isize),
            size: [0, 1].map(|side| self.size[side] + self.window[side] - 1),
        };
        Windows { canvas, channels: self.filters, window: self.window, stride: [1, 1], count: self.size }
    }
}

fn area([height, width]: [usize; 2]) -> usize {
    height * width
}

/// The images whose pixels fill a block of columns.
fn at_once(pixels: usize) -> usize {
    (COLUMNS / pixels).max(1)
}

/// Zeros on which planes are drawn.
#[derive(Clone, Copy)]
struct Canvas {
    /// Height and width of a plane.
    planes: [usize; 2],
    /// Rows and columns from one pixel to the next.
    step: [usize; 2],
    /// Row and column of the first pixel. What is drawn outside of the canvas is cut off.
    first: [isize; 2],
    /// Height and width.
    size: [usize; 2],
}

impl Canvas {
    /// The planes, each on a canvas: themselves if they fill it.
    fn draw<'a, R: Ring>(&self, planes: &'a [R], drawn: &'a mut Vec<R>) -> &'a [R] {
        if self.size == self.planes && self.step == [1, 1] && self.first == [0, 0] {
            return planes;
        }
        let (plane, canvas) = (area(self.planes), area(self.size));
        drawn.clear();
        drawn.resize(planes.len() / plane * canvas, R::ZERO);
        let columns: Vec<_> = (0..self.planes[1]).filter_map(|x| Some((x, self.seen(1, x)?))).collect();
        for (plane, canvas) in planes.chunks_exact(plane).zip(drawn.chunks_exact_mut(canvas)) {
            for (y, row) in (0..self.planes[0]).filter_map(|y| Some((y, self.seen(0, y)?))) {
                let (pixels, canvas) = (&plane[y * self.planes[1]..], &mut canvas[row * self.size[1]..]);
                columns.iter().for_each(|&(x, column)| canvas[column] = pixels[x]);
            }
        }
        drawn
    }

    /// Where a row or a column of pixels is drawn.
    fn seen(&self, side: usize, at: usize) -> Option<usize> {
        let place = self.first[side] + (at * self.step[side]) as isize;
        usize::try_from(place).ok().filter(|&place| place < self.size[side])
    }
}

/// The windows on all channels of canvases, as columns of a matrix.
#[derive(Clone, Copy)]
struct Windows {
    canvas: Canvas,
    channels: usize,
    window: [usize; 2],
    /// Rows and columns from one window to the next.
    stride: [usize; 2],
    /// How many one below the other, and side by side.
    count: [usize; 2],
}

impl Windows {
    /// The first element of each window.
    fn firsts(&self, images: usize) -> Vec<usize> {
        let (image, [_, width]) = (self.channels * area(self.canvas.size), self.canvas.size);
        let row = |i: usize, y: usize| i * image + y * self.stride[0] * width;
        let rows = (0..images).flat_map(|i| (0..self.count[0]).map(move |y| row(i, y)));
        rows.flat_map(|row| (0..self.count[1]).map(move |x| row + x * self.stride[1])).collect()
    }

    /// The elements of a window, from its first one.
    fn elements(&self) -> Vec<usize> {
        let (canvas, [_, width]) = (area(self.canvas.size), self.canvas.size);
        let rows = (0..self.channels).flat_map(|i| (0..self.window[0]).map(move |y| i * canvas + y * width));
        rows.flat_map(|row| (0..self.window[1]).map(move |x| row + x)).collect()
    }

    /// Adds to `out`, image by image, the product of the filters and the windows on the image's planes.
    fn add_products<R: Element>(&self, by: &dyn MicroKernel<R>, filters: Operand<'_, R>, planes: &[R], out: &mut [R]) {
        let pixels = area(self.count);
        let (image, result) = (self.channels * area(self.canvas.planes), filters.lines() * pixels);
        if out.is_empty() || filters.depth() == 0 {
            return;
        }
        let cut = lanes::cut(out.len() / result, LEAST.div_ceil(result * filters.depth()), 1);
        let mut rest = out;
        let own = |images: Range<usize>| {
            let (out, more) = std::mem::take(&mut rest).split_at_mut(images.len() * result);
            rest = more;
            (&planes[images.start * image..images.end * image], out)
        };
        lanes::each(cut.into_iter().map(own).collect(), |(planes, out)| {
            let mut drawn = Vec::new();
            let step = at_once(pixels);
            for (planes, out) in planes.chunks(step * image).zip(out.chunks_mut(step * result)) {
                self.add_product(by, filters, self.canvas.draw(planes, &mut drawn), out);
            }
        });
    }

    /// The same for images that are taken together.
    fn add_product<R: Element>(&self, by: &dyn MicroKernel<R>, filters: Operand<'_, R>, canvases: &[R], out: &mut [R]) {
        let (pixels, result) = (area(self.count), filters.lines() * area(self.count));
        let images = out.len() / result;
        let (firsts, elements) = (self.firsts(images), self.elements());
        let rows = offsets(filters.lines(), pixels);
        let columns: Vec<usize> = (0..images).flat_map(|i| (0..pixels).map(move |pixel| i * result + pixel)).collect();
        let lanes = match images {
            1 => lanes_of_rows(by, [filters.lines(), filters.depth(), pixels], out),
            _ => vec![Lane { rows: 0..filters.lines(), sums: out, first: 0 }],
        };
        let windows = Operand::new(canvases, &firsts, &elements);
        accumulate(by, [filters, windows], Places { rows: &rows, columns: &columns }, lanes);
    }
}
