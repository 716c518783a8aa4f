//! Truncation and split products are the functions of shares that docs/protocols/arrays.md states, bit for bit. Their
//! errors and means are those that it states. A functionality with a coin of its own loses a game.

use std::thread;

use super::world::{Program, SIZES, check_with, shape};
use tacit_math::{Prg, Ring, Seed};
use tacit_mpc::backends::{Components, Networked, Rep3, Tally, Two};
use tacit_mpc::{Backend, Block, Result, Rows, Shape, Split, circuits};
use tacit_net::{Options, memory};
use tacit_views::seed;

/// The parties; an engine's nodes are the first of them.
pub const PARTIES: [&str; 3] = ["a", "b", "c"];

/// What every node of an engine computes with the others.
pub fn on_nodes<B: Networked, T: Send>(node: impl Fn(&mut B, usize) -> T + Sync) -> Vec<T> {
    let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
    let run = |session| {
        let mut b = B::start(session).expect("an engine");
        let me = b.session().me().0;
        let out = node(&mut b, me);
        b.into_session().close().expect("an orderly end");
        out
    };
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| run(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

/// A ring of which bundles have columns.
pub trait Columned: Ring {
    fn block(column: Vec<Self>) -> Block;
    fn column(block: Block) -> Vec<Self>;
    fn of<B: Backend>(rows: &Rows<B>) -> &B::Vector<Self>;
    fn rows<B: Backend>(rows: usize, column: B::Vector<Self>) -> Rows<B>;
}

macro_rules! columned {
    ($ring:ty, $columns:ident) => {
        impl Columned for $ring {
            fn block(column: Vec<Self>) -> Block {
                Block { rows: column.len(), $columns: vec![column], ..Block::default() }
            }
            fn column(mut block: Block) -> Vec<Self> {
                block.$columns.swap_remove(0)
            }
            fn of<B: Backend>(rows: &Rows<B>) -> &B::Vector<Self> {
                &rows.$columns[0]
            }
            fn rows<B: Backend>(rows: usize, column: B::Vector<Self>) -> Rows<B> {
                Rows { $columns: vec![column], ..Rows::empty(rows) }
            }
        }
    };
}

columned!(u32, r32);
columned!(u64, r64);
columned!(u128, r128);

/// What an operation makes of chosen components: all components of the result.
fn on_components<B: Components, R: Columned>(
    components: &[Vec<R>],
    operation: impl Fn(&mut B, &B::Vector<R>) -> Result<B::Vector<R>> + Sync,
) -> Vec<Vec<R>> {
    let held = on_nodes::<B, Vec<R>>(|b, me| {
        let own = (me..me + B::COUNT).map(|which| R::block(components[which % B::NODES].clone())).collect();
        let x = B::put_together(own);
        let out = operation(b, R::of(&x)).expect("peers");
        R::column(B::take_apart(R::rows(x.rows, out)).swap_remove(0))
    });
    assert_eq!(held.len(), B::NODES);
    held
}

/// The sum of components.
pub fn sum<R: Ring>(components: &[Vec<R>]) -> Vec<R> {
    (0..components[0].len()).map(|i| components.iter().fold(R::ZERO, |sum, x| sum.add(x[i]))).collect()
}

/// An element as an integer from -2^(k-1) on.
pub fn signed<R: Ring>(x: R) -> i128 {
    let shift = 128 - R::BITS;
    (x.to_u128() << shift) as i128 >> shift
}

pub fn element<R: Ring>(x: i128) -> R {
    R::from_u128(x as u128)
}

/// The stated function, in words of 128 bits.
fn dither<R: Ring>(s: R, t: R, by: usize) -> R {
    let by = by as u32;
    let quarter = R::ONE.shl(R::BITS - 2);
    let s = s.add(quarter.sub(R::ONE));
    let wraps = s.bit(R::BITS - 1) == R::ONE || t.bit(R::BITS - 1) == R::ONE;
    let wrap = if wraps { R::ONE.shl(R::BITS - by) } else { R::ZERO };
    s.shr(by).add(t.shr(by)).sub(wrap).sub(quarter.shr(by).sub(R::ONE))
}

/// Who deals a row of `rows`.
fn dealer(row: usize, rows: usize) -> usize {
    (0..3).find(|p| row < (p + 1) * rows / 3).expect("a third")
}

/// Whether a result is an integer beside x / 2^by, or x / 2^by.
pub fn is_beside<R: Ring>(x: R, result: R, by: usize) -> bool {
    let (x, result) = (signed(x), signed(result));
    let floor = x >> by;
    if floor << by == x { result == floor } else { result == floor || result == floor + 1 }
}

/// Numbers at the ends of the range, at powers of two, and of any size.
pub fn numbers<R: Ring>(count: usize, prg: &mut Prg) -> Vec<R> {
    let most = (1i128 << (R::BITS - 2)) - 1;
    let ends = [0, 1, -1, most, -most, most - 1, 1 - most, most / 2, 1 << 16, -(1 << 16)];
    let sizes: Vec<u64> = prg.vector(count);
    let drawn = prg.vector::<u128>(count).into_iter().zip(sizes).map(|(x, size)| {
        let bits = 1 + (size % u64::from(R::BITS - 2)) as u32;
        ((x << (127 - bits)) as i128) >> (127 - bits)
    });
    ends.into_iter()
        .cycle()
        .take(count.min(40))
        .chain(drawn)
        .take(count)
        .map(|x| element(x.clamp(-most, most)))
        .collect()
}

/// What one of two summands is, where things may go wrong.
fn edges<R: Ring>() -> Vec<R> {
    let half = R::ONE.shl(R::BITS - 1);
    let quarter = R::ONE.shl(R::BITS - 2);
    let all = R::ZERO.sub(R::ONE);
    let near = [R::ZERO, half, quarter, quarter.neg(), all];
    near.into_iter().flat_map(|x| [x.sub(R::ONE), x, x.add(R::ONE)]).collect()
}

/// Components of numbers: s or t of each row is at an edge, or none is.
fn components<R: Ring>(x: &[R], prg: &mut Prg) -> Vec<Vec<R>> {
    let (edges, rows) = (edges::<R>(), x.len());
    let random: Vec<u128> = prg.vector(3 * rows);
    let mut components = vec![vec![R::ZERO; rows]; 3];
    for (i, &x) in x.iter().enumerate() {
        let p = dealer(i, rows);
        let edge = edges[(random[i] % edges.len() as u128) as usize];
        let t = match i % 3 {
            0 => edge,
            1 => x.sub(edge),
            _ => R::from_u128(random[rows + i]),
        };
        let part = R::from_u128(random[2 * rows + i]);
        components[(p + 2) % 3][i] = t;
        components[p][i] = part;
        components[(p + 1) % 3][i] = x.sub(t).sub(part);
    }
    components
}

fn is_the_stated_function<R: Columned>(rows: usize, by: usize) {
    let name = format!("dither of {rows} rows by {by} of {} bits", R::BITS);
    let prg = &mut Prg::new(&seed(&name));
    let x: Vec<R> = numbers(rows, prg);
    let shares = components(&x, prg);
    assert!(sum(&shares) == x);
    let out = on_components::<Rep3, R>(&shares, |b, x| Ok(b.truncate(&[x], by)?.swap_remove(0)));
    let got = sum(&out);
    for (i, (&x, &got)) in x.iter().zip(&got).enumerate() {
        let p = dealer(i, rows);
        let (s, t) = (shares[p][i].add(shares[(p + 1) % 3][i]), shares[(p + 2) % 3][i]);
        assert!(got == dither(s, t, by), "{name}: row {i}");
        assert!(is_beside(x, got, by), "{name}: row {i}: {} to {}", signed(x), signed(got));
        // The sharing that is stated, too: below its top bits component p + 2 is t's.
        let low = out[(p + 2) % 3][i].sub(t.shr(by as u32)).shl(by as u32);
        assert!(low == R::ZERO, "{name}: row {i}: the component that two nodes made");
    }
}

#[test]
fn truncation_is_the_stated_function_of_shares() {
    for by in [1, 2, 7, 8, 13, 16, 20, 24, 31, 32, 33, 40, 61, 62] {
        is_the_stated_function::<u64>(600, by);
    }
    for by in [1, 16, 40, 64, 65, 100, 126] {
        is_the_stated_function::<u128>(300, by);
    }
    for by in [1, 9, 16, 30] {
        is_the_stated_function::<u32>(300, by);
    }
    for rows in [0, 1, 2, 3, 4, 5, 511, 512, 513, 1535, 1536, 1537] {
        is_the_stated_function::<u64>(rows, 16);
    }
    // Several messages.
    is_the_stated_function::<u64>(400_000, 16);
}

/// Truncated numbers of any sharing, on an engine.
fn is_beside_on<B: Components, R: Columned>(rows: usize, by: usize) {
    let name = format!("truncation on {} of {rows} rows by {by} of {} bits", B::NAME, R::BITS);
    let prg = &mut Prg::new(&seed(&name));
    let x: Vec<R> = numbers(rows, prg);
    let edges = edges::<R>();
    let random: Vec<u128> = prg.vector(rows);
    let one =
        |i: usize| if i.is_multiple_of(2) { edges[random[i] as usize % edges.len()] } else { R::from_u128(random[i]) };
    let mut shares = vec![vec![R::ZERO; rows]; B::NODES];
    for (i, x) in x.iter().enumerate() {
        (shares[0][i], shares[1][i]) = (x.sub(one(i)), one(i));
    }
    let out = sum(&on_components::<B, R>(&shares, |b, x| Ok(b.truncate(&[x], by)?.swap_remove(0))));
    for (i, (&x, &out)) in x.iter().zip(&out).enumerate() {
        assert!(is_beside(x, out, by), "{name}: row {i}: {} to {}", signed(x), signed(out));
        let stated = dither(shares[0][i], shares[1][i], by);
        assert!(B::NODES == 3 || out == stated, "{name}: row {i} is the stated function");
    }
}

#[test]
fn two_nodes_truncate_by_the_stated_function() {
    for by in [1, 16, 32, 33, 62] {
        is_beside_on::<Two, u64>(300, by);
    }
    for by in [16, 100] {
        is_beside_on::<Two, u128>(100, by);
    }
    is_beside_on::<Rep3, u64>(300, 16);
}

/// The products of fixed-point numbers.
fn products<B: Components, R: Columned>(factors: &[Vec<R>; 2], by: usize, prg: &mut Prg) -> Vec<R> {
    let rows = factors[0].len();
    let dealt: Vec<Vec<Vec<R>>> = factors
        .iter()
        .map(|x| {
            let mut shares: Vec<Vec<R>> =
                (1..B::NODES).map(|_| prg.vector::<u128>(rows).into_iter().map(R::from_u128).collect()).collect();
            let rest = sum(&shares);
            shares.push((0..rows).map(|i| x[i].sub(rest[i])).collect());
            shares
        })
        .collect();
    let held = on_nodes::<B, Vec<R>>(|b, me| {
        let bundle = |shares: &Vec<Vec<R>>| {
            B::put_together((me..me + B::COUNT).map(|which| R::block(shares[which % B::NODES].clone())).collect())
        };
        let [x, y] = [bundle(&dealt[0]), bundle(&dealt[1])];
        let out = b.multiply_truncate(&[vec![(R::of(&x), R::of(&y))]], by).expect("peers").swap_remove(0);
        R::column(B::take_apart(R::rows(rows, out)).swap_remove(0))
    });
    sum(&held)
}

fn products_are_beside<B: Components, R: Columned>(rows: usize, by: usize) {
    let name = format!("products on {} of {rows} rows by {by} of {} bits", B::NAME, R::BITS);
    let prg = &mut Prg::new(&seed(&name));
    let half = |x: R| element::<R>(signed(x) >> (R::BITS / 2));
    let mut factors = [(); 2].map(|()| numbers::<R>(rows, prg).into_iter().map(half).collect::<Vec<_>>());
    // The largest product that fits, both ways.
    let most = (1i128 << (R::BITS - 2)) - 1;
    for (i, one) in [(0, 1), (1, -1)].into_iter().filter(|&(i, _)| i < rows) {
        (factors[0][i], factors[1][i]) = (element(most), element(one));
    }
    let out = products::<B, R>(&factors, by, prg);
    for (i, &result) in out.iter().enumerate() {
        let exact = factors[0][i].mul(factors[1][i]);
        assert!(is_beside(exact, result, by), "{name}: row {i}: {} to {}", signed(exact), signed(result));
    }
}

#[test]
fn truncated_products_are_beside_the_exact_ones() {
    for by in [1, 13, 16, 24, 32, 40, 62] {
        products_are_beside::<Rep3, u64>(700, by);
    }
    for by in [16, 40, 126] {
        products_are_beside::<Rep3, u128>(300, by);
    }
    for rows in [0, 1, 2, 3, 100_000] {
        products_are_beside::<Rep3, u64>(rows, 16);
    }
    products_are_beside::<Two, u64>(50, 16);
}

/// The mean error of 60,000 roundings of one number: of what is a multiple plus j / 2^by, 2^by times the mean is j, but
/// for five standard deviations.
#[test]
fn the_mean_error_is_zero() {
    const ROWS: usize = 60_000;
    let prg = &mut Prg::new(&seed("means"));
    for (x, y, by) in [(5, 1, 3), (-5, 1, 3), (1 << 20, 987_654_321, 16), (-77_777_777, 31_337, 16), (1, 1, 16)] {
        let factors = [x, y].map(|x: i128| vec![element::<u64>(x); ROWS]);
        let out = products::<Rep3, u64>(&factors, by, prg);
        let (floor, low) = ((x * y) >> by, ((x * y) & ((1 << by) - 1)) as f64 / f64::from(1u32 << by));
        let up = out.iter().filter(|&&result| signed(result) == floor + 1).count();
        assert!(out.iter().all(|&result| is_beside(element::<u64>(x * y), result, by)));
        let (mean, deviation) = (up as f64 / ROWS as f64, (low * (1.0 - low) / ROWS as f64).sqrt());
        assert!((mean - low).abs() <= 5.0 * deviation, "{x} {y} by {by}: {mean}, not {low}");
    }
}

/// Rounded down, by circuits over any engine.
struct Floor {
    by: usize,
}

impl Program for Floor {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let r64 = vec![circuits::floor(b, &x.r64[0], self.by)?];
        Ok(Rows { r64, r128: vec![circuits::floor(b, &x.r128[0], self.by)?], ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let r64 = vec![x.r64[0].iter().map(|&x| element(signed(x) >> self.by)).collect()];
        let r128 = vec![x.r128[0].iter().map(|&x| element(signed(x) >> self.by)).collect()];
        Some(Block { rows: x.rows, r64, r128, ..Block::default() })
    }
}

#[test]
fn floors_are_exact_and_cost_what_is_declared() {
    let draw = |rows| {
        move |prg: &mut Prg| Block {
            rows,
            r64: vec![numbers(rows, prg)],
            r128: vec![numbers(rows, prg)],
            ..Block::default()
        }
    };
    for by in [1, 2, 16, 33, 62] {
        check_with(&format!("floor by {by}"), &Floor { by }, draw(200));
    }
    for rows in SIZES {
        check_with(&format!("floor of {rows} rows"), &Floor { by: 13 }, draw(rows));
    }
}

#[test]
fn two_hundred_thousand_floors_are_exact() {
    const ROWS: usize = 200_000;
    for by in [16, 7] {
        let prg = &mut Prg::new(&seed(&format!("floors by {by}")));
        let x: Vec<u64> = numbers(ROWS, prg);
        let shares = components(&x, prg);
        let out = sum(&on_components::<Rep3, u64>(&shares, |b, x| circuits::floor(b, x, by)));
        assert!((0..ROWS).all(|i| signed(out[i]) == signed(x[i]) >> by));
    }
}

/// What every engine gives alike: of multiples of 2^by truncation is exact.
struct Exact {
    by: usize,
}

impl Program for Exact {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let [first, second] = [&x.r64[0], &x.r64[1]];
        let mut r64 = b.truncate(&[first, second], self.by)?;
        r64.extend(b.multiply_truncate(&[vec![(first, second), (second, second)], vec![(first, first)]], self.by)?);
        let mut r128 = b.truncate(&[&x.r128[0]], self.by)?;
        r128.extend(b.multiply_truncate(&[vec![(&x.r128[0], &x.r128[0])]], self.by)?);
        Ok(Rows { r64, r128, ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let cut = |x: &i128| x >> self.by;
        let wide = |x: &[u128]| x.iter().map(|&x| signed(x)).collect::<Vec<_>>();
        let [a, b] = [0, 1].map(|k| x.r64[k].iter().map(|&x| signed(x)).collect::<Vec<i128>>());
        let c = wide(&x.r128[0]);
        let pairs = |f: fn(i128, i128) -> i128| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Vec<_>>();
        let of64 = |x: Vec<i128>| x.iter().map(|x| element(cut(x))).collect::<Vec<u64>>();
        let of128 = |x: Vec<i128>| x.iter().map(|x| element(cut(x))).collect::<Vec<u128>>();
        let r64 = vec![of64(a.clone()), of64(b.clone()), of64(pairs(|a, b| a * b + b * b)), of64(pairs(|a, _| a * a))];
        let r128 = vec![of128(c.clone()), of128(c.iter().map(|c| c * c).collect())];
        Some(Block { rows: x.rows, r64, r128, ..Block::default() })
    }
}

#[test]
fn engines_truncate_multiples_alike_and_cost_what_is_declared() {
    for (by, rows) in SIZES.into_iter().map(|rows| (8, rows)).chain([(1, 70), (13, 70), (16, 9000)]) {
        let draw = |prg: &mut Prg| {
            let multiple = |x: i128| (x >> by) << by;
            let r64 = [(); 2]
                .map(|()| numbers::<u64>(rows, prg))
                .map(|column| column.into_iter().map(|x| element(multiple(signed(x) >> 34))).collect::<Vec<u64>>());
            let r128 = numbers::<u128>(rows, prg).into_iter().map(|x| element(multiple(signed(x) >> 66))).collect();
            Block { rows, r64: r64.to_vec(), r128: vec![r128], ..Block::default() }
        };
        check_with(&format!("multiples by {by}, {rows} rows"), &Exact { by }, draw);
    }
}

/// x^3 = s^3 + 3 s^2 t + 3 s t^2 + t^3.
struct Cube;

impl<R: Ring> Split<R> for Cube {
    fn products(&self) -> usize {
        3
    }

    fn first(&self, s: &[R], u: &mut [R]) {
        for (i, &s) in s.iter().enumerate() {
            let at = |power: usize| power * u.len() / 3 + i;
            let [cube, square, one] = [at(0), at(1), at(2)];
            (u[cube], u[square], u[one]) = (s.mul(s).mul(s), s.mul(s), s);
        }
    }

    fn second(&self, t: &[R], w: &mut [R], v: &mut [R]) {
        let three = R::from_u128(3);
        for (i, &t) in t.iter().enumerate() {
            let at = |power: usize| power * w.len() / 3 + i;
            let [cube, square, one] = [at(0), at(1), at(2)];
            (w[cube], w[square], w[one]) = (R::ONE, three.mul(t), three.mul(t).mul(t));
            v[i] = t.mul(t).mul(t);
        }
    }
}

struct Cubes;

impl Program for Cubes {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let r64 = b.split_product(&x.r64.iter().collect::<Vec<_>>(), &Cube)?;
        Ok(Rows { r64, r128: b.split_product(&[&x.r128[0]], &Cube)?, ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let r64 = x.r64.iter().map(|x| x.iter().map(|x| x.wrapping_pow(3)).collect()).collect();
        let r128 = x.r128.iter().map(|x| x.iter().map(|x| x.wrapping_pow(3)).collect()).collect();
        Some(Block { rows: x.rows, r64, r128, ..Block::default() })
    }
}

#[test]
fn split_products_are_functions_of_the_sum() {
    for rows in SIZES.into_iter().chain([511, 512, 1537, 9000]) {
        let shape = Shape { r64: 2, r128: 1, ..shape(rows) };
        check_with(&format!("cubes of {rows} rows"), &Cubes, |prg| Block::random(shape, prg));
    }
}

/// The game: a node deals rows of a number x that somebody tells it, and the results are opened. In the protocol's
/// world its shares and the results always fit the stated function. In a world whose rounding is floor(x / 2^f) plus a
/// coin that is independent of shares, they do not, so no simulator can give this node shares for those results.
#[test]
fn a_coin_of_its_own_is_told_from_the_protocol() {
    const ROWS: usize = 3000;
    let by = 16;
    let prg = &mut Prg::new(&seed("a coin of its own"));
    // x and what is half a unit of the result above it.
    for x in [12_345 << 16 | 1 << 15, 12_345 << 16 | 1, -(777 << 16) + 40_000] {
        let number: u64 = element(x);
        let mut shares: Vec<Vec<u64>> = (0..2).map(|_| prg.vector(ROWS)).collect();
        shares.push((0..ROWS).map(|i| number.wrapping_sub(shares[0][i]).wrapping_sub(shares[1][i])).collect());
        let opened = sum(&on_components::<Rep3, u64>(&shares, |b, x| Ok(b.truncate(&[x], by)?.swap_remove(0))));
        let low = (x & 0xffff) as u64;
        let coins: Vec<u64> = prg.vector(ROWS);
        let coin = |i: usize| element::<u64>((x >> by) + i128::from(coins[i] % (1 << by) < low));
        let fits = |results: &dyn Fn(usize) -> u64, p: usize| {
            let own =
                (p * ROWS / 3..(p + 1) * ROWS / 3).map(|i| (i, shares[p][i].wrapping_add(shares[(p + 1) % 3][i])));
            own.filter(|&(i, s)| results(i) == dither(s, number.wrapping_sub(s), by)).count()
        };
        for p in 0..3 {
            assert_eq!(fits(&|i| opened[i], p), ROWS / 3, "the stated functionality is the protocol");
            // Of a number with fraction q a coin agrees with probability q^2 + (1 - q)^2: of 1000 rows and q = 1 / 2^16
            // about all.
            let q = low as f64 / 65_536.0;
            let agree = q * q + (1.0 - q) * (1.0 - q);
            let agreed = fits(&coin, p) as f64 / (ROWS / 3) as f64;
            assert!((agreed - agree).abs() < 0.1, "a coin agrees with {agreed}, not {agree}");
            assert!(q < 0.01 || agreed < 0.9, "node {p} tells a coin from the protocol");
        }
    }
}

/// With the same shares in the same rows the same bits: averaging says nothing more.
#[test]
fn a_second_truncation_of_the_same_shares_gives_the_same() {
    let prg = &mut Prg::new(&Seed::from_bytes([3; 16]));
    let x: Vec<u64> = numbers(500, prg);
    let shares = components(&x, prg);
    let once = || sum(&on_components::<Rep3, u64>(&shares, |b, x| Ok(b.truncate(&[x], 16)?.swap_remove(0))));
    assert!(once() == once());
}

/// The engine that adds up what rep3 declares.
pub type Counting = Tally<<Rep3 as Networked>::Formulas>;

/// What a row costs of all nodes of rep3 together, in eighths of a byte, and rounds. Other tests hold it against the
/// meter.
fn cost<R: Columned>(run: impl Fn(&mut Counting, &Rows<Counting>)) -> (u64, u64) {
    // Of thirds that fill their words.
    const ROWS: usize = 19_200;
    let mut b = Tally::new(PARTIES.iter().copied().map(String::from).collect());
    let x = b.columns(R::block(vec![R::ZERO; ROWS]).shape());
    b.take();
    run(&mut b, &x);
    let cost = b.take();
    assert!(cost.sent.iter().all(|&sent| sent == cost.sent[0]), "all nodes send alike");
    (cost.rounds, 8 * cost.sent.iter().sum::<u64>() / ROWS as u64)
}

#[test]
fn a_row_costs_what_the_page_says() {
    fn of<R: Columned>(by: usize) -> [(u64, u64); 3] {
        [
            cost::<R>(|b, x| drop(b.truncate::<R>(&[R::of(x)], by).expect("a tally"))),
            cost::<R>(|b, x| drop(b.multiply_truncate::<R>(&[vec![(R::of(x), R::of(x)); 7]], by).expect("a tally"))),
            cost::<R>(|b, x| drop(circuits::floor::<R, _>(b, R::of(x), by).expect("a tally"))),
        ]
    }
    // 42 ANDs of three bits are the carry of 16 bits.
    assert_eq!(of::<u64>(16), [(2, 8 * 14), (3, 8 * 30), (9, 8 * (14 + 2 + 24) + 3 * 42)]);
    assert_eq!(of::<u128>(16)[..2], [(2, 8 * 22), (3, 8 * 54)]);
    assert_eq!(of::<u64>(24)[..2], [(2, 8 * 17), (3, 8 * 33)]);
    assert_eq!(cost::<u64>(|b, x| drop(b.split_product::<u64>(&[u64::of(x)], &Cube).expect("a tally"))), (2, 8 * 40));
}
