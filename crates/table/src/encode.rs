//! The owner's side of an input: from clear values to planes and ring elements.

use std::cmp::Ordering;

use tacit_math::{KeyedHash, Plane, transpose};
use tacit_mpc::{Block, Shape};

use crate::data::{ColumnData, DataColumn, DataTable};
use crate::error::Result;
use crate::operator::{Encoding, Input, InputColumn, Kind, Repr};
use crate::wrong_input::{WrongInput, WrongValue};

/// The bundle's shape for `rows` rows: the columns in order, each with its null plane behind it, and last the valid
/// bits if any.
pub(crate) fn shape(columns: &[InputColumn], rows: usize, with_valid: bool) -> Shape {
    let mut shape = Shape { rows, bits: usize::from(with_valid), ..Shape::default() };
    for column in columns {
        shape.bits += usize::from(column.kind.nullable);
        match column.kind.repr {
            Repr::Bits => shape.bits += column.kind.width,
            Repr::Ring64 => shape.r64 += 1,
            Repr::Ring128 => shape.r128 += 1,
        }
    }
    shape
}

/// The owner's table as a bundle of `rows` rows, of which those behind its own are not valid; then sorted, if the plan
/// says so.
///
/// # Errors
/// [`WrongInput::Value`], naming column and row, when a value is outside its declared kind.
pub(crate) fn encode(
    input: &Input,
    data: &DataTable,
    rows: usize,
    with_valid: bool,
    hash: &KeyedHash,
) -> Result<Block> {
    let mut block = Block { rows, ..Block::default() };
    let mut keys: Vec<Option<Limbs>> = input.sorted_by.iter().map(|_| None).collect();
    let mut present = Plane::from_fn(rows, |i| i < data.rows);
    for column in &input.columns {
        let source = data
            .column(&column.source)
            .ok_or_else(|| WrongInput::DataColumn { owner: input.owner.clone(), name: column.source.clone() })?;
        check_shape(data, source)?;
        let numbers = numbers(column, source, data.rows, hash)?;
        match column.kind.repr {
            Repr::Bits => block.bits.extend(planes_of_limbs(&numbers, column.kind.width, rows)),
            Repr::Ring64 => block.r64.push(padded(numbers.limbs(0), rows)),
            Repr::Ring128 => {
                let wide =
                    numbers.limbs(0).zip(numbers.limbs(1)).map(|(low, high)| u128::from(high) << 64 | u128::from(low));
                block.r128.push(padded(wide, rows));
            }
        }
        if column.kind.nullable {
            block.bits.push(Plane::from_fn(rows, |i| i < data.rows && source.is_null(i)));
        }
        if let Some(place) = input.sorted_by.iter().position(|name| *name == column.name) {
            present = present.and(&Plane::from_fn(rows, |i| i >= data.rows || !source.is_null(i)));
            keys[place] = Some(numbers);
        }
    }
    if with_valid {
        block.bits.push(Plane::from_fn(rows, |i| i < data.rows));
    }
    if keys.is_empty() {
        return Ok(block);
    }
    let keys: Option<Vec<Limbs>> = keys.into_iter().collect();
    let missing = || WrongInput::SortColumn { owner: input.owner.clone() };
    Ok(block.gather(&sorted(&keys.ok_or_else(missing)?, &present)))
}

/// The rows in ascending order of the encodings' bits, the first key most significant; of equal ones those that are not
/// present first. A row without an encoding has zeros.
fn sorted(keys: &[Limbs], present: &Plane) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..present.rows() as u32).collect();
    let compare = |&a: &u32, &b: &u32| {
        let (a, b) = (a as usize, b as usize);
        let of_key = |key: &Limbs| key.of(a).rev().cmp(key.of(b).rev());
        keys.iter().map(of_key).fold(Ordering::Equal, Ordering::then).then(present.get(a).cmp(&present.get(b)))
    };
    rows.sort_unstable_by(compare);
    rows
}

fn check_shape(data: &DataTable, column: &DataColumn) -> Result<()> {
    let nulls = column.nulls.as_ref().map_or(data.rows, Plane::rows);
    if column.data.rows() == data.rows && nulls == data.rows {
        return Ok(());
    }
    Err(WrongInput::ColumnRows { name: column.name.clone(), rows: data.rows }.into())
}

/// Every row's encoding as `width` 64-bit limbs, least significant first.
struct Limbs {
    width: usize,
    words: Vec<u64>,
}

impl Limbs {
    /// The limbs of a row; zeros behind the last one.
    fn of(&self, row: usize) -> impl DoubleEndedIterator<Item = u64> {
        let at = row * self.width;
        (at..at + self.width).map(|at| self.words.get(at).copied().unwrap_or_default())
    }

