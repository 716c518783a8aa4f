//! Rows of a bundle as lanes of 64 bits, in memory and on the wire, and the switches on them.
//!
//! A row is one run of lanes, in which columns lie packed ([`tacit_math::packed`]): planes 64 to a lane. Then come
//! vectors of numbers, each in the first lane that has room for it, then two lanes for each vector of 128 bits. On the
//! wire a lane takes as many bytes as its columns fill. Row numbers that are to be revealed take the bits that they
//! need, not 32.

use tacit_math::{packed, transpose};

use crate::ops::label_width;
use crate::{Block, Shape};

/// Bits of a lane.
const LANE: u32 = u64::BITS;

/// Where a vector's numbers lie.
#[derive(Clone, Copy)]
struct Place {
    lane: usize,
    first: u32,
    width: u32,
}

impl Place {
    /// The number in a row's lane.
    fn number(self, lane: u64) -> u64 {
        lane << (LANE - self.first - self.width) >> (LANE - self.width)
    }

    /// A lane that has the number, and zeros.
    fn lane(self, number: u64) -> u64 {
        number << (LANE - self.width) >> (LANE - self.first - self.width)
    }
}

/// How the rows of a bundle lie in lanes.
#[derive(Clone)]
pub(in crate::backends::two) struct Layout {
    shape: Shape,
    /// Vectors of at most 64 bits, in order.
    places: Vec<Place>,
    /// The top bits of the numbers in each lane, and its bytes on the wire. Pairs of lanes are at the end.
    tops: Vec<u64>,
    bytes: Vec<usize>,
}

impl Layout {
    /// Of a bundle, and of one behind it whose vectors of 32 bits hold numbers of rows.
    pub(in crate::backends::two) fn of(shape: Shape, reveal: Shape) -> Self {
        let both = shape.beside(reveal);
        let planes = (0..both.bits).step_by(LANE as usize).map(|first| (both.bits - first).min(LANE as usize) as u32);
        let mut used: Vec<u32> = planes.collect();
        let mut tops: Vec<u64> = used.iter().map(|planes| u64::MAX >> (LANE - planes)).collect();
        let number = label_width(shape.rows) as u32;
        let widths = [(32, shape.r32), (number, reveal.r32), (64, both.r64)];
        let widths = widths.into_iter().flat_map(|(width, vectors)| std::iter::repeat_n(width, vectors));
        let places = widths.map(|width| place(&mut used, &mut tops, width)).collect();
        tops.extend(vec![0; 2 * both.r128]);
        used.extend(vec![LANE; 2 * both.r128]);
        let bytes = used.iter().map(|used| used.div_ceil(8) as usize).collect();
        Self { shape: both, places, tops, bytes }
    }

    /// Lanes of one row.
    pub(in crate::backends::two) fn lanes(&self) -> usize {
        self.tops.len()
    }

    /// Bytes of one row on the wire.
    pub(in crate::backends::two) fn bytes(&self) -> usize {
        self.bytes.iter().sum()
    }

    /// Pairs of lanes at the end that hold one number.
    pub(in crate::backends::two) fn pairs(&self) -> usize {
        self.shape.r128
    }

    /// The rows, one after the other.
    pub(in crate::backends::two) fn pack(&self, block: &Block) -> Vec<u64> {
        let (width, rows) = (self.lanes(), self.shape.rows);
        let mut out = vec![0; width * rows];
        for (lane, planes) in block.bits.chunks(LANE as usize).enumerate() {
            let words = transpose::rows_of_planes(&planes.iter().collect::<Vec<_>>(), rows);
            add(&mut out, width, lane, words);
        }
        let (short, long) = self.places.split_at(block.r32.len());
        for (column, place) in block.r32.iter().zip(short) {
            add(&mut out, width, place.lane, column.iter().map(|&number| place.lane(number.into())));
        }
        for (column, place) in block.r64.iter().zip(long) {
            add(&mut out, width, place.lane, column.iter().map(|&number| place.lane(number)));
        }
        for (pair, column) in block.r128.iter().enumerate() {
            let lane = width - 2 * (block.r128.len() - pair);
            add(&mut out, width, lane, column.iter().map(|&number| halves(number)[0]));
            add(&mut out, width, lane + 1, column.iter().map(|&number| halves(number)[1]));
        }
        out
    }

