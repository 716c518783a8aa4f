//! The size of the intersection, and sums over it.
//!
//! **Computes** for the receiver how many items both have. With values at the sender, the named party also gets sums,
//! modulo 2^64, of the values of those of the sender's items that the receiver has. **Adversary** semi-honest.
//! **Discloses** the sizes of both sets to both, and the size of the intersection to the receiver. The named party
//! learns whether at least the agreed number of items count, and if they do the sums. Nobody learns which items count.
//!
//! **Source** size: Huberman, Franklin, Hogg, "Enhancing Privacy and Trust in Electronic Communities" (EC 1999); secure
//! under the decisional Diffie-Hellman assumption in the random oracle model. Functionality with sums: Ion, Kreuter,
//! Nergiz, Patel, Saxena, Seth, Raykova, Shanahan, Yung, "On Deploying Secure Computing: Private
//! Intersection-Sum-with-Cardinality" (EuroS&P 2020). Sum of chosen values by OT: Gilboa, "Two Party RSA Key
//! Generation" (CRYPTO 1999), section 4.1.
//! 1. Masked items cross, the sender's in a random order; the sender returns the receiver's, masked again, as a sorted
//!    set of tags.
//! 2. The receiver sees for each position of the sender's order whether it is in that set, but not whose position it
//!    is.
//! 3. By one OT for each position and column the receiver gets k or k + v as the position is out or in; the sum of the
//!    k is the sender's.
//!
//! **Few items** A sum over one item is that item's value. If fewer items than [`Sums::least`] count, the receiver
//! chooses in step 3 as if none did. What it gets are k alone, the messages are as long as ever, and the sender sees no
//! difference.
//!
//! **Departures** the OT of step 3 replaces the additively homomorphic encryption of Ion et al. The receiver knows in
//! clear which positions count, so 64-bit sums take 12 bytes and well under a microsecond each.
//!
//! **Cost** for n items of the sender, m of the receiver, c columns, tags of b = 42 + log2(n m) bits. It takes 3
//! rounds, 16 + 32 n + m (b - log2 m + 2) / 8 bytes from the sender, 16 + 32 m from the receiver. Sums: SoftSpokenOT's
//! setup and extension by c n OTs, then 3 rounds. These are c n / 8 bytes from the receiver, 8 c n from the sender, and
//! 8 c to the named party. The sender gets 1 more if it is that party.

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::interface::role::Role;
use crate::parts::group::{ENCODING_BYTES, Exponent, HashToGroup};
use crate::parts::masking::{AGREE_BYTES, agree, receive_raised, send_masked};
use crate::parts::tag_map::{Spread, TagSet};
use crate::parts::tags::{self, SortedTags, TagHash};
use crate::wrong_input::WrongInput;
use std::hint::black_box;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::{Adversary, softspoken};

/// Where steps of a session are located, and what the random oracles are bound to.
const NAME: &str = "cardinality";
/// SoftSpokenOT's parameter here: 4 bytes an OT.
const K: usize = 4;

/// What a party learns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Aggregates {
    /// The size of the intersection, at the receiver.
    pub cardinality: Option<usize>,
    /// The sum of each column, at the party named.
    pub sums: Option<Vec<u64>>,
}

/// Sums that are asked for; both parties say the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sums {
    /// Columns of values at the sender.
    pub columns: usize,
    /// Who learns the sums.
    pub to: Role,
    /// How many items have to count for the sums to be opened.
    pub least: usize,
}

/// Bits of a tag.
pub fn tag_bits(sizes: Sizes) -> u32 {
    tags::tag_bits(sizes.sender as u128 * sizes.receiver as u128)
}

/// What a run costs.
pub fn cost(sizes: Sizes, sums: Option<Sums>) -> Traffic {
    let Sizes { sender: n, receiver: m } = sizes;
    let mut total = Traffic {
        rounds: 3,
        sender: AGREE_BYTES + (ENCODING_BYTES * n + SortedTags::bytes(m, tag_bits(sizes))) as u64,
        receiver: AGREE_BYTES + (ENCODING_BYTES * m) as u64,
    };
    if let Some(Sums { columns, to, .. }) = sums {
        let opened = 8 * columns as u64;
        let (by_sender, by_receiver) = if to == Role::Receiver { (opened, 0) } else { (0, opened + 1) };
        total += softspoken::setup_cost(K, Adversary::SemiHonest);
        total += softspoken::extension_cost(K, Adversary::SemiHonest, columns * n);
        total += Traffic {
            rounds: 3,
            sender: (8 * columns * n) as u64 + by_sender,
            receiver: (columns * n).div_ceil(8) as u64 + by_receiver,
        };
    }
    total
}

