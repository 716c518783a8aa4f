//! Silent VOLE over GF(2^64) and GF(2^128).
//!
//! **Computes** n correlations c = a delta + b: the sender holds delta, random, and b; the receiver a, pseudorandom
//! scalars of F, and c. b, c and delta are in the 128-bit module over F ([`tacit_math::gf`]). **Discloses** nothing.
//! **Adversary** semi-honest or malicious, either party; assumes that syndromes of regular noise look random
//! ([`super::noise`]).
//!
//! **Cost** [`cost`] is that of [`ots`] correlated OTs (SoftSpokenOT with k = 4, 4 bytes each), and 1 round for all
//! vectors. Malicious: 2 more for each, and 16 bytes from the sender. For every vector of up to [`largest`]
//! correlations 16 t h bytes from the sender, malicious 16 more and from the receiver 16 and an element of F. The
//! receiver sends 16 bytes more, the seed of the code. t is the number of segments of the noise, 2^h their length, t
//! 2^h about twice the length of the vector. The OTs are h for each segment, for its tree, and in the first vector as
//! many as F has bits, for its value.
//!
//! **Steps** for each vector:
//!
//! 1. Values: correlations c = e delta + b of the noise's values e, from OTs or kept from the vector before.
//! 2. Trees: in each segment both have the same blocks, but for one that the receiver lacks. The sender adds up all its
//!    blocks and its part of the value, so that the receiver finds the missing one plus e delta.
//! 3. Malicious: the check of the vector before is answered and verified ([`super::check`]).
//! 4. The code compresses the blocks, and the receiver's noise e to the scalars a = H e.
//! 5. As many correlations as the next vector has values are kept for it.
//!
//! **Source** Boyle, Couteau, Gilboa, Ishai, Kohl, Rindal, Scholl, "Efficient Two-Round OT Extension and Silent
//! Non-Interactive Secure Computation" (CCS 2019), Figure 3. With the trees of Half-Tree ([`super::tree`]), whose
//! leaves are hashed to make them independent of delta ([`super::tree::LeafHash`]), and the code of
//! [`tacit_math::code`]. Later vectors take the values of their noise from the vector before, as in Weng, Yang, Katz,
//! Wang, "Wolverine" (S&P 2021), section 5. **Departures** the values of the first vector's noise are what the choices
//! of correlated OTs happen to be, so VOLE for them needs no message.

use tacit_math::code::{Symbol, accumulate, add_from};
use tacit_math::gf::Field;
use tacit_math::pages::vector_on_large_pages;
use tacit_net::{PartyId, Session, Traffic};

use super::check::{self, Answers, Evaluated, Questions};
use super::noise::{Codes, Noise, SEED_BYTES, least_weight};
use super::supply::{Chosen, Offered};
use super::tree::{self, LeafHash, Product, Trees};
use crate::correlated::{CotReceiver, CotSender};
use crate::error::fresh_block;
use crate::vole::{VoleReceiver, VoleSender};
use crate::{Adversary, OtError, softspoken};

/// SoftSpokenOT's k: an OT then takes a fifth of the time that it takes for k = 8, and twice the traffic.
const EXTENSION: usize = 4;

/// The most correlations that are made of one noise vector: those that are handed out and those that are kept. Their
/// blocks, at most 1.3 MB, stay near one core, which matters more than traffic.
pub fn largest<F: Field>() -> usize {
    least_weight(F::BITS) << 6
}

/// Correlations that are kept of every vector but the last: one for each value of the next and one for its check. There
/// are at most twice as many segments as the least number, and one more.
fn kept<F: Field>() -> usize {
    2 * least_weight(F::BITS) + 2
}

/// The most correlations that are handed out of one noise vector.
pub fn handed_out<F: Field>() -> usize {
    largest::<F>() - kept::<F>()
}

/// The noise of every vector that n correlations are made of, with the number that is handed out of each.
pub(super) fn vectors<F: Field>(n: usize) -> impl Iterator<Item = (Noise, usize)> {
    let most = handed_out::<F>();
    (0..n).step_by(most).map(move |first| {
        let used = most.min(n - first);
        let outputs = if first + used < n { used + kept::<F>() } else { used };
        (Noise::new(outputs, F::BITS), used)
    })
}

/// Products that a vector needs: one for each value, and one for its check.
pub(super) fn products(noise: &Noise, adversary: Adversary) -> usize {
    noise.segments + usize::from(adversary == Adversary::Malicious)
}

/// Correlated OTs that n correlations are made of.
pub fn ots<F: Field>(n: usize, adversary: Adversary) -> usize {
    let values = vectors::<F>(n).next().map_or(0, |(noise, _)| products(&noise, adversary) * F::BITS);
    values + vectors::<F>(n).map(|(noise, _)| noise.segments * noise.depth as usize).sum::<usize>()
}

/// What n correlations cost, after the OTs.
pub fn expansion_cost<F: Field>(n: usize, adversary: Adversary) -> Traffic {
    let rounds = check::rounds(adversary, vectors::<F>(n).count());
    let seed = Traffic { rounds, sender: 0, receiver: if n > 0 { SEED_BYTES } else { 0 } };
    let begun = seed + check::spread(adversary, vectors::<F>(n).count());
    vectors::<F>(n).fold(begun, |sum, (noise, _)| {
        let trees = Traffic { rounds: 0, sender: 16 * (noise.segments * noise.depth as usize) as u64, receiver: 0 };
        sum + trees + check::cost::<F>(adversary)
    })
}

