//! `pairs`: every left row beside every right row.
//!
//! Functionality: for n left and m right rows n m rows. Those of a left row follow each other, in the order of right.
//! A row is valid where both its parts are. Discloses nothing.
//!
//! Method: rows are repeated, which is local. Cost: an AND of n m bits, one round; none where the rows of one side are
//! all valid.

use tacit_math::Plane;
use tacit_mpc::{Backend, Linear};

use super::input::at_most;
use crate::bundle::bundle;
use crate::error::Result;
use crate::mask::and_present;
use crate::table::{Column, Table};
use crate::wrong_input::WrongInput;

/// The most pairs; the planner refuses more, too (`MOST_PAIRS` of tacit.plan.physical.lower_join).
const MOST_PAIRS: usize = 1 << 20;

/// All columns of left, then those of right.
pub(crate) fn pairs<B: Backend>(b: &mut B, left: &Table<B>, right: &Table<B>) -> Result<Table<B>> {
    let rows = left.rows.checked_mul(right.rows).filter(|&rows| rows <= MOST_PAIRS);
    let rows = rows.ok_or(WrongInput::Pairs { left: left.rows, right: right.rows, most: MOST_PAIRS })?;
    let rows = at_most(rows, "a table of pairs")?;
    let from = |part: &dyn Fn(usize) -> usize| -> Vec<u32> { (0..rows).map(|row| part(row) as u32).collect() };
    let (mut columns, first) = repeated(left, &from(&|row| row / right.rows));
    let (others, second) = repeated(right, &from(&|row| row % right.rows));
    columns.extend(others);
    let valid = and_present(b, rows, first.into_iter().chain(second).collect())?;
    Ok(Table::new(rows, valid, columns))
}

/// The columns and the validity of these rows.
fn repeated<B: Backend>(table: &Table<B>, from: &[u32]) -> (Vec<Column<B>>, Option<B::Bits>) {
    let (rows, layout) = bundle(table.rows, table.columns.iter().map(|column| &*column.value));
    let (values, _) = layout.unbundle(rows.gather_public(from));
    let columns = table.columns.iter().zip(values).map(|(column, value)| Column::new(&column.name, value)).collect();
    let valid = table.valid.as_ref().map(|valid| valid.map(from.len(), |plane: &Plane| plane.gather(from)));
    (columns, valid)
}
