//! Hashes: fixed-key AES over 128-bit blocks for oblivious transfer and garbling, keyed BLAKE3 over strings.
//!
//! A type is named by what it promises: its **contract**. A call says which contract it needs, and of which function of
//! which secret. All contracts are games about a secret offset D of e random bits (at most 128) that the adversary does
//! not know. The adversary asks for answers, and shall not tell them from random blocks. x, i and f are of its choice;
//! L is a public linear bijection of D.
//!
//! | type | function | contract: answers that look random | enough for | not enough for |
//! |---|---|---|---|---|
//! | [`CorrelationRobustHash`] | MMO: π(x) ⊕ x | H(x ⊕ L(D)), each x and L once | strings of semi-honest OT extension, of one of many too | whatever adds a function of D to an answer: trees, garbling, VOLE; malicious OT extension |
//! | [`CircularTreeHash`] | π(s(x)) ⊕ s(x), s linear | H(x ⊕ D) ⊕ b D for a bit b, each x once | the levels of correlated trees, each with a number | other functions of D: H(x ⊕ D) ⊕ a D for an element a of a field; tweaked uses |
//! | [`TweakableCircularHash`] | TMMO: π(π(x) ⊕ i) ⊕ π(x) | H(x ⊕ D, i) ⊕ f(D) for **any** function f that does not evaluate π, each pair (x, i) once | leaves of silent VOLE and lookups, malicious OT extension | repeated pairs |
//! | [`crate::half_gates`] | E_i(s(x)) ⊕ s(x), a key i for each gate | H(x ⊕ D, i) ⊕ b D for a bit b, each pair (x, i) once | half-gates with free XOR in many instances | as for trees |
//!
//! **Whatever is added to a hash must not be a function of the offset, unless the hash is circular robust for that
//! function.**
//!
//! **Model**: AES under a published key is a random permutation π that everyone evaluates in both directions
//! (half-gates: an ideal cipher E). **Sources**: Guo, Katz, Wang, Yu, "Efficient and Secure Multiparty Computation from
//! Fixed-Key Block Ciphers" (IEEE S&P 2020). MMO is in section 7.2, with the min-entropy of offsets as a parameter, s
//! in 7.3, TMMO in 7.4. They add b D. For any f without π the proof of TMMO stays as it is. π(x ⊕ D) is a block that no
//! other answer shows, so π of it and a tweak hides f(D). That fails where two of these blocks meet, or one and an
//! evaluation of the adversary's. Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, "Half-Tree" (EUROCRYPT 2023) for trees.
//!
//! None is a random oracle, collision resistant, or one-way on inputs of little entropy: inputs must carry a uniform
//! secret, such as an offset. Never hash data with them.
//!
//! Their concrete security falls with use, over all sessions together, because everyone shares one key. An attacker
//! that evaluates AES p times wins with probability about p q / 2^e against q hashes (Guo, Katz, Wang, Weng, Yu, CRYPTO
//! 2020, give the attack on garbling). 2^40 hashes leave 87 bits to an offset of 127 random bits, and 83 to one of the
//! 123 of silent lookups. To that comes a chance that no work changes, about q^2 / 2^(e+1): that the inputs of two
//! answers meet, x + L(D) = x' + L'(D), or their images. It is 2^-58 for the 7 2^30 strings of 2^30 silent lookups (e =
//! 123).
//!
//! Blocks and tweaks are little-endian numbers.

#[cfg(target_arch = "x86_64")]
mod wide;

use zeroize::Zeroize;

use crate::aes128::Aes128;
use crate::prg::Seed;

/// Key of [`CorrelationRobustHash`], nothing up the sleeve: the first 128 bits of the fraction of π, as published
/// bytes.
const CR_KEY: u128 = 0x243f6a88_85a308d3_13198a2e_03707344;
/// Key of [`TweakableCircularHash`]: the next 128 bits of π, so that the two hashes are of independent permutations.
const TCCR_KEY: u128 = 0xa4093822_299f31d0_082efa98_ec4e6c89;

/// Key of [`CircularTreeHash`]: the next 128 bits of π.
const TREE_KEY: u128 = 0x452821e6_38d01377_be5466cf_34e90c6c;

/// Blocks a pass: the copy stays in L1 and small calls do not pay for a large one.
const PASS: usize = 128;

/// Correlation robust hash of 128-bit blocks, MMO: π(x) ⊕ x.
///
/// **Contract** H(x ⊕ L(D)) looks random for a secret offset D, public x and public linear bijections L, to who knows H
/// at other points. **Not** H(x ⊕ D) ⊕ D: that is π(x ⊕ D) ⊕ x, which anyone inverts. **Model and source** random
/// permutation; Guo, Katz, Wang, Yu (S&P 2020), section 7.2. See the [module](self).
pub struct CorrelationRobustHash(Aes128);

