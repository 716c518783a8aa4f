//! Quotients of integers.

use tacit_mpc::circuits::{Planes, divide, to_planes, to_ring};
use tacit_mpc::{Backend, Result, linear};

use super::call::Call;
use super::comparisons::signed_bits;
use crate::array::{Element, Shares};

/// a / b rounded down, for b above zero.
///
/// For a negative a it is not(not(a) / b), as not(a) = -a - 1. So the quotient is of the bits of a, each XORed with its
/// sign, and is XORed with the sign again.
pub(super) fn floor_divide<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    calls.iter().map(|call| quotient::<R, B>(b, call).map(R::shares)).collect()
}

fn quotient<R: Element, B: Backend>(b: &mut B, call: &Call<'_, B>) -> Result<B::Vector<R>> {
    let [dividend, divisor] = call.operands::<R>();
    let mut planes = to_planes(b, &dividend, signed_bits(call.bounds(0)).max(2))?;
    let mut divisor = to_planes(b, &divisor, signed_bits(call.bounds(1)))?;
    divisor.pop();
    let sign = planes.pop().expect("two planes at least");
    let magnitude = flipped::<B>(&planes, &sign);
    let [found, _] = divide(b, &magnitude, &divisor)?;
    let mut found = flipped::<B>(&found, &sign);
    found.push(sign);
    to_ring(b, &found, true)
}

/// Planes XORed with one.
fn flipped<B: Backend>(planes: &[B::Bits], by: &B::Bits) -> Planes<B> {
    linear::xor_all(&planes.iter().collect::<Vec<_>>(), &vec![by; planes.len()])
}
