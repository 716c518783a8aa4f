//! What one party does in each of the measured works, and whether its outcome is right.

use crate::message::Run;
use crate::party::report;
use crate::psi::{barrier, items};
use crate::{Result, machine};
use serde::{Deserialize, Serialize};
use std::time::Instant;
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::{Block, Shape};
use tacit_net::{PartyId, Session};
use tacit_psi::blind_join::{self, Rule};
use tacit_psi::cardinality_sum::{self, Sums};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::ps3i::{self, Table};
use tacit_psi::unbalanced::{PreparedSet, PublishedSet, receive_set, send_set};
use tacit_psi::{DhPsi, Item, Outcome, Protocol, Role, Sizes, private_id, private_id_oprf};

/// Items asked about for each of a prepared set.
const PREPARED_TO_ASKED: usize = 1 << 8;

/// How many items a prepared set may be asked about in all: what `tacit psi --prepare` allows unless told otherwise.
const BUDGET: u64 = 1 << 20;

/// A measured work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Intersection by Diffie-Hellman.
    Dh,
    /// A set prepared, then asked about.
    Unbalanced,
    /// Circuit-PSI into the engine of two nodes, a payload of 64 bits at each party.
    Circuit,
    /// Universal ids by an oblivious pseudorandom function.
    PrivateIdOprf,
    /// Universal ids by Diffie-Hellman.
    PrivateIdDdh,
    /// The sum of one column over the intersection.
    Sum,
    /// Shares of one column of each party.
    Ps3i,
}

/// What both parties are asked to do.
#[derive(Serialize, Deserialize)]
pub struct Request {
    /// The work.
    pub work: Work,
    /// Items of each set.
    pub items: usize,
}

impl Work {
    /// All, in the order of the table.
    pub const ALL: [Self; 7] =
        [Self::Dh, Self::Unbalanced, Self::Circuit, Self::PrivateIdOprf, Self::PrivateIdDdh, Self::Sum, Self::Ps3i];

    /// The name in arguments and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dh => "dh",
            Self::Unbalanced => "unbalanced",
            Self::Circuit => "circuit-psi",
            Self::PrivateIdOprf => "private-id-oprf",
            Self::PrivateIdDdh => "private-id-ddh",
            Self::Sum => "sum",
            Self::Ps3i => "ps3i",
        }
    }

    /// The phases that are timed one by one.
    pub fn phases(self) -> &'static [&'static str] {
        if self == Self::Unbalanced { &["offline", "online"] } else { &[""] }
    }

    /// The items that times and bytes of a phase are for.
    pub fn counted(self, phase: &str, items: usize) -> usize {
        if phase == "online" { asked(items) } else { items }
    }

    /// Scalar multiplications of both parties, where they are nearly all of the work.
    pub fn multiplications(self, items: usize) -> Option<usize> {
        (self == Self::Dh).then_some(4 * items)
    }
}

fn asked(items: usize) -> usize {
    (items / PREPARED_TO_ASKED).max(1)
}

/// Does what is asked: the session, and what each phase took.
///
/// # Errors
/// When a phase fails or its outcome is wrong.
pub fn run(session: Session, request: &Request) -> Result<(Session, Vec<Run>)> {
    let (role, peer) = match session.me() {
        PartyId(0) => (Role::Sender, PartyId(1)),
        _ => (Role::Receiver, PartyId(0)),
    };
    let n = request.items;
    let party = Party { role, peer, items: items(session.me().0, n), sizes: Sizes { sender: n, receiver: n } };
    if request.work == Work::Unbalanced {
        return party.unbalanced(session);
    }
    let (session, run) = timed(session, peer, |session| party.once(session, request.work))?;
    Ok((session, vec![run]))
}

/// Runs a phase between two barriers.
fn timed(
    mut session: Session,
    peer: PartyId,
    phase: impl FnOnce(Session) -> Result<(Session, bool)>,
) -> Result<(Session, Run)> {
    barrier(&mut session, peer)?;
    let (before, cpu, start) = (session.meter().snapshot(), machine::cpu_seconds(), Instant::now());
    let (session, right) = phase(session)?;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
    let run = report(&before, &session.meter().snapshot(), elapsed, cpu);
    if right { Ok((session, run)) } else { Err("a wrong outcome".into()) }
}

/// One party with its items.
struct Party {
    role: Role,
    peer: PartyId,
    items: Vec<Item>,
    sizes: Sizes,
}