impl std::fmt::Debug for CorrelationRobustHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CorrelationRobustHash")
    }
}

impl Default for CorrelationRobustHash {
    fn default() -> Self {
        Self::new()
    }
}

impl CorrelationRobustHash {
    /// The hash, its key expanded.
    pub fn new() -> Self {
        Self(Aes128::new(&CR_KEY.to_be_bytes()))
    }

    /// Replaces every block by its hash. One AES a block; batches of 32 blocks and more reach the full rate.
    pub fn hash_blocks(&self, blocks: &mut [u128]) {
        let mut images = [0; PASS];
        for pass in blocks.chunks_mut(PASS) {
            let images = &mut images[..pass.len()];
            self.0.hash(pass, 0, images);
            pass.copy_from_slice(images);
        }
    }

    /// Writes the hashes of blocks, each plus an offset. As fast as [`Self::hash_blocks`], without a copy.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hash_to(&self, blocks: &[u128], offset: u128, out: &mut [u128]) {
        self.0.hash(blocks, offset, out);
    }

    /// Appends the lowest bits of the hashes of blocks, each plus an offset, 64 to a word, lowest first.
    ///
    /// # Panics
    /// Unless the blocks are a multiple of 64.
    pub fn hash_bits(&self, blocks: &[u128], offset: u128, out: &mut Vec<u64>) {
        assert!(blocks.len().is_multiple_of(64), "whole words of bits");
        let (rows, first) = (blocks.as_chunks::<64>().0, out.len());
        out.resize(first + rows.len(), 0);
        self.0.hash_bits(rows, offset, [&mut out[first..]]);
    }

    /// As [`Self::hash_bits`], and appends to the second vector another bit of each hash.
    ///
    /// # Panics
    /// As [`Self::hash_bits`].
    pub fn hash_two_bits(&self, blocks: &[u128], offset: u128, out: [&mut Vec<u64>; 2]) {
        assert!(blocks.len().is_multiple_of(64), "whole words of bits");
        let rows = blocks.as_chunks::<64>().0;
        let words = out.map(|out| {
            let first = out.len();
            out.resize(first + rows.len(), 0);
            &mut out[first..]
        });
        self.0.hash_bits(rows, offset, words);
    }

    /// Adds to each of 64 rows the low halves of the hashes of its N blocks, each plus an offset, as far as the mask of
    /// its place reaches. `blocks[k]` has the k-th block of every row, `masks[k]` the bits that are wanted of its hash.
    pub fn add_masked<const N: usize>(
        &self,
        blocks: &[[u128; 64]; N],
        offset: u128,
        masks: &[u64; N],
        rows: &mut [u64; 64],
    ) {
        self.0.add_masked_hashes(blocks, offset, masks, rows);
    }
}

/// Circular correlation robust hash H of 128-bit blocks, π(s(x)) ⊕ s(x) for the map s(high, low) = (high ⊕ low, high),
/// as the generator of correlated trees. The children of a block x in a tree of tweak i are H(x ⊕ i) and H(x ⊕ i) ⊕ x.
/// So the sum of a level is that of the level above.
///
/// **Contract** H(x ⊕ D) ⊕ b D looks random for a secret offset D, public x and a bit b, each x once: s and its sum
/// with the identity are bijections. A tree's tweak makes "once" hold for roots that repeat: whoever gets S ⊕ b D of
/// two trees with one sum S knows D. It must be drawn after roots that an adversary chooses. **Not** H(x ⊕ D) ⊕ a D for
/// a scalar a of a larger field: the sum of s and a multiplication can be singular. **Model and source** random
/// permutation; Guo, Katz, Wang, Yu (S&P 2020), section 7.3; Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, "Half-Tree"
/// (EUROCRYPT 2023). See the [module](self).
pub struct CircularTreeHash(Aes128);

impl std::fmt::Debug for CircularTreeHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CircularTreeHash")
    }
}

impl Default for CircularTreeHash {
    fn default() -> Self {
        Self::new()
    }
}

impl CircularTreeHash {
    /// The hash, its key expanded.
    pub fn new() -> Self {
        Self(Aes128::new(&TREE_KEY.to_be_bytes()))
    }

    /// Writes the two children of every parent in a tree of a tweak, and returns the sum of the left ones. One AES a
    /// parent; calls of 32 parents and more reach the full rate.
    ///
    /// # Panics
    /// If there is not one pair of children for each parent.
    pub fn double(&self, parents: &[u128], tree: u128, children: &mut [[u128; 2]]) -> u128 {
        self.0.double(parents, tree, children)
    }
}

