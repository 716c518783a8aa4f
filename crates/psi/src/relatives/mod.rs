//! Protocols whose outcome is no intersection, behind the traits of intersections: [`Protocol`] over what each gives,
//! and so also [`crate::Rounds`], by [`crate::Relayed`].
//!
//! | protocol | outcome | items |
//! |---|---|---|
//! | [`Cardinality`] | [`Aggregates`] | distinct |
//! | [`PrivateId`] | [`Identified`] | distinct |
//! | [`MultiKeyPrivateId`] | [`Identified`], contaminated rows | one or more identifiers for each row |
//! | [`Ps3i`] | [`SharedPairs`] | one or more identifiers for each row |
//!
//! An object is one party's where the protocol takes more than items: it holds the values that go with them. None of
//! them has a setup of its own: what a protocol sets up depends on the data's sizes and is done anew for each pair of
//! sets.
//!
//! **Bins.** None of them runs bin by bin. Each discloses a number about the two sets (how many items both have). The
//! numbers of all bins tell more than their sum, since both parties know which items a bin can hold.

pub mod blind_join;
pub mod cardinality_sum;
pub mod multi_key;
pub mod private_id;
pub mod private_id_oprf;
pub mod ps3i;
pub mod set_union;

use crate::error::PsiError;
use crate::interface::protocol::{Declared, Held, Item, Prepared, Protocol, Sizes};
use crate::interface::role::Role;
use crate::wrong_input::WrongInput;
use blind_join::{Rule, Shape};
use cardinality_sum::{Aggregates, Sums};
use private_id::Identified;
use ps3i::{SharedPairs, Table};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::Adversary;

/// A relative of intersection as one function on a pair of sets, from which the traits follow.
pub trait Relative: Clone + Send + Sync + 'static {
    /// What a party has in the end.
    type Outcome;

    /// Its name in plans and reports.
    fn title(&self) -> &'static str;

    /// Tells what it holds, values and all.
    fn holds(&self, held: &mut Held);

    /// What it costs, or the most that it can cost; rounds are exact.
    fn cost(&self, sizes: Sizes) -> Traffic;

    /// Runs it.
    ///
    /// # Errors
    /// The connection's failure, a peer that deviates, or items and values that do not fit the announced sizes.
    fn run(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        sizes: Sizes,
    ) -> Result<Self::Outcome, PsiError>;
}

/// How many items both have, and sums over them: [`cardinality_sum`].
#[derive(Clone, Default)]
pub struct Cardinality {
    /// Sums that are asked for, if any.
    pub sums: Option<Sums>,
    /// The values of the sender's items, column by column; none at the receiver.
    pub values: Vec<Vec<u64>>,
}

/// Universal ids for the items of both: [`private_id`] and [`private_id_oprf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateId {
    /// By Diffie-Hellman: least traffic.
    Ddh,
    /// By an oblivious pseudorandom function: least time.
    Oprf,
}

/// Universal ids for rows of several identifiers: [`multi_key`]. The outcome also has the contaminated rows of both
/// parties.
#[derive(Clone, Copy, Debug)]
pub struct MultiKeyPrivateId {
    /// Identifiers a row at each party.
    pub columns: Sizes,
}

/// Shares of the payloads of rows that belong together: [`ps3i`].
#[derive(Clone)]
pub struct Ps3i {
    /// Identifiers a row at each party.
    pub columns: Sizes,
    /// Columns of payload of each party.
    pub payload_columns: Sizes,
    /// This party's payload, column by column.
    pub payload: Vec<Vec<u64>>,
    /// Which rows belong together.
    pub rule: Rule,
}

impl Relative for Cardinality {
    type Outcome = Aggregates;

    fn title(&self) -> &'static str {
        "dh-cardinality"
    }

    fn holds(&self, held: &mut Held) {
        held.number(usize::from(self.sums.is_some()));
        if let Some(Sums { columns, to, least }) = self.sums {
            held.number(columns);
            held.number(usize::from(to == Role::Receiver));
            held.number(least);
        }
        held.columns(&self.values);
    }

    fn cost(&self, sizes: Sizes) -> Traffic {
        cardinality_sum::cost(sizes, self.sums)
    }

    fn run(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        sizes: Sizes,
    ) -> Result<Aggregates, PsiError> {
        match role {
            Role::Sender => cardinality_sum::send(session, peer, items, &self.values, sizes, self.sums),
            Role::Receiver => cardinality_sum::receive(session, peer, items, sizes, self.sums),
        }
    }
}

