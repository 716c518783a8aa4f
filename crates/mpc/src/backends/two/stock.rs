//! The stock of correlated OTs in both directions, made ahead in batches.
//!
//! Direction d has node d as its sender. Every use takes from the stock in the same order at both nodes. When a direction has too
//! few left, more are made at once, in growing batches, so that few rounds go to making stock and short sessions make little.
//! How many are made follows from how many were taken, which is public: [`Account`] tells it, to the stock and to the declared costs.
//!
//! Small batches come from SoftSpokenOT, large ones from silent OT or, on a fast link, from SoftSpokenOT with shorter trees, all under one offset
//! for each direction. On a fast link most large operations need no stock: their OTs are made when they are used ([`streams`]).
//!
//! Random OTs are correlated ones hashed with [`CrHash`], which suffices against a semi-honest peer; of strings longer than
//! a block the further blocks are hashed with [`Tccr`] under their number.

mod lookups;
pub(super) mod streams;

use tacit_math::{CrHash, Seed, Tccr};
use tacit_net::{PartyId, Session};
use tacit_ot::Adversary;
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::silent::{cot, lookup};
use tacit_ot::softspoken::{self, Receiver, Sender};
use zeroize::Zeroizing;

pub(super) use lookups::{Elements, Lookups};

use super::NODES;
use crate::{Link, MpcError, Result};

/// Most OTs that one batch of products takes, and that are made at a time unless more are needed.
pub(super) const BATCH: usize = 1 << 20;

/// OTs that are made the first time.
const FIRST: usize = 1 << 12;

/// From so many OTs on they are made by silent OT, which needs a setup of its own and next to no traffic.
const SILENT_FROM: usize = 1 << 18;

/// SoftSpokenOT's k: 3.9 bytes an OT from its receiver, 8 and 7.5 AES blocks an OT.
const TREE_DEPTH: usize = 4;

/// Blocks hashed at a time where only a bit of each is wanted: they stay in the first-level cache.
const PIECE: usize = 512;

/// One filling of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filling {
    ots: usize,
    way: Way,
}

/// How OTs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By SoftSpokenOT.
    Extended,
    /// By silent OT, with its setup.
    FirstSilent,
    /// By silent OT.
    Silent,
    /// As OTs that are streamed.
    Streamed,
}

impl Filling {
    /// What it costs, without the setup of streams.
    pub(super) fn cost(self) -> tacit_ot::Cost {
        let adversary = Adversary::SemiHonest;
        match self.way {
            Way::Extended => softspoken::extension_cost(TREE_DEPTH, adversary, self.ots),
            Way::FirstSilent => cot::setup_cost(adversary) + cot::extension_cost(adversary, self.ots),
            Way::Silent => cot::extension_cost(adversary, self.ots),
            Way::Streamed => softspoken::extension_cost(streams::DEPTH, adversary, self.ots),
        }
    }

    /// Whether streams must be set up for it.
    pub(super) fn is_streamed(self) -> bool {
        self.way == Way::Streamed
    }
}

/// What is known to everyone of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    left: usize,
    last: usize,
    silent: bool,
    /// Whether lookups have been made.
    looks_up: bool,
}

impl Account {
    /// Makes sure that so many are there; gives what must be made for that on the declared link.
    pub(super) fn prepare(&mut self, need: usize, link: Option<Link>) -> Option<Filling> {
        assert!(need.is_multiple_of(64), "whole words of choices");
        if need <= self.left {
            return None;
        }
        self.last = (2 * self.last).clamp(FIRST, BATCH);
        let more = (need - self.left).max(self.last).next_multiple_of(FIRST);
        self.left += more;
        let way = match (more >= SILENT_FROM, self.silent) {
            _ if streams::streams(link, more) => Way::Streamed,
            (false, _) => Way::Extended,
            (true, false) => Way::FirstSilent,
            (true, true) => Way::Silent,
        };
        self.silent |= way == Way::FirstSilent;
        Some(Filling { ots: more, way })
    }

    /// Takes so many of those that are there.
    pub(super) fn take(&mut self, count: usize) {
        self.left = self.left.checked_sub(count).expect("no more is taken than was prepared");
    }
}

