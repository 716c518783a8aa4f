//! The consistency check of malicious security: of the trees of one vector, before anything is made of them that the
//! sender could see.
//!
//! The receiver's blocks must be w = v + e delta for the sender's blocks v and the receiver's noise e, which is zero
//! but for one value in each segment. With one more VOLE (a, c = a delta + b):
//!
//! 1. the receiver draws weights r and shows y = <r, e> + a;
//! 2. the sender answers with the hash of <r, v> + y delta + b and of the code's seed;
//! 3. the receiver compares that with the hash of <r, w> + c and of the seed that it drew.
//!
//! A sender whose trees disagree with its blocks passes if it guessed the positions at which they do, or with
//! probability 2 2^h / |F|, below 2^-50. A right guess of positions is knowledge about the noise that it pays for with
//! the risk of being caught. Each bit learned halves its chance, which the noise parameters' margin and any use in
//! which an abort is visible allow for. The receiver's messages are those of the OTs and y, masked by a; a wrong y
//! makes only its own comparison fail.
//!
//! **Order** Vectors follow each other without waiting. The sender sends the trees of a vector before it answers the
//! check of the one before. The receiver evaluates and compresses them before it reads that answer. It reads the answer
//! before it sends anything of the vector, which is its y, and before it gives out any correlation. So a sender gets
//! the messages that it would get if every check ended before the next trees, each after the same checks passed. It
//! must commit itself to trees earlier. All that it can do here it can do there. A selective failure tells the same:
//! whether its guesses of positions in one vector were right. A receiver gets trees before it has to show y; they tell
//! nothing of delta, and the answer tells whether y is right, whenever it is asked.
//!
//! **Cost** 16 bytes and one element of F from the receiver, 16 bytes from the sender, for each vector; [`rounds`]. Of
//! all vectors that follow each other, 16 bytes from the sender for their trees' tweaks ([`spread`]).
//! **Source** Yang, Weng, Lan, Zhang, Wang, "Ferret" (CCS 2020), Figure 7; Weng, Yang, Katz, Wang, "Wolverine" (S&P
//! 2021), Figure 7.
//! **Departures** weights r(i, j) = chi(i) rho^j for segment i and position j instead of independent ones: rho^j is
//! computed from the bits of the secret j without a table. The sender's answer is compared by the receiver alone: the
//! sender has nothing to be convinced of. Answers are one vector late.

use std::marker::PhantomData;

use tacit_math::gf::{Field, Gf128};
use tacit_math::{KeyedHash, Prg, Seed};
use tacit_net::{PartyId, Session, Traffic};

use super::noise::{Codes, Noise};
use super::tree::Trees;
use crate::error::{fresh_block, fresh_seed};
use crate::{Adversary, OtError};

/// Key of the answer's hash: 32 bytes that name its purpose.
const ANSWER: &[u8; 32] = b"tacit silent VOLE, answer, ver 2";

/// What the check of one vector costs, where there is one, without rounds.
pub(super) fn cost<F: Field>(adversary: Adversary) -> Traffic {
    match adversary {
        Adversary::SemiHonest => Traffic::default(),
        Adversary::Malicious => Traffic { rounds: 0, sender: 16, receiver: 16 + (F::BITS / 8) as u64 },
    }
}

/// What the factor of the trees' tweaks costs, of all vectors that follow each other.
pub(super) fn spread(adversary: Adversary, vectors: usize) -> Traffic {
    let drawn = adversary == Adversary::Malicious && vectors > 0;
    Traffic { rounds: 0, sender: if drawn { 16 } else { 0 }, receiver: 0 }
}

/// Rounds for `vectors` vectors, trees and checks. Without checks all trees are one stream. With them each vector has a
/// round in which its check is asked for while the trees of the next one come, and one with the answer.
pub(super) fn rounds(adversary: Adversary, vectors: usize) -> u64 {
    match adversary {
        Adversary::SemiHonest => vectors.min(1) as u64,
        Adversary::Malicious if vectors == 0 => 0,
        Adversary::Malicious => 1 + 2 * vectors as u64,
    }
}

/// The sender's part of the checks of vectors that follow each other.
pub(super) struct Answers<F> {
    receiver: PartyId,
    adversary: Adversary,
    delta: u128,
    /// The seed of the codes.
    seed: u128,
    begun: bool,
    /// The vector whose check is not answered yet, with b of one more VOLE.
    open: Option<(Noise, u128)>,
    /// The running sums of its blocks; after the answer memory for the next ones.
    sums: Vec<u128>,
    field: PhantomData<F>,
}

impl<F: Field> Answers<F> {
    pub(super) fn new(receiver: PartyId, adversary: Adversary, delta: u128) -> Self {
        Self { receiver, adversary, delta, seed: 0, begun: false, open: None, sums: Vec::new(), field: PhantomData }
    }

