//! Comparisons of numbers within public bounds.

use tacit_mpc::circuits::{and_all, negative};
use tacit_mpc::{Backend, Result, linear};

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