/// The sender's part, with the values of its items, column by column.
///
/// # Errors
/// [`PsiError::Input`] for items or values that do not fit what is announced; the connection's failure, or a peer that
/// deviates.
pub fn send(
    session: &mut Session,
    receiver: PartyId,
    items: &[Item],
    values: &[Vec<u64>],
    sizes: Sizes,
    sums: Option<Sums>,
) -> Result<Aggregates, PsiError> {
    let columns = sums.map_or(0, |sums| sums.columns);
    if items.len() != sizes.sender || values.len() != columns || values.iter().any(|v| v.len() != items.len()) {
        return Err(WrongInput::Values { items: sizes.sender, columns }.into());
    }
    session.enter(NAME);
    let context = agree(session, receiver, NAME)?;
    let (exponent, hash) = (Exponent::random()?, HashToGroup::new(&context));
    let tags = TagHash::new(&context, tag_bits(sizes));
    // Step 1.
    let order = permutation::random(items.len(), &mut Prg::new(&Seed::random()?));
    session.next_round();
    send_masked(session, receiver, &exponent, &hash, &permutation::gather(items, &order))?;
    let mut theirs = Vec::with_capacity(sizes.receiver);
    receive_raised(session, receiver, &exponent, sizes.receiver, |points| {
        theirs.extend(points.iter().map(|point| tags.of_point(point)));
    })?;
    theirs.sort_unstable();
    session.next_round();
    session.send(receiver, SortedTags::write(&theirs, tag_bits(sizes)))?;
    // Step 3.
    let sums = match sums {
        Some(sums) => {
            let values: Vec<u64> = values.iter().flat_map(|column| permutation::gather(column, &order)).collect();
            send_sums(session, receiver, &values, sums)?
        }
        None => None,
    };
    session.leave();
    Ok(Aggregates { cardinality: None, sums })
}

/// The receiver's part.
///
/// # Errors
/// As [`send`].
pub fn receive(
    session: &mut Session,
    sender: PartyId,
    items: &[Item],
    sizes: Sizes,
    sums: Option<Sums>,
) -> Result<Aggregates, PsiError> {
    if items.len() != sizes.receiver {
        return Err(WrongInput::Items { given: items.len(), announced: sizes.receiver }.into());
    }
    session.enter(NAME);
    let context = agree(session, sender, NAME)?;
    let (exponent, hash) = (Exponent::random()?, HashToGroup::new(&context));
    let tags = TagHash::new(&context, tag_bits(sizes));
    // Step 1.
    session.next_round();
    send_masked(session, sender, &exponent, &hash, items)?;
    let mut theirs = Vec::with_capacity(sizes.sender);
    receive_raised(session, sender, &exponent, sizes.sender, |points| {
        theirs.extend(points.iter().map(|point| tags.of_point(point)));
    })?;
    session.next_round();
    let mut written = vec![0; SortedTags::bytes(items.len(), tag_bits(sizes))];
    session.recv(sender, &mut written)?;
    let Some(mine) = SortedTags::read(&written, items.len(), tag_bits(sizes)) else {
        return Err(PsiError::cheating(session, sender, "its tags are not a sorted set"));
    };
    // Step 2.
    let mut places = TagSet::with_capacity_and_hasher(items.len(), Spread::random()?);
    places.extend(mine.iter());
    let common: Vec<bool> = theirs.iter().map(|tag| places.contains(tag)).collect();
    let cardinality = common.iter().filter(|&&both| both).count();
    // Step 3.
    let sums = match sums {
        Some(sums) => receive_sums(session, sender, common, cardinality >= sums.least, sums)?,
        None => None,
    };
    session.leave();
    Ok(Aggregates { cardinality: Some(cardinality), sums })
}