    /// The inverse of [`Self::pack`].
    pub(in crate::backends::two) fn unpack(&self, rows: &[u64]) -> Block {
        let (width, shape) = (self.lanes(), self.shape);
        let lane = |lane: usize| rows.iter().skip(lane).step_by(width.max(1)).copied();
        let mut bits = Vec::new();
        for (number, first) in (0..shape.bits).step_by(LANE as usize).enumerate() {
            let planes = (shape.bits - first).min(LANE as usize);
            bits.extend(transpose::planes_of_rows(&lane(number).collect::<Vec<_>>(), planes));
        }
        let (short, long) = self.places.split_at(shape.r32);
        let r32 = short.iter().map(|place| lane(place.lane).map(|word| place.number(word) as u32).collect()).collect();
        let r64 = long.iter().map(|place| lane(place.lane).map(|word| place.number(word)).collect()).collect();
        let r128 = (0..shape.r128)
            .map(|pair| width - 2 * (shape.r128 - pair))
            .map(|low| lane(low).zip(lane(low + 1)).map(|(low, high)| joined([low, high])).collect())
            .collect();
        Block { rows: shape.rows, bits, r32, r64, r128 }
    }

    /// Rows as they are sent, in place of what was there.
    pub(in crate::backends::two) fn write(&self, rows: &[u64], out: &mut Vec<u8>) {
        let lanes = self.lanes().max(1);
        let total = rows.len() / lanes * self.bytes();
        // Lanes are written whole, each over what is too much of the one before.
        out.resize(total + size_of::<u64>(), 0);
        let mut at = 0;
        for row in rows.chunks_exact(lanes) {
            for (lane, bytes) in row.iter().zip(&self.bytes) {
                out[at..at + size_of::<u64>()].copy_from_slice(&lane.to_le_bytes());
                at += bytes;
            }
        }
        out.truncate(total);
    }

    /// The inverse of [`Self::write`], into rows that are there. What no column fills is zero.
    pub(in crate::backends::two) fn read(&self, sent: &[u8], rows: &mut [u64]) {
        let mut at = 0;
        for row in rows.chunks_exact_mut(self.lanes().max(1)) {
            for (lane, &bytes) in row.iter_mut().zip(&self.bytes) {
                let word = match sent[at..].first_chunk() {
                    Some(word) => u64::from_le_bytes(*word),
                    None => sent[at..].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
                };
                *lane = word & u64::MAX >> (LANE as usize - 8 * bytes);
                at += bytes;
            }
        }
    }
}

/// Room for one more vector of `width` bits, in the first lane that has it or in a new one.
fn place(used: &mut Vec<u32>, tops: &mut Vec<u64>, width: u32) -> Place {
    let lane = used.iter().position(|used| used + width <= LANE).unwrap_or(used.len());
    if lane == used.len() {
        used.push(0);
        tops.push(0);
    }
    let first = used[lane];
    used[lane] += width;
    tops[lane] |= packed::top(first, width);
    Place { lane, first, width }
}

/// Adds a column to the lanes of one number, which have zeros there.
fn add(rows: &mut [u64], width: usize, lane: usize, column: impl IntoIterator<Item = u64>) {
    rows.iter_mut().skip(lane).step_by(width).zip(column).for_each(|(word, value)| *word |= value);
}

fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The switches on rows of a layout, many at a time. Their equations: [`super::permute`]. A string has its lanes
/// rounded up to an even number.
pub(in crate::backends::two) trait Algebra: Copy {
    /// Lanes of a row.
    fn lanes(&self) -> usize;

    /// What the owner's switches do to its components a, b, given e and the strings k; a mask is all ones if the rows
    /// are exchanged.
    fn own(&self, rows: [&mut [u64]; 2], e: &[u64], k: &[u64], masks: &[u64]);

    /// What the other node's switches do to its components a, b, and what it sends as e, given both strings; they
    /// change places where a flip is all ones.
    fn other(&self, rows: [&mut [u64]; 2], strings: [&[u64]; 2], flips: &[u64], e: &mut [u64]);
}

/// Rows of `LANES` lanes, strings of `STRING` lanes: both known when this is compiled. No vectors of 128 bits.
#[derive(Clone, Copy)]
pub(in crate::backends::two) struct Narrow<const LANES: usize, const STRING: usize> {
    tops: [u64; LANES],
}

impl<const LANES: usize, const STRING: usize> Narrow<LANES, STRING> {
    pub(in crate::backends::two) fn of(layout: &Layout) -> Self {
        const { assert!(STRING == LANES.next_multiple_of(2), "strings of whole blocks") };
        assert!(layout.pairs() == 0, "a layout of that kind");
        Self { tops: layout.tops[..].try_into().expect("as many lanes as the type has") }
    }
}

