//! Base oblivious transfer: n random OTs from public-key cryptography, the seed of every extension.
//!
//! **Computes** for every i two keys k(i,0), k(i,1) at the sender and k(i, c(i)) at the receiver, who chose c(i).
//! **Adversary** malicious, either party; endemic security: a corrupted party may choose the keys that it learns, an
//! honest one's are random. OT extension needs no more; where trees of its blocks are hashed, [`crate::silent`] draws
//! their tweaks afterwards. Universally composable in the random oracle model, under the gap Diffie-Hellman assumption
//! in ristretto255 (126 bits). **Discloses** nothing.
//!
//! **Cost** 1 round; the sender sends 32 bytes, the receiver 16 + 64 n (nothing is sent for no OTs). Both messages are
//! sent at once.
//!
//! **Steps**, for every OT i, with random oracles H to the group and to keys:
//!
//! 1. The sender draws a and sends A = a G, once for all.
//! 2. The receiver draws b and sends r(0), r(1) with r(1-c) random and r(c) = b G - H(c, r(1-c)). The programmed
//!    function x -> r(x) + H(x, r(1-x)) is b G at the receiver's choice c.
//! 3. The sender has K_x, a times the function at x, for both x; the receiver has K_c = b A. Keys are hashes of 2K.
//!
//! **Source** McQuoid, Rosulek, Roy, "Batching Base Oblivious Transfers" (ASIACRYPT 2021, ePrint 2021/682), Figure 3.
//! The programmable-once function is that of Masny and Rindal ("Endemic Oblivious Transfer", CCS 2019; section 5.3
//! there). Also hashed Diffie-Hellman with prefixes of the hash, "tags" there (section 6.1). It is Masny and Rindal's
//! OT with one message A of the sender for the whole batch. Every hash takes the number of the OT, without which a
//! batch of this kind is insecure (section 3 there). Chosen because it is one round and one proof covers the batch.
//! **Departures** Every hash also takes the parties' names, the path of the step and a fresh nonce of the receiver, so
//! that nothing can be moved between steps or sessions. To an honest receiver the oracles of its batch are new, and an
//! honest sender's keys depend on its own message A, which is new. Keys hash 2K instead of K (doubling permutes a group
//! of odd order), because doubled points are compressed in batches.

#[cfg(test)]
mod views;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE as G;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use subtle::{Choice, ConditionallySelectable};
use tacit_math::Prg;
use tacit_net::{PartyId, Session};
use zeroize::Zeroizing;

use crate::OtError;
use crate::error::fresh_seed;

/// Bytes of a group element.
const POINT: usize = 32;

/// Bytes of the receiver's nonce.
const NONCE: usize = 16;

/// Rounds of a batch.
pub const ROUNDS: u64 = 1;

/// Bytes that the sender sends, whatever the number of OTs above zero.
pub fn bytes_of_sender(n: usize) -> u64 {
    if n == 0 { 0 } else { POINT as u64 }
}

/// Bytes that the receiver sends.
pub fn bytes_of_receiver(n: usize) -> u64 {
    if n == 0 { 0 } else { (NONCE + 2 * POINT * n) as u64 }
}

/// The sender's part: both keys of n random OTs.
///
/// # Errors
/// The connection's failure; [`OtError::Cheating`] if the peer sends something that is no group element.
pub fn send(session: &mut Session, to: PartyId, n: usize) -> Result<Vec<[u128; 2]>, OtError> {
    session.next_round();
    if n == 0 {
        return Ok(Vec::new());
    }
    // Step 1. The compressed A goes into every key.
    let a = Zeroizing::new(scalars(1)?[0]);
    let announced = (G * &*a).compress();
    session.send(to, announced.to_bytes().to_vec())?;
    // Step 2.
    let (mut nonce, mut words) = ([0; NONCE], vec![0; 2 * POINT * n]);
    session.recv(to, &mut nonce)?;
    session.recv(to, &mut words)?;
    let context = Context::new(session, [session.me(), to], &nonce);
    // Step 3: K_0 and K_1 of every OT.
    let words: &[Word] = words.as_chunks().0;
    let points: Option<Vec<_>> =
        words.iter().enumerate().map(|(i, word)| shared_points(&context, i, word, &a)).collect();
    let points = Zeroizing::new(points.ok_or_else(|| OtError::cheating(session, to, "not an element of the group"))?);
    let doubled = Zeroizing::new(RistrettoPoint::double_and_compress_batch(points.as_flattened()));
    let key = |i: usize, bit: usize| context.key(i, bit as u8, &announced, &words[i], &doubled[2 * i + bit]);
    Ok((0..n).map(|i| [key(i, 0), key(i, 1)]).collect())
}

