//! Many trees of seeds, of which the receiver lacks one leaf each: (N-1)-out-of-N OT from log N base OTs.
//!
//! **Computes** for a tree of depth d, seeds s(0) .. s(2^d - 1) at the sender; at the receiver, who chose a secret D,
//! all but s(D). The receiver has them renamed, s(y ^ D) at y, which is what its user needs and lets it work without an
//! index or a branch on D. The missing leaf is always at 0. **Adversary** semi-honest or malicious. A malicious sender
//! may make the receiver abort depending on D (it learns as many bits of D as it risks), which the users'
//! functionalities allow. **Discloses** nothing else.
//!
//! **Steps**
//!
//! 1. A base OT for each level of each tree; the receiver chooses the complements of D's bits.
//! 2. The sender grows each tree from the highest level's two keys. For every further level it sends the sum of all
//!    left and that of all right nodes, each masked by a key of the level's OT.
//! 3. The receiver unmasks the sum of the side on which D is not. The sum lacks one node that it does not have yet, the
//!    sibling of the path to D, which follows.
//! 4. Malicious: each leaf is expanded to a leaf and a witness. The sender sends the sum of a tree's witnesses, and a
//!    hash of all; the receiver computes the witness that it lacks from the sum, and compares the hash.
//!
//! **Cost** the base OTs (one for each level of each tree), then 1 round. The sender sends 32 bytes for each level
//! below the first; if malicious, 32 more for each tree and 32 in all. Nothing is sent, and no round is counted, if no
//! tree has a second level.
//!
//! **Source** the tree: Goldreich, Goldwasser, Micali 1986. Its transfer: Boyle et al., "Efficient Two-Round OT
//! Extension and Silent Non-Interactive Secure Computation" (CCS 2019), section 4. The proof of consistency: Roy,
//! "SoftSpokenOT" (CRYPTO 2022, ePrint 2022/192), section on consistency of the punctured PRF. Two levels of the tree
//! come from keyed AES-128 in counter mode. **Departures** one hash proves all trees together, so one abort covers
//! them.

#[cfg(test)]
mod views;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use zeroize::Zeroizing;

use crate::{Adversary, OtError, base};

/// Bytes that the sender sends after the base OTs.
pub(crate) fn bytes_of_sender(depths: &[usize], adversary: Adversary) -> u64 {
    let corrections: usize = depths.iter().map(|depth| 32 * (depth - 1)).sum();
    let proof = if proves(depths, adversary) { 32 * depths.len() + 32 } else { 0 };
    (corrections + proof) as u64
}

/// Rounds, base OTs included.
pub(crate) fn rounds(depths: &[usize]) -> u64 {
    base::ROUNDS + u64::from(deep(depths))
}

/// A tree of one level is a base OT: nothing can be inconsistent in it.
fn deep(depths: &[usize]) -> bool {
    depths.iter().any(|&depth| depth > 1)
}

fn proves(depths: &[usize], adversary: Adversary) -> bool {
    adversary == Adversary::Malicious && deep(depths)
}

/// The sender's part: all leaves of every tree.
///
/// # Errors
/// Those of the base OTs.
pub(crate) fn send(
    session: &mut Session,
    to: PartyId,
    depths: &[usize],
    adversary: Adversary,
) -> Result<Vec<Vec<Seed>>, OtError> {
    // Step 1.
    let keys = base::send(session, to, depths.iter().sum())?;
    let mut keys = keys.as_slice();
    let (mut trees, mut corrections) = (Vec::with_capacity(depths.len()), Vec::new());
    // Step 2.
    for &depth in depths {
        let (levels, later) = keys.split_at(depth);
        trees.push(grow(levels, &mut corrections));
        keys = later;
    }
    if !deep(depths) {
        return Ok(seeds(&trees));
    }
    session.next_round();
    let mut message: Vec<u8> = bytemuck::cast_slice(&corrections).to_vec();
    if proves(depths, adversary) {
        // Step 4.
        let mut digest = digest();
        for tree in &mut trees {
            let witnesses = witnesses(tree);
            message.extend(sum(&witnesses));
            digest.update(witnesses.as_flattened());
        }
        message.extend(digest.finalize().as_bytes());
    }
    session.send(to, message)?;
    Ok(seeds(&trees))
}

