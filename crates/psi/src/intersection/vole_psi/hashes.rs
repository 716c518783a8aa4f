//! The two hashes of a run: of items to scalars, and of masked values to tags.

use super::{Scalar, Variant};
use crate::interface::protocol::Item;
use tacit_math::{BlockCipher, CorrelationRobustHash, KeyedHash, Seed};

/// Items hashed at once.
const BATCH: usize = 128;

/// The hashes of one run. All slices of a call are of the same items, at most [`BATCH`].
pub(super) enum Hashes {
    /// Against a semi-honest adversary, whose items do not depend on the run's key. Tags are hashes of values that
    /// differ from what the receiver has by nonzero multiples of delta: correlation robustness suffices, as nothing is
    /// added to them.
    Ciphers { scalars: Box<BlockCipher>, tags: Box<CorrelationRobustHash> },
    /// Random oracles, and the tossed coins that are added to values.
    Oracles { scalars: KeyedHash, tags: KeyedHash, proofs: KeyedHash, coins: u128 },
}

impl Hashes {
    /// The hashes that the run's `seed` chooses; `coins` matter in the malicious variant only.
    pub(super) fn new(variant: Variant, seed: &Seed, coins: u128) -> Self {
        match variant {
            Variant::Fast | Variant::Compact => Self::Ciphers {
                scalars: Box::new(BlockCipher::new(&seed.derive("vole-psi/scalars"))),
                tags: Box::default(),
            },
            Variant::Malicious => {
                let oracle = |purpose: &str| KeyedHash::new(&blake3::derive_key(purpose, seed.expose()));
                let [scalars, tags, proofs] =
                    ["tacit 2026 vole-psi: scalars", "tacit 2026 vole-psi: tags", "tacit 2026 vole-psi: proofs"]
                        .map(oracle);
                Self::Oracles { scalars, tags, proofs, coins }
            }
        }
    }

    /// Scalars of the items with these numbers.
    pub(super) fn scalars<F: Scalar>(&self, items: &[Item], numbers: &[u32], out: &mut [F]) {
        let scalar = |image: u128| bytemuck::pod_read_unaligned(&image.to_le_bytes()[..size_of::<F>()]);
        match self {
            Self::Ciphers { scalars, .. } => {
                let mut images = [0; BATCH];
                let images = choose(items, numbers, &mut images);
                scalars.encrypt(images);
                out.iter_mut().zip(images).for_each(|(out, image)| *out = scalar(*image));
            }
            Self::Oracles { scalars, .. } => {
                let (mut chosen, mut images) = ([0; BATCH], [0; BATCH]);
                let images = &mut images[..numbers.len()];
                scalars.hash_blocks([choose(items, numbers, &mut chosen)], images);
                out.iter_mut().zip(images).for_each(|(out, image)| *out = scalar(*image));
            }
        }
    }

    /// Turns the values of these items into their tags, and puts their proofs into their places among those of all
    /// items. There are proofs in the malicious variant, where it is another random oracle of the same value and item,
    /// so that no tag tells it.
    pub(super) fn tags(&self, items: &[Item], numbers: &[u32], values: &mut [u128], places: &mut [u64]) {
        match self {
            Self::Ciphers { tags, .. } => tags.hash_blocks(values),
            Self::Oracles { tags, proofs, coins, .. } => {
                let (mut masked, mut chosen, mut images) = ([0; BATCH], [0; BATCH], [0; BATCH]);
                let (masked, images) = (&mut masked[..numbers.len()], &mut images[..numbers.len()]);
                masked.iter_mut().zip(values.iter()).for_each(|(masked, value)| *masked = value ^ coins);
                let chosen = choose(items, numbers, &mut chosen);
                tags.hash_blocks([masked, chosen], values);
                proofs.hash_blocks([masked, chosen], images);
                numbers.iter().zip(images).for_each(|(&number, image)| places[number as usize] = *image as u64);
            }
        }
    }
}

/// The items with these numbers.
fn choose<'a>(items: &[Item], numbers: &[u32], out: &'a mut [u128; BATCH]) -> &'a mut [u128] {
    let out = &mut out[..numbers.len()];
    out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = items[number as usize]);
    out
}

/// What binds the sender to its half of the coins.
pub(super) fn commitment(half: u128) -> [u8; 32] {
    blake3::derive_key("tacit 2026 vole-psi: commitment", &half.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_math::gf::{Gf64, Gf128};

    /// Scalars, tags and proofs of three items in every variant.
    fn vectors() -> String {
        let items: [Item; 3] = [0, 1, u128::MAX / 3];
        let mut text = String::new();
        for variant in [Variant::Fast, Variant::Compact, Variant::Malicious] {
            let hashes = Hashes::new(variant, &Seed::from_bytes([1; 16]), 7);
            let (mut small, mut large) = ([Gf64(0); 3], [Gf128(0); 3]);
            hashes.scalars(&items, &[0, 1, 2], &mut small);
            hashes.scalars(&items, &[0, 1, 2], &mut large);
            let (mut tags, mut proofs) = ([5, 6, 7], [0; 3]);
            hashes.tags(&items, &[0, 1, 2], &mut tags, &mut proofs);
            for (((small, large), tag), proof) in small.iter().zip(large).zip(tags).zip(proofs) {
                text += &format!("{variant:?} {:016x} {:032x} {tag:032x} {proof:016x}\n", small.0, large.0);
            }
        }
        text
    }

    #[test]
    fn hashes_are_those_of_the_vectors() {
        let expected = include_str!("../../../tests/vectors/vole-psi-hashes.txt");
        assert_eq!(vectors(), expected, "parties of both versions would disagree");
    }
}
