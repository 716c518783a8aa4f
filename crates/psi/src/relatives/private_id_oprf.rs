//! Private-ID by an oblivious pseudorandom function and private set union: the same outputs as [`crate::private_id`],
//! much faster, for more traffic.
//!
//! **Computes** for each party the universal ids of its own rows and the list of the ids of all rows of both.
//! **Adversary** semi-honest. **Discloses** the sizes of both sets and of their union, and nothing about which rows are
//! in both.
//!
//! **Source** Garimella, Mohassel, Rosulek, Sadeghian, Singh, "Private Set Operations from Oblivious Switching" (PKC
//! 2021), section 6.
//! 1. The id of x is F(k, x) ^ F(k', x), each party holding one of the two keys of an OPRF.
//! 2. The receiver gets the union of the ids by private set union ([`set_union`]).
//! 3. It sends the union to the other party.
//!
//! **Departures** a full OPRF from VOLE ([`crate::vole_psi::oprf`]) instead of the
//! paper's sloppy one; the receiver of the union sends it, sorted, to the other party.
//!
//! **What chance can break** stands in [`set_union`], the two OPRFs for ids included: together below 2^-40 in a run.
//!
//! **Cost** two OPRFs, [`set_union`], and 1 round with 8 bytes and 16 a row of the union: see [`cost`].

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::interface::role::Role;
use crate::intersection::vole_psi::oprf;
use crate::relatives::private_id::{Identified, UniversalId};
use crate::relatives::set_union::{self, Functions};
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session, Traffic};

/// Where steps of a session are located.
const NAME: &str = "private-id-oprf";
/// Bytes of an id.
const ID_BYTES: usize = 16;

/// What a run costs; `union` is the size of the union, which both learn.
pub fn cost(sender: usize, receiver: usize, union: usize) -> Traffic {
    let Functions { of_sender, of_receiver, .. } = set_union::functions(sender, receiver);
    let told = Traffic { rounds: 1, sender: 0, receiver: (8 + ID_BYTES * union) as u64 };
    of_sender.cost() + of_receiver.cost().swapped() + set_union::cost(sender, receiver) + told
}

/// A party that is set up, for runs one after the other.
pub struct Party {
    peer: PartyId,
    /// How many items this party and the peer have.
    sizes: [usize; 2],
    /// None if either party has no items.
    functions: Option<(oprf::Sender, oprf::Receiver)>,
    union: Union,
}

enum Union {
    Sender(set_union::Sender),
    Receiver(set_union::Receiver),
}

