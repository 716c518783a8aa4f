//! Truncation: exact, for numbers that may fill their ring, and that of section 5, for numbers far within it.
//!
//! `truncated`, `truncated_apart`: functionality: for x = s + t, where S1 has s and S2 has t, what
//! docs/protocols/arrays.md states. With S = s + 2^(k-2) - 1, m and n the top bits of S and t, S + t wraps if m OR n:
//!
//! 1. S1 and S2 shift S and t by themselves, and take m and n away where the wrap would be;
//! 2. the product of m and n, of which each knows one, is added there. It is of words of 32 bits if f <= 32.
//!
//! It is of numbers whose bounds nobody states, such as those inside functions, and cannot fail. 2 rounds, 6 words a
//! row.
//!
//! `scaled_vectors`: functionality: one of the two integers beside x / 2^f, or x / 2^f if it is one, for x far within
//! the ring.
//!
//! 1. S1 and S2 draw r from their joint generator: x1' = x1 + r, x2' = x2 - r.
//! 2. Each divides its signed representative by 2^f and rounds it to the nearest integer. Of two that are as near S1
//!    takes the one above and S2 the one below, so that a multiple of 2^f is divided exactly.
//!
//! x1' + x2' = x over the integers unless the shares wrap, which [`super::failure`] bounds. It is a product with the
//! public number 2^-f. No message. Source: PrivPy, sections 5.3 and 5.6. **Departures** `truncated` is not in the
//! paper.

use tacit_math::Ring;

use super::integers::shifted;
use super::multiply::zip;
use super::{Four, S1, Share};
use crate::split::assert_truncation;
use crate::{Apart, Result};

/// The widest truncation whose wrap is computed in words of 32 bits.
pub(super) const NARROW: usize = 32;

impl Four {
    /// dither(s, t).
    pub(super) fn truncated<R: Ring>(&mut self, x: &[&Share<Vec<R>>], by: usize) -> Result<Vec<Share<Vec<R>>>> {
        self.truncated_less(x, by, R::ONE)
    }

    /// x / 2^f rounded down, less a carry; and the low bits of s and t.
    pub(super) fn truncated_apart<R: Ring>(&mut self, x: &[&Share<Vec<R>>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        let wholes = self.truncated_less(x, by, R::ZERO)?;
        let apart = |(less_carry, x): (_, &&Share<Vec<R>>)| Apart { less_carry, low: self.two_summands(x, by) };
        Ok(wholes.into_iter().zip(x).map(apart).collect())
    }

    fn truncated_less<R: Ring>(&mut self, x: &[&Share<Vec<R>>], by: usize, less: R) -> Result<Vec<Share<Vec<R>>>> {
        assert_truncation::<R>(by);
        let (bits, quarter) = (by as u32, R::ONE.shl(R::BITS - 2));
        let [before, after] = match self.me() {
            S1 => [quarter.sub(less), quarter.shr(bits).sub(less)],
            _ => [R::ZERO; 2],
        };
        let top = |x: &R| x.add(before).bit(R::BITS - 1);
        let carried = if by <= NARROW { self.wraps::<R, u32>(x, top)? } else { self.wraps::<R, R>(x, top)? };
        let shifted = |(&x, carried): (&R, &R)| {
            let wrap = top(&x).sub(*carried).shl(R::BITS - bits);
            x.add(before).shr(bits).sub(wrap).sub(after)
        };
        let each = x.iter().zip(&carried).map(|(x, carried)| {
            let held = x.held.as_ref().zip(carried.held.as_ref());
            Share { held: held.map(|(x, carried)| x.iter().zip(carried).map(shifted).collect()), rows: x.rows }
        });
        Ok(each.collect())
    }

    /// m n, in words of a ring that has as many bits as are cut off.
    fn wraps<R: Ring, W: Ring>(&mut self, x: &[&Share<Vec<R>>], top: impl Fn(&R) -> R) -> Result<Vec<Share<Vec<R>>>> {
        let word = |x: &R| W::from_u128(top(x).to_u128());
        let known: Vec<[Share<Vec<W>>; 2]> =
            x.iter().map(|x| self.known(x.rows, || x.own().iter().map(word).collect())).collect();
        let terms: Vec<Vec<_>> = known.iter().map(|[m, n]| vec![(m, n)]).collect();
        let both = self.inner_products_of_vectors(&terms)?;
        let lifted = |words: Vec<W>| words.into_iter().map(|word| R::from_u128(word.to_u128())).collect();
        Ok(both.into_iter().map(|Share { held, rows }| Share { held: held.map(lifted), rows }).collect())
    }

    /// x / 2^by of numbers far within the ring.
    pub(super) fn scaled_vectors<R: Ring>(&mut self, x: &[&Share<Vec<R>>], by: usize) -> Vec<Share<Vec<R>>> {
        assert_truncation::<R>(by);
        let divided = |x: R, up: bool| shifted(x, by as u32, up);
        let mut each = Vec::with_capacity(x.len());
        for x in x {
            let held = x.held.as_ref().map(|held| {
                let drawn: Vec<R> = self.joint.vector(x.rows);
                match self.session.me() {
                    S1 => zip(held, &drawn, |x, r| divided(x.add(r), true)),
                    _ => zip(held, &drawn, |x, r| divided(x.sub(r), false)),
                }
            });
            each.push(Share { held, rows: x.rows });
        }
        each
    }
}
