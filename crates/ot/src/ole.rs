//! Oblivious linear evaluation (OLE) of 64-bit integers from ring learning with errors, in blocks of N = 2^14 at once.
//!
//! **Computes**, for vectors x_i and y_i of party i, additive shares modulo 2^k (k at most 128) of the integers
//! x_0 y_1 + x_1 y_0, element by element. Each party's x is multiplied by the other's y. Of each product the shares may
//! lack the public number T, namely where a bit that the asker has and a bit that the answerer has are both one. The
//! caller adds that by one OT a product. **Adversary** semi-honest, either party. **Discloses** nothing.
//!
//! *Ring.* R_m is Z_m[X]/(X^N + 1). T is the product of three primes of 44 bits, P that of five, q = T P < 2^352. All
//! are 1 modulo 2N, so that R_T holds N slots of Z_T and every prime has a transform. At this N the Homomorphic
//! Encryption Standard (Albrecht et al., 2018, table 1: ternary secret, sigma 3.2, 128 bits against classical
//! computers) allows q < 2^438.
//!
//! *Request.* The asker has a ternary secret s. For the polynomial x that has its numbers in its slots it sends b = P
//! x + e - a s. Here a comes from a public seed and e has sigma 3.24 (a binomial distribution). As q/T is the integer
//! P, which is zero modulo its own primes, encoding is a multiplication in each slot. *Answer.* The answerer has y in
//! its slots, lifted to coefficients between -T/2 and T/2, and an encryption of zero made at setup: (-p s + e', p). It
//! draws a ternary u, an error e'' and for each coefficient a uniform f below 2^216. It takes c_0 = b y + (-p s + e')
//! u + f, c_1 = a y + p u + e''. So c_0 + c_1 s = P x y + w + f with w = e y + e' u + e'' s. It divides both by P and
//! keeps 4 binary places of the one and 12 of the other, rounded down. It adds a uniform mask r of R_T to the first,
//! and sends both. Its shares are the slots of -r. *End.* The asker computes c_0/P + c_1/P s, rounded: the slots of x
//! y + r modulo T, its shares.
//!
//! **Why shares are right.** Rounding bears errors below 1/2. f leaves up to 1/16, truncating c_0 up to 1/32.
//! Truncating c_1 leaves N uniform errors of up to 2^-13 times s, a standard deviation of 0.0074, of which 54 are
//! borne. As |x y| is at most 2^126 and T almost 2^132, v = x y + T/4 is within T/60 of T/4. The asker takes z between
//! -T/4 and 3T/4 with z = x y + r modulo T, the answerer r between 0 and T. So x y = z - r + w T for a whole w. Where
//! r < T/2 or z + T/4 >= T/2, w is 0; else it is 1, as v + r is then above T/2 and z + T/4 differs from it by w T.
//! Numbers taken for one beyond a bound by an error of 2^-48 T change nothing in this: v is far from 0 and T/2.
//!
//! **What the asker sees** beside x y + r, which is uniform: a function of c_0 and c_1. (1) f drowns w: c_0 = P x y -
//! c_1 s + w + f is within |w| / 2^216 of what it is without w, in each coefficient. The size of w is sqrt(N) 3.24 T/2
//! < 2^140 in the mean, for any y, as e is as it was drawn; e' u and e'' s, below 2^19, count for nothing. That is N
//! 2^140 / 2^216 = 2^-62 for a block, and 2^22 blocks (2^36 products) in a session stay within 2^-40. (2) Without w
//! nothing is made of u but c_1, which is uniform under the ring-LWE assumption for u with error e''. So c_0 and c_1
//! tell P x y alone, whose quotient is masked by r. **What the answerer sees** are ring-LWE samples of s.
//!
//! **Cost.** Setup: 1 round, [`setup_cost`]. A call with n products: ceil(n / (16 N)) + 1 rounds, and 1,294,336 bytes
//! from each party for N products: 44 N for a request, 35 N for an answer. Batches of 16 blocks are asked for in the
//! round in which the batch before is answered.
//!
//! **Sources.** Lyubashevsky, Peikert, Regev, EUROCRYPT 2010 (ring-LWE, the encryption). Brakerski, CRYPTO 2012, and
//! Fan, Vercauteren, ePrint 2012/144 (message in the high part); Smart, Vercauteren, ePrint 2011/133 (slots). Juvekar,
//! Vaikuntanathan, Chandrakasan, *Gazelle*, USENIX Security 2018 (products by a private plaintext, rerandomised, noise
//! drowned by more noise); Bajard et al., SAC 2016 (residue number systems). Brakerski, Vaikuntanathan, FOCS 2011 (a
//! shorter answer by dividing it); de Castro, Juvekar, Vaikuntanathan, WAHC 2021 (OLE from ring-LWE). Rathee et al.,
//! *SIRNN*, IEEE S&P 2021 (where a number's highest bit is known, whether its shares wrap around is an AND of a bit of
//! each). **Departures** the plaintext modulus divides the ciphertext modulus.

