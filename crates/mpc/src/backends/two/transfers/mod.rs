//! The stock of correlated OTs in both directions, made ahead in batches.
//!
//! Direction d has node d as its sender. Every use takes from the stock in the same order at both nodes. When a
//! direction has too few left, more are made at once, in growing batches, so that few rounds go to making stock and
//! short sessions make little. How many are made follows from how many were taken, which is public: [`Account`] tells
//! it, to the stock and to the declared costs. Where it is known what will be taken, all is made [`ahead`] of its use,
//! in a session of its own.
//!
//! Small batches come from SoftSpokenOT, large ones from silent OT or, on a fast link, from SoftSpokenOT with shorter
//! trees. All are under one offset for each direction, a **departure** from their sources, each of which has one of its
//! own. On a fast link most large operations need no stock: their OTs are made when they are used ([`streams`]).
//!
//! **Hashes** random OTs are correlated ones hashed with [`CorrelationRobustHash`], which suffices against a
//! semi-honest peer. The receiver lacks H(x + i delta) for blocks x that it has and nonzero i. Messages made of
//! shares are added to that, never a function of delta. Strings of several blocks are hashed with
//! [`TweakableCircularHash`] under the number of the block.

pub(super) mod account;
mod ahead;
mod filler;
mod lookups;
pub(super) mod streams;
#[cfg(test)]
mod views;

use std::ops::Range;

use bytemuck::Pod;
use tacit_math::{CorrelationRobustHash, Seed, TweakableCircularHash, wipe};
use tacit_net::Session;
use tacit_ot::correlated::CotReceiver;
use tacit_ot::silent::lookup;
use zeroize::Zeroizing;

pub use account::Order;
pub(super) use lookups::{Elements, Lookups};

use super::NODES;
use super::terms::Terms;
use crate::{MpcError, Result};
use account::Account;
use ahead::Ahead;
use filler::Filler;

/// Most OTs that one batch of products takes, and that are made at a time unless more are needed.
pub(super) const BATCH: usize = 1 << 20;

/// Blocks hashed at a time where only a bit of each is wanted: they stay in the first-level cache.
const PIECE: usize = 512;

/// The stock of one node.
pub(super) struct Stock {
    me: usize,
    accounts: [Account; NODES],
    /// The offset of everything that this node sends but labels of circuits, which have one of their own: a
    /// [`lookup::delta`], thus odd.
    delta: Zeroizing<u128>,
    /// What is made in the engine's session: streams, and all else unless it is made ahead.
    filler: Filler,
    ahead: Option<Ahead>,
    lookup_sender: lookup::Sender,
    lookup_receiver: lookup::Receiver,
    terms: Terms,
    /// The zero blocks that are left to send with, and what to receive with, from the place where the last use ended.
    sending: (Vec<u128>, usize),
    receiving: (CotReceiver, usize),
    hash: CorrelationRobustHash,
    long_hash: TweakableCircularHash,
    /// All that was handed out, so that a test sees what protocols get.
    #[cfg(test)]
    handed: Handed,
    /// The same of what was streamed.
    #[cfg(test)]
    streamed: Handed,
}

/// The OTs that a node was given: the zero blocks of those that it sends; those that it receives.
#[cfg(test)]
#[derive(Default)]
struct Handed {
    sent: Vec<u128>,
    received: CotReceiver,
}

#[cfg(test)]
impl Handed {
    fn receive(received: &mut CotReceiver, choices: &[u64], blocks: &[u128]) {
        received.choices.extend_from_slice(choices);
        received.blocks.extend_from_slice(blocks);
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        wipe(&mut self.sending.0);
    }
}

impl Stock {
    /// A stock that is made in the engine's session: base OTs in both directions.
    pub(super) fn new(session: &mut Session) -> Result<Self> {
        let mut stock = Self::empty(session)?;
        stock.filler.set_up(session)?;
        Ok(stock)
    }

    /// A stock that is made ahead in the second session; the first is the engine's.
    pub(super) fn made_ahead(session: &Session, background: Session) -> Result<Self> {
        let mut stock = Self::empty(session)?;
        let filler = Filler::new(stock.me, *stock.delta);
        stock.ahead = Some(Ahead::start(background, filler, session.abort_handle())?);
        Ok(stock)
    }

