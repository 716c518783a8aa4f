//! Intersection by Diffie-Hellman: the least traffic, for tiny or very unequal sets and slow networks.
//!
//! **Computes** the intersection for the receiver. **Adversary** semi-honest. **Discloses** the sizes of both sets to
//! both, and to the receiver which of its items the sender has, and where in a fresh random order of the sender's.
//!
//! **Source** Meadows, "A More Efficient Cryptographic Matchmaking Protocol" (IEEE S&P 1986), and Huberman, Franklin,
//! Hogg, "Enhancing Privacy and Trust in Electronic Communities" (EC 1999), here [`Form::Crossed`]. Jarecki and Liu,
//! "Fast Secure Computation of Set Intersection" (SCN 2010), Figure 2, here [`Form::Blinded`]. Secure in the random
//! oracle model under the decisional and the one-more gap Diffie-Hellman assumption in ristretto255.
//!
//! With items x of the receiver, y of the sender, exponents a and b fresh for every run, H a random oracle into the
//! group:
//!
//! | | `Crossed`, for a receiver as large as the sender or larger | `Blinded`, for a smaller receiver |
//! |---|---|---|
//! | round 1, receiver | H(x)^a in its order | H(x)^a in its order |
//! | round 1, sender | H(y)^b in a random order | tags of (y, H(y)^b), sorted |
//! | round 2, sender | tags of H(x)^ab | H(x)^ab in the receiver's order |
//! | the receiver compares with | tags of H(y)^ba | tags of (x, H(x)^b) |
//! | multiplications: sender, receiver | n + m, m + n | n + m, 2 m |
//!
//! **Cost** 2 rounds; setup 1 round, 16 bytes each. For n items of the sender, m of the receiver, tags of b = 42 +
//! log2(n m bins) bits. The receiver sends 32 m, the sender 32 n + ceil(b / 8) m (`Crossed`), or n (b - log2 n + 2)
//! bits + 32 m (`Blinded`).
//!
//! **Departures** Tags, not points, are sent for comparison: a wrong match has probability 2^-42 at most in all bins of
//! a run. Sorted tags cost log2 n bits less each; their order is as random as the exponent b.

use crate::error::PsiError;
use crate::interface::protocol::{Declared, Held, Item, Match, Outcome, Prepared, Protocol, Sizes};
use crate::interface::role::Role;
use crate::parts::group::{ENCODING_BYTES, Exponent, HashToGroup};
use crate::parts::masking::{
    AGREE_BYTES, agree, receive_raised, receive_tags, send_masked, send_points, send_tags, tag_bytes,
};
use crate::parts::tag_lookup::Table;
use crate::parts::tags::{SortedTags, TagHash, sorted_places, tag_bits};
use crate::wrong_input::WrongInput;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::Adversary;

/// Its name in plans, reports and random oracles.
const NAME: &str = "dh";

/// The Diffie-Hellman protocol.
#[derive(Clone, Copy, Debug)]
pub struct DhPsi {
    /// How many pairs of sets a run has.
    pub bins: usize,
}

/// Which of the two ways sends less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Crossed,
    Blinded,
}

impl Form {
    fn of(sizes: Sizes) -> Self {
        if sizes.receiver < sizes.sender { Self::Blinded } else { Self::Crossed }
    }
}

impl DhPsi {
    /// Bits of a tag for such sets.
    pub fn tag_bits(self, sizes: Sizes) -> u32 {
        tag_bits(sizes.pairs(self.bins))
    }
}

impl Protocol for DhPsi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn adversary(&self) -> Adversary {
        Adversary::SemiHonest
    }

    fn held(&self, held: &mut Held) {
        held.number(self.bins);
    }

    fn declared(&self, sizes: Sizes) -> Declared {
        let Sizes { sender: n, receiver: m } = sizes;
        let bits = self.tag_bits(sizes);
        let sender = match Form::of(sizes) {
            Form::Crossed => ENCODING_BYTES * n + tag_bytes(bits) * m,
            Form::Blinded => SortedTags::bytes(n, bits) + ENCODING_BYTES * m,
        };
        let online = Traffic { rounds: 2, sender: sender as u64, receiver: (ENCODING_BYTES * m) as u64 };
        let setup = Traffic { rounds: 1, sender: AGREE_BYTES, receiver: AGREE_BYTES };
        Declared { setup, online }
    }

    fn setup(&self, role: Role, session: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared>, PsiError> {
        let context = agree(session, peer, NAME)?;
        Ok(Box::new(Pair { role, peer, psi: *self, context, runs: 0 }))
    }
}

/// A pair of parties with its context.
struct Pair {
    role: Role,
    peer: PartyId,
    psi: DhPsi,
    context: [u8; 32],
    runs: u64,
}

