//! Silent VOLE over GF(2^64) and GF(2^128).
//!
//! **Computes** n correlations c = a delta + b: the sender holds delta, random, and b; the receiver a, pseudorandom scalars of F, and c.
//! b, c and delta are in the 128-bit module over F ([`tacit_math::gf`]). **Discloses** nothing.
//! **Adversary** semi-honest or malicious, either party; assumes that syndromes of regular noise look random ([`super::noise`]).
//!
//! **Cost** [`cost`] is that of [`ots`] correlated OTs (for each of t segments h for its tree, and as many as F has bits for its value; SoftSpokenOT
//! with k = 8, 2 bytes each), and for every vector of up to [`LARGEST`] correlations 1 round, malicious 3, and 16 t h bytes from the
//! sender, malicious 16 more and from the receiver 16 and an element of F. 2^h is the length of a segment, t 2^h about twice the length of the vector.
//!
//! **Source** Boyle, Couteau, Gilboa, Ishai, Kohl, Rindal, Scholl, "Efficient Two-Round OT Extension and Silent Non-Interactive Secure Computation"
//! (CCS 2019), Figure 3, with the trees of Half-Tree ([`super::tree`]), whose leaves are hashed to make them independent of delta, and the code of [`tacit_math::code`].
//! **Departures** the values of the noise are what the choices of correlated OTs happen to be, so VOLE for them needs no message.

use tacit_math::CrHash;
use tacit_math::code::{StepSums, Symbol};
use tacit_math::gf::Field;
use tacit_net::{PartyId, Session};

use super::check;
use super::noise::Noise;
use super::supply::{Chosen, Offered};
use super::tree::{Grower, mask_of_equal};
use crate::correlated::{CotReceiver, CotSender};
use crate::cost::Cost;
use crate::error::fresh_block;
use crate::vole::{VoleReceiver, VoleSender};
use crate::{Adversary, OtError, softspoken};

/// The most correlations that are made of one noise vector; more are made of several.
pub const LARGEST: usize = 1 << 21;

/// SoftSpokenOT's k: the least traffic, as the OTs are few.
const EXTENSION: usize = 8;

/// Segments whose messages travel together, so that the receiver works while the sender does.
const PIECE: usize = 32;

/// The noise of every vector that n correlations are made of.
fn vectors<F: Field>(n: usize) -> impl Iterator<Item = Noise> {
    let count = n.div_ceil(LARGEST);
    (0..count).map(move |i| Noise::new((i + 1) * n / count - i * n / count, F::BITS))
}

/// Correlated OTs that n correlations are made of.
pub fn ots<F: Field>(n: usize, adversary: Adversary) -> usize {
    vectors::<F>(n).map(|noise| noise.segments * (noise.depth as usize + F::BITS) + check::ots::<F>(adversary)).sum()
}

/// What n correlations cost, after the OTs.
pub fn expansion_cost<F: Field>(n: usize, adversary: Adversary) -> Cost {
    let mut cost = Cost::default();
    for noise in vectors::<F>(n) {
        cost.rounds += 1;
        cost.sender += 16 * (noise.segments * noise.depth as usize) as u64;
        if adversary == Adversary::Malicious {
            cost.rounds += check::ROUNDS;
            cost.sender += check::BYTES_OF_SENDER;
            cost.receiver += check::bytes_of_receiver::<F>();
        }
    }
    cost
}

