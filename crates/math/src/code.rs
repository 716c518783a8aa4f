//! A linear code with fast encoding for pseudorandom correlation generators: it compresses N noisy symbols to N/2
//! outputs.
//!
//! [`BlockAccumulate`] is a block-accumulate code of depth three (as libOTe's `BlkAcc3x32`), in the transposed form
//! that compresses. It accumulates, permutes, accumulates, permutes, then adds to each of n symbols a combination of 32
//! others, block by block. All coefficients are 0 or 1, so one code compresses bits, field elements and blocks alike,
//! and compressing commutes with every linear map of symbols. The code is public: its permutations come from a seed and
//! the size. Each session draws a seed, so that no work ahead of a session serves against its code.
//!
//! Whoever tests outputs reads, in each block, a word of the code of length 64 whose generator is the identity beside
//! the [`COMBINATIONS`]. Random combinations have words of weight one and two in one of 2^11 codes of the usual size:
//! an output that is nearly a single running sum. So all blocks take the combinations of one extremal self-dual code,
//! whose words have weight 12 and more; which symbols meet in a block is random.
//!
//! Cost: three passes. The first streams. The second reads N symbols in a pseudorandom order and streams. The third
//! reads 2n symbols in a pseudorandom order and combines 32 at a time through tables of 16 sums (the method of the four
//! Russians).

mod blocks;
mod combine;
mod order;

pub use blocks::{accumulate_masked, add_at, add_from};

use crate::Seed;
use crate::gf::{Gf64, Gf128};
use crate::pages::vector_on_large_pages;
use bytemuck::Pod;
use combine::combine;
use order::Order;
use std::ops::BitXor;

/// Outputs of a block, and additional inputs of it.
pub const BLOCK: usize = 32;

/// Which of the 32 others are added to each symbol of a block: rotations of one row. With the identity beside them they
/// generate an extremal doubly even self-dual code of length 64. Its words have weights 0, 12, 16, 20 and so on, which
/// the tests check. Source (pure double circulant codes): Gulliver and Harada, "Classification of Extremal Double
/// Circulant Self-Dual Codes of Lengths 64 to 72", Designs, Codes and Cryptography 13, 1998.
pub const COMBINATIONS: [u32; BLOCK] = {
    let (mut rows, mut i) = ([0x000a_b0ed_u32; BLOCK], 0);
    while i < BLOCK {
        rows[i] = rows[i].rotate_left(i as u32);
        i += 1;
    }
    rows
};

/// Number of words of weight 4 i of the blocks' code, which Gleason's theorem gives for every extremal doubly even
/// self-dual code of its length.
pub const WORDS: [u64; 17] = [
    1,
    0,
    0,
    2976,
    454_956,
    18_275_616,
    233_419_584,
    1_181_156_256,
    1_428_348_518,
    1_181_156_256,
    233_419_584,
    18_275_616,
    454_956,
    2976,
    0,
    0,
    1,
];

/// Outputs whose inputs are fetched together, so that many fetches are under way at once.
const BATCH: usize = 8 * BLOCK;

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

/// Replaces a vector by its running sums, which begin after `before`, and returns the last of them.
pub fn accumulate<W: Symbol>(symbols: &mut [W], before: W) -> W {
    let mut sum = before;
    for symbol in symbols {
        sum = sum ^ *symbol;
        *symbol = sum;
    }
    sum
}

/// Sets a vector's length; its symbols have no meaning. Keeps its memory if that is enough.
pub fn resize<W: Symbol>(vector: &mut Vec<W>, length: usize) {
    if vector.capacity() < length {
        *vector = vector_on_large_pages(length);
    }
    vector.resize(length, W::zeroed());
}

/// The code that compresses `segments` times 2^`log_segment` symbols to at most half as many. Making it computes its
/// permutations: whoever compresses several vectors of a size keeps it.
#[derive(Debug)]
pub struct BlockAccumulate {
    log_segment: u32,
    outputs: usize,
    /// Where the second pass finds its symbols; as many as there are.
    first: Vec<u32>,
    /// Where the third pass finds them: those that become outputs, and behind them those that are added to these.
    second: Vec<u32>,
}

