//! Private set union of pseudorandom numbers.
//!
//! **Computes** for the receiver the union of both sets. **Adversary** semi-honest. **Discloses** the sizes of both
//! sets to both; nothing else: the receiver does not learn which of its numbers the sender has, the sender learns
//! nothing. The numbers must be pseudorandom and distinct, as their low 126 bits choose bins.
//!
//! **Source** Garimella, Mohassel, Rosulek, Sadeghian, Singh, "Private Set Operations from Oblivious Switching" (PKC
//! 2021): the permuted characteristic (section 4) and union from it (section 5).
//! 1. The sender puts its numbers into bins by cuckoo hashing. The receiver draws a secret s for each bin. By an OPRF
//!    and a key-value store the sender gets a value t for the number a in bin j. The value t is s of bin j if the
//!    receiver has a, and random otherwise.
//! 2. Permute and share: the secrets in a random order π of the sender, as shares u + v = s(π(i)).
//! 3. The receiver evaluates another OPRF at (i, v) and the sender sends its values at (i, t(π(i)) - u): equal where
//!    the receiver has that number. It knows for each position of π whether it has the number that is there, but not
//!    which it is.
//! 4. By one OT for each position the receiver gets the number that is there if it does not have it, or nothing for an
//!    empty bin.
//!
//! **What chance can break** in a run that unites the ids of two functions more ([`crate::private_id_oprf`]). The
//! sender has n numbers in m bins, the receiver k numbers ([`crate::chance`]):
//!
//! | event | probability | what follows |
//! |---|---|---|
//! | a bin's secret is met, or one of the four functions has the value of another number | (m + n + k + 3 k + m) 2^-64 up to 10 2^20 such words, else m 2^-64: 20 2^-45 at most, as more bins are refused | a number counts as the receiver's that is not; an id is wrong |
//! | tags of step 3 are equal | 2^-42 | a number counts as the receiver's that is not |
//! | the numbers do not fit into bins; the store of the secrets, one of those of the functions cannot be encoded | 2^-45 each | the run ends without a result |
//!
//! Together 31 2^-45, below 2^-40. Where words are more, functions are over GF(2^128). `make security` lists the terms.
//!
//! **Cost** see [`cost`], for n numbers of the sender, k of the receiver and m = 1.31 n bins. The union takes OPRFs of
//! m numbers twice, and permute and share of m numbers. Also 8 bytes a column of a store of 3 k keys, a tag, 16 bytes
//! and 1 bit a bin. If one set is empty the union is the other, which is sent as it is.

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::intersection::vole_psi::oprf::{self, Function};
use crate::parts::cuckoo;
use crate::parts::masking::{receive_tags, send_tags, tag_bytes};
use crate::parts::okvs::{Layout, Okvs};
use crate::parts::permute_share::{self, Owner, Permuter};
use crate::parts::tags::tag_bits;
use crate::wrong_input::WrongInput;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::{Adversary, softspoken};

/// Words of a band of the store.
const BAND: usize = 4;
/// SoftSpokenOT's parameter here: 4 bytes an OT.
const K: usize = 4;
/// Bits of a bin's secret.
pub const SECRET_BITS: u32 = u64::BITS;
/// Most numbers of the sender: a round number, whose bins have no more secrets than [`crate::chance::MOST_WORDS`].
pub const MOST: usize = 8_000_000;
/// What a place without a number holds. A pseudorandom number is this one with probability 2^-128.
const NOTHING: u128 = 0;

/// The functions of a run that makes ids and unites them, for given numbers of keys of the sender and of the receiver.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// That of the sender's key, evaluated for ids.
    pub of_sender: Function,
    /// That of the receiver's key.
    pub of_receiver: Function,
    /// At numbers in bins: the receiver's in all of theirs, the sender's in their own.
    pub in_bins: Function,
    /// At positions of the sender's order.
    pub at_places: Function,
}

