//! What two parties of a session have in common and nobody else: a chain of secrets.

use zeroize::{Zeroize, Zeroizing};

/// 32 bytes that are erased when they are dropped.
pub type Secret = Zeroizing<[u8; 32]>;

/// Domain of a pair's secrets.
const CONTEXT: &str = "tacit 2026-11-22 net: secrets of a pair of parties";

/// Domain of what nodes draw together.
const DRAWN: &str = "tacit 2026-11-24 net: drawn by all nodes";

/// What nodes draw together, of their parts in their order. It is no secret, and random if one part is.
pub(crate) fn drawn<'a>(parts: impl Iterator<Item = &'a [u8; 32]>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(DRAWN);
    parts.for_each(|part| {
        hasher.update(part);
    });
    *hasher.finalize().as_bytes()
}

/// A pair's chain of secrets, the same at both. Who has it later cannot tell what it gave before.
pub(crate) struct Chain(Secret);

impl Chain {
    /// Of what each of the pair's two connections contributes, that which the lower party dialled first, and of the
    /// digest of what the parties agreed on.
    pub fn new(contributions: [&[u8; 32]; 2], agreed: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        contributions.into_iter().chain([agreed]).for_each(|part| {
            hasher.update(part);
        });
        let chain = Self(secret(&mut hasher.finalize()));
        hasher.zeroize();
        chain
    }

    /// A fresh one, for both of two parties in one process.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn pair() -> Result<[Self; 2], getrandom::Error> {
        let mut first = Secret::default();
        getrandom::fill(&mut first[..])?;
        let second = first.clone();
        Ok([first, second].map(Self))
    }

    /// A chain that gives the same secrets once more. For a run that is replayed.
    pub fn again(&self) -> Self {
        Self(self.0.clone())
    }

    /// The next secret, for a purpose.
    pub fn next(&mut self, purpose: &str) -> Secret {
        let keyed = |what: &[&[u8]]| {
            let mut hasher = blake3::Hasher::new_keyed(&self.0);
            what.iter().for_each(|part| {
                hasher.update(part);
            });
            let out = secret(&mut hasher.finalize());
            hasher.zeroize();
            out
        };
        let (out, rest) = (keyed(&[&[0], purpose.as_bytes()]), keyed(&[&[1]]));
        self.0 = rest;
        out
    }
}

/// Takes the bytes out of a hash and erases it.
fn secret(hash: &mut blake3::Hash) -> Secret {
    let out = Secret::new(*hash.as_bytes());
    hash.zeroize();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_have_the_same_chain_and_no_two_links_of_it_are_equal() {
        let [mut a, mut b] = Chain::pair().expect("randomness");
        let drawn: Vec<Secret> = ["x", "x", "y", "x"].map(|purpose| a.next(purpose)).into();
        for (drawn, purpose) in drawn.iter().zip(["x", "x", "y", "x"]) {
            assert_eq!(*drawn, b.next(purpose));
        }
        let [mut c, _] = Chain::pair().expect("randomness");
        let others = [c.next("x")];
        let all: std::collections::HashSet<[u8; 32]> = drawn.iter().chain(&others).map(|secret| **secret).collect();
        assert_eq!(all.len(), 5);
        assert_ne!(a.next("x"), b.next("y"), "the purpose counts");
    }

    #[test]
    fn every_contribution_counts() {
        let next = |parts: [[u8; 32]; 3]| Chain::new([&parts[0], &parts[1]], &parts[2]).next("x");
        let plain = [[1; 32], [2; 32], [3; 32]];
        for changed in 0..3 {
            let mut parts = plain;
            parts[changed][31] ^= 1;
            assert_ne!(next(parts), next(plain));
        }
        assert_ne!(next([[2; 32], [1; 32], [3; 32]]), next(plain), "the order counts");
    }
}
