//! 1 / y and x / y by normalisation and Goldschmidt's series.
//!
//! c = y v is in [1/2, 1] ([`super::normal`]). r is a polynomial near 1 / c, and e = 1 - c r. Then 1 / c = r (1 + e)
//! (1 + e^2) (1 + e^4) ..., where each factor's product and the next square share their rounds. The quotient is x v
//! times 1 / c, truncated once. x v fits whenever the quotient does: no number is as wide as three of them.
//!
//! Source: Catrina, Saxena, FC 2010, Protocol 3.4, which has the same series. **Departures** a start of second degree
//! where that takes fewer products; c in [1/2, 1] from both signs; truncations that are functions of shares.
//!
//! Rounds: those of the normalisation, 6 for x v and c, and 3 for the quotient. Then 3 for each of the polynomial's
//! products, for the error and for each of n factors. Bytes in all, for k = 64: 30 to 36 for each product.

use tacit_math::Ring;
use tacit_mpc::{Backend, Linear, Result};

use super::fixed::{minus, plus, product, shifted};
use super::interval::{bits_of, power};
use super::normal::Normal;
use super::polynomial::Polynomial;
use super::{Interval, Refused};

/// Near 1 / c, with the relative error that is stated.
const STARTS: [Polynomial; 2] = [
    Polynomial { highest: -15, few: 3, others: &[3_249_792_705_979_735_144], accuracy: 4.07 },
    Polynomial {
        highest: 21,
        few: 3,
        others: &[-6_782_113_100_025_653_258, 4_920_869_790_199_132_158],
        accuracy: 6.55,
    },
];

/// Fractional bits of c beside those of the largest quotient.
const GUARD: i64 = 6;

/// The largest error that a plan may have, in units of the last bit.
const MOST: f64 = 64.0;

/// A plan for 1 / y or x / y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divide {
    bits: usize,
    normal: Normal,
    start: Polynomial,
    factors: usize,
    /// Fractional bits of c and 1 / c.
    scale: usize,
    /// Fractional bits of x v, and by how many it is moved to have them.
    moved: (i64, i64),
    result: usize,
    error: f64,
}

/// What is proved of a quotient.
struct Quotient {
    /// Fractional bits of x; 0 if x is one.
    dividend: usize,
    /// Fractional bits of y.
    divisor: usize,
    /// |x / y| is at most 2^size.
    size: i64,
}

impl Divide {
    /// A plan for 1 / y, for y of `fraction` fractional bits within an interval, with |y| at least `least` 2^-fraction.
    /// The result has `result` fractional bits.
    ///
    /// # Errors
    /// [`Refused::Domain`] if y may be zero (or y = -1 unit has y = 1 unit beside it); [`Refused::Room`] if the ring
    /// has no room.
    pub fn reciprocal(
        bits: usize,
        fraction: usize,
        interval: Interval,
        least: u128,
        result: usize,
    ) -> Result<Self, Refused> {
        let least = least_of(interval, least);
        let size = fraction as i64 + 1 - bits_of(least) as i64;
        Self::new(bits, interval, least, &Quotient { dividend: 0, divisor: fraction, size }, result)
    }

    /// A plan for x / y, as [`Divide::reciprocal`], where x has `dividend` fractional bits. `largest` is a proved bound
    /// of |x / y|, in units of the result; it is computed from the intervals where it is not given.
    ///
    /// # Errors
    /// As [`Divide::reciprocal`].
    pub fn quotient(
        bits: usize,
        [x, y]: [(usize, Interval); 2],
        least: u128,
        largest: Option<u128>,
        result: usize,
    ) -> Result<Self, Refused> {
        x.1.check(bits)?;
        let least = least_of(y.1, least);
        let by_ends = bits_of(x.1.size()) as i64 - x.0 as i64 - (bits_of(least) as i64 - 1 - y.0 as i64);
        let proved = largest.map_or(by_ends, |largest| bits_of(largest) as i64 - result as i64);
        let of = Quotient { dividend: x.0, divisor: y.0, size: by_ends.min(proved) };
        Self::new(bits, y.1, least, &of, result)
    }

