//! Products of matrices and convolutions agree with integers on every engine, cost what is declared, and send what the
//! size of their outputs says.

use super::rounding::{Columned, Counting, PARTIES, element, is_beside, numbers, on_nodes, signed, sum};
use super::world::{Program, check_with};
use tacit_math::matrix::{Convolution, Element};
use tacit_math::{Prg, Ring};
use tacit_mpc::backends::{Components, Rep3, Tally, Two};
use tacit_mpc::{Backend, Bilinear, Block, Form, Layout, MatrixProduct, Result, Rows, linear};
use tacit_net::Cost;
use tacit_views::seed;

/// Sizes of a product and where its operands lie: as they are, transposed, or apart in a longer vector.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    sizes: [usize; 3],
    layouts: [Lies; 2],
}

#[derive(Clone, Copy, Debug)]
enum Lies {
    Rows,
    Columns,
    /// Elements three apart, rows a gap further, behind a few others.
    Apart,
    /// All rows are the same one.
    OneRow,
}

impl Lies {
    fn layout(self, rows: usize, columns: usize) -> Layout {
        match self {
            Self::Rows => Layout::rows_of(columns),
            Self::Columns => Layout::columns_of(rows),
            Self::Apart => Layout { start: 5, row_stride: 3 * columns + 1, column_stride: 3 },
            Self::OneRow => Layout { start: 2, row_stride: 0, column_stride: 1 },
        }
    }
}

impl Sizes {
    fn product<'a, V>(self, x: &'a V, y: &'a V) -> MatrixProduct<'a, V> {
        let [rows, inner, columns] = self.sizes;
        let [of_x, of_y] = self.layouts;
        let (x_layout, y_layout) = (of_x.layout(rows, inner), of_y.layout(inner, columns));
        MatrixProduct { x_layout, y_layout, ..MatrixProduct::new(x, y, self.sizes) }
    }

    /// The schoolbook's product.
    fn model<R: Ring>(self, x: &[R], y: &[R]) -> Vec<R> {
        let [rows, inner, columns] = self.sizes;
        let [of_x, of_y] = [self.layouts[0].layout(rows, inner), self.layouts[1].layout(inner, columns)];
        let at = |of: Layout, data: &[R], i: usize, j: usize| data[of.start + i * of.row_stride + j * of.column_stride];
        let element = |i, j| (0..inner).fold(R::ZERO, |sum, k| sum.add(at(of_x, x, i, k).mul(at(of_y, y, k, j))));
        (0..rows).flat_map(|i| (0..columns).map(move |j| element(i, j))).collect()
    }
}

fn sizes(sizes: [usize; 3]) -> Sizes {
    Sizes { sizes, layouts: [Lies::Rows; 2] }
}

/// Vectors one behind the other, as a bundle's only column.
fn joined<R: Columned, B: Backend>(parts: &[B::Vector<R>]) -> Rows<B> {
    let all = linear::concat_vectors(&parts.iter().collect::<Vec<_>>());
    R::rows(tacit_mpc::Linear::rows(&all), all)
}

/// Products of matrices in the two vectors of a bundle, in one call.
struct Matrices<R> {
    all: Vec<Sizes>,
    by: Option<usize>,
    ring: std::marker::PhantomData<R>,
}

/// The two vectors of a bundle over a ring.
trait Pair: Columned + Element {
    fn pair<B: Backend>(rows: &Rows<B>) -> [&B::Vector<Self>; 2];
    fn clear(block: &Block) -> [&[Self]; 2];
    fn bundle(columns: [Vec<Self>; 2]) -> Block;
}

impl Pair for u64 {
    fn pair<B: Backend>(rows: &Rows<B>) -> [&B::Vector<Self>; 2] {
        [&rows.r64[0], &rows.r64[1]]
    }
    fn clear(block: &Block) -> [&[Self]; 2] {
        [&block.r64[0], &block.r64[1]]
    }
    fn bundle(columns: [Vec<Self>; 2]) -> Block {
        Block { rows: columns[0].len(), r64: columns.to_vec(), ..Block::default() }
    }
}

impl Pair for u128 {
    fn pair<B: Backend>(rows: &Rows<B>) -> [&B::Vector<Self>; 2] {
        [&rows.r128[0], &rows.r128[1]]
    }
    fn clear(block: &Block) -> [&[Self]; 2] {
        [&block.r128[0], &block.r128[1]]
    }
    fn bundle(columns: [Vec<Self>; 2]) -> Block {
        Block { rows: columns[0].len(), r128: columns.to_vec(), ..Block::default() }
    }
}

