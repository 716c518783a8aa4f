//! Fixed-point arithmetic on shared vectors, written once for all engines.
//!
//! A number v is the integer v 2^f, in a ring vector as two's complement, with f fractional bits that everyone knows.
//! Values are bounded by a declared width; what exceeds it gives an arbitrary value, never an error. Rounding is always
//! down and never random: every function states its error, and results are the same on all engines. Nothing is
//! disclosed; costs depend on row counts and widths alone.
//!
//! **Sources** truncation by way of planes, as ABY (Demmler, Schneider, Zohner, NDSS 2015) converts. Division by
//! Newton's iteration from a normalised divisor: Catrina, Saxena, "Secure Computation with Fixed-Point Numbers" (FC
//! 2010), Protocols 3.3 to 3.5. From these this departs by exact instead of probabilistic truncation and by one
//! truncation at the end instead of two.

use tacit_math::Ring;

use crate::circuits::{and_all, leading_one, sign, to_planes, to_ring};
use crate::{Backend, Linear, Result, linear};

/// How numbers are written: at most `width` bits with the sign, `fraction` of them behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the integer v 2^fraction, with its sign: at least 2.
    pub width: usize,
    /// Fractional bits.
    pub fraction: usize,
}

/// floor(x / 2^by) for integers -2^(width - 1) <= x < 2^(width - 1). Exact. An adder and a conversion back to the ring.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// Unless by < width <= the ring's bits.
pub fn truncate<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, width: usize, by: usize) -> Result<B::Vector<R>> {
    assert!(by < width && width <= R::BITS as usize, "truncation leaves bits of a number that fits the ring");
    if by == 0 {
        return Ok(x.clone());
    }
    b.step("truncate", |b| {
        let planes = to_planes(b, x, width)?;
        to_ring(b, &planes[by..], true)
    })
}

/// x y, rounded down to a multiple of 2^-fraction: what is given is less than the product by less than 2^-fraction. The
/// product must fit the format.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// Unless width + fraction is at most the ring's bits.
pub fn multiply<R: Ring, B: Backend>(
    b: &mut B,
    x: &B::Vector<R>,
    y: &B::Vector<R>,
    format: Format,
) -> Result<B::Vector<R>> {
    let product = b.mul(&[x], &[y])?.swap_remove(0);
    truncate(b, &product, format.width + format.fraction, format.fraction)
}

/// Whether x < y. Exact, for numbers of one format of `width` bits. A carry of an adder, without a conversion back.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// Unless width is less than the ring's bits.
pub fn less_than<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, y: &B::Vector<R>, width: usize) -> Result<B::Bits> {
    assert!(width < R::BITS as usize, "a difference has one bit more");
    sign(b, &linear::sub(x, y), width + 1)
}

/// Whether x = y. Exact, for numbers of one format of `width` bits.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// Unless width is less than the ring's bits.
pub fn equal<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, y: &B::Vector<R>, width: usize) -> Result<B::Bits> {
    assert!(width < R::BITS as usize, "a difference has one bit more");
    let difference = to_planes(b, &linear::sub(x, y), width + 1)?;
    let zero = difference.iter().map(|plane| b.not(plane)).collect();
    and_all(b, x.rows(), zero)
}

/// x / y to the format's fractional bits: what is given differs from x / y by at most |x / y| 5 2^(1 - width) +
/// 2^-fraction; where y = 0 it is arbitrary. The quotient may take width + fraction bits.
///
/// With p = width - 1, |y| is moved to the left by a secret v, a power of two, so that c = |y| v is in [2^(p-1), 2^p].
/// r = 2^2p / c comes from 2.9142 2^p - 2 c, whose relative error e is at most 0.0858, by steps r <- r (2 - c r) that
/// square it. Two truncations a step add at most 3 2^-p. The steps end when 0.0858^(2^steps) <= 2^-p, so that |e| <= 5
/// 2^-p. Then x / y = x v r / 2^2p, truncated once.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// Unless 3 width - 1 is at most the ring's bits (width 21 in 64 bits, 43 in 128) and the fraction less than the width.
pub fn divide<R: Ring, B: Backend>(
    b: &mut B,
    x: &B::Vector<R>,
    y: &B::Vector<R>,
    format: Format,
) -> Result<B::Vector<R>> {
    let Format { width, fraction } = format;
    assert!(width >= 2 && 3 * width - 1 <= R::BITS as usize, "x v r fits the ring");
    assert!(fraction < width, "the fraction is a part of the number");
    b.step("divide", |b| {
        let p = width - 1;
        let sign = sign(b, y, width)?;
        let [x, y] = negate_where(b, &sign, [x, y])?;
        // |-2^p| has a bit more. It is in place already, so that v is 1, as for numbers from 2^(p-1) on.
        let magnitude = to_planes(b, &y, p + 1)?;
        let leading = leading_one(b, &magnitude[..p])?;
        let mut reversed: Vec<B::Bits> = leading.into_iter().rev().collect();
        reversed[0] = linear::xor(&reversed[0], &magnitude[p]);
        let shift: B::Vector<R> = to_ring(b, &reversed, false)?;
        let mut first = b.mul(&[&y, &x], &[&shift, &shift])?;
        let (moved, divisor) = (first.swap_remove(1), first.swap_remove(0));
        let reciprocal = reciprocal(b, &divisor, p)?;
        let quotient = b.mul(&[&moved], &[&reciprocal])?.swap_remove(0);
        truncate(b, &quotient, 3 * p + 2, 2 * p - fraction)
    })
}

/// About 2^2p / c for 2^(p-1) <= c <= 2^p; arbitrary for others.
fn reciprocal<R: Ring, B: Backend>(b: &mut B, c: &B::Vector<R>, p: usize) -> Result<B::Vector<R>> {
    let rows = c.rows();
    let start = R::from_u128((29_142 << p) / 10_000);
    let two = R::from_u128(2 << p);
    let public = |b: &B, value: R| b.public_vector(rows, || vec![value; rows]);
    let mut r = linear::sub(&public(b, start), &linear::scale(c, R::from_u128(2)));
    for _ in 0..steps(p) {
        let product = b.mul(&[c], &[&r])?.swap_remove(0);
        let product = truncate(b, &product, 2 * p + 3, p)?;
        let rest = linear::sub(&public(b, two), &product);
        let next = b.mul(&[&r], &[&rest])?.swap_remove(0);
        r = truncate(b, &next, 2 * p + 3, p)?;
    }
    Ok(r)
}

/// The least number of steps after which 0.0858^(2^steps) <= 2^-p: 0.0858 is 2^-3.54.
fn steps(p: usize) -> u32 {
    (100 * p).div_ceil(354).next_power_of_two().ilog2()
}

/// Each number times -1 where the sign is one.
fn negate_where<R: Ring, B: Backend, const N: usize>(
    b: &mut B,
    sign: &B::Bits,
    numbers: [&B::Vector<R>; N],
) -> Result<[B::Vector<R>; N]> {
    let chosen = b.select(&[sign; N], &numbers)?;
    let two = R::from_u128(2);
    Ok(std::array::from_fn(|i| linear::sub(numbers[i], &linear::scale(&chosen[i], two))))
}