/// Tweakable circular correlation robust hash of 128-bit blocks, TMMO: π(π(x) ⊕ i) ⊕ π(x) for a tweak i.
///
/// **Contract** H(x ⊕ D, i) ⊕ f(D) looks random for a secret offset D, and public x and i, each pair once. f is any
/// function of the adversary's choice that does not evaluate π. **Model and source** random permutation; Guo, Katz,
/// Wang, Yu (S&P 2020), section 7.4. See the [module](self).
pub struct TweakableCircularHash(Aes128);

impl std::fmt::Debug for TweakableCircularHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TweakableCircularHash")
    }
}

impl Default for TweakableCircularHash {
    fn default() -> Self {
        Self::new()
    }
}

impl TweakableCircularHash {
    /// The hash, its key expanded.
    pub fn new() -> Self {
        Self(Aes128::new(&TCCR_KEY.to_be_bytes()))
    }

    /// Replaces the block at every position by its hash under that position's tweak. Tweaks are public; garbling needs
    /// each used for one gate only. Two AES a block.
    pub fn hash_blocks(&self, blocks: &mut [u128], tweak: impl Fn(usize) -> u128) {
        let mut images = [0; PASS];
        for (number, pass) in blocks.chunks_mut(PASS).enumerate() {
            let images = &mut images[..pass.len()];
            self.0.encrypt(bytemuck::cast_slice_mut(pass));
            for (i, (image, block)) in images.iter_mut().zip(pass.iter()).enumerate() {
                *image = *block ^ tweak(number * PASS + i);
            }
            self.0.encrypt(bytemuck::cast_slice_mut(images));
            for (block, image) in pass.iter_mut().zip(images) {
                *block ^= *image;
            }
        }
    }

    /// Replaces block i by its hash under the tweak 2^64 prefix + first + i. Two AES a block, in one pass; calls of 32
    /// blocks and more reach the full rate.
    ///
    /// # Panics
    /// If the number of a block reaches 2^64.
    pub fn hash_numbered(&self, prefix: u64, first: u64, blocks: &mut [u128]) {
        assert!(first.checked_add(blocks.len() as u64).is_some(), "numbers below 2^64");
        self.0.hash_numbered(prefix, first, blocks);
    }

    /// Writes `hashes` hashes of every block plus an offset, one behind the other, under the tweaks 0, 1, ... One AES a
    /// hash, and one more a block.
    ///
    /// # Panics
    /// If `out` has not room for exactly `hashes` hashes of each block.
    pub fn expand(&self, blocks: &[u128], offset: u128, hashes: usize, out: &mut [u128]) {
        assert_eq!(out.len(), hashes * blocks.len(), "room for the hashes of each block");
        let mut images = [0; PASS];
        for (pass, out) in blocks.chunks(PASS).zip(out.chunks_mut(PASS * hashes)) {
            let images = &mut images[..pass.len()];
            images.iter_mut().zip(pass).for_each(|(image, block)| *image = block ^ offset);
            self.0.encrypt(bytemuck::cast_slice_mut(images));
            for (out, image) in out.chunks_exact_mut(hashes).zip(&*images) {
                out.iter_mut().zip(0..).for_each(|(out, tweak)| *out = image ^ tweak);
            }
            self.0.encrypt(bytemuck::cast_slice_mut(out));
            for (out, image) in out.chunks_exact_mut(hashes).zip(&*images) {
                out.iter_mut().for_each(|out| *out ^= image);
            }
        }
    }
}

/// A pseudorandom permutation of 128-bit blocks: AES-128 under a key of its own. Nobody who lacks the key can tell its
/// images from random blocks, as long as the inputs do not depend on the key. The key is erased on drop.
pub struct BlockCipher(Aes128);

impl std::fmt::Debug for BlockCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BlockCipher(secret)")
    }
}

impl BlockCipher {
    /// The permutation of a key.
    pub fn new(key: &Seed) -> Self {
        Self(Aes128::new(key.expose()))
    }

    /// Replaces every block by its image.
    pub fn encrypt(&self, blocks: &mut [u128]) {
        self.0.encrypt(bytemuck::cast_slice_mut(blocks));
    }
}

/// A pseudorandom function from strings to 128 bits: keyed BLAKE3, the first 16 bytes of the digest as a little-endian
/// number. Debug shows nothing of the key; it is erased on drop.
///
/// Equal strings give equal numbers, so two owners that hold the key can join on them. Without the key a number tells
/// nothing; with it, anyone can try likely strings: the numbers are as secret as the strings to all who hold the key.
/// Among n distinct strings two collide with probability n^2 / 2^129: 2^-69 for 2^30.
#[derive(Clone)]
pub struct KeyedHash([u8; 32]);

