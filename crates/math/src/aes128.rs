//! AES-128 over batches of blocks, under the generator and the fixed-key hashes.
//!
//! Two paths have equal results. One is 512-bit vector AES, where the processor has it (twice the rate of the `aes`
//! crate on Intel). The other is the `aes` crate, which itself chooses between AES instructions and constant-time
//! software.

#[cfg(target_arch = "x86_64")]
pub(crate) mod wide;

use aes::cipher::{BlockCipherEncrypt, KeyInit};

/// How many blocks are handled in one pass: enough for the widest vector unit to reach its rate, within L1.
const BATCH: usize = 512;

/// The cipher under one key, its round keys expanded; they are erased when it is dropped.
pub(crate) enum Aes128 {
    Portable(aes::Aes128),
    #[cfg(target_arch = "x86_64")]
    Wide(wide::RoundKeys),
}

impl Aes128 {
    /// The fastest path of this processor.
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        Self::wide(key).unwrap_or_else(|| Self::portable(key))
    }

    /// The path that runs everywhere.
    pub(crate) fn portable(key: &[u8; 16]) -> Self {
        Self::Portable(aes::Aes128::new(key.into()))
    }

    /// The 512-bit path, unless the processor lacks it or the build asks for software AES.
    pub(crate) fn wide(key: &[u8; 16]) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if aes::hardware_accelerated() {
            return wide::RoundKeys::expand(key).map(Self::Wide);
        }
        let _ = key;
        None
    }

    /// Which implementation runs, for reports of benches and tests.
    pub(crate) fn path(&self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(_) => "512-bit vector AES",
            Self::Portable(_) if aes::hardware_accelerated() => "AES instructions",
            Self::Portable(_) => "constant-time software AES",
        }
    }

    /// Overwrites block i with the encryption of the 128-bit little-endian number first + i.
    /// The numbers must stay below 2^64.
    pub(crate) fn encrypt_counters(&self, first: u64, blocks: &mut [[u8; 16]]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.encrypt_counters(first, blocks),
            Self::Portable(cipher) => {
                let mut next = first;
                for batch in blocks.chunks_mut(BATCH) {
                    for (number, block) in (next..).zip(batch.iter_mut()) {
                        *block = u128::from(number).to_le_bytes();
                    }
                    next += batch.len() as u64;
                    cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(batch));
                }
            }
        }
    }

    /// Two children of every parent x: H(x ^ tweak) and H(x ^ tweak) ^ x, where H(x) is the encryption of s(x), plus
    /// s(x), and s is [`orthomorphism`]. Returns the sum of all H(x ^ tweak).
    pub(crate) fn double(&self, parents: &[u128], tweak: u128, children: &mut [[u128; 2]]) -> u128 {
        assert_eq!(parents.len(), children.len(), "two children of each parent");
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.double(parents, tweak, children),
            Self::Portable(cipher) => {
                let mut sum = 0;
                let (mut inputs, mut images) = ([0; BATCH], [0_u128; BATCH]);
                for (parents, children) in parents.chunks(BATCH).zip(children.chunks_mut(BATCH)) {
                    let (inputs, images) = (&mut inputs[..parents.len()], &mut images[..parents.len()]);
                    inputs.iter_mut().zip(parents).for_each(|(input, &parent)| *input = orthomorphism(parent ^ tweak));
                    images.copy_from_slice(inputs);
                    cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(bytemuck::cast_slice_mut(images)));
                    for (i, (pair, &parent)) in children.iter_mut().zip(parents).enumerate() {
                        let left = images[i] ^ inputs[i];
                        *pair = [left, left ^ parent];
                        sum ^= left;
                    }
                }
                sum
            }
        }
    }

    /// For every block x plus an offset, its encryption plus itself.
    pub(crate) fn hash(&self, blocks: &[u128], offset: u128, out: &mut [u128]) {
        assert_eq!(blocks.len(), out.len(), "a hash for each block");
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.hash(blocks, offset, out),
            Self::Portable(cipher) => {
                out.iter_mut().zip(blocks).for_each(|(out, block)| *out = block ^ offset);
                cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(bytemuck::cast_slice_mut(out)));
                out.iter_mut().zip(blocks).for_each(|(out, block)| *out ^= block ^ offset);
            }
        }
    }

    /// Replaces block i by E(E(x) + n) + E(x), where n is first + i plus 2^64 times the prefix. The numbers must stay
    /// below 2^64.
    pub(crate) fn hash_numbered(&self, prefix: u64, first: u64, blocks: &mut [u128]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.hash_numbered(prefix, first, blocks),
            Self::Portable(cipher) => {
                let mut images = [0_u128; BATCH];
                let mut next = u128::from(prefix) << 64 | u128::from(first);
                for batch in blocks.chunks_mut(BATCH) {
                    let images = &mut images[..batch.len()];
                    cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(bytemuck::cast_slice_mut(batch)));
                    for ((image, block), number) in images.iter_mut().zip(batch.iter()).zip(next..) {
                        *image = block ^ number;
                    }
                    next += batch.len() as u128;
                    cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(bytemuck::cast_slice_mut(images)));
                    batch.iter_mut().zip(images).for_each(|(block, image)| *block ^= *image);
                }
            }
        }
    }

    /// For every block x plus an offset, bits of its encryption plus itself: the lowest one, and the lowest one of the
    /// high half if two are asked for. 64 to a word, the first block's lowest.
    pub(crate) fn hash_bits<const BITS: usize>(&self, blocks: &[[u128; 64]], offset: u128, words: [&mut [u64]; BITS]) {
        const { assert!(BITS == 1 || BITS == 2, "a bit of each half") };
        assert!(words.iter().all(|words| words.len() == blocks.len()), "a word for each 64 blocks");
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.hash_bits(blocks, offset, words),
            Self::Portable(cipher) => {
                let mut words = words;
                for (row, blocks) in blocks.iter().enumerate() {
                    let inputs = blocks.map(|block| block ^ offset);
                    let mut images = inputs;
                    cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(bytemuck::cast_slice_mut(&mut images)));
                    images.iter_mut().zip(&inputs).for_each(|(image, input)| *image ^= input);
                    for (bit, words) in words.iter_mut().enumerate() {
                        let bits = images.iter().map(|image| (image >> (64 * bit)) as u64 & 1);
                        words[row] = bits.rev().fold(0, |word, bit| word << 1 | bit);
                    }
                }
            }
        }
    }

    /// Adds to every row the low half of the encryption plus itself of each of its blocks plus an offset, as far as the
    /// mask of the block's place reaches.
    pub(crate) fn add_masked_hashes<const N: usize>(
        &self,
        blocks: &[[u128; 64]; N],
        offset: u128,
        masks: &[u64; N],
        rows: &mut [u64; 64],
    ) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.add_masked_hashes(blocks, offset, masks, rows),
            Self::Portable(_) => {
                for (blocks, mask) in blocks.iter().zip(masks) {
                    let mut hashes = [0; 64];
                    self.hash(blocks, offset, &mut hashes);
                    rows.iter_mut().zip(hashes).for_each(|(row, hash)| *row ^= hash as u64 & mask);
                }
            }
        }
    }

    /// Encrypts every block in place.
    pub(crate) fn encrypt(&self, blocks: &mut [[u8; 16]]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(keys) => keys.encrypt(blocks),
            Self::Portable(cipher) => cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(blocks)),
        }
    }
}