/// The stock of one node.
pub(super) struct Stock {
    me: usize,
    accounts: [Account; NODES],
    /// The offset of everything that this node sends: a [`lookup::delta`], thus odd.
    delta: Zeroizing<u128>,
    sender: Sender,
    receiver: Receiver,
    silent_sender: Option<cot::Sender>,
    silent_receiver: Option<cot::Receiver>,
    lookup_sender: lookup::Sender,
    lookup_receiver: lookup::Receiver,
    streams: Option<streams::Streams>,
    link: Option<Link>,
    /// What is left to send with, and what to receive with, from the place where the last use ended.
    sending: (CotSender, usize),
    receiving: (CotReceiver, usize),
    hash: CrHash,
    long_hash: Tccr,
}

impl Stock {
    /// Base OTs in both directions.
    pub(super) fn new(session: &mut Session) -> Result<Self> {
        let me = session.me().0;
        let peer = PartyId(1 - me);
        let seed = Seed::random().map_err(|e| MpcError::Randomness(e.to_string()))?;
        let delta = Zeroizing::new(lookup::delta(u128::from_le_bytes(seed.expose())));
        let send = |session: &mut Session| Sender::setup_with(session, peer, Adversary::SemiHonest, TREE_DEPTH, *delta);
        let receive = |session: &mut Session| Receiver::setup(session, peer, Adversary::SemiHonest, TREE_DEPTH);
        let (sender, receiver) = if me == 0 {
            let sender = send(session)?;
            (sender, receive(session)?)
        } else {
            let receiver = receive(session)?;
            (send(session)?, receiver)
        };
        Ok(Self {
            me,
            accounts: [Account::default(); NODES],
            delta,
            sender,
            receiver,
            silent_sender: None,
            silent_receiver: None,
            lookup_sender: lookup::Sender::default(),
            lookup_receiver: lookup::Receiver::default(),
            streams: None,
            link: None,
            sending: Default::default(),
            receiving: Default::default(),
            hash: CrHash::new(),
            long_hash: Tccr::new(),
        })
    }

    /// What is made from now on is made for this link.
    pub(super) fn declare(&mut self, link: Link) {
        self.link = Some(link);
    }

    /// Makes sure that so many OTs of each direction are there: `need[d]` with node d as sender.
    pub(super) fn prepare(&mut self, session: &mut Session, need: [usize; NODES]) -> Result<()> {
        for (direction, need) in need.into_iter().enumerate() {
            let Some(filling) = self.accounts[direction].prepare(need, self.link) else { continue };
            if filling.is_streamed() {
                self.begin_streams(session)?;
            }
            session.enter("stock");
            let made = if direction == self.me {
                self.make_sending(session, filling)
            } else {
                self.make_receiving(session, filling)
            };
            session.leave();
            made?;
        }
        Ok(())
    }

    fn make_sending(&mut self, session: &mut Session, filling: Filling) -> Result<()> {
        let peer = PartyId(1 - self.me);
        if filling.way == Way::FirstSilent {
            self.silent_sender = Some(cot::Sender::setup_with(session, peer, Adversary::SemiHonest, *self.delta)?);
        }
        let new = match (filling.way, &mut self.silent_sender, &mut self.streams) {
            (Way::FirstSilent | Way::Silent, Some(silent), _) => silent.extend(session, filling.ots)?,
            (Way::Streamed, _, Some(streams)) => streams.sender.extend(session, filling.ots)?,
            _ => self.sender.extend(session, filling.ots)?,
        };
        let (kept, used) = &mut self.sending;
        refill(&mut kept.zero, *used, new.zero);
        *used = 0;
        Ok(())
    }

    fn make_receiving(&mut self, session: &mut Session, filling: Filling) -> Result<()> {
        let peer = PartyId(1 - self.me);
        if filling.way == Way::FirstSilent {
            self.silent_receiver = Some(cot::Receiver::setup(session, peer, Adversary::SemiHonest)?);
        }
        let new = match (filling.way, &mut self.silent_receiver, &mut self.streams) {
            (Way::FirstSilent | Way::Silent, Some(silent), _) => silent.extend(session, filling.ots)?,
            (Way::Streamed, _, Some(streams)) => streams.receiver.extend(session, filling.ots)?,
            _ => self.receiver.extend(session, filling.ots)?,
        };
        let (kept, used) = &mut self.receiving;
        refill(&mut kept.blocks, *used, new.blocks);
        refill(&mut kept.choices, *used / 64, new.choices);
        *used = 0;
        Ok(())
    }

