//! `group_join`: every left row with sums and counts of the right rows of equal keys. Left keys are unique among valid
//! rows.
//!
//! Functionality: the rows of left, in their order, with aggregates over the valid right rows that have the same keys,
//! without a NULL among them. A row is valid where it was and there is such a right row. Where left rows are kept, all
//! stay valid; of no right rows counts are 0 and sums NULL. Discloses nothing: not even which rows match.
//!
//! It is what a `group_by` of a `join` by the join's keys gives, with one sort for both, and without copies of left
//! columns in right rows. (The groupjoin of Moerkotte and Neumann, PVLDB 4, 2011, "Accelerating queries with group-by
//! and join by groupjoin". Sums are from the first row on, as in [`super::group_by`].)
//!
//! Method: one stable sort of right and left rows by key, right rows first among equals, so that a left row is the last
//! row of its group. Values are summed up from the first row on, locally; left rows count zero. The last rows of groups
//! move to the front, where neighbours' differences are the groups' sums. Then each row goes back to where it came
//! from, and left rows have the sums of their groups. Rows that are not valid, or whose key is NULL, sort behind
//! everything. Their groups have no valid row without a NULL. A left row found a right one where it is not the first
//! row of its group.
//!
//! Cost beyond the sort: n left and m right rows have a key of w bits and W bits of sums. An equality of w bits, a
//! partition, and about 4 (n + m) (W + w / 3 + log2 (n + m)) bits in 9 rounds. No column of left moves.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tacit_math::Plane;
use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Rows, ops};

use super::join::{KeyPair, key_of, key_pairs, unusable, usable};
use super::runs::column_name;
use super::totals::{Modulus, Place, Totals, same_as_next, same_as_previous};
use crate::error::{Result, TableError};
use crate::mask::{and_present, keep};
use crate::operator::{AggregateFunction, Aggregation, GroupJoin};
use crate::table::{Column, Table, Value};
use crate::wrong_input::WrongInput;

/// What is summed up over a group's right rows.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Summand {
    /// One for each row.
    Rows,
    /// One for each value that is not NULL.
    Present(String),
    /// The values.
    Values(String),
}

/// The groups' sums, a row for each left row, and whether it found a right one.
struct Found<B: Backend> {
    sums: Rows<B>,
    matched: B::Bits,
}

/// The left rows with their aggregates.
pub(crate) fn group_join<B: Backend>(
    b: &mut B,
    left: &Table<B>,
    right: &Table<B>,
    join: &GroupJoin,
) -> Result<Table<B>> {
    if let Some(conditional) = join.aggregates.iter().find(|each| each.condition.is_some()) {
        return Err(WrongInput::Conditional { aggregate: conditional.name.clone() }.into());
    }
    let (left_keys, right_keys) = (left.values(&join.left_keys)?, right.values(&join.right_keys)?);
    let keys = key_pairs(b, "group_join", (left, &left_keys), (right, &right_keys))?;
    let usable_left = usable(b, left, &left_keys)?;
    let usable_right = usable(b, right, &right_keys)?;
    let mut key = key_of(&turned(&keys));
    key.extend(unusable(b, right.rows, left.rows, usable_right, usable_left.clone()));

    let (moving, places) = summed(b, right, left.rows, &join.aggregates)?;
    let Found { sums, matched } = found(b, key, right.rows, moving)?;
    let matched = match usable_left {
        Some(usable) => b.and(&[&matched], &[&usable])?.swap_remove(0),
        None => matched,
    };
    let mut columns = Vec::new();
    for name in &join.left_columns {
        columns.push(Column { name: name.clone(), value: Arc::clone(left.value(name)?) });
    }
    // A valid row with a NULL in its key stands in a group of rows that do not count.
    let strays = join.kept && left_keys.iter().any(|key| key.null.is_some());
    let missed = join.kept.then_some((&matched, strays));
    for aggregate in &join.aggregates {
        let value = answer(b, right, aggregate, &places, &sums, missed)?;
        columns.push(Column::new(&aggregate.name, value));
    }
    let mut table = Table::new(left.rows, if join.kept { left.valid.clone() } else { Some(matched) }, columns);
    let stays = left.order.by.iter().chain(&left.order.encoded).all(|name| join.left_columns.contains(name));
    if join.kept && stays {
        table.order = left.order.clone();
    }
    Ok(table)
}

/// The pairs of keys with right rows first.
fn turned<B: Backend>(keys: &[KeyPair<B>]) -> Vec<KeyPair<B>> {
    keys.iter()
        .map(|pair| KeyPair { left: pair.right.clone(), right: pair.left.clone(), signed: pair.signed })
        .collect()
}

/// What an aggregate adds up, the sum first, and modulo what.
fn summands<B: Backend>(right: &Table<B>, aggregate: &Aggregation) -> Result<Vec<(Summand, Modulus)>> {
    let count = Modulus::of_count(aggregate.kind);
    let present = |name: &str| -> Result<Summand> {
        let nullable = right.value(name)?.null.is_some();
        Ok(if nullable { Summand::Present(name.into()) } else { Summand::Rows })
    };
    Ok(match aggregate.function {
        AggregateFunction::CountRows => vec![(Summand::Rows, count)],
        AggregateFunction::Count => vec![(present(column_name(aggregate)?)?, count)],
        AggregateFunction::Sum => {
            let name = column_name(aggregate)?;
            let values = (Summand::Values(name.into()), Modulus::of_sum(aggregate.kind));
            match present(name)? {
                Summand::Rows => vec![values],
                present => vec![values, (present, Modulus::M32)],
            }
        }
        _ => return Err(WrongInput::Ungrouped { aggregate: aggregate.name.clone() }.into()),
    })
}

