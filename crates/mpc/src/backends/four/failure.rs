//! The probability that the published forms give a wrong result.
//!
//! S1 and S2 re-randomise x: x1' is uniform among the k-bit signed integers. x2' is x - x1' modulo 2^k, read as one.
//!
//! **Claim** (the paper's theorems 1 and 2, whose formulas the text at hand has lost) x1' + x2' = x over the
//! integers but with probability at most (|x| + 1) / 2^k.
//!
//! **Proof** Both sides are equal modulo 2^k, and they are the
//! same integer exactly if x - x1' is a k-bit signed integer, as it then is x2'. Let x >= 0. x - x1' is above -2^(k-1).
//! It is 2^(k-1) or more for the x + 1 values of x1' from -2^(k-1) to x - 2^(k-1). Let x < 0. x - x1' is below 2^(k-1).
//! It is less than -2^(k-1) for the |x| - 1 values of x1' above x + 2^(k-1). All 2^k values of x1' are equally likely.
//!
//! A product is right if neither factor wraps, a truncation if its number does not, a comparison if the difference does
//! not. So a program fails with at most the sum over all elements that are re-randomised, by the union bound.
//!
//! Products without a scale and everything made of them are modulo 2^k, and never fail.

/// 2^-40: the largest probability of failure of a whole program. What may fail more often is refused.
pub const MOST: f64 = 1.0 / (1u64 << 40) as f64;

/// Bits that a ring has to have beyond a number for the garbled comparison. Wider ones are compared gate by gate, which
/// cannot fail.
const BEYOND: u32 = 64;

/// Whether numbers of `width` bits in a ring of `bits` bits are compared by the assistants.
pub(super) fn compares(width: usize, bits: u32) -> bool {
    width as u32 + BEYOND <= bits
}

/// The probability that one of as many numbers wraps, each of which is at most `most` from zero.
pub fn of_numbers(numbers: usize, most: u128, bits: u32) -> f64 {
    numbers as f64 * (most as f64 + 1.0) / 2f64.powi(bits as i32)
}

#[cfg(test)]
mod tests {
    use super::{MOST, of_numbers};

    /// Every x1' of a small ring: exactly as many wrap as the proof says.
    #[test]
    fn as_many_shares_wrap_as_the_proof_says() {
        const BITS: u32 = 8;
        let half = 1i32 << (BITS - 1);
        let signed = |x: i32| (x + half).rem_euclid(2 * half) - half;
        for x in 1 - half / 2..half / 2 {
            let wraps = (-half..half).filter(|&first| first + signed(x - first) != x).count() as i32;
            assert_eq!(wraps, if x >= 0 { x + 1 } else { -x - 1 }, "of {x}");
            let bound = of_numbers(1, x.unsigned_abs().into(), BITS);
            assert!(f64::from(wraps) / f64::from(2 * half) <= bound);
        }
    }

    #[test]
    fn the_ring_of_128_bits_is_needed() {
        let program = |log: u32, value: u32, bits: u32| of_numbers(3 << log, 1 << value, bits);
        assert!(program(20, 31, 64) > MOST, "a million uses of 32-bit values");
        assert!(program(36, 47, 128) < MOST, "2^36 uses of 48-bit values");
    }
}
