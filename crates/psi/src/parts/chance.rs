//! The probability that a run fails by chance, and the share of each event in that probability.
//!
//! By chance a run is wrong, or ends without a result, with a probability of 2^-40 at most. That is the probability of
//! all its events together, over all of its bins, stores, functions and parties. Each event has a share, the same in
//! every protocol, from which sizes follow. In parts of 2^-45, of which there are 32:
//!
//! | event | parts | its size |
//! |---|---|---|
//! | words of 64 bits are equal that stand for different things; code words are too near | 20 | comes in large steps: 64 or 128 bits, 448 or 512 |
//! | tags of different items are equal | 8 | a bit more halves the probability |
//! | items have no place in a table; one of the stores of a kind cannot be encoded | 1 each | a few bins or columns more halve it |
//!
//! A protocol has one of the first, one of the second and at most three of the last, 31 parts. The last part is for
//! what no size follows from: tokens, generators, checks, proofs and encrypted records, far below it. `make security`
//! adds up each protocol's events, from the sizes that it has.
//!
//! Sizes that come in large steps get most parts: the larger step is then needed for large sets alone.

/// A run fails by chance with a probability of 2^-40 at most.
pub const RUN_BITS: u32 = 40;

/// An event of one part: 2^-45.
pub const EVENT_BITS: u32 = RUN_BITS + 5;

/// That tags of different items are equal, somewhere in a run, eight parts: 2^-42.
pub const TAG_BITS: u32 = EVENT_BITS - 3;

/// Parts of what comes in large steps.
const STEP: usize = 20;

/// Words of 64 bits that a run may compare, each equal to what it does not stand for with probability 2^-64, twenty
/// parts together: 10 2^20.
pub const MOST_WORDS: usize = STEP << (u64::BITS - EVENT_BITS);

/// Minus the logarithm of the probability that is left to what comes in large steps.
pub fn step_bits() -> f64 {
    f64::from(EVENT_BITS) - (STEP as f64).log2()
}