/// The cost of n correlations, OTs included.
pub fn cost<F: Field>(n: usize, adversary: Adversary) -> Cost {
    if n == 0 {
        return Cost::default();
    }
    let parts = [
        softspoken::setup_cost(EXTENSION, adversary),
        softspoken::extension_cost(EXTENSION, adversary, ots::<F>(n, adversary)),
        expansion_cost::<F>(n, adversary),
    ];
    parts.iter().fold(Cost::default(), |sum, part| Cost {
        rounds: sum.rounds + part.rounds,
        sender: sum.sender + part.sender,
        receiver: sum.receiver + part.receiver,
    })
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
    let mut b = Vec::new();
    for noise in vectors::<F>(n) {
        let blocks = plant::<F>(session, receiver, &noise, &mut ots)?;
        if adversary == Adversary::Malicious {
            check::answer::<F>(session, receiver, &noise, &blocks, &mut ots)?;
        }
        append(&mut b, n, noise.code().compress(blocks));
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
    let (mut a, mut c) = (Vec::new(), Vec::new());
    for noise in vectors::<F>(n) {
        let (blocks, places, values) = evaluate::<F>(session, sender, &noise, &mut ots)?;
        if adversary == Adversary::Malicious {
            check::verify(session, sender, &noise, &blocks, &places, &values, &mut ots)?;
        }
        let code = noise.code();
        append(&mut c, n, code.compress(blocks));
        append(&mut a, n, code.compress_sparse(&StepSums::new(noise.depth, &places, &values)));
    }
    Ok(VoleReceiver { a, c })
}

/// Appends one vector's outputs, without a copy if it is the only one.
fn append<W>(all: &mut Vec<W>, n: usize, mut part: Vec<W>) {
    if part.len() == n {
        *all = part;
    } else {
        all.reserve_exact(n - all.len());
        all.append(&mut part);
    }
}

/// Grows the sender's trees and hashes their leaves to blocks v; the message lets the receiver find w = v + e delta.
fn plant<F: Field>(
    session: &mut Session,
    receiver: PartyId,
    noise: &Noise,
    ots: &mut Offered<'_>,
) -> Result<Vec<u128>, OtError> {
    session.next_round();
    let depth = noise.depth as usize;
    let keys = ots.take(noise.segments * depth);
    let (hash, mut grower) = (CrHash::new(), Grower::new(noise.depth));
    let mut blocks = vec![0; noise.length()];
    let segments: Vec<_> = blocks.chunks_exact_mut(1 << depth).zip(keys.chunks_exact(depth)).collect();
    let mut segments = segments.into_iter();
    for piece in (0..noise.segments).step_by(PIECE).map(|first| PIECE.min(noise.segments - first)) {
        let mut message = Vec::with_capacity(piece * depth);
        for (leaves, keys) in segments.by_ref().take(piece) {
            grower.plant(ots.delta, keys, leaves, &mut message);
            hash.hash_blocks(leaves);
            message.push(leaves.iter().fold(ots.take_product::<F>(), |sum, leaf| sum ^ leaf));
        }
        session.send(receiver, bytemuck::cast_slice(&message).to_vec())?;
    }
    Ok(blocks)
}

/// Evaluates the receiver's trees: its blocks w, and place and value of the noise in every segment.
fn evaluate<F: Field>(
    session: &mut Session,
    sender: PartyId,
    noise: &Noise,
    ots: &mut Chosen<'_>,
) -> Result<(Vec<u128>, Vec<u32>, Vec<F>), OtError> {
    session.next_round();
    let depth = noise.depth as usize;
    let paths: Vec<_> = (0..noise.segments).map(|_| ots.take(noise.depth)).collect();
    let (hash, mut grower) = (CrHash::new(), Grower::new(noise.depth));
    let mut blocks = vec![0; noise.length()];
    let (mut places, mut values) = (Vec::with_capacity(noise.segments), Vec::with_capacity(noise.segments));
    let mut message = vec![0_u128; PIECE * depth];
    for (segments, paths) in blocks.chunks_mut(PIECE << depth).zip(paths.chunks(PIECE)) {
        let message = &mut message[..paths.len() * depth];
        session.recv(sender, bytemuck::cast_slice_mut(message))?;
        let each = segments.chunks_exact_mut(1 << depth).zip(paths).zip(message.chunks_exact(depth));
        for ((leaves, (choices, keys)), message) in each {
            let (corrections, sum) = message.split_at(depth - 1);
            let (place, _) = grower.evaluate(*choices, keys, corrections, leaves);
            hash.hash_blocks(leaves);
            let (value, product) = ots.take_product::<F>();
            // The unknown leaf is zero before it is hashed and its hash is in the sum; product + sum + the known leaves is w.
            let change = leaves.iter().fold(product ^ sum[0], |sum, leaf| sum ^ leaf);
            (0..).zip(leaves).for_each(|(i, leaf)| *leaf ^= change & mask_of_equal(i, place));
            places.push(place);
            values.push(value);
        }
    }
    Ok((blocks, places, values))
}
