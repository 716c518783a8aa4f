//! What is proved of numbers, and why a function of them is refused.

/// Integers between two ends, which both belong to it. Of fixed-point numbers with f fractional bits: v 2^f.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub low: i128,
    /// The largest.
    pub high: i128,
}

/// Why there is no plan. Whoever compiles a program asks before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The function has no value somewhere in the interval.
    #[error("the interval has numbers that the function is not defined for: give tighter bounds")]
    Domain,
    /// Products do not fit the ring.
    #[error(
        "products of this precision and size do not fit the ring: give tighter bounds, fewer bits or a larger ring"
    )]
    Room,
    /// No table or series has the precision.
    #[error("no table is as precise as this many fractional bits ask for: give fewer of them")]
    Precision,
}

impl Interval {
    /// The interval between two integers.
    ///
    /// # Panics
    /// When the first is larger.
    pub fn new(low: i128, high: i128) -> Self {
        assert!(low <= high, "an interval has at least one number");
        Self { low, high }
    }

    /// The largest size of its numbers.
    pub fn size(self) -> u128 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }

    /// Refuses numbers that leave no two bits of a ring.
    pub(super) fn check(self, bits: usize) -> Result<(), Refused> {
        if self.size() < 1 << (bits - 2) { Ok(()) } else { Err(Refused::Room) }
    }
}

/// Bits of a number: the place of its highest one, from 1 on.
pub(super) fn bits_of(number: u128) -> usize {
    (u128::BITS - number.leading_zeros()) as usize
}

/// 2^exponent, exactly. Errors are computed with it alone: on every machine they are the same.
pub(super) fn power(exponent: i64) -> f64 {
    let exponent = exponent.clamp(-1022, 1023);
    f64::from_bits(((1023 + exponent) as u64) << 52)
}