impl Prepared for Pair {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<Outcome, PsiError> {
        let expected = if self.role == Role::Sender { sizes.sender } else { sizes.receiver };
        if items.len() != expected {
            return Err(WrongInput::Items { given: items.len(), announced: expected }.into());
        }
        self.runs += 1;
        let context = [&self.context[..], &self.runs.to_le_bytes()].concat();
        let bits = self.psi.tag_bits(sizes);
        let run = Run {
            peer: self.peer,
            sizes,
            bits,
            exponent: Exponent::random()?,
            hash: HashToGroup::new(&context),
            tags: TagHash::new(&context, bits),
        };
        session.enter(NAME);
        let outcome = match (self.role, Form::of(sizes)) {
            (Role::Sender, Form::Crossed) => run.send_crossed(session, items),
            (Role::Receiver, Form::Crossed) => run.receive_crossed(session, items),
            (Role::Sender, Form::Blinded) => run.send_blinded(session, items),
            (Role::Receiver, Form::Blinded) => run.receive_blinded(session, items),
        };
        session.leave();
        outcome
    }
}

/// What a party holds in one run.
struct Run {
    peer: PartyId,
    sizes: Sizes,
    /// Bits of a tag.
    bits: u32,
    exponent: Exponent,
    hash: HashToGroup,
    tags: TagHash,
}

impl Run {
    fn send_crossed(&self, session: &mut Session, items: &[Item]) -> Result<Outcome, PsiError> {
        let order = permutation::random(items.len(), &mut Prg::new(&Seed::random()?));
        session.next_round();
        // Round 1: H(y)^b, and tags of H(x)^ab.
        send_masked(session, self.peer, &self.exponent, &self.hash, &permutation::gather(items, &order))?;
        let tags = self.tags_of_raised(session, self.sizes.receiver)?;
        session.next_round();
        // Round 2.
        send_tags(session, self.peer, &tags, self.bits)?;
        Ok(Outcome::Sender { order })
    }

    fn receive_crossed(&self, session: &mut Session, items: &[Item]) -> Result<Outcome, PsiError> {
        session.next_round();
        // Round 1: H(x)^a, and tags of H(y)^ba.
        send_masked(session, self.peer, &self.exponent, &self.hash, items)?;
        let theirs = self.tags_of_raised(session, self.sizes.sender)?;
        session.next_round();
        // Round 2: tags of H(x)^ab.
        let mine = receive_tags(session, self.peer, items.len(), self.bits)?;
        let mut matches = Vec::new();
        Table::new(&theirs, self.bits).look_up(&mine, 0, &mut matches);
        Ok(Outcome::Receiver(matches.into_iter().map(|m| Match { mine: m.theirs, theirs: m.mine }).collect()))
    }

    /// Tags of the peer's masked items, masked again, in the order in which they came.
    fn tags_of_raised(&self, session: &mut Session, count: usize) -> Result<Vec<u128>, PsiError> {
        let mut tags = Vec::with_capacity(count);
        receive_raised(session, self.peer, &self.exponent, count, |points| {
            tags.extend(points.iter().map(|point| self.tags.of_point(point)));
        })?;
        Ok(tags)
    }

    fn send_blinded(&self, session: &mut Session, items: &[Item]) -> Result<Outcome, PsiError> {
        session.next_round();
        // Round 1: tags of (y, H(y)^b), sorted.
        let masked = self.exponent.mask(&self.hash, items);
        let tags: Vec<u128> = items.iter().zip(&masked).map(|(&item, point)| self.tags.of_item(item, point)).collect();
        let (sorted, order): (Vec<u128>, Vec<u32>) = sorted_places(&tags).into_iter().unzip();
        session.send(self.peer, SortedTags::write(&sorted, self.bits))?;
        // Round 2: H(x)^ab.
        let mut answers = Vec::with_capacity(self.sizes.receiver);
        let asked = self.sizes.receiver;
        receive_raised(session, self.peer, &self.exponent, asked, |points| answers.extend_from_slice(points))?;
        session.next_round();
        send_points(session, self.peer, &answers)?;
        Ok(Outcome::Sender { order })
    }

    fn receive_blinded(&self, session: &mut Session, items: &[Item]) -> Result<Outcome, PsiError> {
        session.next_round();
        // Round 1: H(x)^a.
        send_masked(session, self.peer, &self.exponent, &self.hash, items)?;
        let mut written = vec![0; SortedTags::bytes(self.sizes.sender, self.bits)];
        session.recv(self.peer, &mut written)?;
        let Some(theirs) = SortedTags::read(&written, self.sizes.sender, self.bits) else {
            return Err(PsiError::cheating(session, self.peer, "its tags are not a sorted set"));
        };
        session.next_round();
        // Round 2: H(x)^ab, and tags of (x, H(x)^b).
        let mut mine = Vec::with_capacity(items.len());
        receive_raised(session, self.peer, &self.exponent.inverse(), items.len(), |points| {
            let items = &items[mine.len()..];
            mine.extend(items.iter().zip(points).map(|(&item, point)| self.tags.of_item(item, point)));
        })?;
        let mut matches = Vec::new();
        Table::new(&mine, self.bits).look_up(&theirs.iter().collect::<Vec<_>>(), 0, &mut matches);
        Ok(Outcome::Receiver(matches))
    }
}
