//! Bits to ring elements.
//!
//! Functionality: a Boolean-shared bit b becomes a shared 0 or 1 of a ring. Discloses nothing. For b = b_0 XOR b_1,
//! with node S alternating from plane to plane:
//!
//! 1. b = b_S + b_R (1 - 2 b_S), of which the second summand is one product of a bit of node R and an element of node S
//!    ([`super::bit_product`]);
//! 2. node S adds b_S to its share.
//!
//! Source: that of [`super::bit_product`].
//!
//! OTs: one a bit. Rounds and bytes: those of the products.

use tacit_math::{Plane, Ring};

use super::bit_product::BitProduct;
use crate::Result;
use crate::backends::two::{NODES, Share, Two};

impl Two {
    pub(in crate::backends::two) fn inject_bits<R: Ring>(
        &mut self,
        bits: &[&Share<Plane>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        let products: Vec<BitProduct<'_, R>> = bits
            .iter()
            .map(|plane| {
                // Step 1: node S gives 1 - 2 b_S, node R its bit.
                let rows = plane.0.rows();
                let sends = self.next_sender() == self.me();
                let elements = sends.then(|| (0..rows).map(|row| sign(bit(plane.0.words(), row))).collect());
                BitProduct { rows, bits: (!sends).then(|| plane.0.words()), elements }
            })
            .collect();
        let mut shares = self.bit_products(&products)?;
        for ((share, product), plane) in shares.iter_mut().zip(&products).zip(bits) {
            // Step 2.
            if product.elements.is_some() {
                share.iter_mut().enumerate().for_each(|(row, share)| *share = share.add(bit(plane.0.words(), row)));
            }
        }
        Ok(shares.into_iter().map(Share).collect())
    }

    /// Who gives the elements of the next injection: the nodes in turn.
    fn next_sender(&mut self) -> usize {
        self.turn = (self.turn + 1) % NODES;
        self.turn
    }
}

/// The bit of a row as a ring element.
fn bit<R: Ring>(words: &[u64], row: usize) -> R {
    R::from_u128(u128::from(words[row / 64] >> (row % 64) & 1))
}

/// 1 - 2 bit.
fn sign<R: Ring>(bit: R) -> R {
    R::ONE.sub(bit.shl(1))
}