/// The receiver's part: for every tree, leaf y ^ D at y, and nothing at 0. Bits of all trees' D, lowest tree first,
/// lowest bit first.
///
/// # Errors
/// Those of the base OTs; [`OtError::Cheating`] if the sender's trees are not consistent.
pub(crate) fn receive(
    session: &mut Session,
    from: PartyId,
    depths: &[usize],
    hidden: &[bool],
    adversary: Adversary,
) -> Result<Vec<Vec<Option<Seed>>>, OtError> {
    // Step 1. Their complement is the secret, which its owner erases.
    let choices: Zeroizing<Vec<bool>> = Zeroizing::new(hidden.iter().map(|bit| !bit).collect());
    let keys = base::receive(session, from, &choices)?;
    let mut trees = Vec::with_capacity(depths.len());
    let inner: usize = depths.iter().map(|depth| depth - 1).sum();
    let mut corrections = vec![[0u128; 2]; inner];
    let proves = proves(depths, adversary);
    let mut proof = vec![[0u8; 32]; if proves { depths.len() + 1 } else { 0 }];
    if deep(depths) {
        session.next_round();
        session.recv(from, bytemuck::cast_slice_mut(&mut corrections))?;
        session.recv(from, proof.as_flattened_mut())?;
    }
    let (mut start, mut corrections) = (0, corrections.as_slice());
    let mut digest = digest();
    for (number, &depth) in depths.iter().enumerate() {
        let (mine, later) = corrections.split_at(depth - 1);
        let bits = start..start + depth;
        // Step 3.
        let mut tree = regrow(&keys[bits.clone()], &hidden[bits.clone()], mine);
        if proves {
            // Step 4.
            digest.update(restored(&mut tree, &hidden[bits], &proof[number]).as_flattened());
        }
        trees.push(tree);
        (start, corrections) = (start + depth, later);
    }
    // The sender sees whether this party goes on.
    let consistent = || tacit_marks::published(bool::from(digest.finalize().as_bytes().ct_eq(&proof[depths.len()])));
    if proves && !consistent() {
        return Err(OtError::cheating(session, from, "trees of seeds that are not consistent"));
    }
    let known = |tree: Vec<u128>| tree.into_iter().enumerate().map(|(y, leaf)| (y > 0).then(|| seed(leaf))).collect();
    Ok(trees.into_iter().map(known).collect())
}

fn seed(node: u128) -> Seed {
    Seed::from_bytes(node.to_le_bytes())
}

fn seeds(trees: &[Vec<u128>]) -> Vec<Vec<Seed>> {
    trees.iter().map(|tree| tree.iter().map(|&leaf| seed(leaf)).collect()).collect()
}

/// Both children of a node.
fn children(node: u128) -> [u128; 2] {
    let mut both = [0; 2];
    Prg::new(&seed(node)).fill(&mut both);
    both
}

/// A whole tree. Its highest level is a base OT's keys; each further one masks its two sums with a base OT's keys. Keys
/// are in the order of the bits that they decide, lowest first.
fn grow(keys: &[[u128; 2]], corrections: &mut Vec<[u128; 2]>) -> Vec<u128> {
    let (top, lower) = keys.split_last().expect("a tree has a level");
    let mut nodes = top.to_vec();
    for keys in lower.iter().rev() {
        nodes = nodes.into_iter().flat_map(children).collect();
        let sums = nodes.as_chunks::<2>().0.iter().fold(*keys, |sums, pair| [sums[0] ^ pair[0], sums[1] ^ pair[1]]);
        corrections.push(sums);
    }
    nodes
}

/// The tree without the leaf D, renamed; its entry 0 is zero. At every level, the sum over one side of all pairs is
/// known: the side on which D is not.
fn regrow(keys: &[u128], hidden: &[bool], corrections: &[[u128; 2]]) -> Vec<u128> {
    let depth = keys.len();
    let mut nodes = vec![0, keys[depth - 1]];
    for (level, correction) in (0..depth - 1).rev().zip(corrections) {
        let side = Choice::from(u8::from(hidden[level]));
        let mut missing = keys[level] ^ u128::conditional_select(&correction[1], &correction[0], side);
        let mut next = vec![0; 2 * nodes.len()];
        for (pair, &node) in next.as_chunks_mut::<2>().0.iter_mut().zip(&nodes).skip(1) {
            let [mut same, mut other] = children(node);
            u128::conditional_swap(&mut same, &mut other, side);
            *pair = [same, other];
            missing ^= other;
        }
        next[1] = missing;
        nodes = next;
    }
    nodes
}

/// A leaf's part of the proof of consistency.
type Witness = [u8; 32];

/// Replaces every leaf by one half of its expansion; the other half proves it.
fn witnesses(leaves: &mut [u128]) -> Vec<Witness> {
    let witness = |leaf: &mut u128| {
        let mut prg = Prg::new(&seed(*leaf));
        let mut witness = [0; 32];
        prg.fill(std::slice::from_mut(leaf));
        prg.fill(&mut witness);
        witness
    };
    leaves.iter_mut().map(witness).collect()
}

fn sum(witnesses: &[Witness]) -> Witness {
    let mut sum = [0; 32];
    witnesses.iter().for_each(|witness| sum.iter_mut().zip(witness).for_each(|(s, w)| *s ^= w));
    sum
}

/// The sender's witnesses in its own order: the missing one follows from the sum of all, and the renaming is undone bit
/// by bit.
fn restored(leaves: &mut [u128], hidden: &[bool], total: &Witness) -> Vec<Witness> {
    let mut all = witnesses(leaves);
    all[0] = *total;
    all[0] = sum(&all);
    for (level, &bit) in hidden.iter().enumerate() {
        for group in all.chunks_mut(2 << level) {
            let (low, high) = group.split_at_mut(1 << level);
            for (a, b) in low.as_flattened_mut().iter_mut().zip(high.as_flattened_mut()) {
                u8::conditional_swap(a, b, Choice::from(u8::from(bit)));
            }
        }
    }
    all
}

fn digest() -> blake3::Hasher {
    blake3::Hasher::new_derive_key("tacit trees of seeds, version 1: consistency")
}
