//! Rows of a bundle as lanes of 64 bits, in memory and on the wire, and the algebra of their columns.
//!
//! A row is one run of lanes: planes 64 to a lane, then a lane for each vector of 32 and of 64 bits, then two for each of 128 bits. On the wire a
//! lane that holds no more than 32 bits takes four bytes.

use tacit_math::transpose;

use crate::{Block, Shape};

/// How the rows of a bundle lie in lanes.
#[derive(Clone)]
pub(super) struct Layout {
    shape: Shape,
    /// The bytes of each lane on the wire, four or eight.
    bytes: Vec<usize>,
}

impl Layout {
    pub(super) fn of(shape: Shape) -> Self {
        let planes = (0..shape.bits).step_by(64).map(|first| if shape.bits - first > 32 { 8 } else { 4 });
        let vectors = [(4, shape.r32), (8, shape.r64 + 2 * shape.r128)];
        let vectors = vectors.into_iter().flat_map(|(bytes, lanes)| std::iter::repeat_n(bytes, lanes));
        Self { shape, bytes: planes.chain(vectors).collect() }
    }

    /// Lanes of one row.
    pub(super) fn lanes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of one row on the wire.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.iter().sum()
    }

    /// Lanes that hold planes.
    pub(super) fn plane_lanes(&self) -> usize {
        self.shape.bits.div_ceil(64)
    }

    /// Pairs of lanes at the end that hold one number.
    pub(super) fn pairs(&self) -> usize {
        self.shape.r128
    }

    /// The rows, one after the other.
    pub(super) fn pack(&self, block: &Block) -> Vec<u64> {
        let (width, rows) = (self.lanes(), self.shape.rows);
        let mut out = vec![0; width * rows];
        let mut at = 0;
        for planes in block.bits.chunks(64) {
            let words = transpose::rows_of_planes(&planes.iter().collect::<Vec<_>>(), rows);
            put(&mut out, width, &mut at, words.iter().map(|&word| [word]));
        }
        block.r32.iter().for_each(|column| put(&mut out, width, &mut at, column.iter().map(|&x| [x.into()])));
        block.r64.iter().for_each(|column| put(&mut out, width, &mut at, column.iter().map(|&x| [x])));
        block.r128.iter().for_each(|column| put(&mut out, width, &mut at, column.iter().map(|&x| halves(x))));
        out
    }

    /// The inverse of [`Self::pack`].
    pub(super) fn unpack(&self, rows: &[u64]) -> Block {
        let (width, shape) = (self.lanes(), self.shape);
        let mut lane = 0;
        let mut column = || {
            lane += 1;
            rows.iter().skip(lane - 1).step_by(width.max(1)).copied()
        };
        let mut bits = Vec::new();
        for first in (0..shape.bits).step_by(64) {
            bits.extend(transpose::planes_of_rows(&column().collect::<Vec<_>>(), (shape.bits - first).min(64)));
        }
        let r32 = (0..shape.r32).map(|_| column().map(|x| x as u32).collect()).collect();
        let r64 = (0..shape.r64).map(|_| column().collect()).collect();
        let r128 = (0..shape.r128)
            .map(|_| {
                let (low, high) = (column(), column());
                low.zip(high).map(|(low, high)| joined([low, high])).collect()
            })
            .collect();
        Block { rows: shape.rows, bits, r32, r64, r128 }
    }

    /// Rows as they are sent, appended.
    pub(super) fn write(&self, rows: &[u64], out: &mut Vec<u8>) {
        out.reserve(rows.len() * 8);
        for row in rows.chunks_exact(self.lanes()) {
            for (lane, &bytes) in row.iter().zip(&self.bytes) {
                if bytes == 4 {
                    out.extend_from_slice(&(*lane as u32).to_le_bytes());
                } else {
                    out.extend_from_slice(&lane.to_le_bytes());
                }
            }
        }
    }

    /// The inverse of [`Self::write`], into rows that are there.
    pub(super) fn read(&self, mut sent: &[u8], rows: &mut [u64]) {
        for row in rows.chunks_exact_mut(self.lanes()) {
            for (lane, &bytes) in row.iter_mut().zip(&self.bytes) {
                if bytes == 4 {
                    let (now, later) = sent.split_first_chunk::<4>().expect("as many bytes as rows have");
                    (*lane, sent) = (u32::from_le_bytes(*now).into(), later);
                } else {
                    let (now, later) = sent.split_first_chunk::<8>().expect("as many bytes as rows have");
                    (*lane, sent) = (u64::from_le_bytes(*now), later);
                }
            }
        }
    }
}

fn put<const N: usize>(out: &mut [u64], width: usize, at: &mut usize, column: impl Iterator<Item = [u64; N]>) {
    for (row, value) in out.chunks_exact_mut(width).zip(column) {
        row[*at..*at + N].copy_from_slice(&value);
    }
    *at += N;
}

fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The switches on rows of a layout, each column in its algebra. Their equations: [`super::permute`].
pub(super) trait Algebra: Copy {
    /// Lanes of a row.
    fn lanes(&self) -> usize;

