//! Whole tables in clear as bundles of columns.

use std::ops::Range;

use tacit_math::prg::{Part, blocks_of};
use tacit_math::{Plane, Prg, Ring, lanes, ring, transpose};

/// How many rows and how many columns of each kind a bundle has. Public.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Rows of every column.
    pub rows: usize,
    /// Bit planes.
    pub bits: usize,
    /// Vectors over Z/2^32.
    pub r32: usize,
    /// Vectors over Z/2^64.
    pub r64: usize,
    /// Vectors over Z/2^128.
    pub r128: usize,
}

impl Shape {
    /// The columns of two bundles of equal length together.
    pub fn beside(self, other: Self) -> Self {
        assert_eq!(self.rows, other.rows, "bundles of one length");
        Self {
            rows: self.rows,
            bits: self.bits + other.bits,
            r32: self.r32 + other.r32,
            r64: self.r64 + other.r64,
            r128: self.r128 + other.r128,
        }
    }

    /// Bytes of one unshared bundle of this shape on the wire.
    pub fn bytes(&self) -> u64 {
        let planes = self.bits * tacit_math::plane::words_for(self.rows) * 8;
        (planes + self.rows * (4 * self.r32 + 8 * self.r64 + 16 * self.r128)) as u64
    }
}

/// A bundle of columns in clear, or one component of a shared bundle. Debug shows the shape only.
#[derive(Clone, Default)]
pub struct Block {
    /// Rows of every column.
    pub rows: usize,
    /// Bit planes.
    pub bits: Vec<Plane>,
    /// Vectors over Z/2^32.
    pub r32: Vec<Vec<u32>>,
    /// Vectors over Z/2^64.
    pub r64: Vec<Vec<u64>>,
    /// Vectors over Z/2^128.
    pub r128: Vec<Vec<u128>>,
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({:?})", self.shape())
    }
}

impl Block {
    /// All zero.
    pub fn zeros(shape: Shape) -> Self {
        Self {
            rows: shape.rows,
            bits: (0..shape.bits).map(|_| Plane::zeros(shape.rows)).collect(),
            r32: vec![vec![0; shape.rows]; shape.r32],
            r64: vec![vec![0; shape.rows]; shape.r64],
            r128: vec![vec![0; shape.rows]; shape.r128],
        }
    }

    /// Pseudorandom content.
    pub fn random(shape: Shape, prg: &mut Prg) -> Self {
        Self {
            rows: shape.rows,
            bits: Plane::random_all(&vec![shape.rows; shape.bits], prg),
            r32: (0..shape.r32).map(|_| prg.vector(shape.rows)).collect(),
            r64: (0..shape.r64).map(|_| prg.vector(shape.rows)).collect(),
            r128: (0..shape.r128).map(|_| prg.vector(shape.rows)).collect(),
        }
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        let (bits, r32, r64, r128) = (self.bits.len(), self.r32.len(), self.r64.len(), self.r128.len());
        Shape { rows: self.rows, bits, r32, r64, r128 }
    }

