//! Secure binning: one large intersection as many small ones, whose sizes say nothing.
//!
//! # What it does
//! Each party puts its tokens into m bins by their highest bits, which are pseudorandom under the key of the run. The
//! party pads each bin to the same public size (1 + δ) n / m. One instance of any intersection protocol runs for each
//! bin; the union of the outputs is the output.
//!
//! # Security
//! Bins inherit the protocol's, against the adversary that it withstands, except with probability 2^-80 in which a bin
//! overflows. Then the party that overflows ends the run before anything of that run is sent. Sizes of messages depend
//! on n and m only.
//!
//! # Source
//! Badrinarayanan et al., "A Plug-n-Play Framework for Scaling Private Set Intersection to Billion-sized Sets", section
//! 3.1. δ = sqrt(3 m/n (σ ln 2 + ln m)) from the Chernoff bound Pr[X > (1 + δ) μ] <= exp(-δ² μ / 3), which holds for δ
//! <= 1. For bins so small that δ > 1 we take its other form, exp(-δ μ / 3). Of the two kinds of padding proposed there
//! we take the one that never matches: tokens and both parties' paddings differ in their two lowest bits.

use crate::interface::protocol::Item;
use crate::interface::role::Role;
use crate::parts::tokens::PADDING_BITS;
use tacit_math::{Prg, Seed};

/// σ: a bin overflows with probability 2^-80 at most.
const FAILURE_BITS: f64 = 80.0;

/// Tokens a bin for which the protocols are fastest: a few times larger, and their tables leave the caches.
pub const FAVOURED: usize = 1 << 20;

/// Most bins: with more, a bin's own cost outweighs what padding and caches gain.
pub const MOST: usize = 1 << 14;

/// Most bins of a run that are matched at the same time: a peer that deviates has one try in each before the run ends.
pub const AT_ONCE: usize = 256;

/// A bin that holds more tokens than its public size.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "bin {bin} of {bins} holds {tokens} tokens, more than its padded size {capacity}; nothing was revealed, start the run again (a fresh key spreads the tokens anew)"
)]
pub struct Overflow {
    /// Which bin, from 0.
    pub bin: usize,
    /// Of how many.
    pub bins: usize,
    /// How many tokens it holds.
    pub tokens: usize,
    /// How many it may hold.
    pub capacity: usize,
}

/// δ of the paper's section 3.1 for n tokens in m bins: a bin holds more than (1 + δ) n / m of them with probability
/// below 2^-80 / m.
pub fn delta(tokens: usize, bins: usize) -> f64 {
    let mean = tokens as f64 / bins as f64;
    let exponent = 3.0 * (FAILURE_BITS * std::f64::consts::LN_2 + (bins as f64).ln()) / mean;
    if exponent <= 1.0 { exponent.sqrt() } else { exponent }
}

/// The padded size of every bin: (1 + δ) n / m, and never more than n, nor less than one.
pub fn capacity(tokens: usize, bins: usize) -> usize {
    if bins == 1 || tokens == 0 {
        return tokens.max(1);
    }
    let padded = (1.0 + delta(tokens, bins)) * tokens as f64 / bins as f64;
    (padded.ceil() as usize).min(tokens)
}

/// The bin of a token: its 64 highest bits as a fraction of all bins.
pub fn bin_of(token: Item, bins: usize) -> usize {
    (((token >> 64) * bins as u128) >> 64) as usize
}

/// Fill `tokens` up to the public size of a bin with items that match nothing. They are random but for the two lowest
/// bits, which are 01 at the sender and 11 at the receiver, where tokens have 00.
///
/// # Panics
/// If there are more tokens than that: the caller has checked.
pub fn pad(tokens: &mut Vec<Item>, capacity: usize, role: Role, randomness: &Seed) {
    assert!(tokens.len() <= capacity, "the caller checks for overflow");
    let mark = match role {
        Role::Sender => 0b01,
        Role::Receiver => 0b11,
    };
    let mut padding: Vec<Item> = Prg::new(randomness).vector(capacity - tokens.len());
    // It stands for items, and like those of items its places in tables and stores follow from it.
    tacit_marks::public(&mut padding);
    tokens.extend(padding.into_iter().map(|item| (item & !PADDING_BITS) | mark));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example() {
        // Section 3.1: n = 10^9 and m = 64 give bins of 15.68 million, δ = 0.0034.
        assert!((delta(1_000_000_000, 64) - 0.0034).abs() < 5e-5);
        assert_eq!((capacity(1_000_000_000, 64) as f64 / 1e4).round(), 1568.0);
        // Footnote 11: 2048 bins of the same set, about 500 thousand each, δ = 0.019 (cut, not rounded).
        assert_eq!((delta(1_000_000_000, 2048) * 1000.0).floor(), 19.0);
    }

    #[test]
    fn capacities_hold_the_mean_and_never_more_than_all() {
        for tokens in [0, 1, 2, 1000, 1 << 20, 1_000_000_000] {
            for bins in [1, 2, 7, 64, 1000, MOST] {
                let capacity = capacity(tokens, bins);
                assert!(capacity >= 1 && capacity <= tokens.max(1));
                assert!(capacity * bins >= tokens);
            }
        }
    }

    #[test]
    fn bins_are_even_and_stay_below_their_capacity() {
        // A fixed key: what is seen is the same in every run of the test.
        let tokens: Vec<Item> = Prg::new(&Seed::from_bytes([5; 16])).vector(200_000);
        for bins in [9usize, 50, 500] {
            let mut counts = vec![0usize; bins];
            tokens.iter().for_each(|&token| counts[bin_of(token, bins)] += 1);
            let mean = tokens.len() as f64 / bins as f64;
            let deviation = counts.iter().map(|&n| (n as f64 - mean).powi(2) / mean).sum::<f64>() / (bins - 1) as f64;
            assert!(deviation < 2.5, "χ² per degree of freedom is {deviation}");
            assert!(counts.iter().all(|&count| count < capacity(tokens.len(), bins)));
        }
    }

    #[test]
    fn padding_matches_nothing() {
        let seed = Seed::from_bytes([1; 16]);
        let (mut sender, mut receiver) = (vec![4, 8], vec![4]);
        pad(&mut sender, 1000, Role::Sender, &seed);
        pad(&mut receiver, 1000, Role::Receiver, &seed);
        assert_eq!((sender.len(), receiver.len()), (1000, 1000));
        let shared: Vec<_> = sender.iter().filter(|item| receiver.contains(item)).collect();
        assert_eq!(shared, [&4]);
    }
}