/// The cost of n correlations, OTs included.
pub fn cost<F: Field>(n: usize, adversary: Adversary) -> Traffic {
    if n == 0 {
        return Traffic::default();
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
    let mut checks = Answers::<F>::new(receiver, adversary, ots.delta);
    let mut b = vector_on_large_pages(n + kept::<F>());
    let (mut sums, mut scratch, mut codes) = (Vec::new(), Vec::new(), None);
    let mut numbers = (Trees::of(Product::Vole, ots.first), LeafHash::of(Product::Vole, ots.first));
    let mut values = Vec::<u128>::new();
    for (noise, used) in vectors::<F>(n) {
        // Step 1: b of the first values; later ones are kept.
        if b.is_empty() {
            values = (0..products(&noise, adversary)).map(|_| ots.take_product::<F>()).collect();
        }
        checks.begin(session, &mut numbers.0)?;
        // Step 2.
        plant(session, receiver, &noise, (&mut ots, &mut numbers), &values, &mut sums)?;
        let codes = match &mut codes {
            Some(codes) => codes,
            none => {
                let codes = none.insert(Codes::hear(session, receiver)?);
                checks.bind(codes);
                codes
            }
        };
        // Step 3.
        checks.answer(session)?;
        // Step 4.
        let end = b.len() + used;
        codes.of(&noise).compress_sums(&sums, &mut scratch, &mut b);
        if adversary == Adversary::Malicious {
            checks.open(noise, values[noise.segments], &mut sums);
        }
        // Step 5.
        values.clear();
        values.extend(b.drain(end..));
    }
    checks.end(session)?;
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
    let mut checks = Questions::<F>::new(sender, adversary);
    let (mut a, mut c) = (vector_on_large_pages(n + kept::<F>()), vector_on_large_pages(n + kept::<F>()));
    let (mut sums, mut scratch, mut codes) = (Vec::new(), Vec::new(), None);
    let mut scalar_scratch = Vec::new();
    let mut numbers = (Trees::of(Product::Vole, ots.first()), LeafHash::of(Product::Vole, ots.first()));
    let mut values = Vec::<(F, u128)>::new();
    for (noise, used) in vectors::<F>(n) {
        // Step 1: e and c of the first values; later ones are kept.
        if c.is_empty() {
            values = (0..products(&noise, adversary)).map(|_| ots.take_product()).collect();
        }
        checks.begin(session, &sums, &mut numbers.0)?;
        let codes = match &mut codes {
            Some(codes) => codes,
            none => {
                let codes = none.insert(Codes::draw(session, sender)?);
                checks.bind(codes);
                codes
            }
        };
        // Step 2.
        let places = evaluate(session, sender, &noise, (&mut ots, &mut numbers), &values, &mut sums)?;
        let noisy: Vec<F> = values[..noise.segments].iter().map(|value| value.0).collect();
        // Step 4, before the sender's answer is read.
        let (code, end) = (codes.of(&noise), c.len() + used);
        code.compress_sums(&sums, &mut scratch, &mut c);
        code.compress_sparse(&places, &noisy, &mut scalar_scratch, &mut a);
        // Step 3.
        checks.verify(session)?;
        if adversary == Adversary::Malicious {
            checks.open(Evaluated { noise, places, values: noisy, mask: values[noise.segments] });
        }
        // Step 5.
        values.clear();
        values.extend(a.drain(end..).zip(c.drain(end..)));
    }
    checks.end(session, &sums)?;
    Ok(VoleReceiver { a, c })
}

/// Grows the sender's trees and hashes their leaves to blocks v, of which `sums` become the running sums; the message
/// lets the receiver find w = v + e delta.
fn plant(
    session: &mut Session,
    receiver: PartyId,
    noise: &Noise,
    (ots, (trees, hash)): (&mut Offered<'_>, &mut (Trees, LeafHash)),
    values: &[u128],
    sums: &mut Vec<u128>,
) -> Result<(), OtError> {
    let (mut values, mut last) = (values.iter(), 0);
    tree::send(session, receiver, noise, (ots, trees), sums, |leaves, message| {
        hash.hash(leaves);
        // The sum of the leaves, which running sums give, and b of the segment's value.
        let b = values.next().expect("a value for each segment");
        let after = accumulate(leaves, last);
        message.push(b ^ last ^ after);
        last = after;
    })
}

/// Evaluates the receiver's trees: the running sums of its blocks w, and the place of the noise in every segment.
fn evaluate<F: Field>(
    session: &mut Session,
    sender: PartyId,
    noise: &Noise,
    (ots, (trees, hash)): (&mut Chosen<'_>, &mut (Trees, LeafHash)),
    values: &[(F, u128)],
    sums: &mut Vec<u128>,
) -> Result<Vec<u32>, OtError> {
    let (mut values, mut last) = (values.iter(), 0);
    let mut places = Vec::with_capacity(noise.segments);
    tree::receive(session, sender, noise, (ots, trees), sums, 1, |leaves, hole, message| {
        hash.hash(leaves);
        let (_, c) = values.next().expect("a value for each segment");
        // The unknown leaf was zero, and its hash is in the sum; all blocks together are c + message.
        let after = last ^ c ^ message[0];
        let change = accumulate(leaves, last) ^ after;
        add_from(leaves, hole.place, change);
        last = after;
        places.push(hole.place);
    })?;
    Ok(places)
}