    /// The next so many OTs that this node sends, not hashed: the hash, the offset and the zero blocks.
    pub(super) fn sent_blocks(&mut self, count: usize) -> (&CrHash, u128, &[u128]) {
        self.accounts[self.me].take(count);
        let (kept, used) = &mut self.sending;
        *used += count;
        (&self.hash, *self.delta, &kept.zero[*used - count..*used])
    }

    /// The next so many OTs that this node receives, not hashed: the hash, the choices and the blocks.
    pub(super) fn received_blocks(&mut self, count: usize) -> (&CrHash, &[u64], &[u128]) {
        self.accounts[1 - self.me].take(count);
        let (kept, used) = &mut self.receiving;
        *used += count;
        let choices = &kept.choices[(*used - count) / 64..*used / 64];
        (&self.hash, choices, &kept.blocks[*used - count..*used])
    }

    /// Both strings of the next so many OTs that this node sends, of several blocks, one string after the other.
    pub(super) fn sent_long(&mut self, count: usize, blocks: usize) -> [Vec<u128>; 2] {
        self.accounts[self.me].take(count);
        let (kept, used) = &self.sending;
        let zero = &kept.zero[*used..*used + count];
        let one: Vec<u128> = zero.iter().map(|zero| zero ^ *self.delta).collect();
        let strings = [self.strings(zero, blocks), self.strings(&one, blocks)];
        self.sending.1 += count;
        strings
    }

    /// The choices and the chosen strings of the next so many OTs that this node receives, of several blocks, one string after the other.
    pub(super) fn received_long(&mut self, count: usize, blocks: usize) -> (Vec<u64>, Vec<u128>) {
        self.accounts[1 - self.me].take(count);
        let choices = self.choices_ahead(count).to_vec();
        let (kept, used) = &self.receiving;
        let strings = self.strings(&kept.blocks[*used..*used + count], blocks);
        self.receiving.1 += count;
        (choices, strings)
    }

    /// The choices of the next so many OTs that this node receives; they are not taken.
    pub(super) fn choices_ahead(&self, count: usize) -> &[u64] {
        let (kept, used) = &self.receiving;
        &kept.choices[*used / 64..(*used + count) / 64]
    }

    /// The offset of the OTs that this node sends, which is odd.
    pub(super) fn offset(&self) -> u128 {
        *self.delta
    }

    fn strings(&self, correlated: &[u128], blocks: usize) -> Vec<u128> {
        if blocks == 1 {
            let mut out = correlated.to_vec();
            self.hash.hash_blocks(&mut out);
            return out;
        }
        let mut out: Vec<u128> = correlated.iter().flat_map(|&block| std::iter::repeat_n(block, blocks)).collect();
        self.long_hash.hash_blocks(&mut out, |i| (i % blocks) as u128);
        out
    }
}

/// Drops what is used of a stock and puts new behind the rest.
fn refill<T: Copy>(kept: &mut Vec<T>, used: usize, new: Vec<T>) {
    if used == kept.len() {
        *kept = new;
    } else {
        kept.drain(..used);
        kept.extend_from_slice(&new);
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, BATCH, FIRST, Filling, Way};
    use crate::Link;

    #[test]
    fn stock_is_made_in_growing_batches_and_never_too_little() {
        let mut account = Account::default();
        let extended = |ots| Some(Filling { ots, way: Way::Extended });
        assert_eq!(account.prepare(64, None), extended(FIRST));
        account.take(64);
        assert_eq!(account.prepare(FIRST - 64, None), None);
        assert_eq!(account.prepare(FIRST, None), extended(2 * FIRST));
        account.take(FIRST);
        let ots = 3 * BATCH - FIRST;
        assert_eq!(account.prepare(3 * BATCH, None), Some(Filling { ots, way: Way::FirstSilent }));
        account.take(3 * BATCH);
        assert_eq!(account.prepare(BATCH, None), Some(Filling { ots: BATCH, way: Way::Silent }));
        account.take(BATCH);
        let fast = Some(Link { latency: 1e-4, bandwidth: 1e9 });
        assert_eq!(account.prepare(BATCH, fast), Some(Filling { ots: BATCH, way: Way::Streamed }));
    }
}