/// Where each summand's column is in a bundle.
type Places = HashMap<(Summand, Modulus), Place>;

/// The summands of all aggregates, each once: right rows' first, and zeros for n left rows. Bits are injected together,
/// columns converted together.
fn summed<B: Backend>(b: &mut B, right: &Table<B>, n: usize, aggregates: &[Aggregation]) -> Result<(Rows<B>, Places)> {
    let mut wanted = Vec::new();
    for aggregate in aggregates {
        wanted.extend(summands(right, aggregate)?);
    }
    let (mut moving, mut places) = (Rows::empty(right.rows + n), Places::new());
    for modulus in Modulus::ALL {
        let (mut bits, mut values) = (vec![], vec![]);
        let mut seen = HashSet::new();
        for (summand, _) in wanted.iter().filter(|(summand, ring)| *ring == modulus && seen.insert(summand)) {
            match summand {
                Summand::Rows => {
                    let ones = Totals::public(b, right.rows, |_| 1, modulus);
                    places.insert((Summand::Rows, modulus), ones.padded(n).push(&mut moving));
                }
                Summand::Values(name) => values.push((summand, &**right.value(name)?)),
                Summand::Present(name) => {
                    bits.extend(right.value(name)?.null.as_ref().map(|null| (summand, b.not(null))));
                }
            }
        }
        let filled: Vec<&B::Bits> = bits.iter().map(|(_, bit)| bit).collect();
        let columns: Vec<&Value<B>> = values.iter().map(|&(_, value)| value).collect();
        let totals = [Totals::of_bits(b, &filled, modulus)?, Totals::of_values(b, &columns, modulus)?];
        let order = bits.iter().map(|(summand, _)| *summand).chain(values.iter().map(|(summand, _)| *summand));
        for (summand, totals) in order.zip(totals.into_iter().flatten()) {
            places.insert((summand.clone(), modulus), totals.padded(n).push(&mut moving));
        }
    }
    Ok((moving, places))
}

/// Sums of the groups of m right rows and then left rows by an unsigned key.
fn found<B: Backend>(b: &mut B, key: Planes<B>, m: usize, mut moving: Rows<B>) -> Result<Found<B>> {
    let rows = moving.rows;
    let labels = ops::label_width(rows);
    let destinations = ops::sort_order(b, rows, &key)?;
    moving.bits = (0..labels).map(|bit| b.public_bits(rows, || Plane::from_fn(rows, |i| i >> bit & 1 == 1))).collect();
    moving.bits.extend(key);
    let mut sorted = ops::apply(b, moving, destinations)?;
    let group = sorted.bits.split_off(labels);
    let same = same_as_next(b, rows, &group)?;
    let later = same_as_previous::<B>(&same);
    let ends = b.not(&same);
    let summed = Rows { bits: vec![], ..sorted.clone() }.prefix_sums();
    let bits = sorted.bits.into_iter().chain([later]).collect();
    let destinations = ops::partition(b, &ends)?;
    let front = ops::apply(b, Rows { bits, ..summed }, destinations)?;
    let mut bits = front.bits.clone();
    let later = bits.split_off(labels);
    let sums = Rows { bits: vec![], ..front }.differences();
    let place = |label: u64| u32::try_from(label).ok().filter(|&row| (row as usize) < rows);
    let back = ops::place_by_labels(b, Rows { bits: later, ..sums }, bits, place)?.slice(m, rows - m);
    let lost = || TableError::Internal("which rows were found got lost".into());
    let matched = back.bits.first().cloned().ok_or_else(lost)?;
    Ok(Found { sums: Rows { bits: vec![], ..back }, matched })
}

/// The column of an aggregate. missed: where rows without a right row are kept, which have one, and whether what the
/// others hold is not zero.
fn answer<B: Backend>(
    b: &mut B,
    right: &Table<B>,
    aggregate: &Aggregation,
    places: &Places,
    sums: &Rows<B>,
    missed: Option<(&B::Bits, bool)>,
) -> Result<Value<B>> {
    let parts = summands(right, aggregate)?;
    let total = places[&parts[0]].get(sums);
    let mut filled = Vec::new();
    if let Some(count) = parts.get(1) {
        let none = places[count].get(sums).is_zero(b, ops::label_width(right.rows + 1))?;
        filled.push(b.not(&none));
    }
    if aggregate.function == AggregateFunction::Sum {
        filled.extend(missed.map(|(matched, _)| matched.clone()));
    }
    let filled = and_present(b, sums.rows, filled)?;
    let null = filled.as_ref().map(|filled| b.not(filled));
    let value = total.into_value(b, aggregate.kind, null)?;
    let Some((matched, true)) = missed else { return Ok(value) };
    let shares = keep(b, filled.as_ref().unwrap_or(matched), &value.shares)?;
    Ok(Value::new(value.kind, value.encoding, value.null, shares))
}
