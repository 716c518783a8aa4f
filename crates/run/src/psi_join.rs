//! The operator `psi`: an inner join of two owners' tables by private set intersection.
//!
//! The owners match their keys over the session of the engine, while the other nodes let as many rounds pass; then each
//! shares the columns of its matching rows. Rooms for tables and for intersections do not know each other, so they meet
//! here.
//!
//! Discloses to both owners which of their rows match. The left one also learns, where right keys repeat, how many
//! right rows match each of its own. All nodes learn the sizes that the plan announces, and how many rows the join has.
//!
//! Rounds and bytes: [`declared`], and what `tacit_table::cost` says of announcements and inputs.

use std::time::Duration;

use tacit_mpc::backends::{Clear, Networked};
use tacit_net::{Cost, Link, PartyId, Session};
use tacit_psi::alignment::{self, Learns};
use tacit_psi::choice::{fastest, fastest_ids, first_role, sizes_of, traffic};
use tacit_psi::relatives::{PrivateId, Relative};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Protocol, PsiError, Role, VolePsi, row_counts};
use tacit_table::operator::PsiSide;
use tacit_table::{DataTable, Executor, KeyGroups, Operator, Psi, Table};

use crate::error::{Result, RunError};
use crate::prices::Prices;

/// An owner's data for each side, left first.
pub type BothSides = [Option<DataTable>; 2];

/// What the owners choose their protocol by.
pub struct Terms {
    link: Link,
    prices: tacit_psi::Prices,
}

impl Terms {
    /// On a network, at these prices.
    pub fn of(link: Link, prices: &Prices) -> Self {
        Self { link, prices: prices.matching.clone() }
    }

    /// The intersection protocol of a join with sides of these sizes.
    fn protocol(&self, sizes: [usize; 2]) -> &'static dyn Protocol {
        let all: [&'static dyn Protocol; 2] = [&DhPsi { bins: 1 }, &VolePsi { variant: Variant::Fast, bins: 1 }];
        fastest(&all, sizes, self.link, &self.prices)
    }

    /// How universal ids of sides of these sizes are made, and the left owner's role.
    pub fn ids(&self, sizes: [usize; 2]) -> (PrivateId, Role) {
        fastest_ids(sizes, self.link, &self.prices)
    }

    /// What making ids of sides of these sizes takes of an owner's processor.
    pub fn ids_processor(&self, sizes: [usize; 2]) -> Duration {
        let items = sizes.iter().sum::<usize>() as f64;
        Duration::from_secs_f64(self.prices.seconds(self.ids(sizes).0.title(), items))
    }
}

/// What all that both sides' owners do with each other costs the nodes. rows: of the join. owners: the left side's and
/// the right side's place among the nodes.
pub fn declared(
    psi: &Psi,
    sizes: [usize; 2],
    rows: usize,
    terms: &Terms,
    [left, right]: [PartyId; 2],
    nodes: usize,
) -> Cost {
    let protocol = terms.protocol(sizes);
    let [sender, receiver] = if first_role(protocol, sizes) == Role::Sender { [left, right] } else { [right, left] };
    let mut cost = traffic(protocol, sizes).between(sender, receiver, nodes);
    if !psi.right_unique {
        cost.rounds += 1;
        cost.sent[right.0] += row_counts::declared(rows);
    }
    cost
}

/// One owner's keys, and afterwards which of its rows match.
struct Side {
    keys: KeyGroups,
    peer: PartyId,
    place: usize,
}

/// Told at every node of sizes that have been announced, by the ids of steps and local steps.
pub type Learn<'a, B> = &'a mut dyn FnMut(&mut B, &[(usize, usize)]) -> Result<()>;

/// The join on an engine of nodes: `data` holds this party's side, if it has one. learn: told the sizes of both sides
/// and of the join.
pub fn among_nodes<B: Networked>(
    executor: &mut Executor<B>,
    psi: &Psi,
    data: BothSides,
    terms: &Terms,
    learn: Learn<'_, B>,
) -> Result<Table<B>> {
    let [left, right] = owners(executor.backend().session(), psi.sides())?;
    let (sizes, permit) = executor.psi_sizes(psi, announced(psi.sides(), &data)?)?;
    let mut side = None;
    for (place, (table, peer)) in data.iter().zip([right, left]).enumerate() {
        if let Some(table) = table {
            side = Some(Side { keys: executor.psi_keys(psi, place, table, sizes[place])?, peer, place });
        }
    }
    let matching = in_match(executor, psi, |session| matches(session, terms.protocol(sizes), sizes, side.as_ref()))?;
    let counts = side.as_ref().map(|side| side.keys.counts(&matching));
    let total = |counts: &Vec<u32>| counts.iter().map(|&count| count as usize).sum();
    let rows = executor.psi_rows(psi, permit, counts.as_ref().filter(|_| data[1].is_some()).map(total))?;
    // Each right row meets one left row at most, and under right_unique the other way round. Nothing is allocated for
    // more.
    if rows > sizes[1] || psi.right_unique && rows > sizes[0] {
        return Err(miscounted(executor.backend().session(), right));
    }
    let known = [(psi.left.local, sizes[0]), (psi.right.local, sizes[1]), (psi.id, rows)];
    learn(executor.backend_mut(), &known)?;
    let counts = in_match(executor, psi, |session| exchange_counts(session, psi, rows, side.as_ref(), counts))?;
    let own = side.map(|side| side.keys.rows(&matching, &counts)).unwrap_or_default();
    let share = data.map(|table| table.map(|table| table.gather(&own)));
    Ok(executor.psi_share(psi, rows, share)?)
}

