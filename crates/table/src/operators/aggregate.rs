//! `aggregate`: one row for the whole table, always valid.
//!
//! Functionality: sums and counts are over valid rows. If they name a truth value, rows where it is not TRUE are left
//! out. MIN and MAX are a tree of comparisons ([`super::largest`]). COUNT and SUM DISTINCT, middle values and those of
//! a rank sort. Discloses nothing.
//!
//! Cost of sums and counts: an injection of a bit a row for each set of rows that they are over. Summands take, by
//! engine, few words a column or a product a row ([`ops::sums_where`]).

use tacit_math::Plane;
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Rows, linear, ops};

use super::added::{added, adds_up};
use super::largest::largest;
use super::order::{Direction, from_key_planes, key_planes};
use super::picks::Pick;
use super::runs::column_name;
use super::totals::{Modulus, Totals, same_as_next, same_as_previous};
use super::{middle, rank};
use crate::convert::to_kind;
use crate::error::{Result, TableError};
use crate::mask::{keep, present};
use crate::operator::{Aggregate, AggregateFunction, Aggregation};
use crate::table::{Column, Table, Value};
use crate::wrong_input::WrongInput;

/// Every aggregate over the whole table.
pub(crate) fn aggregate<B: Backend>(b: &mut B, table: &Table<B>, aggregate: &Aggregate) -> Result<Table<B>> {
    let listed: Vec<&Aggregation> = aggregate.aggregates.iter().filter(|each| adds_up(each)).collect();
    let mut added = added(b, table, &listed)?.into_iter();
    let mut columns = Vec::new();
    for aggregation in &aggregate.aggregates {
        let value = match adds_up(aggregation) {
            true => added.next().ok_or_else(|| TableError::Internal("a sum was not computed".into()))?,
            false => one(b, table, aggregation)?,
        };
        columns.push(Column::new(&aggregation.name, value));
    }
    Ok(Table::new(1, None, columns))
}

/// Any aggregate but a sum or a count of rows.
fn one<B: Backend>(b: &mut B, table: &Table<B>, aggregation: &Aggregation) -> Result<Value<B>> {
    if aggregation.condition.is_some() {
        return Err(WrongInput::Conditional { aggregate: aggregation.name.clone() }.into());
    }
    match aggregation.function {
        AggregateFunction::CountDistinct => {
            let (key, present) = sorted(b, table, table.value(column_name(aggregation)?)?)?;
            let new = distinct(b, table.rows, key, present)?;
            let count = Totals::of_bits(b, &[&new], Modulus::of_count(aggregation.kind))?.swap_remove(0).sum();
            count.into_value(b, aggregation.kind, None)
        }
        AggregateFunction::Min | AggregateFunction::Max => extreme(b, table, aggregation),
        AggregateFunction::SumDistinct | AggregateFunction::Middle | AggregateFunction::Ranked => {
            picked(b, table, aggregation)
        }
        _ => Err(WrongInput::Ungrouped { aggregate: aggregation.name.clone() }.into()),
    }
}

/// MIN or MAX: the largest key among present rows, where the key's top plane says whether a row is present.
fn extreme<B: Backend>(b: &mut B, table: &Table<B>, aggregation: &Aggregation) -> Result<Value<B>> {
    let column = table.value(column_name(aggregation)?)?;
    let present = present(b, table.valid.as_ref(), &[column])?.swap_remove(0);
    let direction = Direction { descending: aggregation.function == AggregateFunction::Min, nulls_first: true };
    let bare = Value { null: None, ..Value::clone(column) };
    let mut key = key_planes(b, &bare, direction)?;
    key.extend(present);
    let certain = key.len() == column.kind.width && table.rows > 0;
    if table.rows == 0 {
        key = (0..=column.kind.width).map(|_| b.public_bits(1, || Plane::zeros(1))).collect();
    }
    let mut largest = largest(b, key)?;
    let found = if certain { None } else { largest.pop() };
    let value = from_key_planes(b, largest, &bare, direction);
    let (null, shares) = match found {
        None => (b.public_bits(1, || Plane::zeros(1)), value.shares),
        Some(found) => (b.not(&found), keep(b, &found, &value.shares)?),
    };
    let value = Value::new(value.kind, value.encoding, Some(null), shares);
    to_kind(b, &value, aggregation.kind)
}

/// Chosen values of valid rows that are not NULL, added up.
fn picked<B: Backend>(b: &mut B, table: &Table<B>, aggregation: &Aggregation) -> Result<Value<B>> {
    let (rows, column) = (table.rows, table.value(column_name(aggregation)?)?);
    let bare = Value { null: None, ..Value::clone(column) };
    let lost = || TableError::Internal("an aggregate chooses no rows".into());
    let pick = Pick::of(aggregation, rows)?.ok_or_else(lost)?;
    let (key, present) = sorted(b, table, column)?;
    let count = match &present {
        Some(present) => linear::total(&b.inject::<u32>(&[present])?[0]),
        None => b.public_vector(1, || vec![rows as u32]),
    };
    let flags = match pick {
        Pick::Middle => middle::of_all(b, rows, &count, present)?.into(),
        Pick::Distinct => vec![distinct(b, rows, key.clone(), present)?],
        Pick::Rank(rank) => {
            let found = rank::of_all(b, rows, &count, rank)?;
            vec![circuits::and_all(b, rows, std::iter::once(found).chain(present).collect())?]
        }
    };
    let values = from_key_planes(b, key, &bare, Direction::ASCENDING);
    let total = Totals::selected(b, &values, &flags, Modulus::of_sum(aggregation.kind))?.sum();
    let null = Totals::M32(count).is_zero(b, ops::label_width(rows + 1))?;
    total.into_value(b, aggregation.kind, Some(null))
}

/// A column's sort key in its order, and which rows are valid and not NULL; None: all. Others come last.
fn sorted<B: Backend>(b: &mut B, table: &Table<B>, column: &Value<B>) -> Result<(Planes<B>, Option<B::Bits>)> {
    let rows = table.rows;
    let present = present(b, table.valid.as_ref(), &[column])?.swap_remove(0);
    let bare = Value { null: None, ..column.clone() };
    let mut key = key_planes(b, &bare, Direction::ASCENDING)?;
    key.extend(present.as_ref().map(|present| b.not(present)));
    let destinations = ops::sort_order(b, rows, &key)?;
    let mut sorted = ops::apply(b, Rows { bits: key, ..Rows::empty(rows) }, destinations)?.bits;
    let absent = if present.is_some() { sorted.pop() } else { None };
    Ok((sorted, absent.map(|absent| b.not(&absent))))
}

/// One bit for each distinct value of a sorted column. present: as of [`sorted`].
fn distinct<B: Backend>(b: &mut B, rows: usize, mut key: Planes<B>, present: Option<B::Bits>) -> Result<B::Bits> {
    key.extend(present.clone());
    let same = same_as_next(b, rows, &key)?;
    let new = b.not(&same_as_previous::<B>(&same));
    match present {
        Some(present) => Ok(b.and(&[&new], &[&present])?.swap_remove(0)),
        None => Ok(new),
    }
}
