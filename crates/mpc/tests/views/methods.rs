//! Every method of `Backend`.

use tacit_math::matrix::Convolution;
use tacit_math::{Plane, Prg, Ring};
use tacit_mpc::backends::{Four, Networked, Rep3, Two};
use tacit_mpc::circuits::{Evaluation, Function};
use tacit_mpc::{
    Apart, Backend, Bilinear, Block, Form, Linear, LinearScan, MatrixProduct, Place, Result, Rows, Shape, Split,
};
use tacit_net::PartyId;
use tacit_views::{Kind, Run, View, biased, constants, correlated, leaks, play, repeats, seed};

use crate::permits::{permit, size_permit};
use crate::watched::{Shared, Watched, bundle, clear};
use crate::world::{
    Effort, Ends, LARGE, PARTIES, Program, SIZES, SMALL, Source, THIN, Told, assert_silent, check, check_words, dealt,
    plain, shape, tidy, watch,
};

/// One method on some columns.
#[derive(Clone, Copy, Debug)]
pub enum Method {
    And,
    AndXor,
    Conjoin,
    Whole,
    Mul,
    InnerProducts,
    Select,
    ScanProduct,
    Inject,
    Summands,
    Carries,
    CarriesOfPlanes,
    Mask,
    Unmask,
    Shuffle,
    ShuffleReveal,
    SplitProduct,
    Truncate,
    TruncateApart,
    MultiplyTruncate,
    Bilinear,
    BilinearTruncate,
    MultiplyWithin,
    BilinearWithin,
    TruncateWithin,
    SignWithin,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::And,
        Self::AndXor,
        Self::Conjoin,
        Self::Whole,
        Self::Mul,
        Self::InnerProducts,
        Self::Select,
        Self::ScanProduct,
        Self::Inject,
        Self::Summands,
        Self::Carries,
        Self::CarriesOfPlanes,
        Self::Mask,
        Self::Unmask,
        Self::Shuffle,
        Self::ShuffleReveal,
        Self::SplitProduct,
        Self::Truncate,
        Self::TruncateApart,
        Self::MultiplyTruncate,
        Self::Bilinear,
        Self::BilinearTruncate,
        Self::MultiplyWithin,
        Self::BilinearWithin,
        Self::TruncateWithin,
        Self::SignWithin,
    ];

    /// Those of numbers that are sums of two.
    const OF_SUMMANDS: [Self; 6] = [
        Self::SplitProduct,
        Self::Truncate,
        Self::TruncateApart,
        Self::MultiplyTruncate,
        Self::MultiplyWithin,
        Self::TruncateWithin,
    ];

    /// Those of whole arrays.
    const OF_ARRAYS: [Self; 3] = [Self::Bilinear, Self::BilinearTruncate, Self::BilinearWithin];

    fn is_among(self, methods: &[Self]) -> bool {
        methods.iter().any(|&method| std::mem::discriminant(&method) == std::mem::discriminant(&self))
    }
}

/// For each column the sum of what came before a row.
pub struct Before<const N: usize>([u32; N]);

impl<const N: usize> LinearScan<u32, N> for Before<N> {
    fn begin(at: Place<u32, N>) -> Self {
        Self(at.before)
    }

    fn piece(&mut self, columns: [&[u32]; N], factors: [&mut [u32]; N], base: &mut [u32]) {
        for ((sum, column), factors) in self.0.iter_mut().zip(columns).zip(factors) {
            for ((&x, factor), base) in column.iter().zip(factors).zip(&mut *base) {
                (*factor, *base) = (*sum, *sum);
                *sum = sum.wrapping_add(x);
            }
        }
    }
}

/// x^2 = s^2 + s 2 t + t^2.
pub struct Square;

impl<R: Ring> Split<R> for Square {
    fn products(&self) -> usize {
        2
    }

    fn first(&self, s: &[R], u: &mut [R]) {
        let (squares, numbers) = u.split_at_mut(s.len());
        squares.iter_mut().zip(s).for_each(|(square, s)| *square = s.mul(*s));
        numbers.copy_from_slice(s);
    }