    /// The content of every column, in a fixed order.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        let planes = self.bits.iter().map(|c| bytemuck::cast_slice(c.words()));
        let vectors = self.r32.iter().map(|c| bytemuck::cast_slice(c));
        let vectors = vectors.chain(self.r64.iter().map(|c| bytemuck::cast_slice(c)));
        planes.chain(vectors).chain(self.r128.iter().map(|c| bytemuck::cast_slice(c)))
    }

    /// Lets `fill` overwrite the content of every column, in the order of [`Self::bytes`], until it fails.
    ///
    /// # Errors
    /// That of `fill`.
    pub fn fill_bytes<E>(&mut self, mut fill: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
        self.bits.iter_mut().try_for_each(|c| c.change_words(|words| fill(bytemuck::cast_slice_mut(words))))?;
        self.r32.iter_mut().try_for_each(|c| fill(bytemuck::cast_slice_mut(c)))?;
        self.r64.iter_mut().try_for_each(|c| fill(bytemuck::cast_slice_mut(c)))?;
        self.r128.iter_mut().try_for_each(|c| fill(bytemuck::cast_slice_mut(c)))
    }

    /// The same content, from here on public ([`tacit_marks`]): whoever calls this says why.
    #[must_use]
    pub(crate) fn published(mut self) -> Self {
        let Ok(()) = self.fill_bytes(|column| {
            tacit_marks::public(column);
            Ok::<(), std::convert::Infallible>(())
        });
        self
    }

    /// Column-wise sum (XOR for planes).
    pub fn plus(mut self, other: &Self) -> Self {
        xor_all(&mut self.bits, &other.bits);
        combine(&mut self.r32, &other.r32, Ring::add);
        combine(&mut self.r64, &other.r64, Ring::add);
        combine(&mut self.r128, &other.r128, Ring::add);
        self
    }

    /// Column-wise difference (XOR for planes).
    pub fn minus(mut self, other: &Self) -> Self {
        xor_all(&mut self.bits, &other.bits);
        combine(&mut self.r32, &other.r32, Ring::sub);
        combine(&mut self.r64, &other.r64, Ring::sub);
        combine(&mut self.r128, &other.r128, Ring::sub);
        self
    }

    /// Adds pseudorandom content in place: the block that [`Self::random`] would draw.
    pub fn add_random(&mut self, prg: &mut Prg) {
        mask_planes(&mut self.bits, prg);
        self.r32.iter_mut().for_each(|c| mask(c, prg, Ring::add));
        self.r64.iter_mut().for_each(|c| mask(c, prg, Ring::add));
        self.r128.iter_mut().for_each(|c| mask(c, prg, Ring::add));
    }

    /// Subtracts pseudorandom content in place: the block that [`Self::random`] would draw.
    pub fn subtract_random(&mut self, prg: &mut Prg) {
        mask_planes(&mut self.bits, prg);
        self.r32.iter_mut().for_each(|c| mask(c, prg, Ring::sub));
        self.r64.iter_mut().for_each(|c| mask(c, prg, Ring::sub));
        self.r128.iter_mut().for_each(|c| mask(c, prg, Ring::sub));
    }

    /// The rows of this bundle followed by `more` rows of zeros.
    pub fn pad_zeros(&self, more: usize) -> Self {
        Self {
            rows: self.rows + more,
            bits: self.bits.iter().map(|c| Plane::concat(&[c, &Plane::zeros(more)])).collect(),
            r32: self.r32.iter().map(|c| padded(c, more)).collect(),
            r64: self.r64.iter().map(|c| padded(c, more)).collect(),
            r128: self.r128.iter().map(|c| padded(c, more)).collect(),
        }
    }

    /// Row i is the old row from[i], in all columns. There are as many rows as sources.
    pub fn gather(&self, from: &[u32]) -> Self {
        Self {
            rows: from.len(),
            bits: gather_planes(&self.bits.iter().collect::<Vec<_>>(), from),
            r32: self.r32.iter().map(|c| ring::gather(c, from)).collect(),
            r64: self.r64.iter().map(|c| ring::gather(c, from)).collect(),
            r128: self.r128.iter().map(|c| ring::gather(c, from)).collect(),
        }
    }

    /// Row i moves to the position to[i], in all columns. All positions are different.
    pub fn scatter(&self, to: &[u32]) -> Self {
        Self {
            rows: to.len(),
            bits: scatter_planes(&self.bits.iter().collect::<Vec<_>>(), to),
            r32: self.r32.iter().map(|c| ring::scatter(c, to)).collect(),
            r64: self.r64.iter().map(|c| ring::scatter(c, to)).collect(),
            r128: self.r128.iter().map(|c| ring::scatter(c, to)).collect(),
        }
    }
}