impl<R: Pair> Program for Matrices<R> {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let [x, y] = R::pair(&input);
        let products: Vec<_> = self.all.iter().map(|sizes| sizes.product(x, y)).collect();
        let out = match self.by {
            None => b.matrix_products::<R>(&products)?,
            Some(by) => b.matrix_products_truncate::<R>(&products, by)?,
        };
        Ok(joined::<R, B>(&out))
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let [x, y] = R::clear(input);
        let products = self.all.iter().flat_map(|sizes| sizes.model(x, y));
        let cut = |x: R| self.by.map_or(x, |by| element(signed(x) >> by));
        Some(R::block(products.map(cut).collect()))
    }
}

/// Elements that wrap, and others.
fn any<R: Ring>(count: usize, prg: &mut Prg) -> Vec<R> {
    let drawn: Vec<[u64; 3]> = prg.vector(count);
    let one = |[low, high, choice]: [u64; 3]| match choice % 4 {
        0 => R::ZERO.sub(R::ONE),
        1 => R::ONE.shl(R::BITS - 1),
        _ => R::from_u128(u128::from(low) | u128::from(high) << 64),
    };
    drawn.into_iter().map(one).collect()
}

fn matrices<R: Pair>(name: &str, length: usize, all: Vec<Sizes>) {
    let draw = |prg: &mut Prg| R::bundle([(); 2].map(|()| any(length, prg)));
    let name = format!("{name}, {} bits", R::BITS);
    check_with(&name, &Matrices::<R> { all, by: None, ring: std::marker::PhantomData }, draw);
}

/// Sizes with zeros and ones among them.
const SMALL: [[usize; 3]; 13] = [
    [1, 1, 1],
    [0, 3, 2],
    [3, 0, 2],
    [2, 3, 0],
    [0, 0, 0],
    [1, 7, 1],
    [5, 1, 6],
    [1, 4, 9],
    [9, 4, 1],
    [3, 4, 5],
    [7, 2, 9],
    [2, 17, 2],
    [6, 5, 7],
];

#[test]
fn matrix_products_agree_with_integers_and_cost_what_is_declared() {
    let each = |sizes: [usize; 3]| {
        let all = [Lies::Rows, Lies::Columns, Lies::Apart, Lies::OneRow];
        let pick = sizes.iter().sum::<usize>();
        Sizes { sizes, layouts: [all[pick % 4], all[pick / 3 % 4]] }
    };
    let both = |name: &str, all: &[Sizes]| {
        matrices::<u64>(name, 400, all.to_vec());
        matrices::<u128>(name, 400, all.to_vec());
    };
    both("all sizes in one round", &SMALL.map(each));
    for size in SMALL {
        both(&format!("{size:?}"), &[sizes(size)]);
    }
    both("nothing", &[]);
}

#[test]
fn transposes_are_layouts() {
    let layouts = [Lies::Rows, Lies::Columns, Lies::Apart];
    let all = layouts.iter().flat_map(|&x| layouts.iter().map(move |&y| [x, y]));
    let all: Vec<Sizes> = all.map(|layouts| Sizes { sizes: [4, 3, 5], layouts }).collect();
    matrices::<u64>("layouts", 100, all);
    let (x, y) = (vec![0u64; 12], vec![0u64; 15]);
    let turned = MatrixProduct::new(&x, &y, [4, 3, 5]).with_x_transposed().with_y_transposed();
    assert_eq!([turned.x_layout, turned.y_layout], [Layout::columns_of(4), Layout::columns_of(3)]);
}

#[test]
fn large_products_agree_with_integers() {
    // Enough products for two nodes to choose another protocol than for few; several tiles of the kernel.
    matrices::<u64>("large", 40 * 41, vec![sizes([13, 41, 17]), sizes([40, 3, 41])]);
    matrices::<u128>("large", 40 * 41, vec![sizes([13, 41, 17])]);
}

/// Convolutions of the two vectors of a bundle.
struct Convolutions {
    all: Vec<Form>,
}

impl Program for Convolutions {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let [x, y] = u64::pair(&input);
        let maps: Vec<_> = self.all.iter().map(|&form| Bilinear { x, y, starts: [1, 2], form }).collect();
        Ok(joined::<u64, B>(&b.bilinear::<u64>(&maps)?))
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let [x, y] = u64::clear(input);
        Some(u64::block(self.all.iter().flat_map(|form| convolved(form, &x[1..], &y[2..])).collect()))
    }
}

