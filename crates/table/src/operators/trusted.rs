//! Keys of rows shown to one party that their owners trust with them, so that it orders the rows in clear.
//!
//! Functionality: the trusted party, a node, learns the keys of the rows that count, in an order that no node knows,
//! and how many do not count. The keys of these are zeroed before. It gives the nodes shares of what it computes from
//! that: orders, and keys in order. Nobody else learns anything. How many messages there are and how long they are
//! follows from public numbers of rows alone. Source: Volgushev et al., "Conclave: secure multi-party computation on
//! big data" (EuroSys 2019), section 5.3: its hybrid join and aggregation.
//!
//! Rounds under rep3: one to open, one for the party's input.

use tacit_math::{Plane, transpose};
use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Block, OpenedColumn, OpenedKind, Permit, PermitKind, Permits, Rows, Shape, Sharing};
use tacit_net::PartyId;

use crate::convert::common_kind;
use crate::error::{Result, TableError};
use crate::operator::{Kind, Operator};
use crate::parties::Parties;
use crate::table::Table;

/// Planes of a key that one word holds.
const WORD: usize = u64::BITS as usize;

/// A party that may see the keys of one step.
pub(crate) struct Trusted {
    party: PartyId,
    permit: Permit,
}

/// The keys of rows, as the trusted party sees them.
pub(crate) struct Seen {
    /// The planes of the keys, zero in rows that do not count.
    pub keys: Vec<Plane>,
    /// How many different keys are smaller than a row's. Rows that do not count have the greatest rank.
    pub ranks: Vec<u32>,
    /// Which rows count.
    pub usable: Plane,
}

impl Trusted {
    /// The party that an operator on these tables names; None if it names none.
    ///
    /// # Errors
    /// [`TableError::Input`] when it is no node; [`TableError::Policy`] without a permit.
    pub fn of<B: Backend>(
        permits: &mut Permits,
        parties: &Parties,
        operator: &Operator,
        name: Option<&String>,
        inputs: &[&Table<B>],
    ) -> Result<Option<Self>> {
        let Some(name) = name else { return Ok(None) };
        let party = parties.owning_node(name)?;
        let columns = shown_columns(operator, inputs)?;
        let permit = permits.take(&operator.name(), &[PermitKind::Keys], std::slice::from_ref(name), &columns)?;
        Ok(Some(Self { party, permit }))
    }

    /// Shows the party keys, and shares what `tell` makes of them, of this shape.
    ///
    /// shuffled: the planes of keys, least significant first, in an order that no node knows, zero in rows that do not
    /// count, and behind them which rows count. all: every row counts, and there is no such plane.
    pub fn ask<B: Backend>(
        self,
        b: &mut B,
        shuffled: &Rows<B>,
        all: bool,
        told: Shape,
        tell: impl FnOnce(&Seen) -> Block,
    ) -> Result<Rows<B>> {
        let Self { party, permit } = self;
        let shared = b.step("order", |b| {
            let opened = b.open(shuffled, permit)?;
            b.input(party, told, opened.map(|block| tell(&Seen::new(block, all))))
        })?;
        Ok(shared)
    }
}

impl Seen {
    /// What is opened. all: every row counts, and no plane says which.
    pub fn new(opened: Block, all: bool) -> Self {
        let Block { rows, bits: mut keys, .. } = opened;
        let usable = if all { None } else { keys.pop() };
        let usable = usable.unwrap_or_else(|| Plane::ones(rows));
        keys.push(usable.not());
        let ranks = ranks(rows, &keys);
        keys.pop();
        Self { keys, ranks, usable }
    }

    /// The position of every row when they are in the order of their ranks, equal ones as they are.
    pub fn positions(&self) -> Vec<u32> {
        let mut next = vec![0; self.distinct() + 1];
        self.ranks.iter().for_each(|&rank| next[rank as usize + 1] += 1);
        (1..next.len()).for_each(|rank| next[rank] += next[rank - 1]);
        let place = |&rank: &u32| {
            let place = next[rank as usize];
            next[rank as usize] += 1;
            place
        };
        self.ranks.iter().map(place).collect()
    }

