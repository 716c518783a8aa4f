//! The only way out: opening to the recipients of a permit.
//!
//! Functionality: the recipients learn the values, nobody else learns anything. To each recipient the node before it sends the
//! component that the recipient lacks, with the unused bits behind the last row of every plane cleared.
//!
//! Rounds: 1. For each recipient, the node before it sends one copy of the data.

use tacit_math::Plane;
use tacit_net::PartyId;

use super::input::components;
use super::{NODES, Rep3, neighbour};
use crate::backends::recipients::{recipients, record};
use crate::backends::wire::{recv_block, send_block};
use crate::{Block, Permit, Result, Rows};

impl Rep3 {
    pub(super) fn open_rows(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let recipients = recipients(&self.session, NODES, &permit)?;
        self.session.next_round();
        let shape = rows.shape();
        let (mut mine, next) = components(rows.clone());
        mine.bits.iter_mut().for_each(Plane::clear_padding);
        if recipients.contains(&self.next()) {
            let next = self.next();
            send_block(&mut self.session, next, &mine)?;
        }
        if !recipients.contains(&self.session.me()) {
            return Ok(None);
        }
        let previous = self.previous();
        let mut opened = recv_block(&mut self.session, previous, shape)?.plus(&mine).plus(&next);
        opened.bits.iter_mut().for_each(Plane::clear_padding);
        record(&self.session, &mut opened);
        Ok(Some(opened))
    }
}

/// The node that sends to a recipient.
pub(super) fn sender_to(recipient: usize) -> usize {
    neighbour(PartyId(recipient), NODES - 1).0
}
