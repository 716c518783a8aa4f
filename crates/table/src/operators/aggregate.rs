//! `aggregate`: one row for the whole table, always valid.
//!
//! Functionality: sums and counts over valid rows are local once values of rows that are not valid are zero. MIN and
//! MAX are a tree of comparisons. COUNT DISTINCT and the middle values sort. Discloses nothing.

use tacit_math::Plane;
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Linear, Rows, linear, ops};

use super::middle;
use super::order::{Direction, from_key_planes, key_planes};
use super::runs::column_name;
use super::totals::{Modulus, Totals, same_as_next, same_as_previous};
use crate::convert::to_kind;
use crate::error::{Result, TableError};
use crate::mask::{keep, keep_all, present};
use crate::operator::{Aggregate, AggregateFunction, Aggregation};
use crate::table::{Column, Table, Value, slice_bits};
use crate::wrong_input::WrongInput;

/// Every aggregate over the whole table.
pub(crate) fn aggregate<B: Backend>(b: &mut B, table: &Table<B>, aggregate: &Aggregate) -> Result<Table<B>> {
    let mut sums = sums(b, table, &aggregate.aggregates)?.into_iter();
    let mut columns = Vec::new();
    for aggregation in &aggregate.aggregates {
        let value = match aggregation.function {
            AggregateFunction::Sum => {
                sums.next().ok_or_else(|| TableError::Internal("a sum was not computed".into()))?
            }
            _ => one(b, table, aggregation)?,
        };
        columns.push(Column::new(&aggregation.name, value));
    }
    Ok(Table::new(1, None, columns))
}

/// Any aggregate but a sum.
fn one<B: Backend>(b: &mut B, table: &Table<B>, aggregation: &Aggregation) -> Result<Value<B>> {
    let bits = match aggregation.function {
        AggregateFunction::CountRows => table.valid.clone(),
        AggregateFunction::Count => {
            let value = table.value(column_name(aggregation)?)?;
            present(b, table.valid.as_ref(), &[value])?.swap_remove(0)
        }
        AggregateFunction::CountDistinct => Some(distinct(b, table, table.value(column_name(aggregation)?)?)?),
        AggregateFunction::Min | AggregateFunction::Max => return extreme(b, table, aggregation),
        AggregateFunction::Middle => return middle(b, table, aggregation),
        AggregateFunction::Any | AggregateFunction::Sum => {
            return Err(WrongInput::Ungrouped { aggregate: aggregation.name.clone() }.into());
        }
    };
    let modulus = Modulus::of_count(aggregation.kind);
    let count = match bits {
        Some(bits) => Totals::of_bits(b, &[&bits], modulus)?.swap_remove(0).sum(),
        None => Totals::public(b, 1, |_| table.rows, modulus),
    };
    count.into_value(b, aggregation.kind, None)
}

/// All sums: columns are masked together, converted together, and searched for values that are not NULL together.
fn sums<B: Backend>(b: &mut B, table: &Table<B>, aggregations: &[Aggregation]) -> Result<Vec<Value<B>>> {
    let sums: Vec<&Aggregation> = aggregations.iter().filter(|a| a.function == AggregateFunction::Sum).collect();
    let mut values = Vec::new();
    for aggregation in &sums {
        values.push(table.value(column_name(aggregation)?)?);
    }
    let nulls = nulls_of_sums(b, table, &values.iter().map(|value| &***value).collect::<Vec<_>>())?;
    let masked: Vec<Value<B>> = match &table.valid {
        None => values.iter().map(|value| Value::clone(value)).collect(),
        Some(valid) => {
            let columns: Vec<_> = values.iter().map(|value| (0, &value.shares)).collect();
            let kept = keep_all(b, &[valid], &columns)?;
            values.iter().zip(kept).map(|(value, kept)| Value::new(value.kind, value.encoding, None, kept)).collect()
        }
    };
    let mut out: Vec<Option<Value<B>>> = sums.iter().map(|_| None).collect();
    for modulus in Modulus::ALL {
        let places: Vec<usize> = (0..sums.len()).filter(|&i| Modulus::of_sum(sums[i].kind) == modulus).collect();
        let totals = Totals::of_values(b, &places.iter().map(|&i| &masked[i]).collect::<Vec<_>>(), modulus)?;
        for (i, total) in places.into_iter().zip(totals) {
            out[i] = Some(total.sum().into_value(b, sums[i].kind, Some(nulls[i].clone()))?);
        }
    }
    Ok(out.into_iter().flatten().collect())
}

