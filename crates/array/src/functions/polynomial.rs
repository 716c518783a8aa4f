//! First approximations on [1/2, 1] by polynomials of few products.

use tacit_math::Ring;
use tacit_mpc::{Backend, Result, linear};

use super::fixed::{element, plus, product, rounded};

/// A polynomial. Its coefficients are minimax for their function where the highest one has `few` fractional bits. That
/// one is an integer factor, so a polynomial of degree d takes d - 1 products, each with its truncation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    /// The highest coefficient, times 2^few.
    pub highest: i128,
    /// Its fractional bits.
    pub few: usize,
    /// The others from the highest one down, times 2^60.
    pub others: &'static [i128],
    /// -log2 of its error.
    pub accuracy: f64,
}

/// Fractional bits of coefficients.
const COEFFICIENT: i64 = 60;

impl Polynomial {
    /// Its value at c of p fractional bits, and the fractional bits of the value.
    pub fn run<R: Ring, B: Backend>(&self, b: &mut B, c: &B::Vector<R>, p: usize) -> Result<(B::Vector<R>, usize)> {
        let at = |coefficient: i128, scale: usize| rounded(coefficient, COEFFICIENT - scale as i64);
        let mut scale = p + self.few;
        let mut value = plus(b, &linear::scale(c, element(self.highest)), at(self.others[0], scale));
        for &coefficient in &self.others[1..] {
            value = product(b, c, &value, scale)?;
            scale = p;
            value = plus(b, &value, at(coefficient, scale));
        }
        Ok((value, scale))
    }

    /// Products that it takes.
    pub fn products(&self) -> usize {
        self.others.len() - 1
    }

    /// Most fractional bits of c with which every product fits a ring.
    pub fn most(bits: usize) -> usize {
        (bits - 8) / 2
    }
}
