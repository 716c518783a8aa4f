//! ln y by normalisation, a polynomial and a step by e^x.
//!
//! c = y v is in [1/2, 1], and l a polynomial near ln c. With d = c e^-l - 1, ln c is l + d - d^2 / 2 + ..., of which
//! d^3 / 3 is left out. The place of the leading one is a public combination of the one-hot planes. Each counts ln 2.
//!
//! Source: Aly, Smart, ACNS 2019, section 3 (normalisation and a polynomial). **Departures** a polynomial of low degree
//! and Newton's step by a split product ([`super::Exp`]) in place of one of high degree.
//!
//! Rounds: of the normalisation, 3 for c and for each of the polynomial's products, 4 for e^-l, 6 for the step and 2.

use tacit_math::Ring;
use tacit_mpc::{Backend, Result, linear};

use super::fixed::{minus, plus, product, rounded, times};
use super::interval::power;
use super::normal::Normal;
use super::polynomial::Polynomial;
use super::{Exp, Interval, Refused};

/// Near ln c, with the error that is stated.
const STARTS: [Polynomial; 2] = [
    Polynomial {
        highest: -15,
        few: 4,
        others: &[3_206_690_504_470_288_537, -2_128_024_012_618_224_958],
        accuracy: 8.08,
    },
    Polynomial {
        highest: 7,
        few: 3,
        others: &[-3_356_279_440_660_133_127, 4_867_200_463_021_210_950, -2_519_261_390_279_166_886],
        accuracy: 11.13,
    },
];

/// ln 2, times 2^126.
const LN_2: i128 = 58_966_440_806_378_323_534_486_035_691_038_621_100;

/// Fractional bits of c beside those of the result.
const GUARD: usize = 6;

/// Fractional bits of the places' part beside those of c.
const PLACES: usize = 6;

/// A plan for ln y.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    bits: usize,
    fraction: usize,
    normal: Normal,
    start: Polynomial,
    /// Of -l, and the fractional bits that it gives.
    exp: (Exp, usize),
    /// Fractional bits of c and of ln c.
    scale: usize,
    result: usize,
    error: f64,
}

impl Log {
    /// A plan for numbers of `fraction` fractional bits within an interval above 0, in a ring of `bits` bits. The
    /// result has `result` fractional bits.
    ///
    /// # Errors
    /// [`Refused::Domain`] if y may be 0 or less, [`Refused::Precision`] above 33 bits, [`Refused::Room`] if the ring
    /// has no room.
    pub fn new(bits: usize, fraction: usize, interval: Interval, result: usize) -> Result<Self, Refused> {
        if interval.low <= 0 {
            return Err(Refused::Domain);
        }
        let normal = Normal::new(bits, interval, 1)?;
        let scale = (result + GUARD).min(Polynomial::most(bits));
        if scale < result + 2 || scale + PLACES + 9 > bits {
            return Err(Refused::Room);
        }
        let fits = |start: &&Polynomial| 3.0 * start.accuracy + 1.5 >= result as f64 + 1.0;
        let start = *STARTS.iter().find(fits).ok_or(Refused::Precision)?;
        // -ln c is in [0, ln 2], but for the polynomial's error.
        let near = power(-(start.accuracy as i64)) + 8.0 * power(-(scale as i64));
        let margin = (near / power(-(scale as i64))) as i128;
        let of_c = Interval::new(-margin, rounded(LN_2, 126 - scale as i64) + 1 + margin);
        // As precise as c, or nearly where that does not fit.
        let power_of = |of_power: usize| Some((Exp::new(bits, scale, of_c, of_power).ok()?, of_power));
        let (exp, of_power) = (scale - 2..=scale).rev().find_map(power_of).ok_or(Refused::Room)?;
        // c, e^-l and their product; d^2 / 2; and what is left out.
        let cut = if normal.width > scale { 2.0 } else { 0.0 };
        let own = cut + exp.error() * power((scale - of_power) as i64) + 2.5;
        let missing = 0.4 * near * near * near;
        let places = 0.5 * (bits as f64) * power(-((scale + PLACES) as i64));
        let error = 1.0 + power(result as i64) * (own * power(-(scale as i64)) + missing + places);
        Ok(Self { bits, fraction, normal, start, exp: (exp, of_power), scale, result, error })
    }

    /// The largest error of a result, in units of its last bit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// ln y.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// When the plan is for another ring.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, y: &B::Vector<R>) -> Result<B::Vector<R>> {
        assert_eq!(self.bits, R::BITS as usize, "a plan for this ring");
        let p = self.scale;
        // Places from the lowest one on, so that none is negative.
        let places: Vec<u128> = (0..self.normal.places() as u128).collect();
        b.step("log", |b| {
            let mover = self.normal.run(b, y, Some(&places))?;
            let c = mover.moved(b, y, p as i64 - self.normal.width as i64)?;
            let of_c = self.of_moved(b, &c)?;
            let place = mover.value.as_ref().expect("a table was given");
            let unit = rounded(LN_2, 126 - (p + PLACES) as i64);
            let lowest = self.normal.lowest as i128 + 1 - self.fraction as i128;
            let whole = plus(b, &times::<R, B>(place, unit), unit * lowest);
            let sum = linear::add(&whole, &linear::scale(&of_c, R::ONE.shl(PLACES as u32)));
            Ok(b.truncate(&[&sum], p + PLACES - self.result)?.swap_remove(0))
        })
    }

    /// ln c.
    fn of_moved<R: Ring, B: Backend>(&self, b: &mut B, c: &B::Vector<R>) -> Result<B::Vector<R>> {
        let p = self.scale;
        let (near, _) = self.start.run(b, c, p)?;
        let (exp, of_power) = self.exp;
        let power = exp.run(b, &minus(b, 0, &near))?;
        let near_one = product(b, c, &power, of_power)?;
        let rest = plus(b, &near_one, -(1 << p));
        let half_square = product(b, &rest, &rest, p + 1)?;
        Ok(linear::add(&near, &linear::sub(&rest, &half_square)))
    }
}
