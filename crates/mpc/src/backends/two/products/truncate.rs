//! Functions of both nodes' components: truncation with an exact wrap, and split products.
//!
//! Functionality: for x = s + t, where node 0 has s and node 1 has t, what docs/protocols/arrays.md states. Discloses
//! nothing. With S = s + 2^(k-2) - 1, m and n the top bits of S and t, S + t wraps if m OR n:
//!
//! 1. nodes shift S and t by themselves, and take m and n away where the wrap would be;
//! 2. one AND gives m n, of which each node knows one factor; it is injected, into words of 32 bits if f <= 32, and
//!    added there.
//!
//! A split product is an inner product of vectors of which each is known to one node. All that is sent is sent by
//! [`super::and`], [`super::inject`] and [`super::multiply`].

use tacit_math::{Plane, Ring};

use crate::backends::two::{Share, Two};
use crate::split::{assert_products, assert_truncation};
use crate::{Apart, Backend, Result, Split};

/// The widest truncation whose wrap is injected into words of 32 bits.
pub(in crate::backends::two) const NARROW: usize = 32;

impl Two {
    pub(in crate::backends::two) fn split_products<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        f: &impl Split<R>,
    ) -> Result<Vec<Share<Vec<R>>>> {
        assert_products(f);
        let mut own = Vec::with_capacity(x.len());
        let factors: Vec<Vec<[Share<Vec<R>>; 2]>> = x
            .iter()
            .map(|x| {
                let rows = x.0.len();
                let (mut words, mut alone) = (vec![R::ZERO; rows * f.products()], vec![R::ZERO; rows]);
                match self.me() {
                    0 => f.first(&x.0, &mut words),
                    _ => f.second(&x.0, &mut words, &mut alone),
                }
                own.push(alone);
                let each = (0..f.products()).map(|i| {
                    let (known, other) = (words[i * rows..(i + 1) * rows].to_vec(), vec![R::ZERO; rows]);
                    if self.me() == 0 { [Share(known), Share(other)] } else { [Share(other), Share(known)] }
                });
                each.collect()
            })
            .collect();
        let terms: Vec<Vec<_>> = factors.iter().map(|pairs| pairs.iter().map(|[u, w]| (u, w)).collect()).collect();
        let mut sums = self.inner_products(&terms)?;
        for (sum, own) in sums.iter_mut().zip(own) {
            sum.0.iter_mut().zip(own).for_each(|(sum, own)| *sum = sum.add(own));
        }
        Ok(sums)
    }

    /// dither(s, t).
    pub(in crate::backends::two) fn truncated<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        by: usize,
    ) -> Result<Vec<Share<Vec<R>>>> {
        self.truncated_less(x, by, R::ONE)
    }

    /// x / 2^f rounded down, less a carry; and the low bits of s and t.
    pub(in crate::backends::two) fn truncated_apart<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        by: usize,
    ) -> Result<Vec<Apart<Self, R>>> {
        let wholes = self.truncated_less(x, by, R::ZERO)?;
        let apart = |(less_carry, x): (_, &&Share<Vec<R>>)| Apart { less_carry, low: self.two_summands(x, by) };
        Ok(wholes.into_iter().zip(x).map(apart).collect())
    }

    fn truncated_less<R: Ring>(&mut self, x: &[&Share<Vec<R>>], by: usize, less: R) -> Result<Vec<Share<Vec<R>>>> {
        assert_truncation::<R>(by);
        let (by_bits, quarter) = (by as u32, R::ONE.shl(R::BITS - 2));
        let first = self.me() == 0;
        let (before, after) =
            if first { (quarter.sub(less), quarter.shr(by_bits).sub(less)) } else { (R::ZERO, R::ZERO) };
        let top = |x: &R| x.add(before).bit(R::BITS - 1);
        let tops: Vec<[Share<Plane>; 2]> = x
            .iter()
            .map(|x| {
                let rows = x.0.len();
                let (own, other) = (Plane::from_fn(rows, |i| top(&x.0[i]) == R::ONE), Plane::zeros(rows));
                if first { [Share(own), Share(other)] } else { [Share(other), Share(own)] }
            })
            .collect();
        let [m, n] = [0, 1].map(|side| tops.iter().map(|tops| &tops[side]).collect::<Vec<_>>());
        // Step 2.
        let both = self.and(&m, &n)?;
        let both: Vec<&Share<Plane>> = both.iter().collect();
        let carried: Vec<Vec<R>> = if by <= NARROW {
            let lifted = |word: u32| R::from_u128(word.into());
            self.inject::<u32>(&both)?.into_iter().map(|x| x.0.into_iter().map(lifted).collect()).collect()
        } else {
            self.inject::<R>(&both)?.into_iter().map(|x| x.0).collect()
        };
        // Step 1, for the wrap m + n - m n.
        let shifted = |(&x, carried): (&R, R)| {
            let wrap = top(&x).sub(carried).shl(R::BITS - by_bits);
            x.add(before).shr(by_bits).sub(wrap).sub(after)
        };
        Ok(x.iter().zip(carried).map(|(x, carried)| Share(x.0.iter().zip(carried).map(shifted).collect())).collect())
    }
}
