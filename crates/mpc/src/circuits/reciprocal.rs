//! Division by a public number: a product with its reciprocal, of which the low bits are dropped. Exact.
//!
//! For x from `low` to `high`, floor(x / d) is floor((x m + c) / 2^s) with m = ceil(2^s / d), e = m d - 2^s and c =
//! ceil(-low e / d), if (high - low) e + d - 1 < 2^s. For x = q d + r with 0 <= r < d,
//!
//! > (x m + c) / 2^s = q + r / d + (x e / d + c) / 2^s.
//!
//! The last term is at least 0 by the choice of c. It is less than 1 / d, as x e + c d <= (high - low) e + d - 1. So r / d and
//! it are less than 1 together.
//!
//! **Sources** Granlund, Montgomery, "Division by Invariant Integers using Multiplication" (PLDI 1994); with a summand:
//! Robison, "N-Bit Unsigned Division Via N-Bit Multiply-Add" (ARITH 2005). Product and sum are local in a ring; the
//! conversion to planes is all that is sent.

use tacit_math::Ring;

use super::{Planes, to_planes};
use crate::{Backend, Linear, Result, linear};

/// How numbers within bounds are divided by a public number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reciprocal {
    factor: i128,
    summand: i128,
    shift: usize,
    /// Bits of products, with their sign.
    width: usize,
}

impl Reciprocal {
    /// For numbers from `low` to `high`, by `by`; None if products take more than 128 bits.
    ///
    /// # Panics
    /// Unless by is positive and low at most high.
    pub fn new(low: i128, high: i128, by: i128) -> Option<Self> {
        assert!(by > 0 && low <= high, "a positive divisor of some numbers");
        (0..126).find_map(|shift| Self::of_shift(low.min(0), high.max(0), by, shift))
    }

    fn of_shift(low: i128, high: i128, by: i128, shift: usize) -> Option<Self> {
        let power = 1i128 << shift;
        let factor = power / by + i128::from(power % by > 0);
        let excess = factor.checked_mul(by)? - power;
        if high.checked_sub(low)?.checked_mul(excess)?.checked_add(by - 1)? >= power {
            return None;
        }
        let summand = low.checked_neg()?.checked_mul(excess)?.checked_add(by - 1)? / by;
        let least = low.checked_mul(factor)?.checked_add(summand)?;
        let most = high.checked_mul(factor)?.checked_add(summand)?;
        let bits = |number: i128| 128 - (if number < 0 { !number } else { number }).leading_zeros() as usize;
        let width = (bits(least).max(bits(most)) + 1).max(shift + 1);
        (width <= 128).then_some(Self { factor, summand, shift, width })
    }

    /// Bits that a ring needs.
    pub fn width(&self) -> usize {
        self.width
    }

    /// floor(x / by), in two's complement. An adder of `width` bits.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// If the ring is too narrow.
    pub fn floor<R: Ring, B: Backend>(&self, b: &mut B, x: &B::Vector<R>) -> Result<Planes<B>> {
        assert!(self.width <= R::BITS as usize, "products fit the ring");
        let summand = b.public_vector(x.rows(), || vec![R::from_u128(self.summand as u128); x.rows()]);
        let product = linear::add(&linear::scale(x, R::from_u128(self.factor as u128)), &summand);
        let mut planes = to_planes(b, &product, self.width)?;
        Ok(planes.split_off(self.shift))
    }
}

#[cfg(test)]
mod tests {
    use super::Reciprocal;

    impl Reciprocal {
        fn of(&self, x: i128) -> i128 {
            (x * self.factor + self.summand) >> self.shift
        }
    }

    #[test]
    fn quotients_of_few_bits_are_exact() {
        for (low, high) in [(0, 255), (-128, 127), (-100, -7), (5, 9), (-1, 0), (0, 0)] {
            for by in 1..=300 {
                let found = Reciprocal::new(low, high, by).expect("few bits");
                assert!((low..=high).all(|x| found.of(x) == x.div_euclid(by)), "{low} to {high} by {by}");
                let products = [low, high].map(|x| x * found.factor + found.summand);
                let fits = |x: &i128| (-(1 << (found.width - 1))..1 << (found.width - 1)).contains(x);
                assert!(products.iter().all(fits), "{low} to {high} by {by}");
            }
        }
    }

    #[test]
    fn quotients_of_many_bits_are_exact_at_the_ends_of_multiples() {
        for bits in [31, 40, 59, 61] {
            for by in [3, 7, 10, 86_400_000_000, 10i128.pow(15), (1 << 31) - 1, 1 << 20] {
                let (low, high) = (-(1i128 << bits), (1i128 << bits) - 1);
                let found = Reciprocal::new(low, high, by).expect("enough bits");
                for x in [low, -1, 0, 1, high, high / 3].map(|x: i128| x.div_euclid(by) * by) {
                    for x in [x - 1, x, x + 1, x + by - 1].into_iter().filter(|x| (low..=high).contains(x)) {
                        assert_eq!(found.of(x), x.div_euclid(by), "{x} by {by}");
                    }
                }
            }
        }
        assert_eq!(Reciprocal::new(-(1 << 70), 1 << 70, 10), None);
        assert_eq!(Reciprocal::new(i128::MIN, i128::MAX, 10), None);
    }

    #[test]
    fn a_day_and_a_power_of_two_take_few_bits() {
        assert_eq!(Reciprocal::new(0, 1 << 22, 146_097).map(|found| found.width() <= 64), Some(true));
        let halves = Reciprocal::new(-8, 7, 4).expect("few bits");
        assert_eq!((halves.factor, halves.summand, halves.shift, halves.width), (1, 0, 2, 4));
    }
}