    fn second(&self, t: &[R], w: &mut [R], v: &mut [R]) {
        let (ones, twice) = w.split_at_mut(t.len());
        ones.fill(R::ONE);
        twice.iter_mut().zip(t).for_each(|(twice, t)| *twice = t.shl(1));
        v.iter_mut().zip(t).for_each(|(square, t)| *square = t.mul(*t));
    }
}

/// The side of a square of at most as many elements.
fn side(rows: usize) -> usize {
    rows.isqrt()
}

/// The product of two square matrices in vectors of as many elements, the first one transposed.
pub fn product<'a, V>(x: &'a V, y: &'a V, rows: usize) -> MatrixProduct<'a, V> {
    MatrixProduct::new(x, y, [side(rows); 3]).with_x_transposed()
}

/// An image of that size, with zeros around it that leave it its size.
fn convolution<'a, V>(x: &'a V, y: &'a V, rows: usize) -> Bilinear<'a, V> {
    let (side, around) = (side(rows), usize::from(rows >= 9));
    let sizes = Convolution {
        images: side.min(1),
        channels: 1,
        size: [side.max(1); 2],
        filters: side.min(1),
        window: [2 * around + 1; 2],
        stride: [1, 1],
        padding: [around; 2],
    };
    Bilinear { x, y, starts: [0, 0], form: Form::Convolution(sizes) }
}

/// What the engine evaluates without gates; else nothing.
fn evaluated<B: Backend>(b: &mut B, what: Evaluation, inputs: &[&B::Bits]) -> Result<Rows<B>> {
    Ok(Rows { bits: b.evaluate(what, inputs)?.unwrap_or_default(), ..Rows::empty(inputs[0].rows()) })
}

impl Program for Method {
    fn shape(&self, rows: usize) -> Shape {
        let of = |bits, r32, r64, r128| Shape { bits, r32, r64, r128, ..shape(rows) };
        match self {
            Self::And | Self::AndXor | Self::Conjoin => of(3, 0, 0, 0),
            Self::Whole | Self::CarriesOfPlanes => of(6, 0, 0, 0),
            Self::Mul => of(0, 2, 2, 2),
            Self::InnerProducts => of(0, 0, 3, 0),
            Self::Select => of(2, 1, 0, 1),
            Self::ScanProduct => of(2, 0, 0, 0),
            Self::Inject => of(2, 0, 0, 0),
            Self::Summands | Self::Carries => of(0, 1, 0, 0),
            Self::Mask => of(0, 0, 0, 0),
            Self::Unmask => of(32, 0, 0, 0),
            Self::Shuffle => of(1, 1, 1, 1),
            Self::ShuffleReveal => of(1, 1, 0, 0),
            Self::SplitProduct => of(0, 1, 1, 0),
            Self::Truncate | Self::TruncateWithin => of(0, 1, 1, 1),
            Self::TruncateApart => of(0, 1, 0, 0),
            Self::MultiplyTruncate | Self::MultiplyWithin => of(0, 2, 2, 0),
            Self::Bilinear => of(0, 0, 2, 2),
            Self::BilinearTruncate | Self::BilinearWithin => of(0, 0, 2, 0),
            Self::SignWithin => of(0, 0, 0, 1),
        }
    }

