//! The oblivious pseudorandom function inside of VOLE-PSI, for protocols above it.
//!
//! **Computes** for the receiver the values of a random function at its items, for the sender those at its own items.
//! Equal items have equal values of 128 bits, and the receiver cannot tell the function from a random one anywhere
//! else. **Adversary** semi-honest. **Discloses** both sizes. **Cost** [`Function::cost`] is exact; base OTs are
//! included. **Bounds** for all [`Function`]s of a run together ([`crate::chance`]): an item that is not in a
//! function's store has the value of one that is; a store cannot be encoded. **Source** as [`super`], steps 1 to 5 of
//! the figure.

use super::{EXTENSION, FAST, Parameters, Strength, Variant, VolePsi, check_count, receiver, sender};
use crate::error::PsiError;
use crate::interface::protocol::{Declared, Item, Sizes};
use tacit_math::gf::{Gf64, Gf128};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::{Adversary, softspoken};

/// One of the functions of a run: public numbers, from which both parties derive its sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// At how many items the sender and the receiver evaluate it.
    pub sizes: Sizes,
    /// How many functions the run has: their stores' bound holds for all of them.
    pub of: usize,
    /// Words of 64 bits that the run compares if all of its functions are over GF(2^64), the sender's items of each
    /// among them.
    pub words: usize,
}

impl Function {
    /// A run's only function, in a run that compares no other words of 64 bits.
    pub fn only(sizes: Sizes) -> Self {
        Self { sizes, of: 1, words: sizes.sender }
    }

    /// What both sides' calls cost; nothing if either set is empty.
    pub fn cost(self) -> Traffic {
        let parameters = self.parameters();
        if parameters.empty() {
            return Traffic::default();
        }
        let Declared { setup, online } = parameters.declared();
        let all = setup + online;
        Traffic { rounds: all.rounds - 1, sender: all.sender - parameters.tags_bytes() as u64, ..all }
    }

    /// What its bounds follow from. It has no tags.
    pub fn strength(self) -> Strength {
        self.parameters().strength()
    }

    fn psi(self) -> VolePsi {
        VolePsi { variant: Variant::Fast, bins: self.of }
    }

    fn parameters(self) -> Parameters {
        Parameters { words: self.words, ..Parameters::new(self.psi(), self.sizes) }
    }
}

/// The protocol that a setup names. A function has its own number of bins, whatever is said here.
const SETUP: VolePsi = VolePsi { variant: Variant::Fast, bins: 1 };

/// A sender that is set up, for one function after the other: they share delta, as if their correlations were one long
/// VOLE. Its first error is its last.
pub struct Sender(sender::Sender);

/// A receiver that is set up, for one function after the other.
pub struct Receiver(receiver::Receiver);

impl Sender {
    /// Base OTs, in the direction of the correlations.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, receiver: PartyId) -> Result<Self, PsiError> {
        let ots = softspoken::Sender::setup(session, receiver, Adversary::SemiHonest, EXTENSION)?;
        Ok(Self(sender::Sender::new(SETUP, receiver, ots)))
    }

    /// The values at its items, by their numbers; none if either set is empty.
    ///
    /// # Errors
    /// The connection's failure, a peer that deviates, or another number of items than announced.
    pub fn evaluate(
        &mut self,
        session: &mut Session,
        items: &[Item],
        function: Function,
    ) -> Result<Vec<u128>, PsiError> {
        check_count(items, function.sizes.sender)?;
        let parameters = function.parameters();
        match parameters.small_field() {
            _ if parameters.empty() => Ok(Vec::new()),
            true => self.0.values::<Gf64, FAST>(session, items, parameters),
            false => self.0.values::<Gf128, FAST>(session, items, parameters),
        }
    }
}

impl Receiver {
    /// As [`Sender::setup`].
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, sender: PartyId) -> Result<Self, PsiError> {
        let ots = softspoken::Receiver::setup(session, sender, Adversary::SemiHonest, EXTENSION)?;
        Ok(Self(receiver::Receiver { psi: SETUP, peer: sender, ots, proofs: Vec::new() }))
    }

    /// The values at its items, by their numbers; none if either set is empty.
    ///
    /// # Errors
    /// As [`Sender::evaluate`].
    pub fn evaluate(
        &mut self,
        session: &mut Session,
        items: &[Item],
        function: Function,
    ) -> Result<Vec<u128>, PsiError> {
        check_count(items, function.sizes.receiver)?;
        let parameters = function.parameters();
        match parameters.small_field() {
            _ if parameters.empty() => Ok(Vec::new()),
            true => self.0.values::<Gf64, FAST>(session, items, parameters),
            false => self.0.values::<Gf128, FAST>(session, items, parameters),
        }
    }
}

/// The sender's part of a function with a setup of its own, for which nothing is exchanged if either set is empty:
/// [`Sender::evaluate`].
///
/// # Errors
/// As [`Sender::evaluate`].
pub fn send(
    session: &mut Session,
    receiver: PartyId,
    items: &[Item],
    function: Function,
) -> Result<Vec<u128>, PsiError> {
    check_count(items, function.sizes.sender)?;
    if function.parameters().empty() {
        return Ok(Vec::new());
    }
    Sender::setup(session, receiver)?.evaluate(session, items, function)
}

/// The receiver's part: [`Receiver::evaluate`].
///
/// # Errors
/// As [`Sender::evaluate`].
pub fn receive(
    session: &mut Session,
    sender: PartyId,
    items: &[Item],
    function: Function,
) -> Result<Vec<u128>, PsiError> {
    check_count(items, function.sizes.receiver)?;
    if function.parameters().empty() {
        return Ok(Vec::new());
    }
    Receiver::setup(session, sender)?.evaluate(session, items, function)
}
