//! How much noise hides a vector of given length.
//!
//! The receiver's scalars are H e for the public binary code H with N = 2n columns and a noise vector e of t segments
//! of equal length. Each segment is zero but for one uniformly random position with a uniformly random value from a
//! field of 2^s elements, zero included (s = 1: the value is one). Nobody may tell H e from random. t is the largest of
//! what two families of attacks ask for, the length of a segment being a power of two.
//!
//! **Linear tests** (Boyle et al., CRYPTO 2019 and 2022; Couteau, Rindal, Raghuraman, CRYPTO 2021). A test v with v H
//! of weight d sees a bias of (1 - d/N)^t: one random value at a position of v hides its result altogether. With s = 1
//! the bias is (1 - 2 d/N)^t. [`DISTANCE`] is the pseudo-minimum distance of the code of depth 3 and blocks of 32 that
//! libOTe uses for it. Lighter words may exist; finding them is as hard as decoding. 128 bits are asked of it, twice
//! libOTe's 64. For s = 1 weight is not all: a test that is one on a whole segment of regular noise loses nothing
//! there. What hides its result are changes. A segment in which the test changes at a uniform position leaves |1 - 2u|
//! of the bias, 1/e in the geometric mean. So 89 segments with a change leave 2^-128. Changes of a test are the ones of
//! what the last accumulator gets; 123 touch as many segments in the mean in the longest vectors, 108 in the shortest.
//! Of words that are so light there, a code with random permutations has 2^-25 in the mean for the longest vectors and
//! 2^-19 for the shortest. Each session draws its own code ([`Codes`]). The fewest changes matter most, as their words
//! are found by enumeration. The mean bias over the code's seed is 2^-49 for the shortest vectors, because the blocks'
//! code has no words below weight 12 (with random blocks it would be 2^-26). For s > 1 a test of few changes must also
//! begin and end in each segment that it touches, which is rarer still.
//!
//! **Information sets**: guess n positions without noise and solve. For s > 1 the code is binary and the noise is not,
//! so one position hides s bits at once. A syndrome over GF(2^s) is s binary syndromes of errors with common support.
//! Each of their 2^s - 1 sums is the syndrome of an error that vanishes at half of the positions in the mean. A set
//! that contains half of all columns succeeds with one such sum if every segment's position is outside of it or the sum
//! vanishes there. That has probability 3/4 for each segment, times 2^s sums. (For t <= s one would have Metzner and
//! Kapturowski's decoder of interleaved codes, which takes polynomial time; parameters of binary noise would be broken
//! for s = 128.) For s = 1 the probability is 1/2. [`MARGIN`] bits are asked for above 128, and the work of each guess,
//! at least a Gaussian elimination, is not counted. Better algorithms need fewer guesses of more work. With lists that
//! are compared (Stern; Dumer), eliminations counted at a word a step, the best costs 2^141 for GF(2^64) and GF(2^128),
//! 2^168 for GF(8) and more for bits. That is less than guesses whose eliminations count (2^161), more than the 2^136
//! of guesses that count for nothing. Where one of all vectors of 10^9 items is enough, they leave 2^134. Algebraic
//! attacks on regular noise (Briaud, Oygarden, EUROCRYPT 2023) win for rates near one, not one half. `make security`
//! recomputes these numbers.
//!
//! Vectors below [`LEAST`] outputs are cut from longer ones. In shorter codes light words are too many, and the other
//! estimates, which are about long codes, are not to be trusted.

use tacit_math::Seed;
use tacit_math::code::{BLOCK, BlockAccumulate};
use tacit_net::{PartyId, Session};

use crate::OtError;
use crate::error::fresh_seed;

/// Relative pseudo-minimum distance of the code; with the feature `heavier-noise` the distance of random codes of rate
/// one half (Gilbert, Varshamov).
pub const DISTANCE: f64 = if cfg!(feature = "heavier-noise") { 0.11 } else { 0.20 };

/// Security against each family of attacks, in bits.
const SECURITY: f64 = 128.0;

/// More bits asked against information sets.
const MARGIN: f64 = 8.0;

/// Outputs of the smallest code.
pub const LEAST: usize = 16384;

/// The noise of one vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noise {
    /// Segments, each with one noisy position.
    pub segments: usize,
    /// The length of a segment is two to this power.
    pub depth: u32,
    /// Outputs of the code.
    pub outputs: usize,
}