/// The functions of a run with `sender` and `receiver` numbers.
pub fn functions(sender: usize, receiver: usize) -> Functions {
    let (m, in_all_bins) = (cuckoo::bins(sender, 1), cuckoo::CHOICES * receiver);
    // The secrets' words, and those of each function's sender.
    let words = [m, sender, receiver, in_all_bins, m].into_iter().fold(0, usize::saturating_add);
    let function = |sender, receiver| Function { sizes: Sizes { sender, receiver }, of: 4, words };
    Functions {
        of_sender: function(sender, receiver),
        of_receiver: function(receiver, sender),
        in_bins: function(in_all_bins, m),
        at_places: function(m, m),
    }
}

/// What a run costs for `sender` and `receiver` numbers.
pub fn cost(sender: usize, receiver: usize) -> Traffic {
    if sender == 0 || receiver == 0 {
        return Traffic { rounds: 1, sender: 16 * sender as u64, receiver: 0 };
    }
    let m = cuckoo::bins(sender, 1);
    let Functions { in_bins, at_places, .. } = functions(sender, receiver);
    let messages = Traffic {
        rounds: 4,
        sender: (tag_bytes(tag_bits(m as u128)) * m + 16 * m) as u64,
        receiver: (16 + 8 * store_layout(receiver).columns() + m.div_ceil(8)) as u64,
    };
    let by_receiver = in_bins.cost() + permute_share::setup_cost() + permute_share::cost(m);
    let transfers =
        softspoken::setup_cost(K, Adversary::SemiHonest) + softspoken::extension_cost(K, Adversary::SemiHonest, m);
    messages + at_places.cost() + by_receiver.swapped() + transfers
}

/// Checks that the secrets of the sender's `sender` numbers are long enough: [`MOST`] at most.
///
/// # Errors
/// [`PsiError::Input`] if they are not.
pub fn check_size(sender: usize) -> Result<(), PsiError> {
    match sender <= MOST {
        true => Ok(()),
        false => Err(WrongInput::UnionSize { keys: sender, most: MOST }.into()),
    }
}

/// The store of secrets, of the receiver's `receiver` numbers.
pub fn store_layout(receiver: usize) -> Layout {
    Layout::new(cuckoo::CHOICES * receiver, 64 * BAND)
}

/// A number at a place, as an item of its own.
fn at_place(place: usize, value: u64) -> Item {
    (place as u128) << 64 | u128::from(value)
}

/// A sender that is set up, for unions one after the other.
pub struct Sender {
    receiver: PartyId,
    sizes: Sizes,
    /// None if either set is empty.
    parts: Option<SenderParts>,
}

struct SenderParts {
    in_bins: oprf::Receiver,
    permuter: Permuter,
    at_places: oprf::Sender,
    ots: softspoken::Sender,
}

/// A receiver that is set up, for unions one after the other.
pub struct Receiver {
    sender: PartyId,
    sizes: Sizes,
    /// None if either set is empty.
    parts: Option<ReceiverParts>,
}

struct ReceiverParts {
    in_bins: oprf::Sender,
    owner: Owner,
    at_places: oprf::Receiver,
    ots: softspoken::Receiver,
}

