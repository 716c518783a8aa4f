//! e^x by split products of the exponent's summands.
//!
//! y = x log2 e = s + t modulo 2^m, by one public factor on each summand and the ring's own reduction. An integer E is
//! added so that y >= 1. Then 2^(y - E) = 2^frac(s) 2^frac(t) 2^((int(s) + int(t) mod 2^m) - E): the product of the
//! fractional parts is in [1, 4) and holds their carry. The dealer has 2^m words, of which that of its int(s) is
//! 2^frac(s) and the others are zero. Those of the others are 2^frac(t) times all powers of two, turned by int(t).
//!
//! Where 2^m words are many, y has two digits. The low one has two bits and is never reduced: the factor 2^(low(s) +
//! frac(s)) times 2^(low(t) + frac(t)) is in [1, 2^8), one product. The high one is 2^(m-2) words, zero but for a one.
//! Both results are multiplied. The carry of the low digit may be one, so y >= 4.
//!
//! Source: Kelkar, Le, Raykova, Seth, USENIX Security 2022, for powers as products of the parties' powers, in a field
//! of prime order. **Departures** a ring of 2^k with words of a digit in place of the field, so that no range is lost
//! and one truncation is enough: docs/protocols/functions.md.
//!
//! Rounds: 4 of one digit, 9 of two. Bytes in all, for k = 64 and f = 16: 100 of 8 words, 160 of two digits with 8.

use tacit_math::Ring;
use tacit_mpc::{Backend, Result, Split};

use super::fixed::product;
use super::interval::power;
use super::tables::{self, FRACTION, Powers};
use super::{Interval, Refused};

/// log2 e, times 2^126.
const LOG_E: u128 = 122_730_920_814_699_141_436_592_336_571_523_309_380;

/// Bits of the exponent behind the point, by which its ends are rounded outward.
const ENDS: i64 = 24;

/// Bits of the low one of two digits.
const LOW: u32 = 2;

/// Most bits of a digit that has a word for each value.
const DIGIT: u32 = 7;

/// The largest error of results, over that of a correct rounding, that guard bits are for: 2^-2 of an ulp.
const GUARD: i64 = 3;

/// Numbers above 2^10 have no power that fits any ring.
const LARGEST: u32 = 10;

/// Most fractional bits of x.
const MOST: usize = 52;

/// A plan for e^x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exp {
    bits: usize,
    form: Form,
    /// What is added to y.
    raised: i64,
    /// Fractional bits of the first factor, of the second one, of the result.
    scales: [i64; 3],
    fraction: usize,
    error: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One digit of as many bits.
    One(u32),
    /// A low digit, and a high one of as many bits.
    Two(u32),
}

/// What x log2 e may be, in units of 2^-24: at least the first and less than the second. And the size of x.
struct Ends([i64; 2], u128);

impl Ends {
    fn of(fraction: usize, interval: Interval) -> Result<Self, Refused> {
        if fraction > MOST || interval.size() >> LARGEST >> fraction != 0 {
            return Err(Refused::Room);
        }
        let scaled = |x: i128| (x * (LOG_E >> 66) as i128) >> (fraction as i64 + 60 - ENDS);
        let [low, high] = [scaled(interval.low) - 1, scaled(interval.high) + 2].map(|end| end as i64);
        Ok(Self([low, high], interval.size()))
    }

    /// What is to be added so that y is at least `least`, if then it is below 2^width. The factor of x is rounded by
    /// half a unit, which moves y.
    fn raised(&self, least: i64, width: u32, bits: usize) -> Option<i64> {
        let moved = (self.1 >> (bits + 1 - width as usize - ENDS as usize)) as i64 + 1;
        let [low, high] = [self.0[0] - moved, self.0[1] + moved];
        let raised = least - (low >> ENDS);
        (high + (raised << ENDS) <= 1 << (i64::from(width) + ENDS)).then_some(raised)
    }

    /// Bits before the point of the largest power, and a bound of it.
    fn largest(&self) -> (i64, f64) {
        let whole = self.0[1] >> ENDS;
        // 2^x <= 1 + x between 0 and 1.
        (whole + 1, power(whole) * (1.0 + (self.0[1] - (whole << ENDS)) as f64 * power(-ENDS)))
    }
}

