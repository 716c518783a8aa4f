//! `join`: every right row with the left row of equal keys. Left keys are unique among valid rows.
//!
//! Functionality: the rows of right, in their order, with the columns of the left row that has the same keys. They are
//! valid where they were, and where there is such a valid left row without a NULL among its keys. Discloses nothing:
//! not even which rows match, or how many.
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
//! Cost beyond the sort: n left and m right rows have W bits of left columns and key. About 4/3 (n + 2 (n + m)) W bits
//! and 14 rounds, and one equality of m keys. Right columns never move.

use std::sync::Arc;

use tacit_math::{Plane, Ring, ring};
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Linear, Rows, linear, ops};

use crate::bundle::bundle;
use crate::convert::{common_kind, planes_of_width};
use crate::error::{Result, TableError};
use crate::mask::and_present;
use crate::operator::{Join, Kind, Repr};
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// One pair of key columns: as planes of one width, for the left and the right rows.
struct KeyPair<B: Backend> {
    left: Planes<B>,
    right: Planes<B>,
    signed: bool,
}

/// Where the rows of left, then right, go in sorted order, and what it takes to come back.
struct Sorting<B: Backend> {
    /// Sorted position of every row.
    positions: B::Vector<u32>,
    /// Number of left rows before every row (meant for left rows).
    ranks: B::Vector<u32>,
    /// At every sorted position, the label of the row that is there.
    labels: Planes<B>,
    /// Labels of right rows start here; those of left rows at 0.
    first_right: usize,
}

/// The inner join.
pub(crate) fn join<B: Backend>(b: &mut B, left: &Table<B>, right: &Table<B>, join: &Join) -> Result<Table<B>> {
    let (left_keys, right_keys) = (left.values(&join.left_keys)?, right.values(&join.right_keys)?);
    if left_keys.len() != right_keys.len() || left_keys.is_empty() {
        return Err(WrongInput::KeyCount { operator: "join" }.into());
    }
    if u32::try_from(left.rows + right.rows).is_err() {
        return Err(WrongInput::JoinRows { rows: left.rows + right.rows }.into());
    }
    let mut keys = Vec::new();
    for (l, r) in left_keys.iter().zip(&right_keys) {
        keys.push(key_pair(b, l, r)?);
    }
    let usable = usable(b, left, &left_keys)?;

    let kept: Vec<_> = join.left_columns.iter().filter(|name| !join.left_keys.contains(name)).collect();
    let kept = kept.into_iter().map(|name| left.value(name).cloned()).collect::<Result<Vec<_>>>()?;
    let (mut payload, layout) = bundle(left.rows, kept.iter().map(|value| &**value));
    let key_planes: usize = keys.iter().map(|pair| pair.left.len()).sum();
    payload.bits.extend(keys.iter().flat_map(|pair| pair.left.iter().cloned()));
    let copied = if join.merged {
        check_sorted(left, &join.left_keys)?;
        check_sorted(right, &join.right_keys)?;
        payload.bits.push(usable.unwrap_or_else(|| b.public_bits(left.rows, || Plane::ones(left.rows))));
        copy_down_merged(b, payload, right.rows, &key_of(&keys))?
    } else {
        payload.bits.push(b.public_bits(left.rows, || Plane::ones(left.rows)));
        let sorting = sort(b, left.rows, right.rows, &keys, usable.as_ref())?;
        copy_down(b, payload, right.rows, sorting)?
    };

    let (values, mut rest) = layout.unbundle(copied);
    let found = rest.bits.pop();
    assert_eq!(rest.bits.len(), key_planes, "the left key's planes are left");
    let valid = matches(b, right, &right_keys, &keys, &rest.bits, found)?;
    let mut moved = values.into_iter();
    let mut columns = Vec::new();
    for name in &join.left_columns {
        let value = match join.left_keys.iter().position(|key| key == name) {
            Some(k) => equal_key(b, &left_keys[k], &keys[k])?,
            None => moved.next().ok_or_else(|| TableError::Internal("a left column got lost".into()))?,
        };
        columns.push(Column::new(name, value));
    }
    for name in &join.right_columns {
        columns.push(Column { name: name.clone(), value: Arc::clone(right.value(name)?) });
    }
    Ok(Table::new(right.rows, Some(valid), columns))
}

fn key_pair<B: Backend>(b: &mut B, left: &Value<B>, right: &Value<B>) -> Result<KeyPair<B>> {
    let Kind { width, signed, .. } = common_kind(left.kind, right.kind);
    Ok(KeyPair { left: planes_of_width(b, left, width)?, right: planes_of_width(b, right, width)?, signed })
}

/// Which left rows are valid and have no NULL in their key; None: all.
fn usable<B: Backend>(b: &mut B, left: &Table<B>, keys: &[Arc<Value<B>>]) -> Result<Option<B::Bits>> {
    let mut bits: Vec<B::Bits> = left.valid.iter().cloned().collect();
    bits.extend(keys.iter().filter_map(|key| key.null.as_ref()).map(|null| b.not(null)));
    and_present(b, left.rows, bits)
}

/// The keys of left rows and then right rows, the first key most significant.
fn key_of<B: Backend>(keys: &[KeyPair<B>]) -> Planes<B> {
    let both = |(l, r): (&B::Bits, &B::Bits)| linear::concat_bits(&[l, r]);
    keys.iter().rev().flat_map(|pair| pair.left.iter().zip(&pair.right).map(both)).collect()
}

/// That the owner sorted the table by these columns.
fn check_sorted<B: Backend>(table: &Table<B>, keys: &[String]) -> Result<()> {
    if table.order.encoded == keys {
        return Ok(());
    }
    Err(WrongInput::MergeOrder { keys: keys.to_vec(), order: table.order.encoded.clone() }.into())
}

