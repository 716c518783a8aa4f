//! The rings Z/2^32, Z/2^64 and Z/2^128, elements as unsigned machine words, vectors as slices.

use bytemuck::Pod;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::lanes;

/// A ring Z/2^k whose elements are machine words. All operations wrap.
pub trait Ring: Pod + Copy + Eq + Send + Sync + std::fmt::Debug + 'static {
    /// k, the number of bits of an element.
    const BITS: u32;
    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// Additive inverse.
    fn neg(self) -> Self;
    /// Multiplication by 2^bits, for bits < k.
    fn shl(self, bits: u32) -> Self;
    /// The representative divided by 2^bits and rounded down, for bits < k.
    fn shr(self, bits: u32) -> Self;
    /// A bit of the representative, as zero or one.
    fn bit(self, place: u32) -> Self;
    /// The bits that both representatives have.
    fn and(self, other: Self) -> Self;
    /// The residue of an integer.
    fn from_u128(value: u128) -> Self;
    /// The representative in 0..2^k.
    fn to_u128(self) -> u128;
}

macro_rules! ring {
    ($word:ty) => {
        impl Ring for $word {
            const BITS: u32 = <$word>::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                self << bits
            }
            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                self >> bits
            }
            #[inline(always)]
            fn bit(self, place: u32) -> Self {
                self >> place & 1
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn from_u128(value: u128) -> Self {
                value as $word
            }
            #[inline(always)]
            fn to_u128(self) -> u128 {
                self as u128
            }
        }
    };
}

ring!(u32);
ring!(u64);
ring!(u128);

/// Elements that are worth a lane of their own.
const LEAST: usize = 1 << 15;

/// Two vectors of equal length, element by element.
fn zip<R: Ring>(x: &[R], y: &[R], op: impl Fn(R, R) -> R + Sync) -> Vec<R> {
    assert_eq!(x.len(), y.len(), "vectors of one length");
    lanes::vector(x.len(), LEAST, 1, |lane, room| {
        room.extend(x[lane.clone()].iter().zip(&y[lane]).map(|(&a, &b)| op(a, b)));
    })
}

/// Element-wise sum of two vectors of equal length.
pub fn add<R: Ring>(x: &[R], y: &[R]) -> Vec<R> {
    zip(x, y, R::add)
}

/// Element-wise difference of two vectors of equal length.
pub fn sub<R: Ring>(x: &[R], y: &[R]) -> Vec<R> {
    zip(x, y, R::sub)
}

/// Every element times one public constant.
pub fn scale<R: Ring>(x: &[R], by: R) -> Vec<R> {
    lanes::vector(x.len(), LEAST, 1, |lane, room| room.extend(x[lane].iter().map(|&a| a.mul(by))))
}

/// Every element modulo 2^64.
pub fn narrow(x: &[u128]) -> Vec<u64> {
    lanes::vector(x.len(), LEAST, 1, |lane, room| room.extend(x[lane].iter().map(|&a| a as u64)))
}

/// Inclusive prefix sums: `out[i] = x[0] + ... + x[i]`. A lane begins with the sum of those before it.
pub fn prefix_sum<R: Ring>(x: &[R]) -> Vec<R> {
    let before = sums_before(x, &lanes::cut(x.len(), LEAST, 1));
    lanes::vector(x.len(), LEAST, 1, |lane, room| {
        let mut total = before[before.partition_point(|(start, _)| *start < lane.start)].1;
        room.extend(x[lane].iter().map(|&a| {
            total = total.add(a);
            total
        }));
    })
}

/// The start of each lane, and the sum of all elements before it.
fn sums_before<R: Ring>(x: &[R], lanes: &[Range<usize>]) -> Vec<(usize, R)> {
    let mut sums = vec![R::ZERO; lanes.len()];
    // Nobody asks for the sum of the last lane.
    let counted = lanes.iter().zip(&mut sums).take(lanes.len() - 1).collect();
    lanes::each(counted, |(lane, sum)| *sum = x[lane.clone()].iter().fold(R::ZERO, |total, &a| total.add(a)));
    let before =
        |total: &mut R, (lane, sum): (&Range<usize>, R)| Some((lane.start, std::mem::replace(total, total.add(sum))));
    lanes.iter().zip(sums).scan(R::ZERO, before).collect()
}

/// `out[0] = x[0]`, `out[i] = x[i] - x[i-1]`: the inverse of [`prefix_sum`].
pub fn differences<R: Ring>(x: &[R]) -> Vec<R> {
    lanes::vector(x.len(), LEAST, 1, |lane, room| {
        let before = [if lane.start == 0 { R::ZERO } else { x[lane.start - 1] }];
        let earlier = before.iter().chain(&x[lane.clone()]);
        room.extend(x[lane].iter().zip(earlier).map(|(&a, &previous)| a.sub(previous)));
    })
}

/// `out[i] = x[from[i]]`.
pub fn gather<R: Ring>(x: &[R], from: &[u32]) -> Vec<R> {
    lanes::vector(from.len(), LEAST, 1, |lane, room| room.extend(from[lane].iter().map(|&from| x[from as usize])))
}

/// `out[to[i]] = x[i]`, where all positions are different.
pub fn scatter<R: Ring>(x: &[R], to: &[u32]) -> Vec<R> {
    assert_eq!(x.len(), to.len(), "one destination per row");
    let mut out = vec![R::ZERO; x.len()];
    if lanes::threads() == 1 {
        to.iter().zip(x).for_each(|(&to, &value)| out[to as usize] = value);
        return out;
    }
    let (places, parts) = (shared(bytemuck::cast_slice_mut(&mut out)), size_of::<R>() / size_of::<u32>());
    let words: &[u32] = bytemuck::cast_slice(x);
    lanes::each(lanes::cut(x.len(), LEAST, 1), |lane| {
        for (&to, row) in to[lane.clone()].iter().zip(words[parts * lane.start..].chunks_exact(parts)) {
            let place = &places[parts * to as usize..][..parts];
            place.iter().zip(row).for_each(|(place, &word)| place.store(word, Relaxed));
        }
    });
    out
}

/// Words that any thread may write.
fn shared(words: &mut [u32]) -> &[AtomicU32] {
    const { assert!(align_of::<AtomicU32>() == align_of::<u32>()) };
    // SAFETY: atomic words are in memory as plain ones are, and nobody else has these while they are borrowed.
    unsafe { &*(std::ptr::from_mut(words) as *const [AtomicU32]) }
}

/// The sum of all elements.
pub fn sum<R: Ring>(x: &[R]) -> R {
    let total = |x: &[R]| x.iter().fold(R::ZERO, |total, &a| total.add(a));
    let lanes = lanes::cut(x.len(), LEAST, 1);
    let mut sums = vec![R::ZERO; lanes.len()];
    lanes::each(lanes.into_iter().zip(&mut sums).collect(), |(lane, sum)| *sum = total(&x[lane]));
    total(&sums)
}
