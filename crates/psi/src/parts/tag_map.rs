//! Maps keyed by tags. Tags are pseudorandom already, so one multiplication by a random odd number, which nobody who
//! makes up tags knows, takes the place of a hash function.

use crate::error::PsiError;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

/// A map keyed by tags.
pub(crate) type TagMap<V> = HashMap<u128, V, Spread>;

/// A set of tags.
pub(crate) type TagSet = HashSet<u128, Spread>;

/// The random number of a map.
#[derive(Clone, Copy)]
pub(crate) struct Spread(u64);

impl Spread {
    /// A fresh one.
    pub(crate) fn random() -> Result<Self, PsiError> {
        Ok(Self(getrandom::u64()? | 1))
    }
}

impl BuildHasher for Spread {
    type Hasher = Spreading;

    fn build_hasher(&self) -> Spreading {
        Spreading { factor: self.0, state: 0 }
    }
}

/// The hash of one tag.
pub(crate) struct Spreading {
    factor: u64,
    state: u64,
}

impl Hasher for Spreading {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u128(&mut self, tag: u128) {
        self.add(tag as u64);
        self.add((tag >> 64) as u64);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

impl Spreading {
    /// The high half of a product goes into the low one: maps use the bits at both ends.
    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_and_hashes_spread() {
        let spread = Spread(0x9e37_79b9_7f4a_7c15);
        let mut map: TagMap<u32> = TagMap::with_hasher(spread);
        let tags: Vec<u128> = (0..1000u128).map(|i| (i << 40) | (i % 7)).collect();
        (0..).zip(&tags).for_each(|(place, &tag)| {
            map.insert(tag, place);
        });
        assert!((0..).zip(&tags).all(|(place, tag)| map.get(tag) == Some(&place)));
        let ends: std::collections::BTreeSet<(u64, u64)> =
            tags.iter().map(|tag| spread.hash_one(tag)).map(|hash| (hash & 63, hash >> 57)).collect();
        assert!(ends.len() > 800, "{} of 1000 differ in the bits that maps use", ends.len());
    }
}
