//! One bin's intersection, known to one or both parties in the same order.
//!
//! The receiver of the protocol learns for every match its own item and a position in the sender's order, which is a fresh
//! random permutation. Both list the matches by that position. Where the sender is to learn the matches too, the receiver sends
//! which positions match, one bit a position: `ceil(sender's size / 8)` bytes and one round after the protocol's own, whatever matches.
//!
//! That the receiver tells the truth here rests on the receiver: under a malicious one the sender's list may be wrong (never more
//! than its own items), as in every protocol in which one party learns first.

use crate::error::PsiError;
use crate::protocol::{Declared, Item, Outcome, Prepared, Protocol, Role, Sizes};
use tacit_net::{PartyId, Session};

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
        declared.online.receiver += sizes.sender.div_ceil(8) as u64;
    }
    declared
}

/// Intersects one pair of sets. Returns the indices of this party's matching items, in an order that is the same at both
/// parties; no indices at a party that does not learn the matches.
///
/// # Errors
/// Those of the protocol; [`PsiError::Cheating`] if the receiver's bits are no bits of positions.
pub fn intersect(
    prepared: &mut dyn Prepared,
    learns: Learns,
    session: &mut Session,
    peer: PartyId,
    items: &[Item],
    sizes: Sizes,
) -> Result<Vec<u32>, PsiError> {
    match prepared.online(session, items, sizes)? {
        Outcome::Receiver(mut matches) => {
            matches.sort_unstable_by_key(|found| found.theirs);
            if learns == Learns::Both {
                let mut bits = vec![0u8; sizes.sender.div_ceil(8)];
                matches.iter().for_each(|found| bits[found.theirs as usize / 8] |= 1 << (found.theirs % 8));
                session.next_round();
                session.send(peer, bits)?;
            }
            Ok(matches.into_iter().map(|found| found.mine).collect())
        }
        Outcome::Sender { order } => {
            if learns == Learns::Receiver {
                return Ok(Vec::new());
            }
            let mut bits = vec![0u8; sizes.sender.div_ceil(8)];
            session.next_round();
            session.recv(peer, &mut bits)?;
            let used = sizes.sender % 8;
            if used != 0 && bits.last().is_some_and(|last| last >> used != 0) {
                return Err(PsiError::Cheating {
                    peer: session.name(peer).to_owned(),
                    step: session.path().to_owned(),
                    detail: "it reports a match at a position that does not exist".to_owned(),
                });
            }
            let matched = |position: &usize| (bits[position / 8] >> (position % 8)) & 1 == 1;
            Ok((0..order.len()).filter(matched).map(|position| order[position]).collect())
        }
    }
}

/// The role of a party: the one that is alone to learn is the receiver; if both learn, whichever assignment sends fewer bytes.
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
