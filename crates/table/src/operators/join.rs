//! `join`: every right row with the left rows of equal keys, of which there are r at most among valid rows.
//!
//! Functionality: the rows of right, in their order, with the columns of the left row that has the same keys. They are
//! valid where they were, and where there is such a valid left row without a NULL among its keys. With r above 1 this
//! comes r times, one after the other: with the last of these left rows, the one before it, and so on. Discloses
//! nothing: not even which rows match, or how many.
//!
//! Where right rows are kept, all that were valid stay valid the first time, and the columns of left are NULL where
//! there is no such left row. Where left rows are kept, for which r has to be 1, the rows of left follow, in their
//! order, with NULL in the columns of right. They are valid where they were, and where no valid right row has their
//! keys. A truth column may say which rows are right rows that found a left row: with right rows kept that is a mark
//! join.
//!
//! Method: one stable sort of left and right rows by key, left rows first among equals. Then every right row takes over
//! the columns of the last left row before it, and keeps them if that row's key is its own. Taking over needs no scan.
//! The left rows are brought into their sorted order and replaced by the differences between neighbours. These are
//! placed at their sorted positions among zeros, and summed up locally. (After the copy-down of secret-shared joins by
//! sorting: Badrinarayanan et al., CCS 2022, with the duplicate key propagation replaced by differences and prefix
//! sums.) A left row that is not valid, or whose key is NULL, sorts behind everything, where no right row takes it
//! over.
//!
//! Where the owners of both tables sorted them by the key, the sort is a merge ([`tacit_mpc::ops::merge`]). The
//! differences of left rows, which are in the order of their ranks, move along: sums go back as the rows came. A left
//! row that does not count stays in its place. The bit by which a right row knows that it found one says so. So
//! left keys are unique among all rows that their owner shares as valid ones, and of equal keys those rows are last. An
//! owner that sorts otherwise spoils the answer and learns nothing.
//!
//! Which left rows were found is told to them the same way back. For this right rows that do not count sort behind
//! everything, too. In sorted order a left row that counts was found if the next row is a right row that found one.
//! Where rows are merged, right rows that do not count stand in between. There the right rows that found one are
//! counted before each left row. It was found if that number is larger at the next left row.
//!
//! Where a party may see the keys, it orders the rows instead, and tells which found one ([`super::trusted_join`]).
//! Where left keys repeat, left rows get wide on the way ([`super::partners`]).
//!
//! Cost beyond the sort: n left and m right rows have W bits of left columns and key. About 4/3 (n + 2 (n + m)) W bits
//! and 14 rounds, and one equality of m keys. Right columns never move. Kept right rows: an AND for each bit of the
//! left columns of m rows, in two rounds. Kept left rows: two moves of n + m bits and an AND of n bits, in constant
//! rounds. Where rows are merged, these are two moves of numbers of 32 bits and a test for zero. Of r left rows a key
//! 4/3 2 (n + m) W r bits are moved, and the AND and the masks are of r m rows.

use std::sync::Arc;

use tacit_math::Plane;
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Linear, Rows, linear};

use super::input::at_most;
use super::join_order::{Brought, check_sorted, copy_down, copy_down_merged, sort};
use super::outer::{followed, null_rows, null_unless};
use super::partners::{again, check_repeats, widened};
use super::trusted::Trusted;
use super::trusted_join::{Met, meet};
use crate::bundle::{Layout, bundle_taken};
use crate::convert::{common_kind, planes_of_width, to_kind};
use crate::error::{Result, TableError};
use crate::mask::and_present;
use crate::operator::{Join, KeptSides, Kind, Repr};
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// One pair of key columns: as planes of one width, for the left and the right rows.
pub(super) struct KeyPair<B: Backend> {
    pub left: Planes<B>,
    pub right: Planes<B>,
    pub signed: bool,
}

/// The join. trusted: who sees the keys and orders the rows, if anybody does.
pub(crate) fn join<B: Backend>(
    b: &mut B,
    mut left: Table<B>,
    right: Table<B>,
    join: &Join,
    trusted: Option<Trusted>,
) -> Result<Table<B>> {
    check_repeats(left.rows, right.rows, join.repeats, join.kept.left())?;
    let (left_keys, right_keys) = (left.values(&join.left_keys)?, right.values(&join.right_keys)?);
    let keys = key_pairs(b, "join", (&left, &left_keys), (&right, &right_keys))?;
    let payload = moving(join, &mut left)?;
    let sides = Sides { left: &left, left_keys: &left_keys, right: &right, right_keys: &right_keys, keys: &keys };
    let Taken { moved, found, brought } = match trusted {
        None => sorted_rows(b, join, &sides, payload)?,
        Some(trusted) => trusted_rows(b, join, &sides, payload, trusted)?,
    };
    let mut copies = Vec::new();
    for values in moved {
        copies.push(left_columns(b, join, &left_keys, &keys, values)?);
    }
    if join.kept.right() {
        // Without a match the first row is there, too; the others are not valid then.
        let first = std::mem::take(&mut copies[0]);
        copies[0] = null_unless(b, &found[0], first)?;
    }
    let inner = beside(b, join, &right, copies, &found)?;
    if !join.kept.left() {
        return Ok(inner);
    }
    let unmatched = unmatched(b, &left, right.rows, &brought, found[0].clone())?;
    with_left_rows(b, &left, inner, join, unmatched)
}

