//! Making OTs of both directions in one session, under this node's offset.

use tacit_net::{PartyId, Session};
use tacit_ot::Adversary;
use tacit_ot::correlated::CotReceiver;
use tacit_ot::silent::cot;
use tacit_ot::softspoken::{Receiver, Sender};
use zeroize::Zeroizing;

use super::account::{Filling, Order, TREE_DEPTH, Way};
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

/// A filling's OTs at one node.
pub(super) enum Made {
    /// The zero blocks of those that it sends.
    Sending(Vec<u128>),
    /// Those that it receives.
    Receiving(CotReceiver),
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

    /// SoftSpokenOT under the one offset: labels and hashes know one offset for each direction.
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

    /// Makes what is ordered, after [`Self::set_up`].
    pub(super) fn fill(&mut self, session: &mut Session, order: Order) -> Result<Made> {
        if order.filling.way == Way::Streamed {
            self.begin_streams(session)?;
        }
        session.enter("stock");
        let made = if order.direction == self.me {
            self.make_sending(session, order.filling)
        } else {
            self.make_receiving(session, order.filling)
        };
        session.leave();
        made
    }

    fn make_sending(&mut self, session: &mut Session, filling: Filling) -> Result<Made> {
        if filling.way == Way::FirstSilent {
            let setup = cot::Sender::setup_with(session, self.peer(), Adversary::SemiHonest, *self.delta)?;
            self.silent_sender = Some(setup);
        }
        let new = match filling.way {
            Way::FirstSilent | Way::Silent => set_up(&mut self.silent_sender).extend(session, filling.ots)?,
            Way::Streamed => set_up(&mut self.streams).sender.extend(session, filling.ots)?,
            Way::Extended => set_up(&mut self.extended).sender.extend(session, filling.ots)?,
        };
        Ok(Made::Sending(new.zero))
    }

    fn make_receiving(&mut self, session: &mut Session, filling: Filling) -> Result<Made> {
        if filling.way == Way::FirstSilent {
            let setup = cot::Receiver::setup(session, self.peer(), Adversary::SemiHonest)?;
            self.silent_receiver = Some(setup);
        }
        Ok(Made::Receiving(match filling.way {
            Way::FirstSilent | Way::Silent => set_up(&mut self.silent_receiver).extend(session, filling.ots)?,
            Way::Streamed => set_up(&mut self.streams).receiver.extend(session, filling.ots)?,
            Way::Extended => set_up(&mut self.extended).receiver.extend(session, filling.ots)?,
        }))
    }
}

fn set_up<T>(maker: &mut Option<T>) -> &mut T {
    maker.as_mut().expect("what fillings are made from is set up before them")
}