    fn empty(session: &Session) -> Result<Self> {
        let me = session.me().0;
        let seed = Seed::random().map_err(|e| MpcError::Randomness(e.to_string()))?;
        let delta = Zeroizing::new(lookup::delta(u128::from_le_bytes(*seed.expose())));
        Ok(Self {
            me,
            accounts: [Account::default(); NODES],
            filler: Filler::new(me, *delta),
            delta,
            ahead: None,
            lookup_sender: lookup::Sender::default(),
            lookup_receiver: lookup::Receiver::default(),
            terms: Terms::default(),
            sending: Default::default(),
            receiving: Default::default(),
            hash: CorrelationRobustHash::new(),
            long_hash: TweakableCircularHash::new(),
            #[cfg(test)]
            handed: Handed::default(),
            #[cfg(test)]
            streamed: Handed::default(),
        })
    }

    /// What is made from now on is made by these terms.
    pub(super) fn agree(&mut self, terms: &Terms) {
        self.terms = terms.clone();
    }

    /// Has a filling made ahead for a step. A stock that is made in the engine's session makes it when it runs short.
    pub(super) fn order(&mut self, step: &str, order: Order) {
        if let Some(ahead) = &mut self.ahead {
            ahead.order(step, order);
        }
    }

    /// Ends what is made ahead, in order.
    pub(super) fn end(mut self) {
        self.ahead.take().into_iter().for_each(Ahead::end);
    }

    /// Ends what is made ahead at once; the peer is told why.
    pub(super) fn abort(&self, reason: &str) {
        self.ahead.iter().for_each(|ahead| ahead.abort(reason));
    }

    /// Makes sure that the OTs needed of each direction are there: `need[d]` with node d as sender.
    pub(super) fn prepare(&mut self, session: &mut Session, need: [usize; NODES]) -> Result<()> {
        for (direction, need) in need.into_iter().enumerate() {
            while let Some(filling) = self.accounts[direction].short(need, &self.terms) {
                self.fill(session, Order { direction, filling })?;
            }
        }
        Ok(())
    }

    /// Has a filling made, or takes the one that was ordered first ahead of its use.
    fn fill(&mut self, session: &mut Session, order: Order) -> Result<()> {
        match &mut self.ahead {
            Some(ahead) => {
                let (order, made) = ahead.take(session.path(), order)?;
                self.put_in(order);
                made.append_to(&mut self.sending.0, &mut self.receiving.0);
                Ok(())
            }
            None => {
                self.put_in(order);
                self.filler.fill(session, order, &mut self.sending.0, &mut self.receiving.0)
            }
        }
    }

    /// Drops what is used of an order's direction, behind whose rest it comes.
    fn put_in(&mut self, order: Order) {
        self.accounts[order.direction].put_in(order.filling);
        if order.direction == self.me {
            let (kept, used) = &mut self.sending;
            kept.drain(..std::mem::take(used));
        } else {
            let (kept, used) = &mut self.receiving;
            kept.choices.drain(..*used / 64);
            kept.blocks.drain(..std::mem::take(used));
        }
    }

    /// Takes the next OTs that this node sends, and says where they lie.
    fn next_sent(&mut self, count: usize) -> Range<usize> {
        self.accounts[self.me].take(count);
        let next = self.sending.1..self.sending.1 + count;
        self.sending.1 = next.end;
        #[cfg(test)]
        self.handed.sent.extend_from_slice(&self.sending.0[next.clone()]);
        next
    }

    /// The same of those that it receives.
    fn next_received(&mut self, count: usize) -> Range<usize> {
        self.accounts[1 - self.me].take(count);
        let next = self.receiving.1..self.receiving.1 + count;
        self.receiving.1 = next.end;
        #[cfg(test)]
        {
            let CotReceiver { choices, blocks, .. } = &self.receiving.0;
            let choices = &choices[next.start / 64..next.end / 64];
            Handed::receive(&mut self.handed.received, choices, &blocks[next.clone()]);
        }
        next
    }

