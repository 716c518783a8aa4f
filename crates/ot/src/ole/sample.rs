//! Random polynomials. Small numbers are words modulo 2^64.

use tacit_math::Prg;
use tacit_math::simd::{Kernel, dispatch};

/// Bits whose ones are counted on either side of an error.
pub(super) const ERROR_BITS: u32 = 21;

/// Uniform residues of a prime that is just below a power of two: what is not below it, one in 2^20, is drawn again.
pub(super) fn uniform(prg: &mut Prg, prime: u64, out: &mut [u64]) {
    let low = prime.next_power_of_two() - 1;
    prg.fill(out);
    // What is drawn again is thrown away: how often says nothing of what stays.
    if tacit_marks::published(dispatch(Cut { words: out, low, prime })) {
        for word in out.iter_mut() {
            while tacit_marks::published(*word >= prime) {
                *word = prg.vector::<u64>(1)[0] & low;
            }
        }
    }
}

/// Errors: the difference of the ones among [`ERROR_BITS`] bits and those among as many others, of variance 10.5.
pub(super) fn errors(prg: &mut Prg, out: &mut [u64]) {
    prg.fill(out);
    dispatch(Binomial { words: out });
}

/// Uniform digits of `bits` bits.
pub(super) fn digits(prg: &mut Prg, bits: u32, out: &mut [u64]) {
    prg.fill(out);
    out.iter_mut().for_each(|word| *word &= (1 << bits) - 1);
}

/// Each of -1, 0, 1 with a third of the probability, up to 2^-61.
pub(super) fn ternary(prg: &mut Prg, out: &mut [u64]) {
    prg.fill(out);
    dispatch(Thirds { words: out });
}

/// Cuts words to low bits; whether one is not below the prime.
struct Cut<'a> {
    words: &'a mut [u64],
    low: u64,
    prime: u64,
}

impl Kernel for Cut<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut above = 0;
        for word in self.words {
            *word &= self.low;
            above |= (self.prime - 1).wrapping_sub(*word);
        }
        above >> 63 == 1
    }
}

struct Binomial<'a> {
    words: &'a mut [u64],
}

impl Kernel for Binomial<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const BITS: u64 = (1 << ERROR_BITS) - 1;
        for word in self.words {
            let [plus, minus] = [*word & BITS, *word >> ERROR_BITS & BITS].map(|bits| u64::from(bits.count_ones()));
            *word = plus.wrapping_sub(minus);
        }
    }
}

struct Thirds<'a> {
    words: &'a mut [u64],
}

impl Kernel for Thirds<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for word in self.words {
            *word = (((*word >> 2) * 3) >> 62).wrapping_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{errors, ternary, uniform};
    use tacit_math::{Prg, Seed};

    /// Mean and variance of what is drawn.
    fn moments(draw: impl Fn(&mut Prg, &mut [u64])) -> (f64, f64, i64) {
        let mut words = vec![0; 1 << 16];
        draw(&mut Prg::new(&Seed::from_bytes([5; 16])), &mut words);
        let numbers: Vec<f64> = words.iter().map(|&word| word as i64 as f64).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        (mean, variance, words.iter().map(|&word| (word as i64).abs()).max().unwrap_or(0))
    }

    #[test]
    fn small_numbers_have_their_variance() {
        let (mean, variance, most) = moments(errors);
        assert!(mean.abs() < 0.1 && (variance - 10.5).abs() < 0.5 && most <= 21, "{mean} {variance} {most}");
        let (mean, variance, most) = moments(ternary);
        assert!(mean.abs() < 0.02 && (variance - 2.0 / 3.0).abs() < 0.02 && most == 1, "{mean} {variance} {most}");
    }

    #[test]
    fn residues_are_below_their_prime() {
        // Far below a power of two: a third has to be drawn again.
        let (prime, mut words) = (11, vec![0; 1 << 12]);
        uniform(&mut Prg::new(&Seed::from_bytes([6; 16])), prime, &mut words);
        for residue in 0..prime {
            let count = words.iter().filter(|&&word| word == residue).count();
            assert!((count as f64 - 4096.0 / 11.0).abs() < 150.0, "{residue}: {count}");
        }
        assert!(words.iter().all(|&word| word < prime));
    }
}
