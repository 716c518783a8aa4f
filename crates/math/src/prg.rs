//! A pseudorandom generator: AES-128 in counter mode, and seeds.

use std::sync::Arc;

use bytemuck::Pod;
use zeroize::Zeroize;

use crate::aes128::Aes128;
use crate::lanes::{self, Grow};

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

/// Bytes that are worth a lane of their own.
const LEAST: usize = 128 << 10;

/// The blocks that a slice of as many words takes.
pub fn blocks_of<T>(words: usize) -> u64 {
    (size_of::<T>() * words).div_ceil(16) as u64
}

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
        self.part(blocks_of::<T>(out.len())).fill(out);
    }

    /// The next blocks cut into parts of these numbers of blocks, for lanes. Whoever fills slices from all parts in
    /// their order gets what the generator itself would have given.
    pub fn parts(&mut self, blocks: impl IntoIterator<Item = u64>) -> Vec<Part<'_>> {
        let Self { cipher, next, watch } = self;
        let mut part = |blocks| {
            let start = *next;
            *next += blocks;
            Part { cipher, next: start, end: *next, watch: watch.as_ref() }
        };
        blocks.into_iter().map(&mut part).collect()
    }

    /// The next blocks as one part.
    pub fn part(&mut self, blocks: u64) -> Part<'_> {
        let start = self.next;
        self.next += blocks;
        Part { cipher: &self.cipher, next: start, end: self.next, watch: self.watch.as_ref() }
    }

    /// A vector of pseudorandom words. The same words as [`Self::fill`] gives a slice of that length.
    ///
    /// It is made piece by piece, so that its memory is written once: nothing clears it first. Lanes of it are made
    /// side by side.
    pub fn vector<T: Pod + Send>(&mut self, len: usize) -> Vec<T> {
        let mut out = Vec::with_capacity(len);
        let Some(piece) = PIECE.checked_div(size_of::<T>()).filter(|_| PIECE.is_multiple_of(size_of::<T>())) else {
            out.resize(len, T::zeroed());
            self.fill(&mut out);
            return out;
        };
        let lanes = lanes::cut(len, LEAST / size_of::<T>(), piece);
        let parts = self.parts(lanes.iter().map(|lane| blocks_of::<T>(lane.len())));
        let mut grow = Grow::new(&mut out, len);
        let rooms = grow.rooms(lanes.iter().map(ExactSizeIterator::len));
        let work = lanes.into_iter().zip(parts).zip(rooms).collect();
        lanes::each(work, |((lane, mut part), mut room)| {
            let mut buffer = [0u128; PIECE / 16];
            let buffer: &mut [T] = bytemuck::cast_slice_mut(&mut buffer);
            for at in lane.clone().step_by(piece) {
                let words = &mut buffer[..piece.min(lane.end - at)];
                part.fill(words);
                room.extend_from_slice(words);
            }
        });
        grow.finish();
        out
    }

    /// Which implementation of AES runs on this processor, for reports of benches and tests.
    pub fn path(&self) -> &'static str {
        self.cipher.path()
    }
}

/// Some of a generator's blocks, for one lane. No two parts have a block in common.
pub struct Part<'a> {
    cipher: &'a Aes128,
    next: u64,
    end: u64,
    watch: Option<&'a Watch>,
}

impl Part<'_> {
    /// Overwrites out with the next pseudorandom words of the part, from a fresh block on.
    ///
    /// # Panics
    /// If the part has too few blocks.
    pub fn fill<T: Pod>(&mut self, out: &mut [T]) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(out);
        let (blocks, rest) = bytes.as_chunks_mut::<16>();
        self.fill_blocks(blocks);
        if !rest.is_empty() {
            let mut last = [[0; 16]];
            self.fill_blocks(&mut last);
            rest.copy_from_slice(&last[0][..rest.len()]);
        }
        if let Some(watch) = self.watch {
            watch(bytes);
        }
    }

    /// A vector of the next pseudorandom words, as [`Prg::vector`] gives it, made by one thread.
    pub fn vector(&mut self, len: usize) -> Vec<u64> {
        let (mut out, mut piece) = (Vec::with_capacity(len), [0; PIECE / 8]);
        while out.len() < len {
            let words = &mut piece[..(len - out.len()).min(PIECE / 8)];
            self.fill(words);
            out.extend_from_slice(words);
        }
        out
    }

    fn fill_blocks(&mut self, blocks: &mut [[u8; 16]]) {
        let start = self.next;
        self.next += blocks.len() as u64;
        assert!(self.next <= self.end, "no more blocks than the part has");
        self.cipher.encrypt_counters(start, blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::{Prg, Seed, blocks_of};
    use crate::Workers;

    fn prg() -> Prg {
        Prg::new(&Seed::from_bytes([9; 16]))
    }

    #[test]
    fn parts_are_what_the_generator_gives() {
        let lengths = [1000, 3, 0, 64, 17];
        let mut whole = prg();
        let expected: Vec<Vec<u32>> = lengths.iter().map(|&length| whole.vector(length)).collect();
        let mut same = prg();
        let parts = same.parts(lengths.map(blocks_of::<u32>));
        for ((mut part, length), expected) in parts.into_iter().zip(lengths).zip(expected).rev() {
            let mut words = vec![0; length];
            part.fill(&mut words);
            assert_eq!(words, expected);
        }
        assert_eq!(same.vector::<u64>(5), whole.vector::<u64>(5), "both go on alike");
    }

    #[test]
    #[should_panic(expected = "no more blocks than the part has")]
    fn a_part_gives_no_block_of_another_one() {
        prg().parts([2, 2])[0].fill(&mut [0u64; 5]);
    }

    #[test]
    fn any_number_of_threads_draws_the_same() {
        for len in [0, 1, 1023, 1025, 300_000] {
            let mut filled = vec![0u64; len];
            prg().fill(&mut filled);
            for threads in [1, 2, 5] {
                let drawn = Workers::new(threads).expect("threads").run(|| prg().vector::<u64>(len));
                assert!(drawn == filled, "{len} words by {threads} threads");
            }
        }
        let mut filled = [[0u8; 24]; 1000];
        prg().fill(&mut filled);
        assert_eq!(prg().vector::<[u8; 24]>(1000), filled);
    }
}