    /// Numbers that are truncated leave room for two bits, and products of them, too.
    fn input(&self, shape: Shape, prg: &mut Prg) -> Block {
        let mut block = Block::random(shape, prg);
        let smaller = |bits: u32| match self {
            Self::Truncate | Self::TruncateApart | Self::TruncateWithin => 2,
            Self::MultiplyTruncate | Self::MultiplyWithin => bits / 2 + 2,
            Self::BilinearTruncate | Self::BilinearWithin => bits / 2 + 4,
            Self::SignWithin => bits - 40,
            _ => 0,
        };
        block.r32.iter_mut().flatten().for_each(|x| *x = (x.cast_signed() >> smaller(32)).cast_unsigned());
        block.r64.iter_mut().flatten().for_each(|x| *x = (x.cast_signed() >> smaller(64)).cast_unsigned());
        block.r128.iter_mut().flatten().for_each(|x| *x = (x.cast_signed() >> smaller(128)).cast_unsigned());
        block
    }

    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let planes: Vec<&B::Bits> = x.bits.iter().collect();
        let empty = Rows::empty(x.rows);
        Ok(match self {
            Self::And => Rows { bits: b.and(&planes[..2], &planes[1..])?, ..empty },
            Self::AndXor => Rows { bits: b.and_xor(&planes[..2], &planes[1..], &[Some(planes[2]), None])?, ..empty },
            Self::Conjoin => evaluated(b, Evaluation::Conjunctions { planes: 3 }, &planes)?,
            Self::Whole => evaluated(b, Evaluation::Whole(Function::LessThan { width: 3 }), &planes)?,
            Self::Mul => {
                let r32 = b.mul(&[&x.r32[0]], &[&x.r32[1]])?;
                let r64 = b.mul(&[&x.r64[0]], &[&x.r64[1]])?;
                let r128 = b.mul(&[&x.r128[0]], &[&x.r128[1]])?;
                Rows { r32, r64, r128, ..empty }
            }
            Self::InnerProducts => {
                let [x, y, z] = [0, 1, 2].map(|k| &x.r64[k]);
                Rows { r64: b.inner_products(&[vec![(x, y), (y, z)], vec![(z, z)]])?, ..empty }
            }
            Self::Select => {
                let r32 = b.select(&planes[..1], &[&x.r32[0]])?;
                let r128 = b.select(&planes[1..], &[&x.r128[0]])?;
                Rows { r32, r128, ..empty }
            }
            Self::ScanProduct => Rows { r32: vec![b.scan_product::<Before<3>, 3>(&planes)?], ..empty },
            Self::Inject => {
                let r32 = b.inject::<u32>(&planes)?;
                Rows { r32, r128: b.inject::<u128>(&planes[..1])?, ..empty }
            }
            Self::Summands => {
                let [first, second] = b.summands::<u32>(&[&x.r32[0]], 9)?.swap_remove(0);
                Rows { bits: first.into_iter().chain(second).collect(), ..empty }
            }
            Self::Carries => {
                let summands = b.summands::<u32>(&[&x.r32[0]], 32)?.swap_remove(0).concat();
                let what = Evaluation::Carries { width: 32, summands: true };
                evaluated(b, what, &summands.iter().collect::<Vec<_>>())?
            }
            Self::CarriesOfPlanes => evaluated(b, Evaluation::Carries { width: 3, summands: false }, &planes)?,
            Self::Mask => {
                let (mask, negated) = b.mask::<u32>(x.rows)?;
                Rows { r32: vec![mask], bits: negated, ..empty }
            }
            Self::Unmask => {
                let (mask, _) = b.mask::<u32>(x.rows)?;
                Rows { r32: vec![b.unmask(mask, &planes)?], ..empty }
            }
            Self::Shuffle => b.shuffle(x)?,
            Self::ShuffleReveal => {
                let numbers = b.public_vector(x.rows, || (0..x.rows as u32).collect());
                let reveal = Rows { r32: vec![numbers], ..Rows::empty(x.rows) };
                let (shuffled, revealed) = b.shuffle_reveal(x, reveal)?;
                shuffled.permute_public(&revealed.r32[0]).expect("row numbers are revealed")
            }
            Self::SplitProduct => {
                let r32 = b.split_product(&[&x.r32[0]], &Square)?;
                Rows { r32, r64: b.split_product(&[&x.r64[0]], &Square)?, ..empty }
            }
            // By bits that take one byte, three and sixteen.
            Self::Truncate => {
                let r32 = b.truncate(&[&x.r32[0]], 5)?;
                let r64 = b.truncate(&[&x.r64[0]], 17)?;
                Rows { r32, r64, r128: b.truncate(&[&x.r128[0]], 70)?, ..empty }
            }
            Self::TruncateApart => {
                let Apart { less_carry, low } = b.truncate_apart(&[&x.r32[0]], 4)?.swap_remove(0);
                Rows { r32: vec![less_carry], bits: low.concat(), ..empty }
            }
            Self::MultiplyTruncate => {
                let r32 = b.multiply_truncate(&[vec![(&x.r32[0], &x.r32[1])]], 9)?;
                let [first, second] = [&x.r64[0], &x.r64[1]];
                let r64 = b.multiply_truncate(&[vec![(first, second), (second, second)]], 16)?;
                Rows { r32, r64, ..empty }
            }
            // Of what shares wrap nothing follows for views.
            Self::MultiplyWithin => {
                let r32 = b.multiply_within(&[vec![(&x.r32[0], &x.r32[1])]], 9, &[[1 << 14; 2]])?;
                let [first, second] = [&x.r64[0], &x.r64[1]];
                let sum = vec![(first, second), (second, second)];
                let r64 = b.multiply_within(&[sum], 16, &[[1 << 30; 2]])?;
                Rows { r32, r64, ..empty }
            }
            Self::TruncateWithin => {
                let r32 = b.truncate_within(&[&x.r32[0]], 5, &[1 << 30])?;
                let r64 = b.truncate_within(&[&x.r64[0]], 17, &[1 << 62])?;
                Rows { r32, r64, r128: b.truncate_within(&[&x.r128[0]], 70, &[1 << 126])?, ..empty }
            }
            Self::BilinearWithin => {
                let product = [product(&x.r64[0], &x.r64[1], x.rows)];
                let r64 = b.matrix_products_within(&product, 16, &[[1 << 28; 2]])?;
                Rows { r64, ..Rows::empty(side(x.rows).pow(2)) }
            }
            Self::SignWithin => Rows { bits: b.sign_within(&x.r128[0], 40)?.into_iter().collect(), ..empty },
            Self::Bilinear => {
                let r64 = b.matrix_products(&[product(&x.r64[0], &x.r64[1], x.rows)])?;
                let r128 = b.bilinear(&[convolution(&x.r128[0], &x.r128[1], x.rows)])?;
                Rows { r64, r128, ..Rows::empty(side(x.rows).pow(2)) }
            }
            Self::BilinearTruncate => {
                let r64 = b.matrix_products_truncate(&[product(&x.r64[0], &x.r64[1], x.rows)], 16)?;
                Rows { r64, ..Rows::empty(side(x.rows).pow(2)) }
            }
        })
    }
}

