//! Input by an owner, the only way out, and numbers told to the other node.
//!
//! `input`: the owner's component is the value less what the common generator gives, which is the peer's component: it knows nothing of
//! the value. No message.
//!
//! `open`: the recipients learn the values, nobody else learns anything. To each recipient the other node sends its component. Bits
//! behind the last row of a plane are zero ([`tacit_math::Plane`]). 1 round; one copy of the data for each recipient.
//!
//! `announce`: 1 round, 8 bytes from the owner.

use tacit_net::PartyId;

use super::{NODES, Share, Two};
use crate::backends::recipients::{announce, recipients, record};
use crate::backends::wire::{recv_block, send_open};
use crate::{Block, Permit, Result, Rows, Shape};

impl Two {
    pub(super) fn input_block(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Rows<Self> {
        if self.session.me() != owner {
            return share_rows(Block::random(shape, &mut self.common));
        }
        let mut data = data.expect("the owner has the data");
        assert_eq!(data.shape(), shape, "data of the declared shape");
        data.subtract_random(&mut self.common);
        share_rows(data)
    }

    pub(super) fn open_rows(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let recipients = recipients(&self.session, NODES, &permit, rows.shape())?;
        self.session.next_round();
        let (peer, shape) = (self.peer(), rows.shape());
        let own = component(rows.clone());
        if recipients.contains(&peer) {
            send_open(&mut self.session, peer, &own)?;
        }
        if !recipients.contains(&self.session.me()) {
            return Ok(None);
        }
        let opened = recv_block(&mut self.session, peer, shape)?.plus(&own);
        Ok(Some(record(&self.session, opened)))
    }

    pub(super) fn announce_number(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        announce(&mut self.session, NODES, owner, number, &permit)
    }
}

/// Shares from a node's component.
pub(in crate::backends) fn share_rows(block: Block) -> Rows<Two> {
    fn wrap<T>(columns: Vec<T>) -> Vec<Share<T>> {
        columns.into_iter().map(Share).collect()
    }
    let (bits, r32, r64, r128) = (wrap(block.bits), wrap(block.r32), wrap(block.r64), wrap(block.r128));
    Rows { rows: block.rows, bits, r32, r64, r128 }
}

/// A node's component of shared rows.
pub(in crate::backends) fn component(rows: Rows<Two>) -> Block {
    fn unwrap<T>(columns: Vec<Share<T>>) -> Vec<T> {
        columns.into_iter().map(|share| share.0).collect()
    }
    let (bits, r32, r64, r128) = (unwrap(rows.bits), unwrap(rows.r32), unwrap(rows.r64), unwrap(rows.r128));
    Block { rows: rows.rows, bits, r32, r64, r128 }
}
