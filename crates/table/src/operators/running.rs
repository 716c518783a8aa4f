//! Prefix sums over the rows of a window: what sums, counts and row numbers are differences of.

use tacit_mpc::Backend;

use super::frames::{Copied, Copies, Copy, Edge, Ordered, Position};
use super::totals::{Modulus, Totals};
use crate::error::{Result, TableError};
use crate::table::{Table, Value};

/// What is summed up, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Summand {
    /// One for each row.
    Rows,
    /// One for each first row among peers.
    FirstPeers,
    /// One for each value that is not NULL.
    Present(String),
    /// The values.
    Values(String),
}

/// A sum over the rows from one place to another, as the difference of two prefix sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// The summand's place among all.
    pub summand: usize,
    /// The first row.
    pub first: Position,
    /// The last one, or with `without` the one behind it.
    pub last: Position,
    /// Whether the last one does not count.
    pub without: bool,
}

/// The summands of all outputs.
#[derive(Default)]
pub(crate) struct Summands(Vec<(Summand, Modulus)>);

impl Summands {
    /// The place of a summand; each is computed once.
    pub fn place(&mut self, summand: Summand, modulus: Modulus) -> usize {
        let known = self.0.iter().position(|(known, ring)| *known == summand && *ring == modulus);
        known.unwrap_or_else(|| {
            self.0.push((summand, modulus));
            self.0.len() - 1
        })
    }

    /// The prefix sums of all: bits are injected together, columns converted together.
    pub fn running<B: Backend>(self, b: &mut B, table: &Table<B>, ordered: &Ordered<B>) -> Result<Running<B>> {
        let rows = table.rows;
        let mut found: Vec<Option<Totals<B>>> = self.0.iter().map(|_| None).collect();
        for modulus in Modulus::ALL {
            let (mut bits, mut columns) = (vec![], vec![]);
            for (place, (summand, _)) in self.0.iter().enumerate().filter(|(_, (_, ring))| *ring == modulus) {
                match summand {
                    Summand::Rows => found[place] = Some(Totals::public(b, rows, |_| 1, modulus)),
                    Summand::FirstPeers => bits.push((place, b.not(&ordered.peers.previous()))),
                    Summand::Present(name) => match &table.value(name)?.null {
                        None => found[place] = Some(Totals::public(b, rows, |_| 1, modulus)),
                        Some(null) => bits.push((place, b.not(null))),
                    },
                    Summand::Values(name) => columns.push((place, table.value(name)?)),
                }
            }
            let planes: Vec<&B::Bits> = bits.iter().map(|(_, bit)| bit).collect();
            let values: Vec<&Value<B>> = columns.iter().map(|(_, value)| &***value).collect();
            let of_bits = Totals::of_bits(b, &planes, modulus)?;
            let of_values = Totals::of_values(b, &values, modulus)?;
            bits.iter().map(|(place, _)| *place).zip(of_bits).for_each(|(place, x)| found[place] = Some(x));
            columns.iter().map(|(place, _)| *place).zip(of_values).for_each(|(place, x)| found[place] = Some(x));
        }
        let lost = || TableError::Internal("a summand was not computed".into());
        let sums = found.into_iter().map(|totals| Ok(totals.ok_or_else(lost)?.prefix_sums()));
        Ok(Running { sums: sums.collect::<Result<_>>()?, copies: vec![] })
    }
}

/// The prefix sums, and which of them are copied from where.
pub(crate) struct Running<B: Backend> {
    sums: Vec<Totals<B>>,
    copies: Vec<((usize, Edge), Copy)>,
}

impl<B: Backend> Running<B> {
    /// Asks for what a sum needs of other rows.
    pub fn ask(&mut self, copies: &mut Copies<B>, stretch: Stretch) {
        for position in [stretch.first, stretch.last] {
            let edge = match position {
                Position::First => Edge::First,
                Position::Last => Edge::Last,
                Position::FirstPeer => Edge::FirstPeer,
                Position::LastPeer => Edge::LastPeer,
                Position::Row(0) => continue,
                Position::Row(by) if by < 0 => Edge::First,
                Position::Row(_) => Edge::Last,
            };
            let key = (stretch.summand, edge);
            if self.copies.iter().all(|(known, _)| *known != key) {
                let sum = self.up_to(stretch.summand, matches!(edge, Edge::First | Edge::FirstPeer));
                self.copies.push((key, copies.total(edge, sum)));
            }
        }
    }

    /// The sums up to each row, that row included or not. Local.
    fn up_to(&self, summand: usize, without: bool) -> Totals<B> {
        let sums = &self.sums[summand];
        if without { sums.moved(-1) } else { sums.clone() }
    }

    /// The sum over the rows of a stretch, for every row.
    pub fn over(&self, b: &mut B, ordered: &mut Ordered<B>, copied: &Copied<B>, stretch: Stretch) -> Result<Totals<B>> {
        let Stretch { summand, first, last, without } = stretch;
        let upper = self.at(b, ordered, copied, summand, last, without)?;
        let lower = self.at(b, ordered, copied, summand, first, true)?;
        Ok(upper.minus(&lower))
    }

    /// The sum up to a place. Where a partition has no row there, up to its end on that side.
    fn at(
        &self,
        b: &mut B,
        ordered: &mut Ordered<B>,
        copied: &Copied<B>,
        summand: usize,
        position: Position,
        without: bool,
    ) -> Result<Totals<B>> {
        let edge = match position {
            Position::First => Edge::First,
            Position::Last => Edge::Last,
            Position::FirstPeer => Edge::FirstPeer,
            Position::LastPeer => Edge::LastPeer,
            Position::Row(0) => return Ok(self.up_to(summand, without)),
            Position::Row(by) => {
                let within = ordered.partition.within(b, by)?;
                let other = self.copy(copied, summand, if by < 0 { Edge::First } else { Edge::Last })?;
                return self.up_to(summand, without).moved(by).or_else(b, &within, other);
            }
        };
        Ok(self.copy(copied, summand, edge)?.clone())
    }

    fn copy<'a>(&self, copied: &'a Copied<B>, summand: usize, edge: Edge) -> Result<&'a Totals<B>> {
        let known = self.copies.iter().find(|(known, _)| *known == (summand, edge));
        let lost = || TableError::Internal("a sum that was not copied".into());
        Ok(copied.total(known.ok_or_else(lost)?.1))
    }
}
