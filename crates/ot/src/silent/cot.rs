//! Silent correlated OT, as often as wanted after one setup.
//!
//! **Computes** n correlated OTs with random bits ([`crate::correlated`]), any number of times under one delta. Delta
//! is odd and otherwise random; the zero blocks are even, so the lowest bit of the receiver's block is its choice.
//! **Discloses** nothing. **Adversary** semi-honest or malicious, either party; assumes that syndromes of regular noise
//! look random ([`super::noise`]). That delta stays hidden does not rest on the code, which the receiver draws: trees
//! have numbers ([`super::tree`]).
//!
//! **Cost** [`setup_cost`]: SoftSpokenOT with k = 8 for a few thousand OTs, and 16 bytes from the receiver, the seed of
//! the code. [`extension_cost`]: 1 round for any number of OTs, malicious 2 more for each vector and 16 bytes from the
//! sender. For every vector of up to [`largest`] OTs 16 t (h - 1) bytes from the sender for t trees of depth h,
//! malicious 16 more and 32 from the receiver. That is 4.3 bits an OT for the longest vectors. Every vector is longer
//! by the OTs that the next one needs.
//!
//! **Steps** for each vector:
//!
//! 1. The trees take OTs that are kept of the vector before: of setup for the first one.
//! 2. Trees: in each segment both have the same blocks, but for one that the receiver lacks. It takes the block plus
//!    delta, which is the sum of all others. The noise's values are one, so no message says more. The sender's blocks
//!    become even, and the receiver's too but for that one.
//! 3. Malicious: the check of the vector before is answered and verified ([`super::check`]).
//! 4. The code compresses the blocks, and with them their lowest bits, which are the choices H e.
//! 5. As many OTs as the next vector needs are kept for it.
//!
//! **Source** Boyle et al., "Efficient Two-Round OT Extension and Silent Non-Interactive Secure Computation" (CCS
//! 2019), Figure 5, without its hash. Trees of Half-Tree ([`super::tree`]), whose leaves are taken as they are. Yang,
//! Weng, Lan, Zhang, Wang, "Ferret" (CCS 2020) for keeping a part of every output for the next vector (section 5.1).
//! Also for bits in place of the blocks' lowest bits (section 4.3). **Departures** from Ferret: dual instead of primal
//! noise, so a vector takes far fewer OTs.

#[cfg(test)]
mod views;

use tacit_math::code::{accumulate_masked, add_from};
use tacit_math::gf::{Field, Gf128};
use tacit_math::pages::reserve_on_large_pages;
use tacit_math::wipe;
use tacit_net::{PartyId, Session, Traffic};

use super::check::{self, Answers, Evaluated, Questions};
use super::noise::{Codes, Noise, SEED_BYTES, least_weight};
use super::supply::{Chosen, Offered};
use super::tree::{self, Product, Trees};
use crate::correlated::{CotReceiver, CotSender};
use crate::error::fresh_block;
use crate::{Adversary, OtError, softspoken};

/// SoftSpokenOT's k at setup: the least traffic, as the OTs are few.
const EXTENSION: usize = 8;

/// Depth of the trees of the longest vectors: their blocks, 1.4 MB, stay near one core, which matters more than
/// traffic.
const DEEPEST: u32 = 9;

/// The most OTs that one noise vector gives: a batch of that size wastes nothing.
pub fn largest() -> usize {
    (least_weight(1) << (DEEPEST - 1)) - kept()
}

/// OTs that are kept of every vector: enough for the next, however long.
fn kept() -> usize {
    // There are at most twice as many trees as the least, and one more.
    (2 * least_weight(1) + 1) * DEEPEST as usize + Gf128::BITS
}

/// The noise of a vector of which `used` OTs are handed out.
pub fn noise(used: usize) -> Noise {
    Noise::new(used + kept(), 1)
}

/// The noise of every vector that n OTs are made of, with the OTs that are used of it.
fn vectors(n: usize) -> impl Iterator<Item = (Noise, usize)> {
    let used = largest();
    (0..n).step_by(used).map(move |first| used.min(n - first)).map(|used| (noise(used), used))
}

/// The cost of both sides' `setup`.
pub fn setup_cost(adversary: Adversary) -> Traffic {
    let seed = Traffic { rounds: 0, sender: 0, receiver: SEED_BYTES };
    softspoken::setup_cost(EXTENSION, adversary) + softspoken::extension_cost(EXTENSION, adversary, kept()) + seed
}