impl Form {
    fn width(self) -> u32 {
        match self {
            Self::One(width) => width,
            Self::Two(high) => high + LOW,
        }
    }

    fn least(self) -> i64 {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 1 << LOW,
        }
    }

    /// Words that are sent, about: two truncations are as much as six.
    fn words(self) -> u32 {
        match self {
            Self::One(width) => (1 << width) + 2,
            Self::Two(high) => 3 + (1 << high) + 2 + 6,
        }
    }

    /// Bits that are lost by the rounding of the second factor: the low digit's factor is below 2^8.
    fn lost(self) -> i64 {
        match self {
            Self::One(_) => 0,
            Self::Two(_) => 7,
        }
    }

    /// Forms from the fewest words on.
    fn all() -> Vec<Self> {
        let mut forms: Vec<Self> = (1..=DIGIT).flat_map(|width| [Self::One(width), Self::Two(width)]).collect();
        forms.sort_by_key(|form| form.words());
        forms
    }
}

impl Exp {
    /// A plan for numbers of `fraction` fractional bits within an interval, in a ring of `bits` bits. The result has
    /// `result` fractional bits.
    ///
    /// # Errors
    /// [`Refused::Room`] if the largest power times its precision does not fit, or the smallest is less than 2^-500.
    pub fn new(bits: usize, fraction: usize, interval: Interval, result: usize) -> Result<Self, Refused> {
        interval.check(bits)?;
        let ends = Ends::of(fraction, interval)?;
        let (top, largest) = ends.largest();
        let (wanted, top) = (result as i64, top.max(0));
        let room = |form: Form| bits as i64 - 3 - top - (wanted + top + wanted + form.lost());
        let fits = |form: &Form| {
            let raised = ends.raised(form.least(), form.width(), bits)?;
            let factor = bits >= fraction + form.width() as usize + 8;
            (factor && room(*form) >= 2).then_some((*form, raised))
        };
        let (form, raised) = Form::all().iter().find_map(fits).ok_or(Refused::Room)?;
        // A truncation by at most 32 bits takes words of four bytes.
        let cheap = (32 - wanted - top - form.lost()) / 2;
        let guard = cheap.max(GUARD).min(room(form) / 2);
        let scales = [wanted + top + guard, wanted + form.lost() + guard, wanted];
        let mut plan = Self { bits, form, raised, scales, fraction, error: 0.0 };
        plan.error = plan.bound(interval, largest);
        Ok(plan)
    }

    /// Of the low factor of two digits: fractional bits of each of its factors.
    fn halves(&self) -> i64 {
        ((self.bits as i64 - 3 - (2 << LOW)) / 2).min(i64::from(FRACTION) - 4)
    }

    fn bound(&self, interval: Interval, largest: f64) -> f64 {
        let [first, second, result] = self.scales;
        // Of the factor of x: half a unit, times x, by which 2^y changes less than as much times ln 2.
        let angle = interval.size() as f64 * power(i64::from(self.form.width()) - self.bits as i64 - 1);
        let relative = match self.form {
            Form::One(_) => power(-first - 1),
            Form::Two(_) => 2.0 * power(-self.halves() - 1) + power(-first),
        };
        let own = if let Form::Two(_) = self.form { power(7 - second) } else { power(-second) };
        1.0 + power(result) * (own + largest * (relative + angle + 2.0 * power(tables::ERROR)))
    }

    /// The largest error of a result, in units of its last bit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// e^x.
    ///
    /// # Errors
    /// As the engine's.
    ///
    /// # Panics
    /// When the plan is for another ring.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, x: &B::Vector<R>) -> Result<B::Vector<R>> {
        assert_eq!(self.bits, R::BITS as usize, "a plan for this ring");
        let [first, second, result] = self.scales;
        b.step("exp", |b| match self.form {
            Form::One(_) => {
                let power = b.split_product(&[x], &Digit { exponent: self.exponent(), own: Some(first), second })?;
                Ok(b.truncate(&[&power[0]], (first + second - result) as usize)?.swap_remove(0))
            }
            Form::Two(_) => {
                let halves = self.halves();
                let low = b.split_product(&[x], &Low { exponent: self.exponent(), fraction: halves })?;
                let low = b.truncate(&[&low[0]], (2 * halves - first) as usize)?.swap_remove(0);
                let high = b.split_product(&[x], &Digit { exponent: self.exponent(), own: None, second })?;
                product(b, &low, &high[0], (first + second - result) as usize)
            }
        })
    }

    fn exponent<R: Ring>(&self) -> Exponent<R> {
        let width = self.form.width();
        let up = self.bits as u32 - width - self.fraction as u32;
        let factor = R::from_u128((LOG_E + (1 << (125 - up))) >> (126 - up));
        let low = if let Form::Two(_) = self.form { LOW } else { 0 };
        let added = R::from_u128(self.raised as u128).shl(self.bits as u32 - width);
        Exponent { factor, added, width, low, raised: self.raised, powers: tables::powers() }
    }
}

