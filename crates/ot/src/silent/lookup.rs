//! Silent correlations for transfers of one string of many, as often as wanted after the first few OTs.
//!
//! **Computes** c = a delta + b over GF(2^[`WIDTH`]): the sender has delta and b, the receiver c and the pseudorandom
//! scalar a. b, c and delta are blocks, read as vectors over the field. The lowest coordinate of delta is one and that
//! of b zero, so a, the choice, is the lowest coordinate of the receiver's block. With a hash H the sender has the
//! strings H(b + j delta) for all j ([`multiples`]) and the receiver the one for j = a, and nothing about the others.
//! **Discloses** nothing. **Adversary** semi-honest, either party; assumes that syndromes of regular noise look random
//! ([`super::noise`]).
//!
//! **Hashes**: leaves are hashed before multiples of delta are added to them ([`super::tree::LeafHash`]: tweakable
//! circular correlation robust). The sender's strings that the receiver lacks are H(c + i delta) for i other than zero;
//! nothing that depends on delta is added to them. Each i delta is a bijective linear map of delta, which has
//! [`ENTROPY`] random bits (correlated OT has 127). H must be correlation robust for offsets of that much min-entropy.
//! [`tacit_math::CorrelationRobustHash`] is so up to p q / 2^123 + q^2 / 2^124 for p evaluations of AES and q hashes.
//! The bound is that of Guo, Katz, Wang, Yu (S&P 2020, section 7.2, where the min-entropy of offsets is a parameter).
//! The second term is the chance that two inputs meet: 2^-58 for the 7 2^30 strings of 2^30 lookups.
//!
//! **Steps** for each vector are those of [`super::vole`], without its check. They are values e, with b at the sender
//! and c = e delta + b at the receiver; trees; the code; what is kept for the next vector.
//!
//! **Cost** [`extension_cost`], after the OTs ([`ots`]): for every vector of up to [`largest`] correlations 16 t h
//! bytes from the sender for t trees of depth h. The OTs are h for each tree, and at first [`WIDTH`] for each value of
//! the noise.
//!
//! **Source** as [`super::vole`]; the choice as lowest coordinate as in Yang, Weng, Lan, Zhang, Wang, "Ferret" (CCS
//! 2020), section 4.3, where the field has two elements. One of many from VOLE over a small field: Roy, "SoftSpokenOT"
//! (CRYPTO 2022). **Departures** from [`super::vole`]: no check, and the scalars are not compressed apart from the
//! blocks.

use tacit_math::code::{accumulate_masked, add_from};
use tacit_math::wipe;
use tacit_net::{PartyId, Session, Traffic};
use zeroize::Zeroizing;

use super::noise::{Codes, Noise, SEED_BYTES, least_weight};
use super::supply::{Chosen, Offered};
use super::tree::{self, LeafHash, Product, Trees};
use crate::OtError;
use crate::correlated::{CotReceiver, CotSender};

/// Bits of a choice.
pub const WIDTH: usize = 3;

/// Strings of a silent lookup: as many as its choice has values.
pub const LOOKUP_STRINGS: usize = 1 << WIDTH;

/// Random bits of delta.
pub const ENTROPY: usize = 128 / WIDTH * WIDTH - WIDTH;

/// Depth of the longest vectors' trees: two levels more than stay near one core, for a third of the traffic.
const DEEPEST: u32 = 10;

/// The bits of the lowest coordinate.
const LOWEST: u128 = LOOKUP_STRINGS as u128 - 1;

/// The lowest bit of every coordinate.
const UNITS: u128 = units();

/// The bits of all coordinates.
const COORDINATES: u128 = UNITS * LOWEST;

const fn units() -> u128 {
    let (mut units, mut coordinate) = (0, 0);
    while coordinate < 128 / WIDTH {
        units |= 1 << (coordinate * WIDTH);
        coordinate += 1;
    }
    units
}

/// The block of a sender's delta, made of a random block: its lowest coordinate is one, and bits beyond the last one
/// are zero.
pub fn delta(random: u128) -> u128 {
    random & COORDINATES & !LOWEST | 1
}

/// The multiples j delta, by j.
pub fn multiples(delta: u128) -> Zeroizing<[u128; LOOKUP_STRINGS]> {
    let mut powers = Zeroizing::new([delta; WIDTH]);
    for i in 1..WIDTH {
        powers[i] = times_x(powers[i - 1]);
    }
    let multiple = |j: usize| (0..WIDTH).filter(|i| j >> i & 1 == 1).fold(0, |sum, i| sum ^ powers[i]);
    Zeroizing::new(std::array::from_fn(multiple))
}

/// Every coordinate times x modulo x^3 + x + 1 or x^4 + x + 1.
fn times_x(block: u128) -> u128 {
    const { assert!(WIDTH == 3 || WIDTH == 4, "x^WIDTH + x + 1 is irreducible") };
    let highest = block & (UNITS << (WIDTH - 1));
    let carried = highest >> (WIDTH - 1);
    (block & COORDINATES ^ highest) << 1 ^ carried << 1 ^ carried
}

