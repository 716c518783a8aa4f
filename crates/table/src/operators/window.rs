//! `window`: every row with values computed over the rows of its partition.
//!
//! Functionality: the rows of the table, valid ones first, by partition and in its order, with a column for each
//! output. Rows that are not valid are in no valid row's partition. Functions that tell rows apart which are equal in
//! the order take them in an order that no node knows. Discloses nothing: not even how many partitions there are.
//!
//! Method: one sort by partition and order; a table that is in that order already stays as it is. Equality with the
//! next row tells where partitions end, and which rows are peers. Row numbers, ranks, counts and sums are differences
//! of prefix sums ([`super::running`]) at the bounds of frames ([`super::frames`]). Other values are those of the row
//! at a bound; MIN and MAX those of a row that has already looked at the others ([`super::extremes`]).
//!
//! Cost beyond the sort: an equality of the keys. First and last rows, of the partition or among peers, are four kinds
//! of bounds; of each kind that is asked for, all values are copied at once ([`super::copies`]). A bound that is a
//! number of rows away is a choice by one bit. MIN and MAX take log2 of the rows that they look at comparisons.

use std::sync::Arc;

use tacit_mpc::Backend;

use super::buckets::buckets;
use super::extremes::{Extreme, Reach, extreme};
use super::frames::{Copied, Copies, Ordered, Position};
use super::order::{arranged, known_order, shuffled};
use super::picked::{Otherwise, Picked};
use super::running::{Running, Stretch, Summand, Summands};
use super::totals::{Modulus, Totals};
use crate::convert::to_kind;
use crate::error::Result;
use crate::operator::{Frame, FrameUnit, Kind, SortKey, Window, WindowFunction, WindowOutput};
use crate::table::{Column, Order, Table, Value};
use crate::wrong_input::WrongInput;
use tacit_mpc::ops;

/// How an output is made once other rows' values are there.
enum Recipe<B: Backend> {
    /// A sum over rows, and one more for each of these rows; NULL where a count is zero.
    Sum { stretch: Stretch, plus: usize, count: Option<Stretch> },
    /// The bucket of a row, from its number and how many rows there are.
    Bucket { row: Stretch, all: Stretch, count: usize },
    /// The value of another row.
    Picked(Picked<B>),
}

/// The table with its window's columns.
pub(crate) fn window<B: Backend>(b: &mut B, table: Table<B>, window: &Window) -> Result<Table<B>> {
    let table = in_order(b, table, window)?;
    let mut ordered = b.step("edges", |b| Ok(Ordered::new(b, &table, window)))??;
    let (mut summands, mut copies) = (Summands::default(), Copies::new());
    let mut recipes = Vec::new();
    for output in &window.outputs {
        recipes.push(recipe(b, &table, &mut ordered, output, &mut summands, &mut copies)?);
    }
    let mut running = summands.running(b, &table, &ordered)?;
    for recipe in &recipes {
        recipe.stretches().into_iter().for_each(|stretch| running.ask(&mut copies, stretch));
    }
    let copied = copies.run(b, &ordered)?;
    let mut columns = table.columns.clone();
    for (output, recipe) in window.outputs.iter().zip(recipes) {
        let value = recipe.finish(b, &mut ordered, &running, &copied, output.kind)?;
        columns.push(Column::new(&output.name, value));
    }
    Ok(Table { columns, ..table })
}

/// Valid rows first, by partition and then by the order.
fn in_order<B: Backend>(b: &mut B, table: Table<B>, window: &Window) -> Result<Table<B>> {
    let of_partition = |column: &String| SortKey { column: column.clone(), descending: false, nulls_first: false };
    let keys: Vec<SortKey> = window.partition.iter().map(of_partition).chain(window.order.iter().cloned()).collect();
    let known = known_order(&table, &keys)?;
    let apart = window.outputs.iter().any(tells_peers_apart);
    if table.order.valid_first && is_in(&table.order, known.as_ref(), apart) {
        return Ok(Table { order: Order { stated: false, ..table.order }, ..table });
    }
    let exact = apart && known.is_some();
    let by = known.unwrap_or_else(|| window.partition.clone());
    let order = Order { valid_first: true, by, exact, ..Order::default() };
    match apart {
        true => {
            let table = shuffled(b, table)?;
            arranged(b, table, &keys, order)
        }
        false => arranged(b, table, &keys, order),
    }
}

