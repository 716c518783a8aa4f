//! The functionality that every intersection protocol of this room provides, and in the same form those whose outcome
//! is another ([`crate::relatives`]). The traits are over what a party has in the end.

use crate::error::PsiError;
use crate::interface::role::Role;
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::Adversary;

/// A 128-bit keyed hash of a normalised identifier. The items of one set are distinct.
pub type Item = u128;

/// The public sizes of the two sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Items of the sender.
    pub sender: usize,
    /// Items of the receiver.
    pub receiver: usize,
}

impl Sizes {
    /// Pairs of an item of one set and one of the other, in a run of `bins` pairs of sets of these sizes.
    pub fn pairs(self, bins: usize) -> u128 {
        bins as u128 * self.sender as u128 * self.receiver as u128
    }
}

/// An item of the receiver that the sender has too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Match {
    /// Index of the receiver's item.
    pub mine: u32,
    /// Position in the sender's announced order, which is random.
    pub theirs: u32,
}

/// What a party has after a run.
#[derive(Debug)]
pub enum Outcome {
    /// The receiver's matches, by its own index.
    Receiver(Vec<Match>),
    /// The sender's order: `order[position]` is the index of its item. It tells the sender nothing about matches.
    Sender {
        /// A fresh random permutation of the sender's items.
        order: Vec<u32>,
    },
}

impl Outcome {
    /// Whether it is one for sets of these sizes: an order of all the sender's items, or matches of items and positions
    /// that there are, none of them twice. What a plug-in gives is not trusted to be.
    pub fn fits(&self, sizes: Sizes) -> bool {
        match self {
            Self::Sender { order } => order.len() == sizes.sender && distinct(order.iter().copied(), sizes.sender),
            Self::Receiver(matches) => {
                distinct(matches.iter().map(|found| found.mine), sizes.receiver)
                    && distinct(matches.iter().map(|found| found.theirs), sizes.sender)
            }
        }
    }
}

/// Whether numbers are below a bound and none comes twice.
fn distinct(numbers: impl Iterator<Item = u32>, bound: usize) -> bool {
    let mut seen = vec![false; bound];
    numbers.into_iter().all(|number| seen.get_mut(number as usize).is_some_and(|seen| !std::mem::replace(seen, true)))
}

/// The declared cost of a protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Declared {
    /// Once for a pair of parties.
    pub setup: Traffic,
    /// For each pair of sets.
    pub online: Traffic,
}

/// What an object holds besides the sets that it is given, as a digest: parameters, values, payload, rules. Whatever is
/// held is told in one order, numbers and vectors with their lengths, so that two objects with one digest hold the
/// same.
pub struct Held(blake3::Hasher);

impl Held {
    /// The digest of what a protocol holds.
    pub fn digest<O>(protocol: &dyn Protocol<O>) -> [u8; 32] {
        let mut held = Self(blake3::Hasher::new_derive_key("tacit 2026 psi: what a protocol holds"));
        protocol.held(&mut held);
        *held.0.finalize().as_bytes()
    }

    /// A number, a choice or a size.
    pub fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    /// Two sizes.
    pub fn sizes(&mut self, sizes: Sizes) {
        self.number(sizes.sender);
        self.number(sizes.receiver);
    }

    /// Columns of values, perhaps secret ones: the digest is kept as they are.
    pub fn columns(&mut self, columns: &[Vec<u64>]) {
        self.number(columns.len());
        for column in columns {
            self.number(column.len());
            for value in column {
                self.0.update(&value.to_le_bytes());
            }
        }
    }
}

/// A protocol of two sets. Its parameters are derived from the public sizes alone, and from the number of bins of a run
/// that has bins. Statistical bounds hold for all pairs of sets of a run together. `O` is what a party has in the end;
/// of an intersection it is an [`Outcome`].
pub trait Protocol<O = Outcome>: Send + Sync {
    /// Its name in plans and reports.
    fn name(&self) -> &'static str;

    /// The adversary it withstands.
    fn adversary(&self) -> Adversary;

    /// Its exact cost, or the most it can be where that depends on what is disclosed; rounds are exact.
    fn declared(&self, sizes: Sizes) -> Declared;

    /// Tells what it holds: a run that moves goes on with an object that holds the same.
    fn held(&self, held: &mut Held);

    /// Whether a receiver can prove which of the sender's items it has ([`Prepared::proofs`]).
    fn proves(&self) -> bool {
        false
    }

    /// What a pair of parties does once.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    fn setup(&self, role: Role, session: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared<O>>, PsiError>;
}

/// A pair of parties that has done its setup.
pub trait Prepared<O = Outcome>: Send {
    /// Runs on one pair of sets with fresh randomness.
    ///
    /// # Errors
    /// The connection's failure, a peer that deviates, or items that do not fit the announced sizes. After an error of
    /// an exchange a new setup is needed.
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<O, PsiError>;

    /// The proofs of the last pair of sets, by the position of this party's item. A peer that gave the same item to the
    /// protocol knows the item's proof; to any other peer it is 64 random bits. Taken once; empty if either set was.
    /// None of a protocol that does not prove matches ([`Protocol::proves`]).
    fn proofs(&mut self) -> Option<Vec<u64>> {
        None
    }
}
