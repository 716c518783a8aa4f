//! Making OTs of both directions in one session, under this node's offset.

use std::mem::take;

use tacit_net::{PartyId, Session};
use tacit_ot::Adversary;
use tacit_ot::correlated::CotReceiver;
use tacit_ot::silent::cot;
use tacit_ot::softspoken::{Receiver, Sender};
use zeroize::Zeroizing;

use super::account::{Filling, Maker, Order, TREE_DEPTH};
use super::streams::{self, Streams};
use crate::Result;

/// What one session's OTs are made from, set up as it is needed.
pub(super) struct Filler {
    me: usize,
    /// The offset of everything that this node sends.
    delta: Zeroizing<u128>,
    extended: Option<Streams>,
    silent_sender: Option<cot::Sender>,
    silent_receiver: Option<cot::Receiver>,
    pub(super) streams: Option<Streams>,
}

/// A filling's OTs at one node, of one direction: the zero blocks of those that it sends, or those that it receives.
#[derive(Default)]
pub(super) struct Made {
    pub(super) sending: Vec<u128>,
    pub(super) receiving: CotReceiver,
}

impl Made {
    /// Puts it behind what is kept.
    pub(super) fn append_to(mut self, sending: &mut Vec<u128>, receiving: &mut CotReceiver) {
        append(sending, take(&mut self.sending));
        append(&mut receiving.blocks, take(&mut self.receiving.blocks));
        append(&mut receiving.choices, take(&mut self.receiving.choices));
    }
}

/// Copies only what must be.
fn append<T: Copy>(kept: &mut Vec<T>, new: Vec<T>) {
    if kept.is_empty() && !new.is_empty() {
        *kept = new;
    } else {
        kept.extend_from_slice(&new);
    }
}

impl Filler {
    pub(super) fn new(me: usize, delta: u128) -> Self {
        let delta = Zeroizing::new(delta);
        Self { me, delta, extended: None, silent_sender: None, silent_receiver: None, streams: None }
    }

    /// Base OTs in both directions.
    pub(super) fn set_up(&mut self, session: &mut Session) -> Result<()> {
        if self.extended.is_none() {
            self.extended = Some(self.both_directions(session, TREE_DEPTH)?);
        }
        Ok(())
    }

    /// Sets streams up, unless they are.
    pub(super) fn begin_streams(&mut self, session: &mut Session) -> Result<()> {
        if self.streams.is_none() {
            session.enter("stock");
            let streams = self.both_directions(session, streams::DEPTH);
            session.leave();
            self.streams = Some(streams?);
        }
        Ok(())
    }

    /// SoftSpokenOT under the one offset: lookups and hashes know one offset for each direction.
    fn both_directions(&self, session: &mut Session, depth: usize) -> Result<Streams> {
        let (peer, adversary) = (self.peer(), Adversary::SemiHonest);
        let send = |session: &mut Session| Sender::setup_with(session, peer, adversary, depth, *self.delta);
        let receive = |session: &mut Session| Receiver::setup(session, peer, adversary, depth);
        Ok(if self.me == 0 {
            let sender = send(session)?;
            Streams { sender, receiver: receive(session)? }
        } else {
            let receiver = receive(session)?;
            Streams { sender: send(session)?, receiver }
        })
    }

    fn peer(&self) -> PartyId {
        PartyId(1 - self.me)
    }

    /// Makes what is ordered, after [`Self::set_up`], and puts it behind what is kept of its direction.
    pub(super) fn fill(
        &mut self,
        session: &mut Session,
        order: Order,
        sending: &mut Vec<u128>,
        receiving: &mut CotReceiver,
    ) -> Result<()> {
        if order.filling.maker == Maker::Streamed {
            self.begin_streams(session)?;
        }
        session.enter("stock");
        let made = if order.direction == self.me {
            self.make_sending(session, order.filling, sending)
        } else {
            self.make_receiving(session, order.filling, receiving)
        };
        session.leave();
        made
    }

    fn make_sending(&mut self, session: &mut Session, filling: Filling, zero: &mut Vec<u128>) -> Result<()> {
        if filling.maker == Maker::FirstSilent {
            assert!(self.silent_sender.is_none(), "{ONCE}");
            let setup = cot::Sender::setup_with(session, self.peer(), Adversary::SemiHonest, *self.delta)?;
            self.silent_sender = Some(setup);
        }
        match filling.maker {
            Maker::FirstSilent | Maker::Silent => set_up(&mut self.silent_sender).append(session, filling.ots, zero)?,
            Maker::Streamed => set_up(&mut self.streams).sender.append(session, filling.ots, zero)?,
            Maker::Extended => set_up(&mut self.extended).sender.append(session, filling.ots, zero)?,
        }
        Ok(())
    }

    fn make_receiving(&mut self, session: &mut Session, filling: Filling, ots: &mut CotReceiver) -> Result<()> {
        if filling.maker == Maker::FirstSilent {
            assert!(self.silent_receiver.is_none(), "{ONCE}");
            let setup = cot::Receiver::setup(session, self.peer(), Adversary::SemiHonest)?;
            self.silent_receiver = Some(setup);
        }
        let CotReceiver { choices, blocks, .. } = ots;
        match filling.maker {
            Maker::FirstSilent | Maker::Silent => {
                set_up(&mut self.silent_receiver).append(session, filling.ots, choices, blocks)?;
            }
            Maker::Streamed => set_up(&mut self.streams).receiver.append(session, filling.ots, choices, blocks)?,
            Maker::Extended => set_up(&mut self.extended).receiver.append(session, filling.ots, choices, blocks)?,
        }
        Ok(())
    }
}

/// A second setup would number its trees from zero again, under the same offset.
const ONCE: &str = "silent transfers of a direction are set up once";

fn set_up<T>(maker: &mut Option<T>) -> &mut T {
    maker.as_mut().expect("what fillings are made from is set up before them")
}
