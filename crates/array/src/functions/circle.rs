//! sin x and cos x of any x, by a split product of two words.
//!
//! Each summand of x is taken times a public factor, which is about 2^k / (2 pi 2^f): then a turn is 2^k, and the ring
//! reduces the angle. sin(s + t) = sin s cos t + cos s sin t, and cos likewise. Sines and cosines are from integer
//! tables.
//!
//! Source: Zheng, Zhang et al., SecFormer, ACL 2024, for sines of a masked angle with a dealer. **Departures** the mask
//! is a share that nodes have, so there is no dealer and nothing is opened: docs/protocols/functions.md.
//!
//! Rounds: 4. Bytes in all, for k = 64 and at most 32 bits that are cut off: 52.

use tacit_math::Ring;
use tacit_mpc::{Backend, Result, Split};

use super::interval::power;
use super::tables::{self, Circles, FRACTION};
use super::{Interval, Refused};

/// 1 / (2 pi), times 2^129.
const INVERSE: u128 = 108_315_241_484_954_818_046_902_227_470_560_947_936;

/// Which function of an angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Angle {
    /// sin x.
    Sine,
    /// cos x.
    Cosine,
}

/// A plan for sin x or cos x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    bits: usize,
    fraction: usize,
    result: usize,
    /// Fractional bits of each factor.
    scale: u32,
    which: Angle,
    error: f64,
}

/// Fractional bits of factors whose product is cut to `result` bits by at most 32, if then each has `guard` bits more
/// than the result. None if the product does not fit.
pub(super) fn scale_of(bits: usize, result: usize, guard: usize) -> Option<u32> {
    let most = ((bits - 4) / 2).min(FRACTION as usize - 4);
    let wanted = ((32 + result) / 2).max(result + guard);
    (result + 2 <= most).then_some(wanted.min(most) as u32)
}

impl Circle {
    /// A plan for numbers of `fraction` fractional bits within an interval, in a ring of `bits` bits. The result has
    /// `result` fractional bits.
    ///
    /// # Errors
    /// [`Refused::Room`] if products do not fit, [`Refused::Precision`] if the factor's rounding alone moves the
    /// largest angle by more than a unit of the result.
    pub fn new(bits: usize, fraction: usize, interval: Interval, result: usize, which: Angle) -> Result<Self, Refused> {
        interval.check(bits)?;
        let scale = scale_of(bits, result, 5).filter(|_| (2..=bits - 2).contains(&fraction)).ok_or(Refused::Room)?;
        // Half a unit of the factor is pi / 2^k of angle.
        let angle = interval.size() as f64 * 3.15 * power(result as i64 - bits as i64);
        let words = 1.5 * power(result as i64 - i64::from(scale));
        let error = 1.0 + angle + words + 4.0 * power(result as i64 + tables::ERROR);
        if angle > 1.0 {
            return Err(Refused::Precision);
        }
        Ok(Self { bits, fraction, result, scale, which, error })
    }

    /// The largest error of a result, in units of its last bit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// sin x or cos x.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// When the plan is for another ring.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, x: &B::Vector<R>) -> Result<B::Vector<R>> {
        assert_eq!(self.bits, R::BITS as usize, "a plan for this ring");
        b.step("sin", |b| {
            let value = b.split_product(&[x], &self.turned())?;
            Ok(b.truncate(&[&value[0]], 2 * self.scale as usize - self.result)?.swap_remove(0))
        })
    }

    fn turned<R: Ring>(&self) -> Turned<R> {
        let down = 129 - (R::BITS - self.fraction as u32);
        let factor = R::from_u128((INVERSE + (1 << (down - 1))) >> down);
        Turned { factor, scale: self.scale, which: self.which, circles: tables::circles() }
    }
}

/// Sines and cosines of both summands' angles.
struct Turned<R> {
    factor: R,
    scale: u32,
    which: Angle,
    circles: &'static Circles,
}

/// The part of a turn that a number is of the ring, times 2^64.
#[inline(always)]
pub(super) fn part<R: Ring>(x: R) -> u64 {
    x.shr(R::BITS - u64::BITS).to_u128() as u64
}

/// To the nearest word of `scale` fractional bits, from 62.
#[inline(always)]
pub(super) fn word<R: Ring>(value: i64, scale: u32) -> R {
    let down = FRACTION - scale;
    R::from_u128(((value + (1 << (down - 1))) >> down) as i128 as u128)
}

impl<R: Ring> Split<R> for Turned<R> {
    fn products(&self) -> usize {
        2
    }

    #[inline(always)]
    fn first(&self, s: &[R], u: &mut [R]) {
        let (before, after) = u.split_at_mut(s.len());
        for ((&s, before), after) in s.iter().zip(before).zip(after) {
            let [cosine, sine] = self.circles.of(part(s.mul(self.factor)));
            let [first, second] = match self.which {
                Angle::Sine => [sine, cosine],
                Angle::Cosine => [cosine, -sine],
            };
            (*before, *after) = (word(first, self.scale), word(second, self.scale));
        }
    }

    #[inline(always)]
    fn second(&self, t: &[R], w: &mut [R], _: &mut [R]) {
        let (before, after) = w.split_at_mut(t.len());
        for ((&t, before), after) in t.iter().zip(before).zip(after) {
            let [cosine, sine] = self.circles.of(part(t.mul(self.factor)));
            (*before, *after) = (word(cosine, self.scale), word(sine, self.scale));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixed::hash_of_words;
    use super::{Angle, Circle, Interval};

    /// Nodes on different machines compute equal words.
    #[test]
    fn words_are_the_known_ones() {
        let plan = |bits, which| Circle::new(bits, 16, Interval::new(-1 << 30, 1 << 30), 16, which).expect("a plan");
        let found = [
            hash_of_words(&plan(64, Angle::Sine).turned::<u64>()),
            hash_of_words(&plan(64, Angle::Cosine).turned::<u64>()),
            hash_of_words(&plan(128, Angle::Cosine).turned::<u128>()),
        ];
        assert_eq!(found, [15_398_429_016_841_411_974, 13_606_444_786_361_865_954, 5_513_996_268_253_106_627]);
    }
}