/// The sort of n left and m right rows.
fn sort<B: Backend>(
    b: &mut B,
    n: usize,
    m: usize,
    keys: &[KeyPair<B>],
    usable: Option<&B::Bits>,
) -> Result<Sorting<B>> {
    let rows = n + m;
    let mut key = key_of(keys);
    if let Some(usable) = usable {
        key.push(linear::concat_bits(&[&b.not(usable), &b.public_bits(m, || Plane::zeros(m))]));
    }
    let side = ops::label_width(n.max(m));
    let first_right = 1 << side;
    b.step("sort", |b| {
        let labels = ops::sorted_labels(b, &key, side + 1, |i| if i < n { i } else { first_right + i - n })?;
        let from_right = b.inject::<u32>(&[&labels[side]])?.swap_remove(0);
        let positions = b.public_vector(rows, || (0..rows as u32).collect());
        let ranks = linear::sub(&positions, &from_right.map(rows, |x| ring::prefix_sum(x)));
        let moving = Rows { r32: vec![positions, ranks], ..Rows::empty(rows) };
        let moved = ops::place_by_labels(b, moving, labels.clone(), |label| old_row(label, n, first_right))?;
        let [positions, ranks] = <[_; 2]>::try_from(moved.r32).map_err(|_| ()).expect("two columns moved");
        Ok(Sorting { positions, ranks, labels, first_right })
    })
    .map_err(TableError::from)
}

/// The row, among n left rows and then right rows, of a label. None of a number that is no label of a left row, or of
/// no row at all.
fn old_row(label: u64, n: usize, first_right: usize) -> Option<u32> {
    let label = usize::try_from(label).ok()?;
    let row =
        if label < first_right { Some(label).filter(|&row| row < n) } else { (label - first_right).checked_add(n) };
    u32::try_from(row?).ok()
}

/// For each of m right rows, the columns of the last left row before it in sorted order; zeros if there is none.
fn copy_down<B: Backend>(b: &mut B, mut payload: Rows<B>, m: usize, sorting: Sorting<B>) -> Result<Rows<B>> {
    let n = payload.rows;
    let Sorting { positions, ranks, labels, first_right } = sorting;
    Ok(b.step("copy_down", |b| {
        payload.r32.push(slice_vector::<u32, B>(&positions, 0, n));
        let mut ranked = ops::apply(b, payload, slice_vector::<u32, B>(&ranks, 0, n))?;
        let left_positions = ranked.r32.pop().expect("the positions moved along");
        let steps = ranked.differences().pad_zeros(m);
        let destinations = linear::concat_vectors(&[&left_positions, &slice_vector::<u32, B>(&positions, n, m)]);
        let sums = ops::apply(b, steps, destinations)?.prefix_sums();
        let back = ops::place_by_labels(b, sums, labels, |label| old_row(label, n, first_right))?;
        Ok(back.slice(n, m))
    })?)
}

/// As [`copy_down`], where left and right rows are sorted by the key: the differences between left rows move along when
/// both are merged.
fn copy_down_merged<B: Backend>(b: &mut B, payload: Rows<B>, m: usize, key: &[B::Bits]) -> Result<Rows<B>> {
    let n = payload.rows;
    let (steps, merging) = ops::merge(b, n, key, payload.differences().pad_zeros(m))?;
    Ok(merging.back(b, steps.prefix_sums())?.slice(n, m))
}

fn slice_vector<R: Ring, B: Backend>(x: &B::Vector<R>, start: usize, rows: usize) -> B::Vector<R> {
    x.map(rows, |x| x[start..start + rows].to_vec())
}

/// Which right rows found a left row with their own key. `copied` holds the key planes of the row that was found.
fn matches<B: Backend>(
    b: &mut B,
    right: &Table<B>,
    right_keys: &[Arc<Value<B>>],
    keys: &[KeyPair<B>],
    copied: &[B::Bits],
    found: Option<B::Bits>,
) -> Result<B::Bits> {
    let own = keys.iter().flat_map(|pair| &pair.right);
    let mut bits: Vec<B::Bits> = own.zip(copied).map(|(own, copied)| b.not(&linear::xor(own, copied))).collect();
    bits.extend(found);
    bits.extend(right.valid.clone());
    bits.extend(right_keys.iter().filter_map(|key| key.null.as_ref()).map(|null| b.not(null)));
    Ok(circuits::and_all(b, right.rows, bits)?)
}

/// The left key column: where rows match it equals the right one, and it is never NULL.
fn equal_key<B: Backend>(b: &mut B, left: &Value<B>, pair: &KeyPair<B>) -> Result<Value<B>> {
    let kind = Kind { repr: Repr::Bits, width: pair.right.len(), signed: pair.signed, nullable: false };
    let right = Value::new(kind, left.encoding, None, Shares::Bits(pair.right.clone()));
    let planes = planes_of_width(b, &right, left.kind.width)?;
    Ok(Value::new(left.kind, left.encoding, None, Shares::Bits(planes)))
}

#[cfg(test)]
mod tests {
    use super::old_row;

    #[test]
    fn labels_are_of_one_row_and_other_numbers_of_none() {
        let rows: Vec<_> = [0, 2, 8, 9, 15].map(|label| old_row(label, 3, 8)).to_vec();
        assert_eq!(rows, [Some(0), Some(2), Some(3), Some(4), Some(10)]);
        for none in [3, 7, 1 << 33, u64::MAX] {
            assert_eq!(old_row(none, 3, 8), None, "{none}");
        }
    }
}
