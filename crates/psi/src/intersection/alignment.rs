//! One bin's intersection, known to one or both parties in the same order.
//!
//! The receiver of the protocol learns for every match its own item and a position in the sender's order, which is a
//! fresh random permutation. Both list the matches by that position. Where the sender is to learn the matches too, the
//! receiver sends which positions match, one bit a position: `ceil(sender's size / 8)` bytes and one round after the
//! protocol's own, whatever matches.
//!
//! **What is believed.** A protocol against malicious parties proves matches ([`crate::Prepared::proofs`]). The
//! receiver sends 32 bytes more, a hash of the bits and of what it knows of the matching items, and the sender
//! compares. Bits that name an item which the receiver did not ask about end the run. They are not believed, so that
//! nothing of such an item is told in what follows (how often it repeats). To guess right for one item has probability
//! 2^-64 in a bin, and a wrong guess ends the run. The hash depends on the matches, which the sender learns anyway, and
//! says nothing else: who can make a tag that matches knows what is hashed. The receiver may still leave matches out,
//! as the party that learns first can in every protocol. Under all other protocols the sender's list rests on the
//! receiver's word, and is never more than its own items.

use crate::error::PsiError;
use crate::interface::protocol::{Declared, Item, Outcome, Prepared, Protocol, Sizes};
use crate::interface::role::Role;
use tacit_net::{PartyId, Session};

/// Bytes that prove which items match.
const PROOF: usize = 32;

/// Who learns the matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Learns {
    /// The protocol's receiver alone.
    Receiver,
    /// Both parties.
    Both,
}

/// The declared cost of [`intersect`] with a protocol: the protocol's own and the bits that tell the sender.
pub fn declared(protocol: &dyn Protocol, sizes: Sizes, learns: Learns) -> Declared {
    let mut declared = protocol.declared(sizes);
    if learns == Learns::Both {
        declared.online.rounds += 1;
        declared.online.receiver += report_bytes(sizes.sender, protocol.proves()) as u64;
    }
    declared
}

/// Bytes by which a receiver tells which of the sender's items match.
fn report_bytes(sender: usize, proves: bool) -> usize {
    sender.div_ceil(8) + if proves { PROOF } else { 0 }
}

/// What the receiver adds to its bits: their hash and that of the matching items' proofs, in the order of positions. A
/// random oracle: nobody who lacks one of the proofs knows it.
fn proof(bits: &[u8], proofs: impl Iterator<Item = u64>) -> [u8; PROOF] {
    let mut hasher = blake3::Hasher::new_derive_key("tacit 2026 psi: proof of matches");
    hasher.update(bits);
    proofs.for_each(|proof| {
        hasher.update(&proof.to_le_bytes());
    });
    *hasher.finalize().as_bytes()
}

/// Intersects one pair of sets. Returns the indices of this party's matching items, in an order that is the same at
/// both parties; no indices at a party that does not learn the matches.
///
/// # Errors
/// Those of the protocol; [`PsiError::Cheating`] if the receiver's bits are no bits of positions, or name a match that
/// it does not prove.
pub fn intersect(
    prepared: &mut dyn Prepared,
    learns: Learns,
    session: &mut Session,
    peer: PartyId,
    items: &[Item],
    sizes: Sizes,
) -> Result<Vec<u32>, PsiError> {
    let outcome = prepared.online(session, items, sizes)?;
    let proofs = prepared.proofs();
    match outcome {
        Outcome::Receiver(mut matches) => {
            matches.sort_unstable_by_key(|found| found.theirs);
            if learns == Learns::Both {
                let mut bits = vec![0u8; sizes.sender.div_ceil(8)];
                matches.iter().for_each(|found| bits[found.theirs as usize / 8] |= 1 << (found.theirs % 8));
                if let Some(proofs) = proofs {
                    let proof = proof(&bits, matches.iter().map(|found| proofs[found.mine as usize]));
                    bits.extend_from_slice(&proof);
                }
                session.next_round();
                session.send(peer, bits)?;
            }
            Ok(matches.into_iter().map(|found| found.mine).collect())
        }
        Outcome::Sender { order } => {
            if learns == Learns::Receiver {
                return Ok(Vec::new());
            }
            let mut report = vec![0u8; report_bytes(sizes.sender, proofs.is_some())];
            session.next_round();
            session.recv(peer, &mut report)?;
            let (bits, told) = report.split_at(sizes.sender.div_ceil(8));
            let used = sizes.sender % 8;
            if used != 0 && bits.last().is_some_and(|last| last >> used != 0) {
                return Err(PsiError::cheating(session, peer, "it reports a match at a position that does not exist"));
            }
            let matched = |position: &usize| (bits[position / 8] >> (position % 8)) & 1 == 1;
            let matched: Vec<u32> = (0..order.len()).filter(matched).map(|position| order[position]).collect();
            if let Some(proofs) = proofs {
                // Without an item of the receiver there is no proof of any.
                let known =
                    matched.iter().map(|&item| proofs.get(item as usize).copied()).collect::<Option<Vec<u64>>>();
                let expected = known.map(|known| blake3::Hash::from(proof(bits, known.into_iter())));
                // Whether this party goes on is what the receiver sees anyway.
                if !expected.is_some_and(|expected| tacit_marks::published(expected == *told)) {
                    return Err(PsiError::cheating(session, peer, "it reports a match that it does not prove"));
                }
            }
            Ok(matched)
        }
    }
}

/// The role of a party: the one that is alone to learn is the receiver; if both learn, whichever assignment sends fewer
/// bytes.
pub fn role(protocol: &dyn Protocol, mine: usize, theirs: usize, first: bool, learns_alone: Option<bool>) -> Role {
    if let Some(me) = learns_alone {
        return if me { Role::Receiver } else { Role::Sender };
    }
    let bytes = |sizes: Sizes| {
        let online = declared(protocol, sizes, Learns::Both).online;
        online.sender + online.receiver
    };
    let as_receiver = bytes(Sizes { sender: theirs, receiver: mine });
    let as_sender = bytes(Sizes { sender: mine, receiver: theirs });
    let receives = if as_receiver == as_sender { first } else { as_receiver < as_sender };
    if receives { Role::Receiver } else { Role::Sender }
}
