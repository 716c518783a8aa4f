//! Ring elements where a shared bit is one, else zero.
//!
//! Functionality: for a Boolean-shared bit b and a shared ring element v, shares of b v. Discloses nothing. (b_0 XOR
//! b_1) (v_0 + v_1) = b_0 v_0 + b_1 v_1 + b_1 (1 - 2 b_0) v_0 + b_0 (1 - 2 b_1) v_1:
//!
//! 1. the last two summands are products of a bit of one node and an element of the other, (1 - 2 b_i) v_i of node i
//!    ([`super::bit_product`]);
//! 2. node i adds b_i v_i to its share.
//!
//! Source: that of [`super::bit_product`].
//!
//! OTs: two a bit, one in each direction. Rounds and bytes: those of the products.

use tacit_math::{Plane, Ring};

use super::bit_product::{BitProduct, for_each_mask, signed};
use crate::Result;
use crate::backends::two::{Share, Two};

impl Two {
    pub(in crate::backends::two) fn bits_times_vectors<R: Ring>(
        &mut self,
        bits: &[&Share<Plane>],
        x: &[&Share<Vec<R>>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        let vectors: Vec<&[R]> = x.iter().map(|x| x.0.as_slice()).collect();
        Ok(self.selections(bits, &vectors)?.into_iter().map(Share).collect())
    }

    /// This node's shares of the elements of which x are its components.
    pub(super) fn selections<R: Ring>(&mut self, bits: &[&Share<Plane>], x: &[&[R]]) -> Result<Vec<Vec<R>>> {
        let products: Vec<BitProduct<'_, R>> = bits
            .iter()
            .zip(x)
            .map(|(plane, x)| {
                // Step 1: this node gives b_i to one product, (1 - 2 b_i) v_i to the other.
                let mut elements = x.to_vec();
                for_each_mask(plane.0.words(), elements.iter_mut(), |b_i, v_i| *v_i = signed(b_i, *v_i));
                BitProduct { rows: x.len(), bits: Some(plane.0.words()), elements: Some(elements) }
            })
            .collect();
        let mut shares = self.bit_products(&products)?;
        for ((share, plane), x) in shares.iter_mut().zip(bits).zip(x) {
            // Step 2.
            let own = share.iter_mut().zip(*x);
            for_each_mask(plane.0.words(), own, |b_i, (share, v_i)| *share = share.add(v_i.and(b_i)));
        }
        Ok(shares)
    }
}
