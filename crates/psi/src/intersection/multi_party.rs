//! Intersection of any number of owners' sets, learnt by some of them.
//!
//! **Computes** for every recipient which of its items every other owner has, too, in the same order at all. One
//! recipient, the leader, finds them and tells the others. Who is no recipient gets nothing.
//!
//! **Adversary** augmented semi-honest, any number of owners together (all but one). They follow the protocol, on
//! inputs that they may choose after they have seen those of the others they collude with. If all but one owner collude
//! with the leader, they learn which of the leader's items that owner has. That is what the output alone tells them
//! when the others choose the leader's set. Owners that collude without the leader learn what those of them that are
//! recipients do. **Discloses** all sizes; to the recipients the items that all have; nothing else.
//!
//! **Steps**
//!
//! 1. Every pair of owners shares a key, so each owner i has a share `s_i(x)` of zero for every item x: the sum of its
//!    pairs' pseudorandom functions.
//! 2. Each other owner programs an oblivious function with its shares. First it evaluates an oblivious pseudorandom
//!    function f towards the leader ([`oprf`]).
//! 3. Then it sends a key-value store ([`Okvs`]) of `s_i(x) + f(x)`.
//! 4. The leader evaluates all of them at its items: what it gets for an item sums to its own share only if all owners
//!    have it.
//! 5. It sends each other recipient as many short tags of items as the smallest set has: of those that all have, in
//!    ascending order, then random ones.
//!
//! **Bounds** of a whole run, of any number of owners and recipients ([`crate::chance`]), each over all of them:
//! - an item of the leader that not all have passes, or one of another owner in its function's store
//!   ([`crate::vole_psi`]): 20 2^-45. One item has 2^-64, and 2^-128 if all sets together have more than 10 2^20 items;
//! - a recipient mistakes a tag for one of another item: 2^-42;
//! - an owner's store cannot be encoded, and an owner's function's store cannot: 2^-45 each.
//!
//! Together 30 2^-45, below 2^-40.
//!
//! **Cost** [`Owners::cost`] is exact: for one owner after the other what [`oprf`] costs. In 1 round 8 (16) bytes a
//! column of each owner's store, 1.1 columns an item. With several recipients in 1 round to each of them a tag for each
//! item of the smallest set. A tag has 42 bits and the logarithm of both sizes and the number of such recipients.
//! Nothing if any set is empty. For n owners of 2^20 items each: 20 bytes an item and owner beside the leader, 11 more
//! for each recipient beside it.
//!
//! **Source** Kolesnikov, Matania, Pinkas, Rosulek, Trieu, "Practical Multi-party Private Set Intersection from
//! Symmetric-Key Techniques" (CCS 2017), the protocol secure against augmented semi-honest adversaries with
//! unconditional zero-sharing. **Departures** the programmable function is made of VOLE's and a key-value store, as in
//! Rindal and Schoppmann (EUROCRYPT 2021, section 5). Each owner programs once, towards the leader, which may tell
//! others.

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::intersection::vole_psi::oprf::{self, Function};
use crate::parts::chance::MOST_WORDS;
use crate::parts::okvs::{Layout, Okvs};
use crate::parts::tag_map::{Spread, TagMap};
use crate::parts::tags::tag_bits;
use crate::wrong_input::WrongInput;
use tacit_math::band::Word;
use tacit_math::{BlockCipher, Prg, Seed};
use tacit_net::{Cost, PartyId, Session};

/// Bytes of a seed.
const SEED: usize = 16;

/// What the secrets of pairs are for.
const PURPOSE: &str = "zero shares of an intersection";

/// Words of a store's band.
const BAND: usize = 4;

/// Items whose shares are computed at once.
const BATCH: usize = 128;

/// Tags of one message.
const TAGS: usize = 1 << 16;

/// What all owners agree on: all parties of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owners {
    /// The size of each party's set.
    pub sizes: Vec<usize>,
    /// Who finds what all have.
    pub leader: PartyId,
    /// Who learns it: the leader and perhaps others.
    pub recipients: Vec<PartyId>,
}

impl Owners {
    /// What a run costs all parties.
    ///
    /// # Panics
    /// When the leader is none of the parties.
    pub fn cost(&self) -> Cost {
        let parties = self.sizes.len();
        if self.none() {
            return Cost::alike(parties, 0, 0);
        }
        let word = if self.small() { 8 } else { 16 };
        let mut cost = Cost::alike(parties, 1, 0);
        for owner in self.others() {
            cost += self.function(owner).cost().between(owner, self.leader, parties);
            cost.sent[owner.0] += (SEED + word * self.layout(owner).columns()) as u64;
        }
        for told in self.told() {
            cost.sent[self.leader.0] += (self.least() * self.tag_bytes(told)) as u64;
        }
        cost.rounds += u64::from(self.told().next().is_some());
        cost
    }

