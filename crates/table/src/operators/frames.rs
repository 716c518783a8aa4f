//! Rows in the order of a window: which of them belong together, and what stands at the bounds of their frames.
//!
//! A frame's bounds are places: the first and last row of the partition or among peers, or a row at a public distance.
//! Which row of the table that is, is public; whether it is in the partition is one bit. What
//! stands in a first or last row is copied from it ([`super::copies`]), all of one kind of place at once.

use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Rows};

use super::copies::{from_first, from_last};
use super::neighbours::Chain;
use super::order::{Direction, key_planes};
use super::totals::{Place, Totals, same_as_next};
use crate::bundle::bundle;
use crate::error::Result;
use crate::operator::{Frame, FrameUnit, Window};
use crate::table::{Table, Value};

/// A row that another one looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// The first row of the partition.
    First,
    /// Its last row.
    Last,
    /// The first row among peers.
    FirstPeer,
    /// The last row among peers.
    LastPeer,
    /// The row at this distance behind; negative: before.
    Row(isize),
}

/// A place whose value is the same for many rows, so that it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    First,
    Last,
    FirstPeer,
    LastPeer,
}

impl Frame {
    /// Where it begins.
    pub(crate) fn first(self) -> Position {
        match (self.unit, self.start) {
            (_, None) => Position::First,
            (FrameUnit::Rows, Some(by)) => Position::Row(by as isize),
            (FrameUnit::Range, Some(_)) => Position::FirstPeer,
        }
    }

    /// Where it ends.
    pub(crate) fn last(self) -> Position {
        match (self.unit, self.end) {
            (_, None) => Position::Last,
            (FrameUnit::Rows, Some(by)) => Position::Row(by as isize),
            (FrameUnit::Range, Some(_)) => Position::LastPeer,
        }
    }

    /// How far away the row is without which the frame has none; None: it has always one.
    pub(crate) fn needs(self) -> Option<isize> {
        match (self.first(), self.last()) {
            (_, Position::Row(by)) if by < 0 => Some(by),
            (Position::Row(by), _) if by > 0 => Some(by),
            _ => None,
        }
    }
}

/// The rows of a table in the order of a window.
pub(crate) struct Ordered<B: Backend> {
    pub rows: usize,
    /// Which rows are in one partition.
    pub partition: Chain<B>,
    /// Which are peers.
    pub peers: Chain<B>,
}

impl<B: Backend> Ordered<B> {
    /// Of a table that is in this order.
    pub fn new(b: &mut B, table: &Table<B>, window: &Window) -> Result<Self> {
        let mut group: Planes<B> = table.valid.iter().cloned().collect();
        for name in &window.partition {
            group.extend(key_planes(b, table.value(name)?, Direction::ASCENDING)?);
        }
        let mut order = Planes::<B>::new();
        for key in &window.order {
            order.extend(key_planes(b, table.value(&key.column)?, Direction::ASCENDING)?);
        }
        let rows = table.rows;
        let same_group = same_as_next(b, rows, &group)?;
        let same_peers = match order.is_empty() {
            true => same_group.clone(),
            false => {
                let equal = same_as_next(b, rows, &order)?;
                b.and(&[&same_group], &[&equal])?.swap_remove(0)
            }
        };
        Ok(Self { rows, partition: Chain::new(same_group), peers: Chain::new(same_peers) })
    }

    /// Every row with what stands at such a place.
    fn copied(&self, b: &mut B, edge: Edge, moving: Rows<B>) -> Result<Rows<B>> {
        let chain = match edge {
            Edge::First | Edge::Last => &self.partition,
            Edge::FirstPeer | Edge::LastPeer => &self.peers,
        };
        Ok(match edge {
            Edge::First | Edge::FirstPeer => from_first(b, &b.not(&chain.previous()), moving)?,
            Edge::Last | Edge::LastPeer => from_last(b, &b.not(chain.next()), moving)?,
        })
    }
}

/// What is copied from each kind of place: values of columns, and sums.
pub(crate) struct Copies<B: Backend> {
    edges: Vec<(Edge, Asked<B>)>,
}

/// What is copied from one kind of place.
struct Asked<B: Backend> {
    values: Vec<Value<B>>,
    totals: Vec<Totals<B>>,
}

/// Where something copied is found: among that of one kind of place.
#[derive(Clone, Copy)]
pub(crate) struct Copy {
    edge: usize,
    number: usize,
}

/// All that was copied.
pub(crate) struct Copied<B: Backend> {
    edges: Vec<(Vec<Value<B>>, Vec<Totals<B>>)>,
}

impl<B: Backend> Copies<B> {
    pub fn new() -> Self {
        Self { edges: vec![] }
    }

    fn of(&mut self, edge: Edge) -> usize {
        let known = self.edges.iter().position(|(known, _)| *known == edge);
        known.unwrap_or_else(|| {
            self.edges.push((edge, Asked { values: vec![], totals: vec![] }));
            self.edges.len() - 1
        })
    }

    /// Asks for a column's value at a place.
    pub fn value(&mut self, edge: Edge, value: Value<B>) -> Copy {
        let edge = self.of(edge);
        let values = &mut self.edges[edge].1.values;
        values.push(value);
        Copy { edge, number: values.len() - 1 }
    }

    /// Asks for a sum at a place.
    pub fn total(&mut self, edge: Edge, total: Totals<B>) -> Copy {
        let edge = self.of(edge);
        let totals = &mut self.edges[edge].1.totals;
        totals.push(total);
        Copy { edge, number: totals.len() - 1 }
    }

    /// Copies all.
    pub fn run(self, b: &mut B, ordered: &Ordered<B>) -> Result<Copied<B>> {
        let mut edges = Vec::new();
        for (edge, Asked { values, totals }) in self.edges {
            let (mut moving, layout) = bundle(ordered.rows, values.iter());
            let places: Vec<Place> = totals.into_iter().map(|total| total.push(&mut moving)).collect();
            let copied = ordered.copied(b, edge, moving)?;
            let totals = places.into_iter().map(|place| place.get(&copied)).collect();
            edges.push((layout.unbundle(copied).0, totals));
        }
        Ok(Copied { edges })
    }
}

impl<B: Backend> Copied<B> {
    pub fn value(&self, copy: Copy) -> &Value<B> {
        &self.edges[copy.edge].0[copy.number]
    }

    pub fn total(&self, copy: Copy) -> &Totals<B> {
        &self.edges[copy.edge].1[copy.number]
    }
}
