//! Input by an owner.
//!
//! Functionality: the owner's columns become shared by S1 and S2; nobody learns anything but their public shape. The
//! owner draws one component from a generator with the primary server that holds it, and the other one is the rest:
//!
//! - S1 and S2 draw the other one's component from their joint generator. No message.
//! - Sa draws x1 from its generator with S1, and sends x2 to S2. Sb draws x2 from its generator with S2, and sends x1
//!   to S1. 1 round; one copy of the data.
//!
//! All owners are alike in rounds: one. Source: PrivPy, section 4.3, step 2.

use tacit_net::PartyId;

use super::{Four, NODES, S1, S2, SA, Share};
use crate::backends::clients;
use crate::backends::wire::{recv_block, send_masked};
use crate::linear::Column;
use crate::{Block, Result, Rows, Shape};

impl Four {
    pub(super) fn input_block(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        if owner.0 >= NODES {
            return clients::receive(&mut self.session, owner, shape);
        }
        self.session.next_round();
        // Who draws its component, from which generator, and who gets the rest.
        let (drawing, rest) = match owner {
            S1 => (S2, S1),
            S2 => (S1, S2),
            SA => (S1, S2),
            _ => (S2, S1),
        };
        let me = self.session.me();
        let beside = owner == S1 || owner == S2;
        if me == owner {
            let mut data = data.expect("the owner has the data");
            assert_eq!(data.shape(), shape, "data of the declared shape");
            data.subtract_random(if beside { &mut self.joint } else { &mut self.across });
            if beside {
                return Ok(share_rows(data));
            }
            // What was subtracted masks it.
            send_masked(&mut self.session, rest, &data)?;
            return Ok(no_rows(shape));
        }
        match me {
            _ if me == drawing => {
                let generator = if beside { &mut self.joint } else { &mut self.across };
                Ok(share_rows(Block::random(shape, generator)))
            }
            _ if me == rest => Ok(share_rows(recv_block(&mut self.session, owner, shape)?)),
            _ => Ok(no_rows(shape)),
        }
    }
}

/// Shares from a primary server's component.
pub(in crate::backends) fn share_rows(block: Block) -> Rows<Four> {
    fn wrap<T: Column>(columns: Vec<T>) -> Vec<Share<T>> {
        columns.into_iter().map(Share::new).collect()
    }
    let (bits, r32, r64, r128) = (wrap(block.bits), wrap(block.r32), wrap(block.r64), wrap(block.r128));
    Rows { rows: block.rows, bits, r32, r64, r128 }
}

/// What an assistant knows of shared rows.
pub(super) fn no_rows(shape: Shape) -> Rows<Four> {
    fn none<T>(columns: usize, rows: usize) -> Vec<Share<T>> {
        (0..columns).map(|_| Share::of_rows(rows)).collect()
    }
    let Shape { rows, bits, r32, r64, r128 } = shape;
    Rows { rows, bits: none(bits, rows), r32: none(r32, rows), r64: none(r64, rows), r128: none(r128, rows) }
}

/// A primary server's component of shared rows. An assistant has none, if there are columns.
pub(super) fn component(rows: Rows<Four>) -> Option<Block> {
    fn unwrap<T>(columns: Vec<Share<T>>) -> Option<Vec<T>> {
        columns.into_iter().map(|share| share.held).collect()
    }
    let (bits, r32, r64, r128) = (unwrap(rows.bits)?, unwrap(rows.r32)?, unwrap(rows.r64)?, unwrap(rows.r128)?);
    Some(Block { rows: rows.rows, bits, r32, r64, r128 })
}
