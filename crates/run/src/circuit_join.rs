//! The operator `circuit_psi`: an inner join of two owners' tables by private set intersection into shares.
//!
//! The owners put their rows into bins over the session of the engine, while the other nodes let as many rounds pass.
//! Then all nodes find under the engine which bins match, and shuffle them. Keys are unique on both sides.
//!
//! Discloses the sizes that the plan announces, nothing else.
//!
//! Rounds and bytes: [`declared`], and what `tacit_table::cost` says of the engine's part, [`matched`].

use std::collections::HashMap;

use tacit_mpc::backends::{Clear, Networked};
use tacit_mpc::{Backend, Block, Shape};
use tacit_net::{Cost, PartyId, Session};
use tacit_psi::circuit_psi::{Binned, Joined, Payloads};
use tacit_psi::{Role, Sizes, circuit_psi, row_counts};
use tacit_table::operator::PsiSide;
use tacit_table::{CircuitPsi, DataTable, Executor, Matched, Operator, Table, TableError, WrongInput};

use crate::error::{Result, RunError};
use crate::psi_join::{BothSides, Learn, announced, owners};

/// The protocol for both sides, and which of them is the receiver, whose items are the rows of the join.
struct Protocol {
    psi: circuit_psi::CircuitPsi,
    receiver: usize,
}

impl Protocol {
    /// The receiver has fewer items, so that the join has fewer rows; if both have as many, the wider columns, which
    /// cost a sender more.
    fn new(psi: &CircuitPsi, sizes: [usize; 2]) -> Self {
        let shapes = psi.sides().map(|side| Shape { rows: 1, ..side.shape() });
        let width = |side: usize| shapes[side].bits + 64 * shapes[side].r64 + 128 * shapes[side].r128;
        let receiver = match sizes[0].cmp(&sizes[1]) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Equal => usize::from(width(1) >= width(0)),
        };
        let sender = 1 - receiver;
        let payloads = Payloads { sender: shapes[sender], receiver: shapes[receiver] };
        let sizes = Sizes { sender: sizes[sender], receiver: sizes[receiver] };
        Self { psi: circuit_psi::CircuitPsi::new(sizes, payloads), receiver }
    }

    fn role(&self, side: usize) -> Role {
        if side == self.receiver { Role::Receiver } else { Role::Sender }
    }
}

/// What both sides' owners do with each other costs the nodes. owners: the left side's and the right side's place among
/// the nodes.
pub fn declared(psi: &CircuitPsi, sizes: [usize; 2], owners: [PartyId; 2], nodes: usize) -> Cost {
    let Protocol { psi, receiver } = Protocol::new(psi, sizes);
    psi.declared().between(owners[1 - receiver], owners[receiver], nodes)
}

/// How many rows a join of these numbers of items has.
pub fn rows(sizes: [usize; 2]) -> usize {
    let sizes = Sizes { sender: sizes[0].max(sizes[1]), receiver: sizes[0].min(sizes[1]) };
    circuit_psi::CircuitPsi::new(sizes, Payloads::default()).bins()
}

/// The engine's part: which bins match. binned: what this party knows, if it is an owner; none without data.
pub fn matched<B: Backend>(
    b: &mut B,
    psi: &CircuitPsi,
    sizes: [usize; 2],
    owners: [PartyId; 2],
    binned: Option<Binned>,
) -> std::result::Result<Matched<B>, TableError> {
    let Protocol { psi: protocol, receiver } = Protocol::new(psi, sizes);
    let name = Operator::CircuitPsi(psi.clone()).name();
    let joined = b.step(&name, |b| protocol.join(b, owners[1 - receiver], owners[receiver], binned))?;
    let Joined { matches, of_sender, of_receiver } = joined;
    let sides = if receiver == 0 { [of_receiver, of_sender] } else { [of_sender, of_receiver] };
    Ok(Matched { valid: matches, sides })
}

/// How an engine without data finds the matches of a `circuit_psi` among these nodes.
pub fn shared_matches<B: Backend>(
    nodes: &[String],
) -> impl Fn(&mut B, &CircuitPsi, [usize; 2]) -> std::result::Result<Matched<B>, TableError> {
    |b, psi, sizes| matched(b, psi, sizes, places(nodes, psi.sides())?, None)
}

