//! Silent VOLE over GF(2^64) and GF(2^128).
//!
//! **Computes** n correlations c = a delta + b: the sender holds delta, random, and b; the receiver a, pseudorandom
//! scalars of F, and c. b, c and delta are in the 128-bit module over F ([`tacit_math::gf`]). **Discloses** nothing.
//! **Adversary** semi-honest or malicious, either party; assumes that syndromes of regular noise look random
//! ([`super::noise`]).
//!
//! **Cost** [`cost`] is that of [`ots`] correlated OTs (SoftSpokenOT with k = 8, 2 bytes each), 1 round for all vectors,
//! malicious 3 for each, and for every vector of up to [`largest`] correlations 16 t h bytes from the sender, malicious 16 more and
//! from the receiver 16 and an element of F. t is the number of segments of the noise, 2^h their length, t 2^h about twice the length of the
//! vector. The OTs are h for each segment, for its tree, and in the first vector as many as F has bits, for its value.
//!
//! **Source** Boyle, Couteau, Gilboa, Ishai, Kohl, Rindal, Scholl, "Efficient Two-Round OT Extension and Silent
//! Non-Interactive Secure Computation" (CCS 2019), Figure 3, with the trees of Half-Tree ([`super::tree`]), whose leaves are
//! hashed to make them independent of delta, and the code of [`tacit_math::code`]. Later vectors take the values of their
//! noise from the vector before, as in Weng, Yang, Katz, Wang, "Wolverine" (S&P 2021), section 5.
//! **Departures** the values of the first vector's noise are what the choices of correlated OTs happen to be, so VOLE for
//! them needs no message.

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

/// The most correlations that are made of one noise vector: those that are handed out and those that are kept. Their
/// blocks, at most 2.6 MB, stay near one core, which matters more than traffic.
pub fn largest<F: Field>() -> usize {
    least_weight(F::BITS) << 7
}

/// Correlations that are kept of every vector but the last: one for each value of the next and one for its check. There
/// are at most twice as many segments as the least number, and one more.
fn kept<F: Field>() -> usize {
    2 * least_weight(F::BITS) + 2
}

/// The noise of every vector that n correlations are made of, with the number that is handed out of each.
fn vectors<F: Field>(n: usize) -> impl Iterator<Item = (Noise, usize)> {
    let most = largest::<F>() - kept::<F>();
    (0..n).step_by(most).map(move |first| {
        let used = most.min(n - first);
        let outputs = if first + used < n { used + kept::<F>() } else { used };
        (Noise::new(outputs, F::BITS), used)
    })
}

/// Products that a vector needs: one for each value, and one for its check.
fn products(noise: &Noise, adversary: Adversary) -> usize {
    noise.segments + usize::from(adversary == Adversary::Malicious)
}

/// Correlated OTs that n correlations are made of.
pub fn ots<F: Field>(n: usize, adversary: Adversary) -> usize {
    let values = vectors::<F>(n).next().map_or(0, |(noise, _)| products(&noise, adversary) * F::BITS);
    values + vectors::<F>(n).map(|(noise, _)| noise.segments * noise.depth as usize).sum::<usize>()
}

/// What n correlations cost, after the OTs.
pub fn expansion_cost<F: Field>(n: usize, adversary: Adversary) -> Cost {
    let rounds = tree::rounds(adversary, vectors::<F>(n).count());
    vectors::<F>(n).fold(Cost { rounds, ..Cost::default() }, |sum, (noise, _)| {
        let trees = Cost { rounds: 0, sender: 16 * (noise.segments * noise.depth as usize) as u64, receiver: 0 };
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
    let mut b = vector_on_large_pages(n + kept::<F>());
    let (mut blocks, mut scratch) = (Vec::new(), Vec::new());
    let mut values: Vec<u128> = Vec::new();
    for (noise, used) in vectors::<F>(n) {
        if b.is_empty() {
            values = (0..products(&noise, adversary)).map(|_| ots.take_product::<F>()).collect();
        }
        tree::begin(session, adversary, b.is_empty());
        plant(session, receiver, &noise, &mut ots, &values, &mut blocks)?;
        if adversary == Adversary::Malicious {
            check::answer::<F>(session, receiver, &noise, &blocks, ots.delta, values[noise.segments])?;
        }
        accumulate(&mut blocks);
        let end = b.len() + used;
        noise.code().compress_sums(&blocks, &mut scratch, &mut b);
        values = b.drain(end..).collect();
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
    let (mut a, mut c) = (vector_on_large_pages(n + kept::<F>()), vector_on_large_pages(n + kept::<F>()));
    let (mut blocks, mut scratch) = (Vec::new(), Vec::new());
    let (mut scalars, mut scalar_scratch) = (Vec::new(), Vec::new());
    let mut values: Vec<(F, u128)> = Vec::new();
    for (noise, used) in vectors::<F>(n) {
        if c.is_empty() {
            values = (0..products(&noise, adversary)).map(|_| ots.take_product()).collect();
        }
        tree::begin(session, adversary, c.is_empty());
        let places = evaluate(session, sender, &noise, &mut ots, &values, &mut blocks)?;
        let noisy: Vec<F> = values[..noise.segments].iter().map(|value| value.0).collect();
        if adversary == Adversary::Malicious {
            check::verify(session, sender, &noise, &blocks, &places, &noisy, values[noise.segments])?;
        }
        let (code, end) = (noise.code(), c.len() + used);
        accumulate(&mut blocks);
        code.compress_sums(&blocks, &mut scratch, &mut c);
        running_sums(noise.depth, &places, &noisy, &mut scalars);
        code.compress_sums(&scalars, &mut scalar_scratch, &mut a);
        values = a.drain(end..).zip(c.drain(end..)).collect();
    }
    Ok(VoleReceiver { a, c })
}

/// Grows the sender's trees and hashes their leaves to blocks v; the message lets the receiver find w = v + e delta.
fn plant(
    session: &mut Session,
    receiver: PartyId,
    noise: &Noise,
    ots: &mut Offered<'_>,
    values: &[u128],
    blocks: &mut Vec<u128>,
) -> Result<(), OtError> {
    let (hash, mut values) = (CrHash::new(), values.iter());
    tree::send(session, receiver, noise, ots, blocks, |leaves, message| {
        hash.hash_blocks(leaves);
        let product = values.next().expect("a value for each segment");
        message.push(leaves.iter().fold(*product, |sum, leaf| sum ^ leaf));
    })
}

/// Evaluates the receiver's trees: its blocks w, and the place of the noise in every segment.
fn evaluate<F: Field>(
    session: &mut Session,
    sender: PartyId,
    noise: &Noise,
    ots: &mut Chosen<'_>,
    values: &[(F, u128)],
    blocks: &mut Vec<u128>,
) -> Result<Vec<u32>, OtError> {
    let (hash, mut values) = (CrHash::new(), values.iter());
    let mut places = Vec::with_capacity(noise.segments);
    tree::receive(session, sender, noise, ots, blocks, 1, |leaves, hole, message| {
        hash.hash_blocks(leaves);
        let (_, product) = values.next().expect("a value for each segment");
        // The unknown leaf was zero, and its hash is in the sum; product + message + the known leaves is w.
        let change = leaves.iter().fold(product ^ message[0], |sum, leaf| sum ^ leaf);
        (0..).zip(leaves).for_each(|(i, leaf)| *leaf ^= change & mask_of_equal(i, hole.place));
        places.push(hole.place);
    })?;
    Ok(places)
}
