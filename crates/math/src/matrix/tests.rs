//! Every micro-kernel against the schoolbook.

use proptest::collection::vec;
use proptest::prelude::*;

use super::kernel::DEPTH;
use super::{Convolution, Element, Pool, View, path, product_by};
use crate::{Prg, Seed};

/// Random elements, among them those that wrap.
fn random<R: Element>(len: usize, seed: u8) -> Vec<R> {
    let words: Vec<[u64; 3]> = Prg::new(&Seed::from_bytes([seed; 16])).vector(len);
    let element = |[low, high, choice]: [u64; 3]| match choice % 4 {
        0 => R::ZERO.sub(R::ONE),
        1 => R::ONE.shl(R::BITS - 1),
        _ => R::from_u128(u128::from(low) | u128::from(high) << 64),
    };
    words.into_iter().map(element).collect()
}

/// C + A B, element by element.
fn schoolbook<R: Element>(a: View<'_, R>, b: View<'_, R>, c: &[R]) -> Vec<R> {
    let at = |view: View<'_, R>, i: usize, j: usize| view.data[i * view.row_stride + j * view.column_stride];
    let sum = |i, j| (0..a.columns).fold(R::ZERO, |sum, k| sum.add(at(a, i, k).mul(at(b, k, j))));
    let columns = b.columns.max(1);
    c.iter().enumerate().map(|(place, &c)| c.add(sum(place / columns, place % columns))).collect()
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Rows,
    Columns,
    Apart,
    OneRow,
}

const LAYOUTS: [Layout; 4] = [Layout::Rows, Layout::Columns, Layout::Apart, Layout::OneRow];

/// A view of these sizes and the elements that it needs.
fn view<R>(data: &[R], rows: usize, columns: usize, layout: Layout) -> View<'_, R> {
    let (row_stride, column_stride) = match layout {
        Layout::Rows => (columns, 1),
        Layout::Columns => (1, rows),
        Layout::Apart => (3 * columns + 1, 3),
        Layout::OneRow => (0, 1),
    };
    View { data, rows, columns, row_stride, column_stride }
}