/// Bytes that are worth a lane of their own.
const LEAST: usize = 128 << 10;

fn xor_all(x: &mut [Plane], y: &[Plane]) {
    assert_eq!(x.len(), y.len(), "bundles of one shape");
    let worth_it = x.iter().map(|plane| 8 * plane.words().len()).sum::<usize>() >= 2 * LEAST;
    lanes::each_worth(worth_it, x.iter_mut().zip(y).collect(), |(x, y)| x.xor_assign(y));
}

fn combine<R: Ring>(x: &mut [Vec<R>], y: &[Vec<R>], op: impl Fn(R, R) -> R + Sync) {
    assert_eq!(x.len(), y.len(), "bundles of one shape");
    for (x, y) in x.iter_mut().zip(y) {
        assert_eq!(x.len(), y.len(), "bundles of one shape");
        lanes::each(in_lanes(x, 1), |(lane, x)| x.iter_mut().zip(&y[lane]).for_each(|(a, &b)| *a = op(*a, b)));
    }
}

/// The lanes of a column, each beginning at a multiple of `unit`.
fn in_lanes<R>(column: &mut [R], unit: usize) -> Vec<(Range<usize>, &mut [R])> {
    let lanes = lanes::cut(column.len(), LEAST / size_of::<R>(), unit);
    let step = lanes[0].len().max(1);
    lanes.into_iter().zip(column.chunks_mut(step)).collect()
}

/// Bytes of mask that are drawn at a time: within the first-level cache, and whole blocks of the generator.
const PIECE: usize = 8 << 10;

/// XORs each plane with as many pseudorandom words, in place.
fn mask_planes(planes: &mut [Plane], prg: &mut Prg) {
    let parts = prg.parts(planes.iter().map(|plane| blocks_of::<u64>(plane.words().len())));
    let worth_it = planes.iter().map(|plane| 8 * plane.words().len()).sum::<usize>() >= 2 * LEAST;
    lanes::each_worth(worth_it, planes.iter_mut().zip(parts).collect(), |(plane, part)| {
        plane.change_words(|words| mask_lane(words, part, |a, b| a ^ b));
    });
}

/// Combines a column with as many pseudorandom elements, in place.
fn mask<R: Ring>(column: &mut [R], prg: &mut Prg, op: impl Fn(R, R) -> R + Sync) {
    let lanes = in_lanes(column, PIECE / size_of::<R>());
    let parts = prg.parts(lanes.iter().map(|(lane, _)| blocks_of::<R>(lane.len())));
    lanes::each(lanes.into_iter().zip(parts).collect(), |((_, column), part)| mask_lane(column, part, &op));
}

fn mask_lane<R: Ring>(column: &mut [R], mut part: Part<'_>, op: impl Fn(R, R) -> R) {
    let mut random = [0u128; PIECE / 16];
    let random: &mut [R] = bytemuck::cast_slice_mut(&mut random);
    for piece in column.chunks_mut(random.len()) {
        let random = &mut random[..piece.len()];
        part.fill(random);
        piece.iter_mut().zip(&*random).for_each(|(a, &b)| *a = op(*a, b));
    }
}

/// Row i of every plane becomes the old row from[i].
pub fn gather_planes(planes: &[&Plane], from: &[u32]) -> Vec<Plane> {
    planes.chunks(64).flat_map(|group| transpose::gather_planes(group, from)).collect()
}

/// Row i of every plane moves to the position to[i].
pub fn scatter_planes(planes: &[&Plane], to: &[u32]) -> Vec<Plane> {
    planes.chunks(64).flat_map(|group| transpose::scatter_planes(group, to)).collect()
}

/// A column followed by `more` zeros.
pub(crate) fn padded<R: Ring>(column: &[R], more: usize) -> Vec<R> {
    let mut out = column.to_vec();
    out.resize(column.len() + more, R::ZERO);
    out
}
