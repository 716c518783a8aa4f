//! Key columns of Arrow batches to unambiguous bytes: two keys have the same bytes exactly if SQL calls them equal (and
//! their normalised texts are equal).
//!
//! | kind | Arrow types | bytes |
//! |---|---|---|
//! | text | strings | of the normalised text, UTF-8 |
//! | number | integers, decimals | the scale without zeros at the end (1), the digits as a signed number (16) |
//! | floating | float32, float64 | of the float64 (8); one zero, one NaN |
//! | boolean, date, time | | a number of 1, 4 and 8 bytes; times in nanoseconds |
//! | timestamp | with or without time zone | nanoseconds since 1970 (16) |
//! | bytes | binary | themselves |
//!
//! A key of several columns has each column's length (4 bytes) before its bytes, so that ("ab", "c") and ("a", "bc")
//! differ. A row with NULL, or a text without canonical spelling, in any key column has no key and matches nothing.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

use crate::error::MatchError;
use crate::normalise::Normaliser;
use crate::wrong_input::WrongInput;

/// One column of the key.
#[derive(Clone, Debug)]
pub struct KeyColumn {
    /// Its position in the batches.
    pub index: usize,
    /// How its texts become canonical.
    pub normaliser: Normaliser,
}

/// How many rows have no key, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows in all.
    pub rows: u64,
    /// Rows with NULL in a key column.
    pub null: u64,
    /// By key column: rows whose text has no canonical spelling, and the first of them (from 1).
    pub invalid: Vec<(u64, Option<u64>)>,
}

/// The keys of one batch: of row `rows[i]`, `bytes[ends[i - 1]..ends[i]]`.
#[derive(Default)]
pub struct Keys {
    /// The bytes of all keys.
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<usize>,
    /// The rows that have a key.
    pub rows: Vec<u32>,
}

/// What has become of one value.
enum Value {
    Written,
    Null,
    Invalid,
}

type Writer<'a> = Box<dyn Fn(usize, &mut Vec<u8>) -> Value + 'a>;

/// Writes the keys of a batch into `keys`, which it clears, and counts rows without one.
///
/// # Errors
/// An input error when a key column's type has no canonical bytes.
pub fn encode(
    batch: &RecordBatch,
    columns: &[KeyColumn],
    keys: &mut Keys,
    counts: &mut Counts,
) -> Result<(), MatchError> {
    keys.bytes.clear();
    keys.ends.clear();
    keys.rows.clear();
    counts.invalid.resize(columns.len(), (0, None));
    let writers = columns
        .iter()
        .map(|column| {
            writer(batch.schema_ref().field(column.index).name(), batch.column(column.index), &column.normaliser)
        })
        .collect::<Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        match write_row(&writers, row, &mut keys.bytes) {
            Ok(()) => {
                keys.ends.push(keys.bytes.len());
                keys.rows.push(row as u32);
            }
            Err((column, why)) => {
                keys.bytes.truncate(keys.ends.last().copied().unwrap_or(0));
                match why {
                    Value::Invalid => {
                        let (count, first) = &mut counts.invalid[column];
                        *count += 1;
                        first.get_or_insert(counts.rows + row as u64 + 1);
                    }
                    Value::Null | Value::Written => counts.null += 1,
                }
            }
        }
    }
    counts.rows += batch.num_rows() as u64;
    Ok(())
}

