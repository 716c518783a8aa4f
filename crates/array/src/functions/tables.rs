//! 2^x and e^(2 pi i x) of public or of known numbers, by integers alone: equal on every machine.
//!
//! Two nodes that know a summand must compute equal words of it. A floating-point library may round otherwise on
//! another machine, and one word that differs destroys the result. So tables come from Taylor's series in integers of
//! 120 fractional bits, rounded to 62, and a test holds them against known answers.
//!
//! A place in a table depends on a share, which whoever reads it knows. Nothing branches on it.

use std::sync::LazyLock;

/// Fractional bits of what the tables give.
pub const FRACTION: u32 = 62;

/// Largest relative error of [`Powers::of`] and error of [`Circles::of`], as a power of two.
pub const ERROR: i64 = -59;

/// Fractional bits of the series.
const LONG: u32 = 120;

/// ln 2, times 2^120.
const LN_2: i128 = 921_350_637_599_661_305_226_344_307_672_478_455;

/// 2 pi, times 2^120.
const TAU: i128 = 8_351_785_813_007_552_717_653_752_915_327_115_495;

/// ln 2, times 2^64.
const LN_2_SHORT: u64 = 12_786_308_645_202_655_660;

/// 2 pi, times 2^61.
const TAU_SHORT: u64 = 14_488_038_916_154_245_685;

/// x y of numbers with 120 fractional bits, rounded towards zero; both are below 2^126.
fn times(x: i128, y: i128) -> i128 {
    let parts = |v: i128| [v.unsigned_abs() >> 64, v.unsigned_abs() & u128::from(u64::MAX)];
    let ([a, b], [c, d]) = (parts(x), parts(y));
    let size = ((a * c) << (128 - LONG)) + ((a * d + b * c + ((b * d) >> 64)) >> (LONG - 64));
    if (x < 0) == (y < 0) { size as i128 } else { -(size as i128) }
}

/// To 62 fractional bits.
fn shortened(x: i128) -> i64 {
    ((x + (1 << (LONG - FRACTION - 1))) >> (LONG - FRACTION)) as i64
}

/// The terms x^n / n!, of even and of odd n: cosh x and sinh x, or with changing signs cos x and sin x.
fn series(x: i128, sign: i128) -> [i128; 2] {
    let (mut term, mut sums) = (1 << LONG, [0, 0]);
    for n in 0..80 {
        let turned = if n % 4 >= 2 { sign } else { 1 };
        sums[n % 2] += turned * term;
        term = times(term, x) / (n as i128 + 1);
    }
    sums
}

/// 2^(i / 256) and 2^(i / 65536).
pub struct Powers([[u64; 256]; 2]);

/// The points at i / 256 and i / 65536 of a turn: cosine and sine.
pub struct Circles([[[i64; 2]; 256]; 2]);

/// The tables of powers.
pub fn powers() -> &'static Powers {
    static TABLES: LazyLock<Powers> = LazyLock::new(|| {
        let entry = |i: usize, parts: i128| {
            let [even, odd] = series(LN_2 / parts * i as i128, 1);
            shortened(even + odd) as u64
        };
        Powers([256, 65_536].map(|parts| std::array::from_fn(|i| entry(i, parts))))
    });
    &TABLES
}

/// The tables of points.
pub fn circles() -> &'static Circles {
    static TABLES: LazyLock<Circles> = LazyLock::new(|| {
        // Within a quarter of a turn, and quarters exactly.
        let entry = |place: usize| {
            let point = series(TAU / 65_536 * (place % 16_384) as i128, -1).map(shortened);
            (0..place / 16_384).fold(point, |[c, s], _| [-s, c])
        };
        Circles([256, 1].map(|step| std::array::from_fn(|i| entry(i * step))))
    });
    &TABLES
}

#[inline(always)]
fn high(x: u64, y: u64, shift: u32) -> u64 {
    ((u128::from(x) * u128::from(y)) >> shift) as u64
}

#[inline(always)]
fn product(x: i64, y: i64) -> i64 {
    ((i128::from(x) * i128::from(y)) >> FRACTION) as i64
}

/// x as high 2^32 + low with two factors of 32 bits with a sign, for |x| < 2^63 - 2^31.
#[inline(always)]
fn halves(x: i64) -> [i64; 2] {
    [(x + (1 << 31)) >> 32, i64::from(x as i32)]
}

/// The product of two numbers of at most 62 bits and a sign as high 2^64 + middle 2^32, rounded down to it. All
/// products are of 32 bits with a sign: vector units have these, but none of 64 bits.
#[inline(always)]
pub fn wide_product(x: i64, y: i64) -> [i64; 2] {
    let ([high, low], [above, below]) = (halves(x), halves(y));
    [high * above, high * below + low * above + ((low * below) >> 32)]
}