    fn check(&self, session: &Session, items: &[Item]) -> Result<(), PsiError> {
        let parties = session.parties();
        let known = |party: &PartyId| party.0 < parties;
        if self.sizes.len() != parties || !self.recipients.iter().all(known) || !self.recipients.contains(&self.leader)
        {
            return Err(WrongInput::Owners.into());
        }
        let announced = self.sizes[session.me().0];
        if items.len() != announced {
            return Err(WrongInput::Items { given: items.len(), announced }.into());
        }
        Ok(())
    }

    /// Whether there is nothing to find.
    fn none(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// Bits of a share of zero.
    pub fn share_bits(&self) -> u32 {
        if self.small() { u64::BITS } else { u128::BITS }
    }

    /// Whether shares of 64 bits are enough.
    fn small(&self) -> bool {
        self.words() <= MOST_WORDS
    }

    /// Words of 64 bits that a run compares if these are enough: one for each item of the leader's, and one in its
    /// function for each of another owner's.
    fn words(&self) -> usize {
        self.sizes.iter().fold(0, |all, &size| all.saturating_add(size))
    }

    fn least(&self) -> usize {
        self.sizes.iter().copied().min().unwrap_or(0)
    }

    /// All parties but the leader, each with a store and a function.
    pub fn others(&self) -> impl Iterator<Item = PartyId> + '_ {
        (0..self.sizes.len()).map(PartyId).filter(|&party| party != self.leader)
    }

    /// The recipients that the leader tells.
    pub fn told(&self) -> impl Iterator<Item = PartyId> + '_ {
        self.others().filter(|party| self.recipients.contains(party))
    }

    /// The function of `owner`, which the leader evaluates, too.
    pub fn function(&self, owner: PartyId) -> Function {
        let sizes = Sizes { sender: self.sizes[owner.0], receiver: self.sizes[self.leader.0] };
        Function { sizes, of: self.others().count(), words: self.words() }
    }

    /// Where the columns of the store of `owner` lie.
    pub fn layout(&self, owner: PartyId) -> Layout {
        Layout::of_run(self.sizes[owner.0], 64 * BAND, self.others().count())
    }

    /// Tags that `recipient` looks up, each of which it compares with all of its items.
    pub fn tags(&self) -> usize {
        self.least()
    }

    /// Bits of such a tag, in whole bytes.
    pub fn tag_bits(&self, recipient: PartyId) -> u32 {
        let pairs = self.least() as u128 * self.sizes[recipient.0] as u128;
        tag_bits(pairs.saturating_mul(self.told().count() as u128)).next_multiple_of(8)
    }

    fn tag_bytes(&self, recipient: PartyId) -> usize {
        self.tag_bits(recipient) as usize / 8
    }
}

/// Every party's part. Recipients get the numbers of their items that all have, in ascending order of these items; the
/// others none. items: distinct and pseudorandom, for their highest bits are the tags.
///
/// # Errors
/// The connection's failure; a party that deviates; items that are not as many as announced; a leader that is no
/// recipient; sizes that are not one for each party.
pub fn intersect(session: &mut Session, owners: &Owners, items: &[Item]) -> Result<Vec<u32>, PsiError> {
    owners.check(session, items)?;
    if owners.none() {
        return Ok(Vec::new());
    }
    // Step 1; then steps 2 to 4.
    let zero = ZeroShare::agree(session)?;
    let mut numbers = match owners.small() {
        true => find::<u64>(session, owners, items, &zero)?,
        false => find::<u128>(session, owners, items, &zero)?,
    };
    let ascending = |numbers: &mut Vec<u32>| numbers.sort_unstable_by_key(|&number| items[number as usize]);
    // Before they are told: the order of the leader's items, perhaps that of its rows, is nobody's business.
    ascending(&mut numbers);
    if owners.told().next().is_some() {
        // Step 5.
        session.enter("recipients");
        session.next_round();
        if session.me() == owners.leader {
            owners.told().try_for_each(|recipient| tell(session, owners, recipient, items, &numbers))?;
        } else if owners.recipients.contains(&session.me()) {
            numbers = hear(session, owners, items)?;
            ascending(&mut numbers);
        }
        session.leave();
    }
    Ok(numbers)
}

/// The numbers of the leader's items that all have; none at the others.
fn find<T: Word>(
    session: &mut Session,
    owners: &Owners,
    items: &[Item],
    zero: &ZeroShare,
) -> Result<Vec<u32>, PsiError> {
    // Step 2.
    session.enter("functions");
    let mut sums: Vec<T> = functions(session, owners, items)?;
    session.leave();
    // s_i(x) + f(x) at another owner, its own share and all f(x) at the leader.
    zero.add(items, &mut sums);
    // Steps 3 and 4.
    session.enter("shares");
    session.next_round();
    let mut numbers = Vec::new();
    if session.me() == owners.leader {
        owners.others().try_for_each(|owner| receive_shares(session, owner, items, owners, &mut sums))?;
        // That all have an item is what the leader learns.
        let of_all = |(_, sum): &(u32, &T)| tacit_marks::published(**sum == T::zeroed());
        numbers = (0..).zip(&sums).filter(of_all).map(|(number, _)| number).collect();
    } else {
        send_shares(session, owners, items, &sums)?;
    }
    session.leave();
    Ok(numbers)
}

