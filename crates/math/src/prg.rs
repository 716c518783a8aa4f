//! A pseudorandom generator: AES-128 in counter mode, and seeds.

use std::sync::Arc;

use bytemuck::Pod;
use zeroize::Zeroize;

use crate::aes128::Aes128;

/// A 128-bit secret key. Debug shows nothing of it; it is erased when dropped.
#[derive(Clone)]
pub struct Seed([u8; 16]);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(secret)")
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Seed {
    /// A seed from given bytes (received from a peer over a secure channel, or fixed in a test).
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A seed of what two parties have in common: the first half of it.
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        let mut seed = Self([0; 16]);
        seed.0.copy_from_slice(&secret[..16]);
        seed
    }

    /// The bytes, to hand the seed to its other holder.
    pub fn expose(&self) -> &[u8; 16] {
        &self.0
    }

    /// The same seed, from here on public: it is sent to a peer as it is, and what follows from it may steer branches
    /// and addresses.
    #[must_use]
    pub fn published(mut self) -> Self {
        tacit_marks::public(&mut self.0);
        self
    }

    /// A seed for one named purpose (BLAKE3 keyed hash, truncated to 128 bits).
    pub fn derive(&self, purpose: &str) -> Self {
        let mut key = [0; 32];
        key[..16].copy_from_slice(&self.0);
        let digest = blake3::keyed_hash(&key, purpose.as_bytes());
        key.zeroize();
        let mut out = [0; 16];
        out.copy_from_slice(&digest.as_bytes()[..16]);
        Self(out)
    }
}

/// Bytes of a long vector that are drawn at a time: within the first-level cache, and whole blocks.
const PIECE: usize = 8 << 10;

/// AES-128-CTR as a stream of pseudorandom words. Two holders of a seed that ask for the same lengths in the same order
/// get the same words. Every request starts at a fresh block; block i is the encryption of i, both as 128-bit
/// little-endian numbers.
///
/// A key serves 2^64 blocks. As for any block cipher in this mode, the stream differs from a random one by about n^2 /
/// 2^129 after n blocks: 2^-65 for the 64 GiB of 2^32 blocks.
pub struct Prg {
    cipher: Aes128,
    next: u64,
    watch: Option<Watch>,
}

/// Is shown all that a generator gives, in order. For tests of what its holder can compute.
pub type Watch = Arc<dyn Fn(&[u8]) + Send + Sync>;

impl std::fmt::Debug for Prg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prg(secret)")
    }
}

impl Prg {
    /// The generator of a seed.
    pub fn new(seed: &Seed) -> Self {
        Self { cipher: Aes128::new(&seed.0), next: 0, watch: None }
    }

    /// The generator of a seed, of which someone is shown all that it gives: a test that records what its holder knows.
    pub fn watched(seed: &Seed, watch: Watch) -> Self {
        Self { watch: Some(watch), ..Self::new(seed) }
    }

    /// Overwrites out with the next pseudorandom words.
    pub fn fill<T: Pod>(&mut self, out: &mut [T]) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(out);
        let (blocks, rest) = bytes.as_chunks_mut::<16>();
        self.fill_blocks(blocks);
        if !rest.is_empty() {
            let mut last = [[0; 16]];
            self.fill_blocks(&mut last);
            rest.copy_from_slice(&last[0][..rest.len()]);
        }
        if let Some(watch) = &self.watch {
            watch(bytes);
        }
    }

    fn fill_blocks(&mut self, blocks: &mut [[u8; 16]]) {
        self.cipher.encrypt_counters(self.next, blocks);
        self.next += blocks.len() as u64;
    }

    /// A vector of pseudorandom words. The same words as [`Self::fill`] gives a slice of that length.
    pub fn vector<T: Pod>(&mut self, len: usize) -> Vec<T> {
        let mut piece = [0u128; PIECE / 16];
        match bytemuck::try_cast_slice_mut(&mut piece) {
            Ok(piece) if size_of::<T>() * len > PIECE => self.collected(len, piece),
            _ => {
                let mut out = vec![T::zeroed(); len];
                self.fill(&mut out);
                out
            }
        }
    }

    /// A long vector, made piece by piece, so that its memory is written once: nothing clears it first.
    fn collected<T: Pod>(&mut self, len: usize, piece: &mut [T]) -> Vec<T> {
        let mut out = Vec::with_capacity(len);
        while out.len() < len {
            let words = piece.len().min(len - out.len());
            self.fill(&mut piece[..words]);
            out.extend_from_slice(&piece[..words]);
        }
        out
    }

    /// Which implementation of AES runs on this processor, for reports of benches and tests.
    pub fn path(&self) -> &'static str {
        self.cipher.path()
    }
}