/// The linear map (high, low) -> (high + low, high): it and its sum with the identity are bijections (Guo, Katz, Wang,
/// Yu, section 7.3).
pub(crate) fn orthomorphism(block: u128) -> u128 {
    block.rotate_left(64) ^ block >> 64 << 64
}

#[cfg(test)]
mod tests {
    use super::Aes128;

    /// FIPS 197, appendix C.1; and NIST SP 800-38A, F.1.1 (AES-128, ECB), all four blocks.
    const KNOWN: [(u128, u128, u128); 5] = [
        (0x000102030405060708090a0b0c0d0e0f, 0x00112233445566778899aabbccddeeff, 0x69c4e0d86a7b0430d8cdb78070b4c55a),
        (0x2b7e151628aed2a6abf7158809cf4f3c, 0x6bc1bee22e409f96e93d7e117393172a, 0x3ad77bb40d7a3660a89ecaf32466ef97),
        (0x2b7e151628aed2a6abf7158809cf4f3c, 0xae2d8a571e03ac9c9eb76fac45af8e51, 0xf5d3d58503b9699de785895a96fdbaaf),
        (0x2b7e151628aed2a6abf7158809cf4f3c, 0x30c81c46a35ce411e5fbc1191a0a52ef, 0x43b1cd7f598ece23881b00e3ed030688),
        (0x2b7e151628aed2a6abf7158809cf4f3c, 0xf69f2445df4f9b17ad2b417be66c3710, 0x7b0c785e27e8ad3f8223207104725dd4),
    ];