fn look_at<B: Told + 'static>(
    methods: impl IntoIterator<Item = Method>,
    rows: &[usize],
    sources: &[Source],
    effort: Effort,
) {
    for method in methods {
        for &rows in rows {
            for &source in sources {
                check::<B>(&format!("{method:?}"), &method, rows, source, effort);
            }
        }
    }
}

// views: crates/mpc/src/backends/waves.rs
#[test]
fn many_rows_are_masked_by_fresh_words() {
    let products = [(Method::SplitProduct, 1 << 18), (Method::Truncate, 1 << 18), (Method::MultiplyTruncate, 1 << 18)];
    let products = products.into_iter().chain([(Method::Bilinear, 1 << 18), (Method::BilinearTruncate, 1 << 18)]);
    for (method, rows) in
        [(Method::And, 1 << 21), (Method::Mul, 1 << 18), (Method::Inject, 1 << 18)].into_iter().chain(products)
    {
        check_words::<Rep3>(&format!("{method:?}"), &method, rows);
    }
}

// views: crates/mpc/src/backends/wire.rs crates/mpc/src/backends/numbers.rs
// views: crates/mpc/src/backends/rep3/and.rs crates/mpc/src/backends/rep3/multiply.rs
// views: crates/mpc/src/backends/rep3/scan.rs
// views: crates/mpc/src/backends/rep3/inject.rs
// views: crates/mpc/src/backends/rep3/convert.rs
// views: crates/mpc/src/backends/rep3/shuffle.rs
// views: Rep3::and Rep3::and_xor Rep3::evaluate Rep3::mul Rep3::inner_products Rep3::select
// views: Rep3::scan_product Rep3::inject Rep3::summands Rep3::mask
// views: Rep3::unmask Rep3::shuffle Rep3::shuffle_reveal
#[test]
fn methods_of_three_nodes_tell_nothing() {
    let others = [&Method::OF_SUMMANDS[..], &Method::OF_ARRAYS].concat();
    look_at::<Rep3>(Method::ALL.into_iter().filter(|method| !method.is_among(&others)), &[10], &[Source::Dealt], SMALL);
}

