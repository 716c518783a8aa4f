//! A linear code with fast encoding for pseudorandom correlation generators: it compresses N noisy symbols to N/2 outputs.
//!
//! [`BlockAccumulate`] is a block-accumulate code of depth three (as in libOTe's `BlkAcc3x32`), in the transposed form that compresses:
//! accumulate, permute, accumulate, permute, then add to each of n symbols a random combination of 32 others, block by block.
//! All coefficients are 0 or 1, so one code compresses bits, field elements and blocks alike, and compressing commutes with
//! every linear map of symbols. The code is public: its permutations and coefficients come from fixed keys and the size.
//!
//! Cost: three passes. The first streams; the second reads N symbols in a pseudorandom order and streams; the third reads 2n symbols
//! in a pseudorandom order and combines 32 at a time through tables of 16 sums (the method of the four Russians).

mod order;

use crate::gf::{Gf64, Gf128};
use crate::{Prg, Seed};
use bytemuck::Pod;
use order::Order;
use std::ops::BitXor;

/// Symbols that are combined at random: outputs of a block, and additional inputs of it.
pub const BLOCK: usize = 32;

/// Outputs whose inputs are fetched together, so that many fetches are under way at once.
const BATCH: usize = 8 * BLOCK;

/// Key of the coefficients, nothing up the sleeve.
const COEFFICIENTS: [u8; 16] = *b"block-accumulate";

/// A symbol: a word that is added by XOR.
pub trait Symbol: Pod + BitXor<Output = Self> {
    /// Itself or zero, by a mask of ones or zeros.
    fn masked(self, mask: i64) -> Self;
}

macro_rules! symbol {
    ($($word:ty: $bits:ty,)*) => {
        $(impl Symbol for $word {
            #[inline]
            fn masked(self, mask: i64) -> Self {
                bytemuck::cast(bytemuck::cast::<Self, $bits>(self) & mask as $bits)
            }
        })*
    };
}

symbol! {
    u64: u64,
    u128: u128,
    Gf64: u64,
    Gf128: u128,
}

/// Running sums of a vector, by index.
pub trait Sums<W> {
    /// The sum of the vector's elements up to and including this one. Indices are public.
    fn at(&self, index: u32) -> W;
}

impl<W: Copy> Sums<W> for &[W] {
    fn at(&self, index: u32) -> W {
        self[index as usize]
    }
}

/// Running sums of a vector of `values.len()` segments of equal length, zero except for one value in each.
///
/// Reading one selects by mask: where the values are has no influence on which memory is read.
pub struct StepSums<W> {
    /// The length of a segment is two to this power.
    log_segment: u32,
    /// Place of each segment's value inside it.
    places: Vec<u32>,
    /// Sum before each segment, and at the end.
    sums: Vec<W>,
}

impl<W: Symbol> StepSums<W> {
    /// The sums of the vector that has `values[i]` at `places[i]` of segment i.
    ///
    /// # Panics
    /// If there is not one place for each value.
    pub fn new(log_segment: u32, places: &[u32], values: &[W]) -> Self {
        assert_eq!(places.len(), values.len(), "one value in each segment");
        let mut sums = vec![W::zeroed(); values.len() + 1];
        for (i, &value) in values.iter().enumerate() {
            sums[i + 1] = sums[i] ^ value;
        }
        Self { log_segment, places: places.to_vec(), sums }
    }
}

impl<W: Symbol> Sums<W> for StepSums<W> {
    #[inline]
    fn at(&self, index: u32) -> W {
        let segment = (index >> self.log_segment) as usize;
        let inside = index & ((1 << self.log_segment) - 1);
        // The difference of two numbers below 2^31 is negative when the value comes later.
        let later = inside.wrapping_sub(self.places[segment]) as i32 >> 31;
        self.sums[segment] ^ (self.sums[segment] ^ self.sums[segment + 1]).masked(i64::from(!later))
    }
}

/// Replaces a vector by its running sums.
pub fn accumulate<W: Symbol>(symbols: &mut [W]) {
    let mut sum = W::zeroed();
    for symbol in symbols {
        sum = sum ^ *symbol;
        *symbol = sum;
    }
}

/// The code that compresses `segments` times 2^`log_segment` symbols to at most half as many.
#[derive(Debug)]
pub struct BlockAccumulate {
    length: usize,
    outputs: usize,
    orders: [Order; 2],
}

