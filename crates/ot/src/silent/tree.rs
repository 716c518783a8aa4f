//! A vector of blocks that one party knows and the other knows but for one secret position, from correlated OTs: the
//! correlated GGM tree.
//!
//! The root's children are k and k + delta; the children of a node x are H(x) and H(x) + x ([`CircularTreeHash`]). So
//! the sum of every level is delta, and the sum of a level's left nodes S tells that of its right ones. For every level
//! the sender sends its OT's zero block plus S. The receiver's block is that plus x delta for its choice x. So it finds
//! the sum of the nodes on side x, and from that sum the sibling of its path's node. The path takes the other side at
//! every level. The first level needs no message: its OT's zero block is k. **Hash** of each node that the receiver
//! lacks it knows x + delta, and it gets sums of H(x) and of H(x) + x. Thus it gets H(y + delta) + b delta for a bit b
//! and known y: circular correlation robustness, each y once. Roots may be outputs of a code that the receiver has
//! chosen, and such outputs can repeat. Two trees with one root would give S and S + delta for one sum S. So every tree
//! under a delta has a number, and a multiple of it is added to what is hashed ([`Trees`]). Whatever the code, no y
//! comes twice. A malicious receiver may choose its OTs' blocks. Against it the multiple is by an element of GF(2^128)
//! that the sender draws when those blocks are fixed. Sums of two roots and of their numbers' multiples meet with
//! 2^-128 a pair.
//!
//! **Adversary** semi-honest; what a malicious sender can do is confined by [`super::check`]. **Discloses** nothing.
//! **Source** Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, "Half-Tree: Halving the Cost of Tree Expansion in COT and DPF"
//! (EUROCRYPT 2023), Figure 3 and protocol of Figure 6. **Departure** the trees' numbers. **Cost** 16 (h - 1) bytes
//! from the sender, for 2^h blocks; malicious 16 bytes more for all trees together.
//!
//! The receiver finds its position by comparing it with every index of a level, so that no address depends on it.

use tacit_math::code::{add_at, resize};
use tacit_math::gf::{Field, Gf128};
use tacit_math::{CircularTreeHash, TweakableCircularHash};
use tacit_net::{PartyId, Session};

use super::noise::Noise;
use super::supply::{Chosen, Offered};
use crate::OtError;

/// Trees whose messages travel together, so that the receiver works while the sender does.
const PIECE: usize = 32;

/// What a receiver has of one tree besides the known leaves.
pub(super) struct Hole {
    /// The position of the unknown leaf.
    pub place: u32,
    /// The sum of all other leaves, which is the unknown one plus delta.
    pub sum: u128,
}

/// What is made of trees. It sets apart the numbers of trees and of leaves of all that is made under one delta. OTs
/// that are hashed by their own numbers have zero in its place.
#[derive(Clone, Copy)]
pub(super) enum Product {
    Transfers = 1,
    Lookups,
    Vole,
}

impl Product {
    /// The prefix of the numbers of what is made of OTs from a number on, which is below 2^56.
    fn batch(self, first: u64) -> u64 {
        assert!(first < 1 << 56, "OTs of one delta have numbers below 2^56");
        (self as u64) << 56 | first
    }
}

/// The tweaks of trees: multiples of numbers, none of which comes twice under one delta.
pub(super) struct Trees {
    batch: u64,
    next: u64,
    factor: Gf128,
}

impl Trees {
    /// Those of a product that is made of OTs from this number on. The factor shifts numbers by one place: they differ
    /// above the lowest bit, the one bit that sums of whole segments leave in a receiver's block.
    pub(super) fn of(product: Product, first: u64) -> Self {
        Self { batch: product.batch(first), next: 0, factor: Gf128(2) }
    }

    /// Multiplies the numbers to come by a factor that the sender has drawn when the OTs were fixed. A receiver that
    /// chose two roots whose sum is that of their tweaks would learn delta: both trees would hash alike, but for delta.
    pub(super) fn spread(&mut self, factor: Gf128) {
        self.factor = factor;
    }

    /// The next tree's tweak.
    pub(super) fn tweak(&mut self) -> u128 {
        let number = u128::from(self.batch) << 64 | u128::from(self.next);
        self.next += 1;
        self.factor.multiply(Gf128(number)).0
    }
}

/// The hash that makes leaves independent of delta, where a multiple of delta is added to what lies at the hole.
///
/// The receiver gets H(s + delta, i) + f(delta) for sums s that it knows, leaf numbers i and maps f, which are
/// multiplications by its values: a corrupted receiver chooses them. So H must be tweakable circular correlation robust
/// for every f ([`TweakableCircularHash`]); a hash that feeds its input forward would let the input's delta cancel the
/// added one. No number comes twice under one delta: a receiver with equal leaves in two trees of different values
/// would get their hashes' sum otherwise, a multiple of delta in clear.
///
/// A leaf's tweak is 2^64 times a product's prefix, plus its number. What else is hashed so under the same delta has
/// tweaks below 2^64: the numbers of blocks of a long string and of OTs ([`crate::correlated`]). So a leaf and such a
/// block are no repeated pair, whatever their values.
pub(super) struct LeafHash {
    hash: TweakableCircularHash,
    batch: u64,
    next: u64,
}