mod answer;
mod ask;
#[cfg(test)]
mod fresh;
mod lift;
pub mod matrices;
mod moduli;
mod planes;
mod sample;
#[cfg(test)]
mod views;

use answer::Answerer;
use ask::Asker;
use planes::bytes;
use std::ops::Range;
use tacit_math::ntt::{DEGREE, PRIME_BITS};
use tacit_math::{Prg, Ring, Seed};
use tacit_net::{PartyId, Session, Traffic};

use crate::OtError;
use crate::error::fresh_seed;
use moduli::{FLOOD_DIGIT_BITS, FLOOD_DIGITS, KEPT, LIMBS, moduli};

/// Products of a block, which one request asks for.
pub const BLOCK: usize = DEGREE;

/// Blocks that are asked for in one round.
const BATCH: usize = 16;

/// Binary places that are kept of an answer's polynomials.
const PLACES: [u32; 2] = [4, 12];

/// Bytes of a request.
const REQUEST: usize = LIMBS * bytes(PRIME_BITS);

/// Bytes of an answer.
const ANSWER: usize = 2 * KEPT * bytes(PRIME_BITS) + bytes(PLACES[0]) + bytes(PLACES[1]);

/// Bytes of a seed.
const SEED: usize = 16;

/// What security follows from, for recomputing it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// N, the dimension of the ring.
    pub degree: usize,
    /// log2 T.
    pub log2_plaintext: f64,
    /// log2 P; the ciphertext modulus is T P.
    pub log2_dropped: f64,
    /// The variance of an error's coefficient.
    pub error_variance: f64,
    /// Its largest absolute value.
    pub most_error: u32,
    /// log2 of the bound of the noise that drowns what an answer was made of.
    pub log2_flood: f64,
    /// Binary places that are kept of an answer's polynomials.
    pub places: [u32; 2],
}

/// The parameters.
pub fn parameters() -> Parameters {
    let [log2_plaintext, log2_dropped] = moduli::log2_plaintext_and_dropped();
    let most_error = sample::ERROR_BITS;
    let error_variance = f64::from(most_error) / 2.0;
    let log2_flood = f64::from(FLOOD_DIGITS as u32 * FLOOD_DIGIT_BITS);
    Parameters { degree: DEGREE, log2_plaintext, log2_dropped, error_variance, most_error, log2_flood, places: PLACES }
}

/// What both parties send at setup.
pub const fn setup_cost() -> Traffic {
    Traffic { rounds: 1, sender: (SEED + REQUEST) as u64, receiver: (SEED + REQUEST) as u64 }
}

/// What [`Ole::cross_products`] costs for `products` products; both parties send the same.
pub const fn cost(products: usize) -> Traffic {
    let blocks = products.div_ceil(BLOCK);
    let bytes = (blocks * (REQUEST + ANSWER)) as u64;
    let rounds = if blocks == 0 { 0 } else { blocks.div_ceil(BATCH) as u64 + 1 };
    Traffic { rounds, sender: bytes, receiver: bytes }
}

/// One party's part in sums of two products each. With the other party's, marked ', they are the integers
/// shares + shares' + bits wraps' + bits' wraps, element by element modulo 2^k.
pub struct CrossProducts<R> {
    /// Shares, of sums that may lack some of [`Self::wraps`].
    pub shares: Vec<R>,
    /// This party's bits, uniform and secret, 64 to a word, lowest first. Bits behind the last product are unspecified.
    pub bits: Vec<u64>,
    /// What the sum has to be increased by where the other party's bit is one; secret.
    pub wraps: Vec<R>,
}

/// One party's keys and its peer's.
pub struct Ole {
    peer: PartyId,
    asker: Asker,
    answerer: Answerer,
}