    fn limbs(&self, which: usize) -> impl Iterator<Item = u64> {
        self.words.iter().skip(which).step_by(self.width).copied()
    }
}

fn padded<T: Clone + Default>(values: impl Iterator<Item = T>, rows: usize) -> Vec<T> {
    let mut out: Vec<T> = values.collect();
    out.resize(rows, T::default());
    out
}

fn planes_of_limbs(numbers: &Limbs, width: usize, rows: usize) -> Vec<Plane> {
    let limb = |k: usize| transpose::planes_of_rows(&padded(numbers.limbs(k), rows), (width - 64 * k).min(64));
    (0..width.div_ceil(64)).flat_map(limb).collect()
}

fn numbers(column: &InputColumn, source: &DataColumn, rows: usize, hash: &KeyedHash) -> Result<Limbs> {
    let width = if column.kind.repr == Repr::Ring128 { 2 } else { column.kind.width.div_ceil(64) };
    let mut words = Vec::with_capacity(width * rows);
    for row in 0..rows {
        let at = words.len();
        words.resize(at + width, 0);
        let written = match source.is_null(row) {
            false => number(column, source, row, hash, &mut words[at..]),
            true if column.kind.nullable => Ok(()),
            true => Err(WrongValue::Null),
        };
        written.map_err(|wrong| WrongInput::Value { column: source.name.clone(), row: row + 1, wrong })?;
    }
    Ok(Limbs { width, words })
}

/// Writes one row's encoding into its limbs, which are zero.
fn number(
    column: &InputColumn,
    source: &DataColumn,
    row: usize,
    hash: &KeyedHash,
    out: &mut [u64],
) -> Result<(), WrongValue> {
    match (&source.data, column.encode) {
        (ColumnData::Integers(x), Encoding::Int) => integer(x[row].into(), column.kind, out),
        (ColumnData::Wide(x), Encoding::Int) => integer(x[row], column.kind, out),
        (ColumnData::Booleans(x), Encoding::Int) => integer(x.get(row).into(), column.kind, out),
        (ColumnData::Text(x), Encoding::Hash) => {
            low_bits(hash.hash(x.get(row)), column.kind.width, out);
            Ok(())
        }
        (ColumnData::Text(x), Encoding::Bytes) => bytes(x.get(row), column.kind.width, out),
        (data, encode) => Err(WrongValue::OtherType { found: data.description(), encoding: encode }),
    }
}

fn integer(value: i128, kind: Kind, out: &mut [u64]) -> Result<(), WrongValue> {
    if !(kind.low()..=kind.high()).contains(&value) {
        return Err(WrongValue::OutOfBounds { width: kind.width, signed: kind.signed });
    }
    out.iter_mut().enumerate().for_each(|(k, word)| *word = (value >> (64 * k).min(127)) as u64);
    Ok(())
}

fn low_bits(value: u128, width: usize, out: &mut [u64]) {
    let value = if width < 128 { value & ((1 << width) - 1) } else { value };
    out.iter_mut().take(2).enumerate().for_each(|(k, word)| *word = (value >> (64 * k)) as u64);
}

/// Zero-padded bytes, the first one most significant.
fn bytes(text: &[u8], width: usize, out: &mut [u64]) -> Result<(), WrongValue> {
    let most = width / 8;
    if text.len() > most {
        return Err(WrongValue::TooLong { bytes: text.len(), most });
    }
    if text.contains(&0) {
        return Err(WrongValue::ZeroByte);
    }
    for (i, &byte) in text.iter().enumerate() {
        let place = most - 1 - i;
        out[place / 8] |= u64::from(byte) << (8 * (place % 8));
    }
    Ok(())
}

/// A string constant's bits, least significant first.
pub(crate) fn text_bits(text: &str, encoding: Encoding, kind: Kind, hash: &KeyedHash) -> Result<Vec<bool>> {
    let mut out = vec![0; kind.width.div_ceil(64)];
    match encoding {
        Encoding::Hash => low_bits(hash.hash(text.as_bytes()), kind.width, &mut out),
        Encoding::Bytes => bytes(text.as_bytes(), kind.width, &mut out)
            .map_err(|wrong| WrongInput::Constant { text: text.to_owned(), wrong })?,
        Encoding::Int => return Err(WrongInput::IntegerText { text: text.to_owned() }.into()),
    }
    Ok((0..kind.width).map(|j| out[j / 64] >> (j % 64) & 1 == 1).collect())
}