// views: crates/mpc/src/backends/rep3/split.rs crates/mpc/src/backends/rep3/truncate.rs
// views: crates/mpc/src/backends/rep3/fused.rs
// views: Rep3::split_product Rep3::truncate Rep3::truncate_apart Rep3::multiply_truncate
// views: Rep3::multiply_within Rep3::truncate_within Rep3::sign_within
#[test]
fn functions_of_summands_tell_three_nodes_nothing() {
    look_at::<Rep3>([Method::SignWithin], &[10], &[Source::Dealt], SMALL);
    look_at::<Rep3>(Method::OF_SUMMANDS, &[10], &[Source::Dealt], SMALL);
}

// views: crates/mpc/src/backends/rep3/bilinear.rs
// views: Rep3::bilinear Rep3::bilinear_truncate Rep3::matrix_products Rep3::matrix_products_truncate
// views: Rep3::bilinear_within Rep3::matrix_products_within
#[test]
fn products_of_arrays_tell_three_nodes_nothing() {
    look_at::<Rep3>(Method::OF_ARRAYS, &[10], &[Source::Dealt], SMALL);
}

// views: crates/mpc/src/backends/four/multiply.rs crates/mpc/src/backends/four/convert.rs
// views: crates/mpc/src/backends/four/shuffle.rs
// views: Four::and Four::and_xor Four::evaluate Four::mul Four::inner_products Four::select
// views: Four::scan_product Four::inject Four::summands Four::mask
// views: Four::unmask Four::shuffle Four::shuffle_reveal
#[test]
fn methods_of_four_servers_tell_nothing() {
    // Comparisons are looked at in tests/four: their circuits are as wide as the ring.
    let others = [&Method::OF_SUMMANDS[..], &Method::OF_ARRAYS, &[Method::SignWithin]].concat();
    look_at::<Four>(Method::ALL.into_iter().filter(|method| !method.is_among(&others)), &[10], &[Source::Dealt], SMALL);
}

// views: crates/mpc/src/backends/four/truncate.rs crates/mpc/src/backends/four/integers.rs
// views: Four::split_product Four::truncate Four::truncate_apart Four::multiply_truncate
// views: Four::multiply_within Four::truncate_within
#[test]
fn functions_of_summands_tell_four_servers_nothing() {
    look_at::<Four>(Method::OF_SUMMANDS, &[10], &[Source::Dealt], SMALL);
}

// views: crates/mpc/src/backends/four/bilinear.rs
// views: Four::bilinear Four::bilinear_truncate Four::matrix_products Four::matrix_products_truncate
// views: Four::bilinear_within Four::matrix_products_within
#[test]
fn products_of_arrays_tell_four_servers_nothing() {
    look_at::<Four>(Method::OF_ARRAYS, &[10], &[Source::Dealt], SMALL);
}

#[test]
#[ignore = "minutes: make nightly"]
fn methods_of_four_servers_tell_nothing_at_any_size() {
    let without_circuits = || Method::ALL.into_iter().filter(|method| !method.is_among(&[Method::SignWithin]));
    look_at::<Four>(without_circuits(), &[10, 65], &Source::ALL, LARGE);
    look_at::<Four>(without_circuits(), &SIZES, &[Source::Worked], LARGE);
}

#[test]
#[ignore = "minutes: make nightly"]
fn methods_of_three_nodes_tell_nothing_at_any_size() {
    look_at::<Rep3>(Method::ALL, &[10, 65], &Source::ALL, LARGE);
    look_at::<Rep3>(Method::ALL, &SIZES, &[Source::Worked], LARGE);
}

