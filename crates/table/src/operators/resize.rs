//! `resize`: a table without rows that are not valid, as far as it is known how many there are.
//!
//! Functionality: valid rows come first, in their old order, and the table ends behind a public number of rows. That is
//! a bound which the plan knows, and nobody learns anything. Or it is the number of valid rows itself, which is opened
//! to the nodes with a permit; then every row is valid, and everyone knows it. A table in which all rows are known to
//! be valid stays as it is. One 1-bit partition moves the rows; where they come first already nothing moves.
//!
//! Rounds under rep3: 7 to move rows; 3 more to open their number.

use tacit_mpc::{Backend, Linear, Permit, PermitKind, Permits, Rows, linear, ops};

use super::order::{move_rows, slice};
use crate::error::{Result, TableError};
use crate::operator::Resize;
use crate::parties::Parties;
use crate::table::{Order, Table};

/// told: the number of valid rows, in an engine without data.
pub(crate) fn resize<B: Backend>(
    b: &mut B,
    permits: &mut Permits,
    parties: &Parties,
    table: Table<B>,
    resize: &Resize,
    told: Option<usize>,
) -> Result<Table<B>> {
    let permit = permit(permits, parties, resize)?;
    let Some(valid) = table.valid.clone() else { return Ok(table) };
    let Some(permit) = permit else {
        let rows = resize.rows.map_or(table.rows, |rows| rows.min(table.rows));
        return if rows < table.rows { first(b, table, &valid, rows) } else { Ok(table) };
    };
    let rows = count(b, &valid, permit, told)?;
    let table = first(b, table, &valid, rows)?;
    Ok(Table { valid: None, ..table })
}

/// The permit to open how many rows are valid; None where the plan has a bound.
fn permit(permits: &mut Permits, parties: &Parties, resize: &Resize) -> Result<Option<Permit>> {
    if resize.rows.is_some() {
        return Ok(None);
    }
    let site = format!("{}.resize", resize.id);
    Ok(Some(permits.take(&site, &[PermitKind::Count], &parties.nodes, &[])?))
}

/// How many rows are valid.
fn count<B: Backend>(b: &mut B, valid: &B::Bits, permit: Permit, told: Option<usize>) -> Result<usize> {
    let number = b.inject::<u32>(&[valid])?.swap_remove(0);
    let rows = Rows { r32: vec![linear::total(&number)], ..Rows::empty(1) };
    let most = permit.most();
    let opened = b.open(&rows, permit)?.map(|block| block.r32[0][0] as usize);
    // What an engine without data is told may be a guess.
    let count = opened.or_else(|| told.map(|told| told.min(valid.rows())));
    let count = count.ok_or_else(|| TableError::Internal("no number of rows was opened".into()))?;
    let most = most.map_or(valid.rows(), |most| most.min(valid.rows() as u64) as usize);
    if count > most { Err(too_many(count, most)) } else { Ok(count) }
}

/// No table has more valid rows than rows, nor more than the approved plan says.
fn too_many(count: usize, most: usize) -> TableError {
    TableError::Peer(format!("the nodes opened {count} as the number of valid rows of a table that has at most {most}"))
}

/// The first `rows` rows, valid ones before others. No more than these are valid. It costs the same for any number.
fn first<B: Backend>(b: &mut B, table: Table<B>, valid: &B::Bits, rows: usize) -> Result<Table<B>> {
    if table.order.valid_first {
        return Ok(slice(&table, 0, rows));
    }
    let destinations = ops::partition(b, valid)?;
    // Neighbours may be far from each other now, as their owner did not sort rows that are valid first.
    let order = Order { valid_first: true, encoded: vec![], ..table.order.clone() };
    Ok(slice(&move_rows(b, table, destinations, order)?, 0, rows))
}