/// Whether rows are in an order already. apart: and in no other one where they are equal in it.
fn is_in(order: &Order, wanted: Option<&Vec<String>>, apart: bool) -> bool {
    wanted.is_some_and(|wanted| match apart {
        true => order.exact && order.by == *wanted,
        false => order.by.starts_with(wanted),
    })
}

/// Whether an output may differ between rows that are equal in partition and order.
fn tells_peers_apart(output: &WindowOutput) -> bool {
    use WindowFunction::{Count, CountRows, DenseRank, FirstValue, LastValue, Max, Min, Rank, Sum};
    match output.function {
        Rank | DenseRank => false,
        CountRows | Count | Sum | Min | Max => {
            let frame = output.frame;
            frame.unit == FrameUnit::Rows && (frame.start.is_some() || frame.end.is_some())
        }
        FirstValue | LastValue => true,
        WindowFunction::RowNumber | WindowFunction::Ntile | WindowFunction::Lag | WindowFunction::Lead => true,
    }
}

fn wrong(output: &WindowOutput, needed: &'static str) -> WrongInput {
    WrongInput::Window { name: output.name.clone(), needed }
}

/// The column that an output is over.
fn column<'a, B: Backend>(table: &'a Table<B>, output: &WindowOutput) -> Result<(String, &'a Arc<Value<B>>)> {
    let name = output.column.clone().ok_or_else(|| wrong(output, "a column"))?;
    let value = table.value(&name)?;
    Ok((name, value))
}

/// How far an output looks, or how many buckets it has.
fn number(output: &WindowOutput) -> Result<usize> {
    let least = usize::from(output.function == WindowFunction::Ntile);
    let found = output.number.filter(|&number| number >= least && u32::try_from(number).is_ok());
    Ok(found.ok_or_else(|| wrong(output, "a number of rows or buckets"))?)
}

fn recipe<B: Backend>(
    b: &mut B,
    table: &Table<B>,
    ordered: &mut Ordered<B>,
    output: &WindowOutput,
    summands: &mut Summands,
    copies: &mut Copies<B>,
) -> Result<Recipe<B>> {
    let Frame { start, end, .. } = output.frame;
    if start.zip(end).is_some_and(|(start, end)| start > end) {
        return Err(wrong(output, "a frame that ends behind its start").into());
    }
    let modulus = Modulus::of_count(output.kind);
    let up_to_here = |summand| Stretch { summand, first: Position::First, last: Position::Row(0), without: false };
    Ok(match output.function {
        WindowFunction::RowNumber => Recipe::plain(up_to_here(summands.place(Summand::Rows, modulus))),
        WindowFunction::DenseRank => Recipe::plain(up_to_here(summands.place(Summand::FirstPeers, modulus))),
        WindowFunction::Rank => {
            let summand = summands.place(Summand::Rows, modulus);
            let before = Stretch { summand, first: Position::First, last: Position::FirstPeer, without: true };
            Recipe::Sum { stretch: before, plus: 1, count: None }
        }
        WindowFunction::Ntile => {
            let summand = summands.place(Summand::Rows, Modulus::M64);
            let all = Stretch { summand, first: Position::First, last: Position::Last, without: false };
            Recipe::Bucket { row: up_to_here(summand), all, count: number(output)? }
        }
        WindowFunction::CountRows => Recipe::plain(over(output.frame, summands.place(Summand::Rows, modulus))),
        WindowFunction::Count => {
            let (name, _) = column(table, output)?;
            Recipe::plain(over(output.frame, summands.place(Summand::Present(name), modulus)))
        }
        WindowFunction::Sum => sum(table, output, summands)?,
        WindowFunction::Lag | WindowFunction::Lead => Recipe::Picked(shift(b, table, output)?),
        WindowFunction::FirstValue => {
            let value = to_kind(b, column(table, output)?.1, output.kind)?;
            Recipe::Picked(Picked::of_frame(value, output.frame.first(), output.frame, copies))
        }
        WindowFunction::LastValue => {
            let value = to_kind(b, column(table, output)?.1, output.kind)?;
            Recipe::Picked(Picked::of_frame(value, output.frame.last(), output.frame, copies))
        }
        WindowFunction::Min | WindowFunction::Max => extreme_of(b, table, ordered, output, copies)?,
    })
}

/// The stretch of a frame.
fn over(frame: Frame, summand: usize) -> Stretch {
    Stretch { summand, first: frame.first(), last: frame.last(), without: false }
}

