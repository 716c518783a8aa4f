//! Choices between numbers: by a bit that is given, or by the sign of a difference.

use tacit_mpc::{Backend, Result, linear};

use super::call::Call;
use super::comparisons::{difference_bits, signed_bits, signs};
use crate::array::{Element, Shares};

/// The second argument where the first is set, else the third.
pub(super) fn select<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let bits: Vec<_> = calls.iter().map(|call| call.operand(0)).collect();
    let [then, other] =
        [1, 2].map(|arg| calls.iter().map(|call| call.operand(arg).vector::<R>().clone()).collect::<Vec<_>>());
    let bits: Vec<&B::Bits> = bits.iter().map(|array| array.bits()).collect();
    Ok(chosen::<R, B>(b, &bits, &then, &other)?.into_iter().map(R::shares).collect())
}

/// Each first vector where its bit is set, else the second.
pub(super) fn chosen<R: Element, B: Backend>(
    b: &mut B,
    bits: &[&B::Bits],
    then: &[B::Vector<R>],
    other: &[B::Vector<R>],
) -> Result<Vec<B::Vector<R>>> {
    let differences: Vec<B::Vector<R>> = then.iter().zip(other).map(|(x, y)| linear::sub(x, y)).collect();
    let moved = b.select(bits, &differences.iter().collect::<Vec<_>>())?;
    Ok(other.iter().zip(&moved).map(|(x, by)| linear::add(x, by)).collect())
}

/// The larger, or the smaller, of two.
pub(super) fn extreme<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    largest: bool,
) -> Result<Vec<Shares<B>>> {
    let width = difference_bits(calls[0].bounds(0), calls[0].bounds(1));
    let (first, second): (Vec<_>, Vec<_>) = calls.iter().map(|call| <(_, _)>::from(call.operands::<R>())).unzip();
    let differences: Vec<B::Vector<R>> = first.iter().zip(&second).map(|(x, y)| linear::sub(x, y)).collect();
    let less = signs::<R, B>(b, &differences, width)?;
    let less: Vec<&B::Bits> = less.iter().collect();
    let [then, other] = if largest { [&second, &first] } else { [&first, &second] };
    Ok(chosen::<R, B>(b, &less, then, other)?.into_iter().map(R::shares).collect())
}

/// Numbers without their signs.
pub(super) fn absolute<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let numbers: Vec<B::Vector<R>> = calls.iter().map(|call| call.args[0].vector::<R>().clone()).collect();
    let negative = signs::<R, B>(b, &numbers, signed_bits(calls[0].bounds(0)))?;
    let chosen = b.select(&negative.iter().collect::<Vec<_>>(), &numbers.iter().collect::<Vec<_>>())?;
    let twice = |x: &B::Vector<R>| linear::scale(x, R::ONE.shl(1));
    Ok(numbers.iter().zip(&chosen).map(|(x, taken)| R::shares(linear::sub(x, &twice(taken)))).collect())
}
