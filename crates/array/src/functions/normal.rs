//! Normalisation: a secret power of two that moves a number to [1/2, 1].
//!
//! The planes of y; the leading one among those that the interval allows; that one-hot number reversed, as a ring
//! vector v. A number with a sign gives a v with that sign: the one-hot planes XOR the sign AND the planes above it. So
//! c = y v is positive. Whatever depends on the exponent alone is linear in the one-hot planes, and costs its return.
//!
//! Source: Catrina, Saxena, FC 2010, Protocols 3.3 and 3.4. **Departures** planes by an adder of the declared width,
//! and only as many of them as the interval leaves open; the sign goes into v.
//!
//! Rounds: planes 1 + log2(w), leading one log2(e), return 6 + log2(e), for w planes and e places of the leading one.

use tacit_math::Ring;
use tacit_mpc::circuits::{leading_one, narrow_to_ring, to_planes};
use tacit_mpc::{Backend, Linear, Result, linear};

use super::fixed::{product, shifted, times};
use super::interval::bits_of;
use super::{Interval, Refused};

/// Which numbers are normalised: integers y with `least` <= |y| and |y| in the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Normal {
    /// Bits of |y|.
    pub width: usize,
    /// The lowest place of the leading one, from 0 on.
    pub lowest: usize,
    sign: Sign,
    /// Whether y may be zero.
    zero: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
    Secret,
}

/// What moves y: c = |y| v has `width` fractional bits.
pub struct Mover<B: Backend, R: Ring> {
    /// v, with y's sign: 2^(width - 1 - place). None where it is one.
    by: Option<B::Vector<R>>,
    /// Whether y is negative.
    negated: bool,
    /// The table's value for each place of the leading one.
    pub value: Option<B::Vector<R>>,
}

impl<B: Backend, R: Ring> Mover<B, R> {
    /// x v 2^shift, with a truncation where the shift is negative.
    pub fn moved(&self, b: &mut B, x: &B::Vector<R>, shift: i64) -> Result<B::Vector<R>> {
        let down = shift.min(0).unsigned_abs() as usize;
        let up = R::ONE.shl(shift.max(0) as u32);
        let moved = match &self.by {
            Some(by) => product(b, x, by, down)?,
            None => shifted(b, x, shift.min(0))?,
        };
        Ok(linear::scale(&moved, if self.negated { up.neg() } else { up }))
    }

    /// v, for numbers of which a product with it does not lose a sign.
    pub fn alone(&self, b: &B, rows: usize) -> B::Vector<R> {
        let by = self.by.clone().unwrap_or_else(|| b.public_vector(rows, || vec![R::ONE; rows]));
        if self.negated { times::<R, B>(&by, -1) } else { by }
    }
}

impl Normal {
    /// What is proved of y: its interval, and what its size is at least.
    ///
    /// # Errors
    /// [`Refused::Domain`] if y may be zero; [`Refused::Room`] if y is too wide.
    pub fn new(bits: usize, interval: Interval, least: u128) -> Result<Self, Refused> {
        interval.check(bits)?;
        let sign = match (interval.low > 0, interval.high < 0) {
            (true, _) => Sign::Positive,
            (_, true) => Sign::Negative,
            _ => Sign::Secret,
        };
        let ends = [interval.low, interval.high].map(i128::unsigned_abs);
        let least = if sign == Sign::Secret { least } else { least.max(ends[0].min(ends[1])) };
        // Planes of a negative number that are XORed with its sign are those of |y| - 1.
        let lowest = bits_of(if sign == Sign::Secret { least.saturating_sub(1) } else { least });
        if lowest == 0 {
            return Err(Refused::Domain);
        }
        Ok(Self { width: bits_of(interval.size()), lowest: lowest - 1, sign, zero: false })
    }

    /// The same for numbers that are at least zero, of which zero gives v = 0.
    ///
    /// # Errors
    /// [`Refused::Domain`] if y may be negative; [`Refused::Room`] if y is too wide.
    pub fn with_zero(bits: usize, interval: Interval) -> Result<Self, Refused> {
        interval.check(bits)?;
        if interval.low < 0 || interval.high == 0 {
            return Err(Refused::Domain);
        }
        let lowest = bits_of(interval.low.unsigned_abs()).saturating_sub(1);
        Ok(Self { width: bits_of(interval.size()), lowest, sign: Sign::Positive, zero: interval.low == 0 })
    }

