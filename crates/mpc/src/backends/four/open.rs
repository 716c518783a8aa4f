//! The only ways out: opening to the recipients of a permit, and a number told to all servers.
//!
//! `open`: the recipients learn the values, nobody else learns anything. A primary server gets the component of the
//! other one. An assistant gets both under a fresh sharing of zero, as components alone may tell of earlier steps. Bits
//! behind the last row of a plane are zero ([`tacit_math::Plane`]). 1 round, if a recipient is a server; a copy of the
//! data for each component.
//!
//! `announce`: 1 round, 8 bytes from the owner to each other server.

use tacit_net::PartyId;

use super::input::component;
use super::{Four, HOLDERS, NODES};
use crate::backends::clients;
use crate::backends::components::Components;
use crate::backends::recipients::{announced, recipients, record};
use crate::backends::wire::{recv_block, send_open};
use crate::{Block, Permit, Result, Rows};

impl Four {
    pub(super) fn open_rows(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let [recipients, clients] = recipients(&self.session, NODES, &permit, rows.shape())?;
        clients::give(self, rows, &clients)?;
        if recipients.is_empty() {
            return Ok(None);
        }
        self.session.next_round();
        let (me, shape) = (self.session.me(), rows.shape());
        let own = component(rows.clone()).filter(|_| self.holds());
        if let Some(own) = &own {
            let [holders, assistants]: [Vec<PartyId>; 2] =
                [true, false].map(|holds| recipients.iter().copied().filter(|to| (to.0 < HOLDERS) == holds).collect());
            for recipient in holders.into_iter().filter(|&recipient| recipient != me) {
                send_open(&mut self.session, recipient, own)?;
            }
            if !assistants.is_empty() {
                let mut masked = own.clone();
                self.add_zero(&mut masked);
                for recipient in assistants {
                    send_open(&mut self.session, recipient, &masked)?;
                }
            }
        }
        if !recipients.contains(&me) {
            return Ok(None);
        }
        let mut opened = own.unwrap_or_else(|| Block::zeros(shape));
        for holder in (0..HOLDERS).map(PartyId).filter(|&holder| holder != me) {
            opened = opened.plus(&recv_block(&mut self.session, holder, shape)?);
        }
        Ok(Some(record(&self.session, opened)))
    }

    pub(super) fn announce_number(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        announced(&mut self.session, NODES, owner, number, &permit)
    }
}