impl Party {
    /// Base OTs. sizes: the number of items of this party, then of the peer, in each run.
    ///
    /// # Errors
    /// [`PsiError::Input`] if these are too many; the connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, peer: PartyId, role: Role, sizes: [usize; 2]) -> Result<Self, PsiError> {
        let [mine, theirs] = sizes;
        let of = match role {
            Role::Sender => Sizes { sender: mine, receiver: theirs },
            Role::Receiver => Sizes { sender: theirs, receiver: mine },
        };
        set_union::check_size(of.sender)?;
        session.enter(NAME);
        let mut functions = None;
        if mine > 0 && theirs > 0 {
            functions = Some(match role {
                Role::Sender => (oprf::Sender::setup(session, peer)?, oprf::Receiver::setup(session, peer)?),
                Role::Receiver => {
                    let theirs = oprf::Receiver::setup(session, peer)?;
                    (oprf::Sender::setup(session, peer)?, theirs)
                }
            });
        }
        let union = match role {
            Role::Sender => Union::Sender(set_union::Sender::setup(session, peer, of)?),
            Role::Receiver => Union::Receiver(set_union::Receiver::setup(session, peer, of)?),
        };
        session.leave();
        Ok(Self { peer, sizes, functions, union })
    }

    /// Runs Private-ID over as many distinct items as announced.
    ///
    /// # Errors
    /// [`PsiError::Input`] if items are not distinct or not as many; the connection's failure, or a peer that deviates.
    pub fn run(&mut self, session: &mut Session, items: &[Item]) -> Result<Identified, PsiError> {
        let (peer, theirs) = (self.peer, self.sizes[1]);
        session.enter(NAME);
        // Step 1; then steps 2 and 3.
        let mut ids = self.ids(session, items)?;
        // Both parties get all ids: like those of items their places in bins and stores follow from them.
        tacit_marks::public(&mut ids);
        let identified = match &mut self.union {
            Union::Sender(union) => {
                union.send(session, &ids)?;
                session.next_round();
                receive_union(session, peer, ids, theirs)?
            }
            Union::Receiver(union) => {
                let others = union.receive(session, &ids)?;
                if others.len() > theirs {
                    return Err(PsiError::cheating(session, peer, "it has more ids than items"));
                }
                let identified = Identified::new(ids, others);
                session.next_round();
                send_union(session, peer, &identified.union)?;
                identified
            }
        };
        session.leave();
        Ok(identified)
    }

    /// The ids of this party's items. If one party has none, those of the other may be any random numbers.
    fn ids(&mut self, session: &mut Session, items: &[Item]) -> Result<Vec<UniversalId>, PsiError> {
        let [own, theirs] = self.sizes;
        let Some((mine, peers)) = &mut self.functions else {
            return Ok(Prg::new(&Seed::random()?).vector(items.len()));
        };
        // F(k, x) and F(k', x), in the same order at both parties.
        let [of_sender_key, of_receiver_key] = match self.union {
            Union::Sender(_) => {
                let Functions { of_sender, of_receiver, .. } = set_union::functions(own, theirs);
                [mine.evaluate(session, items, of_sender)?, peers.evaluate(session, items, of_receiver)?]
            }
            Union::Receiver(_) => {
                let Functions { of_sender, of_receiver, .. } = set_union::functions(theirs, own);
                [peers.evaluate(session, items, of_sender)?, mine.evaluate(session, items, of_receiver)?]
            }
        };
        Ok(of_sender_key.into_iter().zip(of_receiver_key).map(|(a, b)| a ^ b).collect())
    }
}

/// Runs Private-ID over distinct items of this party with a peer that has `theirs` items, setup included.
///
/// # Errors
/// As [`Party::setup`] and [`Party::run`].
pub fn run(
    session: &mut Session,
    peer: PartyId,
    role: Role,
    items: &[Item],
    theirs: usize,
) -> Result<Identified, PsiError> {
    Party::setup(session, peer, role, [items.len(), theirs])?.run(session, items)
}

fn send_union(session: &mut Session, peer: PartyId, union: &[UniversalId]) -> Result<(), PsiError> {
    session.send(peer, (union.len() as u64).to_le_bytes().to_vec())?;
    for piece in union.chunks(1 << 16) {
        session.send(peer, bytemuck::cast_slice(piece).to_vec())?;
    }
    Ok(())
}

fn receive_union(
    session: &mut Session,
    peer: PartyId,
    ids: Vec<UniversalId>,
    theirs: usize,
) -> Result<Identified, PsiError> {
    let mut count = [0; 8];
    session.recv(peer, &mut count)?;
    let most = ids.len() + theirs;
    let count = usize::try_from(u64::from_le_bytes(count)).unwrap_or(usize::MAX);
    if count > most || count < ids.len().max(theirs) {
        return Err(PsiError::cheating(session, peer, "the size of its union is not between those of the sets"));
    }
    let mut union = vec![0; count];
    session.recv(peer, bytemuck::cast_slice_mut(&mut union))?;
    let complete = ids.iter().all(|id| union.binary_search(id).is_ok());
    if !union.is_sorted_by(|a, b| a < b) || !complete {
        return Err(PsiError::cheating(session, peer, "its union is not sorted or lacks this party's ids"));
    }
    Ok(Identified { rows: ids, union })
}
