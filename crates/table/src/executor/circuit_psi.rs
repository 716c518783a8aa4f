//! The engine's part of `circuit_psi`: sizes become known, and shared matches become a table.
//!
//! What happens between, an intersection protocol between the two owners whose results are shares, is the caller's:
//! this room knows none. The order of calls is [`Executor::circuit_sizes`], at the owners [`Executor::circuit_side`],
//! then the protocol, [`Executor::circuit_table`]. Discloses the sizes that the plan announces, nothing else: the rows
//! of the table, some for each item of one side, are in an order that no node knows. Costs beyond the protocol: an
//! announcement for each size that is announced, and a shuffle of the table.

use tacit_mpc::{Backend, Block, Rows};

use super::sides::check;
use super::{Executor, in_step_of};
use crate::data::DataTable;
use crate::encode::encode;
use crate::error::{Result, TableError};
use crate::matching::KeyGroups;
use crate::operator::{CircuitPsi, Input, PsiSide};
use crate::operators::input::columns;
use crate::table::Table;

/// Rows that may match: which do, and the columns of both sides, left first, which mean nothing where they do not.
pub struct Matched<B: Backend> {
    /// Where rows match.
    pub valid: B::Bits,
    /// The columns of both sides.
    pub sides: [Rows<B>; 2],
}

impl<B: Backend> Executor<B> {
    /// The number of items of both sides, left first, once every node knows it. own: as in [`Self::psi_sizes`].
    ///
    /// # Errors
    /// As [`Self::psi_sizes`].
    pub fn circuit_sizes(&mut self, psi: &CircuitPsi, own: [Option<usize>; 2]) -> Result<[usize; 2]> {
        let name = name(psi);
        check(psi.sides()).map_err(|error| error.within(&name))?;
        self.sizes(&name, psi.sides(), own)
    }

    /// A side's keys as items for an intersection protocol, and the columns of each item's row, at its owner.
    ///
    /// # Errors
    /// [`TableError::Input`] when the data is not as the operator declares.
    pub fn circuit_side(
        &self,
        psi: &CircuitPsi,
        side: usize,
        data: &DataTable,
        size: usize,
    ) -> Result<(Vec<u128>, Block)> {
        let side = psi.sides()[side];
        let prepare = || {
            let keys = KeyGroups::new(side, data, size, true, &self.hash)?;
            // One row more than the data has is all zeros, for items that no row has.
            let block = encode(&input_of(psi, side), data, data.rows + 1, false, &self.hash)?;
            let rows = block.gather(&keys.row_of_each(data.rows as u32));
            Ok((keys.items, rows))
        };
        prepare().map_err(|error: TableError| error.within(&name(psi)))
    }

    /// The join: rows in an order that no node knows, valid where they match.
    ///
    /// # Errors
    /// [`TableError::Net`].
    pub fn circuit_table(&mut self, psi: &CircuitPsi, matched: Matched<B>) -> Result<Table<B>> {
        let Matched { valid, sides: [left, right] } = matched;
        let (rows, split) = (left.rows, left.shape());
        let mut all = Rows {
            rows,
            bits: [left.bits, right.bits, vec![valid]].concat(),
            r32: vec![],
            r64: [left.r64, right.r64].concat(),
            r128: [left.r128, right.r128].concat(),
        };
        all = in_step_of(&mut self.backend, &name(psi), |b| Ok(b.shuffle(all)?))?;
        let valid = all.bits.pop();
        let right = Rows {
            rows,
            bits: all.bits.split_off(split.bits),
            r32: vec![],
            r64: all.r64.split_off(split.r64),
            r128: all.r128.split_off(split.r128),
        };
        let sides = psi.sides().into_iter().zip([all, right]);
        Ok(Table::new(rows, valid, sides.flat_map(|(side, rows)| columns(&side.columns, rows)).collect()))
    }
}

/// The step's name, as that of any operator.
fn name(psi: &CircuitPsi) -> String {
    format!("{}.circuit_psi", psi.id)
}

/// One side's columns as those of an input.
fn input_of(psi: &CircuitPsi, side: &PsiSide) -> Input {
    let (owner, columns) = (side.owner.clone(), side.columns.clone());
    Input { id: psi.id, owner, columns, rows: None, pad_to_source: false, sorted_by: vec![], ordered: false }
}
