//! `sort` and `limit`.

use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Rows, ops};

use crate::bundle::{bundle, bundle_taken};
use crate::convert::planes;
use crate::error::Result;
use crate::operator::{Limit, Sort, SortKey};
use crate::table::{Column, Order, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// Where a column's values and NULLs go in an order.
#[derive(Clone, Copy)]
pub(crate) struct Direction {
    pub descending: bool,
    pub nulls_first: bool,
}

impl Direction {
    /// Smallest first, NULLs last.
    pub const ASCENDING: Self = Self { descending: false, nulls_first: false };
}

/// A column as part of an unsigned sort key, least significant plane first.
pub(crate) fn key_planes<B: Backend>(b: &mut B, value: &Value<B>, direction: Direction) -> Result<Planes<B>> {
    let mut key = planes(b, value)?;
    if value.kind.signed {
        let sign = key.len() - 1;
        key[sign] = b.not(&key[sign]);
    }
    if direction.descending {
        key = key.iter().map(|plane| b.not(plane)).collect();
    }
    if let Some(null) = &value.null {
        key.push(if direction.nulls_first { b.not(null) } else { null.clone() });
    }
    Ok(key)
}

/// The column from its part of a sort key: the inverse of [`key_planes`], in planes. Local.
pub(crate) fn from_key_planes<B: Backend>(b: &B, mut key: Planes<B>, of: &Value<B>, direction: Direction) -> Value<B> {
    let null = if of.null.is_some() { key.pop() } else { None };
    let null = null.map(|bit| if direction.nulls_first { b.not(&bit) } else { bit });
    if direction.descending {
        key = key.iter().map(|plane| b.not(plane)).collect();
    }
    if of.kind.signed {
        let sign = key.len() - 1;
        key[sign] = b.not(&key[sign]);
    }
    Value::new(of.kind, of.encoding, null, Shares::Bits(key))
}

/// Moves all rows of a table, its valid bits included, to secret destinations. 3 rounds under rep3.
pub(crate) fn move_rows<B: Backend>(
    b: &mut B,
    table: Table<B>,
    destinations: B::Vector<u32>,
    order: Order,
) -> Result<Table<B>> {
    let left = table.rows;
    rearranged(table, left, order, |rows| Ok(ops::apply(b, rows, destinations)?))
}

/// The table of the rows, the valid bits included, that `rearrange` leaves of it in an order.
fn rearranged<B: Backend>(
    table: Table<B>,
    left: usize,
    order: Order,
    rearrange: impl FnOnce(Rows<B>) -> Result<Rows<B>>,
) -> Result<Table<B>> {
    let Table { rows, valid, columns, .. } = table;
    let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().map(|column| (column.name, column.value)).unzip();
    let (mut rows, layout) = bundle_taken(rows, values);
    rows.bits.extend(valid);
    let (values, mut rest) = layout.unbundle(rearrange(rows)?);
    let columns = names.iter().zip(values).map(|(name, value)| Column::new(name, value));
    Ok(Table { rows: left, valid: rest.bits.pop(), columns: columns.collect(), order })
}

/// Valid rows first, in the order of the keys; equal ones in an order that no node knows. An owner's file, or a column
/// that is not shown, may have given them their old order. It would show in an answer, and in which of them a limit
/// keeps. A table in exactly this order stays as it is. Where few rows are kept, the others are not sorted.
pub(crate) fn sort<B: Backend>(b: &mut B, table: Table<B>, sort: &Sort) -> Result<Table<B>> {
    let known = known_order(&table, &sort.keys)?;
    let kept = sort.first.map_or(table.rows, |first| first.min(table.rows));
    let Order { valid_first, by, exact, .. } = &table.order;
    if *valid_first && *exact && known.as_ref() == Some(by) {
        let table = slice(&table, 0, kept);
        let order = Order { stated: true, ..table.order };
        return Ok(Table { order, ..table });
    }
    let exact = known.is_some();
    let order = Order { valid_first: true, by: known.unwrap_or_default(), exact, stated: true, ..Order::default() };
    if kept < table.rows {
        let key = sort_key(b, &table, &sort.keys)?;
        return rearranged(table, kept, order, |rows| Ok(ops::first(b, kept, &key, rows)?));
    }
    let table = shuffled(b, table)?;
    arranged(b, table, &sort.keys, order)
}

/// The rows in an order that no node knows.
pub(crate) fn shuffled<B: Backend>(b: &mut B, table: Table<B>) -> Result<Table<B>> {
    let left = table.rows;
    rearranged(table, left, Order::default(), |rows| Ok(b.shuffle(rows)?))
}

/// Valid rows first, in the order of the keys; equal ones as they were.
pub(crate) fn arranged<B: Backend>(b: &mut B, table: Table<B>, keys: &[SortKey], order: Order) -> Result<Table<B>> {
    let key = sort_key(b, &table, keys)?;
    let destinations = ops::sort_order(b, table.rows, &key)?;
    drop(key);
    move_rows(b, table, destinations, order)
}

/// An order as an unsigned key, in which rows that are not valid come last.
fn sort_key<B: Backend>(b: &mut B, table: &Table<B>, keys: &[SortKey]) -> Result<Planes<B>> {
    let mut key = Planes::<B>::new();
    for term in keys.iter().rev() {
        let direction = Direction { descending: term.descending, nulls_first: term.nulls_first };
        key.extend(key_planes(b, table.value(&term.column)?, direction)?);
    }
    key.extend(table.valid.as_ref().map(|valid| b.not(valid)));
    Ok(key)
}

/// The columns of an order that is ascending with NULLs last throughout; None for any other.
pub(crate) fn known_order<B: Backend>(table: &Table<B>, keys: &[SortKey]) -> Result<Option<Vec<String>>> {
    let mut by = Vec::new();
    for SortKey { column, descending, nulls_first } in keys {
        if *descending || *nulls_first && table.value(column)?.null.is_some() {
            return Ok(None);
        }
        by.push(column.clone());
    }
    Ok(Some(by))
}

/// Rows offset..offset+count of a table that a sort of the plan put in order. Local.
pub(crate) fn limit<B: Backend>(table: &Table<B>, limit: &Limit) -> Result<Table<B>> {
    stated(table)?;
    let start = limit.offset.min(table.rows);
    let rows = limit.count.unwrap_or(table.rows).min(table.rows - start);
    Ok(slice(table, start, rows))
}

/// Refuses a table whose order no sort of the plan made: to show such an order is to show what nobody asked for.
pub(crate) fn stated<B: Backend>(table: &Table<B>) -> Result<()> {
    if table.order.stated {
        return Ok(());
    }
    Err(WrongInput::Unordered.into())
}

/// Rows start..start+rows. Local.
pub(crate) fn slice<B: Backend>(table: &Table<B>, start: usize, rows: usize) -> Table<B> {
    if rows == table.rows {
        return table.clone();
    }
    let (mut all, layout) = bundle(table.rows, table.columns.iter().map(|column| &*column.value));
    all.bits.extend(table.valid.clone());
    let (values, mut rest) = layout.unbundle(all.slice(start, rows));
    let columns = table.columns.iter().zip(values).map(|(column, value)| Column::new(&column.name, value));
    Table { rows, valid: rest.bits.pop(), columns: columns.collect(), order: table.order.clone() }
}
