//! Input by an owner.
//!
//! Functionality: the owner's columns become shared; nobody learns anything but their public shape. The owner, node i:
//!
//! 1. draws x_i from its generator with the node before it, which has it as its second component;
//! 2. sends x_(i+1) = x - x_i to the next node; x_(i+2) is zero.
//!
//! Source: ABY3, section 4.1. **Departures** two of the three masks are fixed.
//!
//! Rounds: 1. The owner sends one copy of the data.

use tacit_math::Plane;
use tacit_net::PartyId;

use super::{Held, NODES, Rep3, Share};
use crate::backends::clients;
use crate::backends::wire::{recv_block, send_masked};
use crate::{Block, Result, Rows, Shape};

impl Rep3 {
    pub(super) fn input_block(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        if owner.0 >= NODES {
            return clients::receive(&mut self.session, owner, shape);
        }
        self.session.next_round();
        let zeros = || Block::zeros(shape);
        match self.holds(owner.0) {
            Some(Held::Mine) => {
                let data = data.expect("the owner has the data");
                assert_eq!(data.shape(), shape, "data of the declared shape");
                // Step 1.
                let x_i = Block::random(shape, &mut self.with_previous);
                // Step 2: x_i masks x from the next node.
                let x_next = data.minus(&x_i);
                let next = self.next();
                send_masked(&mut self.session, next, &x_next)?;
                Ok(share_rows(x_i, x_next))
            }
            // The node before the owner: x_(i+2) and x_i.
            Some(Held::Next) => Ok(share_rows(zeros(), Block::random(shape, &mut self.with_next))),
            // The node after the owner: x_(i+1) and x_(i+2).
            None => Ok(share_rows(recv_block(&mut self.session, owner, shape)?, zeros())),
        }
    }
}

/// Shares from a node's two components.
pub(in crate::backends) fn share_rows(mine: Block, next: Block) -> Rows<Rep3> {
    fn join<T>(mine: Vec<T>, next: Vec<T>) -> Vec<Share<T>> {
        mine.into_iter().zip(next).map(|(mine, next)| Share { mine, next }).collect()
    }
    Rows {
        rows: mine.rows,
        bits: join::<Plane>(mine.bits, next.bits),
        r32: join(mine.r32, next.r32),
        r64: join(mine.r64, next.r64),
        r128: join(mine.r128, next.r128),
    }
}

/// The two components of shared rows.
pub(in crate::backends) fn components(rows: Rows<Rep3>) -> (Block, Block) {
    fn split<T>(columns: Vec<Share<T>>) -> (Vec<T>, Vec<T>) {
        columns.into_iter().map(|c| (c.mine, c.next)).unzip()
    }
    let (bits, r32, r64, r128) = (split(rows.bits), split(rows.r32), split(rows.r64), split(rows.r128));
    let block = |bits, r32, r64, r128| Block { rows: rows.rows, bits, r32, r64, r128 };
    (block(bits.0, r32.0, r64.0, r128.0), block(bits.1, r32.1, r64.1, r128.1))
}