impl BlockAccumulate {
    /// The code of a seed and a size. Equal ones give equal codes.
    ///
    /// # Panics
    /// If twice the outputs, rounded up to whole blocks, are more than the symbols, or the symbols more than 2^31.
    pub fn new(seed: &Seed, segments: usize, log_segment: u32, outputs: usize) -> Self {
        let length = segments << log_segment;
        assert!(length <= 1 << 31, "a code of at most 2^31 symbols");
        let used = 2 * outputs.next_multiple_of(BLOCK);
        assert!(used <= length, "{outputs} outputs need twice as many symbols");
        let images = |purpose: &str, count: usize| {
            let mut images = vec![0; count];
            Order::new(&seed.derive(purpose), segments as u32, log_segment).indices(0, &mut images);
            images
        };
        let [first, second] =
            [("first order", length), ("second order", used)].map(|(name, count)| images(name, count));
        Self { log_segment, outputs, first, second }
    }

    /// Symbols in.
    pub fn length(&self) -> usize {
        self.first.len()
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
        assert_eq!(sums.len(), self.length(), "the code compresses {} symbols", self.length());
        if size_of::<W>() == size_of::<u128>() {
            resize(scratch, self.length());
            let blocks = bytemuck::cast_slice_mut(scratch);
            blocks::accumulate_reordered(bytemuck::cast_slice(sums), &self.first, blocks);
        } else {
            self.reorder_and_accumulate(|index| sums[index], scratch);
        }
        self.combine(scratch, out);
    }

    /// Compresses the vector that is zero but for one value at one position in each segment, as [`Self::compress_sums`]
    /// does.
    ///
    /// A running sum is that of the segments before plus, from the position on, the value. It is computed where it is
    /// needed, from the comparison of a public index with the position. No address depends on where the values are.
    ///
    /// # Panics
    /// If there is not one position and one value for each segment.
    pub fn compress_sparse<W: Symbol>(&self, places: &[u32], values: &[W], scratch: &mut Vec<W>, out: &mut Vec<W>) {
        assert_eq!(places.len(), values.len(), "one value in each segment");
        assert_eq!(values.len() << self.log_segment, self.length(), "one value for each segment");
        let mut before = W::zeroed();
        let steps: Vec<_> = places
            .iter()
            .zip(values)
            .map(|(&place, &value)| {
                let step = Step { before, value, place };
                before = before ^ value;
                step
            })
            .collect();
        let inside = (1 << self.log_segment) - 1;
        self.reorder_and_accumulate(|index| steps[index >> self.log_segment].at(index as u32 & inside), scratch);
        self.combine(scratch, out);
    }

    /// Compresses a vector.
    ///
    /// # Panics
    /// If it has not [`Self::length`] symbols.
    pub fn compress<W: Symbol>(&self, symbols: &[W]) -> Vec<W> {
        let mut sums = symbols.to_vec();
        accumulate(&mut sums, W::zeroed());
        let (mut scratch, mut out) = (Vec::new(), Vec::new());
        self.compress_sums(&sums, &mut scratch, &mut out);
        out
    }

    /// The running sums of the reordered vector, whose symbols are given by their indices.
    fn reorder_and_accumulate<W: Symbol>(&self, symbol: impl Fn(usize) -> W, out: &mut Vec<W>) {
        resize(out, self.length());
        let mut sum = W::zeroed();
        for (out, &index) in out.iter_mut().zip(&self.first) {
            sum = sum ^ symbol(index as usize);
            *out = sum;
        }
    }

    /// Block by block, adds to 32 of the reordered symbols the combinations of 32 others.
    fn combine<W: Symbol>(&self, symbols: &[W], out: &mut Vec<W>) {
        let (owns, others) = self.second.split_at(self.second.len() / 2);
        let (mut own, mut other) = ([W::zeroed(); BATCH], [W::zeroed(); BATCH]);
        let end = out.len() + self.outputs;
        out.reserve(self.outputs);
        for (owns, others) in owns.chunks(BATCH).zip(others.chunks(BATCH)) {
            let (own, other) = (&mut own[..owns.len()], &mut other[..owns.len()]);
            fetch(symbols, owns, own);
            fetch(symbols, others, other);
            combine(own, other, &COMBINATIONS);
            out.extend_from_slice(&own[..own.len().min(end - out.len())]);
        }
    }
}

/// The running sums of a segment with one value at one place.
struct Step<W> {
    before: W,
    value: W,
    place: u32,
}

impl<W: Symbol> Step<W> {
    #[inline]
    fn at(&self, inside: u32) -> W {
        // The difference of two numbers below 2^31 is negative when the place comes later. The compiler would make
        // a branch of it if it saw the mask.
        let later = std::hint::black_box((i64::from(inside) - i64::from(self.place)) >> 63);
        self.before ^ self.value.masked(!later)
    }
}

/// The symbols at some indices.
fn fetch<W: Symbol>(symbols: &[W], indices: &[u32], out: &mut [W]) {
    for (out, &index) in out.iter_mut().zip(indices) {
        *out = symbols[index as usize];
    }
}
