//! Rounds that somebody else carries: runs that stay, runs that are saved after every call and go on elsewhere, and
//! rounds over a session.

use super::*;
use crate::traits::{by_rounds, moving, same};
use std::sync::Arc;
use tacit_math::randomness;
use tacit_net::Traffic;
use tacit_ot::Adversary;
use tacit_psi::{Declared, Driven, Held, Prepared, Relayed, Rounds};

fn pair(name: &str) -> (Vec<Item>, Vec<Item>) {
    sets(&mut generator(name), ITEMS.0, ITEMS.1)
}

/// Of a run that stays where it is.
fn of_rounds<O: Send + 'static>(parties: &[Arc<dyn Protocol<O>>; 2]) -> Vec<(String, usize)> {
    let name = format!("rounds of {}", parties[0].name());
    let (sender, receiver) = pair(&name);
    found(&name, || by_rounds(parties, [&sender, &receiver], SIZES).map(drop).expect("honest parties"))
}

/// Of a run that moves after every call.
fn of_moves<O: Send + 'static>(parties: &[Arc<dyn Protocol<O>>; 2]) -> Vec<(String, usize)> {
    let name = format!("moves of {}", parties[0].name());
    let (sender, receiver) = pair(&name);
    found(&name, || drop(moving(parties, [&sender, &receiver], SIZES)))
}

/// The values are marked, and a state has a digest of them.
#[test]
fn rounds_that_others_carry() {
    let sums = |values| Cardinality { sums: Some(Sums { columns: 1, to: Role::Sender, least: 0 }), values };
    let summed: [Arc<dyn Protocol<_>>; 2] = [Arc::new(sums(vec![marked((0..12).collect())])), Arc::new(sums(vec![]))];
    let all = [
        of_rounds(&same(DhPsi { bins: 1 })),
        of_rounds(&same(VolePsi { variant: Variant::Malicious, bins: 1 })),
        of_moves(&same(DhPsi { bins: 1 })),
        of_moves(&summed),
    ];
    assert_eq!(all.concat(), []);
}

#[test]
fn rounds_over_a_session() {
    let protocol = DhPsi { bins: 1 };
    // Blobs have headers, too.
    let roomy = |traffic: Traffic| {
        let [sender, receiver] = [traffic.sender, traffic.receiver].map(|bytes| bytes + 1000);
        Traffic { sender, receiver, ..traffic }
    };
    let declared = move |sizes| {
        let Declared { setup, online } = protocol.declared(sizes);
        Declared { setup: roomy(setup), online: roomy(online) }
    };
    let party = move |role| Ok(Box::new(Relayed::new(Arc::new(protocol), role)?) as Box<dyn Rounds>);
    assert_eq!(of(&Driven::new("rounds over a session", protocol.adversary(), declared, party)), []);
}

/// Its outcome is a random byte, of which it sends nothing.
struct Drawn;

impl Protocol<u8> for Drawn {
    fn name(&self) -> &'static str {
        "drawn"
    }

    fn adversary(&self) -> Adversary {
        Adversary::SemiHonest
    }

    fn declared(&self, _: Sizes) -> Declared {
        Declared::default()
    }

    fn held(&self, _: &mut Held) {}

    fn setup(&self, _: Role, _: &mut Session, _: PartyId) -> Result<Box<dyn Prepared<u8>>, PsiError> {
        Ok(Box::new(Self))
    }
}

impl Prepared<u8> for Drawn {
    fn online(&mut self, _: &mut Session, _: &[Item], _: Sizes) -> Result<u8, PsiError> {
        let mut byte = [0];
        randomness::fill(&mut byte)?;
        Ok(byte[0])
    }
}

/// The seed in a saved state is marked, and so is what runs draw that have moved.
#[test]
fn planted_faults_of_rounds_are_found() {
    let parties = same(Drawn);
    let saved = found("planted on a saved seed", || {
        let run = Relayed::movable(Arc::clone(&parties[0]), Role::Sender).expect("a thread");
        let state = Box::new(run).save().expect("a run that moves");
        // Before it are what the bytes are, the protocol's name with its length, the role, and a digest.
        branch(state[16 + 1 + Drawn.name().len() + 1 + 32].into());
    });
    assert_eq!(saved, [("planted on a saved seed".to_owned(), 1)]);
    let (sender, receiver) = pair("moved");
    let moved = found("planted on what moved runs draw", || {
        let outcomes = moving(&parties, [&sender, &receiver], SIZES);
        outcomes.as_flattened().iter().for_each(|&drawn| branch(drawn.into()));
    });
    // Of the parties of a run that stayed, and of one that moved.
    assert_eq!(moved, [("planted on what moved runs draw".to_owned(), 2 * 2)]);
}