/// Both tables with their keys.
struct Sides<'a, B: Backend> {
    left: &'a Table<B>,
    left_keys: &'a [Arc<Value<B>>],
    right: &'a Table<B>,
    right_keys: &'a [Arc<Value<B>>],
    keys: &'a [KeyPair<B>],
}

/// For every right row, of each left row that it may take over the columns that move, and whether that has its key.
struct Taken<B: Backend> {
    moved: Vec<Vec<Value<B>>>,
    found: Vec<B::Bits>,
    brought: Brought<B>,
}

/// By a sort, or a merge of what owners sorted.
fn sorted_rows<B: Backend>(
    b: &mut B,
    join: &Join,
    sides: &Sides<'_, B>,
    payload: (Rows<B>, Layout),
) -> Result<Taken<B>> {
    let (mut rest, brought, layout) = brought_together(b, join, sides, payload)?;
    let mut moved = Vec::new();
    for _ in 0..join.repeats {
        let (values, more) = layout.unbundle(rest);
        moved.push(values);
        rest = more;
    }
    let found = matches(b, join, sides.right, sides.right_keys, sides.keys, &rest.bits)?;
    Ok(Taken { moved, found, brought })
}

/// As a party that sees the keys tells.
fn trusted_rows<B: Backend>(
    b: &mut B,
    join: &Join,
    sides: &Sides<'_, B>,
    (payload, layout): (Rows<B>, Layout),
    trusted: Trusted,
) -> Result<Taken<B>> {
    let party = || join.trusted.clone().unwrap_or_default();
    if join.merged {
        return Err(WrongInput::MergedTrusted { trusted: party() }.into());
    }
    if join.repeats > 1 {
        return Err(WrongInput::RepeatedTrusted { trusted: party() }.into());
    }
    let Sides { left, left_keys, right, right_keys, keys } = sides;
    let (usable_left, usable_right) = (usable(b, left, left_keys)?, usable(b, right, right_keys)?);
    let unusable = unusable(b, left.rows, right.rows, usable_left, usable_right);
    let usable = unusable.map(|unusable| b.not(&unusable));
    let Met { copied, found, matched } = meet(b, trusted, key_of(keys), usable, payload, right.rows)?;
    let (values, _) = layout.unbundle(copied);
    Ok(Taken { moved: vec![values], found: vec![found], brought: Brought::Told(matched) })
}

/// The left columns that move. They are taken, unless left rows are kept.
fn moving<B: Backend>(join: &Join, left: &mut Table<B>) -> Result<(Rows<B>, Layout)> {
    let moves = |name: &String| join.left_columns.contains(name) && !join.left_keys.contains(name);
    let names: Vec<String> = join.left_columns.iter().filter(|name| moves(name)).cloned().collect();
    let moving = left.values(&names)?;
    if !join.kept.left() {
        left.columns.retain(|column| !moves(&column.name));
    }
    Ok(bundle_taken(left.rows, moving))
}

/// For each right row, the columns of the left rows that it takes over: their values, whether each counts and has the
/// key of the first one, and that key.
fn brought_together<B: Backend>(
    b: &mut B,
    join: &Join,
    sides: &Sides<'_, B>,
    (mut payload, layout): (Rows<B>, Layout),
) -> Result<(Rows<B>, Brought<B>, Layout)> {
    let &Sides { left, left_keys, right, right_keys, keys } = sides;
    let usable_left = usable(b, left, left_keys)?;
    let values = payload.bits.len();
    let key_planes: usize = keys.iter().map(|pair| pair.left.len()).sum();
    payload.bits.extend(keys.iter().flat_map(|pair| pair.left.iter().cloned()));
    let all = !join.merged || usable_left.is_none();
    let ones = b.public_bits(left.rows, || Plane::ones(left.rows));
    let widen = |b: &mut B, rows: Rows<B>| widened(b, &rows, values, join.repeats, all);
    let (copied, brought) = if join.merged {
        check_sorted(left, &join.left_keys)?;
        check_sorted(right, &join.right_keys)?;
        payload.bits.push(usable_left.unwrap_or(ones));
        let payload = widen(b, payload)?;
        copy_down_merged(b, payload, right.rows, &key_of(keys))?
    } else {
        payload.bits.push(ones);
        let usable_right = if join.kept.left() { usable(b, right, right_keys)? } else { None };
        let mut key = key_of(keys);
        key.extend(unusable(b, left.rows, right.rows, usable_left, usable_right));
        let sorting = sort(b, left.rows, right.rows, key)?;
        copy_down(b, payload, right.rows, sorting, widen)?
    };
    let lengths = join.repeats * (values + 1) + key_planes;
    assert_eq!(copied.bits.len(), lengths, "values, whether each counts, and a key");
    Ok((copied, brought, layout))
}

