//! Which sorts the aggregates of a `group_by` need.

use std::sync::Arc;

use tacit_mpc::Backend;

use super::order::Direction;
use crate::error::Result;
use crate::operator::{AggregateFunction, Aggregation};
use crate::table::{Table, Value};
use crate::wrong_input::WrongInput;

/// One sort by the group keys and then by a column, whose NULLs come first, and the aggregates computed on it.
///
/// The last row of a group holds the largest value of an ascending column and the smallest non-NULL one of a descending
/// column. Without NULLs, the first row of an ascending column holds the smallest.
pub(crate) struct Run<'a, B: Backend> {
    /// The column, if any.
    pub column: Option<Arc<Value<B>>>,
    /// Its direction.
    pub direction: Direction,
    name: Option<&'a str>,
    /// The positions of its aggregates in the list of all.
    pub aggregates: Vec<usize>,
}

/// The sorts, at least one. Sums and counts are computed on the first.
pub(crate) fn runs<'a, B: Backend>(table: &Table<B>, aggregates: &'a [Aggregation]) -> Result<Vec<Run<'a, B>>> {
    let mut runs: Vec<Run<'a, B>> = Vec::new();
    for (place, aggregate) in aggregates.iter().enumerate() {
        if !needs_order(aggregate.function) {
            continue;
        }
        let name = column_name(aggregate)?;
        let value = table.value(name)?;
        let descending = value.null.is_some() && is_descending(aggregates, aggregate);
        let known = runs.iter_mut().find(|run| run.name == Some(name) && run.direction.descending == descending);
        match known {
            Some(run) => run.aggregates.push(place),
            None => {
                let direction = Direction { descending, nulls_first: true };
                let column = Some(Arc::clone(value));
                runs.push(Run { column, direction, name: Some(name), aggregates: vec![place] });
            }
        }
    }
    if runs.is_empty() {
        runs.push(Run { column: None, direction: Direction::ASCENDING, name: None, aggregates: vec![] });
    }
    // Counts before sums, which may need them.
    let is_sum = |&place: &usize| aggregates[place].function == AggregateFunction::Sum;
    let unordered = (0..aggregates.len()).filter(|&place| !needs_order(aggregates[place].function));
    let (sums, counts): (Vec<_>, Vec<_>) = unordered.partition(is_sum);
    runs[0].aggregates.extend(counts);
    runs[0].aggregates.extend(sums);
    Ok(runs)
}

/// Whether a function is computed from the order of its values.
pub(crate) fn needs_order(function: AggregateFunction) -> bool {
    use AggregateFunction::{CountDistinct, Max, Middle, Min, Ranked, SumDistinct};
    matches!(function, Min | Max | CountDistinct | SumDistinct | Middle | Ranked)
}

/// Whether an aggregate of a column with NULLs uses the descending sort: MIN does, and distinct and middle values where
/// only that exists. A rank counts from the smallest value.
fn is_descending(aggregates: &[Aggregation], aggregate: &Aggregation) -> bool {
    let has = |function| aggregates.iter().any(|other| other.function == function && other.column == aggregate.column);
    match aggregate.function {
        AggregateFunction::Min => true,
        AggregateFunction::CountDistinct | AggregateFunction::SumDistinct | AggregateFunction::Middle => {
            has(AggregateFunction::Min) && !has(AggregateFunction::Max) && !has(AggregateFunction::Ranked)
        }
        _ => false,
    }
}

/// The column of an aggregate that has one.
pub(crate) fn column_name(aggregate: &Aggregation) -> Result<&str> {
    let missing = || WrongInput::Uncolumned { aggregate: aggregate.name.clone() };
    Ok(aggregate.column.as_deref().ok_or_else(missing)?)
}

/// The columns that the aggregates of the first sort sum up, count or pass on.
pub(crate) fn summed_columns<B: Backend>(
    table: &Table<B>,
    aggregates: &[Aggregation],
) -> Result<Vec<(String, Arc<Value<B>>)>> {
    let mut out: Vec<(String, Arc<Value<B>>)> = Vec::new();
    for aggregate in aggregates {
        if !matches!(aggregate.function, AggregateFunction::Count | AggregateFunction::Sum | AggregateFunction::Any) {
            continue;
        }
        let name = column_name(aggregate)?;
        if !out.iter().any(|(known, _)| known == name) {
            out.push((name.to_owned(), Arc::clone(table.value(name)?)));
        }
    }
    Ok(out)
}