    fn new(bits: usize, interval: Interval, least: u128, of: &Quotient, result: usize) -> Result<Self, Refused> {
        let normal = Normal::new(bits, interval, least)?;
        // x v = (x / y) c 2^own.
        let own = (normal.width + of.dividend) as i64 - of.divisor as i64;
        let room = bits as i64 - 3;
        let most = Polynomial::most(bits) as i64;
        let wanted = (result as i64 + of.size + GUARD).max(result as i64 / 2 + 4);
        let scale = wanted.min(most).min(room - 1);
        // As it is if that fits, else moved to the room that is left.
        let left = room - of.size - scale;
        let moved = if own <= left { own } else { left.min(scale) };
        let cut = moved + scale - result as i64;
        if own + of.size > room || scale < 4 || !(1..bits as i64 - 1).contains(&cut) || moved + of.size < 1 {
            return Err(Refused::Room);
        }
        let needed = (result as i64 + of.size + 2).max(4) as f64;
        let (start, factors) = series(needed).ok_or(Refused::Precision)?;
        let scale = scale as usize;
        let mut plan = Self { bits, normal, start, factors, scale, moved: (moved, moved - own), result, error: 0.0 };
        plan.error = plan.bound(of.size);
        if plan.error <= MOST { Ok(plan) } else { Err(Refused::Room) }
    }

    /// The relative error of 1 / c: of the series, and of what is rounded, in units of its last bit. Each factor adds
    /// its rounding, twice that of its square, and what the factor before it had.
    fn relative(&self) -> f64 {
        let doubled = self.start.accuracy * power(self.factors as i64);
        let series = power(-(doubled.floor() as i64));
        // c, the error that the series begins with, and factors.
        let rounded = 2.0 * f64::from(u8::from(self.normal.width > self.scale)) + 3.3 + 3.3 * self.factors as f64;
        series + rounded * power(-(self.scale as i64))
    }

    fn bound(&self, size: i64) -> f64 {
        let (moved, shift) = self.moved;
        let cut = if shift < 0 { 2.1 * power(self.result as i64 - moved) } else { 0.0 };
        1.0 + cut + power(self.result as i64 + size) * self.relative()
    }

    /// The largest error of a result, in units of its last bit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// x / y, or 1 / y where there is no x.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// When the plan is for another ring.
    pub fn run<R: Ring, B: Backend>(
        &self,
        b: &mut B,
        x: Option<&B::Vector<R>>,
        y: &B::Vector<R>,
    ) -> Result<B::Vector<R>> {
        assert_eq!(self.bits, R::BITS as usize, "a plan for this ring");
        b.step("divide", |b| {
            let mover = self.normal.run(b, y, None)?;
            let c = mover.moved(b, y, self.scale as i64 - self.normal.width as i64)?;
            let (scale, shift) = self.moved;
            let moved = match x {
                Some(x) => mover.moved(b, x, shift)?,
                None => shifted(b, &mover.alone(b, y.rows()), shift)?,
            };
            let inverse = self.inverse(b, &c)?;
            product(b, &moved, &inverse, scale as usize + self.scale - self.result)
        })
    }

    /// 1 / c.
    fn inverse<R: Ring, B: Backend>(&self, b: &mut B, c: &B::Vector<R>) -> Result<B::Vector<R>> {
        let p = self.scale;
        let (mut inverse, mut scale) = self.start.run(b, c, p)?;
        let near = product(b, c, &inverse, scale)?;
        let mut error = minus(b, 1 << p, &near);
        for factor in 1..=self.factors {
            let next = plus(b, &error, 1 << p);
            if factor == self.factors {
                return product(b, &inverse, &next, scale);
            }
            if scale == p {
                let mut both = b.multiply_truncate(&[vec![(&inverse, &next)], vec![(&error, &error)]], p)?;
                (error, inverse) = (both.swap_remove(1), both.swap_remove(0));
            } else {
                inverse = product(b, &inverse, &next, scale)?;
                error = product(b, &error, &error, p)?;
                scale = p;
            }
        }
        Ok(inverse)
    }
}

fn least_of(interval: Interval, least: u128) -> u128 {
    let ends = [interval.low, interval.high].map(i128::unsigned_abs);
    let one_sign = interval.low > 0 || interval.high < 0;
    if one_sign { least.max(ends[0].min(ends[1])) } else { least }.max(1)
}

/// The start and the number of factors of the fewest products whose relative error is at most 2^-needed.
fn series(needed: f64) -> Option<(Polynomial, usize)> {
    let of = |start: &Polynomial| {
        let factors = (1..6).find(|&factors| start.accuracy * power(factors as i64) >= needed)?;
        Some((*start, factors))
    };
    STARTS.iter().filter_map(of).min_by_key(|(start, factors)| start.products() + 2 * factors)
}