/// The most correlations that one noise vector gives, whole words of 64: a batch of that size wastes nothing.
pub fn largest() -> usize {
    ((least_weight(WIDTH) << (DEEPEST - 1)) - kept()) / 64 * 64
}

/// Correlations that are kept of every vector, one for each value of the next. There are at most twice as many segments
/// as the least number, and one more.
pub(super) fn kept() -> usize {
    2 * least_weight(WIDTH) + 1
}

/// The noise of every vector that n correlations are made of, with the number that is handed out of each.
fn vectors(n: usize) -> impl Iterator<Item = (Noise, usize)> {
    let most = largest();
    (0..n).step_by(most).map(move |first| most.min(n - first)).map(|used| (noise(used), used))
}

/// The noise of a vector of which `used` correlations are handed out.
pub fn noise(used: usize) -> Noise {
    Noise::new(used + kept(), WIDTH)
}

/// Correlated OTs that n more correlations take; `first` if they are the first ones.
pub fn ots(first: bool, n: usize) -> usize {
    let values = if first && n > 0 { WIDTH * kept() } else { 0 };
    values + vectors(n).map(|(noise, _)| noise.segments * noise.depth as usize).sum::<usize>()
}

/// What n more correlations cost after the OTs, without the round, which both directions share; `first` if they are the
/// first ones.
pub fn extension_cost(first: bool, n: usize) -> Traffic {
    let trees = vectors(n).map(|(noise, _)| 16 * (noise.segments * noise.depth as usize) as u64);
    Traffic { rounds: 0, sender: trees.sum(), receiver: if first && n > 0 { SEED_BYTES } else { 0 } }
}

/// The sender of one direction: what it keeps for the next vector.
#[derive(Default)]
pub struct Sender {
    kept: Vec<u128>,
    numbers: Numbers,
    memory: [Vec<u128>; 2],
    codes: Option<Codes>,
}

/// The receiver of one direction.
#[derive(Default)]
pub struct Receiver {
    kept: Vec<u128>,
    numbers: Numbers,
    memory: [Vec<u128>; 2],
    codes: Option<Codes>,
}

impl Drop for Sender {
    fn drop(&mut self) {
        wipe(&mut self.kept);
        self.memory.iter_mut().for_each(|blocks| wipe(blocks));
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        wipe(&mut self.kept);
        self.memory.iter_mut().for_each(|blocks| wipe(blocks));
    }
}

/// Of all trees and leaves of a direction.
struct Numbers {
    trees: Trees,
    leaves: LeafHash,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { trees: Trees::of(Product::Lookups, 0), leaves: LeafHash::of(Product::Lookups, 0) }
    }
}

/// Correlations of both directions in one round, `offered` and `chosen` being [`ots`] OTs of theirs: vectors are made
/// in turns, so that both parties work all the time. `sent` gets the blocks b, `received` the blocks c, vector by
/// vector.
///
/// # Errors
/// The connection's failure.
///
/// # Panics
/// If there are fewer OTs, or their delta is none of [`delta`].
pub fn extend(
    session: &mut Session,
    peer: PartyId,
    (sender, send, offered): (&mut Sender, usize, &CotSender),
    (receiver, receive, chosen): (&mut Receiver, usize, &CotReceiver),
    mut sent: impl FnMut(&[u128]),
    mut received: impl FnMut(&[u128]),
) -> Result<(), OtError> {
    let (mut offered, mut chosen) = (Offered::new(offered), Chosen::new(chosen));
    let (mut sending, mut receiving) = (vectors(send), vectors(receive));
    let mut blocks = Vec::new();
    session.next_round();
    if receive > 0 && receiver.codes.is_none() {
        // Ahead of this party's trees: the peer hears it before them.
        receiver.codes = Some(Codes::draw(session, peer)?);
    }
    loop {
        let turns = (sending.next(), receiving.next());
        if let (Some((noise, used)), _) = &turns {
            sender.vector(session, peer, noise, &mut offered, &mut blocks)?;
            sent(&blocks[..*used]);
            // Step 5.
            sender.kept.splice(.., blocks.drain(*used..));
            blocks.clear();
        }
        if let (_, Some((noise, used))) = &turns {
            receiver.vector(session, peer, noise, &mut chosen, &mut blocks)?;
            received(&blocks[..*used]);
            // Step 5.
            receiver.kept.splice(.., blocks.drain(*used..));
            blocks.clear();
        }
        if let (None, None) = turns {
            return Ok(());
        }
    }
}

