//! Comparisons of numbers within public bounds.

use tacit_math::Plane;
use tacit_mpc::circuits::{and_all, negative};
use tacit_mpc::{Backend, Linear, Result, linear};

use super::arithmetic::plus_public;
use super::call::Call;
use crate::array::{Element, Shares, joined, parted_bits};

/// Bounds of a number.
pub(super) type Bounds = (i128, i128);

/// The bits of numbers within bounds, in two's complement.
pub(super) fn signed_bits((low, high): Bounds) -> usize {
    let bits = |number: i128| 129 - (if number < 0 { !number } else { number }).leading_zeros() as usize;
    bits(low).max(bits(high))
}

/// The bits of x - y, in two's complement.
pub(super) fn difference_bits(x: Bounds, y: Bounds) -> usize {
    signed_bits((x.0 - y.1, x.1 - y.0))
}

/// The least number of bits, at least one, of which x - y is zero only if x = y.
pub(super) fn distance_bits(x: Bounds, y: Bounds) -> usize {
    let farthest = (x.0 - y.1).unsigned_abs().max((x.1 - y.0).unsigned_abs());
    (u128::BITS - farthest.leading_zeros()).max(1) as usize
}

/// The bits of a < b: signs of differences.
pub(super) fn less<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let differences = differences::<R, B>(calls);
    let width = difference_bits(calls[0].bounds(0), calls[0].bounds(1));
    Ok(signs::<R, B>(b, &differences.iter().collect::<Vec<_>>(), width)?.into_iter().map(Shares::Bits).collect())
}

/// The bits of a = b.
///
/// The difference less one is s + t for what [`Backend::summands`] gives. It is -1, all ones, exactly if s and t differ
/// in every bit: no adder is needed.
pub(super) fn equal<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let differences = differences::<R, B>(calls);
    let width = distance_bits(calls[0].bounds(0), calls[0].bounds(1));
    let (difference, rows) = joined::<R, B>(&differences.iter().collect::<Vec<_>>());
    let less_one = plus_public::<R, B>(b, &difference, -1);
    let [first, second] = b.summands(&[&less_one], width)?.swap_remove(0);
    let differ = linear::xor_all(&first.iter().collect::<Vec<_>>(), &second.iter().collect::<Vec<_>>());
    let equal = and_all(b, rows.iter().sum(), differ)?;
    Ok(parted_bits::<B>(equal, &rows).into_iter().map(Shares::Bits).collect())
}

/// The bits of a < from or a > to: signs of distances from the ends, of those that the bounds do not prove.
pub(super) fn outside<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    (from, to): Bounds,
) -> Result<Vec<Shares<B>>> {
    let bounds = calls[0].bounds(0);
    let numbers: Vec<&B::Vector<R>> = calls.iter().map(|call| call.args[0].vector::<R>()).collect();
    let below = numbers.iter().filter(|_| bounds.0 < from).map(|x| plus_public::<R, B>(b, x, -from));
    let negated = |x: &&B::Vector<R>| linear::scale(*x, R::ONE.neg());
    let above = numbers.iter().filter(|_| bounds.1 > to).map(|x| plus_public::<R, B>(b, &negated(x), to));
    let distances: Vec<B::Vector<R>> = below.chain(above).collect();
    if distances.is_empty() {
        let none = |x: &&B::Vector<R>| Shares::Bits(b.public_bits(x.rows(), || Plane::zeros(x.rows())));
        return Ok(numbers.iter().map(none).collect());
    }
    let mut bits = signs::<R, B>(b, &distances.iter().collect::<Vec<_>>(), outside_bits(bounds, (from, to)))?;
    if bits.len() > calls.len() {
        // No number is on both sides.
        let above = bits.split_off(calls.len());
        bits = bits.iter().zip(&above).map(|(below, above)| linear::xor(below, above)).collect();
    }
    Ok(bits.into_iter().map(Shares::Bits).collect())
}

/// The bits of the distances of a number from the ends of an interval, of those that its bounds do not prove.
pub(super) fn outside_bits((low, high): Bounds, (from, to): Bounds) -> usize {
    let below = if low < from { signed_bits((low - from, high - from)) } else { 0 };
    let above = if high > to { signed_bits((to - high, to - low)) } else { 0 };
    below.max(above)
}

/// a - b of each.
fn differences<R: Element, B: Backend>(calls: &[Call<'_, B>]) -> Vec<B::Vector<R>> {
    let one = |call: &Call<'_, B>| {
        let [x, y] = call.operands();
        linear::sub(x.vector::<R>(), y.vector())
    };
    calls.iter().map(one).collect()
}

/// The signs of numbers of `width` bits.
pub(super) fn signs<R: Element, B: Backend>(
    b: &mut B,
    numbers: &[&B::Vector<R>],
    width: usize,
) -> Result<Vec<B::Bits>> {
    let (one, rows) = joined::<R, B>(numbers);
    Ok(parted_bits::<B>(negative(b, &one, width)?, &rows))
}
