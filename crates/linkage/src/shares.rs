//! Shares of the rows that match in place of the rows: of every pair both parties get additive shares of both payloads,
//! in the same order. Which of its rows are in pairs a party learns no further than it recognises them by how its own
//! keys repeat or go together.
//!
//! One instance over whole tables ([`ps3i`]): pairs bin by bin would tell more than all pairs. By [`Rule`] keys that
//! repeat give the product of their rows, as a join in SQL does, with or without the rows that are in several pairs. Or
//! a row is in one pair at most, by the first key that it shares. For this both parties see how often masked keys
//! repeat.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tacit_net::{PartyId, Session, Traffic};
use tacit_psi::blind_join::{Rule, Shape};
use tacit_psi::ps3i::{self, SharedPairs, Table};
use tacit_psi::{Role, Sizes};

use crate::error::MatchError;
use crate::keyed::KeyedRows;
use crate::wrong_input::WrongInput;

/// What both parties announce of themselves.
#[derive(Clone, Copy, Debug)]
pub struct Announced {
    /// Rows of the sender and of the receiver.
    pub rows: Sizes,
    /// Columns of 64-bit integers of the sender and of the receiver.
    pub columns: Sizes,
    /// Keys of each row.
    pub keys: usize,
}

impl Announced {
    fn shape(self) -> Shape {
        Shape { rows: self.rows, columns: Sizes { sender: self.keys, receiver: self.keys } }
    }

    /// What a run costs.
    pub fn cost(self) -> Traffic {
        ps3i::cost(self.shape(), self.columns)
    }
}

/// Shares both payloads of all pairs. The table's columns are 64-bit integers, NULL is 0.
///
/// # Errors
/// Those of the protocol; a column of another type.
pub fn share(
    session: &mut Session,
    role: Role,
    table: &KeyedRows,
    announced: Announced,
    rule: Rule,
) -> Result<SharedPairs, MatchError> {
    let peer = PartyId(1 - session.me().0);
    let (bins, rows) = (&table.bins, table.bins.rows(0));
    let mut payload = vec![Vec::with_capacity(rows); bins.schema().fields().len()];
    if rows > 0 && !payload.is_empty() {
        let batch = bins.load(0)?.take(&(0..rows as u32).collect::<Vec<_>>())?;
        payload.iter_mut().zip(batch.columns()).try_for_each(|(all, column)| append(all, column))?;
    }
    let table = Table { identifiers: &table.identifiers, payload: &payload };
    Ok(ps3i::run(session, peer, role, table, announced.shape(), announced.columns, rule)?)
}

fn append(all: &mut Vec<u64>, column: &ArrayRef) -> Result<(), MatchError> {
    let values = column.as_primitive_opt::<Int64Type>();
    let values = values.ok_or(WrongInput::SharedType)?;
    all.extend(values.iter().map(|value| value.unwrap_or(0) as u64));
    Ok(())
}

/// A party's shares as a table: the sender's columns, then the receiver's, under these names.
///
/// # Errors
/// Other names than one a column; no column at all.
pub fn table(pairs: SharedPairs, names: &[String]) -> Result<RecordBatch, MatchError> {
    let columns: Vec<ArrayRef> = pairs
        .sender
        .into_iter()
        .chain(pairs.receiver)
        .map(|column| Arc::new(UInt64Array::from(column)) as ArrayRef)
        .collect();
    let fields: Vec<Field> = names.iter().map(|name| Field::new(name, DataType::UInt64, false)).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, columns).map_err(|_| WrongInput::SharedNames.into())
}
