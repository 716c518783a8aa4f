//! Multiples of one public point by many secret scalars, eight at a time: additions alone, from a table of the point's
//! multiples.
//!
//! The table has, for each of 51 digits of five bits, the multiples 1 to 16 in affine coordinates. A limb of all
//! sixteen fills two registers, so one permutation of registers looks up the limbs of eight digits: they steer neither
//! a branch nor an address.

use core::arch::x86_64::*;

use zeroize::Zeroizing;

use super::field::{self, Mask};
use super::point::{self, Affine, Point};
use super::{Encoding, LANES};

/// Bits of a digit.
const WIDTH: usize = 5;

/// Digits of a scalar below 2^253.
const DIGITS: usize = 51;

/// The lanes whose number, counted from one, has the bit of value 1, 2, 4 and 8.
const BITS_OF_LANES: [Mask; 4] = [0b0101_0101, 0b0110_0110, 0b0111_1000, 0b1000_0000];

/// The table of a point.
pub struct Comb(Vec<[Affine; 2]>);

impl Comb {
    /// The table of the point of an encoding; None if it is none or the identity.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn of(encoding: &Encoding) -> Option<Self> {
        let (valid, mut power) = point::decode([encoding; LANES]);
        if valid != Mask::MAX {
            return None;
        }
        let mut multiples = Vec::with_capacity(2 * DIGITS);
        for _ in 0..DIGITS {
            let (mut low, mut eight, mut multiple) = (point::identity(), power, power);
            for lanes in BITS_OF_LANES {
                low = point::select_points(lanes, &point::sum(&low, &multiple), &low);
                eight = multiple;
                multiple = point::twice(&multiple);
            }
            multiples.extend([low, point::sum(&low, &eight)]);
            power = point::twice(&multiple);
        }
        Some(Self(point::affine(&multiples).as_chunks::<2>().0.to_vec()))
    }

    /// p + scalar times the table's point, lane by lane, for scalars below 2^253.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn add_multiple(&self, p: &Point, scalars: [&[u8; 32]; LANES]) -> Point {
        let digits = Zeroizing::new(scalars.map(digits));
        let mut out = *p;
        for (place, entry) in self.0.iter().enumerate() {
            let d = core::array::from_fn(|lane| digits[lane][place]);
            out = point::plus_affine(&out, &look_up(entry, d));
        }
        out
    }
}

/// Each lane's digit of -16..=16 times the entry's point.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn look_up([low, high]: &[Affine; 2], d: [i8; LANES]) -> Affine {
    let d = d.map(i64::from);
    let digits = _mm512_setr_epi64(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
    let index = _mm512_sub_epi64(_mm512_abs_epi64(digits), _mm512_set1_epi64(1));
    let nothing = _mm512_testn_epi64_mask(digits, digits);
    let mut found = point::affine_identity();
    for ((out, low), high) in found.0.iter_mut().zip(&low.0).zip(&high.0) {
        *out = field::select(nothing, out, &field::look_up(low, high, index));
    }
    found.negate_where(_mm512_movepi64_mask(digits))
}

/// A scalar below 2^253, little-endian, as digits of -16..=16 to base 32.
fn digits(scalar: &[u8; 32]) -> [i8; DIGITS] {
    let mut carry = 0;
    core::array::from_fn(|place| {
        let (byte, bit) = (place * WIDTH / 8, place * WIDTH % 8);
        let bits = u16::from(scalar[byte]) | u16::from(*scalar.get(byte + 1).unwrap_or(&0)) << 8;
        let digit = (bits >> bit & 31) as i8 + carry;
        carry = (digit + 16) >> 5;
        digit - (carry << 5)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_to_the_scalar() {
        for scalar in [[0; 32], [0xff; 32], [0x80; 32], core::array::from_fn(|i| (37 * i + 11) as u8)] {
            let scalar: [u8; 32] = core::array::from_fn(|i| if i == 31 { scalar[31] & 0x1f } else { scalar[i] });
            let digits = digits(&scalar);
            assert!(digits.iter().all(|digit| (-16..=16).contains(digit)));
            // Horner's rule over a number of 40 bytes that wraps around.
            let mut sum = [0u64; 5];
            for &digit in digits.iter().rev() {
                let mut carry = i128::from(digit);
                for word in &mut sum {
                    carry += i128::from(*word) << 5;
                    *word = carry as u64;
                    carry >>= 64;
                }
            }
            let bytes: Vec<u8> = sum.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!((&bytes[..32], &bytes[32..]), (&scalar[..], &[0; 8][..]));
        }
    }
}
