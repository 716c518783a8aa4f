//! Integer constants of any width.

use super::kind::Kind;

/// The two's complement of a decimal number: `kind.width` bits, least significant first.
///
/// # Errors
/// When the text is not a number, or is outside its kind.
pub(super) fn integer(digits: &str, kind: Kind) -> Result<Vec<bool>, String> {
    let outside = || format!("the constant {digits} is outside its kind");
    let (negative, magnitude) = digits.strip_prefix('-').map_or((false, digits), |rest| (true, rest));
    if magnitude.is_empty() || !magnitude.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!("{digits:?} is not an integer constant"));
    }
    let mut limbs = vec![0u64; kind.width / 64 + 2];
    for digit in magnitude.bytes() {
        let mut carry = u128::from(digit - b'0');
        for limb in &mut limbs {
            let product = u128::from(*limb) * 10 + carry;
            (*limb, carry) = (product as u64, product >> 64);
        }
        if carry > 0 || limbs[limbs.len() - 1] > 0 {
            return Err(outside());
        }
    }
    if negative {
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(carry.into());
        }
    }
    let bits: Vec<bool> = (0..64 * limbs.len()).map(|j| limbs[j / 64] >> (j % 64) & 1 == 1).collect();
    let sign = if kind.signed { bits[kind.width - 1] } else { false };
    if bits[kind.width..].iter().all(|&bit| bit == sign) { Ok(bits[..kind.width].to_vec()) } else { Err(outside()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::Repr;

    fn bits(digits: &str, width: usize, signed: bool) -> Option<Vec<bool>> {
        integer(digits, Kind { repr: Repr::Bits, width, signed, nullable: false }).ok()
    }

    #[test]
    fn constants_of_any_width() {
        for width in 1..70 {
            for signed in [false, true] {
                for value in
                    [i128::MIN, -(1 << 66), -129, -128, -2, -1, 0, 1, 127, 128, 1 << 63, (1 << 64) - 1, i128::MAX]
                {
                    let kind = Kind { repr: Repr::Bits, width, signed, nullable: false };
                    let expected = (kind.low()..=kind.high()).contains(&value);
                    let expected = expected.then(|| (0..width).map(|j| value >> j & 1 == 1).collect::<Vec<_>>());
                    assert_eq!(bits(&value.to_string(), width, signed), expected, "{value} in {width} bits, {signed}");
                }
            }
        }
        let all_ones = bits("1606938044258990275541962092341162602522202993782792835301375", 200, false);
        assert_eq!(all_ones, Some(vec![true; 200]), "2^200 - 1");
        assert_eq!(bits("1606938044258990275541962092341162602522202993782792835301376", 200, false), None, "2^200");
        for wrong in ["", "-", "+1", "1_0", "1.5", "x"] {
            assert_eq!(bits(wrong, 64, true), None, "{wrong:?}");
        }
    }
}