impl Noise {
    /// The noise for a number of outputs with values from a field of 2^bits elements.
    pub fn new(outputs: usize, bits: usize) -> Self {
        let length = 2 * outputs.max(LEAST).next_multiple_of(BLOCK);
        let least = least_weight(bits);
        // As deep as there are enough segments, or deeper if that makes the vector a little longer than it need be:
        // fewer trees.
        let depth = ((length + length / 8) / least).ilog2();
        Self { segments: length.div_ceil(1 << depth).max(least), depth, outputs }
    }

    /// Positions of the noise vector.
    pub fn length(&self) -> usize {
        self.segments << self.depth
    }

    /// The code of a seed that compresses the vector.
    pub fn code(&self, seed: &Seed) -> BlockAccumulate {
        BlockAccumulate::new(seed, self.segments, self.depth, self.outputs)
    }
}

/// The codes of one session and direction.
///
/// The receiver draws their seed, in the first message of its own after its noise is fixed: only its scalars depend on
/// the code being a good one. A corrupted receiver that chooses a bad code chooses its scalars with it, as it may.
/// Delta does not depend on the code. Leaves are hashed or, in OTs, grown in trees with numbers, so that outputs which
/// repeat under a bad code are never hashed alike ([`super::tree`]). So no coins need be tossed; a sender that had a
/// part in them could search for a code that is bad for the receiver's scalars.
pub(super) struct Codes {
    seed: Seed,
    /// The code of the noise vector compressed last, for the next one if it has the same size.
    last: Option<(Noise, BlockAccumulate)>,
}

/// Bytes of the seed, which the receiver sends.
pub(super) const SEED_BYTES: u64 = 16;

impl Codes {
    /// The receiver's: draws the seed and sends it, in the present round.
    pub(super) fn draw(session: &mut Session, sender: PartyId) -> Result<Self, OtError> {
        let seed = fresh_seed()?.published();
        session.send(sender, seed.expose().to_vec())?;
        Ok(Self { seed, last: None })
    }

    /// The sender's, from the receiver's message of the present round.
    pub(super) fn hear(session: &mut Session, receiver: PartyId) -> Result<Self, OtError> {
        let mut seed = [0; 16];
        session.recv(receiver, &mut seed)?;
        Ok(Self { seed: Seed::from_bytes(seed), last: None })
    }

    /// The seed, as a number.
    pub(super) fn seed(&self) -> u128 {
        u128::from_le_bytes(*self.seed.expose())
    }

    /// The code that compresses such a vector.
    pub(super) fn of(&mut self, noise: &Noise) -> &BlockAccumulate {
        let last = self.last.take().filter(|(last, _)| last == noise);
        &self.last.insert(last.unwrap_or_else(|| (*noise, noise.code(&self.seed)))).1
    }
}

/// The least number of noisy positions for values from a field of 2^bits elements; for one bit the values are one.
pub fn least_weight(bits: usize) -> usize {
    // By how much a place under a test lessens its bias, and the share of values at which a given nonzero linear form
    // vanishes.
    let (lessens, vanishing): (f64, f64) = if bits == 1 { (2.0, 0.0) } else { (1.0, 0.5) };
    let linear = SECURITY / -(1.0 - lessens * DISTANCE).log2();
    let sums = ((bits as f64).exp2() - 1.0).log2();
    let information = (SECURITY + MARGIN + sums) / -(0.5 + 0.5 * vanishing).log2();
    linear.max(information).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Noise, least_weight};

    #[test]
    fn weights() {
        let weights =
            if cfg!(feature = "heavier-noise") { [358, 762, 762, 762, 762] } else { [174, 398, 398, 482, 637] };
        assert_eq!([1, 3, 4, 64, 128].map(least_weight), weights);
    }

    #[test]
    fn there_is_always_enough_noise() {
        for bits in [1, 3, 4, 64, 128] {
            for outputs in (0..26).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]).chain([1_350_000]) {
                let noise = Noise::new(outputs, bits);
                assert!(noise.segments >= least_weight(bits), "{noise:?}");
                assert!(noise.segments <= 2 * least_weight(bits) + 1, "{noise:?}");
                assert!(2 * outputs.next_multiple_of(BLOCK) <= noise.length(), "{noise:?}");
            }
        }
    }
}