    /// Has the checks show that both parties have these codes.
    pub(super) fn bind(&mut self, codes: &Codes) {
        self.seed = codes.seed();
    }

    /// Against whom the session is protected.
    pub(super) fn adversary(&self) -> Adversary {
        self.adversary
    }

    /// Begins the round of a vector's trees. Before the first ones a malicious receiver, whose OTs are fixed, is told
    /// what their numbers are multiplied by.
    pub(super) fn begin(&mut self, session: &mut Session, trees: &mut Trees) -> Result<(), OtError> {
        let first = !std::mem::replace(&mut self.begun, true);
        if first || self.adversary == Adversary::Malicious {
            session.next_round();
        }
        if first && self.adversary == Adversary::Malicious {
            let factor = fresh_block()?;
            session.send(self.receiver, factor.to_le_bytes().to_vec())?;
            trees.spread(Gf128(factor));
        }
        Ok(())
    }

    /// Answers for the vector before the one whose trees have just been sent, if there is one.
    pub(super) fn answer(&mut self, session: &mut Session) -> Result<(), OtError> {
        let Some((noise, b)) = self.open.take() else { return Ok(()) };
        // Step 1: r as a seed, and y.
        let mut seed = [0; 16];
        let mut y = vec![0; F::BITS / 8];
        session.recv(self.receiver, &mut seed)?;
        session.recv(self.receiver, &mut y)?;
        let y: F = bytemuck::pod_read_unaligned(&y);
        // Step 2: <r, v> + y delta + b.
        let weights = Weights::<F>::new(&noise, &Seed::from_bytes(seed));
        let sum = weights.sum(&self.sums) ^ y.scale(self.delta) ^ b;
        session.next_round();
        Ok(session.send(self.receiver, hash(sum, self.seed).to_le_bytes().to_vec())?)
    }

    /// Takes the running sums of a vector whose check is to be answered, and gives memory for the next ones.
    pub(super) fn open(&mut self, noise: Noise, b: u128, sums: &mut Vec<u128>) {
        self.open = Some((noise, b));
        std::mem::swap(&mut self.sums, sums);
    }

    /// Answers for the last vector.
    pub(super) fn end(&mut self, session: &mut Session) -> Result<(), OtError> {
        if self.open.is_some() {
            session.next_round();
            self.answer(session)?;
        }
        self.begun = false;
        Ok(())
    }
}

/// The receiver's part of the checks of vectors that follow each other.
pub(super) struct Questions<F> {
    sender: PartyId,
    adversary: Adversary,
    /// The seed of the codes.
    seed: u128,
    begun: bool,
    open: Option<Evaluated<F>>,
    /// The answer that is to come.
    expected: Option<u128>,
}

/// A vector of the receiver whose check it has not asked for yet.
pub(super) struct Evaluated<F> {
    pub noise: Noise,
    /// The position of the noise in every segment.
    pub places: Vec<u32>,
    /// Its value there.
    pub values: Vec<F>,
    /// a and c of one more VOLE.
    pub mask: (F, u128),
}

impl<F: Field> Evaluated<F> {
    /// y, the weighted sum of the noise, masked.
    pub(super) fn shown(&self, weights: &Weights<F>) -> F {
        let noisy = self.places.iter().zip(&self.values).enumerate();
        noisy.fold(self.mask.0, |sum, (i, (&place, &value))| sum ^ weights.at(i, place).multiply(value))
    }
}

impl<F: Field> Questions<F> {
    pub(super) fn new(sender: PartyId, adversary: Adversary) -> Self {
        Self { sender, adversary, seed: 0, begun: false, open: None, expected: None }
    }

    /// Has the checks show that both parties have these codes.
    pub(super) fn bind(&mut self, codes: &Codes) {
        self.seed = codes.seed();
    }

    /// Against whom the session is protected.
    pub(super) fn adversary(&self) -> Adversary {
        self.adversary
    }

    /// Begins the round of a vector's trees, in which the check of the one before is asked for: `sums` are the running
    /// sums of its blocks.
    pub(super) fn begin(&mut self, session: &mut Session, sums: &[u128], trees: &mut Trees) -> Result<(), OtError> {
        let first = !std::mem::replace(&mut self.begun, true);
        if first || self.adversary == Adversary::Malicious {
            session.next_round();
        }
        if first && self.adversary == Adversary::Malicious {
            let mut factor = [0; 16];
            session.recv(self.sender, &mut factor)?;
            trees.spread(Gf128(u128::from_le_bytes(factor)));
        }
        self.ask(session, sums)
    }

    fn ask(&mut self, session: &mut Session, sums: &[u128]) -> Result<(), OtError> {
        let Some(vector) = self.open.take() else { return Ok(()) };
        let (seed, c) = (fresh_seed()?.published(), vector.mask.1);
        // Step 1, and what step 3 compares with: the hash of <r, w> + c.
        let weights = Weights::<F>::new(&vector.noise, &seed);
        let y = vector.shown(&weights);
        session.send(self.sender, seed.expose().to_vec())?;
        session.send(self.sender, bytemuck::bytes_of(&y).to_vec())?;
        self.expected = Some(hash(weights.sum(sums) ^ c, self.seed));
        Ok(())
    }

