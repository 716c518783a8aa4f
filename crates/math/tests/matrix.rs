//! Products of matrices and convolutions through the crate's door: threads, refusals, and no branch on an element.

use tacit_math::matrix::{Convolution, Element, View, product, products};
use tacit_math::{Prg, Seed, Workers};

fn random<R: Element>(len: usize, seed: u8) -> Vec<R> {
    Prg::new(&Seed::from_bytes([seed; 16])).vector(len)
}

const SIZES: Convolution = Convolution {
    images: 7,
    channels: 3,
    size: [30, 20],
    filters: 40,
    window: [5, 3],
    stride: [1, 1],
    padding: [2, 0],
};

/// A convolution and its gradients.
fn convolved<R: Element>(sizes: Convolution) -> [Vec<R>; 3] {
    let [images, filters, out] = sizes.lengths();
    let (mut x, mut f, mut y) = (random(images, 1), random(filters, 2), random(out, 3));
    sizes.forward(&x, &f, &mut y);
    sizes.gradient_of_filters(&x, &y, &mut f);
    sizes.gradient_of_images(&f, &y, &mut x);
    [x, f, y]
}

/// Products large enough for several lanes: of blocks, turned blocks, and a matrix with few vectors on either side.
fn multiplied<R: Element>() -> Vec<Vec<R>> {
    let (a, b): (Vec<R>, Vec<R>) = (random(700 * 300, 8), random(300 * 500, 9));
    let (large, b) = (View::new(&a, 700, 300), View::new(&b, 300, 500));
    let few = |columns| View { columns, ..b };
    let turned = View::new(&a, 300, 700).transposed();
    let pairs = [
        (large, b),
        (turned, few(20)),
        (large, few(2)),
        (turned, few(1)),
        (few(1).transposed(), turned.transposed()),
        (View { rows: 2, ..large }, b),
    ];
    let mut all: Vec<Vec<R>> = pairs.iter().map(|(a, b)| vec![R::ONE; a.rows * b.columns]).collect();
    pairs.iter().zip(&mut all).for_each(|(&(a, b), c)| product(a, b, c));
    products(pairs.iter().zip(&mut all).map(|(&(a, b), c)| (a, b, &mut c[..])).collect());
    all
}

fn threads_compute_alike<R: Element>() {
    let compute = |threads| {
        Workers::new(threads).expect("threads").run(|| {
            let one = Convolution { images: 1, size: [60, 50], ..SIZES };
            (multiplied::<R>(), [SIZES, one].map(convolved::<R>))
        })
    };
    let alone = compute(1);
    for threads in [2, 3, 5] {
        assert!(compute(threads) == alone, "{threads} threads");
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    threads_compute_alike::<u64>();
    threads_compute_alike::<u128>();
}

#[test]
#[should_panic(expected = "a view lies within its data")]
fn a_view_beyond_its_data_is_refused() {
    let data = [1_u64; 6];
    product(View::new(&data, 2, 3), View { row_stride: 4, ..View::new(&data, 3, 2) }, &mut [0; 4]);
}

#[test]
#[should_panic(expected = "as many columns of A as rows of B")]
fn sizes_that_do_not_fit_are_refused() {
    let data = [1_u64; 6];
    product(View::new(&data, 2, 3), View::new(&data, 2, 3), &mut [0; 6]);
}

#[test]
#[should_panic(expected = "a filter fits in the padded image")]
fn a_filter_larger_than_the_image_is_refused() {
    Convolution { size: [2, 2], window: [3, 3], padding: [0, 0], ..SIZES }.output();
}

#[cfg(tacit_memcheck)]
mod constant_time {
    use super::{Element, SIZES, View, product, random};
    use tacit_marks::{found, marked};
    use tacit_math::matrix::{Convolution, Pool};

    /// Blocks, turned blocks, vectors on either side: products of marked elements, and what a mark on an address gives.
    fn of<R: Element>() -> Vec<(String, usize)> {
        let [a, b]: [Vec<R>; 2] = [1, 2].map(|seed| marked(random(40 * 40, seed)));
        let (a, b) = (View::new(&a, 40, 40), View::new(&b, 40, 40));
        let few = View { columns: 2, ..b };
        let pairs = [(a, b), (a.transposed(), View { columns: 9, ..b }), (a, few), (few.transposed(), a)];
        let mut all: Vec<_> = pairs
            .into_iter()
            .flat_map(|(a, b)| {
                let mut c = marked(random::<R>(a.rows * b.columns, 3));
                found(&format!("{} x {}", a.rows, b.columns), || product(a, b, &mut c))
            })
            .collect();
        let sizes = Convolution { images: 2, size: [7, 6], filters: 5, stride: [2, 1], ..SIZES };
        let [mut x, mut f, mut y] = sizes.lengths().map(|len| marked(random::<R>(len, 4)));
        all.extend(found("convolution", || sizes.forward(&x, &f, &mut y)));
        all.extend(found("gradient of filters", || sizes.gradient_of_filters(&x, &y, &mut f)));
        all.extend(found("gradient of images", || sizes.gradient_of_images(&f, &y, &mut x)));
        let pool = Pool { size: [7, 6], window: [2, 2], stride: [2, 2] };
        let mut sums = marked(random::<R>(x.len() / 42 * 9, 5));
        all.extend(found("sums of windows", || pool.sums(&x, &mut sums)));
        all.extend(found("their gradient", || pool.gradient(&sums, &mut x)));
        all
    }

    #[test]
    fn constant_time() {
        assert_eq!(of::<u64>(), []);
        assert_eq!(of::<u128>(), []);
    }

    /// A branch on a sum is found: sums are marked.
    #[test]
    fn constant_time_is_looked_for() {
        let a = marked(random::<u64>(64, 6));
        let mut c = vec![0; 64];
        product(View::new(&a, 8, 8), View::new(&a, 8, 8), &mut c);
        let planted = found("planted", || {
            std::hint::black_box(c.iter().position(|&sum| sum == 7));
        });
        assert_ne!(planted, []);
    }
}