impl BlockAccumulate {
    /// The code of a size. Equal sizes give equal codes.
    ///
    /// # Panics
    /// If twice the outputs, rounded up to whole blocks, are more than the symbols, or the symbols more than 2^31.
    pub fn new(segments: usize, log_segment: u32, outputs: usize) -> Self {
        let length = segments << log_segment;
        assert!(length <= 1 << 31, "a code of at most 2^31 symbols");
        assert!(2 * outputs.next_multiple_of(BLOCK) <= length, "{outputs} outputs need twice as many symbols");
        Self { length, outputs, orders: [0, 1].map(|number| Order::new(segments as u32, log_segment, number)) }
    }

    /// Symbols in.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Symbols out.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Compresses a vector.
    ///
    /// # Panics
    /// If it has not [`Self::length`] symbols.
    pub fn compress<W: Symbol>(&self, mut symbols: Vec<W>) -> Vec<W> {
        accumulate(&mut symbols);
        self.compress_sums(symbols)
    }

    /// Compresses a vector of which the running sums are given. Their memory is used for the outputs.
    ///
    /// # Panics
    /// If there are not [`Self::length`] sums.
    pub fn compress_sums<W: Symbol>(&self, mut sums: Vec<W>) -> Vec<W> {
        assert_eq!(sums.len(), self.length, "the code compresses {} symbols", self.length);
        let again = self.reorder_and_accumulate(&sums.as_slice());
        self.combine(&again, &mut sums[..self.outputs]);
        sums.truncate(self.outputs);
        sums.shrink_to_fit();
        sums
    }

    /// Compresses a vector that is zero almost everywhere; its segments are those of this code.
    pub fn compress_sparse<W: Symbol>(&self, sums: &StepSums<W>) -> Vec<W> {
        let again = self.reorder_and_accumulate(sums);
        let mut out = vec![W::zeroed(); self.outputs];
        self.combine(&again, &mut out);
        out
    }

    /// The running sums of the reordered vector.
    fn reorder_and_accumulate<W: Symbol>(&self, sums: &impl Sums<W>) -> Vec<W> {
        let mut out = Vec::with_capacity(self.length);
        let mut indices = [0; 1024];
        let mut sum = W::zeroed();
        while out.len() < self.length {
            let indices = &mut indices[..1024.min(self.length - out.len())];
            self.orders[0].indices(out.len() as u32, indices);
            out.extend(indices.iter().map(|&index| {
                sum = sum ^ sums.at(index);
                sum
            }));
        }
        out
    }

    /// Block by block, adds to 32 of the reordered symbols random combinations of 32 others.
    fn combine<W: Symbol>(&self, symbols: &[W], out: &mut [W]) {
        let half = self.outputs.next_multiple_of(BLOCK);
        let mut coefficients = Prg::new(&Seed::from_bytes(COEFFICIENTS));
        let (mut own, mut others) = ([W::zeroed(); BATCH], [W::zeroed(); BATCH]);
        let mut matrix = [0_u32; BATCH];
        for (number, out) in out.chunks_mut(BATCH).enumerate() {
            let count = out.len().next_multiple_of(BLOCK);
            self.fetch(symbols, number * BATCH, &mut own[..count]);
            self.fetch(symbols, half + number * BATCH, &mut others[..count]);
            coefficients.fill(&mut matrix);
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let at = block * BLOCK;
                let sums = Sixteens::new(others[at..].first_chunk().expect("a whole block"));
                for ((out, own), &row) in out.iter_mut().zip(&own[at..]).zip(&matrix[at..]) {
                    *out = *own ^ sums.combination(row);
                }
            }
        }
    }

    fn fetch<W: Symbol>(&self, symbols: &[W], first: usize, out: &mut [W]) {
        let mut indices = [0; BATCH];
        let indices = &mut indices[..out.len()];
        self.orders[1].indices(first as u32, indices);
        for (out, &index) in out.iter_mut().zip(indices.iter()) {
            *out = symbols[index as usize];
        }
    }
}

/// For each four of 32 symbols, the sums of all their subsets.
struct Sixteens<W>([[W; 16]; BLOCK / 4]);

impl<W: Symbol> Sixteens<W> {
    #[inline]
    fn new(symbols: &[W; BLOCK]) -> Self {
        let mut tables = [[W::zeroed(); 16]; BLOCK / 4];
        for (table, four) in tables.iter_mut().zip(symbols.as_chunks::<4>().0) {
            for (bit, &symbol) in four.iter().enumerate() {
                for subset in 0..1 << bit {
                    table[subset | 1 << bit] = table[subset] ^ symbol;
                }
            }
        }
        Self(tables)
    }

    /// The sum of the symbols whose bits are set in a public row.
    #[inline]
    fn combination(&self, row: u32) -> W {
        let mut sum = W::zeroed();
        for (i, table) in self.0.iter().enumerate() {
            sum = sum ^ table[(row >> (4 * i) & 15) as usize];
        }
        sum
    }
}