/// The cost of both sides' `extend`.
pub fn extension_cost(adversary: Adversary, n: usize) -> Traffic {
    let rounds = check::rounds(adversary, vectors(n).count());
    let begun = Traffic { rounds, ..Traffic::default() } + check::spread(adversary, vectors(n).count());
    vectors(n).fold(begun, |sum, (noise, _)| {
        let trees =
            Traffic { rounds: 0, sender: 16 * (noise.segments * (noise.depth as usize - 1)) as u64, receiver: 0 };
        sum + trees + check::cost::<Gf128>(adversary)
    })
}

/// The sender of OTs.
pub struct Sender {
    peer: PartyId,
    kept: CotSender,
    trees: Trees,
    used: u64,
    checks: Answers<Gf128>,
    memory: Memory,
}

/// The receiver of OTs. Its first error is its last: every later call is [`OtError::Ended`]. A sender that could go on
/// after a wrong guess would learn a bit about the noise with each try.
pub struct Receiver {
    peer: PartyId,
    /// None after an error.
    kept: Option<CotReceiver>,
    trees: Trees,
    used: u64,
    checks: Questions<Gf128>,
    memory: Memory,
}

/// What one vector leaves for the next.
struct Memory {
    /// The running sums of the blocks of the vector compressed last.
    sums: Vec<u128>,
    scratch: Vec<u128>,
    codes: Codes,
}

impl Drop for Memory {
    fn drop(&mut self) {
        wipe(&mut self.sums);
        wipe(&mut self.scratch);
    }
}

impl Memory {
    fn new(codes: Codes) -> Self {
        Self { sums: Vec::new(), scratch: Vec::new(), codes }
    }
}

impl Sender {
    /// Draws delta and makes the first OTs.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    pub fn setup(session: &mut Session, peer: PartyId, adversary: Adversary) -> Result<Self, OtError> {
        let delta = fresh_block()? | 1;
        Self::setup_with(session, peer, adversary, delta)
    }

    /// Makes the first OTs for a delta of the caller's choice, which must be odd; security needs its other bits random.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    ///
    /// # Panics
    /// If delta is even.
    pub fn setup_with(
        session: &mut Session,
        peer: PartyId,
        adversary: Adversary,
        delta: u128,
    ) -> Result<Self, OtError> {
        assert!(delta & 1 == 1, "delta is odd");
        let mut extension = softspoken::Sender::setup_with(session, peer, adversary, EXTENSION, delta)?;
        let kept = extension.extend(session, kept())?;
        let memory = Memory::new(Codes::hear(session, peer)?);
        let mut checks = Answers::new(peer, adversary, delta);
        checks.bind(&memory.codes);
        Ok(Self { peer, kept, trees: Trees::of(Product::Transfers, 0), used: 0, checks, memory })
    }

    /// The next n OTs.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn extend(&mut self, session: &mut Session, n: usize) -> Result<CotSender, OtError> {
        let (first, mut zero) = (self.used, vec![]);
        self.append(session, n, &mut zero)?;
        Ok(CotSender { first, delta: self.kept.delta, zero })
    }

    /// As [`Self::extend`], which appends the zero blocks to those that are there: memory that is used again costs no
    /// page faults.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn append(&mut self, session: &mut Session, n: usize, zero: &mut Vec<u128>) -> Result<(), OtError> {
        reserve_on_large_pages(zero, n + kept());
        for (noise, used) in vectors(n) {
            let end = zero.len() + used;
            self.vector(session, &noise, zero)?;
            // Step 5.
            self.kept.zero.clear();
            self.kept.zero.extend(zero.drain(end..));
        }
        self.checks.end(session)?;
        self.used += n as u64;
        Ok(())
    }

    /// Appends the zero blocks of one vector.
    fn vector(&mut self, session: &mut Session, noise: &Noise, zero: &mut Vec<u128>) -> Result<(), OtError> {
        let Memory { sums, scratch, codes } = &mut self.memory;
        // Step 1.
        let (mut ots, mut last) = (Offered::new(&self.kept), 0);
        self.checks.begin(session, &mut self.trees)?;
        // Step 2.
        tree::send(session, self.peer, noise, (&mut ots, &mut self.trees), sums, |leaves, _| {
            last = accumulate_masked(leaves, !1, last);
        })?;
        // Step 3, then step 4.
        self.checks.answer(session)?;
        codes.of(noise).compress_sums(sums, scratch, zero);
        if self.checks.adversary() == Adversary::Malicious {
            self.checks.open(*noise, ots.take_product::<Gf128>(), sums);
        }
        Ok(())
    }
}

#[cfg(test)]
impl Sender {
    /// Changes the blocks that the next vector is made of, as a sender that deviates.
    pub(super) fn forget(&mut self) {
        self.kept.zero.iter_mut().for_each(|block| *block ^= 2);
    }
}