impl<const LANES: usize, const STRING: usize> Algebra for Narrow<LANES, STRING> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        LANES
    }

    fn own(&self, [a, b]: [&mut [u64]; 2], e: &[u64], k: &[u64], masks: &[u64]) {
        let rows = [a.as_chunks_mut().0, b.as_chunks_mut().0];
        packed::switch_known::<LANES, STRING>(&self.tops, rows, e.as_chunks().0, k.as_chunks().0, masks);
    }

    fn other(&self, [a, b]: [&mut [u64]; 2], strings: [&[u64]; 2], flips: &[u64], e: &mut [u64]) {
        let (rows, e) = ([a.as_chunks_mut().0, b.as_chunks_mut().0], e.as_chunks_mut().0);
        packed::switch_unknown::<LANES, STRING>(&self.tops, rows, strings.map(|words| words.as_chunks().0), flips, e);
    }
}

/// Rows of any layout.
#[derive(Clone, Copy)]
pub(in crate::backends::two) struct Wide<'a> {
    layout: &'a Layout,
}

impl<'a> Wide<'a> {
    pub(in crate::backends::two) fn of(layout: &'a Layout) -> Self {
        Self { layout }
    }

    /// The lanes before those that go in pairs, with their top bits, and the first of each pair.
    fn parts(&self) -> (impl Iterator<Item = (usize, u64)> + Clone, impl Iterator<Item = usize> + Clone) {
        let single = self.layout.lanes() - 2 * self.layout.pairs();
        (self.layout.tops[..single].iter().copied().enumerate(), (single..self.layout.lanes()).step_by(2))
    }
}

