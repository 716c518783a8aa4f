//! Shuffling: each node in turn permutes by a permutation that only it knows; optionally a second bundle is revealed.
//!
//! Functionality: the rows in an order of which each node knows one of two random permutations. Discloses nothing, but of the second
//! bundle, by the contract of [`crate::Backend::shuffle_reveal`], a uniformly random arrangement of public rows. One node's
//! permutation: [`super::permute`]. The order is composed of both, so to each node it is uniformly random.
//!
//! Rounds: those of two permutations; 1 to reveal, in which each node sends its component.

use tacit_math::{Plane, permutation, transpose};
use tacit_net::PartyId;

use super::open::{component, share_rows};
use super::stock::BATCH;
use super::{NODES, Two};
use crate::backends::wire::{recv_block, send_block};
use crate::{Block, Result, Rows, Shape};

impl Two {
    pub(super) fn shuffle_by_both(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        let moved = self.permute_by_both(component(rows))?;
        Ok(share_rows(moved))
    }

    pub(super) fn shuffle_by_both_and_reveal(
        &mut self,
        rows: Rows<Self>,
        reveal: Rows<Self>,
    ) -> Result<(Rows<Self>, Block)> {
        let (keep, shape) = (rows.shape(), reveal.shape());
        let moved = self.permute_by_both(beside(component(rows), component(reveal)))?;
        let (rows, mut own) = split(moved, keep);
        own.bits.iter_mut().for_each(Plane::clear_padding);
        self.session.next_round();
        let peer = self.peer();
        send_block(&mut self.session, peer, &own)?;
        let mut opened = recv_block(&mut self.session, peer, shape)?.plus(&own);
        opened.bits.iter_mut().for_each(Plane::clear_padding);
        Ok((share_rows(rows), opened))
    }

    fn permute_by_both(&mut self, block: Block) -> Result<Block> {
        let layout = Layout::of(block.shape());
        let mut cells = layout.pack(&block);
        for owner in (0..NODES).map(PartyId) {
            let own = (owner == self.session.me()).then(|| permutation::random(block.rows, &mut self.own));
            self.permute(&mut cells, &layout, owner, own.as_deref())?;
        }
        Ok(layout.unpack(&cells))
    }
}

/// The columns of two bundles together.
fn beside(mut left: Block, right: Block) -> Block {
    assert_eq!(left.rows, right.rows, "bundles of one length");
    left.bits.extend(right.bits);
    left.r32.extend(right.r32);
    left.r64.extend(right.r64);
    left.r128.extend(right.r128);
    left
}

/// The inverse of [`beside`], given the shape of the left bundle.
fn split(mut both: Block, left: Shape) -> (Block, Block) {
    let right = Block {
        rows: both.rows,
        bits: both.bits.split_off(left.bits),
        r32: both.r32.split_off(left.r32),
        r64: both.r64.split_off(left.r64),
        r128: both.r128.split_off(left.r128),
    };
    (both, right)
}

/// The sizes of the batches of switches.
pub(super) fn chunks(switches: usize) -> impl Iterator<Item = usize> {
    (0..switches).step_by(BATCH).map(move |start| (switches - start).min(BATCH))
}

/// How a row of a bundle lies in cells of 32 bits: planes packed, then vectors of 32, 64 and 128 bits.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    shape: Shape,
}

impl Layout {
    pub(super) fn of(shape: Shape) -> Self {
        Self { shape }
    }

    fn plane_cells(&self) -> usize {
        self.shape.bits.div_ceil(32)
    }

    /// Cells of one row.
    pub(super) fn cells(&self) -> usize {
        self.plane_cells() + self.shape.r32 + 2 * self.shape.r64 + 4 * self.shape.r128
    }

    /// Bytes of one row.
    pub(super) fn bytes(&self) -> usize {
        4 * self.cells()
    }

    /// The rows, one after the other.
    pub(super) fn pack(&self, block: &Block) -> Vec<u32> {
        let (width, rows) = (self.cells(), self.shape.rows);
        let mut out = vec![0; width * rows];
        let mut at = 0;
        for planes in block.bits.chunks(32) {
            let words = transpose::rows_of_planes(&planes.iter().collect::<Vec<_>>(), rows);
            put(&mut out, width, &mut at, words.iter().map(|&word| [word as u32]));
        }
        block.r32.iter().for_each(|column| put(&mut out, width, &mut at, column.iter().map(|&x| [x])));
        block.r64.iter().for_each(|column| {
            put(&mut out, width, &mut at, column.iter().map(|&x| bytemuck::cast::<u64, [u32; 2]>(x)));
        });
        block.r128.iter().for_each(|column| {
            put(&mut out, width, &mut at, column.iter().map(|&x| bytemuck::cast::<u128, [u32; 4]>(x)));
        });
        out
    }

