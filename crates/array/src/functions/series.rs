//! sigmoid, tanh and erf by odd Fourier series of a declared period.
//!
//! On |x| <= B the function, less its value at zero, is a sum of K sines of x, 2 x, ... K x, of a period P above 2 B.
//! Coefficients are minimax by Remez' exchange, pinned as integers. Each sine of s + t is two products, so the sum is
//! one split product of 2 K words. Where |x| may be larger than B, x is clipped to it by two comparisons.
//!
//! Source: SecFormer, ACL 2024, and SHAFT, NDSS 2025, for Fourier series of masked numbers with a dealer.
//! **Departures** the mask is a share that nodes have: docs/protocols/functions.md. tanh x = 2 sigmoid(2 x) - 1.
//!
//! Rounds: 4, and 12 + log2(width) with a clip. Bytes in all, for k = 64: 16 K + 16 and a truncation.

use tacit_math::Ring;
use tacit_mpc::{Backend, Linear, Result, Split, circuits, linear};

use super::circle::{part, scale_of, word};
use super::coefficients::{Fit, fits};
use super::curve::Curve;
use super::fixed::{element, minus, plus};
use super::interval::{bits_of, power};
use super::tables::{self, Circles, FRACTION, turned, wide_product};
use super::{Interval, Refused};

/// A plan for an odd function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odd {
    bits: usize,
    fraction: usize,
    result: usize,
    curve: Curve,
    fit: &'static Fit,
    scale: u32,
    /// Where x is clipped, from below and from above, and the bits of a number with its sign.
    clip: Option<(i128, usize)>,
    error: f64,
}

/// What a clip may change, in units of the result.
const CUT: f64 = 0.6;

/// Fractional bits of coefficients.
const COEFFICIENT: u32 = 40;

impl Odd {
    /// A plan for numbers of `fraction` fractional bits within an interval, in a ring of `bits` bits. The result has
    /// `result` fractional bits.
    ///
    /// # Errors
    /// [`Refused::Precision`] above 24 bits, [`Refused::Room`] if products do not fit.
    pub fn new(bits: usize, fraction: usize, interval: Interval, result: usize, curve: Curve) -> Result<Self, Refused> {
        interval.check(bits)?;
        let doubled = curve.doubled();
        let fits = fits(curve.base(), result).ok_or(Refused::Precision)?;
        let reach = |fit: &Fit| {
            let bound = u128::from(fit.bound);
            let lost = bound.leading_zeros() < fraction as u32;
            (if lost { u128::MAX } else { bound << fraction }) >> doubled
        };
        let inside = fits.iter().copied().find(|fit| interval.size() <= reach(fit));
        let clipped = fits.iter().copied().find(|fit| fit.beyond * power((result + doubled) as i64) <= CUT);
        let fit = inside.or(clipped).ok_or(Refused::Precision)?;
        let clip = inside.is_none().then(|| (reach(fit) as i128, bits_of(interval.size()) + 2));
        if clip.is_some_and(|(_, width)| width > bits) || !(3..bits).contains(&fraction) || result == 0 {
            return Err(Refused::Room);
        }
        let scale = scale_of(bits, result, 6).ok_or(Refused::Room)?;
        let mut plan = Self { bits, fraction, result, curve, fit, scale, clip, error: 0.0 };
        plan.error = plan.bound(interval.size().min(reach(fit)));
        Ok(plan)
    }

    fn bound(&self, size: u128) -> f64 {
        let (fit, unit) = (self.fit, power((self.result + self.curve.doubled()) as i64));
        let count = fit.coefficients.len() as f64;
        let cut = if self.clip.is_some() { fit.beyond } else { 0.0 };
        let sizes: f64 =
            fit.coefficients.iter().map(|a| a.unsigned_abs() as f64).sum::<f64>() * power(-i64::from(COEFFICIENT));
        let slopes: f64 = (1..).zip(fit.coefficients).map(|(k, a)| f64::from(k) * a.unsigned_abs() as f64).sum();
        let angle = size as f64 * 6.3 * power(-(self.bits as i64)) * slopes * power(-i64::from(COEFFICIENT));
        let words = 0.75 * (sizes + count) * power(-i64::from(self.scale));
        let tables = 8.0 * count * count * power(tables::ERROR) + count * power(-i64::from(COEFFICIENT));
        1.0 + unit * (fit.error + cut + angle + words + tables)
    }

    /// The largest error of a result, in units of its last bit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Whether numbers may be beyond the series and are clipped.
    pub fn clips(&self) -> bool {
        self.clip.is_some()
    }

    /// The function of x.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// When the plan is for another ring.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, x: &B::Vector<R>) -> Result<B::Vector<R>> {
        assert_eq!(self.bits, R::BITS as usize, "a plan for this ring");
        b.step("series", |b| {
            let clipped = self.clip.map(|(bound, width)| clip(b, x, bound, width)).transpose()?;
            let series = b.split_product(&[clipped.as_ref().unwrap_or(x)], &self.sines())?;
            let value = b.truncate(&[&series[0]], 2 * self.scale as usize - self.result)?.swap_remove(0);
            Ok(if self.curve == Curve::Sigmoid { plus(b, &value, 1 << (self.result - 1)) } else { value })
        })
    }

    fn sines<R: Ring>(&self) -> Sines<R> {
        // 2^k of a turn: P is in quarters.
        let turn = 1u128 << (self.bits + 2 - self.fraction);
        let period = u128::from(self.fit.quarters);
        let factor = ((turn + period / 2) / period) << self.curve.doubled();
        let coefficients = self.fit.coefficients.iter().map(|a| *a << self.curve.doubled()).collect();
        Sines { factor: R::from_u128(factor), coefficients, scale: self.scale, circles: tables::circles() }
    }
}