    /// The next `count` OTs that this node sends, not hashed: the hash, the offset and the zero blocks.
    pub(super) fn sent_blocks(&mut self, count: usize) -> (&CorrelationRobustHash, u128, &[u128]) {
        let next = self.next_sent(count);
        (&self.hash, *self.delta, &self.sending.0[next])
    }

    /// The next `count` OTs that this node receives, not hashed: the hash, the choices and the blocks.
    pub(super) fn received_blocks(&mut self, count: usize) -> (&CorrelationRobustHash, &[u64], &[u128]) {
        let next = self.next_received(count);
        let kept = &self.receiving.0;
        (&self.hash, &kept.choices[next.start / 64..next.end / 64], &kept.blocks[next])
    }

    /// Both strings of the next `count` OTs that this node sends, of several blocks, one string after the other, in
    /// place of what was there.
    pub(super) fn sent_long(&mut self, count: usize, blocks: usize, out: &mut [Vec<u128>; 2]) {
        let next = self.next_sent(count);
        let zero = &self.sending.0[next];
        let [first, second] = out;
        self.strings(zero, 0, blocks, first);
        self.strings(zero, *self.delta, blocks, second);
    }

    /// The chosen strings of the next `count` OTs that this node receives, in the same way.
    pub(super) fn received_long(&mut self, count: usize, blocks: usize, out: &mut Vec<u128>) {
        let next = self.next_received(count);
        self.strings(&self.receiving.0.blocks[next], 0, blocks, out);
    }

    /// The choices of the next `count` OTs that this node receives; they are not taken.
    pub(super) fn choices_ahead(&self, count: usize) -> &[u64] {
        let (kept, used) = &self.receiving;
        &kept.choices[*used / 64..(*used + count) / 64]
    }

    /// Where the next uses begin: of what this node sends with, and of what it receives with.
    #[cfg(test)]
    pub(super) fn used(&self) -> [usize; NODES] {
        [self.sending.1, self.receiving.1]
    }

    /// Has what was taken since then taken again, which no protocol may.
    #[cfg(test)]
    pub(super) fn rewind(&mut self, [sent, received]: [usize; NODES]) {
        (self.sending.1, self.receiving.1) = (sent, received);
    }

    /// What was taken since then, if nothing was made meanwhile: the zero blocks; the choices and the blocks.
    #[cfg(test)]
    pub(super) fn taken(&self, [sent, received]: [usize; NODES]) -> (&[u128], &[u64], &[u128]) {
        let CotReceiver { choices, blocks, .. } = &self.receiving.0;
        let choices = &choices[received / 64..self.receiving.1 / 64];
        (&self.sending.0[sent..self.sending.1], choices, &blocks[received..self.receiving.1])
    }

    /// What was streamed since this was last asked: the zero blocks, and what was received.
    #[cfg(test)]
    pub(super) fn take_streamed(&mut self) -> (Vec<u128>, CotReceiver) {
        let Handed { sent, received } = std::mem::take(&mut self.streamed);
        (sent, received)
    }

    /// The offset of the OTs that this node sends.
    #[cfg(test)]
    pub(super) fn offset(&self) -> u128 {
        *self.delta
    }

    /// Notes correlated randomness as drawn by this node, where a test records contents.
    pub(super) fn note<T: Pod>(session: &Session, name: &str, drawn: &[T]) {
        if let Some(transcript) = session.transcript().filter(|transcript| transcript.has_contents()) {
            transcript.note_drawn(name, bytemuck::cast_slice(drawn));
        }
    }

    /// Whether the session records contents for a test, which [`Self::note`] adds to.
    pub(super) fn notes(session: &Session) -> bool {
        session.transcript().is_some_and(|transcript| transcript.has_contents())
    }

    /// Strings of correlated blocks, each plus an offset.
    pub(super) fn strings(&self, correlated: &[u128], offset: u128, blocks: usize, out: &mut Vec<u128>) {
        out.resize(correlated.len() * blocks, 0);
        match blocks {
            1 => self.hash.hash_to(correlated, offset, out),
            _ => self.long_hash.expand(correlated, offset, blocks, out),
        }
    }
}
