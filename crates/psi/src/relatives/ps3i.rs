//! PS3I, private secret shared set intersection: rows that belong together, with both payloads as shares.
//!
//! **Computes** for both parties additive shares modulo 2^64 of both payloads of all pairs of rows that belong
//! together, in the same random order at both. **Adversary** semi-honest. **Discloses** to both how many pairs there
//! are, and what [`blind_join`] tells: with one distinct identifier a row nothing else. With several identifiers a row
//! it is matching by several identifiers, and with [`Rule::Collect`] the collecting variant.
//!
//! **Steps**
//!
//! 1. The blind join gives both parties the pairs, as positions in two shuffled orders.
//! 2. The sender's payload, in its own shuffle of its rows, is permuted by the receiver's shuffle and shared.
//! 3. The receiver's payload, likewise, by the sender's.
//! 4. Each party takes for each pair its shares at both positions.
//!
//! **Source** Buddhavarapu et al., "Private Matching for Compute" (ePrint 2020/599), section 4, Figure 4; the
//! collecting variant and contaminated rows: Movahedi et al., "Privacy-Preserving Randomized Controlled Trials",
//! section 2.3. **Departures** where the paper shuffles the payloads under the peer's additively homomorphic
//! encryption, they are permuted and shared by oblivious switching ([`permute_share`]). That is the same functionality
//! at a thousandth of the time, and composable with the proofs of both. A row that is in several pairs has the same
//! shares in all.
//!
//! **Cost** that of [`blind_join`] and, for each column of n numbers, that of [`permute_share`]; two setups of the
//! latter.

use crate::error::PsiError;
use crate::interface::protocol::Sizes;
use crate::interface::role::Role;
use crate::parts::permute_share::{self, Owner, Permuter};
use crate::relatives::blind_join::{self, Identifiers, Joined, Rule, Shape};
use crate::wrong_input::WrongInput;
use tacit_math::permutation;
use tacit_net::{PartyId, Session, Traffic};

/// Where steps of a session are located.
const NAME: &str = "ps3i";

/// A party's shares of the pairs, column by column.
pub struct SharedPairs {
    /// How many pairs there are.
    pub pairs: usize,
    /// Rows of the sender and of the receiver with more than one counterpart.
    pub contaminated: (usize, usize),
    /// Columns of the sender's payload, one share a pair.
    pub sender: Vec<Vec<u64>>,
    /// Columns of the receiver's payload, one share a pair.
    pub receiver: Vec<Vec<u64>>,
}

impl std::fmt::Debug for SharedPairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedPairs({} pairs, {} and {} columns)", self.pairs, self.sender.len(), self.receiver.len())
    }
}

/// What a run costs. payload: columns of payload at each party.
pub fn cost(shape: Shape, payload: Sizes) -> Traffic {
    let shared = |rows, columns: usize| permute_share::setup_cost() + permute_share::cost(rows) * columns as u64;
    let of_receiver = shared(shape.rows.receiver, payload.receiver).swapped();
    blind_join::cost(shape) + shared(shape.rows.sender, payload.sender) + of_receiver
}

/// One party's table.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// Identifiers, row by row.
    pub identifiers: &'a Identifiers,
    /// Columns of payload, each with a number a row.
    pub payload: &'a [Vec<u64>],
}

/// Runs PS3I; `payload` says how many columns each party has.
///
/// # Errors
/// [`PsiError::Input`] for a table of another shape; the connection's failure, or a peer that deviates.
pub fn run(
    session: &mut Session,
    peer: PartyId,
    role: Role,
    table: Table<'_>,
    shape: Shape,
    payload: Sizes,
    rule: Rule,
) -> Result<SharedPairs, PsiError> {
    let (rows, columns, of_peer) = match role {
        Role::Sender => (shape.rows.sender, payload.sender, payload.receiver),
        Role::Receiver => (shape.rows.receiver, payload.receiver, payload.sender),
    };
    if table.payload.len() != columns || table.payload.iter().any(|column| column.len() != rows) {
        return Err(WrongInput::PayloadShape { columns, rows }.into());
    }
    session.enter(NAME);
    // Step 1.
    let blind = blind_join::run(session, peer, role, table.identifiers, shape, rule)?;
    let mine = |session: &mut Session| -> Result<Vec<Vec<u64>>, PsiError> {
        let mut owner = Owner::setup(session, peer)?;
        let as_sent = table.payload.iter().map(|column| permutation::gather(column, &blind.mine));
        as_sent.map(|column| owner.share(session, peer, &column)).collect()
    };
    let theirs = |session: &mut Session| -> Result<Vec<Vec<u64>>, PsiError> {
        let mut permuter = Permuter::setup(session, peer)?;
        (0..of_peer).map(|_| permuter.share(session, peer, &blind.theirs)).collect()
    };
    // Steps 2 and 3.
    let (sender, receiver) = match role {
        Role::Sender => (mine(session)?, theirs(session)?),
        Role::Receiver => {
            let sender = theirs(session)?;
            (sender, mine(session)?)
        }
    };
    session.leave();
    // Step 4.
    Ok(align(&blind.joined, &sender, &receiver))
}

/// The shares of every pair, from the shares of every position.
fn align(joined: &Joined, sender: &[Vec<u64>], receiver: &[Vec<u64>]) -> SharedPairs {
    let (of_sender, of_receiver): (Vec<u32>, Vec<u32>) = joined.pairs.iter().copied().unzip();
    let pick = |columns: &[Vec<u64>], places: &[u32]| -> Vec<Vec<u64>> {
        columns.iter().map(|column| permutation::gather(column, places)).collect()
    };
    SharedPairs {
        pairs: joined.pairs.len(),
        contaminated: joined.contaminated,
        sender: pick(sender, &of_sender),
        receiver: pick(receiver, &of_receiver),
    }
}
