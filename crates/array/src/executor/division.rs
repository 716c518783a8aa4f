//! Quotients of integers.

use tacit_mpc::circuits::{Planes, divide, to_planes, to_ring};
use tacit_mpc::{Backend, Result, linear};

use super::call::{Call, both};
use super::comparisons::signed_bits;
use crate::array::{Element, Shares, parted};

/// a / b rounded down, for b above zero.
///
/// For a negative a it is not(not(a) / b), as not(a) = -a - 1. So the quotient is of the bits of a, each XORed with its
/// sign, and is XORed with the sign again.
pub(super) fn floor_divide<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let ([dividend, divisor], rows) = both::<R, B>(calls);
    let mut planes = to_planes(b, &dividend, signed_bits(calls[0].bounds(0)).max(2))?;
    let divisor = to_planes(b, &divisor, signed_bits(calls[0].bounds(1)) - 1)?;
    let sign = planes.pop().expect("two planes at least");
    let magnitude = flipped::<B>(&planes, &sign);
    let [found, _] = divide(b, &magnitude, &divisor)?;
    let mut found = flipped::<B>(&found, &sign);
    found.push(sign);
    let quotient = to_ring::<R, B>(b, &found, true)?;
    Ok(parted::<R, B>(quotient, &rows).into_iter().map(R::shares).collect())
}

/// Planes XORed with one.
fn flipped<B: Backend>(planes: &[B::Bits], by: &B::Bits) -> Planes<B> {
    linear::xor_all(&planes.iter().collect::<Vec<_>>(), &vec![by; planes.len()])
}
