//! Eight words at a time: what the transform and the vector operations are written in, told once for every processor.

/// Words of a vector.
pub(super) const LANES: usize = 8;

/// Low bits of a word that a multiplication reads.
pub(super) const BITS: u32 = 52;

/// Eight words. Multiplications read the low [`BITS`] of their factors; what is above them does not matter.
pub(super) trait Lanes: Copy {
    fn load(from: &[u64; LANES]) -> Self;

    fn store(self, to: &mut [u64; LANES]);

    fn splat(word: u64) -> Self;

    fn plus(self, other: Self) -> Self;

    fn minus(self, other: Self) -> Self;

    fn least(self, other: Self) -> Self;

    fn and(self, other: Self) -> Self;

    /// What is above the low [`BITS`].
    fn above(self) -> Self;

    /// The sum with the low [`BITS`] of a product.
    fn plus_low(self, a: Self, b: Self) -> Self;

    /// The sum with what is above the low [`BITS`] of a product.
    fn plus_high(self, a: Self, b: Self) -> Self;

    /// Word i of vector j becomes word j of vector i.
    fn transpose(vectors: [Self; LANES]) -> [Self; LANES];
}

/// A loop over vectors. Its [`Job::run`] must be `#[inline(always)]`, and so must all that it calls.
pub(super) trait Job {
    fn run<L: Lanes>(self);
}

/// The vectors of a slice.
#[inline(always)]
pub(super) fn vectors(words: &[u64]) -> &[[u64; LANES]] {
    let (vectors, rest) = words.as_chunks();
    assert!(rest.is_empty(), "whole vectors");
    vectors
}

/// The vectors of a slice that is changed.
#[inline(always)]
pub(super) fn vectors_mut(words: &mut [u64]) -> &mut [[u64; LANES]] {
    let (vectors, rest) = words.as_chunks_mut();
    assert!(rest.is_empty(), "whole vectors");
    vectors
}

/// Vectors for every processor.
#[derive(Clone, Copy)]
pub(super) struct Portable([u64; LANES]);

impl Portable {
    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

/// The whole product of two words' low [`BITS`].
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW) * u128::from(b & LOW)
}

const LOW: u64 = (1 << BITS) - 1;

impl Lanes for Portable {
    #[inline(always)]
    fn load(from: &[u64; LANES]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        *to = self.0;
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        Self([word; LANES])
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_sub)
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        // Both are below 2^63, or one wrapped below zero: the top bit of the difference tells without a branch.
        self.with(other, |a, b| {
            let difference = u128::from(a).wrapping_sub(u128::from(b));
            b.wrapping_add(a.wrapping_sub(b) & (difference >> 64) as u64)
        })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.with(other, |a, b| a & b)
    }

    #[inline(always)]
    fn above(self) -> Self {
        Self(self.0.map(|word| word >> BITS))
    }

    #[inline(always)]
    fn plus_low(self, a: Self, b: Self) -> Self {
        self.plus(a.with(b, |a, b| product(a, b) as u64 & LOW))
    }

    #[inline(always)]
    fn plus_high(self, a: Self, b: Self) -> Self {
        self.plus(a.with(b, |a, b| (product(a, b) >> BITS) as u64))
    }

    #[inline(always)]
    fn transpose(vectors: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|i| Self(std::array::from_fn(|j| vectors[j].0[i])))
    }
}