/// Runs what the owners do with each other under the step's name.
fn in_match<B: Networked, T>(
    executor: &mut Executor<B>,
    psi: &Psi,
    body: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    let session = executor.backend_mut().session_mut();
    session.enter(&Operator::Psi(psi.clone()).name());
    session.enter("match");
    let found = body(session)?;
    session.leave();
    session.leave();
    Ok(found)
}

/// The matching items of this party's side, in the common order; none at nodes without a side.
fn matches(session: &mut Session, protocol: &dyn Protocol, sizes: [usize; 2], side: Option<&Side>) -> Result<Vec<u32>> {
    let Some(Side { keys, peer, place }) = side else {
        row_counts::stand_by(session, traffic(protocol, sizes).rounds);
        return Ok(vec![]);
    };
    let left = first_role(protocol, sizes);
    let role = if (*place == 0) == (left == Role::Sender) { Role::Sender } else { Role::Receiver };
    let mut pair = protocol.setup(role, session, *peer)?;
    Ok(alignment::intersect(&mut *pair, Learns::Both, session, *peer, &keys.items, sizes_of(left, sizes))?)
}

/// How many rows of the join each matching item stands for. own: by this party's own rows, if it has a side.
fn exchange_counts(
    session: &mut Session,
    psi: &Psi,
    rows: usize,
    side: Option<&Side>,
    own: Option<Vec<u32>>,
) -> Result<Vec<u32>> {
    match (side, own) {
        (Some(Side { peer, place: 0, .. }), Some(own)) if !psi.right_unique => {
            Ok(row_counts::hear(session, *peer, own.len(), rows)?)
        }
        (Some(Side { peer, .. }), Some(own)) if !psi.right_unique => {
            row_counts::tell(session, *peer, &own)?;
            Ok(own)
        }
        (Some(Side { peer, .. }), Some(own)) if own.len() != rows => Err(miscounted(session, *peer)),
        (_, Some(own)) => Ok(own),
        _ => {
            row_counts::stand_by(session, u64::from(!psi.right_unique));
            Ok(vec![])
        }
    }
}

fn miscounted(session: &Session, peer: PartyId) -> RunError {
    PsiError::cheating(session, peer, "it announces another number of rows than there are matches").into()
}

/// The join on the engine without security, which is both owners.
pub fn in_clear(executor: &mut Executor<Clear>, psi: &Psi, data: BothSides) -> Result<Table<Clear>> {
    let (sizes, permit) = executor.psi_sizes(psi, announced(psi.sides(), &data)?)?;
    let [Some(left), Some(right)] = data else {
        return Err(RunError::OneSide);
    };
    let keys = [executor.psi_keys(psi, 0, &left, sizes[0])?, executor.psi_keys(psi, 1, &right, sizes[1])?];
    let places: std::collections::HashMap<u128, u32> = keys[1].items.iter().copied().zip(0..).collect();
    let pairs = keys[0].items.iter().zip(0..).filter_map(|(item, mine)| Some((mine, *places.get(item)?)));
    let (mine, theirs): (Vec<u32>, Vec<u32>) = pairs.unzip();
    let counts = keys[1].counts(&theirs);
    let rows = [keys[0].rows(&mine, &counts), keys[1].rows(&theirs, &counts)];
    let known = executor.psi_rows(psi, permit, Some(rows[1].len()))?;
    let share = [Some(left.gather(&rows[0])), Some(right.gather(&rows[1]))];
    Ok(executor.psi_share(psi, known, share)?)
}

/// The sizes that this party announces of its sides, left first: those of its rows, or of their sources.
pub fn announced(sides: [&PsiSide; 2], data: &BothSides) -> Result<[Option<usize>; 2]> {
    let mut sizes = [None; 2];
    for ((size, side), table) in sizes.iter_mut().zip(sides).zip(data) {
        if let (Some(table), None) = (table, side.rows) {
            *size = Some(table.announced_rows(side.pad_to_source)?);
        }
    }
    Ok(sizes)
}

/// Both owners' places in the session, left first.
pub fn owners(session: &Session, sides: [&PsiSide; 2]) -> Result<[PartyId; 2]> {
    let place = |owner: &str| (0..session.parties()).map(PartyId).find(|&id| session.name(id) == owner);
    match sides.map(|side| place(&side.owner)) {
        [Some(left), Some(right)] if left != right => Ok([left, right]),
        _ => Err(RunError::NotTwoNodes { owners: sides.map(|side| side.owner.clone()) }),
    }
}