/// That bits which nodes draw together are uniform to each node, whatever it has and has drawn. holders: how many nodes
/// have components; others have none.
fn drawn_together<B: Told + 'static>(holders: usize) {
    // More than there are bits: two planes, as two components, as what generators gave, and in clear.
    const RUNS: usize = 1000;
    let nodes = watch::<B>(RUNS, THIN, |mut b, _| {
        let bits = b.random_bits(&[64, 64]);
        let drawn: Rows<Watched<B>> = Rows { bits, ..Rows::empty(64) };
        Ok((b, Ends { begin: vec![], end: bundle("end", &drawn), declared: View::default() }))
    });
    for (node, own) in nodes.iter().enumerate() {
        let run = |run: usize| {
            let mut view = View::default();
            for call in &own[run] {
                view.extend(call.seen.clone());
                call.shared.iter().flat_map(|shared| &shared.components).for_each(|component| {
                    view.add(Kind::Own, call.name, component.clone());
                });
            }
            let ends: Vec<&Shared> = nodes.iter().map(|node| &node[run][node[run].len() - 1].shared[0]).collect();
            let secret = View::default().with(Kind::Own, "bits", plain(&ends));
            Run { view, known: View::default(), secret }
        };
        let runs: Vec<Run> = (0..RUNS).map(run).collect();
        assert_eq!(runs[0].secret.bits(), 2 * 64);
        assert_eq!(runs[0].view.only(&[Kind::Received]).bits(), 0, "nothing is sent");
        let components = runs[0].view.only(&[Kind::Own]).bits();
        assert_eq!(components >= 2 * 64, node < holders, "the node's components are looked at");
        assert_eq!(leaks(&runs), [], "no combination of what a node has says a bit");
        assert_eq!(correlated(&runs), [], "nor does any bit lean to one");
        let bits: Vec<View> = runs.into_iter().map(|run| run.secret).collect();
        assert_eq!(biased(&bits), [], "every bit is uniform");
        assert_eq!(constants(&bits), [], "and independent of the others");
        assert_eq!(repeats(&bits, 8), [], "in every run");
    }
}

// views: Rep3::random_bits Two::random_bits Four::random_bits
#[test]
fn bits_that_nodes_draw_together_are_known_to_none() {
    drawn_together::<Rep3>(3);
    drawn_together::<Two>(2);
    drawn_together::<Four>(2);
}

/// Columns of every kind.
fn columns(rows: usize) -> Shape {
    Shape { bits: 3, r32: 1, r64: 1, r128: 1, ..shape(rows) }
}

fn inputs<B: Told + 'static>(rows: usize, effort: Effort) {
    for owner in 0..B::NODES {
        let name = format!("input of {rows} rows by node {owner}, {}", B::NAME);
        let seed = seed(&name);
        assert_silent::<B>(&name, effort, THIN, |mut b: Watched<B>, run| {
            let plain = tidy(Block::random(columns(rows), &mut Prg::new(&seed.derive(&run.to_string()))));
            let data = (b.node() == owner).then_some(plain);
            let declared = data.as_ref().map_or_else(View::default, |data| clear("own input", data));
            let shared = b.input(PartyId(owner), columns(rows), data)?;
            Ok((b, Ends { begin: vec![], end: bundle("end", &shared), declared }))
        });
    }
}

fn openings<B: Told + 'static>(rows: usize, source: Source, effort: Effort) {
    let alone = (0..B::NODES).map(|node| &PARTIES[node..=node]);
    for recipients in [&PARTIES[..B::NODES]].into_iter().chain(alone) {
        let name = format!("opening of {rows} rows, {source:?}, to {recipients:?}, {}", B::NAME);
        let seed = seed(&name);
        assert_silent::<B>(&name, effort, THIN, |mut b: Watched<B>, run| {
            let mut prg = Prg::new(&seed.derive(&run.to_string()));
            let plain = tidy(Block::random(columns(source.takes(rows)), &mut prg));
            let shares = dealt::<B>(&plain, b.node(), &mut prg);
            let begin = bundle("begin", &shares);
            let x = source.make(&b, crate::watched::unwrapped(shares), rows);
            let opened = b.open(&x, permit(recipients, x.shape()))?;
            let declared = opened.map_or_else(View::default, |opened| clear("declared", &opened));
            Ok((b, Ends { begin, end: vec![], declared }))
        });
    }
}

