//! Intersection of any number of owners' sets, learnt by one of them, the leader.
//!
//! **Computes** for the leader which of its items every other owner has, too. The others get nothing.
//!
//! **Adversary** augmented semi-honest, any number of owners together (all but one): they follow the protocol, on inputs that
//! they may choose after they have seen those of the others they collude with. If all but one owner collude with the leader, they learn which of
//! the leader's items that owner has: what the output alone tells them when the others choose the leader's set.
//! **Discloses** all sizes; to the leader the items that all have; nothing else.
//!
//! **How**: every pair of owners shares a key, so each owner i has a share `s_i(x)` of zero for every item x: the sum of its
//! pairs' pseudorandom functions. Each other owner programs an oblivious function with its shares: with the values f(x) of an
//! oblivious pseudorandom function towards the leader ([`oprf`]), it sends a key-value store ([`Okvs`]) of `s_i(x) + f(x)`. The
//! leader evaluates all of them at its items: what it gets for an item sums to its own share only if all owners have it.
//!
//! **False matches**: an item that not all have passes with probability 2^-64 (2^-128 if the leader has more than 2^24 items),
//! 2^-40 over all.
//!
//! **Cost** [`cost`] is exact: 16 bytes a pair in 1 round; for one owner after the other what [`oprf`] costs; in 1 round 8 (16) bytes
//! a column of each owner's store, 1.09 columns an item. Nothing if any set is empty. For n owners of 2^20 items each: 18 bytes an
//! item and owner beside the leader.
//!
//! **Source** Kolesnikov, Matania, Pinkas, Rosulek, Trieu, "Practical Multi-party Private Set Intersection from Symmetric-Key
//! Techniques" (CCS 2017), the protocol secure against augmented semi-honest adversaries with unconditional zero-sharing.
//! **Departures** the programmable function is made of VOLE's and a key-value store, as in Rindal and Schoppmann (EUROCRYPT 2021,
//! section 5), and each owner programs once, towards the leader.

use crate::error::PsiError;
use crate::okvs::{Layout, Okvs};
use crate::protocol::{Item, Sizes};
use crate::vole_psi::oprf;
use tacit_math::band::Word;
use tacit_math::{BlockCipher, Prg, Seed};
use tacit_net::{PartyId, Session};

/// Bytes of a seed.
const SEED: usize = 16;

/// Words of a store's band.
const BAND: usize = 4;

/// Items whose shares are computed at once.
const BATCH: usize = 128;

/// A leader with more items compares 128 bits.
const MOST_FOR_64_BITS: usize = 1 << 24;

/// Rounds, and the bytes that one party sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartyCost {
    /// Communication rounds.
    pub rounds: u64,
    /// Payload bytes.
    pub sent: u64,
}

/// The sizes of the sets of `owner` and the leader.
fn pair(sizes: &[usize], leader: PartyId, owner: usize) -> Sizes {
    Sizes { sender: sizes[owner], receiver: sizes[leader.0] }
}

/// What a run costs a party, for the public sizes of all parties' sets.
pub fn cost(sizes: &[usize], leader: PartyId, party: PartyId) -> PartyCost {
    if sizes.contains(&0) {
        return PartyCost::default();
    }
    let word = if sizes[leader.0] <= MOST_FOR_64_BITS { 8 } else { 16 };
    let mut cost = PartyCost { rounds: 2, sent: (SEED * (sizes.len() - 1 - party.0)) as u64 };
    for owner in (0..sizes.len()).filter(|&owner| owner != leader.0) {
        let function = oprf::cost(pair(sizes, leader, owner));
        cost.rounds += function.rounds;
        if party == leader {
            cost.sent += function.receiver;
        } else if party.0 == owner {
            let columns = Layout::new(sizes[owner], 64 * BAND).columns();
            cost.sent += function.sender + (SEED + word * columns) as u64;
        }
    }
    cost
}

/// Every party's part. The leader gets the numbers of its items that all have, the others none.
///
/// # Errors
/// The connection's failure; items that are not distinct, or not as many as announced; sizes that are not one for each
/// party.
pub fn intersect(
    session: &mut Session,
    leader: PartyId,
    items: &[Item],
    sizes: &[usize],
) -> Result<Vec<u32>, PsiError> {
    if sizes.len() != session.parties() || leader.0 >= sizes.len() {
        return Err(PsiError::Input("a size for each party, and a leader among the parties, are needed".to_owned()));
    }
    if items.len() != sizes[session.me().0] {
        return Err(PsiError::Input(format!("{} items are given, not as many as announced", items.len())));
    }
    if sizes.contains(&0) {
        return Ok(Vec::new());
    }
    session.enter("zero-sharing");
    let zero = ZeroShare::exchange(session)?;
    session.leave();
    match sizes[leader.0] <= MOST_FOR_64_BITS {
        true => run::<u64>(session, leader, items, sizes, &zero),
        false => run::<u128>(session, leader, items, sizes, &zero),
    }
}