impl Sender {
    /// Base OTs for sets of these sizes, none if either is empty.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, receiver: PartyId, sizes: Sizes) -> Result<Self, PsiError> {
        let mut parts = None;
        if sizes.sender > 0 && sizes.receiver > 0 {
            parts = Some(SenderParts {
                in_bins: oprf::Receiver::setup(session, receiver)?,
                permuter: Permuter::setup(session, receiver)?,
                at_places: oprf::Sender::setup(session, receiver)?,
                ots: softspoken::Sender::setup(session, receiver, Adversary::SemiHonest, K)?,
            });
        }
        Ok(Self { receiver, sizes, parts })
    }

    /// The sender's part.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates. [`PsiError::Input`] if there are more or fewer numbers than
    /// announced, or if they are not distinct, and with probability 3 2^-45 if they are.
    pub fn send(&mut self, session: &mut Session, numbers: &[u128]) -> Result<(), PsiError> {
        let receiver = self.receiver;
        check_count(numbers, self.sizes.sender)?;
        let Some(SenderParts { in_bins, permuter, at_places, ots }) = &mut self.parts else {
            // In a random order, as that of the caller's rows is nobody else's business.
            let order = permutation::random(numbers.len(), &mut Prg::new(&Seed::random()?));
            session.next_round();
            return Ok(session.send(receiver, bytemuck::cast_slice(&permutation::gather(numbers, &order)).to_vec())?);
        };
        // Step 1: a number in each bin, and t of it.
        let m = cuckoo::bins(numbers.len(), 1);
        let table = cuckoo::table(numbers, m).ok_or(WrongInput::EqualNumbers)?;
        let mut prg = Prg::new(&Seed::random()?);
        let number = |bin: usize| if table[bin] == cuckoo::EMPTY { None } else { Some(numbers[table[bin] as usize]) };
        let keys = cuckoo::in_own_bins(numbers, &table, &mut prg);

        let functions = functions(self.sizes.sender, self.sizes.receiver);
        let masks = in_bins.evaluate(session, &keys, functions.in_bins)?;
        session.next_round();
        let mut seed = [0; 16];
        session.recv(receiver, &mut seed)?;
        let store = Okvs::<BAND>::with_layout(store_layout(self.sizes.receiver), &Seed::from_bytes(seed));
        let mut columns = vec![0u64; store.layout().columns()];
        session.recv(receiver, bytemuck::cast_slice_mut(&mut columns))?;
        let mut t = store.decode(&keys, &store.order(&keys), &columns);
        t.iter_mut().zip(masks).for_each(|(t, mask)| *t ^= mask as u64);

        // Step 2: π and u.
        let order = permutation::random(m, &mut prg);
        let u = permuter.share(session, receiver, &order)?;
        // Step 3: (i, t(π(i)) - u).
        let rest = |(place, u): (usize, &u64)| at_place(place, t[order[place] as usize].wrapping_sub(*u));
        let mut points: Vec<Item> = u.iter().enumerate().map(rest).collect();
        // Items of the next function: their places in its store follow from them (docs/security/constant-time.md).
        tacit_marks::public(&mut points);
        let bits = tag_bits(m as u128);
        let values = at_places.evaluate(session, &points, functions.at_places)?;
        let tags: Vec<u128> = values.into_iter().map(|value| value >> (128 - bits)).collect();
        session.next_round();
        send_tags(session, receiver, &tags, bits)?;

        // Step 4.
        let mut ots = ots.extend(session, m)?;
        ots.adjust(session, receiver)?;
        let offered = ots.random().into_iter().zip(&order);
        let masked: Vec<u128> = offered.map(|(keys, &bin)| keys[0] ^ number(bin as usize).unwrap_or(NOTHING)).collect();
        session.next_round();
        for piece in masked.chunks(1 << 16) {
            session.send(receiver, bytemuck::cast_slice(piece).to_vec())?;
        }
        Ok(())
    }
}

