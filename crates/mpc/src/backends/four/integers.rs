//! Products of signed representatives over the integers, divided by the scale.
//!
//! A share is read as the integer in [-2^(k-1), 2^(k-1)) that it stands for. A sum P of products is wider than the
//! ring: what is wanted is the integer nearest to P / 2^f, modulo 2^k. It is (P + 2^(f-1)) / 2^f rounded down, and
//! follows from P modulo 2^(k+f). So 128 bits are enough for a ring of at most 64 bits, and 256 bits for one of 128.

use tacit_math::matrix::Element;
use tacit_math::{Ring, lanes};

use crate::Form;

/// Elements that are worth a lane of their own.
const LEAST: usize = 1 << 13;

/// Bits of the digits into which what is below the scale is cut.
const DIGIT: u32 = 32;

/// Most products in a sum: the sum of as many products of a digit and 64 bits fits 128 bits.
const TERMS: usize = 1 << 30;

/// The signed representative.
#[inline(always)]
pub(super) fn signed<R: Ring>(x: R) -> i128 {
    let above = u128::BITS - R::BITS;
    (x.to_u128() << above) as i128 >> above
}

/// x / 2^by of the signed representative, rounded to the nearest integer, for 0 < by < k - 1. Of two that are as near:
/// the one above, or the one below.
#[inline(always)]
pub(super) fn shifted<R: Ring>(x: R, by: u32, up: bool) -> R {
    let (x, half) = (signed(x), 1i128 << (by - 1));
    let below = x & ((half << 1) - 1);
    R::from_u128(((x >> by) + ((below + half - i128::from(!up)) >> by)) as u128)
}

/// An integer modulo 2^256.
#[derive(Clone, Copy)]
struct Wide {
    low: u128,
    high: u128,
}

impl Wide {
    /// The product of two signed integers.
    #[inline(always)]
    fn product(x: i128, y: i128) -> Self {
        let unsigned = Self::unsigned_product(x as u128, y as u128);
        // Of a negative integer the unsigned one is 2^128 too much.
        let [of_x, of_y] = [(x >> 127) as u128 & y as u128, (y >> 127) as u128 & x as u128];
        Self { high: unsigned.high.wrapping_sub(of_x).wrapping_sub(of_y), ..unsigned }
    }

    #[inline(always)]
    fn unsigned_product(x: u128, y: u128) -> Self {
        let [x_low, x_high, y_low, y_high] = [x as u64, (x >> 64) as u64, y as u64, (y >> 64) as u64].map(u128::from);
        let (low, first, second) = (x_low * y_low, x_low * y_high, x_high * y_low);
        let middle = (low >> 64) + u128::from(first as u64) + u128::from(second as u64);
        let high = x_high * y_high + (first >> 64) + (second >> 64) + (middle >> 64);
        Self { low: u128::from(low as u64) | middle << 64, high }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { low, high: self.high.wrapping_add(other.high).wrapping_add(u128::from(carry)) }
    }

    /// A signed integer times 2^by.
    fn raised(x: i128, by: u32) -> Self {
        match by {
            0 => Self { low: x as u128, high: (x >> 127) as u128 },
            1..=127 => Self { low: (x as u128) << by, high: (x >> (128 - by)) as u128 },
            _ => Self { low: 0, high: (x as u128) << (by - 128) },
        }
    }

    /// Divided by 2^by and rounded down, modulo 2^128, for 0 < by < 128.
    #[inline(always)]
    fn shifted(self, by: u32) -> u128 {
        self.low >> by | self.high << (u128::BITS - by)
    }
}

/// The sums of products of factors' elements, each divided by 2^by and rounded to the nearest integer.
///
/// # Panics
/// Unless 0 < by < k, and all factors are of one length.
pub(super) fn scaled_sums<R: Ring>(terms: &[[&[R]; 2]], rows: usize, by: u32) -> Vec<R> {
    assert!((1..R::BITS).contains(&by), "a scale within the ring");
    assert!(terms.iter().flatten().all(|factor| factor.len() == rows), "factors of one length");
    lanes::vector(rows, LEAST, 1, |lane, room| {
        if R::BITS > u64::BITS {
            room.extend(lane.map(|i| {
                let product = |[x, y]: &[&[R]; 2]| Wide::product(signed(x[i]), signed(y[i]));
                let sum = terms.iter().map(product).fold(Wide::raised(1, by - 1), Wide::plus);
                R::from_u128(sum.shifted(by))
            }));
        } else {
            room.extend(lane.map(|i| {
                let product = |[x, y]: &[&[R]; 2]| signed(x[i]).wrapping_mul(signed(y[i]));
                let sum = terms.iter().map(product).fold(1 << (by - 1), i128::wrapping_add);
                R::from_u128((sum >> by) as u128)
            }));
        }
    })
}