impl Algebra for Wide<'_> {
    fn lanes(&self) -> usize {
        self.layout.lanes()
    }

    fn own(&self, [a, b]: [&mut [u64]; 2], e: &[u64], k: &[u64], masks: &[u64]) {
        let (lanes, (single, pairs)) = (self.lanes(), self.parts());
        let rows = a.chunks_exact_mut(lanes).zip(b.chunks_exact_mut(lanes));
        let given = e.chunks_exact(lanes).zip(k.chunks_exact(lanes.next_multiple_of(2)));
        for (((a, b), (e, k)), &mask) in rows.zip(given).zip(masks) {
            for (l, tops) in single.clone() {
                [a[l], b[l]] = packed::known(tops, [a[l], b[l]], e[l], k[l], mask);
            }
            for l in pairs.clone() {
                let [x, y, e, k] = [&*a, &*b, e, k].map(|lanes| pair(lanes, l));
                let moved = e.wrapping_add(y.wrapping_sub(x)) & joined([mask, mask]);
                // q = s (b - a) + k_s + s e.
                let q = k.wrapping_add(moved);
                put_pairs(a, b, l, [x.wrapping_add(q), y.wrapping_sub(q)]);
            }
        }
    }

    fn other(&self, [a, b]: [&mut [u64]; 2], [zero, one]: [&[u64]; 2], flips: &[u64], e: &mut [u64]) {
        let (lanes, (single, pairs)) = (self.lanes(), self.parts());
        let string = lanes.next_multiple_of(2);
        let rows = a.chunks_exact_mut(lanes).zip(b.chunks_exact_mut(lanes)).zip(e.chunks_exact_mut(lanes));
        let strings = zero.chunks_exact(string).zip(one.chunks_exact(string));
        for ((((a, b), e), (zero, one)), &flip) in rows.zip(strings).zip(flips) {
            for (l, tops) in single.clone() {
                ([a[l], b[l]], e[l]) = packed::unknown(tops, [a[l], b[l]], [zero[l], one[l]], flip);
            }
            for l in pairs.clone() {
                let [x, y, zero, one] = [&*a, &*b, zero, one].map(|lanes| pair(lanes, l));
                let exchange = (zero ^ one) & joined([flip, flip]);
                let (k_0, k_1) = (zero ^ exchange, one ^ exchange);
                // a' - k_0 and b' + k_0; e = k_0 - k_1 + b' - a'.
                let moved = y.wrapping_add(k_0);
                put_pairs(a, b, l, [x.wrapping_sub(k_0), moved]);
                e[l..l + 2].copy_from_slice(&halves(moved.wrapping_sub(x).wrapping_sub(k_1)));
            }
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

#[cfg(test)]
mod tests {
    use tacit_math::{Plane, Prg, Seed};

    use super::{Algebra, Layout, Narrow, Wide};
    use crate::{Block, Shape};

    /// The bits of a number of a row among 70.
    const NUMBER: u32 = 7;

    /// A switch of two nodes on every row, on the way from and to blocks and the wire.
    fn check(layout: &Layout, algebra: impl Algebra, s: u64, d: u64) {
        let (shape, mut prg) = (layout.shape, Prg::new(&Seed::from_bytes([3; 16])));
        let mut block = || Block::random(shape, &mut prg);
        let (first, second, first_mask, second_mask) = (block(), block(), block(), block());
        let [mut a0, mut b0, mut a1, mut b1] =
            [first.clone().minus(&first_mask), second.clone().minus(&second_mask), first_mask, second_mask]
                .map(|block| layout.pack(&block));
        let (width, string) = (algebra.lanes(), algebra.lanes().next_multiple_of(2));
        let strings: [Vec<u64>; 2] = [prg.vector(shape.rows * string), prg.vector(shape.rows * string)];
        let [zero, one] = strings.each_ref().map(|words| &words[..]);
        let (masks, flips) = (vec![s; shape.rows], vec![d; shape.rows]);
        let (mut e, mut sent) = (vec![0; width * shape.rows], vec![9; 100]);
        algebra.other([&mut a1, &mut b1], [zero, one], &flips, &mut e);
        layout.write(&e, &mut sent);
        assert_eq!(sent.len(), shape.rows * layout.bytes());
        e.fill(0);
        layout.read(&sent, &mut e);
        algebra.own([&mut a0, &mut b0], &e, if s ^ d == 0 { zero } else { one }, &masks);
        let [a, b] = [(a0, a1), (b0, b1)].map(|(x, y)| layout.unpack(&x).plus(&layout.unpack(&y)));
        let (to_a, to_b) = if s == 0 { (&first, &second) } else { (&second, &first) };
        assert_same(layout, &a, to_a);
        assert_same(layout, &b, to_b);
    }

    /// Numbers of rows count modulo their power of two.
    fn assert_same(layout: &Layout, got: &Block, expected: &Block) {
        let bits = |block: &Block| block.bits.iter().map(Plane::to_bools).collect::<Vec<_>>();
        assert_eq!(bits(got), bits(expected));
        assert!(got.r64 == expected.r64 && got.r128 == expected.r128);
        for ((got, expected), place) in got.r32.iter().zip(&expected.r32).zip(&layout.places) {
            let modulo = |column: &[u32]| column.iter().map(|x| x << (32 - place.width)).collect::<Vec<_>>();
            assert_eq!(modulo(got), modulo(expected));
        }
    }

    fn reveal(r32: usize) -> Shape {
        Shape { rows: 70, r32, ..Shape::default() }
    }

    #[test]
    fn switches_exchange_every_column_in_its_algebra() {
        for (s, d) in [(0, 0), (0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)] {
            for bits in [0, 33, 57, 64, 70] {
                let layout = Layout::of(Shape { rows: 70, bits, r32: 2, r64: 1, r128: 2 }, reveal(1));
                check(&layout, Wide::of(&layout), s, d);
            }
            let layout = Layout::of(Shape { rows: 70, bits: 97, r32: 1, r64: 1, r128: 0 }, reveal(2));
            check(&layout, Narrow::<4, 4>::of(&layout), s, d);
            check(&layout, Wide::of(&layout), s, d);
            let layout = Layout::of(Shape { rows: 70, bits: 45, r32: 0, r64: 0, r128: 0 }, reveal(1));
            check(&layout, Narrow::<1, 2>::of(&layout), s, d);
        }
    }

    #[test]
    fn columns_share_lanes_and_lanes_take_the_bytes_that_they_fill() {
        let lanes = |bits, r32, r64, revealed| {
            let layout = Layout::of(Shape { rows: 70, bits, r32, r64, r128: 0 }, reveal(revealed));
            (layout.lanes(), layout.bytes())
        };
        assert_eq!(lanes(45, 0, 0, 1), (1, (45 + NUMBER as usize).div_ceil(8)));
        assert_eq!(lanes(16, 1, 0, 0), (1, 6));
        assert_eq!(lanes(64 - NUMBER as usize, 0, 0, 1), (1, 8));
        assert_eq!(lanes(65 - NUMBER as usize, 0, 0, 1), (2, 9));
        assert_eq!(lanes(0, 3, 1, 1), (3, 8 + 4 + 1 + 8));
        assert_eq!(lanes(0, 0, 0, 0), (0, 0));
    }
}