impl Receiver {
    /// As [`Sender::setup`].
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, sender: PartyId, sizes: Sizes) -> Result<Self, PsiError> {
        let mut parts = None;
        if sizes.sender > 0 && sizes.receiver > 0 {
            parts = Some(ReceiverParts {
                in_bins: oprf::Sender::setup(session, sender)?,
                owner: Owner::setup(session, sender)?,
                at_places: oprf::Receiver::setup(session, sender)?,
                ots: softspoken::Receiver::setup(session, sender, Adversary::SemiHonest, K)?,
            });
        }
        Ok(Self { sender, sizes, parts })
    }

    /// The receiver's part: the numbers of the sender that are not among its own, in no order that tells anything.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn receive(&mut self, session: &mut Session, numbers: &[u128]) -> Result<Vec<u128>, PsiError> {
        let sender = self.sender;
        check_count(numbers, self.sizes.receiver)?;
        let Some(ReceiverParts { in_bins, owner, at_places, ots }) = &mut self.parts else {
            session.next_round();
            let mut all = vec![0; self.sizes.sender];
            session.recv(sender, bytemuck::cast_slice_mut(&mut all))?;
            return Ok(all);
        };
        let m = cuckoo::bins(self.sizes.sender, 1);
        let mut prg = Prg::new(&Seed::random()?);
        // Step 1: s of each bin, stored under this party's numbers in all of their bins.
        let secrets: Vec<u64> = prg.vector(m);
        let (keys, bins) = cuckoo::in_all_bins(numbers, m);

        let functions = functions(self.sizes.sender, self.sizes.receiver);
        let masks = in_bins.evaluate(session, &keys, functions.in_bins)?;
        let seed = Seed::random()?.published();
        let store = Okvs::<BAND>::with_layout(store_layout(self.sizes.receiver), &seed);
        let values = |chosen: &[u32], out: &mut [u64]| {
            for (out, &i) in out.iter_mut().zip(chosen) {
                *out = secrets[bins[i as usize] as usize] ^ masks[i as usize] as u64;
            }
        };
        let columns =
            store.encode(&keys, &store.order(&keys), &mut prg, values).map_err(|_| WrongInput::EqualNumbers)?;
        session.next_round();
        session.send(sender, seed.expose().to_vec())?;
        for piece in columns.chunks(1 << 17) {
            session.send(sender, bytemuck::cast_slice(piece).to_vec())?;
        }

        // Step 2: v. Step 3: (i, v).
        let v = owner.share(session, sender, &secrets)?;
        let mut points: Vec<Item> = v.iter().enumerate().map(|(place, v)| at_place(place, *v)).collect();
        // As at the sender.
        tacit_marks::public(&mut points);
        let bits = tag_bits(m as u128);
        let mine = at_places.evaluate(session, &points, functions.at_places)?;
        session.next_round();
        let tags = receive_tags(session, sender, m, bits)?;
        let common: Vec<bool> = mine.iter().zip(&tags).map(|(value, tag)| value >> (128 - bits) == *tag).collect();

        // Step 4.
        let mut ots = ots.extend(session, m)?;
        let mut choices = vec![0u64; m.div_ceil(64)];
        common.iter().enumerate().for_each(|(place, &both)| choices[place / 64] |= u64::from(both) << (place % 64));
        ots.choose(session, sender, &choices)?;
        session.next_round();
        let mut masked = vec![0u128; m];
        session.recv(sender, bytemuck::cast_slice_mut(&mut masked))?;
        let opened = ots.random().into_iter().zip(masked).map(|(key, masked)| key ^ masked);
        // The receiver learns for each place whether it has the number that is there, and if not the number, or that
        // there is none.
        let new = opened.zip(common).filter(|(_, both)| !tacit_marks::published(*both));
        Ok(new.map(|(number, _)| tacit_marks::published(number)).filter(|number| *number != NOTHING).collect())
    }
}

fn check_count(numbers: &[u128], announced: usize) -> Result<(), PsiError> {
    match numbers.len() == announced {
        true => Ok(()),
        false => Err(WrongInput::UnionNumbers { given: numbers.len(), announced }.into()),
    }
}

/// The sender's part of one union, setup included.
///
/// # Errors
/// As [`Sender::send`].
pub fn send(session: &mut Session, receiver: PartyId, numbers: &[u128], theirs: usize) -> Result<(), PsiError> {
    let sizes = Sizes { sender: numbers.len(), receiver: theirs };
    Sender::setup(session, receiver, sizes)?.send(session, numbers)
}

/// The receiver's part of one union, setup included: [`Receiver::receive`].
///
/// # Errors
/// As [`Sender::send`].
pub fn receive(session: &mut Session, sender: PartyId, numbers: &[u128], theirs: usize) -> Result<Vec<u128>, PsiError> {
    let sizes = Sizes { sender: theirs, receiver: numbers.len() };
    Receiver::setup(session, sender, sizes)?.receive(session, numbers)
}
