//! Silent VOLE over GF(2^64) and GF(2^128).
//!
//! **Computes** n correlations c = a delta + b: the sender holds delta, random, and b; the receiver a, pseudorandom
//! scalars of F, and c. b, c and delta are in the 128-bit module over F ([`tacit_math::gf`]). **Discloses** nothing.
//! **Adversary** semi-honest or malicious, either party; assumes that syndromes of regular noise look random
//! ([`super::noise`]).
//!
//! **Cost** [`cost`] is that of [`ots`] correlated OTs (for each of t segments h for its tree, and as many as F has
//! bits for its value; SoftSpokenOT with k = 8, 2 bytes each), and for every vector of up to [`largest`] correlations 1
//! round, malicious 3, and 16 t h bytes from the sender, malicious 16 more and from the receiver 16 and an element of
//! F. 2^h is the length of a segment, t 2^h about twice the length of the vector.
//!
//! **Source** Boyle, Couteau, Gilboa, Ishai, Kohl, Rindal, Scholl, "Efficient Two-Round OT Extension and Silent
//! Non-Interactive Secure Computation" (CCS 2019), Figure 3, with the trees of Half-Tree ([`super::tree`]), whose
//! leaves are hashed to make them independent of delta, and the code of [`tacit_math::code`].
//! **Departures** the values of the noise are what the choices of correlated OTs happen to be, so VOLE for them needs
//! no message.

use tacit_math::CrHash;
use tacit_math::code::{Symbol, accumulate, running_sums};
use tacit_math::gf::Field;
use tacit_math::pages::vector_on_large_pages;
use tacit_net::{PartyId, Session};

use super::check;
use super::noise::{Noise, least_weight};
use super::supply::{Chosen, Offered};
use super::tree::{self, mask_of_equal};
use crate::correlated::{CotReceiver, CotSender};
use crate::cost::Cost;
use crate::error::fresh_block;
use crate::vole::{VoleReceiver, VoleSender};
use crate::{Adversary, OtError, softspoken};

/// SoftSpokenOT's k: the least traffic, as the OTs are few.
const EXTENSION: usize = 8;

/// The most correlations that are made of one noise vector; more are made of several. Their blocks fit in the caches of
/// a processor.
pub fn largest<F: Field>() -> usize {
    least_weight(F::BITS) << (if F::BITS == 64 { 10 } else { 9 })
}

/// The noise of every vector that n correlations are made of.
fn vectors<F: Field>(n: usize) -> impl Iterator<Item = Noise> {
    let largest = largest::<F>();
    (0..n).step_by(largest).map(move |first| Noise::new(largest.min(n - first), F::BITS))
}

/// Correlated OTs that n correlations are made of.
pub fn ots<F: Field>(n: usize, adversary: Adversary) -> usize {
    vectors::<F>(n).map(|noise| noise.segments * (noise.depth as usize + F::BITS) + check::ots::<F>(adversary)).sum()
}

/// What n correlations cost, after the OTs.
pub fn expansion_cost<F: Field>(n: usize, adversary: Adversary) -> Cost {
    vectors::<F>(n).fold(Cost::default(), |sum, noise| {
        let trees = Cost { rounds: 1, sender: 16 * (noise.segments * noise.depth as usize) as u64, receiver: 0 };
        sum + trees + check::cost::<F>(adversary)
    })
}

/// The cost of n correlations, OTs included.
pub fn cost<F: Field>(n: usize, adversary: Adversary) -> Cost {
    if n == 0 {
        return Cost::default();
    }
    softspoken::setup_cost(EXTENSION, adversary)
        + softspoken::extension_cost(EXTENSION, adversary, ots::<F>(n, adversary))
        + expansion_cost::<F>(n, adversary)
}

/// The sender's part.
///
/// # Errors
/// The connection's failure; [`OtError::Cheating`] if the malicious receiver's messages contradict each other.
pub fn send<F: Field + Symbol>(
    session: &mut Session,
    receiver: PartyId,
    n: usize,
    adversary: Adversary,
) -> Result<VoleSender, OtError> {
    if n == 0 {
        return Ok(VoleSender { delta: fresh_block()?, b: Vec::new() });
    }
    let mut extension = softspoken::Sender::setup(session, receiver, adversary, EXTENSION)?;
    let ots = extension.extend(session, ots::<F>(n, adversary))?;
    send_with::<F>(session, receiver, n, adversary, &ots)
}