/// Appends one row's key, or says which column prevents it. A NULL anywhere counts as NULL, whatever else is wrong.
fn write_row(writers: &[Writer<'_>], row: usize, bytes: &mut Vec<u8>) -> Result<(), (usize, Value)> {
    if let [only] = writers {
        return match only(row, bytes) {
            Value::Written => Ok(()),
            why => Err((0, why)),
        };
    }
    let mut invalid = None;
    for (column, write) in writers.iter().enumerate() {
        let begin = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        match write(row, bytes) {
            Value::Written => {
                let length = (bytes.len() - begin - 4) as u32;
                bytes[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
            }
            Value::Null => return Err((column, Value::Null)),
            Value::Invalid => invalid = invalid.or(Some(column)),
        }
    }
    invalid.map_or(Ok(()), |column| Err((column, Value::Invalid)))
}

fn writer<'a>(name: &str, column: &'a ArrayRef, normaliser: &'a Normaliser) -> Result<Writer<'a>, MatchError> {
    Ok(match column.data_type() {
        DataType::Utf8 => text(column.as_string::<i32>(), normaliser),
        DataType::LargeUtf8 => text(column.as_string::<i64>(), normaliser),
        DataType::Utf8View => text(column.as_string_view(), normaliser),
        DataType::Null => Box::new(|_, _| Value::Null),
        _ if *normaliser != Normaliser::Exact => {
            return Err(WrongInput::Normalised { name: name.to_owned(), data_type: column.data_type().clone() }.into());
        }
        DataType::Int8 => number::<Int8Type>(column, 0),
        DataType::Int16 => number::<Int16Type>(column, 0),
        DataType::Int32 => number::<Int32Type>(column, 0),
        DataType::Int64 => number::<Int64Type>(column, 0),
        DataType::UInt8 => number::<UInt8Type>(column, 0),
        DataType::UInt16 => number::<UInt16Type>(column, 0),
        DataType::UInt32 => number::<UInt32Type>(column, 0),
        DataType::UInt64 => number::<UInt64Type>(column, 0),
        DataType::Decimal32(_, scale @ 0..) => number::<Decimal32Type>(column, *scale),
        DataType::Decimal64(_, scale @ 0..) => number::<Decimal64Type>(column, *scale),
        DataType::Decimal128(_, scale @ 0..) => number::<Decimal128Type>(column, *scale),
        DataType::Boolean => {
            let values = column.as_boolean();
            Box::new(move |row, bytes| put(values.is_null(row), &[u8::from(values.value(row))], bytes))
        }
        DataType::Date32 => primitive::<Date32Type, 4>(column, |day| day.to_le_bytes()),
        DataType::Time64(TimeUnit::Microsecond) => {
            primitive::<Time64MicrosecondType, 8>(column, |time| (time * 1000).to_le_bytes())
        }
        DataType::Time64(TimeUnit::Nanosecond) => primitive::<Time64NanosecondType, 8>(column, i64::to_le_bytes),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => timestamp::<TimestampSecondType>(column, 1_000_000_000),
            TimeUnit::Millisecond => timestamp::<TimestampMillisecondType>(column, 1_000_000),
            TimeUnit::Microsecond => timestamp::<TimestampMicrosecondType>(column, 1_000),
            TimeUnit::Nanosecond => timestamp::<TimestampNanosecondType>(column, 1),
        },
        DataType::Float32 => primitive::<Float32Type, 8>(column, |value| float(f64::from(value))),
        DataType::Float64 => primitive::<Float64Type, 8>(column, float),
        DataType::Binary => {
            let values = column.as_binary::<i32>();
            Box::new(move |row, bytes| put(values.is_null(row), values.value(row), bytes))
        }
        other => {
            return Err(WrongInput::KeyType { name: name.to_owned(), data_type: other.clone() }.into());
        }
    })
}

fn put(null: bool, value: &[u8], bytes: &mut Vec<u8>) -> Value {
    if null {
        return Value::Null;
    }
    bytes.extend_from_slice(value);
    Value::Written
}

fn text<'a>(values: impl ArrayAccessor<Item = &'a str> + 'a, normaliser: &'a Normaliser) -> Writer<'a> {
    Box::new(move |row, bytes| {
        if values.is_null(row) {
            Value::Null
        } else if normaliser.append(values.value(row), bytes) {
            Value::Written
        } else {
            Value::Invalid
        }
    })
}

fn primitive<'a, T: ArrowPrimitiveType, const N: usize>(
    column: &'a ArrayRef,
    encode: impl Fn(T::Native) -> [u8; N] + 'a,
) -> Writer<'a> {
    let values: &PrimitiveArray<T> = column.as_primitive();
    Box::new(move |row, bytes| put(values.is_null(row), &encode(values.value(row)), bytes))
}

fn number<'a, T: ArrowPrimitiveType>(column: &'a ArrayRef, scale: i8) -> Writer<'a>
where
    T::Native: Into<i128>,
{
    primitive::<T, 17>(column, move |value| {
        let (mut digits, mut scale): (i128, i8) = (value.into(), scale);
        while scale > 0 && digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale - 1);
        }
        let mut bytes = [scale as u8; 17];
        bytes[1..].copy_from_slice(&digits.to_le_bytes());
        bytes
    })
}

fn timestamp<'a, T: ArrowPrimitiveType<Native = i64>>(column: &'a ArrayRef, nanoseconds: i128) -> Writer<'a> {
    primitive::<T, 16>(column, move |value| (i128::from(value) * nanoseconds).to_le_bytes())
}

fn float(value: f64) -> [u8; 8] {
    // -0.0 + 0.0 is 0.0; all NaN are one, as in DuckDB and Spark.
    if value.is_nan() { f64::NAN.to_le_bytes() } else { (value + 0.0).to_le_bytes() }
}