impl Receiver {
    /// Makes the first OTs.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    pub fn setup(session: &mut Session, peer: PartyId, adversary: Adversary) -> Result<Self, OtError> {
        let mut extension = softspoken::Receiver::setup(session, peer, adversary, EXTENSION)?;
        let kept = Some(extension.extend(session, kept())?);
        let memory = Memory::new(Codes::draw(session, peer)?);
        let mut checks = Questions::new(peer, adversary);
        checks.bind(&memory.codes);
        Ok(Self { peer, kept, trees: Trees::of(Product::Transfers, 0), used: 0, checks, memory })
    }

    /// The next n OTs.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`] if the malicious sender's messages contradict each other;
    /// [`OtError::Ended`] after an earlier error.
    pub fn extend(&mut self, session: &mut Session, n: usize) -> Result<CotReceiver, OtError> {
        let mut ots = CotReceiver { first: self.used, choices: Vec::new(), blocks: Vec::new() };
        self.append(session, n, &mut ots.choices, &mut ots.blocks)?;
        Ok(ots)
    }

    /// As [`Self::extend`], which appends choices and blocks to those that are there, whole words of them.
    ///
    /// # Errors
    /// As [`Self::extend`].
    ///
    /// # Panics
    /// If there are not 64 blocks for each word of choices.
    pub fn append(
        &mut self,
        session: &mut Session,
        n: usize,
        choices: &mut Vec<u64>,
        blocks: &mut Vec<u128>,
    ) -> Result<(), OtError> {
        assert_eq!(blocks.len(), 64 * choices.len(), "whole words of choices");
        let mut last = self.kept.take().ok_or_else(|| OtError::ended(session, self.peer))?;
        reserve_on_large_pages(blocks, n + kept());
        for (noise, used) in vectors(n) {
            let begin = blocks.len();
            self.vector(session, &noise, &last, blocks)?;
            // Step 5.
            last.blocks.clear();
            last.blocks.extend(blocks.drain(begin + used..));
            last.choices = lowest_bits(&last.blocks).collect();
            // While they are in the cache.
            choices.extend(lowest_bits(&blocks[64 * choices.len()..blocks.len() / 64 * 64]));
        }
        self.checks.end(session, &self.memory.sums)?;
        self.kept = Some(last);
        choices.extend(lowest_bits(&blocks[64 * choices.len()..]));
        self.used += n as u64;
        Ok(())
    }

    /// Appends the blocks of one vector, made of the OTs that the vector before has left.
    fn vector(
        &mut self,
        session: &mut Session,
        noise: &Noise,
        ots: &CotReceiver,
        out: &mut Vec<u128>,
    ) -> Result<(), OtError> {
        let Memory { sums, scratch, codes } = &mut self.memory;
        // Step 1.
        let (mut ots, mut last) = (Chosen::new(ots), 0);
        let mut places = Vec::with_capacity(noise.segments);
        self.checks.begin(session, sums, &mut self.trees)?;
        // Step 2.
        tree::receive(session, self.peer, noise, (&mut ots, &mut self.trees), sums, 0, |leaves, hole, _| {
            // The unknown leaf is zero; the sum of the others is the sender's leaf plus delta, which is odd.
            let missing = hole.sum | 1;
            last = accumulate_masked(leaves, !1, last) ^ missing;
            add_from(leaves, hole.place, missing);
            places.push(hole.place);
        })?;
        // Step 4, before the sender's answer is read; then step 3.
        codes.of(noise).compress_sums(sums, scratch, out);
        self.checks.verify(session)?;
        if self.checks.adversary() == Adversary::Malicious {
            let (values, mask) = (vec![Gf128::ONE; noise.segments], ots.take_product());
            self.checks.open(Evaluated { noise: *noise, places, values, mask });
        }
        Ok(())
    }
}

/// The lowest bit of every block, 64 to a word.
fn lowest_bits(blocks: &[u128]) -> impl Iterator<Item = u64> {
    let word = |blocks: &[u128]| blocks.iter().rev().fold(0, |word, &block| word << 1 | block as u64 & 1);
    blocks.chunks(64).map(word)
}

/// The sender's part of n OTs at once, setup included.
///
/// # Errors
/// As [`Sender::setup`] and [`Sender::extend`].
pub fn send(session: &mut Session, peer: PartyId, n: usize, adversary: Adversary) -> Result<CotSender, OtError> {
    Sender::setup(session, peer, adversary)?.extend(session, n)
}

/// The receiver's part of n OTs at once, setup included.
///
/// # Errors
/// As [`Receiver::setup`] and [`Receiver::extend`].
pub fn receive(session: &mut Session, peer: PartyId, n: usize, adversary: Adversary) -> Result<CotReceiver, OtError> {
    Receiver::setup(session, peer, adversary)?.extend(session, n)
}