/// x where it is between -bound and bound, else the nearer one of them.
fn clip<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, bound: i128, width: usize) -> Result<B::Vector<R>> {
    let rows = x.rows();
    let (above, less) = (minus(b, bound, x), minus(b, -bound, x));
    // Both comparisons share their rounds.
    let both = B::Vector::map_many(&[&above, &less], 1, 2 * rows, |sides| {
        vec![sides[0].iter().copied().chain(sides[1].iter().map(|less| less.neg())).collect()]
    });
    let both = circuits::sign(b, &both[0], width)?;
    let both = b.inject::<R>(&[&both])?.swap_remove(0);
    let [over, under] = [0, rows].map(|start| both.map(rows, |bits| bits[start..start + rows].to_vec()));
    let moved = b.inner_products(&[vec![(&over, &above), (&under, &less)]])?;
    Ok(linear::add(x, &moved[0]))
}

/// Sines of multiples of both summands' angles.
struct Sines<R> {
    factor: R,
    /// Twice themselves for tanh, whose series is of two sigmoids.
    coefficients: Vec<i64>,
    scale: u32,
    circles: &'static Circles,
}

/// Numbers of which all words are written before those of the next ones: their points stay in the first-level cache.
const BLOCK: usize = 64;

impl<R: Ring> Sines<R> {
    /// Cosine and sine of each multiple of numbers' angles, multiple by multiple from the first one on: all words of a
    /// number are far from each other. `write` gets the multiple's coefficient and the words of both.
    #[inline(always)]
    fn multiples(&self, numbers: &[R], words: &mut [R], write: impl Fn(i64, [i64; 2]) -> [R; 2]) {
        let rows = numbers.len();
        for at in (0..rows).step_by(BLOCK) {
            let (block, mut first) = (at..rows.min(at + BLOCK), [[0; BLOCK]; 2]);
            for (i, &x) in numbers[block.clone()].iter().enumerate() {
                [first[0][i], first[1][i]] = self.circles.of(part(x.mul(self.factor)));
            }
            let [mut cosines, mut sines] = first;
            for (&coefficient, words) in self.coefficients.iter().zip(words.chunks_exact_mut(2 * rows)) {
                let (before, after) = words.split_at_mut(rows);
                let words = before[block.clone()].iter_mut().zip(&mut after[block.clone()]);
                let points = cosines.iter_mut().zip(&mut sines).zip(first[0].iter().zip(&first[1]));
                for ((before, after), ((cosine, sine), (&by_cosine, &by_sine))) in words.zip(points) {
                    let point = [*cosine, *sine];
                    [*before, *after] = write(coefficient, point);
                    [*cosine, *sine] = turned(point, [by_cosine, by_sine]);
                }
            }
        }
    }
}

impl<R: Ring> Split<R> for Sines<R> {
    fn products(&self) -> usize {
        2 * self.coefficients.len()
    }

    #[inline(always)]
    fn first(&self, s: &[R], u: &mut [R]) {
        let down = FRACTION + COEFFICIENT - self.scale;
        if down > u64::BITS {
            self.multiples(s, u, |coefficient, [cosine, sine]| {
                let scaled = |value| {
                    let [high, middle] = wide_product(coefficient, value);
                    (high + (middle >> 32) + (1 << (down - 1 - u64::BITS))) >> (down - u64::BITS)
                };
                [element(scaled(sine).into()), element(scaled(cosine).into())]
            });
        } else {
            self.multiples(s, u, |coefficient, [cosine, sine]| {
                let scaled = |value: i64| (i128::from(coefficient) * i128::from(value) + (1 << (down - 1))) >> down;
                [element(scaled(sine)), element(scaled(cosine))]
            });
        }
    }

    #[inline(always)]
    fn second(&self, t: &[R], w: &mut [R], _: &mut [R]) {
        // A copy: read through the reference, it might be what the loop writes, and the loop would not be vectorised.
        let scale = self.scale;
        self.multiples(t, w, |_, [cosine, sine]| [word(cosine, scale), word(sine, scale)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixed::hash_of_words;
    use super::{Curve, Interval, Odd};

    /// Nodes on different machines compute equal words.
    #[test]
    fn words_are_the_known_ones() {
        let plan = |bits, bound: i128, curve| {
            Odd::new(bits, 16, Interval::new(-bound << 16, bound << 16), 16, curve).expect("a plan")
        };
        let found = [
            hash_of_words(&plan(64, 8, Curve::Sigmoid).sines::<u64>()),
            hash_of_words(&plan(64, 100, Curve::Tanh).sines::<u64>()),
            hash_of_words(&plan(128, 3, Curve::Erf).sines::<u128>()),
        ];
        assert_eq!(found, [1_765_520_373_671_698_820, 482_556_545_880_636_023, 6_161_433_628_185_898_354]);
    }
}