/// Each term of a convolution as what it adds to: (image's pixel, filter's pixel, pixel of what comes out).
fn terms(c: &Convolution) -> Vec<[usize; 3]> {
    let (mut terms, [height, width]) = (Vec::new(), c.output());
    for image in 0..c.images {
        for (filter, channel) in (0..c.filters).flat_map(|f| (0..c.channels).map(move |channel| (f, channel))) {
            for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
                for (i, j) in (0..c.window[0]).flat_map(|i| (0..c.window[1]).map(move |j| (i, j))) {
                    let [y, x] = [row * c.stride[0] + i, column * c.stride[1] + j];
                    let inside =
                        |at: usize, side: usize| (c.padding[side]..c.size[side] + c.padding[side]).contains(&at);
                    if inside(y, 0) && inside(x, 1) {
                        let [y, x] = [y - c.padding[0], x - c.padding[1]];
                        terms.push([
                            ((image * c.channels + channel) * c.size[0] + y) * c.size[1] + x,
                            ((filter * c.channels + channel) * c.window[0] + i) * c.window[1] + j,
                            ((image * c.filters + filter) * height + row) * width + column,
                        ]);
                    }
                }
            }
        }
    }
    terms
}

fn convolved(form: &Form, x: &[u64], y: &[u64]) -> Vec<u64> {
    // Which of the three are operands, and which comes out.
    let (sizes, [first, second, to]) = match form {
        Form::Convolution(sizes) => (sizes, [0, 1, 2]),
        Form::GradientOfFilters(sizes) => (sizes, [0, 2, 1]),
        Form::GradientOfImages(sizes) => (sizes, [1, 2, 0]),
        Form::Matrices(_) => unreachable!("a convolution"),
    };
    let mut out = vec![0u64; sizes.lengths()[to]];
    for term in terms(sizes) {
        let product = x[term[first]].wrapping_mul(y[term[second]]);
        out[term[to]] = out[term[to]].wrapping_add(product);
    }
    out
}

/// All that is made of one convolution.
fn forms(sizes: Convolution) -> [Form; 3] {
    [Form::Convolution(sizes), Form::GradientOfFilters(sizes), Form::GradientOfImages(sizes)]
}

#[test]
fn convolutions_and_gradients_agree_with_integers_and_cost_what_is_declared() {
    let plain = Convolution {
        images: 2,
        channels: 1,
        size: [4, 5],
        filters: 2,
        window: [2, 3],
        stride: [1, 1],
        padding: [0, 0],
    };
    let padded = Convolution { channels: 2, padding: [1, 2], ..plain };
    let strided = Convolution { stride: [2, 3], padding: [2, 1], images: 1, ..padded };
    let none = Convolution { images: 0, ..plain };
    let one = Convolution { images: 1, channels: 1, size: [1, 1], filters: 1, window: [1, 1], ..plain };
    let all: Vec<Form> = [plain, padded, strided, none, one].into_iter().flat_map(forms).collect();
    let draw = |prg: &mut Prg| u64::bundle([(); 2].map(|()| any(260, prg)));
    check_with("all convolutions", &Convolutions { all: all.clone() }, draw);
    for form in all {
        check_with(&format!("{form:?}"), &Convolutions { all: vec![form] }, draw);
    }
}

/// Enough products for two nodes to make the maps as products of matrices.
#[test]
fn large_convolutions_agree_with_integers_and_cost_what_is_declared() {
    let sizes = Convolution {
        images: 2,
        channels: 3,
        size: [9, 9],
        filters: 4,
        window: [3, 3],
        stride: [1, 2],
        padding: [1, 1],
    };
    let draw = |prg: &mut Prg| u64::bundle([(); 2].map(|()| any(500, prg)));
    check_with("large convolutions", &Convolutions { all: forms(sizes).to_vec() }, draw);
}

#[test]
fn truncated_multiples_are_the_same_on_all_engines() {
    let (by, length) = (8, 120);
    let multiple = |x: u64| element::<u64>(signed(x) >> 46 << by);
    let all = vec![sizes([3, 4, 5]), sizes([1, 1, 1]), sizes([0, 2, 1]), sizes([2, 0, 2]), sizes([7, 9, 2])];
    let draw = |prg: &mut Prg| {
        let columns = [(); 2].map(|()| prg.vector::<u64>(length).into_iter().map(multiple).collect());
        u64::bundle(columns)
    };
    check_with("multiples", &Matrices::<u64> { all, by: Some(by), ring: std::marker::PhantomData }, draw);
}