/// A bilinear map of two operands over the integers, divided by 2^by and rounded to the nearest integer. All threads
/// compute.
///
/// In a ring of 128 bits x is h 2^by + l with 0 <= l < 2^by. What h gives is needed modulo 2^128 alone. l is cut into
/// digits of 32 bits and y into a signed and an unsigned half: each sum of their products fits 128 bits. So the
/// map's own kernels compute all of it.
pub(super) fn scaled_map<R: Element>(form: &Form, x: &[R], y: &[R], by: u32) -> Vec<R> {
    assert!((1..R::BITS).contains(&by), "a scale within the ring");
    assert!(form.terms() <= TERMS, "a sum of at most {TERMS} products");
    let wide = |x: &[R], part: &(dyn Fn(i128) -> u128 + Sync)| -> Vec<u128> {
        lanes::vector(x.len(), LEAST, 1, |lane, room| room.extend(x[lane].iter().map(|&x| part(signed(x)))))
    };
    let map = |x: &[u128], y: &[u128]| {
        let mut out = vec![0; form.lengths()[2]];
        form.add_to(x, y, &mut out);
        out
    };
    let whole = wide(y, &|y| y as u128);
    if R::BITS <= u64::BITS {
        let sums = map(&wide(x, &|x| x as u128), &whole);
        let nearest = |sum: u128| (sum.wrapping_add(1 << (by - 1)) as i128 >> by) as u128;
        return sums.into_iter().map(|sum| R::from_u128(nearest(sum))).collect();
    }
    let above = map(&wide(x, &|x| (x >> by) as u128), &whole);
    let halves = [wide(y, &|y| u128::from(y as u64)), wide(y, &|y| (y >> 64) as u128)];
    let mut below = vec![Wide::raised(1, by - 1); above.len()];
    for start in (0..by).step_by(DIGIT as usize) {
        let mask = (1u128 << DIGIT.min(by - start)) - 1;
        let digit = wide(x, &|x| (x >> start) as u128 & mask);
        for (half, up) in halves.iter().zip([0, u64::BITS]) {
            let sums = map(&digit, half);
            below.iter_mut().zip(sums).for_each(|(to, sum)| *to = to.plus(Wide::raised(sum as i128, start + up)));
        }
    }
    let whole = |(above, below): (u128, Wide)| R::from_u128(above.wrapping_add(below.shifted(by)));
    above.into_iter().zip(below).map(whole).collect()
}

#[cfg(test)]
mod tests {
    use tacit_math::{Prg, Ring};

    use super::{Wide, scaled_map, scaled_sums, shifted, signed};
    use crate::MatrixProduct;

    /// Long multiplication of magnitudes in words of 32 bits, negated where one factor is negative.
    fn product(x: i128, y: i128) -> [u32; 8] {
        let words = |x: i128| [0, 32, 64, 96].map(|at| u64::from((x.unsigned_abs() >> at) as u32));
        let mut out = [0u32; 8];
        for (i, a) in words(x).into_iter().enumerate() {
            let mut carry = 0;
            for (j, b) in words(y).into_iter().enumerate() {
                let sum = u64::from(out[i + j]) + a * b + carry;
                (out[i + j], carry) = (sum as u32, sum >> 32);
            }
            out[i + 4] = carry as u32;
        }
        if (x < 0) != (y < 0) {
            let mut carry = 1;
            for word in &mut out {
                let sum = u64::from(!*word) + carry;
                (*word, carry) = (sum as u32, sum >> 32);
            }
        }
        out
    }