impl Ole {
    /// Makes keys and exchanges what is public of them.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`] if the peer sends no residues.
    pub fn setup(session: &mut Session, peer: PartyId) -> Result<Self, OtError> {
        let public = fresh_seed()?.published();
        let (asker, key) = Asker::new(Prg::new(&public), Prg::new(&fresh_seed()?));
        session.next_round();
        session.send(peer, public.expose().to_vec())?;
        session.send(peer, key)?;
        let (mut seed, mut key) = ([0; SEED], vec![0; REQUEST]);
        session.recv(peer, &mut seed)?;
        session.recv(peer, &mut key)?;
        let public = Prg::new(&Seed::from_bytes(seed));
        let answerer = Answerer::new(public, &key, Prg::new(&fresh_seed()?));
        let answerer = answerer.ok_or_else(|| OtError::cheating(session, peer, NO_RESIDUES))?;
        Ok(Self { peer, asker, answerer })
    }

    /// This party's part in its x times the peer's y plus its y times the peer's x, for `count` of both; `x` and `y`
    /// give ranges of them.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`] if the peer sends no residues.
    ///
    /// # Panics
    /// If a range is given another number of integers.
    pub fn cross_products<R: Ring>(
        &mut self,
        session: &mut Session,
        count: usize,
        x: impl Fn(Range<usize>) -> Vec<i64>,
        y: impl Fn(Range<usize>) -> Vec<i64>,
    ) -> Result<CrossProducts<R>, OtError> {
        let mut shares = vec![R::ZERO; count];
        let [mut lower, mut upper] = [(); 2].map(|()| vec![0; count.div_ceil(64)]);
        let words = |block: &Range<usize>| block.start / 64..block.end.div_ceil(64);
        let mut batches: Vec<Vec<Range<usize>>> =
            ranges(0..count, BATCH * BLOCK).map(|batch| ranges(batch, BLOCK).collect()).collect();
        let mut answers = Vec::new();
        if count > 0 {
            batches.push(Vec::new());
        }
        for (number, asked) in batches.iter().enumerate() {
            session.next_round();
            // Answers to the batch before.
            for answer in std::mem::take(&mut answers) {
                session.send(self.peer, answer)?;
            }
            // Requests of this batch.
            for block in asked {
                let request = self.asker.ask(&x(block.clone()), session.buffer(REQUEST));
                session.send(self.peer, request)?;
            }
            // The end of the batch before: shares of x y', and bits of z + T/4 < T/2.
            for block in number.checked_sub(1).map_or(&[][..], |before| &batches[before]) {
                let message = self.receive(session, ANSWER)?;
                let ended = self.asker.end(&message, &mut shares[block.clone()], &mut lower[words(block)]);
                ended.ok_or_else(|| OtError::cheating(session, self.peer, NO_RESIDUES))?;
            }
            // Answers to be sent in the next round: shares of x' y, and bits of r >= T/2.
            for block in asked {
                let message = self.receive(session, REQUEST)?;
                let y = y(block.clone());
                assert_eq!(y.len(), block.len(), "as many integers as asked for");
                let parts = (&mut shares[block.clone()], &mut upper[words(block)]);
                let answer = self.answerer.answer(&message, &y, parts, session.buffer(ANSWER));
                answers.push(answer.ok_or_else(|| OtError::cheating(session, self.peer, NO_RESIDUES))?);
            }
        }
        // w T, wherever both bits are one.
        let modulus = R::from_u128(moduli().modulus);
        // The compiler would branch on a bit that it sees.
        let bit = |i: usize| std::hint::black_box(upper[i / 64] >> (i % 64) & 1);
        let wrap = |i: usize| modulus.and(R::ZERO.sub(R::from_u128(u128::from(bit(i)))));
        Ok(CrossProducts { shares, bits: lower, wraps: (0..count).map(wrap).collect() })
    }

    fn receive(&self, session: &mut Session, bytes: usize) -> Result<Vec<u8>, OtError> {
        let mut message = session.buffer(bytes);
        session.recv_pieces(self.peer, bytes, |piece| message.extend_from_slice(piece))?;
        Ok(message)
    }
}

/// A range cut into ranges of a length, the last one perhaps shorter.
fn ranges(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(length).map(move |start| start..range.end.min(start + length))
}

const NO_RESIDUES: &str = "numbers that are no residues of their primes";