/// The values of the functions at this party's items: the sums of all owners' for the leader, of its own for an owner.
/// Pairs take turns; who is not in the pair passes the rounds.
fn functions<T: Word>(session: &mut Session, owners: &Owners, items: &[Item]) -> Result<Vec<T>, PsiError> {
    let mut sums = vec![T::zeroed(); items.len()];
    for owner in owners.others() {
        let function = owners.function(owner);
        let values = if session.me() == owners.leader {
            oprf::receive(session, owner, items, function)?
        } else if session.me() == owner {
            oprf::send(session, owners.leader, items, function)?
        } else {
            (0..function.cost().rounds).for_each(|_| session.next_round());
            continue;
        };
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum ^= low(value));
    }
    Ok(sums)
}

/// An owner's part: a store of its shares, each masked by the function's value.
fn send_shares<T: Word>(session: &mut Session, owners: &Owners, items: &[Item], shares: &[T]) -> Result<(), PsiError> {
    let leader = owners.leader;
    let seed = Seed::random()?.published();
    session.send(leader, seed.expose().to_vec())?;
    let store = Okvs::<BAND>::with_layout(owners.layout(session.me()), &seed);
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

/// The leader's part: adds what an owner's store gives to the sums.
fn receive_shares<T: Word>(
    session: &mut Session,
    owner: PartyId,
    items: &[Item],
    owners: &Owners,
    sums: &mut [T],
) -> Result<(), PsiError> {
    let mut seed = [0; SEED];
    session.recv(owner, &mut seed)?;
    let store = Okvs::<BAND>::with_layout(owners.layout(owner), &Seed::from_bytes(seed));
    let order = store.order(items);
    let mut columns: Vec<T> = vec![T::zeroed(); store.layout().cluster_columns()];
    for cluster in (0..store.layout().clusters).rev() {
        session.recv(owner, bytemuck::cast_slice_mut(&mut columns))?;
        store.decode_cluster(items, &order, cluster, &columns, |numbers, values| {
            numbers.iter().zip(values).for_each(|(&number, value)| sums[number as usize] ^= *value);
        });
    }
    Ok(())
}

/// The leader's part: tags of the items that all have, in their ascending order, then random ones, as many as the
/// smallest set has.
fn tell(
    session: &mut Session,
    owners: &Owners,
    recipient: PartyId,
    items: &[Item],
    numbers: &[u32],
) -> Result<(), PsiError> {
    let (bytes, least) = (owners.tag_bytes(recipient), owners.least());
    if numbers.len() > least {
        let smallest = owners.sizes.iter().position(|&size| size == least).map_or(recipient, PartyId);
        return Err(PsiError::cheating(session, smallest, "more items seem to be in its set than it has announced"));
    }
    let mut random = Prg::new(&Seed::random()?);
    let padding: Vec<Item> = random.vector(least - numbers.len());
    let all: Vec<Item> = numbers.iter().map(|&number| items[number as usize]).chain(padding).collect();
    for items in all.chunks(TAGS) {
        let message = items.iter().flat_map(|item| item.to_be_bytes().into_iter().take(bytes)).collect();
        session.send(recipient, message)?;
    }
    Ok(())
}

/// Another recipient's part: the numbers of its items whose tags the leader sends.
fn hear(session: &mut Session, owners: &Owners, items: &[Item]) -> Result<Vec<u32>, PsiError> {
    let (bytes, mut left) = (owners.tag_bytes(session.me()), owners.least());
    let mut own: TagMap<u32> = TagMap::with_capacity_and_hasher(items.len(), Spread::random()?);
    own.extend(items.iter().map(|item| item >> (128 - 8 * bytes)).zip(0..));
    let mut numbers = Vec::new();
    while left > 0 {
        let count = left.min(TAGS);
        let mut message = vec![0; count * bytes];
        session.recv(owners.leader, &mut message)?;
        let tag = |bytes: &[u8]| bytes.iter().fold(0, |tag: u128, &byte| tag << 8 | u128::from(byte));
        // Each is found once, whatever the leader sends.
        numbers.extend(message.chunks(bytes).filter_map(|bytes| own.remove(&tag(bytes))));
        left -= count;
    }
    Ok(numbers)
}

/// The low bits of a value, as many as a word has.
fn low<T: Word>(value: u128) -> T {
    bytemuck::pod_read_unaligned(&value.to_le_bytes()[..size_of::<T>()])
}

/// A party's keys: all parties' shares of an item sum to zero.
struct ZeroShare(Vec<BlockCipher>);

impl ZeroShare {
    /// A key with every other party, made of the connection between the two: no message carries it.
    fn agree(session: &mut Session) -> Result<Self, PsiError> {
        let peers = (0..session.parties()).map(PartyId).filter(|&peer| peer != session.me()).collect::<Vec<_>>();
        let key = |peer| Ok(BlockCipher::new(&Seed::from_secret(&*session.pair_secret(peer, PURPOSE)?)));
        peers.into_iter().map(key).collect::<Result<_, PsiError>>().map(Self)
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