/// The places of both sides' owners among the nodes, left first.
pub fn places(nodes: &[String], sides: [&PsiSide; 2]) -> std::result::Result<[PartyId; 2], TableError> {
    let place = |PsiSide { owner, .. }: &PsiSide| {
        let place = nodes.iter().position(|node| node == owner);
        Ok::<_, TableError>(place.map(PartyId).ok_or_else(|| WrongInput::SideOutside { owner: owner.clone() })?)
    };
    let [left, right] = sides.map(place);
    Ok([left?, right?])
}

/// The join on an engine of nodes: `data` holds this party's side, if it has one. learn: told the sizes of both sides
/// by their local steps.
pub fn among_nodes<B: Networked>(
    executor: &mut Executor<B>,
    psi: &CircuitPsi,
    data: BothSides,
    learn: Learn<'_, B>,
) -> Result<Table<B>> {
    let owners = owners(executor.backend().session(), psi.sides())?;
    let sizes = executor.circuit_sizes(psi, announced(psi.sides(), &data)?)?;
    learn(executor.backend_mut(), &[(psi.left.local, sizes[0]), (psi.right.local, sizes[1])])?;
    let mut own = None;
    // What was encoded is not needed in clear any more.
    for (side, table) in data.into_iter().enumerate() {
        if let Some(table) = table {
            own = Some((side, executor.circuit_side(psi, side, &table, sizes[side])?));
        }
    }
    let protocol = Protocol::new(psi, sizes);
    let session = executor.backend_mut().session_mut();
    session.enter(&Operator::CircuitPsi(psi.clone()).name());
    session.enter("match");
    let binned = bin(session, &protocol, owners, own)?;
    session.leave();
    session.leave();
    let matched = matched(executor.backend_mut(), psi, sizes, owners, binned)?;
    Ok(executor.circuit_table(psi, matched)?)
}

/// What the owners do with each other. own: this party's side, with its items and columns.
fn bin(
    session: &mut Session,
    protocol: &Protocol,
    owners: [PartyId; 2],
    own: Option<(usize, (Vec<u128>, Block))>,
) -> Result<Option<Binned>> {
    let Some((side, (items, columns))) = own else {
        row_counts::stand_by(session, protocol.psi.declared().rounds);
        return Ok(None);
    };
    Ok(Some(protocol.psi.bin(protocol.role(side), session, owners[1 - side], &items, &columns)?))
}

/// The join on the engine without security, which is both owners.
pub fn in_clear(executor: &mut Executor<Clear>, psi: &CircuitPsi, data: BothSides) -> Result<Table<Clear>> {
    let sizes = executor.circuit_sizes(psi, announced(psi.sides(), &data)?)?;
    let [Some(left), Some(right)] = data else {
        return Err(RunError::OneSide);
    };
    let side = |side: usize, data: &DataTable| executor.circuit_side(psi, side, data, sizes[side]);
    let [(items, left), (others, right)] = [side(0, &left)?, side(1, &right)?];
    let places: HashMap<u128, u32> = others.into_iter().zip(0..).collect();
    let pairs: Vec<(u32, u32)> =
        items.iter().zip(0..).filter_map(|(item, mine)| Some((mine, *places.get(item)?))).collect();
    let rows = rows(sizes);
    let valid = tacit_math::Plane::from_fn(rows, |row| row < pairs.len());
    let b = executor.backend_mut();
    let mut share = |block: &Block, rows_of: Vec<u32>| {
        let missing = rows - rows_of.len();
        let block = block.gather(&rows_of).pad_zeros(missing);
        b.input(PartyId(0), block.shape(), Some(block))
    };
    let sides = [
        share(&left, pairs.iter().map(|pair| pair.0).collect()).map_err(TableError::from)?,
        share(&right, pairs.iter().map(|pair| pair.1).collect()).map_err(TableError::from)?,
    ];
    let valid = Block { rows, bits: vec![valid], ..Block::default() };
    let valid = b.input(PartyId(0), valid.shape(), Some(valid)).map_err(TableError::from)?.bits.swap_remove(0);
    Ok(executor.circuit_table(psi, Matched { valid, sides })?)
}
