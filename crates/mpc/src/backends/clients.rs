//! Inputs of parties that are no nodes, and answers to them: the clients of an engine's nodes.
//!
//! `deal` and `receive`: functionality: a client's columns become shared; nobody learns anything but their public
//! shape. The client splits them into as many components as there are nodes that hold some. All but the last are
//! outputs of fresh seeds, the last is the value minus these. A node gets the components that it holds: seeds, or the
//! last one itself. 1 round; 16 bytes for each seed and each node that holds its component, one copy of the data for
//! each node that holds the last.
//!
//! `give` and `collect`: functionality: the recipients learn the values, nobody else learns anything. Each node sends
//! its first component, to which it adds its part of a fresh sharing of zero. The recipient adds up what it gets:
//! uniformly random parts of the value, whatever sharing the nodes hold. Before them stands the public number of rows,
//! which the recipient compares. 1 round; each node sends 8 bytes and one copy of the data to each recipient.
//!
//! These rounds are those of the session between nodes and clients: all parties of it begin each of them.
//!
//! Source: additive sharing; the components that a node of a replicated sharing holds are those of Araki, Furukawa,
//! Lindell, Nof, Ohara, CCS 2016.

use tacit_math::{Prg, Seed};
use tacit_net::{Cost, NetError, PartyId, Session};

use super::generator::generator;
pub use super::recipients::announce;
use super::recipients::record;
use super::wire::{recv_block, send_masked, send_open};
use super::{Components, Costs};
use crate::{Block, MpcError, Permit, Result, Rows, Shape};

/// Bytes of a seed.
const SEED: u64 = 16;

/// Bytes of a number of rows.
const NUMBER: u64 = 8;

/// No more rows are taken than a table has at most.
const MOST_ROWS: u64 = 1 << 31;

/// How many of an engine's nodes hold values, the first ones: as many as there are components.
pub const fn holders<E: Costs>(nodes: usize) -> usize {
    match E::HOLDERS {
        Some(holders) => holders,
        None => nodes,
    }
}

/// The components of every value that a node holds: as many as it has, from its own place on.
fn held<E: Costs>(node: usize, holders: usize) -> impl Iterator<Item = usize> {
    let components = if node < holders { E::COMPONENTS } else { 0 };
    (0..components).map(move |k| (node + k) % holders)
}

/// A client's columns become shared. At the client.
///
/// # Errors
/// When a node is gone, or the operating system gives no randomness.
pub fn deal<B: Components>(session: &mut Session, mut data: Block) -> Result<()> {
    session.next_round();
    let holders = holders::<B::Formulas>(B::NODES);
    let mut seeds = Vec::with_capacity(holders - 1);
    for _ in 1..holders {
        let seed = Seed::random().map_err(|error| MpcError::Randomness(error.to_string()))?;
        data.subtract_random(&mut Prg::new(&seed));
        seeds.push(seed);
    }
    for node in 0..holders {
        for component in held::<B::Formulas>(node, holders) {
            match seeds.get(component) {
                Some(seed) => session.send(PartyId(node), seed.expose().to_vec())?,
                None => send_masked(session, PartyId(node), &data)?,
            }
        }
    }
    Ok(())
}

/// A client's columns become shared. At a node, on its session with the other nodes.
pub(in crate::backends) fn receive<B: Components>(
    session: &mut Session,
    client: PartyId,
    shape: Shape,
) -> Result<Rows<B>> {
    let session = session.clients_mut()?;
    session.next_round();
    let (node, holders) = (session.me().0, holders::<B::Formulas>(B::NODES));
    if node >= holders {
        return Ok(B::holding_none(shape));
    }
    let component = |component: usize| {
        if component == holders - 1 {
            return recv_block(session, client, shape);
        }
        let mut seed = [0; SEED as usize];
        session.recv(client, &mut seed)?;
        tacit_marks::secret(&mut seed);
        Ok(Block::random(shape, &mut generator(session, "of a client", &Seed::from_bytes(seed))))
    };
    let components: Result<Vec<Block>> = held::<B::Formulas>(node, holders).map(component).collect();
    Ok(B::put_together(components?))
}

/// Opens a bundle to clients. At a node; who may learn it is for the caller to say.
pub(in crate::backends) fn give<B: Components>(b: &mut B, rows: &Rows<B>, clients: &[PartyId]) -> Result<()> {
    if clients.is_empty() {
        return Ok(());
    }
    let holders = holders::<B::Formulas>(B::NODES);
    if b.session().me().0 >= holders {
        b.session_mut().clients_mut()?.next_round();
        return Ok(());
    }
    let mut part = B::take_apart(rows.clone()).swap_remove(0);
    b.add_zero(&mut part);
    let session = b.session_mut().clients_mut()?;
    session.next_round();
    for &client in clients {
        session.send(client, (rows.rows as u64).to_le_bytes().to_vec())?;
        send_open(session, client, &part)?;
    }
    Ok(())
}

/// What the nodes that hold values ([`holders`]) open to this client: columns of a shape, of as many rows as all say.
///
/// # Errors
/// [`MpcError::NotPermitted`] when the permit is for other columns; [`MpcError::Net`] when a node is gone, or sends
/// more rows than the permit allows or another number than the others.
pub fn collect(session: &mut Session, holders: usize, columns: Shape, permit: &Permit) -> Result<Block> {
    permit.check_open(Shape { rows: 0, ..columns })?;
    session.next_round();
    let mut rows = None;
    for node in (0..holders).map(PartyId) {
        let mut told = [0; NUMBER as usize];
        session.recv(node, &mut told)?;
        let told = u64::from_le_bytes(told);
        let refused = |detail: String| NetError::Desynchronised {
            peer: session.name(node).to_owned(),
            step: session.path().to_owned(),
            detail,
        };
        if permit.check_rows(told).is_err() || told > MOST_ROWS {
            return Err(refused(format!("it opens {told} rows, more than the approved plan allows")).into());
        }
        if let Some(rows) = rows.filter(|&rows| rows != told) {
            return Err(refused(format!("it opens {told} rows, the nodes before it {rows}")).into());
        }
        rows = Some(told);
    }
    let shape = Shape { rows: rows.unwrap_or_default() as usize, ..columns };
    let mut opened = recv_block(session, PartyId(0), shape)?;
    for node in (1..holders).map(PartyId) {
        opened = opened.plus(&recv_block(session, node, shape)?);
    }
    Ok(record(session, opened))
}

/// What [`deal`] costs each party, nodes first; `client` is the client's place behind them.
pub(in crate::backends) fn dealt<E: Costs>(nodes: usize, client: usize, shape: Shape) -> Cost {
    let (mut cost, holders) = (Cost::alike(client + 1, 1, 0), holders::<E>(nodes));
    let components = (0..holders).flat_map(|node| held::<E>(node, holders));
    cost.sent[client] = components.map(|component| if component == holders - 1 { shape.bytes() } else { SEED }).sum();
    cost
}

/// What [`give`] costs.
pub(in crate::backends) fn given<E: Costs>(nodes: usize, clients: usize, shape: Shape) -> Cost {
    let mut cost = Cost::alike(nodes, 1, 0);
    cost.sent[..holders::<E>(nodes)].fill(clients as u64 * (NUMBER + shape.bytes()));
    cost
}

/// What it costs when a client tells all nodes a number.
pub(in crate::backends) fn told(nodes: usize, client: usize) -> Cost {
    let mut cost = Cost::alike(client + 1, 1, 0);
    cost.sent[client] = nodes as u64 * NUMBER;
    cost
}