/// A summand of y, and how it is cut.
struct Exponent<R> {
    factor: R,
    added: R,
    /// Bits before the point, and of the low digit.
    width: u32,
    low: u32,
    raised: i64,
    powers: &'static Powers,
}

impl<R: Ring> Exponent<R> {
    /// The high digit and the low one of a summand, and 2^62 to the power of its fraction.
    #[inline(always)]
    fn cut(&self, x: R, added: R) -> ([u64; 2], u64) {
        let y = x.mul(self.factor).add(added);
        let whole = y.shr(R::BITS - self.width).to_u128() as u64;
        let fraction = y.shl(self.width).shr(R::BITS - u64::BITS).to_u128() as u64;
        ([whole >> self.low, whole & ((1 << self.low) - 1)], self.powers.of(fraction))
    }
}

/// To the nearest: number 2^(exponent - 62) in a ring, for numbers below 2^63 and exponents below 126. No branch
/// depends on either. It is computed with 64 bits, as vector units have them.
#[inline(always)]
fn at<R: Ring>(number: u64, exponent: i64) -> R {
    let above = exponent - i64::from(FRACTION);
    let (up, down) = (above.clamp(0, 63) as u32, (-above).max(0) as u32);
    let rounded = ((number << 1).unbounded_shr(down) + 1) >> 1;
    R::from_u128(u128::from(rounded)).shl(up)
}

/// Numbers of which all words are written before those of the next ones: what is known of them stays in registers and
/// the first-level cache.
const BLOCK: usize = 64;

/// The high digit. If the dealer has its own factor, it is the only one.
struct Digit<R> {
    exponent: Exponent<R>,
    own: Option<i64>,
    second: i64,
}

impl<R: Ring> Digit<R> {
    fn values(&self) -> usize {
        1 << (self.exponent.width - self.exponent.low)
    }

    /// All words of all numbers: `cut` gives a number's digit and factor, `word` follows from a value and these two.
    /// Every word is written, whatever the digit.
    #[inline(always)]
    fn write<F: Copy>(&self, x: &[R], out: &mut [R], cut: impl Fn(R) -> (u64, F), word: impl Fn(u64, u64, F) -> R) {
        let rows = x.len();
        for at in (0..rows).step_by(BLOCK) {
            let x = &x[at..rows.min(at + BLOCK)];
            let mut known = [cut(x[0]); BLOCK];
            known.iter_mut().zip(x).for_each(|(known, &x)| *known = cut(x));
            let (digits, factors) = (known.map(|(digit, _)| digit), known.map(|(_, factor)| factor));
            for value in 0..self.values() {
                let words = out[value * rows + at..][..x.len()].iter_mut().zip(&digits).zip(&factors);
                words.for_each(|((out, &digit), &factor)| *out = word(value as u64, digit, factor));
            }
        }
    }
}

impl<R: Ring> Split<R> for Digit<R> {
    fn products(&self) -> usize {
        self.values()
    }

    #[inline(always)]
    fn first(&self, s: &[R], u: &mut [R]) {
        let Self { exponent, own, .. } = self;
        let known = |s| {
            let ([digit, _], factor) = exponent.cut(s, exponent.added);
            (digit, own.map_or(R::ONE, |fraction| at(factor, fraction)))
        };
        self.write(s, u, known, |value, digit, own| own.mul(R::from_u128(u128::from(value == digit))));
    }