    /// How many ranks there are.
    pub fn distinct(&self) -> usize {
        self.ranks.iter().max().map_or(0, |&most| most as usize + 1)
    }
}

/// How many different numbers are smaller than each row's, whose planes these are, least significant first.
fn ranks(rows: usize, planes: &[Plane]) -> Vec<u32> {
    let mut ranks = vec![0; rows];
    for part in planes.chunks(WORD) {
        let words = transpose::rows_of_planes(&part.iter().collect::<Vec<_>>(), rows);
        let mut order: Vec<(u64, u32, u32)> = (0..rows).map(|row| (words[row], ranks[row], row as u32)).collect();
        order.sort_unstable();
        let mut rank = 0;
        for (place, &(word, below, row)) in order.iter().enumerate() {
            rank += u32::from(place > 0 && (order[place - 1].0, order[place - 1].1) != (word, below));
            ranks[row as usize] = rank;
        }
    }
    ranks
}

/// Keys with zeros in the rows that do not count. One round, if there may be such rows.
pub(super) fn masked<B: Backend>(b: &mut B, keys: Planes<B>, usable: Option<&B::Bits>) -> Result<Planes<B>> {
    match usable {
        None => Ok(keys),
        Some(usable) => Ok(b.and(&vec![usable; keys.len()], &keys.iter().collect::<Vec<_>>())?),
    }
}

/// What a trusted party sees of the tables of an operator that names one.
///
/// # Errors
/// [`TableError::Input`] when a table has no such key.
pub(crate) fn shown_columns<B: Backend>(operator: &Operator, inputs: &[&Table<B>]) -> Result<Vec<OpenedColumn>> {
    match operator {
        // A key that is NULL matches nothing: its row does not count.
        Operator::Join(join) => {
            let pairs = join.left_keys.iter().zip(&join.right_keys);
            let shown = pairs.map(|(left, right)| {
                let kind = common_kind(inputs[0].value(left)?.kind, inputs[1].value(right)?.kind);
                Ok(shown_column(left, Kind { nullable: false, ..kind }))
            });
            shown.collect()
        }
        Operator::GroupBy(group_by) => {
            group_by.keys.iter().map(|key| Ok(shown_column(key, inputs[0].value(key)?.kind))).collect()
        }
        _ => Err(TableError::Internal(format!("{} shows no keys", operator.name()))),
    }
}

fn shown_column(name: &str, kind: Kind) -> OpenedColumn {
    OpenedColumn { name: name.into(), kind: OpenedKind { repr: Sharing::Bits, ..kind.into() } }
}

#[cfg(test)]
mod tests {
    use tacit_math::{Plane, transpose};

    use super::{Block, Seen, ranks};

    #[test]
    fn ranks_are_in_the_order_of_all_planes() {
        let low = transpose::planes_of_rows(&[7, 0, u64::MAX, 7, 1], 64);
        let high = transpose::planes_of_rows(&[1, 2, 0, 1, 1], 2);
        let planes: Vec<Plane> = low.into_iter().chain(high).collect();
        assert_eq!(ranks(5, &planes), [2, 3, 0, 2, 1]);
        assert_eq!(ranks(0, &[Plane::zeros(0)]), [0; 0]);
    }

    #[test]
    fn equal_rows_keep_their_order_and_those_that_do_not_count_come_last() {
        let planes = transpose::planes_of_rows(&[0, 3, 1, 3, 0], 2);
        let usable = Plane::from_fn(5, |row| row != 0);
        let seen = Seen::new(Block { rows: 5, bits: [planes, vec![usable]].concat(), ..Block::default() }, false);
        assert_eq!((seen.positions(), seen.distinct()), (vec![4, 2, 1, 3, 0], 4));
    }
}