fn run<T: Word>(
    session: &mut Session,
    leader: PartyId,
    items: &[Item],
    sizes: &[usize],
    zero: &ZeroShare,
) -> Result<Vec<u32>, PsiError> {
    session.enter("functions");
    let functions = functions(session, leader, items, sizes)?;
    session.leave();
    session.enter("shares");
    session.next_round();
    let numbers = if session.me() == leader {
        let mut sums: Vec<T> = (0..items.len()).map(|_| T::zeroed()).collect();
        zero.add(items, &mut sums);
        for (owner, function) in functions {
            receive_shares(session, owner, items, sizes[owner.0], &function, &mut sums)?;
        }
        (0..).zip(&sums).filter(|(_, sum)| **sum == T::zeroed()).map(|(number, _)| number).collect()
    } else {
        for (leader, function) in functions {
            send_shares::<T>(session, leader, items, &function, zero)?;
        }
        Vec::new()
    };
    session.leave();
    Ok(numbers)
}

/// The values of each owner's function at this party's items: of all for the leader, of its own for an owner. Pairs take
/// turns; who is not in the pair passes the rounds.
fn functions(
    session: &mut Session,
    leader: PartyId,
    items: &[Item],
    sizes: &[usize],
) -> Result<Vec<(PartyId, Vec<u128>)>, PsiError> {
    let mut functions = Vec::new();
    for owner in (0..sizes.len()).filter(|&owner| owner != leader.0) {
        let both = pair(sizes, leader, owner);
        if session.me() == leader {
            functions.push((PartyId(owner), oprf::receive(session, PartyId(owner), items, both)?));
        } else if session.me().0 == owner {
            functions.push((leader, oprf::send(session, leader, items, both)?));
        } else {
            (0..oprf::cost(both).rounds).for_each(|_| session.next_round());
        }
    }
    Ok(functions)
}

/// An owner's part: a store of its shares, each masked by the function's value.
fn send_shares<T: Word>(
    session: &mut Session,
    leader: PartyId,
    items: &[Item],
    function: &[u128],
    zero: &ZeroShare,
) -> Result<(), PsiError> {
    let mut shares: Vec<T> = function.iter().map(|&value| low(value)).collect();
    zero.add(items, &mut shares);
    let seed = Seed::random()?;
    session.send(leader, seed.expose().to_vec())?;
    let store = Okvs::<BAND>::new(items.len(), &seed);
    let order = store.order(items);
    let mut random = Prg::new(&Seed::random()?);
    store.encode_clusters::<T, PsiError>(
        items,
        &order,
        &mut random,
        |numbers, out| numbers.iter().zip(out).for_each(|(&number, out)| *out = shares[number as usize]),
        |_, columns| Ok(session.send(leader, bytemuck::cast_slice(columns).to_vec())?),
    )
}

/// The leader's part: adds what an owner's store and function give to the sums.
fn receive_shares<T: Word>(
    session: &mut Session,
    owner: PartyId,
    items: &[Item],
    size: usize,
    function: &[u128],
    sums: &mut [T],
) -> Result<(), PsiError> {
    let mut seed = [0; SEED];
    session.recv(owner, &mut seed)?;
    let store = Okvs::<BAND>::new(size, &Seed::from_bytes(seed));
    let order = store.order(items);
    let mut columns: Vec<T> = vec![T::zeroed(); store.layout().cluster_columns()];
    for cluster in (0..store.layout().clusters).rev() {
        session.recv(owner, bytemuck::cast_slice_mut(&mut columns))?;
        store.decode_cluster(items, &order, cluster, &columns, |numbers, values| {
            for (&number, value) in numbers.iter().zip(values) {
                sums[number as usize] ^= *value ^ low(function[number as usize]);
            }
        });
    }
    Ok(())
}

/// The low bits of a value, as many as a word has.
fn low<T: Word>(value: u128) -> T {
    bytemuck::pod_read_unaligned(&value.to_le_bytes()[..size_of::<T>()])
}

/// A party's keys: all parties' shares of an item sum to zero.
struct ZeroShare(Vec<BlockCipher>);

impl ZeroShare {
    /// Agrees on a key with every other party: who comes first chooses it.
    fn exchange(session: &mut Session) -> Result<Self, PsiError> {
        let me = session.me().0;
        session.next_round();
        let mut keys = Vec::new();
        for peer in me + 1..session.parties() {
            let seed = Seed::random()?;
            session.send(PartyId(peer), seed.expose().to_vec())?;
            keys.push(BlockCipher::new(&seed));
        }
        for peer in 0..me {
            let mut seed = [0; SEED];
            session.recv(PartyId(peer), &mut seed)?;
            keys.push(BlockCipher::new(&Seed::from_bytes(seed)));
        }
        Ok(Self(keys))
    }

    /// Adds this party's shares of the items to `out`.
    fn add<T: Word>(&self, items: &[Item], out: &mut [T]) {
        let mut images = [0; BATCH];
        for (items, out) in items.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            for key in &self.0 {
                let images = &mut images[..items.len()];
                images.copy_from_slice(items);
                key.encrypt(images);
                out.iter_mut().zip(images).for_each(|(out, image)| *out ^= low(*image));
            }
        }
    }
}
