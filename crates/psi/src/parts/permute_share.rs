//! Permute and share: one party's data in an order that only the other knows, as shares of both.
//!
//! **Computes** from data x of the owner and an order π of the permuter additive shares modulo 2^64 of x(π(0)),
//! x(π(1)), ... **Adversary** semi-honest. **Discloses** nothing.
//!
//! **Source** oblivious switching: Mohassel, Sadeghian, "How to Hide Circuits in MPC" (EUROCRYPT 2013), section 3.2.
//! Here it is used as by Garimella, Mohassel, Rosulek, Sadeghian, Singh, "Private Set Operations from Oblivious
//! Switching" (PKC 2021), section 3.
//! 1. The owner draws r, tells x + r and keeps -r: shares of x. Both lead theirs through a Waksman network
//!    ([`network`]) of which the permuter knows the settings.
//! 2. At a switch with setting s and the keys k_0, k_1 of a random OT, the owner takes k_0 from its share a' and adds
//!    it to b'. It sends e = k_0 - k_1 + b' - a'.
//! 3. The permuter has chosen k_s, so it knows q = k_s + s (e + b - a), which it adds to a and takes from b.
//!
//! **Cost** with s = [`network::switches`] (n), about n log2 n - n: 1 round, 8 n bytes from the owner. Then for every
//! 2^20 switches SoftSpokenOT's extension by as many OTs and 2 rounds, with a bit a switch from the permuter and 8
//! bytes a switch from the owner. Memory is that of 2^20 switches. **Departures** the owner's masks are those of the
//! random OTs, so that a correction of one number replaces two messages of two. The permuter lacks the key k_(1-s),
//! which masks e. For given keys, corrections and settings x + r and the permuter's shares determine each other: a
//! simulator draws k_s and e, and leads the shares backwards through the switches. The owner's shares and r determine
//! each other by the k_0.

use std::ops::Range;
use std::slice::Chunks;

use crate::error::PsiError;
use tacit_math::network::{self, Progress, Switches};
use tacit_math::{Prg, Seed, packed, permutation};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::{Adversary, softspoken};

/// SoftSpokenOT's parameter here: 4 bytes an OT, at 12 AES blocks.
const K: usize = 4;
/// Switches whose keys are computed, and whose corrections are sent, at a time: 64 KiB. Whole words of settings.
const PIECE: usize = 1 << 13;
/// Switches whose OTs are made at a time: 16 MiB of blocks.
const BATCH: usize = 1 << 20;
const _: () = assert!(PIECE.is_multiple_of(64) && BATCH.is_multiple_of(PIECE));
/// The top bit of a number ([`packed`]).
const TOP: [u64; 1] = [1 << 63];

/// The cost of [`Owner::setup`] and [`Permuter::setup`]; the owner is the sender.
pub fn setup_cost() -> Traffic {
    softspoken::setup_cost(K, Adversary::SemiHonest)
}

/// The cost of sharing one column of n numbers; the owner is the sender.
pub fn cost(n: usize) -> Traffic {
    let mut total = Traffic { rounds: 1, sender: 8 * n as u64, receiver: 0 };
    for batch in network::batches(network::switches(n), BATCH) {
        total += softspoken::extension_cost(K, Adversary::SemiHonest, batch);
        total += Traffic { rounds: 2, sender: 8 * batch as u64, receiver: batch.div_ceil(8) as u64 };
    }
    total
}

/// The party that has the data.
pub struct Owner(softspoken::Sender);

/// The party that has the order.
pub struct Permuter(softspoken::Receiver);

impl Owner {
    /// Once for any number of columns.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, permuter: PartyId) -> Result<Self, PsiError> {
        Ok(Self(softspoken::Sender::setup(session, permuter, Adversary::SemiHonest, K)?))
    }

    /// This party's shares of one column of numbers in the permuter's order.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn share(&mut self, session: &mut Session, permuter: PartyId, data: &[u64]) -> Result<Vec<u64>, PsiError> {
        session.next_round();
        // Step 1: x + r leaves, -r stays.
        let mut wires: Vec<u64> = Prg::new(&Seed::random()?).vector(data.len());
        let masked: Vec<u64> = data.iter().zip(&wires).map(|(x, r)| x.wrapping_add(*r)).collect();
        for piece in masked.chunks(1 << 17) {
            session.send(permuter, bytemuck::cast_slice(piece).to_vec())?;
        }
        wires.iter_mut().for_each(|r| *r = r.wrapping_neg());
        // Step 2, switch by switch.
        let progress = Progress::new(network::switches(data.len()), BATCH, PIECE);
        let (batch, strings, corrections) = (CotSender::default(), [vec![], vec![]], vec![[0]; PIECE]);
        let mut switches = Unknown { ots: &mut self.0, session, permuter, progress, batch, strings, corrections };
        network::evaluate(&mut wires, &mut switches)?;
        switches.send()?;
        Ok(wires)
    }
}