impl PrivateId {
    /// What it costs with a union of `union` items; the cost grows with it.
    pub fn cost_of(self, sizes: Sizes, union: usize) -> Traffic {
        match self {
            Self::Ddh => private_id::cost(sizes.sender, sizes.receiver, union),
            Self::Oprf => private_id_oprf::cost(sizes.sender, sizes.receiver, union),
        }
    }
}

impl Relative for PrivateId {
    type Outcome = Identified;

    fn title(&self) -> &'static str {
        match self {
            Self::Ddh => "private-id-ddh",
            Self::Oprf => "private-id-oprf",
        }
    }

    /// Nothing but which it is, as its name says.
    fn holds(&self, _: &mut Held) {}

    fn cost(&self, sizes: Sizes) -> Traffic {
        self.cost_of(sizes, sizes.sender + sizes.receiver)
    }

    fn run(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        sizes: Sizes,
    ) -> Result<Identified, PsiError> {
        let (mine, theirs) = match role {
            Role::Sender => (sizes.sender, sizes.receiver),
            Role::Receiver => (sizes.receiver, sizes.sender),
        };
        if items.len() != mine {
            return Err(WrongInput::Items { given: items.len(), announced: mine }.into());
        }
        match self {
            Self::Ddh => private_id::run(session, peer, items, theirs),
            Self::Oprf => private_id_oprf::run(session, peer, role, items, theirs),
        }
    }
}

impl Relative for MultiKeyPrivateId {
    type Outcome = (Identified, (usize, usize));

    fn title(&self) -> &'static str {
        "multi-key-private-id"
    }

    fn holds(&self, held: &mut Held) {
        held.sizes(self.columns);
    }

    fn cost(&self, rows: Sizes) -> Traffic {
        multi_key::cost(Shape { rows, columns: self.columns }, rows.sender + rows.receiver)
    }

    fn run(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        rows: Sizes,
    ) -> Result<Self::Outcome, PsiError> {
        multi_key::run(session, peer, role, &identifiers(items), Shape { rows, columns: self.columns })
    }
}

impl Relative for Ps3i {
    type Outcome = SharedPairs;

    fn title(&self) -> &'static str {
        "ps3i"
    }

    fn holds(&self, held: &mut Held) {
        held.sizes(self.columns);
        held.sizes(self.payload_columns);
        held.columns(&self.payload);
        match self.rule {
            Rule::Single => held.number(0),
            Rule::Collect { drop_sender, drop_receiver, most } => {
                held.number(1);
                held.sizes(Sizes { sender: usize::from(drop_sender), receiver: usize::from(drop_receiver) });
                held.number(most as usize);
            }
        }
    }

    fn cost(&self, rows: Sizes) -> Traffic {
        ps3i::cost(Shape { rows, columns: self.columns }, self.payload_columns)
    }

    fn run(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        rows: Sizes,
    ) -> Result<SharedPairs, PsiError> {
        let table = Table { identifiers: &identifiers(items), payload: &self.payload };
        let shape = Shape { rows, columns: self.columns };
        ps3i::run(session, peer, role, table, shape, self.payload_columns, self.rule)
    }
}

/// Every row has all its identifiers here: what stands for a missing one is a random item.
fn identifiers(items: &[Item]) -> Vec<Option<Item>> {
    items.iter().copied().map(Some).collect()
}

impl<R: Relative> Protocol<R::Outcome> for R {
    fn name(&self) -> &'static str {
        self.title()
    }

    fn adversary(&self) -> Adversary {
        Adversary::SemiHonest
    }

    fn held(&self, held: &mut Held) {
        self.holds(held);
    }

    fn declared(&self, sizes: Sizes) -> Declared {
        Declared { setup: Traffic::default(), online: self.cost(sizes) }
    }

    fn setup(&self, role: Role, _: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared<R::Outcome>>, PsiError> {
        Ok(Box::new(Ready { relative: self.clone(), role, peer }))
    }
}

/// A party that runs a relative, on any number of pairs of sets.
struct Ready<R> {
    relative: R,
    role: Role,
    peer: PartyId,
}

impl<R: Relative> Prepared<R::Outcome> for Ready<R> {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<R::Outcome, PsiError> {
        self.relative.run(self.role, session, self.peer, items, sizes)
    }
}
