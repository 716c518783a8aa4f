//! sqrt y and 1 / sqrt y by normalisation, a polynomial and a step of third order.
//!
//! c = y v is in [1/2, 1], and r a polynomial near 1 / sqrt c. Let h = c r and e = 1 - h r. Then 1 / sqrt c is about
//! r (1 + e / 2 + 3 e^2 / 8), and sqrt c is the same with h in place of r. What is left out is 5 e^3 / 16. That is
//! multiplied by a power of sqrt 2, which a table has for each place of the leading one.
//!
//! Source: Aly, Smart, ACNS 2019, section 3 (normalisation, a polynomial, Goldschmidt's steps). **Departures** one step
//! of third order in place of several; the power of sqrt 2 is looked up in the one-hot planes and costs its return.
//!
//! Rounds: of the normalisation, 3 for c, for each of the polynomial's products, 12 for the step, 3 for the result.

use tacit_math::Ring;
use tacit_mpc::{Backend, Result, linear};

use super::fixed::{element, minus, plus, product, rounded};
use super::interval::power;
use super::normal::Normal;
use super::polynomial::Polynomial;
use super::{Interval, Refused};

/// Near 1 / sqrt c, with the relative error that is stated.
const STARTS: [Polynomial; 3] = [
    Polynomial { highest: -13, few: 4, others: &[2_063_652_516_484_605_468], accuracy: 5.46 },
    Polynomial {
        highest: 13,
        few: 4,
        others: &[-2_345_528_655_580_250_892, 2_563_416_157_428_743_455],
        accuracy: 8.17,
    },
    Polynomial {
        highest: -15,
        few: 4,
        others: &[3_400_686_029_905_709_185, -4_163_512_818_101_231_461, 2_996_343_697_572_392_752],
        accuracy: 10.94,
    },
];

/// sqrt 2, times 2^126.
const ROOT_2: i128 = 120_307_984_584_002_255_772_516_886_238_812_528_464;

/// Fractional bits of c beside those of the largest result.
const GUARD: i64 = 5;

/// Fractional bits of the table beside those of the result.
const OF_TABLE: i64 = 4;

/// A plan for sqrt y or 1 / sqrt y.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    bits: usize,
    normal: Normal,
    inverse: bool,
    start: Polynomial,
    /// Fractional bits of c and of roots.
    scale: usize,
    /// Fractional bits of the table, and its values.
    table: (usize, Vec<u128>),
    result: usize,
    error: f64,
}

impl Root {
    /// A plan for sqrt y, of numbers of `fraction` fractional bits within an interval that begins at 0 or above. The
    /// result has `result` fractional bits.
    ///
    /// # Errors
    /// [`Refused::Domain`] if y may be negative or is zero, [`Refused::Room`] if the ring has no room.
    pub fn of(bits: usize, fraction: usize, interval: Interval, result: usize) -> Result<Self, Refused> {
        Self::new(bits, Normal::with_zero(bits, interval)?, fraction, result, false)
    }

    /// The same for 1 / sqrt y, where y is above 0.
    ///
    /// # Errors
    /// As [`Root::of`].
    pub fn inverse(bits: usize, fraction: usize, interval: Interval, result: usize) -> Result<Self, Refused> {
        if interval.low <= 0 {
            return Err(Refused::Domain);
        }
        Self::new(bits, Normal::new(bits, interval, 1)?, fraction, result, true)
    }

    fn new(bits: usize, normal: Normal, fraction: usize, result: usize, inverse: bool) -> Result<Self, Refused> {
        // y = c 2^(place + 1 - fraction), of which the root takes half.
        let half = |place: usize| {
            let twice = place as i64 + 1 - fraction as i64;
            if inverse { -twice } else { twice }
        };
        let ends = [half(normal.lowest), half(normal.width - 1)];
        let largest = (ends[0].max(ends[1]) + 1).div_euclid(2);
        let (wanted, room) = (result as i64, bits as i64 - 4);
        // The root of c is at most sqrt 2, so the product is below 2^(scale + table + largest + 1).
        let table = wanted + OF_TABLE;
        let scale = (wanted + largest + GUARD).max(8).min(Polynomial::most(bits) as i64).min(room - table - largest);
        if scale < 8 || scale < wanted + largest || table + largest > 62 {
            return Err(Refused::Room);
        }
        let needed = (wanted + largest + 2).max(4) as f64;
        // (1 - e)^(-1/2) without its first three terms: 5 e^3 / 16, where e is twice the relative error.
        let fits = |start: &&Polynomial| 3.0 * start.accuracy - 1.4 >= needed;
        let start = *STARTS.iter().find(fits).ok_or(Refused::Precision)?;
        let value = |place: usize| {
            let twice = half(place);
            let root = if twice.rem_euclid(2) == 1 { ROOT_2 } else { 1 << 126 };
            rounded(root, 126 - table - twice.div_euclid(2)) as u128
        };
        let values = (normal.lowest..normal.width).map(value).collect();
        let rounding =
            power(wanted - table) + power(wanted + largest) * (9.0 * power(-scale) + power(-(needed as i64)));
        let table = (table as usize, values);
        Ok(Self { bits, normal, inverse, start, scale: scale as usize, table, result, error: 1.0 + rounding })
    }

    /// The largest error of a result, in units of its last bit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The root of y, or what is inverse to it.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// When the plan is for another ring.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, y: &B::Vector<R>) -> Result<B::Vector<R>> {
        assert_eq!(self.bits, R::BITS as usize, "a plan for this ring");
        let (p, (fraction, values)) = (self.scale, &self.table);
        b.step("root", |b| {
            let mover = self.normal.run(b, y, Some(values))?;
            let c = mover.moved(b, y, p as i64 - self.normal.width as i64)?;
            let root = self.of_moved(b, &c)?;
            let power = mover.value.as_ref().expect("a table was given");
            product(b, &root, power, p + fraction - self.result)
        })
    }

    /// sqrt c or 1 / sqrt c.
    fn of_moved<R: Ring, B: Backend>(&self, b: &mut B, c: &B::Vector<R>) -> Result<B::Vector<R>> {
        let p = self.scale;
        let (start, scale) = self.start.run(b, c, p)?;
        let near = product(b, c, &start, scale)?;
        let near_one = product(b, &near, &start, scale)?;
        let error = minus(b, 1 << p, &near_one);
        // 1 + e / 2 + 3 e^2 / 8 = 1 + e (4 + 3 e) / 8.
        let inner = plus(b, &linear::scale(&error, element(3)), 4 << p);
        let terms = product(b, &error, &inner, p + 3)?;
        let more = plus(b, &terms, 1 << p);
        if self.inverse { product(b, &start, &more, scale) } else { product(b, &near, &more, p) }
    }
}