impl Party {
    /// A work of one phase: the session, and whether the outcome is right as far as this party sees it.
    fn once(&self, mut session: Session, work: Work) -> Result<(Session, bool)> {
        let right = match work {
            Work::Circuit => return self.circuit(session),
            Work::Dh => self.intersection(&mut session)?,
            Work::PrivateIdOprf => {
                let found = private_id_oprf::run(&mut session, self.peer, self.role, &self.items, self.items.len())?;
                self.is_union(found.union.len())
            }
            Work::PrivateIdDdh => {
                let found = private_id::run(&mut session, self.peer, &self.items, self.items.len())?;
                self.is_union(found.union.len())
            }
            Work::Sum => self.sum(&mut session)?,
            Work::Ps3i => self.shares(&mut session)?,
            Work::Unbalanced => return Err("two phases are no single one".into()),
        };
        Ok((session, right))
    }

    fn common(&self) -> usize {
        self.items.len() / 2
    }

    fn is_union(&self, ids: usize) -> bool {
        ids == 2 * self.items.len() - self.common()
    }

    fn intersection(&self, session: &mut Session) -> Result<bool> {
        let outcome =
            DhPsi { bins: 1 }.setup(self.role, session, self.peer)?.online(session, &self.items, self.sizes)?;
        Ok(match outcome {
            Outcome::Receiver(matches) => matches.len() == self.common(),
            Outcome::Sender { order } => order.len() == self.items.len(),
        })
    }

    fn sum(&self, session: &mut Session) -> Result<bool> {
        let sums = Some(Sums { columns: 1, to: Role::Receiver, least: 1 });
        let values = vec![vec![3; self.items.len()]];
        let found = match self.role {
            Role::Sender => cardinality_sum::send(session, self.peer, &self.items, &values, self.sizes, sums)?,
            Role::Receiver => cardinality_sum::receive(session, self.peer, &self.items, self.sizes, sums)?,
        };
        Ok(self.role == Role::Sender || found.sums == Some(vec![3 * self.common() as u64]))
    }

    fn shares(&self, session: &mut Session) -> Result<bool> {
        let one = Sizes { sender: 1, receiver: 1 };
        let identifiers: Vec<Option<Item>> = self.items.iter().copied().map(Some).collect();
        let table = Table { identifiers: &identifiers, payload: &[vec![5; self.items.len()]] };
        let shape = blind_join::Shape { rows: self.sizes, columns: one };
        let rule = Rule::Collect { drop_sender: false, drop_receiver: false, most: u64::MAX };
        let found = ps3i::run(session, self.peer, self.role, table, shape, one, rule)?;
        Ok(found.pairs == self.common())
    }

    fn circuit(&self, mut session: Session) -> Result<(Session, bool)> {
        let payload = Shape { bits: 64, ..Shape::default() };
        let psi = CircuitPsi::new(self.sizes, Payloads { sender: payload, receiver: payload });
        let values = Block::zeros(Shape { rows: self.items.len(), ..payload });
        let binned = psi.bin(self.role, &mut session, self.peer, &self.items, &values)?;
        let mut engine = Two::new(session)?;
        let joined = psi.join(&mut engine, PartyId(0), PartyId(1), Some(binned))?;
        let right = joined.of_sender.rows == psi.bins() && psi.bins() >= self.items.len();
        Ok((engine.into_session(), right))
    }

    /// Offline: the set is prepared, published and read. Online: it is asked about.
    fn unbalanced(&self, session: Session) -> Result<(Session, Vec<Run>)> {
        let (n, questions) = (self.items.len(), asked(self.items.len()));
        match self.role {
            Role::Sender => {
                let mut kept = None;
                let (session, offline) = timed(session, self.peer, |mut session| {
                    let (set, published) = PreparedSet::prepare(&self.items, BUDGET)?;
                    send_set(&mut session, self.peer, &published)?;
                    kept = Some(set);
                    Ok((session, true))
                })?;
                let mut set = kept.ok_or("no set is prepared")?;
                let (session, online) = timed(session, self.peer, |mut session| {
                    set.answer(&mut session, self.peer, questions)?;
                    Ok((session, true))
                })?;
                Ok((session, vec![offline, online]))
            }
            Role::Receiver => {
                let mut kept = None;
                let (session, offline) = timed(session, self.peer, |mut session| {
                    kept = Some(PublishedSet::from_bytes(&receive_set(&mut session, self.peer, n as u32, BUDGET)?)?);
                    Ok((session, true))
                })?;
                let set = kept.ok_or("no set is published")?;
                // As many before the end of the common half as behind it.
                let first = self.common() - questions / 2;
                let (session, online) = timed(session, self.peer, |mut session| {
                    let found = set.query(&mut session, self.peer, &self.items[first..][..questions])?;
                    Ok((session, found.len() == questions / 2))
                })?;
                Ok((session, vec![offline, online]))
            }
        }
    }
}