impl Sender {
    /// Appends the blocks of one vector.
    pub(super) fn vector(
        &mut self,
        session: &mut Session,
        receiver: PartyId,
        noise: &Noise,
        ots: &mut Offered<'_>,
        out: &mut Vec<u128>,
    ) -> Result<(), OtError> {
        // Step 1: b of the first values.
        if self.kept.is_empty() {
            // A look at constant bits alone: delta itself steers no branch.
            assert!(ots.delta & !(COORDINATES & !LOWEST) == 1, "the lowest coordinate of delta is one");
            self.kept = (0..kept()).map(|_| weigh(ots.take(WIDTH)) & !LOWEST).collect();
        }
        let [sums, scratch] = &mut self.memory;
        let Numbers { trees, leaves: hash } = &mut self.numbers;
        let (mut values, mut last) = (self.kept.iter(), 0);
        // Step 2: the sum of the hashed leaves, which running sums give, and b of the segment's value.
        tree::send(session, receiver, noise, (ots, trees), sums, |leaves, message| {
            hash.hash(leaves);
            let b = values.next().expect("a value for each segment");
            let after = accumulate_masked(leaves, !LOWEST, last);
            message.push(b ^ last ^ after);
            last = after;
        })?;
        let codes = match &mut self.codes {
            Some(codes) => codes,
            none => none.insert(Codes::hear(session, receiver)?),
        };
        // Step 4.
        codes.of(noise).compress_sums(sums, scratch, out);
        Ok(())
    }
}

impl Receiver {
    /// Appends the blocks of one vector.
    fn vector(
        &mut self,
        session: &mut Session,
        sender: PartyId,
        noise: &Noise,
        ots: &mut Chosen<'_>,
        out: &mut Vec<u128>,
    ) -> Result<(), OtError> {
        // Step 1: e and c of the first values.
        if self.kept.is_empty() {
            self.kept = first_values(ots);
        }
        let [sums, scratch] = &mut self.memory;
        let Numbers { trees, leaves: hash } = &mut self.numbers;
        let (mut values, mut last) = (self.kept.iter(), 0);
        // Step 2.
        tree::receive(session, sender, noise, (ots, trees), sums, 1, |leaves, hole, message| {
            hash.hash(leaves);
            let c = values.next().expect("a value for each segment");
            // The unknown leaf was zero, and its hash is in the sum; all blocks together are c + message.
            let after = last ^ c ^ message[0];
            let change = accumulate_masked(leaves, !LOWEST, last) ^ after;
            add_from(leaves, hole.place, change);
            last = after;
        })?;
        let codes = self.codes.as_mut().expect("drawn before the first vector");
        // Step 4.
        codes.of(noise).compress_sums(sums, scratch, out);
        Ok(())
    }
}

/// The receiver's values of the first vector's noise: of the OTs' bits the scalars, of their blocks the rest.
pub(super) fn first_values(ots: &mut Chosen<'_>) -> Vec<u128> {
    let value = |(bits, blocks): (u32, &[u128])| {
        // The first OT's bit is the highest of the number and the lowest coefficient.
        let value = bits.reverse_bits() >> (u32::BITS - WIDTH as u32);
        weigh(blocks) & !LOWEST | u128::from(value)
    };
    (0..kept()).map(|_| value(ots.take(WIDTH as u32))).collect()
}

/// The sum of x^i times block i.
pub(super) fn weigh(blocks: &[u128]) -> u128 {
    blocks.iter().rev().fold(0, |sum, block| times_x(sum) ^ block)
}

#[cfg(test)]
mod tests {
    use super::{ENTROPY, LOOKUP_STRINGS, LOWEST, UNITS, delta, largest, multiples, ots, times_x, weigh};
    use tacit_math::{Prg, Seed};

    #[test]
    fn multiples_are_those_of_a_field() {
        let random: Vec<u128> = Prg::new(&Seed::from_bytes([8; 16])).vector(20);
        for block in random {
            let delta = delta(block);
            assert_eq!(delta & LOWEST, 1);
            let all = multiples(delta);
            // Sums of multiples are multiples, and the j-th has j as its lowest coordinate: one multiple for each
            // element.
            for (i, one) in all.iter().enumerate() {
                assert_eq!(one & LOWEST, i as u128);
                all.iter().enumerate().for_each(|(j, other)| assert_eq!(one ^ other, all[i ^ j]));
            }
            // x generates the nonzero elements of both fields.
            let powers = std::iter::successors(Some(delta), |power| Some(times_x(*power)));
            let powers: Vec<u128> = powers.take(LOOKUP_STRINGS).collect();
            assert_eq!(powers[LOOKUP_STRINGS - 1], delta);
            (1..LOOKUP_STRINGS - 1).for_each(|i| assert_ne!(powers[i] & LOWEST, 1));
            assert_eq!(weigh(&[delta, 0, delta]), delta ^ powers[2]);
        }
        assert_eq!(ENTROPY, (delta(u128::MAX) & !LOWEST).count_ones() as usize);
        assert_eq!(UNITS.count_ones() as usize, ENTROPY / 3 + 1);
    }

    #[test]
    fn the_longest_vectors_take_few_ots() {
        let n = 10 * largest();
        assert!(largest().is_multiple_of(64) && 25 * ots(false, n) < n && ots(true, 0) == 0);
    }
}
