//! Choices between numbers: by a bit that is given, or by the sign of a difference.

use tacit_mpc::{Backend, Result, linear};

use super::call::Call;
use super::comparisons::{Bounds, difference_bits, signed_bits, signs};
use crate::array::{Array, Element, Shares};

/// The second argument where the first is set, else the third.
pub(super) fn select<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let [bits, then, other] = [0, 1, 2].map(|arg| calls.iter().map(|call| call.operand(arg)).collect::<Vec<_>>());
    let bits: Vec<&B::Bits> = bits.iter().map(|array| array.bits()).collect();
    let [then, other] = [&then, &other].map(|arrays| arrays.iter().map(Array::vector::<R>).collect::<Vec<_>>());
    Ok(chosen::<R, B>(b, &bits, &then, &other)?.into_iter().map(R::shares).collect())
}

/// Each first vector where its bit is set, else the second.
pub(super) fn chosen<R: Element, B: Backend>(
    b: &mut B,
    bits: &[&B::Bits],
    then: &[&B::Vector<R>],
    other: &[&B::Vector<R>],
) -> Result<Vec<B::Vector<R>>> {
    let differences: Vec<B::Vector<R>> = then.iter().zip(other).map(|(x, y)| linear::sub(*x, *y)).collect();
    let moved = b.select(bits, &differences.iter().collect::<Vec<_>>())?;
    Ok(other.iter().zip(&moved).map(|(x, by)| linear::add(*x, by)).collect())
}

/// The larger, or the smaller, of two.
pub(super) fn extreme<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    largest: bool,
) -> Result<Vec<Shares<B>>> {
    let width = difference_bits(calls[0].bounds(0), calls[0].bounds(1));
    let [first, second] = [0, 1].map(|arg| calls.iter().map(|call| call.operand(arg)).collect::<Vec<_>>());
    let [first, second] = [&first, &second].map(|arrays| arrays.iter().map(Array::vector::<R>).collect::<Vec<_>>());
    let differences: Vec<B::Vector<R>> = first.iter().zip(&second).map(|(x, y)| linear::sub(*x, *y)).collect();
    let less = signs::<R, B>(b, &differences.iter().collect::<Vec<_>>(), width)?;
    let less: Vec<&B::Bits> = less.iter().collect();
    let [then, other] = if largest { [&second, &first] } else { [&first, &second] };
    Ok(chosen::<R, B>(b, &less, then, other)?.into_iter().map(R::shares).collect())
}

/// Numbers between two others, or the nearer one of these. Both comparisons share their rounds, and so do both choices:
/// no number is on both sides.
pub(super) fn clip<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let width = clip_bits([0, 1, 2].map(|arg| calls[0].bounds(arg)));
    let [numbers, low, high] = [0, 1, 2].map(|arg| calls.iter().map(|call| call.operand(arg)).collect::<Vec<_>>());
    let to = |ends: &[Array<B>]| -> Vec<B::Vector<R>> {
        ends.iter().zip(&numbers).map(|(end, x)| linear::sub(end.vector::<R>(), x.vector())).collect()
    };
    let (to_low, to_high) = (to(&low), to(&high));
    let above_low: Vec<B::Vector<R>> = to_low.iter().map(|x| linear::scale(x, R::ONE.neg())).collect();
    let outside = signs::<R, B>(b, &above_low.iter().chain(&to_high).collect::<Vec<_>>(), width)?;
    let moved = b.select(&outside.iter().collect::<Vec<_>>(), &to_low.iter().chain(&to_high).collect::<Vec<_>>())?;
    let (up, down) = moved.split_at(calls.len());
    let ends = numbers.iter().zip(up).zip(down);
    Ok(ends.map(|((x, up), down)| R::shares(linear::add(&linear::add(x.vector::<R>(), up), down))).collect())
}

/// The bits of a number's distances from both ends, in two's complement.
pub(super) fn clip_bits([number, low, high]: [Bounds; 3]) -> usize {
    difference_bits(number, low).max(difference_bits(high, number))
}

/// Numbers without their signs.
pub(super) fn absolute<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let numbers: Vec<&B::Vector<R>> = calls.iter().map(|call| call.args[0].vector::<R>()).collect();
    let negative = signs::<R, B>(b, &numbers, signed_bits(calls[0].bounds(0)))?;
    let chosen = b.select(&negative.iter().collect::<Vec<_>>(), &numbers)?;
    let twice = |x: &B::Vector<R>| linear::scale(x, R::ONE.shl(1));
    Ok(numbers.iter().zip(&chosen).map(|(x, taken)| R::shares(linear::sub(*x, &twice(taken)))).collect())
}