/// What an engine makes of matrices of any sharing.
fn truncated<B: Components, R: Columned + Element>(
    of: [&[R]; 2],
    size: [usize; 3],
    by: usize,
    prg: &mut Prg,
) -> Vec<R> {
    let dealt = of.map(|x| {
        let mut shares: Vec<Vec<R>> =
            (1..B::NODES).map(|_| prg.vector::<u128>(x.len()).into_iter().map(R::from_u128).collect()).collect();
        let rest = sum(&shares);
        shares.push((0..x.len()).map(|i| x[i].sub(rest[i])).collect());
        shares
    });
    let held = on_nodes::<B, Vec<R>>(|b, me| {
        let [x, y] = dealt.each_ref().map(|shares: &Vec<Vec<R>>| {
            B::put_together((me..me + B::COUNT).map(|which| R::block(shares[which % B::NODES].clone())).collect())
        });
        let product = MatrixProduct::new(R::of(&x), R::of(&y), size);
        let out = b.matrix_products_truncate::<R>(&[product], by).expect("peers").swap_remove(0);
        R::column(B::take_apart(R::rows(size[0] * size[2], out)).swap_remove(0))
    });
    sum(&held)
}

fn are_beside<B: Components, R: Pair>(size: [usize; 3], by: usize) {
    let name = format!("{size:?} on {} by {by} of {} bits", B::NAME, R::BITS);
    let prg = &mut Prg::new(&seed(&name));
    let [rows, inner, columns] = size;
    // A sum of `inner` products has two bits left, and so has its rounding.
    let down = R::BITS / 2 + (inner.max(1) as u32).next_power_of_two().ilog2().div_ceil(2);
    let half = |x: R| element::<R>(signed(x) >> down);
    let [x, y] =
        [rows * inner, inner * columns].map(|count| numbers::<R>(count, prg).into_iter().map(half).collect::<Vec<_>>());
    let out = truncated::<B, R>([&x, &y], size, by, prg);
    for (i, (exact, result)) in sizes(size).model(&x, &y).into_iter().zip(out).enumerate() {
        assert!(is_beside(exact, result, by), "{name}: row {i}: {} to {}", signed(exact), signed(result));
    }
}

#[test]
fn truncated_matrix_products_are_beside_the_exact_ones() {
    for by in [1, 13, 16, 32, 40, 62] {
        are_beside::<Rep3, u64>([11, 6, 13], by);
    }
    for size in SMALL {
        are_beside::<Rep3, u64>(size, 16);
        are_beside::<Rep3, u128>(size, 40);
    }
    are_beside::<Rep3, u64>([300, 2, 301], 16);
    are_beside::<Two, u64>([3, 4, 5], 16);
    are_beside::<Two, u128>([2, 2, 2], 70);
}

#[test]
fn the_largest_sums_that_fit_are_rounded_right() {
    let (by, prg) = (16, &mut Prg::new(&seed("largest sums")));
    let most = (1i128 << 62) - 1;
    // Sums of terms that wrap in between: only the whole sum has to fit.
    let x: Vec<u64> = [most, most, most, -most, -most, -most, most - 1, 2, 1].map(element).to_vec();
    let y: Vec<u64> = [1, 0, 1, 1, -1, -1].map(element).to_vec();
    let exact = sizes([3, 3, 2]).model(&x, &y);
    assert_eq!(exact[..4], [most, 0, -most, 0].map(element::<u64>));
    let out = truncated::<Rep3, u64>([&x, &y], [3, 3, 2], by, prg);
    for (exact, result) in exact.into_iter().zip(out) {
        assert!(is_beside(exact, result, by), "{} to {}", signed(exact), signed(result));
    }
}

/// What three nodes declare for products of these sizes.
fn cost<R: Pair>(all: &[Sizes], by: Option<usize>) -> Cost {
    let mut b: Counting = Tally::new(PARTIES.iter().copied().map(String::from).collect());
    let columns = b.columns(R::bundle([(); 2].map(|()| vec![R::ZERO; 1 << 20])).shape());
    b.take();
    let [x, y] = R::pair(&columns);
    let products: Vec<_> = all.iter().map(|sizes| sizes.product(x, y)).collect();
    match by {
        None => drop(b.matrix_products::<R>(&products).expect("a tally")),
        Some(by) => drop(b.matrix_products_truncate::<R>(&products, by).expect("a tally")),
    }
    b.take()
}

/// Other tests hold the declared cost against the meter.
#[test]
fn three_nodes_send_what_comes_out_whatever_the_inner_length() {
    let alike = |rounds, sent| Cost::alike(3, rounds, sent);
    for inner in [1, 10, 1000] {
        let square = sizes([300, inner, 300]);
        assert_eq!(cost::<u64>(&[square], None), alike(1, 8 * 90_000));
        assert_eq!(cost::<u128>(&[square], None), alike(1, 16 * 90_000));
        // 30 bytes of all nodes together, as of products of elements.
        assert_eq!(cost::<u64>(&[square], Some(16)), alike(3, 10 * 90_000));
        assert_eq!(cost::<u64>(&[square; 5], Some(16)), alike(3, 5 * 10 * 90_000));
    }
    assert_eq!(cost::<u64>(&vec![sizes([3, 9, 5]); 100], None), alike(1, 8 * 1500));
}
