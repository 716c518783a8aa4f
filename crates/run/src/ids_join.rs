//! The operator `universal_ids`: a full join of two owners' tables, whose rows get universal ids.
//!
//! The owners give each row an id over the session of the engine (Private-ID), while the other nodes let as many rounds
//! pass. Ids are equal where keys are, and both owners know all of them. So each shares its columns in the order of
//! ids, and no row has to be looked for under the engine. Keys are unique on both sides.
//!
//! Discloses the sizes that the plan announces, and to all nodes how many ids there are. That is how many keys both
//! owners have, as both sizes are known. Nobody learns which.
//!
//! Rounds and bytes: [`declared`], and what `tacit_table::cost` says of announcements, inputs and the conjunction.

use std::collections::{HashMap, HashSet};

use tacit_mpc::Block;
use tacit_mpc::backends::{Clear, Networked};
use tacit_net::{Cost, PartyId, Session, Traffic};
use tacit_psi::choice::sizes_of;
use tacit_psi::relatives::{PrivateId, Relative};
use tacit_psi::{PsiError, Role, row_counts};
use tacit_table::{DataTable, Executor, IdsSide, Operator, Table, UniversalIds};

use crate::error::{Result, RunError};
use crate::psi_join::{BothSides, Learn, Terms, announced, owners};

/// How both owners make ids of items of these numbers.
struct Protocol {
    method: PrivateId,
    /// The left owner's role.
    left: Role,
    sizes: [usize; 2],
}

impl Protocol {
    fn new(terms: &Terms, sizes: [usize; 2]) -> Self {
        let (method, left) = terms.ids(sizes);
        Self { method, left, sizes }
    }

    fn role(&self, side: usize) -> Role {
        if (side == 0) == (self.left == Role::Sender) { Role::Sender } else { Role::Receiver }
    }

    /// The cost. ids: how many there are.
    fn traffic(&self, ids: usize) -> Traffic {
        self.method.cost_of(sizes_of(self.left, self.sizes), ids)
    }
}

/// What both sides' owners do with each other costs the nodes. rows: the number of ids. owners: the left side's and the
/// right one's.
pub fn declared(sizes: [usize; 2], rows: usize, terms: &Terms, owners: [PartyId; 2], nodes: usize) -> Cost {
    let protocol = Protocol::new(terms, sizes);
    let [left, right] = owners;
    let (sender, receiver) = if protocol.left == Role::Sender { (left, right) } else { (right, left) };
    protocol.traffic(rows).between(sender, receiver, nodes)
}

/// One owner's side, and then its rows in the order of ids.
struct Side {
    place: usize,
    peer: PartyId,
    items: IdsSide,
}

/// The join on an engine of nodes: `data` holds this party's side, if it has one. learn: told the sizes of both sides
/// and of the join.
pub fn among_nodes<B: Networked>(
    executor: &mut Executor<B>,
    ids: &UniversalIds,
    data: BothSides,
    terms: &Terms,
    learn: Learn<'_, B>,
) -> Result<Table<B>> {
    let [left, right] = owners(executor.backend().session(), ids.sides())?;
    let (sizes, permit) = executor.ids_sizes(ids, announced(ids.sides(), &data)?)?;
    let mut side = None;
    for (place, (table, peer)) in data.iter().zip([right, left]).enumerate() {
        if let Some(table) = table {
            side = Some(Side { items: executor.ids_side(ids, place, table, sizes[place])?, peer, place });
        }
    }
    let protocol = Protocol::new(terms, sizes);
    let session = executor.backend_mut().session_mut();
    session.enter(&Operator::UniversalIds(ids.clone()).name());
    session.enter("ids");
    let order = identify(session, &protocol, side.as_ref())?;
    session.leave();
    session.leave();
    let own = order.as_ref().map(Vec::len);
    let rows = executor.ids_rows(ids, permit, own.filter(|_| data[1].is_some()))?;
    // Nothing is allocated for more rows than both sides have.
    let possible = rows >= sizes[0].max(sizes[1]) && rows <= sizes[0] + sizes[1];
    if !possible || own.is_some_and(|own| own != rows) {
        let session = executor.backend().session();
        return Err(PsiError::cheating(session, right, "it announces another number of ids than there are").into());
    }
    learn(executor.backend_mut(), &[(ids.left.local, sizes[0]), (ids.right.local, sizes[1]), (ids.id, rows)])?;
    let mut given: [Option<Block>; 2] = [None, None];
    if let (Some(side), Some(order)) = (side, order) {
        given[side.place] = Some(side.items.rows_of(order));
    }
    Ok(executor.ids_table(ids, rows, given)?)
}

/// For each id, in their order, the item of this party's side that has it, if it has one. None at nodes without a side.
fn identify(session: &mut Session, protocol: &Protocol, side: Option<&Side>) -> Result<Option<Vec<Option<u32>>>> {
    let Some(Side { place, peer, items }) = side else {
        row_counts::stand_by(session, protocol.traffic(0).rounds);
        return Ok(None);
    };
    let sizes = sizes_of(protocol.left, protocol.sizes);
    let found = protocol.method.run(protocol.role(*place), session, *peer, &items.items, sizes)?;
    let places: HashMap<u128, u32> = found.rows.into_iter().zip(0..).collect();
    Ok(Some(found.union.iter().map(|id| places.get(id).copied()).collect()))
}

/// The join on the engine without security, which is both owners.
pub fn in_clear(executor: &mut Executor<Clear>, ids: &UniversalIds, data: BothSides) -> Result<Table<Clear>> {
    let (sizes, permit) = executor.ids_sizes(ids, announced(ids.sides(), &data)?)?;
    let side = |place: usize, data: &Option<DataTable>| {
        let data = data.as_ref().ok_or(RunError::OneSide)?;
        Ok::<IdsSide, RunError>(executor.ids_side(ids, place, data, sizes[place])?)
    };
    let [left, right] = [side(0, &data[0])?, side(1, &data[1])?];
    let places: HashMap<u128, u32> = right.items.iter().copied().zip(0..).collect();
    let mut pairs: Vec<[Option<u32>; 2]> =
        left.items.iter().zip(0..).map(|(item, mine)| [Some(mine), places.get(item).copied()]).collect();
    let matched: HashSet<u32> = pairs.iter().filter_map(|pair| pair[1]).collect();
    pairs.extend((0..sizes[1] as u32).filter(|item| !matched.contains(item)).map(|item| [None, Some(item)]));
    let rows = executor.ids_rows(ids, permit, Some(pairs.len()))?;
    let given = [left.rows_of(pairs.iter().map(|pair| pair[0])), right.rows_of(pairs.iter().map(|pair| pair[1]))];
    Ok(executor.ids_table(ids, rows, given.map(Some))?)
}
