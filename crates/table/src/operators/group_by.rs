//! `group_by`: one row a group, without a scan.
//!
//! Functionality: one valid row for each distinct key among valid rows (NULLs form one group), ordered by the keys,
//! with the aggregates of its rows. Then come rows that are not valid. Discloses nothing: not even the number of
//! groups.
//!
//! Method: sort by key, valid rows first, and mark the last row of each group. Sum up values from the first row on,
//! locally, and move the marked rows to the front. The differences between neighbours' sums are the groups' sums. What
//! rows that are not valid hold never enters a group, since they come behind all others. MIN and MAX extend the sort
//! key by the value, so that the answer is in a group's last (or first) row. COUNT and SUM
//! DISTINCT are over the positions where it changes. The middle values are those of the rows that [`super::middle`]
//! names, that of a rank is in the row that [`super::rank`] names. Each further column of these functions is a sort of
//! its own by the same key, whose groups come out in the same positions.
//!
//! Where a party may see the keys, it orders the rows instead ([`super::trusted_groups`]), for functions that need no
//! order of values.
//!
//! Cost beyond the sorts, W bits moved: 4/3 W bits to apply each sort, and one equality of the key's width. Bringing
//! the groups to the front takes 4/3 W bits and 6 rounds.

use std::collections::HashMap;
use std::sync::Arc;

use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Rows, ops};

use super::collect::Collector;
use super::order::{Direction, from_key_planes, key_planes};
use super::picks::Picks;
use super::runs::{Run, runs, summed_columns};
use super::sorted::Sorted;
use super::trusted::Trusted;
use super::trusted_groups::{Gathered, gather};
use crate::bundle::bundle;
use crate::error::{Result, TableError};
use crate::operator::GroupBy;
use crate::table::{Column, Order, Table, Value};
use crate::wrong_input::WrongInput;

/// Groups and aggregates. trusted: who sees the keys and orders the rows, if anybody does.
pub(crate) fn group_by<B: Backend>(
    b: &mut B,
    mut table: Table<B>,
    group_by: &GroupBy,
    trusted: Option<Trusted>,
) -> Result<Table<B>> {
    if let Some(conditional) = group_by.aggregates.iter().find(|each| each.condition.is_some()) {
        return Err(WrongInput::Conditional { aggregate: conditional.name.clone() }.into());
    }
    let keys = table.values(&group_by.keys)?;
    let rows = group_by.groups.unwrap_or(table.rows).min(table.rows);
    let mut parts = Vec::new();
    for key in &keys {
        parts.push(key_planes(b, key, Direction::ASCENDING)?);
    }
    let group: Planes<B> = parts.iter().rev().flatten().cloned().collect();
    group_by
        .aggregates
        .iter()
        .filter_map(|each| each.column.as_ref())
        .try_for_each(|name| table.value(name).map(drop))?;
    // What no aggregate reads is needed as planes alone.
    table.columns.retain(|column| group_by.aggregates.iter().any(|each| each.column.as_ref() == Some(&column.name)));
    let Found { mut front, mut answers } = match trusted {
        None => sorted_groups(b, &table, group_by, &group, rows)?,
        Some(trusted) => gathered_groups(b, trusted, &table, group_by, group, rows)?,
    };
    let valid = front.pop();
    let mut columns = key_columns(b, &group_by.keys, &keys, &parts, front);
    if answers.len() != group_by.aggregates.len() {
        return Err(TableError::Internal("an aggregate was not computed".into()));
    }
    answers.sort_by_key(|(place, _)| *place);
    columns.extend(answers.into_iter().map(|(place, value)| Column::new(&group_by.aggregates[place].name, value)));
    Ok(Table {
        rows,
        valid,
        columns,
        // No two groups are equal in all keys.
        order: Order { valid_first: true, by: group_by.keys.clone(), exact: true, ..Order::default() },
    })
}

/// The groups at the front.
struct Found<B: Backend> {
    /// The planes of the keys, and behind them which rows are groups.
    front: Planes<B>,
    /// The aggregates, each with its place in the list of all.
    answers: Vec<(usize, Value<B>)>,
}

/// The groups by sorts that show nothing.
fn sorted_groups<B: Backend>(
    b: &mut B,
    table: &Table<B>,
    group_by: &GroupBy,
    group: &[B::Bits],
    rows: usize,
) -> Result<Found<B>> {
    let mut found = Found { front: vec![], answers: vec![] };
    for (number, run) in runs(table, &group_by.aggregates)?.iter().enumerate() {
        let summed = if number == 0 { summed_columns(table, &group_by.aggregates)? } else { vec![] };
        let (sorted, payload) = sorted(b, table, &group_by.keys, group, run, &summed)?;
        let same_group = sorted.same_group(b)?;
        let ends = sorted.ends(b, &same_group)?;
        let picks = Picks::new(b, &sorted, [&same_group, &ends], run, &group_by.aggregates)?;
        let mut collector = Collector::new(run, &sorted, &picks, &payload);
        let mut moving = collector.collect(b, &group_by.aggregates)?;
        let collected = moving.bits.len();
        if number == 0 {
            moving.bits.extend(sorted.group.iter().cloned());
            moving.bits.push(ends.clone());
        }
        let destinations = ops::partition(b, &ends)?;
        let mut moved = ops::apply(b, moving, destinations)?.slice(0, rows);
        found.front.extend(moved.bits.split_off(collected));
        found.answers.extend(collector.finish(b, &group_by.aggregates, moved)?);
    }
    Ok(found)
}