impl std::fmt::Debug for KeyedHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyedHash(secret)")
    }
}

impl Drop for KeyedHash {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl KeyedHash {
    /// The function of a 256-bit key.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(*key)
    }

    /// The number of a string of any length.
    pub fn hash(&self, bytes: &[u8]) -> u128 {
        let digest = blake3::keyed_hash(&self.0, bytes);
        let mut low = [0; 16];
        low.copy_from_slice(&digest.as_bytes()[..16]);
        u128::from_le_bytes(low)
    }

    /// The numbers of many strings of N blocks of 16 bytes, at most 64 bytes: the i-th is `columns[0][i]`,
    /// `columns[1][i]` and so on. Calls of 16 strings and more are many times faster than [`Self::hash`].
    ///
    /// # Panics
    /// If the columns are not as long as `out`.
    pub fn hash_blocks<const N: usize>(&self, columns: [&[u128]; N], out: &mut [u128]) {
        const { assert!(1 <= N && N <= 4, "strings of one to four blocks") };
        assert!(columns.iter().all(|column| column.len() == out.len()), "a number for each string");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.hash(&self.0, columns, out);
        }
        self.hash_blocks_one_by_one(columns, out);
    }

    fn hash_blocks_one_by_one<const N: usize>(&self, columns: [&[u128]; N], out: &mut [u128]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.hash(columns.map(|column| column[i].to_le_bytes()).as_flattened());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Aes128, BlockCipher, CR_KEY, CorrelationRobustHash, KeyedHash, Seed, TCCR_KEY, TweakableCircularHash};
    use crate::Prg;

    #[test]
    fn paths_agree() {
        let x: Vec<u128> = (0..300).map(|i| i * 0x0123_4567_89ab_cdef_0f1e_2d3c).collect();
        let (mut cr, mut portable) = (x.clone(), x.clone());
        CorrelationRobustHash::new().hash_blocks(&mut cr);
        CorrelationRobustHash(Aes128::portable(&CR_KEY.to_be_bytes())).hash_blocks(&mut portable);
        assert_eq!(cr, portable);
        let (mut tccr, mut portable) = (x.clone(), x);
        TweakableCircularHash::new().hash_blocks(&mut tccr, |i| i as u128);
        TweakableCircularHash(Aes128::portable(&TCCR_KEY.to_be_bytes())).hash_blocks(&mut portable, |i| i as u128);
        assert_eq!(tccr, portable);
    }

    #[test]
    fn hashes_of_sums_are_those_of_blocks() {
        for length in [0, 1, 3, 4, 31, 32, 67, 300] {
            let blocks: Vec<u128> = Prg::new(&Seed::from_bytes([6; 16])).vector(length);
            for offset in [0, 0x0123_4567_89ab_cdef_0f1e_2d3c] {
                let mut expected: Vec<u128> = blocks.iter().map(|block| block ^ offset).collect();
                CorrelationRobustHash::new().hash_blocks(&mut expected);
                for hash in
                    [CorrelationRobustHash::new(), CorrelationRobustHash(Aes128::portable(&CR_KEY.to_be_bytes()))]
                {
                    let mut out = vec![0; length];
                    hash.hash_to(&blocks, offset, &mut out);
                    assert_eq!(out, expected, "{length} blocks");
                }
            }
        }
    }

    #[test]
    fn expansions_are_hashes_under_several_tweaks() {
        for (length, hashes) in [(0, 3), (1, 1), (5, 3), (130, 2), (257, 5)] {
            let blocks: Vec<u128> = Prg::new(&Seed::from_bytes([8; 16])).vector(length);
            let offset = 0x0123_4567_89ab_cdef_0f1e_2d3c;
            let repeated = blocks.iter().flat_map(|block| std::iter::repeat_n(block ^ offset, hashes));
            let mut expected: Vec<u128> = repeated.collect();
            TweakableCircularHash::new().hash_blocks(&mut expected, |i| (i % hashes) as u128);
            let mut out = vec![0; hashes * length];
            TweakableCircularHash::new().expand(&blocks, offset, hashes, &mut out);
            assert_eq!(out, expected, "{length} blocks");
        }
    }

    #[test]
    fn numbered_hashes_are_hashes_under_their_numbers() {
        for length in [0, 1, 3, 4, 31, 32, 67, 512, 1100] {
            let blocks: Vec<u128> = Prg::new(&Seed::from_bytes([9; 16])).vector(length);
            for (prefix, first) in [(0, 0), (3, 0x0123_4567_89ab_cdef), (u64::MAX, u64::MAX - 1100)] {
                let mut expected = blocks.clone();
                let number = u128::from(prefix) << 64 | u128::from(first);
                TweakableCircularHash::new().hash_blocks(&mut expected, |i| number + i as u128);
                for hash in
                    [TweakableCircularHash::new(), TweakableCircularHash(Aes128::portable(&TCCR_KEY.to_be_bytes()))]
                {
                    let mut out = blocks.clone();
                    hash.hash_numbered(prefix, first, &mut out);
                    assert_eq!(out, expected, "{length} blocks from {number}");
                }
            }
        }
    }

    #[test]
    fn bits_are_those_of_the_hashes() {
        let blocks: Vec<u128> = Prg::new(&Seed::from_bytes([5; 16])).vector(64 * 5);
        for offset in [0, 1, 0x0123_4567_89ab_cdef_0f1e_2d3c] {
            let mut hashed: Vec<u128> = blocks.iter().map(|block| block ^ offset).collect();
            CorrelationRobustHash::new().hash_blocks(&mut hashed);
            for hash in [CorrelationRobustHash::new(), CorrelationRobustHash(Aes128::portable(&CR_KEY.to_be_bytes()))] {
                let mut bits = vec![7];
                hash.hash_bits(&blocks, offset, &mut bits);
                assert_eq!((bits[0], bits.len()), (7, 6));
                let [mut low, mut high] = [vec![], vec![]];
                hash.hash_two_bits(&blocks, offset, [&mut low, &mut high]);
                assert_eq!(low, bits[1..]);
                for (i, hash) in hashed.iter().enumerate() {
                    let [low, high] = [&low, &high].map(|words| words[i / 64] >> (i % 64) & 1);
                    assert_eq!((low, high), (*hash as u64 & 1, (hash >> 64) as u64 & 1), "block {i}");
                }
            }
        }
    }

    #[test]
    fn masked_sums_are_those_of_the_hashes() {
        let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
        let blocks: [[u128; 64]; 3] = std::array::from_fn(|_| prg.vector::<[u128; 64]>(1)[0]);
        let masks = [u64::MAX, 0xffff, 0xaaaa_5555_0000_ffff];
        for offset in [0, 0x0123_4567_89ab_cdef_0f1e_2d3c] {
            for hash in [CorrelationRobustHash::new(), CorrelationRobustHash(Aes128::portable(&CR_KEY.to_be_bytes()))] {
                let mut rows = [3; 64];
                hash.add_masked(&blocks, offset, &masks, &mut rows);
                for (i, row) in rows.into_iter().enumerate() {
                    let mut hashed = blocks.map(|blocks| blocks[i] ^ offset);
                    CorrelationRobustHash::new().hash_blocks(&mut hashed);
                    let sum = hashed.iter().zip(masks).fold(3, |sum, (&hash, mask)| sum ^ hash as u64 & mask);
                    assert_eq!(row, sum, "row {i}");
                }
            }
        }
    }

    fn blocks_are_hashed_as_strings<const N: usize>() {
        let mut prg = Prg::new(&Seed::from_bytes([N as u8; 16]));
        let hash = KeyedHash::new(&prg.vector::<[u8; 32]>(1)[0]);
        for length in [0, 1, 15, 16, 17, 100] {
            let columns = [(); N].map(|()| prg.vector::<u128>(length));
            let (mut widest, mut plain) = (vec![0; length], vec![0; length]);
            hash.hash_blocks(columns.each_ref().map(|column| &column[..]), &mut widest);
            hash.hash_blocks_one_by_one(columns.each_ref().map(|column| &column[..]), &mut plain);
            assert_eq!(widest, plain, "{length} strings of {N} blocks");
        }
    }

    #[test]
    fn keyed_hashes_agree() {
        blocks_are_hashed_as_strings::<1>();
        blocks_are_hashed_as_strings::<2>();
        blocks_are_hashed_as_strings::<3>();
        blocks_are_hashed_as_strings::<4>();
    }

    #[test]
    fn the_block_cipher_is_aes() {
        let (key, plain) = (0x2b7e151628aed2a6abf7158809cf4f3c_u128, 0x6bc1bee22e409f96e93d7e117393172a_u128);
        let mut blocks = [plain.swap_bytes(); 3];
        BlockCipher::new(&Seed::from_bytes(key.to_be_bytes())).encrypt(&mut blocks);
        assert_eq!(blocks, [0x3ad77bb40d7a3660a89ecaf32466ef97_u128.swap_bytes(); 3]);
    }
}
