//! The only way out: opening to the recipients of a permit.
//!
//! Functionality: the recipients learn the values, nobody else learns anything. To each recipient the node before it sends the
//! component that the recipient lacks, with the unused bits behind the last row of every plane cleared.
//!
//! Rounds: 1. For each recipient, the node before it sends one copy of the data.

use tacit_math::Plane;
use tacit_net::PartyId;

use super::input::components;
use super::wire::{recv_block, send_block};
use super::{NODES, Rep3, neighbour};
use crate::{Block, MpcError, Permit, Result, Rows};

impl Rep3 {
    pub(super) fn open_rows(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let recipients = self.recipients(&permit)?;
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
        self.record(&mut opened);
        Ok(Some(opened))
    }

    /// The permit's recipients as nodes.
    fn recipients(&self, permit: &Permit) -> Result<Vec<PartyId>> {
        let node = |name: &String| (0..NODES).map(PartyId).find(|&id| self.session.name(id) == name);
        permit
            .recipients()
            .iter()
            .map(|name| {
                node(name).ok_or_else(|| MpcError::NotPermitted {
                    site: permit.site().into(),
                    what: format!("a value to {name}, who is not a node"),
                })
            })
            .collect()
    }

    /// Notes what was opened in the transcript, when one is kept.
    fn record(&self, opened: &mut Block) {
        if let Some(transcript) = self.session.transcript() {
            let mut bytes = Vec::new();
            opened.for_each_bytes(|column| bytes.extend_from_slice(column));
            transcript.note_opened(self.session.path(), &bytes);
        }
    }
}

/// The node that sends to a recipient.
pub(super) fn sender_to(recipient: usize) -> usize {
    neighbour(PartyId(recipient), NODES - 1).0
}