impl Permuter {
    /// Once for any number of columns.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, owner: PartyId) -> Result<Self, PsiError> {
        Ok(Self(softspoken::Receiver::setup(session, owner, Adversary::SemiHonest, K)?))
    }

    /// This party's shares of one column of the owner's numbers: number `order[i]` is at position i.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn share(&mut self, session: &mut Session, owner: PartyId, order: &[u32]) -> Result<Vec<u64>, PsiError> {
        session.next_round();
        // Step 1: x + r.
        let mut wires = vec![0u64; order.len()];
        session.recv(owner, bytemuck::cast_slice_mut(&mut wires))?;
        let places = permutation::invert(order).expect("an order has every number once");
        let settings = network::settings(&places);
        let progress = Progress::new(network::switches(order.len()), BATCH, PIECE);
        let (settings, batch) = (settings.chunks(BATCH / 64), CotReceiver::default());
        let (strings, corrections, masks) = (vec![], vec![[0]; PIECE], vec![0; PIECE]);
        // Step 3, switch by switch.
        let ots = &mut self.0;
        let mut switches = Known { ots, session, owner, progress, settings, batch, strings, corrections, masks };
        network::evaluate(&mut wires, &mut switches)?;
        Ok(wires)
    }
}

/// The owner's switches.
struct Unknown<'a> {
    ots: &'a mut softspoken::Sender,
    session: &'a mut Session,
    permuter: PartyId,
    progress: Progress,
    /// OTs of the present batch, by the permuter's choices.
    batch: CotSender,
    /// Of every switch of the present piece k_0 and k_1, and e.
    strings: [Vec<[u64; 1]>; 2],
    corrections: Vec<[u64; 1]>,
}

impl Unknown<'_> {
    fn refill(&mut self) -> Result<(), PsiError> {
        self.send()?;
        if let Some(count) = self.progress.next_batch() {
            self.batch = self.ots.extend(self.session, count)?;
            self.batch.adjust(self.session, self.permuter)?;
            self.session.next_round();
        }
        let keys = self.batch.part(self.progress.next_piece()).random();
        self.strings = [0, 1].map(|choice| keys.iter().map(|keys| [keys[choice] as u64]).collect());
        Ok(())
    }

    /// Sends e of the switches of the present piece that are done.
    fn send(&mut self) -> Result<(), PsiError> {
        match self.progress.taken() {
            0 => Ok(()),
            done => Ok(self.session.send(self.permuter, bytemuck::cast_slice(&self.corrections[..done]).to_vec())?),
        }
    }
}

impl Switches for Unknown<'_> {
    type Error = PsiError;

    fn lanes(&self) -> usize {
        1
    }

    fn ready(&mut self, most: usize) -> Result<Range<usize>, PsiError> {
        if self.progress.ends_piece() {
            self.refill()?;
        }
        Ok(self.progress.take(most))
    }

    fn switch(&mut self, [a, b]: [&mut [u64]; 2], switches: Range<usize>) {
        let rows = [a.as_chunks_mut().0, b.as_chunks_mut().0];
        let strings = self.strings.each_ref().map(|strings| &strings[switches.clone()]);
        // The OTs are by the permuter's choices already.
        let flips = &[0; PIECE][..switches.len()];
        packed::switch_unknown(&TOP, rows, strings, flips, &mut self.corrections[switches]);
    }
}

/// The permuter's switches.
struct Known<'a> {
    ots: &'a mut softspoken::Receiver,
    session: &'a mut Session,
    owner: PartyId,
    progress: Progress,
    /// Settings of later batches.
    settings: Chunks<'a, u64>,
    /// OTs of the present batch, whose choices are its settings.
    batch: CotReceiver,
    /// Of every switch of the present piece k_s, e, and s in all bits.
    strings: Vec<[u64; 1]>,
    corrections: Vec<[u64; 1]>,
    masks: Vec<u64>,
}

impl Known<'_> {
    fn refill(&mut self) -> Result<(), PsiError> {
        if let Some(count) = self.progress.next_batch() {
            self.batch = self.ots.extend(self.session, count)?;
            let settings = self.settings.next().expect("as many settings as switches");
            self.batch.choose(self.session, self.owner, settings)?;
            self.session.next_round();
        }
        let piece = self.batch.part(self.progress.next_piece());
        self.strings = piece.random().into_iter().map(|key| [key as u64]).collect();
        packed::masks_of(&piece.choices, &mut self.masks[..64 * piece.choices.len()]);
        let corrections = &mut self.corrections[..self.strings.len()];
        Ok(self.session.recv(self.owner, bytemuck::cast_slice_mut(corrections))?)
    }
}

impl Switches for Known<'_> {
    type Error = PsiError;

    fn lanes(&self) -> usize {
        1
    }

    fn ready(&mut self, most: usize) -> Result<Range<usize>, PsiError> {
        if self.progress.ends_piece() {
            self.refill()?;
        }
        Ok(self.progress.take(most))
    }

    fn switch(&mut self, [a, b]: [&mut [u64]; 2], switches: Range<usize>) {
        let rows = [a.as_chunks_mut().0, b.as_chunks_mut().0];
        let (e, k) = (&self.corrections[switches.clone()], &self.strings[switches.clone()]);
        packed::switch_known(&TOP, rows, e, k, &self.masks[switches]);
    }
}
