//! The only way out: opening to the recipients of a permit.
//!
//! Functionality: the recipients learn the values, nobody else learns anything. To each recipient the node before it
//! sends the component that the recipient lacks. Bits behind the last row of a plane are zero ([`tacit_math::Plane`]).
//!
//! Rounds: 1, if a recipient is a node. For each one that is, the node before it sends one copy of the data.

use tacit_net::PartyId;

use super::input::components;
use super::{NODES, Rep3, neighbour};
use crate::backends::clients;
use crate::backends::recipients::{recipients, record};
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
        let (mine, next) = components(rows.clone());
        if recipients.contains(&self.next()) {
            let next = self.next();
            send_open(&mut self.session, next, &mine)?;
        }
        if !recipients.contains(&self.session.me()) {
            return Ok(None);
        }
        let previous = self.previous();
        let opened = recv_block(&mut self.session, previous, shape)?.plus(&mine).plus(&next);
        Ok(Some(record(&self.session, opened)))
    }
}

/// The node that sends to a recipient.
pub(super) fn sender_to(recipient: usize) -> usize {
    neighbour(PartyId(recipient), NODES - 1).0
}