/// The left columns of a row that was taken over, whose keys are those of right where it matches.
fn left_columns<B: Backend>(
    b: &mut B,
    join: &Join,
    left_keys: &[Arc<Value<B>>],
    keys: &[KeyPair<B>],
    values: Vec<Value<B>>,
) -> Result<Vec<Value<B>>> {
    let mut moved = values.into_iter();
    let lost = || TableError::Internal("a left column got lost".into());
    let columns = join.left_columns.iter();
    let place = |name| join.left_keys.iter().position(|key| key == name);
    columns
        .map(|name| match place(name) {
            Some(k) => equal_key(b, &left_keys[k], &keys[k]),
            None => moved.next().ok_or_else(lost),
        })
        .collect()
}

/// The rows of right beside the columns that they took over, and whether they found a row; so often as they may.
fn beside<B: Backend>(
    b: &mut B,
    join: &Join,
    right: &Table<B>,
    mut copies: Vec<Vec<Value<B>>>,
    found: &[B::Bits],
) -> Result<Table<B>> {
    let rows = at_most(right.rows * join.repeats, "a join")?;
    let mut columns = Vec::new();
    let (first, later) = (std::mem::take(&mut copies[0]), &copies[1..]);
    for ((place, mut value), name) in first.into_iter().enumerate().zip(&join.left_columns) {
        for (before, more) in later.iter().enumerate() {
            value = followed(b, (&value, right.rows * (before + 1)), (&more[place], right.rows));
        }
        columns.push(Column::new(name, value));
    }
    let others = join.right_columns.iter();
    let others = others.map(|name| Ok(Column { name: name.clone(), value: Arc::clone(right.value(name)?) }));
    columns.extend(again(others.collect::<Result<_>>()?, right.rows, join.repeats));
    let all_found = linear::concat_bits(&found.iter().collect::<Vec<_>>());
    columns.extend(join.found.as_ref().map(|name| Column::new(name, Value::truth(all_found.clone(), None))));
    let valid = match (join.kept.right(), &right.valid) {
        (false, _) => Some(all_found),
        (true, None) if join.repeats == 1 => None,
        (true, valid) => {
            let mut first = valid.clone().unwrap_or_else(|| b.public_bits(right.rows, || Plane::ones(right.rows)));
            if join.merged && join.repeats > 1 {
                first = linear::xor(&first, &matched_only_later(b, found)?);
            }
            let rest = found[1..].iter();
            Some(linear::concat_bits(&std::iter::once(&first).chain(rest).collect::<Vec<_>>()))
        }
    };
    let mut table = Table::new(rows, valid, columns);
    if join.kept == KeptSides::Right && join.repeats == 1 {
        table.order = right.order.clone();
    }
    Ok(table)
}

/// Which rows match, but not the first of the left rows that they took over. In a merge that one may not count.
fn matched_only_later<B: Backend>(b: &mut B, found: &[B::Bits]) -> Result<B::Bits> {
    let later = circuits::or_all(b, found[0].rows(), &found[1..])?;
    let not_first = b.not(&found[0]);
    Ok(b.and(&[&not_first], &[&later])?.swap_remove(0))
}

/// Which left rows are valid and have the keys of no right row that found one.
fn unmatched<B: Backend>(
    b: &mut B,
    left: &Table<B>,
    right_rows: usize,
    brought: &Brought<B>,
    found: B::Bits,
) -> Result<B::Bits> {
    let matched = brought.told(b, left.rows, right_rows, found)?;
    let alone = b.not(&matched);
    Ok(circuits::and_all(b, left.rows, left.valid.iter().cloned().chain([alone]).collect())?)
}

/// The rows of right, and then those of left that are marked, with NULL in the columns of right.
fn with_left_rows<B: Backend>(
    b: &mut B,
    left: &Table<B>,
    inner: Table<B>,
    join: &Join,
    unmatched: B::Bits,
) -> Result<Table<B>> {
    let rows = at_most(inner.rows + left.rows, "a join")?;
    let mut columns = Vec::new();
    for Column { name, value } in &inner.columns {
        let more = if join.left_columns.contains(name) {
            to_kind(b, left.value(name)?, value.kind)?
        } else if join.found.as_ref() == Some(name) {
            Value::truth(b.public_bits(left.rows, || Plane::zeros(left.rows)), None)
        } else {
            null_rows(b, value, left.rows)
        };
        columns.push(Column::new(name, followed(b, (value, inner.rows), (&more, left.rows))));
    }
    let valid = inner.valid.unwrap_or_else(|| b.public_bits(inner.rows, || Plane::ones(inner.rows)));
    Ok(Table::new(rows, Some(linear::concat_bits(&[&valid, &unmatched])), columns))
}

