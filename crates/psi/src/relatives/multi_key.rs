//! Private-ID by several identifiers: rows match by the first of the sender's identifiers, by priority, that they
//! share.
//!
//! **Computes** for each party the universal ids of its own rows and the list of the ids of all rows of both, rows that
//! belong together having one id. Also how many rows have more than one possible counterpart (contaminated rows, to be
//! judged by both). **Adversary** semi-honest. **Discloses** what [`blind_join`] tells, the graph of equal identifiers
//! among shuffled rows, and so the size of the union. Which of its rows are in both a party learns no further than it
//! recognises them in that graph.
//!
//! **Source** Buddhavarapu, Case, Gore, Knox, Mohassel, Sengupta, Taubeneck, Xue, "Multi-key Private Matching for
//! Compute" (ePrint 2021/770): match logic, and ids through two exponents. Contaminated rows: Movahedi et al.,
//! "Privacy-Preserving Randomized Controlled Trials", section 2.3. Secure under the decisional Diffie-Hellman
//! assumption in the random oracle model.
//! 1. The blind join pairs positions of both tables.
//! 2. The sender draws a random point P for each pair and each single row, and an exponent k. It sends P for the
//!    receiver's rows, in the order in which they came, and P for its own single rows, sorted. It also sends P^k for
//!    its own rows by position, and for the receiver's single rows.
//! 3. The receiver raises all to an exponent r, keeps the ids P^r of the first two, and returns the others, the
//!    sender's rows in the order in which they came.
//! 4. The sender divides by k.
//!
//! **Cost** that of [`blind_join`] and 2 rounds. There are n rows of the sender, m of the receiver and u in the union.
//! The sender sends 64 u bytes, the receiver 32 u, and each does less than 3 u multiplications.
//!
//! **Departures** the points of ids are random and not powers of the identifiers that matched, so that rows that share
//! identifiers without being paired have different ids.

use crate::error::PsiError;
use crate::interface::protocol::Item;
use crate::interface::role::Role;
use crate::parts::group::{ENCODING_BYTES, Encoding, Exponent, HashToGroup};
use crate::parts::masking::{receive_points, receive_raised, send_points};
use crate::parts::tags::TagHash;
use crate::relatives::blind_join::{self, BlindJoin, Identifiers, Joined, Rule, Shape};
use crate::relatives::private_id::{Identified, UniversalId};
use tacit_math::{permutation, randomness};
use tacit_net::{PartyId, Session, Traffic};

/// Where steps of a session are located, and what hashes are bound to.
const NAME: &str = "multi-key-private-id";

/// What a run costs; `union` is the size of the union, which both learn.
pub fn cost(shape: Shape, union: usize) -> Traffic {
    let bytes = (ENCODING_BYTES * union) as u64;
    blind_join::cost(shape) + Traffic { rounds: 2, sender: 2 * bytes, receiver: bytes }
}

/// Runs it: the ids, and how many rows of the sender and of the receiver have more than one possible counterpart.
///
/// # Errors
/// [`PsiError::Input`] for a table of another shape; the connection's failure, or a peer that deviates.
pub fn run(
    session: &mut Session,
    peer: PartyId,
    role: Role,
    identifiers: &Identifiers,
    shape: Shape,
) -> Result<(Identified, (usize, usize)), PsiError> {
    session.enter(NAME);
    // Step 1.
    let blind = blind_join::run(session, peer, role, identifiers, shape, Rule::Single)?;
    let contaminated = blind.joined.contaminated;
    let spine = Spine::new(&blind.joined, shape);
    let identified = match role {
        Role::Sender => assign(session, peer, &blind, &spine)?,
        Role::Receiver => evaluate(session, peer, &blind, &spine)?,
    };
    session.leave();
    Ok((identified, contaminated))
}

/// The rows of the union: the sender's positions first, then those of the receiver's single rows.
struct Spine {
    /// The row of the union of each position of the receiver.
    of_receiver: Vec<u32>,
    sender_rows: usize,
    /// The sender's single rows.
    sender_only: Vec<u32>,
    length: usize,
}

impl Spine {
    fn new(joined: &Joined, shape: Shape) -> Self {
        let mut of_receiver = vec![u32::MAX; shape.rows.receiver];
        let mut single = vec![true; shape.rows.sender];
        for &(sender, receiver) in &joined.pairs {
            of_receiver[receiver as usize] = sender;
            single[sender as usize] = false;
        }
        let mut length = shape.rows.sender as u32;
        for row in of_receiver.iter_mut().filter(|row| **row == u32::MAX) {
            *row = length;
            length += 1;
        }
        let sender_only = (0..shape.rows.sender as u32).filter(|&row| single[row as usize]).collect();
        Self { of_receiver, sender_rows: shape.rows.sender, sender_only, length: length as usize }
    }
}

fn id_hash() -> TagHash {
    TagHash::new(NAME.as_bytes(), UniversalId::BITS)
}

/// The sender's part.
fn assign(session: &mut Session, peer: PartyId, blind: &BlindJoin, spine: &Spine) -> Result<Identified, PsiError> {
    // Step 2: P of every row of the union, and P^k.
    let mut context = [0; 32];
    randomness::fill(&mut context)?;
    let numbers: Vec<Item> = (0..spine.length as Item).collect();
    let mut points = Exponent::random()?.mask(&HashToGroup::new(&context), &numbers);
    // The receiver gets all of them, and knows as well as this party that they are points.
    tacit_marks::public(points.as_flattened_mut());
    let k = Exponent::random()?;
    let blinded = k.raise(&points).expect("this party's own points");

    session.next_round();
    let by_place = permutation::scatter(&spine.of_receiver, &blind.theirs);
    send_points(session, peer, &permutation::gather(&points, &by_place))?;
    let mut sender_only = permutation::gather(&points, &spine.sender_only);
    sender_only.sort_unstable();
    send_points(session, peer, &sender_only)?;
    send_points(session, peer, &blinded)?;

    // Step 4: P^(k r), divided by k.
    session.next_round();
    let hash = id_hash();
    let mut ids = Vec::with_capacity(spine.length);
    receive_raised(session, peer, &k.inverse(), spine.length, |points| {
        ids.extend(points.iter().map(|point| hash.of_point(point)));
    })?;
    let others = ids.split_off(spine.sender_rows);
    Ok(Identified::new(permutation::scatter(&ids, &blind.mine), others))
}

/// The receiver's part.
fn evaluate(session: &mut Session, peer: PartyId, blind: &BlindJoin, spine: &Spine) -> Result<Identified, PsiError> {
    let (r, hash) = (Exponent::random()?, id_hash());
    session.next_round();
    // Step 3: the ids P^r, and P^(k r), which go back.
    let mut ids = Vec::with_capacity(spine.length);
    receive_raised(session, peer, &r, spine.of_receiver.len() + spine.sender_only.len(), |points| {
        ids.extend(points.iter().map(|point| hash.of_point(point)));
    })?;
    let blinded = receive_points(session, peer, spine.length)?;
    let raised = r.raise(&blinded).map_err(|place| place.sent_by(session, peer))?;

    session.next_round();
    let (of_sender, receiver_only) = raised.split_at(spine.sender_rows);
    let by_place: Vec<Encoding> = permutation::scatter(of_sender, &blind.theirs);
    send_points(session, peer, &by_place)?;
    send_points(session, peer, receiver_only)?;
    let others = ids.split_off(spine.of_receiver.len());
    Ok(Identified::new(permutation::scatter(&ids, &blind.mine), others))
}