    /// What the owner's switch does to its components a, b, given e and the string k; `mask` is all ones if the rows are exchanged.
    fn own(&self, a: &mut [u64], b: &mut [u64], e: &[u64], k: &[u64], mask: u64);

    /// What the other node's switch does to its components a, b, and what it sends as e, given both strings; they change places if
    /// `flip` is all ones.
    fn other(&self, a: &mut [u64], b: &mut [u64], strings: [&[u64]; 2], flip: u64, e: &mut [u64]);
}

/// Rows of so many lanes, known when this is compiled, without vectors of 128 bits.
#[derive(Clone, Copy)]
pub(super) struct Narrow<const LANES: usize> {
    lanes: [Lane; LANES],
}

impl<const LANES: usize> Narrow<LANES> {
    pub(super) fn of(layout: &Layout) -> Self {
        assert!(layout.lanes() == LANES && layout.pairs() == 0, "a layout of that kind");
        Self { lanes: std::array::from_fn(|lane| Lane::of(lane < layout.plane_lanes())) }
    }
}

impl<const LANES: usize> Algebra for Narrow<LANES> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        LANES
    }

    #[inline(always)]
    fn own(&self, a: &mut [u64], b: &mut [u64], e: &[u64], k: &[u64], mask: u64) {
        let (a, b, e, k) = (&mut a[..LANES], &mut b[..LANES], &e[..LANES], &k[..LANES]);
        for l in 0..LANES {
            [a[l], b[l]] = own(self.lanes[l], [a[l], b[l]], e[l], k[l], mask);
        }
    }

    #[inline(always)]
    fn other(&self, a: &mut [u64], b: &mut [u64], [zero, one]: [&[u64]; 2], flip: u64, e: &mut [u64]) {
        let (a, b, e) = (&mut a[..LANES], &mut b[..LANES], &mut e[..LANES]);
        let (zero, one) = (&zero[..LANES], &one[..LANES]);
        for l in 0..LANES {
            ([a[l], b[l]], e[l]) = other(self.lanes[l], [a[l], b[l]], [zero[l], one[l]], flip);
        }
    }
}

/// Rows of any layout.
#[derive(Clone, Copy)]
pub(super) struct Wide {
    plane_lanes: usize,
    /// Lanes before those that go in pairs.
    single: usize,
    lanes: usize,
}

impl Wide {
    pub(super) fn of(layout: &Layout) -> Self {
        let lanes = layout.lanes();
        Self { plane_lanes: layout.plane_lanes(), single: lanes - 2 * layout.pairs(), lanes }
    }
}

impl Algebra for Wide {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn own(&self, a: &mut [u64], b: &mut [u64], e: &[u64], k: &[u64], mask: u64) {
        for l in 0..self.single {
            [a[l], b[l]] = own(Lane::of(l < self.plane_lanes), [a[l], b[l]], e[l], k[l], mask);
        }
        for l in (self.single..self.lanes).step_by(2) {
            let rows = own(Pair, [pair(a, l), pair(b, l)], pair(e, l), pair(k, l), mask);
            put_pairs(a, b, l, rows);
        }
    }

    fn other(&self, a: &mut [u64], b: &mut [u64], [zero, one]: [&[u64]; 2], flip: u64, e: &mut [u64]) {
        for l in 0..self.single {
            let lane = Lane::of(l < self.plane_lanes);
            ([a[l], b[l]], e[l]) = other(lane, [a[l], b[l]], [zero[l], one[l]], flip);
        }
        for l in (self.single..self.lanes).step_by(2) {
            let (rows, sent) = other(Pair, [pair(a, l), pair(b, l)], [pair(zero, l), pair(one, l)], flip);
            put_pairs(a, b, l, rows);
            e[l..l + 2].copy_from_slice(&halves(sent));
        }
    }
}

fn put_pairs(a: &mut [u64], b: &mut [u64], at: usize, rows: [u128; 2]) {
    a[at..at + 2].copy_from_slice(&halves(rows[0]));
    b[at..at + 2].copy_from_slice(&halves(rows[1]));
}

fn pair(lanes: &[u64], at: usize) -> u128 {
    joined([lanes[at], lanes[at + 1]])
}

/// The sum and difference of a column's numbers.
trait Numbers: Copy {
    type Number: Copy;

    fn plus(self, x: Self::Number, y: Self::Number) -> Self::Number;

    fn minus(self, x: Self::Number, y: Self::Number) -> Self::Number;

    /// x, or zero where `mask` is zero.
    fn masked(self, x: Self::Number, mask: u64) -> Self::Number;

    /// Both, in the other order if `flip` is all ones.
    fn flipped(self, x: [Self::Number; 2], flip: u64) -> [Self::Number; 2];
}

/// A lane of planes, or of one number modulo 2^64.
#[derive(Clone, Copy)]
struct Lane {
    /// All ones if it holds planes, else zero.
    planes: u64,
}

impl Lane {
    #[inline(always)]
    fn of(planes: bool) -> Self {
        Self { planes: u64::from(planes).wrapping_neg() }
    }
}

impl Numbers for Lane {
    type Number = u64;

