//! The ideal twin: the same functionality computed in clear, without any security.

use std::collections::HashMap;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::Adversary;
use tacit_psi::{Declared, Held, Item, Match, Outcome, Prepared, Protocol, PsiError, Role, Sizes};

/// What every protocol's outcome is compared with: indices (receiver's, sender's) of equal items, by the receiver's.
pub fn intersection(sender: &[Item], receiver: &[Item]) -> Vec<(u32, u32)> {
    let places: HashMap<Item, u32> = sender.iter().zip(0..).map(|(&item, place)| (item, place)).collect();
    let found = receiver.iter().zip(0..).filter_map(|(item, mine)| Some((mine, *places.get(item)?)));
    found.collect()
}

/// The sender sends its shuffled items.
pub struct Clear;

struct ClearPair(Role, PartyId);

impl Protocol for Clear {
    fn name(&self) -> &'static str {
        "clear"
    }

    fn adversary(&self) -> Adversary {
        Adversary::SemiHonest
    }

    fn held(&self, _: &mut Held) {}

    fn declared(&self, sizes: Sizes) -> Declared {
        let online = Traffic { rounds: 1, sender: 16 * sizes.sender as u64, receiver: 0 };
        Declared { setup: Traffic::default(), online }
    }

    fn setup(&self, role: Role, _: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared>, PsiError> {
        Ok(Box::new(ClearPair(role, peer)))
    }
}

impl Prepared for ClearPair {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<Outcome, PsiError> {
        session.next_round();
        if self.0 == Role::Sender {
            let order = permutation::random(items.len(), &mut Prg::new(&Seed::from_bytes([7; 16])));
            let bytes = permutation::gather(items, &order).iter().flat_map(|item| item.to_le_bytes()).collect();
            session.send(self.1, bytes)?;
            return Ok(Outcome::Sender { order });
        }
        let mut bytes = vec![0; 16 * sizes.sender];
        session.recv(self.1, &mut bytes)?;
        let theirs: Vec<Item> = bytes.as_chunks().0.iter().map(|chunk| Item::from_le_bytes(*chunk)).collect();
        let matches = intersection(&theirs, items).into_iter().map(|(mine, theirs)| Match { mine, theirs });
        Ok(Outcome::Receiver(matches.collect()))
    }
}