    /// Places of the leading one.
    pub fn places(&self) -> usize {
        self.width - self.lowest
    }

    /// v, and a table that has a value for each place of the leading one, from the lowest place on.
    ///
    /// # Errors
    /// As the engine's.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, y: &B::Vector<R>, table: Option<&[u128]>) -> Result<Mover<B, R>> {
        let (secret, negated) = (self.sign == Sign::Secret, self.sign == Sign::Negative);
        let rows = y.rows();
        if self.places() == 1 && !secret && !self.zero {
            let value = table.map(|values| b.public_vector(rows, || vec![R::from_u128(values[0]); rows]));
            return Ok(Mover { by: None, negated, value });
        }
        b.step("normalise", |b| {
            let positive = if negated { times::<R, B>(y, -1) } else { y.clone() };
            let planes = to_planes(b, &positive, self.width + usize::from(secret))?;
            let candidates = &planes[self.lowest..self.width];
            let magnitude: Vec<B::Bits> = match planes.get(self.width) {
                Some(sign) => candidates.iter().map(|plane| linear::xor(plane, sign)).collect(),
                None => candidates.to_vec(),
            };
            let places = leading_one(b, &magnitude)?;
            let reversed: Vec<B::Bits> = places.iter().rev().cloned().collect();
            let by = match planes.get(self.width) {
                Some(sign) => with_sign(b, reversed, sign)?,
                None => reversed,
            };
            let table = table.map(|values| looked_up(b, &places, values));
            let mut returned = returned(b, by, secret, table)?;
            let by = Some(returned.swap_remove(0));
            Ok(Mover { by, negated, value: returned.pop() })
        })
    }
}

/// Planes of a one-hot number, negated where the sign is one: then all planes from the one on are set.
fn with_sign<B: Backend>(b: &mut B, places: Vec<B::Bits>, sign: &B::Bits) -> Result<Vec<B::Bits>> {
    let mut above = Vec::with_capacity(places.len());
    for place in &places[..places.len() - 1] {
        above.push(above.last().map_or_else(|| place.clone(), |last| linear::xor(last, place)));
    }
    let above = b.and(&vec![sign; above.len()], &above.iter().collect::<Vec<_>>())?;
    let mut planes = vec![places[0].clone()];
    planes.extend(places[1..].iter().zip(&above).map(|(place, above)| linear::xor(place, above)));
    planes.push(sign.clone());
    Ok(planes)
}

/// The planes of a value for each place. Local.
fn looked_up<B: Backend>(b: &B, places: &[B::Bits], values: &[u128]) -> Vec<B::Bits> {
    let (rows, width) = (places[0].rows(), bits_of(values.iter().copied().max().unwrap_or(0)));
    let zero = b.public_bits(rows, || tacit_math::Plane::zeros(rows));
    let plane = |bit: usize| {
        let chosen = values.iter().zip(places).filter(|(value, _)| *value >> bit & 1 == 1);
        chosen.fold(zero.clone(), |sum, (_, place)| linear::xor(&sum, place))
    };
    (0..width.max(1)).map(plane).collect()
}

/// A number and perhaps another one that has no sign, as ring vectors: in one conversion.
fn returned<R: Ring, B: Backend>(
    b: &mut B,
    first: Vec<B::Bits>,
    signed: bool,
    second: Option<Vec<B::Bits>>,
) -> Result<Vec<B::Vector<R>>> {
    let Some(second) = second else {
        return Ok(vec![narrow_to_ring(b, &first, signed)?]);
    };
    let rows = first[0].rows();
    let width = if signed { first.len().max(second.len() + 1) } else { first.len().max(second.len()) };
    let zero = b.public_bits(rows, || tacit_math::Plane::zeros(rows));
    let fill = if signed { first[first.len() - 1].clone() } else { zero.clone() };
    let plane = |j: usize| {
        let first = first.get(j).unwrap_or(&fill);
        linear::concat_bits(&[first, second.get(j).unwrap_or(&zero)])
    };
    let both: B::Vector<R> = narrow_to_ring(b, &(0..width).map(plane).collect::<Vec<_>>(), signed)?;
    Ok([0, rows].map(|start| both.map(rows, |x| x[start..start + rows].to_vec())).into())
}
