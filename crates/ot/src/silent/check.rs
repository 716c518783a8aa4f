//! The consistency check of malicious security: after the trees of one vector, before anything is made of them.
//!
//! The receiver's blocks must be w = v + e delta for the sender's blocks v and the receiver's noise e, which is zero
//! but for one value in each segment. The receiver draws weights r and shows y = <r, e> + a for one more VOLE (a, c = a
//! delta + b); the sender answers with the hash of <r, v> + y delta + b, which must be that of <r, w> + c.
//!
//! A sender whose trees disagree with its blocks passes if it guessed the places at which they do, or with probability
//! 2 2^h / |F|, below 2^-50. A right guess of places is knowledge about the noise that it pays for with the risk of
//! being caught: each bit learned halves its chance, which the noise parameters' margin and any use in which an abort
//! is visible allow for. The receiver's messages are those of the OTs and y, masked by a; a wrong y makes only its own
//! comparison fail.
//!
//! **Cost** 2 rounds; 16 bytes and one element of F from the receiver, 16 bytes from the sender.
//! **Source** Yang, Weng, Lan, Zhang, Wang, "Ferret" (CCS 2020), Figure 7; Weng, Yang, Katz, Wang, "Wolverine" (S&P
//! 2021), Figure 7.
//! **Departures** weights r(i, j) = chi(i) rho^j for segment i and place j instead of independent ones: rho^j is
//! computed from the bits of the secret j without a table. The sender's answer is compared by the receiver alone: the
//! sender has nothing to be convinced of.

use tacit_math::gf::Field;
use tacit_math::{KeyedHash, Prg, Seed};
use tacit_net::{PartyId, Session};

use super::noise::Noise;
use crate::cost::Cost;
use crate::error::fresh_seed;
use crate::{Adversary, OtError};

/// Key of the answer's hash: 32 bytes that name its purpose.
const ANSWER: &[u8; 32] = b"tacit silent VOLE, answer, ver 1";

/// What the check costs, where there is one.
pub(super) fn cost<F: Field>(adversary: Adversary) -> Cost {
    match adversary {
        Adversary::SemiHonest => Cost::default(),
        Adversary::Malicious => Cost { rounds: 2, sender: 16, receiver: 16 + (F::BITS / 8) as u64 },
    }
}

/// The sender's part, its blocks being v and `product` its b of one more VOLE.
pub(super) fn answer<F: Field>(
    session: &mut Session,
    receiver: PartyId,
    noise: &Noise,
    blocks: &[u128],
    delta: u128,
    product: u128,
) -> Result<(), OtError> {
    session.next_round();
    let mut seed = [0; 16];
    let mut shown = vec![0; F::BITS / 8];
    session.recv(receiver, &mut seed)?;
    session.recv(receiver, &mut shown)?;
    let shown: F = bytemuck::pod_read_unaligned(&shown);
    let weights = Weights::<F>::new(noise, &Seed::from_bytes(seed));
    let sum = weights.sum(blocks) ^ shown.scale(delta) ^ product;
    session.next_round();
    session.send(receiver, hash(sum).to_le_bytes().to_vec())?;
    Ok(())
}

/// The receiver's part, its blocks being w, its noise `values[i]` at `places[i]` of segment i, and (a, c) its part of one more
/// VOLE.
pub(super) fn verify<F: Field>(
    session: &mut Session,
    sender: PartyId,
    noise: &Noise,
    blocks: &[u128],
    places: &[u32],
    values: &[F],
    (mask, product): (F, u128),
) -> Result<(), OtError> {
    session.next_round();
    let seed = fresh_seed()?;
    let weights = Weights::<F>::new(noise, &seed);
    let shown = places
        .iter()
        .zip(values)
        .enumerate()
        .fold(mask, |sum, (i, (&place, &value))| sum ^ weights.at(i, place).multiply(value));
    session.send(sender, seed.expose().to_vec())?;
    session.send(sender, bytemuck::bytes_of(&shown).to_vec())?;
    let expected = hash(weights.sum(blocks) ^ product);
    session.next_round();
    let mut answer = [0; 16];
    session.recv(sender, &mut answer)?;
    if u128::from_le_bytes(answer) != expected {
        return Err(OtError::cheating(session, sender, "its trees do not fit its blocks"));
    }
    Ok(())
}

fn hash(sum: u128) -> u128 {
    KeyedHash::new(ANSWER).hash(&sum.to_le_bytes())
}

/// The weight of place j in segment i is chi(i) rho^j.
struct Weights<F> {
    segments: Vec<F>,
    /// rho^j for every place j.
    powers: Vec<F>,
    /// rho^(2^i) for every bit i of a place.
    squares: Vec<F>,
}

impl<F: Field> Weights<F> {
    fn new(noise: &Noise, seed: &Seed) -> Self {
        let mut prg = Prg::new(seed);
        let segments = prg.vector(noise.segments);
        let rho = prg.vector::<F>(1)[0];
        let powers =
            std::iter::successors(Some(F::ONE), |last| Some(last.multiply(rho))).take(1 << noise.depth).collect();
        let squares = std::iter::successors(Some(rho), |last| Some(last.multiply(*last)));
        Self { segments, powers, squares: squares.take(noise.depth as usize).collect() }
    }

    /// The weight of one place, which is secret.
    fn at(&self, segment: usize, place: u32) -> F {
        self.squares.iter().enumerate().fold(self.segments[segment], |product, (bit, square)| {
            // The square for a bit that is one, else one.
            let mask = 0_u128.wrapping_sub(u128::from(place >> bit & 1));
            let chosen = F::from_bits(square.bits() & mask) ^ F::from_bits(1 & !mask);
            product.multiply(chosen)
        })
    }

    /// The weighted sum of all blocks.
    fn sum(&self, blocks: &[u128]) -> u128 {
        let segments = blocks.chunks_exact(self.powers.len()).zip(&self.segments);
        segments.fold(0, |sum, (blocks, weight)| sum ^ weight.scale(F::inner_product(&self.powers, blocks)))
    }
}