/// For each column whether its sum is NULL, as one row. There is a plane also where the number of rows decides, so that
/// kinds do not depend on it.
fn nulls_of_sums<B: Backend>(b: &mut B, table: &Table<B>, values: &[&Value<B>]) -> Result<Planes<B>> {
    let present = present(b, table.valid.as_ref(), values)?;
    if table.rows == 0 {
        return Ok(values.iter().map(|_| b.public_bits(1, || Plane::ones(1))).collect());
    }
    let mut none = none(b, present.iter().flatten().map(|bits| b.not(bits)).collect())?.into_iter();
    let never = || b.public_bits(1, || Plane::zeros(1));
    Ok(present.iter().map(|bits| bits.as_ref().and_then(|_| none.next()).unwrap_or_else(never)).collect())
}

/// For each plane whether all of its rows, at least one, are one; as one row: halves are joined until one row is left.
fn none<B: Backend>(b: &mut B, mut planes: Planes<B>) -> Result<Planes<B>> {
    while planes.first().is_some_and(|plane| plane.rows() > 1) {
        let rows = planes[0].rows();
        let (half, odd) = (rows / 2, rows % 2);
        let part = |start, rows| planes.iter().map(|plane| slice_bits::<B>(plane, start, rows)).collect::<Planes<B>>();
        let (low, high, rest) = (part(0, half), part(half, half), part(2 * half, odd));
        let both = b.and(&low.iter().collect::<Vec<_>>(), &high.iter().collect::<Vec<_>>())?;
        planes = both.iter().zip(&rest).map(|(both, rest)| linear::concat_bits(&[both, rest])).collect();
    }
    Ok(planes)
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

/// The largest of all rows, of which there is at least one, as one row: a tree of comparisons.
fn largest<B: Backend>(b: &mut B, mut key: Planes<B>) -> Result<Planes<B>> {
    while key[0].rows() > 1 {
        let rows = key[0].rows();
        let (half, odd) = (rows / 2, rows % 2);
        let part = |start: usize, rows: usize| {
            key.iter().map(|plane| slice_bits::<B>(plane, start, rows)).collect::<Planes<B>>()
        };
        let (low, high, rest) = (part(0, half), part(half, half), part(2 * half, odd));
        let less = circuits::less_than(b, &low, &high, false)?;
        let larger = circuits::mux(b, &less, &high, &low)?;
        key = larger.iter().zip(&rest).map(|(larger, rest)| linear::concat_bits(&[larger, rest])).collect();
    }
    Ok(key)
}

/// The two middle values of valid rows that are not NULL, added up.
fn middle<B: Backend>(b: &mut B, table: &Table<B>, aggregation: &Aggregation) -> Result<Value<B>> {
    let (rows, column) = (table.rows, table.value(column_name(aggregation)?)?);
    let bare = Value { null: None, ..Value::clone(column) };
    let (key, present) = sorted(b, table, column)?;
    let count = match &present {
        Some(present) => linear::total(&b.inject::<u32>(&[present])?[0]),
        None => b.public_vector(1, || vec![rows as u32]),
    };
    let flags = middle::of_all(b, rows, &count, present)?;
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

/// One bit for each distinct value among valid rows that are not NULL.
fn distinct<B: Backend>(b: &mut B, table: &Table<B>, value: &Value<B>) -> Result<B::Bits> {
    let (mut key, present) = sorted(b, table, value)?;
    key.extend(present.clone());
    let same = same_as_next(b, table.rows, &key)?;
    let new = b.not(&same_as_previous::<B>(&same));
    match present {
        Some(present) => Ok(b.and(&[&new], &[&present])?.swap_remove(0)),
        None => Ok(new),
    }
}