/// The receiver's part: the key that each choice bit asks for.
///
/// # Errors
/// The connection's failure; [`OtError::Cheating`] if the peer sends something that is no group element, or the neutral
/// one.
pub fn receive(session: &mut Session, from: PartyId, choices: &[bool]) -> Result<Vec<u128>, OtError> {
    session.next_round();
    if choices.is_empty() {
        return Ok(Vec::new());
    }
    let nonce = *fresh_seed()?.expose();
    let context = Context::new(session, [from, session.me()], &nonce);
    // Step 2: b of every OT, and the functions that it programs.
    let secrets = Zeroizing::new(scalars(choices.len())?);
    let mut prg = Prg::new(&fresh_seed()?);
    let words: Vec<Word> = choices
        .iter()
        .zip(secrets.iter())
        .enumerate()
        .map(|(i, (&c, b))| program(&context, i, c, &(G * b), &mut prg))
        .collect();
    session.send(from, [&nonce, words.as_flattened()].concat())?;
    // Step 1.
    let mut announced = CompressedRistretto([0; POINT]);
    session.recv(from, &mut announced.0)?;
    let point_a = announced.decompress().filter(|point| !point.is_identity());
    let point_a =
        point_a.ok_or_else(|| OtError::cheating(session, from, "not an element of the group, or the neutral one"))?;
    // Step 3: K_c = b A of every OT.
    let points: Zeroizing<Vec<RistrettoPoint>> = Zeroizing::new(secrets.iter().map(|b| point_a * b).collect());
    let doubled = Zeroizing::new(RistrettoPoint::double_and_compress_batch(points.iter()));
    let key = |i: usize| context.key(i, u8::from(choices[i]), &announced, &words[i], &doubled[i]);
    Ok((0..choices.len()).map(key).collect())
}

/// What the receiver sends for one OT: the programmed function, as two group elements r(0), r(1).
type Word = [u8; 2 * POINT];

/// The function whose value at c is the given point: r(1-c) is random, r(c) = point - H(c, r(1-c)).
fn program(context: &Context, i: usize, c: bool, point: &RistrettoPoint, prg: &mut Prg) -> Word {
    let mut uniform = [0u8; 64];
    prg.fill(&mut uniform);
    let free = RistrettoPoint::from_uniform_bytes(&uniform).compress();
    let bound = (point - context.point(i, u8::from(c), &free)).compress();
    let mut word = [0; 2 * POINT];
    let (zero, one) = word.split_at_mut(POINT);
    zero.copy_from_slice(bound.as_bytes());
    one.copy_from_slice(free.as_bytes());
    zero.iter_mut().zip(one).for_each(|(x, y)| u8::conditional_swap(x, y, Choice::from(u8::from(c))));
    word
}

/// The function's values at 0 and 1, multiplied by the sender's secret; None if the word does not hold two group
/// elements.
fn shared_points(context: &Context, i: usize, word: &Word, a: &Scalar) -> Option<[RistrettoPoint; 2]> {
    let r = [0, 1].map(|bit| CompressedRistretto(std::array::from_fn(|byte| word[bit * POINT + byte])));
    let value = |bit: usize| Some(a * (r[bit].decompress()? + context.point(i, bit as u8, &r[1 - bit])));
    Some([value(0)?, value(1)?])
}

/// The random oracles of one batch.
struct Context {
    point: blake3::Hasher,
    key: blake3::Hasher,
}

impl Context {
    fn new(session: &Session, parties: [PartyId; 2], nonce: &[u8; NONCE]) -> Self {
        let bind = |purpose: &str| {
            let mut hasher = blake3::Hasher::new_derive_key(purpose);
            let [sender, receiver] = parties.map(|party| session.name(party));
            for text in [sender, receiver, session.path()] {
                hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
            hasher.update(nonce);
            hasher
        };
        Self {
            point: bind("tacit base OT, version 2: hash to ristretto255"),
            key: bind("tacit base OT, version 2: key"),
        }
    }

    /// Hash to the group, tagged with the OT's number.
    fn point(&self, i: usize, bit: u8, other: &CompressedRistretto) -> RistrettoPoint {
        let mut hasher = self.point.clone();
        hasher.update(&(i as u64).to_le_bytes()).update(&[bit]).update(other.as_bytes());
        let mut uniform = [0; 64];
        hasher.finalize_xof().fill(&mut uniform);
        RistrettoPoint::from_uniform_bytes(&uniform)
    }

    /// The key of a shared point, tagged with the OT's number and bound to both messages.
    fn key(&self, i: usize, bit: u8, a: &CompressedRistretto, word: &Word, shared: &CompressedRistretto) -> u128 {
        let mut hasher = self.key.clone();
        hasher
            .update(&(i as u64).to_le_bytes())
            .update(&[bit])
            .update(a.as_bytes())
            .update(word)
            .update(shared.as_bytes());
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        u128::from_le_bytes(key)
    }
}

/// Fresh uniform scalars.
fn scalars(n: usize) -> Result<Vec<Scalar>, OtError> {
    let mut wide = Zeroizing::new([0u8; 64]);
    let mut prg = Prg::new(&fresh_seed()?);
    let mut scalar = || {
        prg.fill(&mut wide[..]);
        Scalar::from_bytes_mod_order_wide(&wide)
    };
    Ok((0..n).map(|_| scalar()).collect())
}
