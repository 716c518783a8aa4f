//! The oblivious pseudorandom function inside of VOLE-PSI, for protocols above it.
//!
//! **Computes** for the receiver the values of a random function at its items, for the sender those at its own items; equal items
//! have equal values of 128 bits, and the receiver cannot tell the function from a random one anywhere else.
//! **Adversary** semi-honest. **Discloses** both sizes. **Cost** [`cost`] is exact; base OTs are included.
//! **Source** as [`super`], steps 1 to 5 of the figure.

use super::{EXTENSION, FAST, Parameters, Receiver, Sender, Variant, VolePsi, check_count};
use crate::error::PsiError;
use crate::protocol::{Item, Protocol, Sizes, Traffic};
use tacit_math::gf::{Gf64, Gf128};
use tacit_net::{PartyId, Session};
use tacit_ot::{Adversary, softspoken};

/// One pair of sets.
const PSI: VolePsi = VolePsi { variant: Variant::Fast, bins: 1 };

/// What both sides' calls cost; nothing if either set is empty.
pub fn cost(sizes: Sizes) -> Traffic {
    let parameters = Parameters::new(PSI, sizes);
    if parameters.empty() {
        return Traffic::default();
    }
    let all = PSI.declared(sizes);
    Traffic {
        rounds: all.setup.rounds + all.online.rounds - 1,
        sender: all.setup.sender + all.online.sender - parameters.tags_bytes() as u64,
        receiver: all.setup.receiver + all.online.receiver,
    }
}

/// The sender's part: the values at its items, by their numbers; none if either set is empty.
///
/// # Errors
/// The connection's failure, a peer that deviates, or another number of items than announced.
pub fn send(session: &mut Session, receiver: PartyId, items: &[Item], sizes: Sizes) -> Result<Vec<u128>, PsiError> {
    check_count(items, sizes.sender)?;
    let parameters = Parameters::new(PSI, sizes);
    if parameters.empty() {
        return Ok(Vec::new());
    }
    let ots = softspoken::Sender::setup(session, receiver, Adversary::SemiHonest, EXTENSION)?;
    let sender = Sender::new(PSI, receiver, ots);
    match parameters.small_field() {
        true => sender.values::<Gf64, FAST>(session, items, parameters),
        false => sender.values::<Gf128, FAST>(session, items, parameters),
    }
}

/// The receiver's part: the values at its items, by their numbers; none if either set is empty.
///
/// # Errors
/// As [`send`].
pub fn receive(session: &mut Session, sender: PartyId, items: &[Item], sizes: Sizes) -> Result<Vec<u128>, PsiError> {
    check_count(items, sizes.receiver)?;
    let parameters = Parameters::new(PSI, sizes);
    if parameters.empty() {
        return Ok(Vec::new());
    }
    let ots = softspoken::Receiver::setup(session, sender, Adversary::SemiHonest, EXTENSION)?;
    let mut receiver = Receiver { psi: PSI, peer: sender, ots, proofs: Vec::new() };
    match parameters.small_field() {
        true => receiver.values::<Gf64, FAST>(session, items, parameters),
        false => receiver.values::<Gf128, FAST>(session, items, parameters),
    }
}