    fn words(wide: Wide) -> [u32; 8] {
        std::array::from_fn(|at| {
            let half = if at < 4 { wide.low } else { wide.high };
            (half >> (32 * (at % 4))) as u32
        })
    }

    fn extremes() -> Vec<i128> {
        let mut prg = Prg::new(&tacit_views::seed("integers wider than a ring"));
        let mut drawn: Vec<i128> = prg.vector::<u128>(20).into_iter().map(|x| x as i128).collect();
        drawn.extend([0, 1, -1, 2, i128::MAX, i128::MIN, i128::MIN + 1, 1 << 64, -1 << 64, u64::MAX.into()]);
        drawn
    }

    #[test]
    fn products_are_those_of_long_multiplication() {
        for &x in &extremes() {
            for &y in &extremes() {
                assert_eq!(words(Wide::product(x, y)), product(x, y), "{x} * {y}");
            }
        }
    }

    #[test]
    fn divisions_round_down() {
        for &x in &extremes() {
            for by in [1, 5, 16, 63, 64, 65, 100, 126] {
                assert_eq!(Wide::product(x, 1 << 20).shifted(by), {
                    let whole = Wide::raised(x, 20);
                    whole.low >> by | whole.high << (128 - by)
                });
                assert_eq!(Wide::product(x, 1).shifted(by) as i128, x >> by, "{x} / 2^{by}");
            }
        }
    }

    fn random<R: Ring>(count: usize, prg: &mut Prg) -> Vec<R> {
        prg.vector::<u128>(count).into_iter().map(R::from_u128).collect()
    }

    /// A product of matrices against sums of products of elements, for full shares.
    fn compare<R: tacit_math::matrix::Element>(by: u32) {
        let mut prg = Prg::new(&tacit_views::seed("scaled maps"));
        let [rows, inner, columns] = [3, 7, 2];
        let (x, y) = (random::<R>(rows * inner, &mut prg), random::<R>(inner * columns, &mut prg));
        let form = MatrixProduct::new(&(), &(), [rows, inner, columns]).bilinear().form;
        let found = scaled_map(&form, &x, &y, by);
        for row in 0..rows {
            for column in 0..columns {
                let terms: Vec<[Vec<R>; 2]> =
                    (0..inner).map(|term| [vec![x[row * inner + term]], vec![y[term * columns + column]]]).collect();
                let terms: Vec<[&[R]; 2]> = terms.iter().map(|[x, y]| [x.as_slice(), y.as_slice()]).collect();
                assert_eq!(found[row * columns + column], scaled_sums(&terms, 1, by)[0]);
            }
        }
    }

    #[test]
    fn maps_are_sums_of_products() {
        for by in [1, 16, 31, 32, 33, 62] {
            compare::<u64>(by);
            compare::<u128>(by);
        }
        [64, 65, 100, 126].into_iter().for_each(compare::<u128>);
    }

    #[test]
    fn quotients_are_the_nearest_integers() {
        for (x, y, by, nearest) in
            [(5u128, 3, 2, 4), (5, 3, 1, 8), (1, 1, 2, 0), (u128::MAX, 1, 1, 0), (u128::MAX, 3, 1, u128::MAX)]
        {
            assert_eq!(scaled_sums(&[[&[x], &[y]]], 1, by), [nearest], "{x} {y} / 2^{by}");
            assert_eq!(scaled_sums(&[[&[x as u64], &[y as u64]]], 1, by), [nearest as u64]);
        }
        let both = |x: u64, by: u32| [true, false].map(|up| shifted(x, by, up));
        assert_eq!([both(6, 2), both(5, 2), both(7, 2)], [[2, 1], [1, 1], [2, 2]]);
        assert_eq!([both(u64::MAX, 1), both(u64::MAX - 2, 1)], [[0, u64::MAX], [u64::MAX, u64::MAX - 1]]);
        assert_eq!(shifted(u128::MAX >> 1, 126, true), 2, "the largest number");
    }

    #[test]
    fn representatives_are_signed() {
        assert_eq!([signed(u64::MAX), signed(1u64 << 63), signed(5u64)], [-1, -(1 << 63), 5]);
        assert_eq!([signed(u128::MAX), signed(1u128 << 127)], [-1, i128::MIN]);
    }
}
