//! Opened tables: tables in clear to Arrow record batches. Vectors move into the batch without a copy.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use tacit_math::Plane;
use tacit_table::{ColumnData, DataColumn, DataTable, Text};

use crate::fault::{Failure, Fault, Result};

/// One record batch: Int64, Decimal128(38, 0), Boolean and Utf8 columns, all nullable.
///
/// # Errors
/// An internal error when the columns are of different lengths, strings are not UTF-8 or have more than 2 GiB.
pub fn to_batch(table: DataTable) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(table.rows));
    let columns: Vec<(String, ArrayRef)> =
        table.columns.into_iter().map(|column| Ok((column.name.clone(), array(column)?))).collect::<Result<_>>()?;
    let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options).map_err(|error| wrong(&error.to_string()))
}

fn wrong(detail: &str) -> Failure {
    Failure::new(Fault::Internal, format!("the opened table is no Arrow table: {detail}; please report this"))
}

fn array(column: DataColumn) -> Result<ArrayRef> {
    let rows = column.data.rows();
    let validity = column.nulls.map(|nulls| NullBuffer::new(bits(&nulls.not(), rows)));
    Ok(match column.data {
        ColumnData::Integers(values) => Arc::new(Int64Array::new(values.into(), validity)),
        ColumnData::Wide(values) => {
            // Opened integers may use all 128 bits, one decimal digit more than the type can promise.
            let values = Decimal128Array::new(ScalarBuffer::from(values), validity);
            Arc::new(values.with_precision_and_scale(38, 0).map_err(|error| wrong(&error.to_string()))?)
        }
        ColumnData::Booleans(values) => Arc::new(BooleanArray::new(bits(&values, rows), validity)),
        ColumnData::Text(text) => Arc::new(strings(text, validity)?),
    })
}

fn strings(text: Text, validity: Option<NullBuffer>) -> Result<StringArray> {
    let end = |&end: &usize| i32::try_from(end).map_err(|_| wrong("strings of more than 2 GiB"));
    let ends: Vec<i32> = std::iter::once(Ok(0)).chain(text.ends.iter().map(end)).collect::<Result<_>>()?;
    let offsets = OffsetBuffer::new(ends.into());
    // The error's own words would quote the strings.
    StringArray::try_new(offsets, Buffer::from_vec(text.bytes), validity).map_err(|_| wrong("a string is not UTF-8"))
}

fn bits(plane: &Plane, rows: usize) -> BooleanBuffer {
    BooleanBuffer::new(Buffer::from_vec(plane.words().to_vec()), 0, rows)
}