/// The product of every micro-kernel, with and without packing of thin operands.
fn products_are_right<R: Element>([m, k, n]: [usize; 3], [a, b]: [Layout; 2], seed: u8) {
    let data = [random::<R>(4 * m * k + 1, seed), random::<R>(4 * k * n + 1, seed ^ 77)];
    let (a, b, before) = (view(&data[0], m, k, a), view(&data[1], k, n, b), random::<R>(m * n, seed ^ 5));
    let expected = schoolbook(a, b, &before);
    for kernel in R::kernels() {
        let mut c = before.clone();
        product_by(kernel, a, b, &mut c);
        assert_eq!(c, expected, "{} {m} x {k} x {n}", kernel.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_path_gives_the_schoolbook_product(
        sizes in [0..70_usize, 0..40, 0..70],
        layouts in [0..LAYOUTS.len(), 0..LAYOUTS.len()],
        seed: u8,
    ) {
        products_are_right::<u64>(sizes, layouts.map(|layout| LAYOUTS[layout]), seed);
        products_are_right::<u128>(sizes, layouts.map(|layout| LAYOUTS[layout]), seed);
    }

    #[test]
    fn every_path_gives_the_schoolbook_convolution(
        [images, channels, filters] in [0..4_usize, 0..4, 0..6],
        size in [1..9_usize, 1..12],
        window in [1..5_usize, 1..4],
        stride in [1..4_usize, 1..3],
        padding in [0..4_usize, 0..3],
        seed: u8,
    ) {
        let window = [0, 1].map(|side| window[side].min(size[side] + 2 * padding[side]));
        let convolution = Convolution { images, channels, size, filters, window, stride, padding };
        convolutions_are_right::<u64>(convolution, seed);
        convolutions_are_right::<u128>(convolution, seed);
    }

    #[test]
    fn sums_of_windows_are_those_of_their_pixels(
        planes in vec(any::<u64>(), 7 * 6 * 3),
        window in [1..4_usize, 1..4],
        stride in [1..4_usize, 1..4],
    ) {
        let pool = Pool { size: [7, 6], window, stride };
        let [height, width] = pool.output();
        let (mut sums, mut spread) = (vec![3; 3 * height * width], vec![4; planes.len()]);
        pool.sums(&planes, &mut sums);
        pool.gradient(&sums, &mut spread);
        let (mut expected, mut gradient) = (vec![3_u64; sums.len()], vec![4_u64; planes.len()]);
        for (plane, y, x) in (0..3).flat_map(|plane| places([height, width]).map(move |(y, x)| (plane, y, x))) {
            for (i, j) in places(window) {
                let pixel = (plane * 7 + y * stride[0] + i) * 6 + x * stride[1] + j;
                let sum = (plane * height + y) * width + x;
                expected[sum] = expected[sum].wrapping_add(planes[pixel]);
                gradient[pixel] = gradient[pixel].wrapping_add(sums[sum]);
            }
        }
        prop_assert_eq!(sums, expected);
        prop_assert_eq!(spread, gradient);
    }
}

fn places([height, width]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    (0..height).flat_map(move |y| (0..width).map(move |x| (y, x)))
}

/// For every pixel of every filter and every pixel of what comes out: their places, and that of the image's pixel.
fn each_product(sizes: &Convolution, mut each: impl FnMut(usize, usize, usize)) {
    let Convolution { images, channels, size, filters, window, stride, padding } = *sizes;
    let out = sizes.output();
    for (image, filter, channel) in
        (0..images).flat_map(|i| (0..filters).flat_map(move |f| (0..channels).map(move |c| (i, f, c))))
    {
        for (y, x) in places(out) {
            for (i, j) in places(window) {
                let pixel = [(y * stride[0] + i, padding[0], size[0]), (x * stride[1] + j, padding[1], size[1])]
                    .map(|(place, padding, size)| place.checked_sub(padding).filter(|&place| place < size));
                if let [Some(row), Some(column)] = pixel {
                    each(
                        ((image * channels + channel) * size[0] + row) * size[1] + column,
                        ((filter * channels + channel) * window[0] + i) * window[1] + j,
                        ((image * filters + filter) * out[0] + y) * out[1] + x,
                    );
                }
            }
        }
    }
}

fn convolutions_are_right<R: Element>(sizes: Convolution, seed: u8) {
    let [images, filters, out]: [Vec<R>; 3] = [0, 1, 2].map(|i| random(sizes.lengths()[i], seed.wrapping_add(i as u8)));
    let mut expected = [images.clone(), filters.clone(), out.clone()];
    each_product(&sizes, |i, f, o| {
        let add = |to: &mut R, x: R, y: R| *to = to.add(x.mul(y));
        add(&mut expected[0][i], filters[f], out[o]);
        add(&mut expected[1][f], images[i], out[o]);
        add(&mut expected[2][o], images[i], filters[f]);
    });
    for kernel in R::kernels() {
        let mut found = [images.clone(), filters.clone(), out.clone()];
        sizes.gradient_of_images_by(kernel, &filters, &out, &mut found[0]);
        sizes.gradient_of_filters_by(kernel, &images, &out, &mut found[1]);
        sizes.forward_by(kernel, &images, &filters, &mut found[2]);
        assert_eq!(found, expected, "{} {sizes:?}", kernel.name());
    }
}

/// Sizes at the edges of tiles, panels and blocks.
fn edges_are_right<R: Element>() {
    for kernel in R::kernels() {
        let shape = kernel.shape();
        for width in [shape.rows, shape.columns] {
            for size in [0, 1, width - 1, width, width + 1] {
                products_are_right::<R>([size, 5, width], [Layout::Rows; 2], 3);
                products_are_right::<R>([shape.thin + 1, size, size], [Layout::Rows, Layout::Columns], 4);
            }
        }
    }
    for depth in [DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 1] {
        products_are_right::<R>([9, depth, 33], [Layout::Columns, Layout::Rows], 5);
    }
    products_are_right::<R>([300, 3, 10], [Layout::Rows; 2], 6);
    products_are_right::<R>([10, 3, 1100], [Layout::Rows; 2], 7);
}

#[test]
fn edges_of_blocks() {
    println!("paths: {} and {}", path::<u64>(), path::<u128>());
    edges_are_right::<u64>();
    edges_are_right::<u128>();
}

/// Sums of the largest products that the limbs have to hold.
#[test]
fn the_largest_elements_overflow_no_limb() {
    let (depth, largest) = (2_000, vec![u128::MAX; 2_000 * 9]);
    for kernel in u128::kernels() {
        let mut c = vec![0; 81];
        product_by(kernel, View::new(&largest, 9, depth), View::new(&largest, depth, 9), &mut c);
        assert_eq!(c, vec![depth as u128; 81], "{}", kernel.name());
    }
}
