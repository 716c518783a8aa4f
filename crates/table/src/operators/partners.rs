//! Several left rows of one key for each right row of a join.
//!
//! In the order of the key the left rows of a right row stand directly before it. So every left row first becomes wide:
//! beside its own columns it gets those of the r - 1 rows before it. That is local. Then a right row takes over the
//! last row before it, and has all r of them. With each comes a bit, whether it counts and has the same key. Of n left
//! rows these bits cost one equality of neighbours, and r - 1 ANDs in about log2 r rounds.

use tacit_math::Plane;
use tacit_mpc::{Backend, Linear, Rows, circuits};

use super::neighbours::{moved_bits, moved_numbers};
use crate::bundle::bundle;
use crate::error::Result;
use crate::table::{Column, Value};
use crate::wrong_input::WrongInput;

/// The most rows that are taken over; the planner refuses more, too (`MOST_PARTNERS` of
/// tacit.plan.physical.lower_join).
const MOST_PARTNERS: usize = 1 << 24;

/// That a join moves no more rows than it may, and keeps left rows only where their keys are unique.
pub(super) fn check_repeats(left: usize, right: usize, repeats: usize, keeps_left: bool) -> Result<()> {
    if repeats == 0 || (repeats > 1 && keeps_left) {
        return Err(WrongInput::Repeats { repeats }.into());
    }
    let moved = left.checked_add(right).and_then(|rows| rows.checked_mul(repeats));
    if repeats == 1 || moved.is_some_and(|moved| moved <= MOST_PARTNERS) {
        return Ok(());
    }
    Err(WrongInput::Partners { left, right, repeats, most: MOST_PARTNERS }.into())
}

/// Left rows in the order of their key, each with the columns of the rows before it.
///
/// The planes of a row are `values` planes, `keys` planes of the key, and one that says whether it counts. Those of a
/// wide row are the values of `repeats` rows, itself first, for each of them whether it counts and has the same key,
/// and the key. `all`: all rows count.
pub(super) fn widened<B: Backend>(
    b: &mut B,
    rows: &Rows<B>,
    values: usize,
    repeats: usize,
    all: bool,
) -> tacit_mpc::Result<Rows<B>> {
    let (value, key) = rows.bits.split_at(values);
    let (counts, key) = key.split_last().expect("whether a row counts");
    let mut out = Rows::empty(rows.rows);
    for by in (0..repeats as isize).map(|by| -by) {
        out.bits.extend(value.iter().map(|plane| moved_bits::<B>(plane, by)));
        out.r64.extend(rows.r64.iter().map(|numbers| moved_numbers::<u64, B>(numbers, by)));
        out.r128.extend(rows.r128.iter().map(|numbers| moved_numbers::<u128, B>(numbers, by)));
    }
    out.bits.push(counts.clone());
    out.bits.extend(with_same_key(b, rows.rows, key, counts, repeats, all)?);
    out.bits.extend(key.iter().cloned());
    Ok(out)
}

/// For each of the rows 1 to `repeats` - 1 before a row: whether it has the same key, and counts.
fn with_same_key<B: Backend>(
    b: &mut B,
    rows: usize,
    key: &[B::Bits],
    counts: &B::Bits,
    repeats: usize,
    all: bool,
) -> tacit_mpc::Result<Vec<B::Bits>> {
    if repeats == 1 {
        return Ok(vec![]);
    }
    let above: Vec<B::Bits> = key.iter().map(|plane| moved_bits::<B>(plane, -1)).collect();
    let first = circuits::equal(b, rows, key, &above)?;
    let mut same = vec![first.map(rows, |plane| plane.and(&Plane::from_fn(rows, |row| row > 0)))];
    while same.len() + 1 < repeats {
        let known = same.len();
        let more = known.min(repeats - 1 - known);
        let before: Vec<B::Bits> = same[..more].iter().map(|bit| moved_bits::<B>(bit, -(known as isize))).collect();
        let farther = b.and(&vec![&same[known - 1]; more], &before.iter().collect::<Vec<_>>())?;
        same.extend(farther);
    }
    if all {
        return Ok(same);
    }
    let counting: Vec<B::Bits> = (1..repeats as isize).map(|by| moved_bits::<B>(counts, -by)).collect();
    b.and(&same.iter().collect::<Vec<_>>(), &counting.iter().collect::<Vec<_>>())
}

/// The columns one after the other, so often. Local.
pub(super) fn again<B: Backend>(columns: Vec<Column<B>>, rows: usize, times: usize) -> Vec<Column<B>> {
    if times == 1 {
        return columns;
    }
    let from: Vec<u32> = (0..rows * times).map(|row| (row % rows) as u32).collect();
    let (bundled, layout) = bundle(rows, columns.iter().map(|column| &*column.value));
    let (values, _) = layout.unbundle(bundled.gather_public(&from));
    columns.iter().zip(values).map(|(column, value): (_, Value<B>)| Column::new(&column.name, value)).collect()
}