    /// Reads and compares the answer for the vector before the one that has just been evaluated, if there is one.
    pub(super) fn verify(&mut self, session: &mut Session) -> Result<(), OtError> {
        let Some(expected) = self.expected.take() else { return Ok(()) };
        session.next_round();
        // Step 3.
        let mut answer = [0; 16];
        session.recv(self.sender, &mut answer)?;
        // The sender sees whether this party goes on.
        if tacit_marks::published(u128::from_le_bytes(answer) != expected) {
            return Err(OtError::cheating(session, self.sender, "its trees do not fit its blocks"));
        }
        Ok(())
    }

    /// Notes a vector whose check is to be asked for, when the one before is verified.
    pub(super) fn open(&mut self, vector: Evaluated<F>) {
        self.open = Some(vector);
    }

    /// The check of the last vector, whose blocks have these running sums. After it everything is verified.
    pub(super) fn end(&mut self, session: &mut Session, sums: &[u128]) -> Result<(), OtError> {
        if self.open.is_some() {
            session.next_round();
            self.ask(session, sums)?;
            self.verify(session)?;
        }
        self.begun = false;
        Ok(())
    }
}

fn hash(sum: u128, seed: u128) -> u128 {
    KeyedHash::new(ANSWER).hash(bytemuck::cast_slice(&[sum.to_le_bytes(), seed.to_le_bytes()]))
}

/// The weight of place j in segment i is chi(i) rho^j.
pub(super) struct Weights<F> {
    segments: Vec<F>,
    /// The weights of running sums in a segment, but for chi(i). They are rho^j + rho^(j + 1), as each sum has part in
    /// the block of its place and in the next one. At the last place the weight is rho^j alone.
    steps: Vec<F>,
    /// rho^(2^i) for every bit i of a place.
    squares: Vec<F>,
}

impl<F: Field> Weights<F> {
    pub(super) fn new(noise: &Noise, seed: &Seed) -> Self {
        let mut prg = Prg::new(seed);
        let segments = prg.vector(noise.segments);
        let rho = prg.vector::<F>(1)[0];
        let mut steps: Vec<F> =
            std::iter::successors(Some(F::ONE), |last| Some(last.multiply(rho))).take(1 << noise.depth).collect();
        for i in 1..steps.len() {
            let next = steps[i];
            steps[i - 1] ^= next;
        }
        let squares = std::iter::successors(Some(rho), |last| Some(last.multiply(*last)));
        Self { segments, steps, squares: squares.take(noise.depth as usize).collect() }
    }

    /// The weight of one place, which is secret.
    pub(super) fn at(&self, segment: usize, place: u32) -> F {
        self.squares.iter().enumerate().fold(self.segments[segment], |product, (bit, square)| {
            // The square for a bit that is one, else one.
            let mask = 0_u128.wrapping_sub(u128::from(place >> bit & 1));
            let chosen = F::from_bits(square.bits() & mask) ^ F::from_bits(1 & !mask);
            product.multiply(chosen)
        })
    }

    /// The weighted sum of all blocks, from their running sums.
    fn sum(&self, sums: &[u128]) -> u128 {
        let (mut total, mut before) = (0, 0);
        for (sums, weight) in sums.chunks_exact(self.steps.len()).zip(&self.segments) {
            // The first block is the first sum plus the last one of the segment before.
            total ^= weight.scale(F::inner_product(&self.steps, sums) ^ before);
            before = sums[sums.len() - 1];
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::{Noise, Weights};
    use tacit_math::code::accumulate;
    use tacit_math::gf::{Field, Gf64, Gf128};
    use tacit_math::{Prg, Seed};

    /// One weight for each place, whether it is taken of a block, of running sums or of a secret place.
    fn weights_are_one<F: Field>() {
        let mut prg = Prg::new(&Seed::from_bytes([5; 16]));
        let noise = Noise { segments: 7, depth: 4, outputs: 1 };
        let weights = Weights::<F>::new(&noise, &Seed::from_bytes([6; 16]));
        let mut blocks: Vec<u128> = prg.vector(noise.length());
        let weighted = (0..7).flat_map(|segment| (0..16).map(move |place| (segment, place)));
        let expected =
            weighted.zip(&blocks).fold(0, |sum, ((i, place), &block)| sum ^ weights.at(i, place).scale(block));
        accumulate(&mut blocks, 0);
        assert_eq!(weights.sum(&blocks), expected);
    }

    #[test]
    fn weights_of_sums_are_those_of_blocks() {
        weights_are_one::<Gf64>();
        weights_are_one::<Gf128>();
    }
}
