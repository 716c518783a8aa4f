//! The only way out of sharing, and numbers told to the other node.
//!
//! `open`: the recipients learn the values, nobody else learns anything. To each recipient the other node sends its
//! component. Bits behind the last row of a plane are zero ([`tacit_math::Plane`]). 1 round, if a recipient is a node;
//! one copy of the data for each one that is.
//!
//! `announce`: 1 round, 8 bytes from the owner.

use tacit_net::PartyId;

use crate::backends::clients;
use crate::backends::recipients::{announced, recipients, record};
use crate::backends::two::{NODES, Share, Two};
use crate::backends::wire::{recv_block, send_open};
use crate::{Block, Permit, Result, Rows};

impl Two {
    pub(in crate::backends::two) fn open_rows(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let [recipients, clients] = recipients(&self.session, NODES, &permit, rows.shape())?;
        clients::give(self, rows, &clients)?;
        if recipients.is_empty() {
            return Ok(None);
        }
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

    pub(in crate::backends::two) fn announce_number(
        &mut self,
        owner: PartyId,
        number: Option<u64>,
        permit: Permit,
    ) -> Result<u64> {
        announced(&mut self.session, NODES, owner, number, &permit)
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