    /// The inverse of [`Self::pack`].
    pub(super) fn unpack(&self, cells: &[u32]) -> Block {
        let (width, rows, shape) = (self.cells(), self.shape.rows, self.shape);
        let mut at = 0;
        let mut bits = Vec::new();
        for first in (0..shape.bits).step_by(32) {
            let words: Vec<u64> = take::<1>(cells, width, &mut at, rows).map(|[word]| word.into()).collect();
            bits.extend(transpose::planes_of_rows(&words, (shape.bits - first).min(32)));
        }
        let r32 = (0..shape.r32).map(|_| take::<1>(cells, width, &mut at, rows).map(|[x]| x).collect()).collect();
        let r64 =
            (0..shape.r64).map(|_| take::<2>(cells, width, &mut at, rows).map(bytemuck::cast).collect()).collect();
        let r128 =
            (0..shape.r128).map(|_| take::<4>(cells, width, &mut at, rows).map(bytemuck::cast).collect()).collect();
        Block { rows, bits, r32, r64, r128 }
    }

    /// x + y, each column in its algebra.
    pub(super) fn add(&self, x: &mut [u32], y: &[u32]) {
        self.combine(x, y, u32::wrapping_add, u64::wrapping_add, u128::wrapping_add);
    }

    /// x - y, each column in its algebra.
    pub(super) fn subtract(&self, x: &mut [u32], y: &[u32]) {
        self.combine(x, y, u32::wrapping_sub, u64::wrapping_sub, u128::wrapping_sub);
    }

    #[inline(always)]
    fn combine(
        &self,
        x: &mut [u32],
        y: &[u32],
        of_32: impl Fn(u32, u32) -> u32,
        of_64: impl Fn(u64, u64) -> u64,
        of_128: impl Fn(u128, u128) -> u128,
    ) {
        let mut at = self.plane_cells();
        x[..at].iter_mut().zip(&y[..at]).for_each(|(x, y)| *x ^= y);
        for (x, &y) in x[at..].iter_mut().zip(&y[at..]).take(self.shape.r32) {
            *x = of_32(*x, y);
        }
        at += self.shape.r32;
        let (x, y) = (&mut x[at..], &y[at..]);
        let (x64, x128) = x.split_at_mut(2 * self.shape.r64);
        let (y64, y128) = y.split_at(2 * self.shape.r64);
        for (x, &y) in x64.as_chunks_mut::<2>().0.iter_mut().zip(y64.as_chunks::<2>().0) {
            *x = bytemuck::cast(of_64(bytemuck::cast(*x), bytemuck::cast(y)));
        }
        for (x, &y) in x128.as_chunks_mut::<4>().0.iter_mut().zip(y128.as_chunks::<4>().0) {
            *x = bytemuck::cast(of_128(bytemuck::cast(*x), bytemuck::cast(y)));
        }
    }
}

fn put<const N: usize>(out: &mut [u32], width: usize, at: &mut usize, column: impl Iterator<Item = [u32; N]>) {
    for (row, value) in out.chunks_exact_mut(width).zip(column) {
        row[*at..*at + N].copy_from_slice(&value);
    }
    *at += N;
}

fn take<const N: usize>(cells: &[u32], width: usize, at: &mut usize, rows: usize) -> impl Iterator<Item = [u32; N]> {
    let start = *at;
    *at += N;
    (0..rows).map(move |row| std::array::from_fn(|k| cells[row * width + start + k]))
}

#[cfg(test)]
mod tests {
    use tacit_math::{Plane, Prg, Seed};

    use super::Layout;
    use crate::{Block, Shape};

    #[test]
    fn cells_hold_every_column_and_add_in_its_algebra() {
        let shape = Shape { rows: 70, bits: 33, r32: 2, r64: 1, r128: 2 };
        let mut prg = Prg::new(&Seed::from_bytes([3; 16]));
        let (x, y) = (Block::random(shape, &mut prg), Block::random(shape, &mut prg));
        let layout = Layout::of(shape);
        let (mut sum, other) = (layout.pack(&x), layout.pack(&y));
        for (x, y) in sum.chunks_mut(layout.cells()).zip(other.chunks(layout.cells())) {
            layout.add(x, y);
        }
        let (got, expected) = (layout.unpack(&sum), x.clone().plus(&y));
        let bits = |block: &Block| block.bits.iter().map(Plane::to_bools).collect::<Vec<_>>();
        assert_eq!(bits(&got), bits(&expected));
        assert_eq!((got.r32, got.r64, got.r128), (expected.r32, expected.r64, expected.r128));
        for (x, y) in sum.chunks_mut(layout.cells()).zip(other.chunks(layout.cells())) {
            layout.subtract(x, y);
        }
        assert_eq!(sum, layout.pack(&x));
    }
}
