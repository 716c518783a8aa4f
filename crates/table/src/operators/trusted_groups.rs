//! The rows of groups brought together by a party that sees the group keys.
//!
//! Functionality: some columns in the order of the groups, valid rows first. Also where each row goes so that the last
//! rows of groups are at the front, and what the keys are there. The trusted party learns the keys of the valid rows,
//! in an order that no node knows, NULL as a value of its own.
//!
//! Method: columns and keys are shuffled together. The trusted party sees the keys and shares the order, and the keys
//! of the groups one after the other: they need not move.
//!
//! Cost: W bits of columns and keys of w bits of each row. An AND of w bits, a shuffle of W + w bits and a move of W.
//! 9 rounds under rep3, whatever the width of the keys.

use std::collections::HashMap;
use std::sync::Arc;

use tacit_math::Plane;
use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Block, Rows, Shape, ops};

use super::trusted::{Seen, Trusted, masked};
use crate::bundle::bundle;
use crate::error::Result;
use crate::table::Value;

/// Columns in the order of the groups, and how these come to the front.
pub(super) struct Gathered<B: Backend> {
    /// The columns by name, in sorted order.
    pub payload: HashMap<String, Value<B>>,
    /// Where each sorted row goes: the last ones of groups to the front.
    pub to_front: B::Vector<u32>,
    /// At the front, the keys of the groups, and behind them which rows are groups.
    pub front: Planes<B>,
}

/// The groups of rows by an unsigned key. valid: which rows count; None: all.
pub(super) fn gather<B: Backend>(
    b: &mut B,
    trusted: Trusted,
    rows: usize,
    key: Planes<B>,
    valid: Option<&B::Bits>,
    payload: &[(String, Arc<Value<B>>)],
) -> Result<Gathered<B>> {
    let width = key.len();
    let shown = masked(b, key, valid)?;
    let (mut moving, layout) = bundle(rows, payload.iter().map(|(_, value)| &**value));
    let columns = moving.bits.len();
    moving.bits.extend(shown.into_iter().chain(valid.cloned()));
    let mut moving = b.shuffle(moving)?;
    let shown = Rows { bits: moving.bits.split_off(columns), ..Rows::empty(rows) };
    let shape = Shape { rows, bits: width + 1, r32: 2, ..Shape::default() };
    let mut told = trusted.ask(b, &shown, valid.is_none(), shape, tell)?;
    let to_front = told.r32.swap_remove(1);
    if moving.shape() != (Shape { rows, ..Shape::default() }) {
        moving = ops::apply(b, moving, told.r32.swap_remove(0))?;
    }
    let (values, _) = layout.unbundle(moving);
    let payload = payload.iter().map(|(name, _)| name.clone()).zip(values).collect();
    Ok(Gathered { payload, to_front, front: told.bits })
}

/// What the trusted party gives: where rows go to be in the order of their keys, and from there to the front. Then the
/// keys of the groups, and which rows are groups.
fn tell(seen: &Seen) -> Block {
    let (positions, rows) = (seen.positions(), seen.ranks.len());
    // Rows that do not count have the last rank.
    let groups = seen.distinct() - usize::from(seen.usable.to_bools().contains(&false));
    let mut of_group = vec![0; groups];
    let mut ends = vec![0; groups];
    for (row, &rank) in seen.ranks.iter().enumerate().filter(|&(_, &rank)| (rank as usize) < groups) {
        of_group[rank as usize] = row as u32;
        ends[rank as usize] = positions[row].max(ends[rank as usize]);
    }
    let front = seen.keys.iter().map(|key| Plane::concat(&[&key.gather(&of_group), &Plane::zeros(rows - groups)]));
    let is_group = Plane::from_fn(rows, |row| row < groups);
    let bits = front.chain([is_group]).collect();
    Block { rows, bits, r32: vec![positions, to_front(rows, &ends)], ..Block::default() }
}

/// Where rows go so that these come first, in ascending order, and the others behind them as they are.
fn to_front(rows: usize, first: &[u32]) -> Vec<u32> {
    let mut destinations = vec![None; rows];
    first.iter().zip(0..).for_each(|(&position, place)| destinations[position as usize] = Some(place));
    let mut others = first.len() as u32..;
    destinations.into_iter().map(|place| place.or_else(|| others.next()).expect("as many as there are")).collect()
}

#[cfg(test)]
mod tests {
    use tacit_math::{Plane, transpose};

    use super::{Block, Seen, tell};

    #[test]
    fn the_trusted_party_tells_where_groups_end_and_what_their_keys_are() {
        let keys = transpose::planes_of_rows(&[3, 1, 0, 3, 1, 3], 2);
        let usable = Plane::from_fn(6, |row| row != 2);
        let seen = Seen::new(Block { rows: 6, bits: [keys, vec![usable]].concat(), ..Block::default() }, false);
        let told = tell(&seen);
        assert_eq!(told.r32, [vec![2, 0, 5, 3, 1, 4], vec![2, 0, 3, 4, 1, 5]]);
        let planes: Vec<&Plane> = told.bits[..2].iter().collect();
        assert_eq!(transpose::rows_of_planes(&planes, 6), [1, 3, 0, 0, 0, 0]);
        assert_eq!(told.bits[2].to_bools(), [true, true, false, false, false, false]);
    }

    #[test]
    fn no_row_is_no_group() {
        let seen = Seen::new(Block { rows: 1, bits: vec![Plane::ones(1), Plane::zeros(1)], ..Block::default() }, false);
        let told = tell(&seen);
        assert_eq!((told.r32[1].clone(), told.bits[1].to_bools()), (vec![0], vec![false]));
        let none = tell(&Seen::new(Block { bits: vec![Plane::zeros(0)], ..Block::default() }, true));
        assert_eq!(none.r32, vec![Vec::<u32>::new(); 2]);
    }
}