/// A sum is NULL over no value: only of a column with NULLs, or of a frame that may be empty.
fn sum<B: Backend>(table: &Table<B>, output: &WindowOutput, summands: &mut Summands) -> Result<Recipe<B>> {
    let (name, value) = column(table, output)?;
    let may_lack = value.null.is_some() || output.frame.needs().is_some();
    let summand = summands.place(Summand::Values(name.clone()), Modulus::of_sum(output.kind));
    let count = may_lack.then(|| over(output.frame, summands.place(Summand::Present(name), Modulus::M32)));
    Ok(Recipe::Sum { stretch: over(output.frame, summand), plus: 0, count })
}

/// The value of an earlier or later row.
fn shift<B: Backend>(b: &mut B, table: &Table<B>, output: &WindowOutput) -> Result<Picked<B>> {
    let value = to_kind(b, column(table, output)?.1, output.kind)?;
    let by = number(output)? as isize;
    let by = if output.function == WindowFunction::Lag { -by } else { by };
    let otherwise = match &output.default {
        None => Otherwise::Null,
        Some(name) => Otherwise::Own(to_kind(b, table.value(name)?, output.kind)?),
    };
    Ok(Picked::near(value, by, otherwise))
}

/// MIN or MAX: the value of a row of the frame that has looked at all others of it.
fn extreme_of<B: Backend>(
    b: &mut B,
    table: &Table<B>,
    ordered: &mut Ordered<B>,
    output: &WindowOutput,
    copies: &mut Copies<B>,
) -> Result<Recipe<B>> {
    let which = if output.function == WindowFunction::Min { Extreme::Smallest } else { Extreme::Largest };
    let (value, frame) = (column(table, output)?.1, output.frame);
    let rows = |from: isize, to: isize| Some(from.abs_diff(to) + 1);
    let (reach, at) = match (frame.first(), frame.last()) {
        (Position::Row(first), Position::Row(last)) if first <= 0 && last >= 0 => {
            (Reach { before: rows(first, 0), behind: rows(0, last) }, Position::Row(0))
        }
        (Position::Row(first), last @ Position::Row(end)) if end < 0 => {
            (Reach { before: rows(first, end), behind: Some(1) }, last)
        }
        (first @ Position::Row(start), Position::Row(last)) => {
            (Reach { before: Some(1), behind: rows(start, last) }, first)
        }
        (first @ (Position::Row(_) | Position::FirstPeer), Position::Last) => {
            (Reach { before: Some(1), behind: None }, first)
        }
        (_, last) => (Reach { before: None, behind: Some(1) }, last),
    };
    let chain = match frame.first() {
        Position::FirstPeer if at != Position::FirstPeer => &mut ordered.peers,
        _ => &mut ordered.partition,
    };
    let found = extreme(b, chain, value, which, reach)?;
    let found = to_kind(b, &found, output.kind)?;
    Ok(Recipe::Picked(Picked::of_frame(found, at, frame, copies)))
}

impl<B: Backend> Recipe<B> {
    /// A sum that is never NULL.
    fn plain(stretch: Stretch) -> Self {
        Self::Sum { stretch, plus: 0, count: None }
    }

    /// The sums that it is made of.
    fn stretches(&self) -> Vec<Stretch> {
        match self {
            Self::Sum { stretch, count, .. } => std::iter::once(*stretch).chain(*count).collect(),
            Self::Bucket { row, all, .. } => vec![*row, *all],
            Self::Picked(_) => vec![],
        }
    }

    fn finish(
        self,
        b: &mut B,
        ordered: &mut Ordered<B>,
        running: &Running<B>,
        copied: &Copied<B>,
        kind: Kind,
    ) -> Result<Value<B>> {
        match self {
            Self::Sum { stretch, plus, count } => {
                let total = running.over(b, ordered, copied, stretch)?;
                let total = total.plus(&Totals::public(b, ordered.rows, |_| plus, total.modulus()));
                let width = ops::label_width(ordered.rows + 1);
                let null = match count {
                    None => None,
                    Some(count) => Some(running.over(b, ordered, copied, count)?.is_zero(b, width)?),
                };
                total.into_value(b, kind, null)
            }
            Self::Bucket { row, all, count } => {
                let row = running.over(b, ordered, copied, row)?;
                let all = running.over(b, ordered, copied, all)?;
                buckets(b, ordered.rows, &row, &all, count)?.into_value(b, kind, None)
            }
            Self::Picked(picked) => picked.finish(b, ordered, copied),
        }
    }
}
