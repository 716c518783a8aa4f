//! Private-ID by Diffie-Hellman: every row of both parties gets a universal id, and nobody learns who is in both sets.
//!
//! **Computes** for each party the ids of its own rows and the list of the ids of all rows of both, in one order. Equal
//! items have equal ids; the ids say nothing about the items. **Adversary** semi-honest. **Discloses** the sizes of
//! both sets and of their union, and nothing about which rows are in both.
//!
//! **Source** Buddhavarapu, Knox, Mohassel, Sengupta, Taubeneck, Vlaskin, "Private Matching for Compute" (ePrint
//! 2020/599), section 3, the Private-ID protocol: secure under the decisional Diffie-Hellman assumption in the random
//! oracle model. The two parties' parts are the same. With exponents k for matching and r for ids (k', r' the peer's),
//! each party
//!
//! 1. sends H(x)^k of its items in a random order;
//! 2. returns the peer's points, raised to its own k and sorted, so that the peer has its points raised to kk' in an
//!    order that it cannot trace. Returned are also the peer's points in the order in which they came, raised to k r:
//!    raised to r' these are the peer's ids;
//! 3. takes those of its points raised to kk' that are not among the peer's points raised to k'k. It sends them raised
//!    to r and sorted: raised to r' by the peer, these are the ids that the peer does not have.
//!
//! **Cost** 3 rounds. With n rows of its own, m of the peer's and u in the union, a party sends 32 n + 64 m + 32 (u -
//! m) bytes. The party does at most 2 n + 2 m + (u - n) + (u - m) multiplications. **Departures** ids are hashes of 128
//! bits of the paper's group elements; sorting encodings stands for shuffling them, as they are pseudorandom to whoever
//! gets them.

use crate::error::PsiError;
use crate::interface::protocol::Item;
use crate::parts::group::{ENCODING_BYTES, Encoding, Exponent, HashToGroup};
use crate::parts::masking::{AGREE_BYTES, agree, receive_points, receive_raised, send_masked, send_points};
use crate::parts::tags::TagHash;
use crate::wrong_input::WrongInput;
use std::collections::HashSet;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session, Traffic};

/// Where steps of a session are located, and what the random oracles are bound to.
const NAME: &str = "private-id";

/// A universal id.
pub type UniversalId = u128;

/// What each party has after a run.
#[derive(Clone, PartialEq, Eq)]
pub struct Identified {
    /// The id of each of its own rows.
    pub rows: Vec<UniversalId>,
    /// The ids of all rows of both parties, each once, ascending: the same list at both.
    pub union: Vec<UniversalId>,
}

impl std::fmt::Debug for Identified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identified({} rows of {})", self.rows.len(), self.union.len())
    }
}

impl Identified {
    /// The result of a party from the ids of its own rows and of those that only the peer has.
    pub(crate) fn new(rows: Vec<UniversalId>, others: impl IntoIterator<Item = UniversalId>) -> Self {
        let mut union: Vec<UniversalId> = rows.iter().copied().chain(others).collect();
        union.sort_unstable();
        union.dedup();
        Self { rows, union }
    }
}

/// What a run costs; `union` is the size of the union, which both learn.
pub fn cost(sender: usize, receiver: usize, union: usize) -> Traffic {
    let bytes = |mine: usize, theirs: usize| AGREE_BYTES + (ENCODING_BYTES * (mine + theirs + union)) as u64;
    Traffic { rounds: 4, sender: bytes(sender, receiver), receiver: bytes(receiver, sender) }
}

/// Runs Private-ID over distinct items of this party with a peer that has `theirs` items.
///
/// # Errors
/// [`PsiError::Input`] if items are not distinct; the connection's failure, or a peer that deviates.
pub fn run(session: &mut Session, peer: PartyId, items: &[Item], theirs: usize) -> Result<Identified, PsiError> {
    if items.iter().collect::<HashSet<_>>().len() < items.len() {
        return Err(WrongInput::EqualItems.into());
    }
    session.enter(NAME);
    let context = agree(session, peer, NAME)?;
    let hash = HashToGroup::new(&context);
    let (k, r) = (Exponent::random()?, Exponent::random()?);

    // Step 1.
    let order = permutation::random(items.len(), &mut Prg::new(&Seed::random()?));
    session.next_round();
    send_masked(session, peer, &k, &hash, &permutation::gather(items, &order))?;
    // The peer's points, raised to k'k, and to k' k r.
    let masked = receive_points(session, peer, theirs)?;
    let mut twice = raise(session, peer, &k, &masked)?;
    // Sorted and sent: by design branches and addresses follow from them.
    tacit_marks::public(twice.as_flattened_mut());
    let theirs_for_ids = raise(session, peer, &k.then(&r), &masked)?;

    // Step 2.
    session.next_round();
    let mut untraceable = twice.clone();
    untraceable.sort_unstable();
    send_points(session, peer, &untraceable)?;
    send_points(session, peer, &theirs_for_ids)?;
    let mine = receive_points(session, peer, items.len())?;
    let mut ids = Ids::new(&context, items.len());
    receive_raised(session, peer, &r, items.len(), |points| ids.extend(points))?;

    // Step 3.
    session.next_round();
    let both: HashSet<Encoding> = twice.into_iter().collect();
    let only_mine: Vec<Encoding> = mine.into_iter().filter(|point| !both.contains(point)).collect();
    let mut only_mine = raise(session, peer, &r, &only_mine)?;
    // Sorted and sent.
    tacit_marks::public(only_mine.as_flattened_mut());
    only_mine.sort_unstable();
    let matched = items.len() - only_mine.len();
    if matched > theirs {
        return Err(PsiError::cheating(session, peer, "more of this party's items match than the peer has"));
    }
    send_points(session, peer, &only_mine)?;
    let mut others = Ids::new(&context, theirs - matched);
    receive_raised(session, peer, &r, theirs - matched, |points| others.extend(points))?;
    session.leave();
    Ok(Identified::new(permutation::scatter(&ids.list, &order), others.list))
}

fn raise(
    session: &Session,
    peer: PartyId,
    exponent: &Exponent,
    points: &[Encoding],
) -> Result<Vec<Encoding>, PsiError> {
    exponent.raise(points).map_err(|place| place.sent_by(session, peer))
}

/// Ids as they are computed.
struct Ids {
    hash: TagHash,
    list: Vec<UniversalId>,
}

impl Ids {
    fn new(context: &[u8], capacity: usize) -> Self {
        Self { hash: TagHash::new(context, UniversalId::BITS), list: Vec::with_capacity(capacity) }
    }

    fn extend(&mut self, points: &[Encoding]) {
        self.list.extend(points.iter().map(|point| self.hash.of_point(point)));
    }
}
