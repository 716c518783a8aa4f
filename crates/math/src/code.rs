//! A linear code with fast encoding for pseudorandom correlation generators: it compresses N noisy symbols to N/2
//! outputs.
//!
//! [`BlockAccumulate`] is a block-accumulate code of depth three (as in libOTe's `BlkAcc3x32`), in the transposed form
//! that compresses: accumulate, permute, accumulate, permute, then add to each of n symbols a random combination of 32
//! others, block by block. All coefficients are 0 or 1, so one code compresses bits, field elements and blocks alike,
//! and compressing commutes with every linear map of symbols. The code is public: its permutations and coefficients
//! come from fixed keys and the size.
//!
//! Cost: three passes. The first streams; the second reads N symbols in a pseudorandom order and streams; the third
//! reads 2n symbols in a pseudorandom order and combines 32 at a time through tables of 16 sums (the method of the four
//! Russians).

mod combine;
mod order;

use crate::gf::{Gf64, Gf128};
use crate::pages::vector_on_large_pages;
use crate::{Prg, Seed};
use bytemuck::Pod;
use combine::combine;
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

/// Replaces the content of `sums` by the running sums of a vector of segments of 2^`log_segment` symbols, each zero but
/// for one value at one place.
///
/// Every symbol is computed from the comparison of its index with the place: no address depends on where the values
/// are.
///
/// # Panics
/// If there is not one place for each value.
pub fn running_sums<W: Symbol>(log_segment: u32, places: &[u32], values: &[W], sums: &mut Vec<W>) {
    assert_eq!(places.len(), values.len(), "one value in each segment");
    restart(sums, values.len() << log_segment);
    let mut before = W::zeroed();
    for (&place, &value) in places.iter().zip(values) {
        sums.extend((0..1_u32 << log_segment).map(|inside| {
            // The difference of two numbers below 2^31 is negative when the value comes later.
            let later = inside.wrapping_sub(place) as i32 >> 31;
            before ^ value.masked(i64::from(!later))
        }));
        before = before ^ value;
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

/// Empties a vector that is to have so many symbols, keeping its memory if it has enough.
pub fn restart<W>(vector: &mut Vec<W>, length: usize) {
    vector.clear();
    if vector.capacity() < length {
        *vector = vector_on_large_pages(length);
    }
}

/// Gives a vector so many symbols of no meaning, keeping its memory if it has enough.
pub fn resize<W: Symbol>(vector: &mut Vec<W>, length: usize) {
    if vector.capacity() < length {
        *vector = vector_on_large_pages(length);
    }
    vector.resize(length, W::zeroed());
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

    /// Compresses the vector whose running sums are given, and appends the outputs to `out`. What `scratch` holds
    /// before and after is of no meaning; its memory is used again.
    ///
    /// # Panics
    /// If there are not [`Self::length`] sums.
    pub fn compress_sums<W: Symbol>(&self, sums: &[W], scratch: &mut Vec<W>, out: &mut Vec<W>) {
        assert_eq!(sums.len(), self.length, "the code compresses {} symbols", self.length);
        self.reorder_and_accumulate(sums, scratch);
        self.combine(scratch, out);
    }

    /// Compresses a vector.
    ///
    /// # Panics
    /// If it has not [`Self::length`] symbols.
    pub fn compress<W: Symbol>(&self, symbols: &[W]) -> Vec<W> {
        let mut sums = symbols.to_vec();
        accumulate(&mut sums);
        let (mut scratch, mut out) = (Vec::new(), Vec::new());
        self.compress_sums(&sums, &mut scratch, &mut out);
        out
    }

    /// The running sums of the reordered vector.
    fn reorder_and_accumulate<W: Symbol>(&self, sums: &[W], out: &mut Vec<W>) {
        restart(out, self.length);
        let mut symbols = [W::zeroed(); BATCH];
        let mut sum = W::zeroed();
        while out.len() < self.length {
            let symbols = &mut symbols[..BATCH.min(self.length - out.len())];
            fetch(&self.orders[0], sums, out.len(), symbols);
            out.extend(symbols.iter().map(|&symbol| {
                sum = sum ^ symbol;
                sum
            }));
        }
    }

    /// Block by block, adds to 32 of the reordered symbols random combinations of 32 others.
    fn combine<W: Symbol>(&self, symbols: &[W], out: &mut Vec<W>) {
        let half = self.outputs.next_multiple_of(BLOCK);
        let mut coefficients = Prg::new(&Seed::from_bytes(COEFFICIENTS));
        let (mut own, mut others) = ([W::zeroed(); BATCH], [W::zeroed(); BATCH]);
        let mut matrix = [0_u32; BATCH];
        out.reserve(self.outputs);
        for first in (0..self.outputs).step_by(BATCH) {
            let left = self.outputs - first;
            let count = BATCH.min(left.next_multiple_of(BLOCK));
            fetch(&self.orders[1], symbols, first, &mut own[..count]);
            fetch(&self.orders[1], symbols, half + first, &mut others[..count]);
            coefficients.fill(&mut matrix);
            combine(&mut own[..count], &others[..count], &matrix[..count]);
            out.extend_from_slice(&own[..count.min(left)]);
        }
    }
}

/// The symbols at the places to which an order moves consecutive numbers.
fn fetch<W: Symbol>(order: &Order, symbols: &[W], first: usize, out: &mut [W]) {
    let mut indices = [0; BATCH];
    let indices = &mut indices[..out.len()];
    order.indices(first as u32, indices);
    for (out, &index) in out.iter_mut().zip(indices.iter()) {
        *out = symbols[index as usize];
    }
}
