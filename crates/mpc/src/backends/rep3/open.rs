//! The only ways out: opening to the recipients of a permit, and a number told to all nodes.
//!
//! Functionality: the recipients learn the values, nobody else learns anything. Node i, if it is a recipient, lacks
//! x_(i+2) = x_(i-1):
//!
//! 1. the node before it, which holds x_(i-1) as its first component, sends that;
//! 2. node i adds up x_(i-1) + x_i + x_(i+1).
//!
//! Bits behind the last row of a plane are zero ([`tacit_math::Plane`]). Source: Araki et al., CCS 2016 (sharing).
//!
//! Rounds: 1, if a recipient is a node. For each one that is, the node before it sends one copy of the data.

use tacit_net::PartyId;

use super::input::components;
use super::{NODES, Rep3, neighbour};
use crate::backends::clients;
use crate::backends::recipients::{announced, recipients, record};
use crate::backends::wire::{recv_block, send_open};
use crate::{Block, Permit, Result, Rows};

impl Rep3 {
    pub(super) fn open_rows(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let [recipients, clients] = recipients(&self.session, NODES, &permit, rows.shape())?;
        clients::give(self, rows, &clients)?;
        if recipients.is_empty() {
            return Ok(None);
        }
        self.session.next_round();
        let shape = rows.shape();
        let (x_i, x_next) = components(rows.clone());
        // Step 1: x_i is what the next node lacks.
        if recipients.contains(&self.next()) {
            let next = self.next();
            send_open(&mut self.session, next, &x_i)?;
        }
        if !recipients.contains(&self.session.me()) {
            return Ok(None);
        }
        // Step 2.
        let previous = self.previous();
        let opened = recv_block(&mut self.session, previous, shape)?.plus(&x_i).plus(&x_next);
        Ok(Some(record(&self.session, opened)))
    }

    pub(super) fn announce_number(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        announced(&mut self.session, NODES, owner, number, &permit)
    }
}

/// The node that sends to a recipient.
pub(super) fn sender_to(recipient: usize) -> usize {
    neighbour(PartyId(recipient), NODES - 1).0
}
