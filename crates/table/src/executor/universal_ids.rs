//! The engine's part of `universal_ids`: sizes become known, and both sides' rows become shared in the order of ids.
//!
//! What happens between, a protocol between the two owners that gives every row a universal id, is the caller's: this
//! room knows none. The order of calls is [`Executor::ids_sizes`], at the owners [`Executor::ids_side`], then the
//! protocol, [`Executor::ids_rows`], [`Executor::ids_table`]. Discloses the sizes that the plan announces, and the
//! number of ids. Costs beyond the protocol: an announcement for each of these, an input for each side, and one AND a
//! row, in one round.

use tacit_mpc::{Backend, Block, Permit, linear};

use super::sides::check;
use super::{Executor, in_step_of};
use crate::data::DataTable;
use crate::encode::{encode, shape};
use crate::error::{Result, TableError};
use crate::matching::KeyGroups;
use crate::operator::{Input, PsiSide, UniversalIds};
use crate::operators::input::columns;
use crate::table::{Column, Table, Value};
use crate::wrong_input::WrongInput;

/// One owner's side: its items for the protocol, and its encoded rows.
pub struct IdsSide {
    /// An item for each row, then random ones up to the public size.
    pub items: Vec<u128>,
    /// The encoded row of each item, that of no row at random ones.
    rows: Vec<u32>,
    /// The encoded rows, last one that stands for no row.
    block: Block,
}

impl IdsSide {
    /// The encoded rows of these items, and of no row where there is none.
    #[must_use]
    pub fn rows_of(&self, items: impl IntoIterator<Item = Option<u32>>) -> Block {
        let none = (self.block.rows - 1) as u32;
        let rows: Vec<u32> = items.into_iter().map(|item| item.map_or(none, |item| self.rows[item as usize])).collect();
        self.block.gather(&rows)
    }
}

impl<B: Backend> Executor<B> {
    /// The number of items of both sides, left first, once every node knows it, and the permit of the number of ids,
    /// for [`Self::ids_rows`]. own: as in [`Self::psi_sizes`].
    ///
    /// # Errors
    /// [`TableError::Policy`] before anything is sent; [`TableError::Input`] for sizes that cannot be, and for columns
    /// without NULL; [`TableError::Net`].
    pub fn ids_sizes(&mut self, ids: &UniversalIds, own: [Option<usize>; 2]) -> Result<([usize; 2], Permit)> {
        let name = name(ids);
        check(ids.sides()).map_err(|error| error.within(&name))?;
        let mut columns = ids.sides().into_iter().flat_map(|side| &side.columns);
        if let Some(column) = columns.find(|column| !column.kind.nullable) {
            return Err(TableError::from(WrongInput::NotNullable { name: column.name.clone() }).within(&name));
        }
        let rows = self.size_permit(&name)?;
        Ok((self.sizes(&name, ids.sides(), own)?, rows))
    }

    /// A side's rows, each as an item of a protocol that gives ids, at its owner. A row with a NULL among its keys is
    /// an item that matches nothing.
    ///
    /// # Errors
    /// [`TableError::Input`] when the data is not as the operator declares.
    pub fn ids_side(&self, ids: &UniversalIds, side: usize, data: &DataTable, size: usize) -> Result<IdsSide> {
        let side = ids.sides()[side];
        let prepare = || {
            let keys = KeyGroups::new(side, data, size, true, &self.hash)?;
            let block = encode(&input_of(ids, side), data, data.rows + 1, true, &self.hash)?;
            let rows = keys.row_of_each_or_keyless(data.rows);
            Ok(IdsSide { items: keys.items, rows, block })
        };
        prepare().map_err(|error: TableError| error.within(&name(ids)))
    }

    /// The number of ids, which both owners know and all nodes learn. permit: that which [`Self::ids_sizes`] gave. own:
    /// at the right side's owner.
    ///
    /// # Errors
    /// [`TableError::Policy`] for more than it allows; [`TableError::Net`].
    pub fn ids_rows(&mut self, ids: &UniversalIds, permit: Permit, own: Option<usize>) -> Result<usize> {
        self.announced(&name(ids), &ids.right, permit, own)
    }

    /// The full join: one row an id, with the columns of both sides, NULL where a side has no row, valid where either
    /// has one. Each owner gives its rows in the order of ids ([`IdsSide::rows_of`]).
    ///
    /// # Errors
    /// [`TableError::Net`].
    pub fn ids_table(&mut self, ids: &UniversalIds, rows: usize, given: [Option<Block>; 2]) -> Result<Table<B>> {
        let Self { backend, parties, .. } = self;
        in_step_of(backend, &name(ids), |b| {
            let (mut found, mut present) = (Vec::new(), Vec::new());
            for (side, block) in ids.sides().into_iter().zip(given) {
                let owner = parties.owning_node(&side.owner)?;
                let mut shared = b.input(owner, shape(&side.columns, rows, true), block)?;
                let here = shared.bits.pop().expect("a plane of rows that are there");
                let absent = b.not(&here);
                let columns = columns(&side.columns, shared).into_iter();
                found.extend(columns.map(|column| null_where::<B>(&column, &absent)));
                present.push(here);
            }
            let [left, right] = [&present[0], &present[1]];
            let both = b.and(&[left], &[right])?;
            let either = linear::xor(&linear::xor(left, right), &both[0]);
            Ok(Table::new(rows, Some(either), found))
        })
    }
}

/// The column, NULL also where its side has no row. Its own plane of NULLs is zero there.
fn null_where<B: Backend>(column: &Column<B>, absent: &B::Bits) -> Column<B> {
    let Value { kind, encoding, null, shares } = Value::clone(&column.value);
    let null = null.map(|null| linear::xor(&null, absent));
    Column::new(&column.name, Value::new(kind, encoding, null, shares))
}

/// The step's name, as that of any operator.
fn name(ids: &UniversalIds) -> String {
    format!("{}.universal_ids", ids.id)
}

/// One side's columns as those of an input.
fn input_of(ids: &UniversalIds, side: &PsiSide) -> Input {
    let (owner, columns) = (side.owner.clone(), side.columns.clone());
    Input { id: ids.id, owner, columns, rows: None, pad_to_source: false, sorted_by: vec![], ordered: false }
}