/// The keys of both tables, pair by pair.
pub(super) fn key_pairs<B: Backend>(
    b: &mut B,
    operator: &'static str,
    (left, left_keys): (&Table<B>, &[Arc<Value<B>>]),
    (right, right_keys): (&Table<B>, &[Arc<Value<B>>]),
) -> Result<Vec<KeyPair<B>>> {
    if left_keys.len() != right_keys.len() || left_keys.is_empty() {
        return Err(WrongInput::KeyCount { operator }.into());
    }
    if u32::try_from(left.rows + right.rows).is_err() {
        return Err(WrongInput::JoinRows { rows: left.rows + right.rows }.into());
    }
    left_keys.iter().zip(right_keys).map(|(left, right)| key_pair(b, left, right)).collect()
}

fn key_pair<B: Backend>(b: &mut B, left: &Value<B>, right: &Value<B>) -> Result<KeyPair<B>> {
    let Kind { width, signed, .. } = common_kind(left.kind, right.kind);
    Ok(KeyPair { left: planes_of_width(b, left, width)?, right: planes_of_width(b, right, width)?, signed })
}

/// Which rows are valid and have no NULL in their key; None: all.
pub(super) fn usable<B: Backend>(b: &mut B, table: &Table<B>, keys: &[Arc<Value<B>>]) -> Result<Option<B::Bits>> {
    let mut bits: Vec<B::Bits> = table.valid.iter().cloned().collect();
    bits.extend(keys.iter().filter_map(|key| key.null.as_ref()).map(|null| b.not(null)));
    and_present(b, table.rows, bits)
}

/// Which of n left rows and then m right rows are not usable; None: all are.
pub(super) fn unusable<B: Backend>(
    b: &B,
    n: usize,
    m: usize,
    left: Option<B::Bits>,
    right: Option<B::Bits>,
) -> Option<B::Bits> {
    if left.is_none() && right.is_none() {
        return None;
    }
    let part =
        |bits: Option<B::Bits>, rows| bits.map_or_else(|| b.public_bits(rows, || Plane::zeros(rows)), |x| b.not(&x));
    Some(linear::concat_bits(&[&part(left, n), &part(right, m)]))
}

/// The keys of left rows and then right rows, the first key most significant.
pub(super) fn key_of<B: Backend>(keys: &[KeyPair<B>]) -> Planes<B> {
    let both = |(l, r): (&B::Bits, &B::Bits)| linear::concat_bits(&[l, r]);
    keys.iter().rev().flat_map(|pair| pair.left.iter().zip(&pair.right).map(both)).collect()
}

/// Which right rows found a left row with their own key, and how many more. `copied`: of each row that was taken over
/// whether it counts and has the key of the first one, and then that key's planes.
fn matches<B: Backend>(
    b: &mut B,
    join: &Join,
    right: &Table<B>,
    right_keys: &[Arc<Value<B>>],
    keys: &[KeyPair<B>],
    copied: &[B::Bits],
) -> Result<Vec<B::Bits>> {
    let (counts, key) = copied.split_at(join.repeats);
    let own = keys.iter().flat_map(|pair| &pair.right);
    let mut bits: Vec<B::Bits> = own.zip(key).map(|(own, copied)| b.not(&linear::xor(own, copied))).collect();
    bits.extend(right.valid.clone());
    bits.extend(right_keys.iter().filter_map(|key| key.null.as_ref()).map(|null| b.not(null)));
    if let [counts] = counts {
        bits.push(counts.clone());
        return Ok(vec![circuits::and_all(b, right.rows, bits)?]);
    }
    let same = circuits::and_all(b, right.rows, bits)?;
    Ok(b.and(&vec![&same; counts.len()], &counts.iter().collect::<Vec<_>>())?)
}

/// The left key column: where rows match it equals the right one, and it is never NULL.
fn equal_key<B: Backend>(b: &mut B, left: &Value<B>, pair: &KeyPair<B>) -> Result<Value<B>> {
    let kind = Kind { repr: Repr::Bits, width: pair.right.len(), signed: pair.signed, nullable: false };
    let right = Value::new(kind, left.encoding, None, Shares::Bits(pair.right.clone()));
    let planes = planes_of_width(b, &right, left.kind.width)?;
    Ok(Value::new(left.kind, left.encoding, None, Shares::Bits(planes)))
}