    /// Every path that this processor can run.
    fn paths(key: &[u8; 16]) -> Vec<Aes128> {
        std::iter::once(Aes128::portable(key)).chain(Aes128::wide(key)).collect()
    }

    #[test]
    fn published_vectors_on_every_path() {
        for (key, plain, cipher) in KNOWN {
            for aes in paths(&key.to_be_bytes()) {
                let mut blocks = [plain.to_be_bytes(); 37];
                aes.encrypt(&mut blocks);
                assert_eq!(blocks, [cipher.to_be_bytes(); 37], "{}", aes.path());
            }
        }
    }

    #[test]
    fn says_which_path_runs() {
        let path = Aes128::new(&[0; 16]).path();
        println!("AES-128 runs as: {path}");
        assert_eq!(path == "constant-time software AES", !aes::hardware_accelerated());
    }

    #[test]
    fn paths_agree_at_every_length() {
        let key = *b"sixteen byte key";
        for len in (0..70).chain([127, 511, 512, 513, 1100]) {
            let plain: Vec<[u8; 16]> = (0..len).map(|i| (i * 0x0123_4567_89ab_cdef_u128).to_le_bytes()).collect();
            let mut expected = plain.clone();
            Aes128::portable(&key).encrypt(&mut expected);
            for first in [0, 1, u64::from(u32::MAX) - 5] {
                let counters: Vec<[u8; 16]> = (0..len).map(|i| (u128::from(first) + i).to_le_bytes()).collect();
                let mut stream = counters.clone();
                Aes128::portable(&key).encrypt(&mut stream);
                for aes in paths(&key) {
                    let mut blocks = vec![[0xee; 16]; counters.len()];
                    aes.encrypt_counters(first, &mut blocks);
                    assert_eq!(blocks, stream, "{}, {len} counters from {first}", aes.path());
                }
            }
            for aes in paths(&key) {
                let mut blocks = plain.clone();
                aes.encrypt(&mut blocks);
                assert_eq!(blocks, expected, "{}, {len} blocks", aes.path());
            }
            let parents: Vec<u128> = plain.iter().map(|block| u128::from_le_bytes(*block)).collect();
            let tweak = 0x0fed_cba9_8765_4321_0011_2233_4455_6677;
            let shifted: Vec<u128> = parents.iter().map(|&parent| super::orthomorphism(parent ^ tweak)).collect();
            let mut images = shifted.clone();
            Aes128::portable(&key).encrypt(bytemuck::cast_slice_mut(&mut images));
            let lefts: Vec<u128> = images.iter().zip(&shifted).map(|(image, input)| image ^ input).collect();
            for aes in paths(&key) {
                let mut children = vec![[0; 2]; parents.len()];
                let sum = aes.double(&parents, tweak, &mut children);
                let expected: Vec<_> =
                    lefts.iter().zip(&parents).map(|(left, parent)| [*left, left ^ parent]).collect();
                assert_eq!(children, expected, "{}, {len} parents", aes.path());
                assert_eq!(sum, lefts.iter().fold(0, |sum, left| sum ^ left), "{}, {len} parents", aes.path());
            }
        }
    }
}