fn announcements<B: Told + 'static>(effort: Effort) {
    let name = format!("announcement, {}", B::NAME);
    let seed = seed(&name);
    assert_silent::<B>(&name, effort, THIN, |mut b: Watched<B>, run| {
        let number = Prg::new(&seed.derive(&run.to_string())).vector(1)[0];
        let own = (b.node() == 1).then_some(number);
        assert_eq!(b.announce(PartyId(1), own, size_permit(&PARTIES[..B::NODES]))?, number);
        let declared = View::default().with(Kind::Opened, "declared", number.to_le_bytes());
        Ok((b, Ends { begin: vec![], end: vec![], declared }))
    });
}

// views: crates/mpc/src/backends/rep3/input.rs
// views: crates/mpc/src/backends/rep3/open.rs
// views: Rep3::input Rep3::open Rep3::announce
#[test]
fn three_nodes_see_their_own_inputs_and_outputs_alone() {
    inputs::<Rep3>(3, SMALL);
    for (rows, source) in [(3, Source::Limit), (65, Source::Worked)] {
        openings::<Rep3>(rows, source, SMALL);
    }
    announcements::<Rep3>(SMALL);
}

// views: crates/mpc/src/backends/four/input.rs crates/mpc/src/backends/four/open.rs
// views: crates/mpc/src/backends/four/mod.rs
// views: Four::input Four::open Four::announce
#[test]
fn four_servers_see_their_own_inputs_and_outputs_alone() {
    inputs::<Four>(3, SMALL);
    for (rows, source) in [(3, Source::Limit), (65, Source::Worked)] {
        openings::<Four>(rows, source, SMALL);
    }
    announcements::<Four>(SMALL);
}

#[test]
#[ignore = "minutes: make nightly"]
fn three_nodes_see_their_own_inputs_and_outputs_alone_at_any_size() {
    for rows in SIZES {
        inputs::<Rep3>(rows, LARGE);
        openings::<Rep3>(rows, Source::Worked, LARGE);
    }
    for rows in [10, 65] {
        for source in Source::ALL {
            openings::<Rep3>(rows, source, LARGE);
        }
    }
}

// views: crates/mpc/src/backends/rep3/mod.rs
#[test]
fn a_node_learns_nothing_of_the_generator_that_it_lacks() {
    // More than there are bits: two secrets of 256 bits, two generators' words and the third one's.
    const RUNS: usize = 800;
    let played = play(&PARTIES[..Rep3::NODES], RUNS, |session, _| {
        let mut b = Rep3::start(session).expect("an engine");
        let planes = [0, 1].map(|_| b.public_bits(64, || Plane::zeros(64)));
        let _ = b.and(&[&planes[0]], &[&planes[1]]).expect("a product");
        (b.into_session(), ())
    });
    let drawn = |node: usize, run: usize, name: &str| {
        played[node][run].0.filter(|part| part.kind == Kind::Drawn && part.name == name)
    };
    for (node, own) in played.iter().enumerate() {
        let runs: Vec<Run> = (0..RUNS)
            .map(|run| {
                // Without messages: setting up sends none, and a product of public values would show its masks.
                let view = own[run].0.only(&[Kind::Drawn]);
                Run { view, known: View::default(), secret: drawn((node + 1) % 3, run, "with next") }
            })
            .collect();
        assert_eq!([runs[0].view.bits() >= 2 * 64, runs[0].secret.bits() == 64], [true; 2]);
        assert_eq!(leaks(&runs), []);
        let mut words: Vec<View> = runs.iter().map(|run| run.view.clone()).collect();
        words.iter_mut().zip(&runs).for_each(|(words, run)| words.extend(run.secret.clone()));
        assert_eq!(repeats(&words, 8), [], "fresh seeds for every pair and session");
    }
}