/// The receiver's part.
///
/// # Errors
/// The connection's failure; [`OtError::Cheating`] if the malicious sender's messages contradict each other.
pub fn receive<F: Field + Symbol>(
    session: &mut Session,
    sender: PartyId,
    n: usize,
    adversary: Adversary,
) -> Result<VoleReceiver<F>, OtError> {
    if n == 0 {
        return Ok(VoleReceiver::default());
    }
    let mut extension = softspoken::Receiver::setup(session, sender, adversary, EXTENSION)?;
    let ots = extension.extend(session, ots::<F>(n, adversary))?;
    receive_with(session, sender, n, adversary, &ots)
}

/// The sender's part, from [`ots`] correlated OTs that it sent; their delta becomes that of the correlations.
///
/// # Errors
/// The connection's failure.
///
/// # Panics
/// If there are fewer OTs.
pub fn send_with<F: Field>(
    session: &mut Session,
    receiver: PartyId,
    n: usize,
    adversary: Adversary,
    ots: &CotSender,
) -> Result<VoleSender, OtError> {
    let mut ots = Offered::new(ots);
    let mut b = vector_on_large_pages(n);
    let (mut blocks, mut scratch) = (Vec::new(), Vec::new());
    for noise in vectors::<F>(n) {
        plant::<F>(session, receiver, &noise, &mut ots, &mut blocks)?;
        if adversary == Adversary::Malicious {
            check::answer::<F>(session, receiver, &noise, &blocks, &mut ots)?;
        }
        accumulate(&mut blocks);
        noise.code().compress_sums(&blocks, &mut scratch, &mut b);
    }
    Ok(VoleSender { delta: ots.delta, b })
}

/// The receiver's part, from [`ots`] correlated OTs that it received.
///
/// # Errors
/// The connection's failure; [`OtError::Cheating`] if the malicious sender's messages contradict each other.
///
/// # Panics
/// If there are fewer OTs.
pub fn receive_with<F: Field + Symbol>(
    session: &mut Session,
    sender: PartyId,
    n: usize,
    adversary: Adversary,
    ots: &CotReceiver,
) -> Result<VoleReceiver<F>, OtError> {
    let mut ots = Chosen::new(ots);
    let (mut a, mut c) = (vector_on_large_pages(n), vector_on_large_pages(n));
    let (mut blocks, mut scratch) = (Vec::new(), Vec::new());
    let (mut scalars, mut scalar_scratch) = (Vec::new(), Vec::new());
    for noise in vectors::<F>(n) {
        let (places, values) = evaluate::<F>(session, sender, &noise, &mut ots, &mut blocks)?;
        if adversary == Adversary::Malicious {
            check::verify(session, sender, &noise, &blocks, &places, &values, &mut ots)?;
        }
        let code = noise.code();
        accumulate(&mut blocks);
        code.compress_sums(&blocks, &mut scratch, &mut c);
        running_sums(noise.depth, &places, &values, &mut scalars);
        code.compress_sums(&scalars, &mut scalar_scratch, &mut a);
    }
    Ok(VoleReceiver { a, c })
}

/// Grows the sender's trees and hashes their leaves to blocks v; the message lets the receiver find w = v + e delta.
fn plant<F: Field>(
    session: &mut Session,
    receiver: PartyId,
    noise: &Noise,
    ots: &mut Offered<'_>,
    blocks: &mut Vec<u128>,
) -> Result<(), OtError> {
    let hash = CrHash::new();
    tree::send(session, receiver, noise, ots, blocks, |ots, leaves, message| {
        hash.hash_blocks(leaves);
        message.push(leaves.iter().fold(ots.take_product::<F>(), |sum, leaf| sum ^ leaf));
    })
}

/// Evaluates the receiver's trees: its blocks w, and place and value of the noise in every segment.
fn evaluate<F: Field>(
    session: &mut Session,
    sender: PartyId,
    noise: &Noise,
    ots: &mut Chosen<'_>,
    blocks: &mut Vec<u128>,
) -> Result<(Vec<u32>, Vec<F>), OtError> {
    let hash = CrHash::new();
    let (mut places, mut values) = (Vec::with_capacity(noise.segments), Vec::with_capacity(noise.segments));
    tree::receive(session, sender, noise, ots, blocks, 1, |ots, leaves, hole, message| {
        hash.hash_blocks(leaves);
        let (value, product) = ots.take_product::<F>();
        // The unknown leaf was zero, and its hash is in the sum; product + message + the known leaves is w.
        let change = leaves.iter().fold(product ^ message[0], |sum, leaf| sum ^ leaf);
        (0..).zip(leaves).for_each(|(i, leaf)| *leaf ^= change & mask_of_equal(i, hole.place));
        places.push(hole.place);
        values.push(value);
    })?;
    Ok((places, values))
}