/// The product of two points of the circle, for loops of vector units: the same as [`Circles::of`] takes.
#[inline(always)]
pub fn turned([c, s]: [i64; 2], [d, t]: [i64; 2]) -> [i64; 2] {
    let product = |x, y| {
        let [high, middle] = wide_product(x, y);
        (high << (64 - FRACTION)) + (middle >> (FRACTION - 32))
    };
    [product(c, d) - product(s, t), product(c, t) + product(s, d)]
}

impl Powers {
    /// 2^x of x in [0, 1), given as x 2^64: from 2^62 to below 2^63.
    #[inline(always)]
    pub fn of(&self, x: u64) -> u64 {
        let [first, second] = [x >> 56, x >> 48 & 255].map(|place| place as usize);
        let power = high(self.0[0][first], self.0[1][second], FRACTION);
        // e^z - 1 for z below 2^-16, times 2^64.
        let z = high(x << 16 >> 16, LN_2_SHORT, 64);
        let square = high(z, z, 64);
        let rest = z + square / 2 + high(square, z, 64) / 6;
        (power + high(power, rest, 64)).min((1 << 63) - 1)
    }
}

impl Circles {
    /// Cosine and sine of a turn's part x in [0, 1), given as x 2^64.
    #[inline(always)]
    pub fn of(&self, x: u64) -> [i64; 2] {
        let [first, second] = [x >> 56, x >> 48 & 255].map(|place| place as usize);
        let ([c, s], [d, t]) = (self.0[0][first], self.0[1][second]);
        let [c, s] = [product(c, d) - product(s, t), product(c, t) + product(s, d)];
        // A rotation by an angle below 2^-13.
        let angle = high(x << 16 >> 16, TAU_SHORT, 63);
        let square = high(angle, angle, FRACTION);
        let sine = (angle - high(square, angle, FRACTION) / 6) as i64;
        let less = (square / 2 - high(square, square, FRACTION) / 24) as i64;
        [c - product(c, less) - product(s, sine), s - product(s, less) + product(c, sine)]
    }
}

#[cfg(test)]
mod tests {
    use super::{FRACTION, circles, powers, product, turned};

    /// Known answers: computed with 400 bits elsewhere, rounded to 62 fractional bits.
    #[test]
    fn tables_are_the_known_ones() {
        let hash = |words: &mut dyn Iterator<Item = u64>| {
            words.fold(0, |hash: u64, word| hash.wrapping_mul(0x0100_0000_01b3).wrapping_add(word))
        };
        assert_eq!(hash(&mut powers().0.iter().flatten().copied()), 4_960_537_557_024_505_285);
        assert_eq!(hash(&mut circles().0.iter().flatten().flatten().map(|&x| x as u64)), 10_642_698_571_660_838_161);
        assert_eq!(powers().0[0][128], 6_521_908_912_666_391_106);
        assert_eq!(circles().0[0][100], [-3_564_881_499_871_150_442, 2_925_622_638_761_716_784]);
    }

    #[test]
    fn values_are_near_the_exact_ones() {
        let unit = (1u64 << FRACTION) as f64;
        let places = [0, 1, u64::MAX, 1 << 48, (1 << 48) - 1, 1 << 63];
        let drawn = (0..20_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for x in places.into_iter().chain(drawn) {
            let part = x as f64 / 2f64.powi(64);
            assert!((powers().of(x) as f64 / unit - part.exp2()).abs() < 2f64.powi(-48), "2^{part}");
            let angle = std::f64::consts::TAU * part;
            let [c, s] = circles().of(x).map(|value| value as f64 / unit);
            assert!((c - angle.cos()).abs() < 2f64.powi(-48) && (s - angle.sin()).abs() < 2f64.powi(-48), "{part}");
        }
    }

    #[test]
    fn points_turn_by_exact_products() {
        let whole = 1i64 << FRACTION;
        let ends = [[whole, 0], [0, whole], [-whole, 0], [0, -whole], [whole - 1, (1 << 31) - 1], [1 << 31, -1]];
        let drawn = (1..20_000u64).map(|i| circles().of(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let points: Vec<[i64; 2]> = ends.into_iter().chain(drawn).collect();
        let pairs = ends.iter().flat_map(|x| ends.iter().map(move |y| (x, y))).chain(points.iter().zip(&points[1..]));
        for (&[c, s], &[d, t]) in pairs {
            let exact = [product(c, d) - product(s, t), product(c, t) + product(s, d)];
            assert_eq!(turned([c, s], [d, t]), exact, "{c} {s} by {d} {t}");
        }
    }

    /// The product of 2^x and 2^(1 - x) is 2, and points are on the circle: far below what floating point sees.
    #[test]
    fn values_fit_each_other() {
        for x in (1..20_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
            let two = u128::from(powers().of(x)) * u128::from(powers().of(x.wrapping_neg()));
            assert!(two.abs_diff(1 << 125) < 1 << (125 - 58), "2^x 2^(1 - x)");
            let [c, s] = circles().of(x).map(i128::from);
            assert!((c * c + s * s).abs_diff(1 << 124) < 1 << (124 - 58), "a point of the circle");
        }
    }
}
