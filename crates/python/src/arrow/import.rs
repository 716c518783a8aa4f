//! Owners' tables: Arrow record batches to tables in clear.
//!
//! Batches are read where the exporter put them; every value is copied once, into columns that own their memory,
//! because foreign memory cannot be reused for shares.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, DataType, Field};
use tacit_math::Plane;
use tacit_run::{Result, RunError};
use tacit_table::{ColumnData, DataColumn, DataTable, Text};

use super::Stream;

/// Reads a whole stream.
///
/// # Errors
/// An input error: the exporter's, or a column of a type that cannot be shared.
pub fn read_table(stream: Stream) -> Result<DataTable> {
    let reader = RecordBatchStreamReader::try_new(stream).map_err(|error| unreadable(&error))?;
    let schema = reader.schema();
    let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(|error| unreadable(&error))?;
    let columns = schema.fields().iter().enumerate().map(|(index, field)| column(field, index, &batches));
    Ok(DataTable {
        rows: batches.iter().map(RecordBatch::num_rows).sum(),
        columns: columns.collect::<Result<_>>()?,
        pad_to: None,
    })
}

fn unreadable(error: &ArrowError) -> RunError {
    RunError::Unreadable(format!("the owner's data cannot be read as Arrow: {error}"))
}

fn column(field: &Field, index: usize, batches: &[RecordBatch]) -> Result<DataColumn> {
    let chunks: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
    Ok(DataColumn { name: field.name().clone(), data: values(field, &chunks)?, nulls: nulls(&chunks) })
}

fn values(field: &Field, chunks: &[&ArrayRef]) -> Result<ColumnData> {
    let data = match field.data_type() {
        // A column of which the exporter knows nothing but NULLs, which are alike in every type.
        DataType::Null => ColumnData::Integers(vec![0; rows(chunks)]),
        DataType::Boolean => ColumnData::Booleans(joined(chunks, |chunk| plane(chunk.as_boolean().values()))),
        DataType::Int8 => integers::<Int8Type>(chunks),
        DataType::Int16 => integers::<Int16Type>(chunks),
        DataType::Int32 => integers::<Int32Type>(chunks),
        DataType::Int64 => integers::<Int64Type>(chunks),
        DataType::UInt8 => integers::<UInt8Type>(chunks),
        DataType::UInt16 => integers::<UInt16Type>(chunks),
        DataType::UInt32 => integers::<UInt32Type>(chunks),
        DataType::UInt64 => wide::<UInt64Type>(chunks),
        DataType::Date32 => integers::<Date32Type>(chunks),
        DataType::Decimal32(_, 0) => integers::<Decimal32Type>(chunks),
        DataType::Decimal64(_, 0) => integers::<Decimal64Type>(chunks),
        DataType::Decimal128(_, 0) => wide::<Decimal128Type>(chunks),
        DataType::Decimal256(_, 0) => widest(field, chunks)?,
        DataType::Utf8 => text(chunks, |chunk| chunk.as_string::<i32>().iter()),
        DataType::LargeUtf8 => text(chunks, |chunk| chunk.as_string::<i64>().iter()),
        DataType::Utf8View => text(chunks, |chunk| chunk.as_string_view().iter()),
        other => return Err(unsupported(field, other)),
    };
    Ok(data)
}

fn unsupported(field: &Field, kind: &DataType) -> RunError {
    let name = field.name();
    let advice = match kind {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => format!("give value * 10^{scale} as an integer"),
        DataType::Dictionary(..) => "give the strings themselves".to_owned(),
        _ => "give integers, decimals of scale 0, booleans, dates (date32) or strings".to_owned(),
    };
    RunError::Unreadable(format!("column {name:?} has the Arrow type {kind}, which cannot be shared; {advice}"))
}

fn integers<T: ArrowPrimitiveType>(chunks: &[&ArrayRef]) -> ColumnData
where
    T::Native: Into<i64>,
{
    ColumnData::Integers(primitives::<T, i64>(chunks))
}

fn wide<T: ArrowPrimitiveType>(chunks: &[&ArrayRef]) -> ColumnData
where
    T::Native: Into<i128>,
{
    ColumnData::Wide(primitives::<T, i128>(chunks))
}

fn primitives<T: ArrowPrimitiveType, V>(chunks: &[&ArrayRef]) -> Vec<V>
where
    T::Native: Into<V>,
{
    let mut out = Vec::with_capacity(rows(chunks));
    for chunk in chunks {
        out.extend(chunk.as_primitive::<T>().values().iter().map(|&value| value.into()));
    }
    out
}

/// 256-bit decimals, of which only the values (not what lies under a NULL) have to fit into 128 bits.
fn widest(field: &Field, chunks: &[&ArrayRef]) -> Result<ColumnData> {
    let all = chunks.iter().flat_map(|chunk| chunk.as_primitive::<Decimal256Type>().iter());
    let one = |(row, value): (usize, Option<arrow_buffer::i256>)| match value {
        None => Ok(0),
        Some(value) => value.to_i128().ok_or_else(|| {
            RunError::Unreadable(format!(
                "column {:?}, row {}: the value has more than 128 bits",
                field.name(),
                row + 1
            ))
        }),
    };
    Ok(ColumnData::Wide(all.enumerate().map(one).collect::<Result<_>>()?))
}

fn text<'a, I: Iterator<Item = Option<&'a str>>>(
    chunks: &[&'a ArrayRef],
    strings: impl Fn(&'a ArrayRef) -> I,
) -> ColumnData {
    let mut text = Text { bytes: Vec::new(), ends: Vec::with_capacity(rows(chunks)) };
    for chunk in chunks {
        strings(chunk).for_each(|string| text.push(string.unwrap_or_default().as_bytes()));
    }
    ColumnData::Text(text)
}

/// Which rows are NULL.
fn nulls(chunks: &[&ArrayRef]) -> Option<Plane> {
    let any = chunks.iter().any(|chunk| chunk.logical_null_count() > 0);
    any.then(|| {
        joined(chunks, |chunk| match chunk.logical_nulls() {
            Some(validity) => plane(validity.inner()).not(),
            None => Plane::zeros(chunk.len()),
        })
    })
}

fn joined(chunks: &[&ArrayRef], plane: impl Fn(&ArrayRef) -> Plane) -> Plane {
    let planes: Vec<Plane> = chunks.iter().map(|chunk| plane(chunk)).collect();
    Plane::concat(&planes.iter().collect::<Vec<_>>())
}

fn plane(bits: &BooleanBuffer) -> Plane {
    let words = bits.bit_chunks().iter_padded().take(bits.len().div_ceil(64)).collect();
    Plane::from_words(bits.len(), words)
}

fn rows(chunks: &[&ArrayRef]) -> usize {
    chunks.iter().map(|chunk| chunk.len()).sum()
}