    #[inline(always)]
    fn second(&self, t: &[R], w: &mut [R], _: &mut [R]) {
        let (Self { exponent, own, second }, last) = (self, self.values() as u64 - 1);
        let known = |t| {
            let ([digit, _], factor) = exponent.cut(t, R::ZERO);
            (digit, if own.is_some() { factor } else { 1 << FRACTION })
        };
        let (least, low) = (second - exponent.raised, exponent.low);
        let ends = [0, last].map(|digit| i64::from(FRACTION) - (((digit << low) as i64) + least));
        if ends.iter().all(|down| (0..64).contains(down)) {
            // All words are shifted down, by fewer bits than a word has: as most intervals have it.
            let down = ends[0] as u64;
            self.write(t, w, known, |value, digit, number| {
                let down = down - (((value + digit) & last) << low);
                R::from_u128(u128::from((((number << 1) >> down) + 1) >> 1))
            });
        } else {
            self.write(t, w, known, |value, digit, number| {
                at(number, (((value + digit) & last) << low) as i64 + least)
            });
        }
    }
}

/// The low digit and the fraction, of both summands.
struct Low<R> {
    exponent: Exponent<R>,
    fraction: i64,
}

impl<R: Ring> Split<R> for Low<R> {
    fn products(&self) -> usize {
        1
    }

    #[inline(always)]
    fn first(&self, s: &[R], u: &mut [R]) {
        for (&s, u) in s.iter().zip(u) {
            let ([_, digit], factor) = self.exponent.cut(s, self.exponent.added);
            *u = at(factor, self.fraction + digit as i64);
        }
    }

    #[inline(always)]
    fn second(&self, t: &[R], w: &mut [R], _: &mut [R]) {
        for (&t, w) in t.iter().zip(w) {
            let ([_, digit], factor) = self.exponent.cut(t, R::ZERO);
            *w = at(factor, self.fraction + digit as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use tacit_math::Prg;

    use super::super::fixed::hash_of_words;
    use super::{Digit, Exp, Interval, LARGEST, Low, MOST};

    /// Nodes on different machines compute equal words.
    #[test]
    fn words_are_the_known_ones() {
        let plan = |bits, low: i128| Exp::new(bits, 16, Interval::new(low << 16, 0), 16).expect("a plan");
        let digit = |plan: Exp, own: bool| {
            let [first, second, _] = plan.scales;
            Digit { exponent: plan.exponent::<u64>(), own: own.then_some(first), second }
        };
        let long = plan(128, -30);
        let wide = Low { exponent: long.exponent::<u128>(), fraction: long.halves() };
        let found = [
            hash_of_words(&digit(plan(64, -4), true)),
            hash_of_words(&digit(plan(64, -18), false)),
            hash_of_words(&Low { exponent: plan(64, -18).exponent::<u64>(), fraction: plan(64, -18).halves() }),
            hash_of_words(&wide),
        ];
        assert_eq!(
            found,
            [
                14_601_964_518_004_804_609,
                5_353_402_918_894_127_304,
                10_525_771_011_783_029_701,
                18_215_107_110_188_451_688
            ]
        );
    }

    #[test]
    fn exponents_stay_within_their_digits_at_both_ends() {
        let prg = &mut Prg::new(&tacit_views::seed("exponents"));
        let mut plans = 0;
        for draw in prg.vector::<u64>(20_000).chunks(4) {
            let fraction = 2 + (draw[0] % (MOST as u64 - 1)) as usize;
            let result = [8, 13, 16, 24][(draw[1] % 4) as usize];
            let scaled = |draw: u64| i128::from(draw as i64) >> (63 - fraction as u32 - (draw as u32 % (LARGEST + 1)));
            let [a, b] = [scaled(draw[2]), scaled(draw[3])];
            let Ok(plan) = Exp::new(64, fraction, Interval::new(a.min(b), a.max(b)), result) else { continue };
            plans += 1;
            let (exponent, width) = (plan.exponent::<u64>(), plan.form.width());
            for x in [a, b] {
                let y = x * i128::from(exponent.factor) + (i128::from(plan.raised) << (64 - width));
                let least = i128::from(plan.form.least()) << (64 - width);
                assert!((least..1 << 64).contains(&y), "{plan:?} of {x}: {y}");
            }
        }
        assert!(plans > 500, "{plans} plans");
    }
}