/// The groups as a party that sees the keys tells.
fn gathered_groups<B: Backend>(
    b: &mut B,
    trusted: Trusted,
    table: &Table<B>,
    group_by: &GroupBy,
    group: Planes<B>,
    rows: usize,
) -> Result<Found<B>> {
    let runs = runs(table, &group_by.aggregates)?;
    let [run @ Run { column: None, .. }] = &runs[..] else {
        return Err(needs_order(group_by).into());
    };
    let summed = summed_columns(table, &group_by.aggregates)?;
    let Gathered { payload, to_front, front } = gather(b, trusted, table.rows, group, table.valid.as_ref(), &summed)?;
    let sorted = Sorted { rows: table.rows, value: vec![], group: vec![], invalid: None };
    let picks = Picks::none();
    let mut collector = Collector::new(run, &sorted, &picks, &payload);
    let moving = collector.collect(b, &group_by.aggregates)?;
    let moved = ops::apply(b, moving, to_front)?.slice(0, rows);
    let answers = collector.finish(b, &group_by.aggregates, moved)?;
    let front = Rows::<B> { bits: front, ..Rows::empty(table.rows) }.slice(0, rows).bits;
    Ok(Found { front, answers })
}

/// The error of an aggregate that the keys alone do not order, in groups by a trusted party.
fn needs_order(group_by: &GroupBy) -> WrongInput {
    let trusted = group_by.trusted.clone().unwrap_or_default();
    let ordered = group_by.aggregates.iter().find(|each| super::runs::needs_order(each.function));
    WrongInput::TrustedOrder { trusted, aggregate: ordered.map_or_else(String::new, |each| each.name.clone()) }
}

/// Sorts by valid, group and the run's column, and brings some columns into that order. A table in that order stays as
/// it is.
fn sorted<B: Backend>(
    b: &mut B,
    table: &Table<B>,
    keys: &[String],
    group: &[B::Bits],
    run: &Run<'_, B>,
    payload: &[(String, Arc<Value<B>>)],
) -> Result<(Sorted<B>, HashMap<String, Value<B>>)> {
    let rows = table.rows;
    let invalid = table.valid.as_ref().map(|valid| b.not(valid));
    let Some(column) = &run.column else {
        if table.order.valid_first && table.order.by.starts_with(keys) {
            let payload = payload.iter().map(|(name, value)| (name.clone(), Value::clone(value))).collect();
            return Ok((Sorted { rows, value: vec![], group: group.to_vec(), invalid }, payload));
        }
        return sort(b, rows, vec![], group, invalid, payload);
    };
    let value = key_planes(b, column, run.direction)?;
    sort(b, rows, value, group, invalid, payload)
}

fn sort<B: Backend>(
    b: &mut B,
    rows: usize,
    value: Planes<B>,
    group: &[B::Bits],
    invalid: Option<B::Bits>,
    payload: &[(String, Arc<Value<B>>)],
) -> Result<(Sorted<B>, HashMap<String, Value<B>>)> {
    let width = value.len();
    let key: Planes<B> = value.into_iter().chain(group.iter().cloned()).chain(invalid.clone()).collect();
    let destinations = ops::sort_order(b, rows, &key)?;
    let (mut moving, layout) = bundle(rows, payload.iter().map(|(_, value)| &**value));
    moving.bits.extend(key);
    let (values, rest) = layout.unbundle(ops::apply(b, moving, destinations)?);
    let payload = payload.iter().map(|(name, _)| name.clone()).zip(values).collect();
    let mut planes = rest.bits;
    let invalid = if invalid.is_some() { planes.pop() } else { None };
    let group = planes.split_off(width);
    Ok((Sorted { rows, value: planes, group, invalid }, payload))
}

/// The key columns of the groups, from the sort key's planes.
fn key_columns<B: Backend>(
    b: &B,
    names: &[String],
    keys: &[Arc<Value<B>>],
    parts: &[Planes<B>],
    front: Planes<B>,
) -> Vec<Column<B>> {
    let mut planes = front.into_iter();
    let mut columns: Vec<_> = names
        .iter()
        .zip(keys)
        .zip(parts)
        .rev()
        .map(|((name, key), part)| {
            let key_part = planes.by_ref().take(part.len()).collect();
            Column::new(name, from_key_planes(b, key_part, key, Direction::ASCENDING))
        })
        .collect();
    columns.reverse();
    columns
}