    /// For planes the sum less its carries.
    #[inline(always)]
    fn plus(self, x: u64, y: u64) -> u64 {
        x.wrapping_add(y).wrapping_sub((x & y & self.planes) << 1)
    }

    /// For planes the difference and its borrows.
    #[inline(always)]
    fn minus(self, x: u64, y: u64) -> u64 {
        x.wrapping_sub(y).wrapping_add((!x & y & self.planes) << 1)
    }

    #[inline(always)]
    fn masked(self, x: u64, mask: u64) -> u64 {
        x & mask
    }

    #[inline(always)]
    fn flipped(self, [x, y]: [u64; 2], flip: u64) -> [u64; 2] {
        let exchange = (x ^ y) & flip;
        [x ^ exchange, y ^ exchange]
    }
}

/// Numbers modulo 2^128.
#[derive(Clone, Copy)]
struct Pair;

impl Numbers for Pair {
    type Number = u128;

    fn plus(self, x: u128, y: u128) -> u128 {
        x.wrapping_add(y)
    }

    fn minus(self, x: u128, y: u128) -> u128 {
        x.wrapping_sub(y)
    }

    fn masked(self, x: u128, mask: u64) -> u128 {
        x & joined([mask, mask])
    }

    fn flipped(self, [x, y]: [u128; 2], flip: u64) -> [u128; 2] {
        let exchange = (x ^ y) & joined([flip, flip]);
        [x ^ exchange, y ^ exchange]
    }
}

/// q = k + s (e + b - a) to a, from b.
#[inline(always)]
fn own<N: Numbers>(n: N, [a, b]: [N::Number; 2], e: N::Number, k: N::Number, mask: u64) -> [N::Number; 2] {
    let q = n.plus(k, n.masked(n.plus(e, n.minus(b, a)), mask));
    [n.plus(a, q), n.minus(b, q)]
}

/// -k_0 to a, from b; e = k_0 - k_1 + b - a.
#[inline(always)]
fn other<N: Numbers>(n: N, [a, b]: [N::Number; 2], strings: [N::Number; 2], flip: u64) -> ([N::Number; 2], N::Number) {
    let [k_0, k_1] = n.flipped(strings, flip);
    let moved = n.plus(b, k_0);
    ([n.minus(a, k_0), moved], n.minus(n.minus(moved, a), k_1))
}

#[cfg(test)]
mod tests {
    use tacit_math::{Plane, Prg, Seed};

    use super::{Algebra, Layout, Narrow, Wide};
    use crate::{Block, Shape};

    /// A switch of two nodes on every row, on the way from and to blocks and the wire.
    fn check(shape: Shape, algebra: impl Algebra, s: u64, d: u64) {
        let (layout, mut prg) = (Layout::of(shape), Prg::new(&Seed::from_bytes([3; 16])));
        let mut block = || Block::random(shape, &mut prg);
        let (first, second, first_mask, second_mask) = (block(), block(), block(), block());
        let strings = [block(), block()].map(|block| layout.pack(&block));
        let width = algebra.lanes();
        let [mut a0, mut b0, mut a1, mut b1] =
            [first.clone().minus(&first_mask), second.clone().minus(&second_mask), first_mask, second_mask]
                .map(|block| layout.pack(&block));
        for at in (0..a0.len()).step_by(width) {
            let row = at..at + width;
            let [zero, one] = strings.each_ref().map(|strings| &strings[row.clone()]);
            let (mut e, mut sent) = (vec![0; width], vec![]);
            algebra.other(&mut a1[row.clone()], &mut b1[row.clone()], [zero, one], d, &mut e);
            layout.write(&e, &mut sent);
            assert_eq!(sent.len(), layout.bytes());
            e.fill(0);
            layout.read(&sent, &mut e);
            let k = if s ^ d == 0 { zero } else { one };
            algebra.own(&mut a0[row.clone()], &mut b0[row], &e, k, s);
        }
        let [a, b] = [(a0, a1), (b0, b1)].map(|(x, y)| layout.unpack(&x).plus(&layout.unpack(&y)));
        let (to_a, to_b) = if s == 0 { (&first, &second) } else { (&second, &first) };
        assert_same(&a, to_a);
        assert_same(&b, to_b);
    }

    fn assert_same(got: &Block, expected: &Block) {
        let bits = |block: &Block| block.bits.iter().map(Plane::to_bools).collect::<Vec<_>>();
        assert_eq!(bits(got), bits(expected));
        assert!(got.r32 == expected.r32 && got.r64 == expected.r64 && got.r128 == expected.r128);
    }

    #[test]
    fn switches_exchange_every_column_in_its_algebra() {
        for (s, d) in [(0, 0), (0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)] {
            for bits in [0, 33, 64, 70] {
                let shape = Shape { rows: 70, bits, r32: 2, r64: 1, r128: 2 };
                check(shape, Wide::of(&Layout::of(shape)), s, d);
            }
            let shape = Shape { rows: 70, bits: 97, r32: 1, r64: 1, r128: 0 };
            check(shape, Narrow::<4>::of(&Layout::of(shape)), s, d);
            check(shape, Wide::of(&Layout::of(shape)), s, d);
        }
    }
}