impl LeafHash {
    /// The hash of the leaves of a product that is made of OTs from this number on. Leaves are numbered in order.
    pub(super) fn of(product: Product, first: u64) -> Self {
        Self { hash: TweakableCircularHash::new(), batch: product.batch(first), next: 0 }
    }

    /// Replaces the next leaves by their hashes.
    pub(super) fn hash(&mut self, leaves: &mut [u128]) {
        self.hash.hash_numbered(self.batch, self.next, leaves);
        self.next += leaves.len() as u64;
    }
}

/// The sender's part for all segments of a noise vector: replaces the content of `blocks`. `finish` gets
/// every tree's leaves and may change them and append to its message.
pub(super) fn send(
    session: &mut Session,
    receiver: PartyId,
    noise: &Noise,
    (ots, trees): (&mut Offered<'_>, &mut Trees),
    blocks: &mut Vec<u128>,
    mut finish: impl FnMut(&mut [u128], &mut Vec<u128>),
) -> Result<(), OtError> {
    let depth = noise.depth as usize;
    let keys = ots.take(noise.segments * depth);
    let mut grower = Grower::new(noise.depth);
    resize(blocks, noise.length());
    for (keys, blocks) in keys.chunks(PIECE * depth).zip(blocks.chunks_mut(PIECE << depth)) {
        let mut message = Vec::with_capacity(keys.len());
        for (keys, leaves) in keys.chunks_exact(depth).zip(blocks.chunks_exact_mut(1 << depth)) {
            grower.plant(trees.tweak(), ots.delta, keys, leaves, &mut message);
            finish(leaves, &mut message);
        }
        session.send(receiver, bytemuck::cast_slice(&message).to_vec())?;
    }
    Ok(())
}

/// The receiver's part for all segments. `finish` gets every tree's leaves with its hole and the `appended` blocks of
/// its message.
pub(super) fn receive(
    session: &mut Session,
    sender: PartyId,
    noise: &Noise,
    (ots, trees): (&mut Chosen<'_>, &mut Trees),
    blocks: &mut Vec<u128>,
    appended: usize,
    mut finish: impl FnMut(&mut [u128], Hole, &[u128]),
) -> Result<(), OtError> {
    let depth = noise.depth as usize;
    let paths: Vec<_> = (0..noise.segments).map(|_| ots.take(noise.depth)).collect();
    let mut grower = Grower::new(noise.depth);
    resize(blocks, noise.length());
    let each = depth - 1 + appended;
    let mut message = vec![0_u128; PIECE * each];
    for (paths, blocks) in paths.chunks(PIECE).zip(blocks.chunks_mut(PIECE << depth)) {
        let message = &mut message[..paths.len() * each];
        session.recv(sender, bytemuck::cast_slice_mut(message))?;
        let messages = paths.iter().zip(message.chunks_exact(each)).zip(blocks.chunks_exact_mut(1 << depth));
        for (((choices, keys), message), leaves) in messages {
            let (corrections, message) = message.split_at(depth - 1);
            let hole = grower.evaluate(trees.tweak(), *choices, keys, corrections, leaves);
            finish(leaves, hole, message);
        }
    }
    Ok(())
}

/// Grows trees of one depth, reusing its memory.
pub(super) struct Grower {
    hash: CircularTreeHash,
    depth: u32,
    levels: [Vec<u128>; 2],
}

/// All ones if two numbers are equal.
fn mask_of_equal(a: u32, b: u32) -> u128 {
    0_u128.wrapping_sub(u128::from(a == b))
}

impl Grower {
    /// For trees of 2^depth leaves, at least two.
    pub fn new(depth: u32) -> Self {
        Self { hash: CircularTreeHash::new(), depth, levels: [0, 1].map(|_| vec![0; 1 << (depth - 1)]) }
    }

    /// The sender's part of a tree of a tweak: fills in the leaves and appends the messages. `keys` are the zero
    /// blocks of as many OTs as levels.
    pub fn plant(&mut self, tree: u128, delta: u128, keys: &[u128], leaves: &mut [u128], corrections: &mut Vec<u128>) {
        // The first level: k and k + delta, for the zero block k of its OT.
        let (&k, keys) = keys.split_first().expect("a tree has a level");
        let mut nodes = 2;
        level(&mut self.levels, leaves, self.depth, 1)[..2].copy_from_slice(&[k, k ^ delta]);
        for (depth, key) in (2..).zip(keys) {
            let (parents, children) = parents_and_children(&mut self.levels, leaves, self.depth, depth, nodes);
            // The OT's zero block plus S, the sum of the level's left nodes.
            let s = self.hash.double(parents, tree, children);
            corrections.push(key ^ s);
            nodes *= 2;
        }
    }

    /// The receiver's part: fills in all leaves but one, which becomes zero. `choices` are the bits of the OTs, the
    /// first level's highest.
    pub fn evaluate(
        &mut self,
        tree: u128,
        choices: u32,
        blocks: &[u128],
        corrections: &[u128],
        leaves: &mut [u128],
    ) -> Hole {
        // Both children of a node that is zero.
        let mut of_zero = [[0; 2]];
        let of_zero = self.hash.double(&[0], tree, &mut of_zero);
        let side = |depth: u32| choices >> (self.depth - depth) & 1;
        // The first level: of k and k + delta the one on the chosen side; the other one's place is zero.
        let mut path = 1 - side(1);
        let mut sum = blocks[0];
        let first = level(&mut self.levels, leaves, self.depth, 1);
        first[0] = sum & mask_of_equal(path, 1);
        first[1] = sum & mask_of_equal(path, 0);
        let mut nodes = 2;
        for ((depth, block), correction) in (2..).zip(&blocks[1..]).zip(corrections) {
            let side = choices >> (self.depth - depth) & 1;
            let (parents, children) = parents_and_children(&mut self.levels, leaves, self.depth, depth, nodes);
            let left = self.hash.double(parents, tree, children) ^ of_zero;
            let right = mask_of_equal(side, 1);
            // S, or S + delta if the side is right, less the known nodes there: the sibling of the path's node.
            let sibling = block ^ correction ^ left ^ sum & right;
            // The children of the path's node, which is zero here, become the sibling and zero.
            let changes = [of_zero ^ sibling & !right, of_zero ^ sibling & right];
            add_at(children, path, changes);
            sum ^= sibling;
            path = 2 * path + 1 - side;
            nodes *= 2;
        }
        Hole { place: path, sum }
    }
}

/// Where the nodes of a level lie: the leaves in their place, inner levels in turns in two buffers.
fn level<'a>(levels: &'a mut [Vec<u128>; 2], leaves: &'a mut [u128], last: u32, depth: u32) -> &'a mut [u128] {
    if depth == last { leaves } else { &mut levels[depth as usize % 2] }
}

/// The nodes above a level, and the place of the level in pairs.
fn parents_and_children<'a>(
    levels: &'a mut [Vec<u128>; 2],
    leaves: &'a mut [u128],
    last: u32,
    depth: u32,
    parents: usize,
) -> (&'a [u128], &'a mut [[u128; 2]]) {
    let [even, odd] = levels;
    let (above, below) = if depth.is_multiple_of(2) { (odd, even) } else { (even, odd) };
    let below = if depth == last { leaves } else { &mut below[..2 * parents] };
    (&above[..parents], bytemuck::cast_slice_mut(below))
}

#[cfg(test)]
mod tests {
    use super::{Grower, Hole, LeafHash, Product};
    use tacit_math::{Prg, Seed, TweakableCircularHash};

    /// A block that is a leaf and is hashed to a long string too, or to the key of an OT, has other hashes there, in
    /// every batch and place.
    #[test]
    fn tweaks_of_leaves_are_those_of_nothing_else() {
        const COUNT: usize = 300;
        let (block, hash) = (Prg::new(&Seed::from_bytes([4; 16])).vector::<u128>(1)[0], TweakableCircularHash::new());
        let mut others = vec![0; COUNT];
        hash.expand(&[block], 0, COUNT, &mut others);
        for (product, first) in
            [(Product::Lookups, 0), (Product::Vole, 0), (Product::Vole, 1), (Product::Vole, COUNT as u64)]
        {
            let mut leaves = vec![block; COUNT];
            LeafHash::of(product, first).hash(&mut leaves);
            let mut numbered = vec![block; COUNT];
            hash.hash_blocks(&mut numbered, |i| u128::from(product.batch(first)) << 64 | i as u128);
            assert_eq!(leaves, numbered);
            assert!(leaves.iter().all(|leaf| !others.contains(leaf)), "OTs from {first}");
            others.extend(leaves);
        }
    }

    #[test]
    fn all_leaves_agree_but_one() {
        let mut prg = Prg::new(&Seed::from_bytes([3; 16]));
        for depth in 1..10_u32 {
            for _ in 0..20 {
                let keys: Vec<u128> = prg.vector(depth as usize);
                let [delta, choices] = prg.vector::<u128>(2)[..] else { unreachable!("two blocks") };
                let choices = choices as u32 & ((1 << depth) - 1);
                let chosen = |i: usize| choices >> (depth as usize - 1 - i) & 1 == 1;
                let blocks: Vec<u128> =
                    keys.iter().enumerate().map(|(i, key)| key ^ if chosen(i) { delta } else { 0 }).collect();
                let (mut leaves, mut known) = (vec![0; 1 << depth], vec![0; 1 << depth]);
                let mut corrections = Vec::new();
                Grower::new(depth).plant(18, delta, &keys, &mut leaves, &mut corrections);
                assert_eq!(corrections.len(), depth as usize - 1);
                let Hole { place, sum } = Grower::new(depth).evaluate(18, choices, &blocks, &corrections, &mut known);
                assert_eq!(place, !choices & ((1 << depth) - 1));
                assert_eq!(leaves[place as usize], sum ^ delta);
                assert_eq!(known[place as usize], 0);
                known[place as usize] = leaves[place as usize];
                assert_eq!(known, leaves);
            }
        }
    }
}