fn send_sums(session: &mut Session, to: PartyId, values: &[u64], sums: Sums) -> Result<Option<Vec<u64>>, PsiError> {
    let mut ots = softspoken::Sender::setup(session, to, Adversary::SemiHonest, K)?.extend(session, values.len())?;
    ots.adjust(session, to)?;
    // k is key 0, and the correction v + key 0 - key 1 makes k + v of key 1.
    let keys = CotSender::random(&ots);
    session.next_round();
    for (keys, values) in keys.chunks(1 << 17).zip(values.chunks(1 << 17)) {
        let correct =
            |(keys, value): (&[u128; 2], &u64)| value.wrapping_add(keys[0] as u64).wrapping_sub(keys[1] as u64);
        let corrections: Vec<u64> = keys.iter().zip(values).map(correct).collect();
        session.send(to, bytemuck::cast_slice(&corrections).to_vec())?;
    }
    let zeros: Vec<u64> = keys.iter().map(|keys| (keys[0] as u64).wrapping_neg()).collect();
    let mine = column_sums(&zeros, sums.columns);
    session.next_round();
    if sums.to == Role::Receiver {
        session.send(to, bytemuck::cast_slice(&mine).to_vec())?;
        return Ok(None);
    }
    let mut enough = [0];
    session.recv(to, &mut enough)?;
    let opened = added(session, to, &mine)?;
    match enough {
        [0] => Ok(None),
        [1] => Ok(Some(opened)),
        _ => Err(PsiError::cheating(session, to, "whether enough items count is neither yes nor no")),
    }
}

fn receive_sums(
    session: &mut Session,
    from: PartyId,
    common: Vec<bool>,
    enough: bool,
    sums: Sums,
) -> Result<Option<Vec<u64>>, PsiError> {
    let n = sums.columns * common.len();
    let mut ots = softspoken::Receiver::setup(session, from, Adversary::SemiHonest, K)?.extend(session, n)?;
    let choices = choices(common, enough, sums.columns);
    ots.choose(session, from, &choices)?;
    let mut shares: Vec<u64> = CotReceiver::random(&ots).into_iter().map(|key| key as u64).collect();
    session.next_round();
    let mut corrections = vec![0u64; n];
    session.recv(from, bytemuck::cast_slice_mut(&mut corrections))?;
    for (i, (share, correction)) in shares.iter_mut().zip(corrections).enumerate() {
        // Hidden, or the compiler makes a branch of the AND with what it knows to be zeros or ones.
        let mask = black_box((choices[i / 64] >> (i % 64) & 1).wrapping_neg());
        *share = share.wrapping_add(correction & mask);
    }
    let mine = column_sums(&shares, sums.columns);
    session.next_round();
    if sums.to == Role::Sender {
        session.send(from, [&[u8::from(enough)], bytemuck::cast_slice(&mine)].concat())?;
        return Ok(None);
    }
    let opened = added(session, from, &mine)?;
    Ok(enough.then_some(opened))
}

/// The choices of step 3's transfers, 64 to a word, lowest first. For each column and each position of the sender's
/// order a choice says whether the item there counts; none does if not enough do. Tags are looked up in the open; from
/// here on what follows from them is secret.
pub fn choices(mut common: Vec<bool>, enough: bool, columns: usize) -> Vec<u64> {
    common.iter_mut().for_each(|both| *both &= enough);
    tacit_marks::secret(&mut common);
    let n = columns * common.len();
    let mut choices = vec![0; n.div_ceil(64)];
    for i in 0..n {
        choices[i / 64] |= u64::from(common[i % common.len()]) << (i % 64);
    }
    choices
}

/// The sum of each of the columns, which lie one behind the other.
fn column_sums(values: &[u64], columns: usize) -> Vec<u64> {
    let rows = values.len() / columns.max(1);
    (0..columns).map(|c| values[c * rows..][..rows].iter().fold(0u64, |sum, v| sum.wrapping_add(*v))).collect()
}

/// This party's shares and the peer's, added.
fn added(session: &mut Session, peer: PartyId, mine: &[u64]) -> Result<Vec<u64>, PsiError> {
    let mut theirs = vec![0u64; mine.len()];
    session.recv(peer, bytemuck::cast_slice_mut(&mut theirs))?;
    Ok(mine.iter().zip(theirs).map(|(a, b)| a.wrapping_add(b)).collect())
}
