//! Universal ids in place of the rows that match: every row of both parties gets one, and nobody learns which rows are
//! in both.
//!
//! One instance over whole sets, padded to the announced numbers of rows: the size of the union bin by bin would tell
//! more than the whole. Rows with the same key have the same id. Padding, which matches nothing, gives an id to each
//! row without a key. The ids of padding that are left, one for each repetition of a key, are ids without a row. So the
//! size of the union does not tell how often keys repeat.
//!
//! With several keys ([`multi_key`]) every row has an id of its own, the same as one row of the other party's at most.
//! That row is the first, by falling priority of the keys, that shares one.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use tacit_math::Seed;
use tacit_net::{PartyId, Session, Traffic};
use tacit_psi::binning::pad;
use tacit_psi::blind_join::Shape;
use tacit_psi::multi_key;
use tacit_psi::private_id::{Identified, UniversalId};
use tacit_psi::relatives::{PrivateId, Relative};
use tacit_psi::{PsiError, Role, Sizes};

use crate::bins::Bins;
use crate::distinct::Distinct;
use crate::error::MatchError;
use crate::keyed::KeyedRows;
use crate::wrong_input::{WrongColumn, WrongInput};

/// Rows of one batch of the output.
const BATCH: usize = 122_880;

/// The row of an id that this party has no row for.
const NONE: u32 = u32::MAX;

/// How ids can be computed, by name.
pub const METHODS: [(&str, PrivateId); 2] = [("ddh", PrivateId::Ddh), ("oprf", PrivateId::Oprf)];

/// The ids of the union in ascending order, each with this party's rows that have it.
pub struct Ids {
    bins: Arc<Bins>,
    /// Ids with a row each: of the bin of keys, then of the bin of rows without a key; or none.
    entries: Vec<(UniversalId, u32)>,
    union: usize,
    contaminated: (usize, usize),
}

/// The highest cost of ids by `keys` keys. Rows that match lower the cost.
pub fn cost_by_keys(keys: usize, rows: Sizes) -> Traffic {
    multi_key::cost(shape(keys, rows), rows.sender + rows.receiver)
}

fn shape(keys: usize, rows: Sizes) -> Shape {
    Shape { rows, columns: Sizes { sender: keys, receiver: keys } }
}

fn sizes(role: Role, [mine, theirs]: [usize; 2]) -> Sizes {
    match role {
        Role::Sender => Sizes { sender: mine, receiver: theirs },
        Role::Receiver => Sizes { sender: theirs, receiver: mine },
    }
}

impl Ids {
    /// Runs the protocol. bins: a single one, with the rows without a key. rows: announced by this party and by the
    /// peer.
    ///
    /// # Errors
    /// Those of the protocol; a table of 2^32 - 1 rows or more.
    pub fn agree(
        session: &mut Session,
        role: Role,
        method: PrivateId,
        bins: Arc<Bins>,
        rows: [usize; 2],
    ) -> Result<Self, MatchError> {
        check(rows[0])?;
        let peer = PartyId(1 - session.me().0);
        let mut distinct = Distinct::of(bins.tokens(0)?);
        let tokens = distinct.tokens.len();
        pad(&mut distinct.tokens, rows[0], role, &Seed::random().map_err(PsiError::from)?);
        let found = method.run(role, session, peer, &distinct.tokens, sizes(role, rows))?;
        let (of_keys, mut of_padding) = (&found.rows[..tokens], found.rows[tokens..].iter().copied());
        let mut entries = Vec::with_capacity(found.union.len() + rows[0]);
        for (token, &id) in (0..).zip(of_keys) {
            entries.extend(distinct.rows(token).map(|row| (id, row)));
        }
        let keyed = bins.rows(0) as u32;
        entries.extend((keyed..rows[0] as u32).zip(&mut of_padding).map(|(row, id)| (id, row)));
        Ok(Self::listed(bins, entries, &found, (0, 0)))
    }

    /// Runs the protocol of rows with several keys. theirs: the rows of the peer.
    ///
    /// # Errors
    /// Those of the protocol; a table of 2^32 - 1 rows or more.
    pub fn agree_by_keys(
        session: &mut Session,
        role: Role,
        table: &KeyedRows,
        theirs: usize,
    ) -> Result<Self, MatchError> {
        let mine = table.bins.rows(0);
        check(mine)?;
        let peer = PartyId(1 - session.me().0);
        let shape = shape(table.keys, sizes(role, [mine, theirs]));
        let (found, contaminated) = multi_key::run(session, peer, role, &table.identifiers, shape)?;
        let entries = found.rows.iter().copied().zip(0..).collect();
        Ok(Self::listed(Arc::clone(&table.bins), entries, &found, contaminated))
    }

    /// The ids of this party's rows, and those of the union without one.
    fn listed(
        bins: Arc<Bins>,
        mut entries: Vec<(UniversalId, u32)>,
        found: &Identified,
        contaminated: (usize, usize),
    ) -> Self {
        let mut own: Vec<UniversalId> = entries.iter().map(|entry| entry.0).collect();
        own.sort_unstable();
        let others = found.union.iter().filter(|id| own.binary_search(id).is_err());
        entries.extend(others.map(|&id| (id, NONE)));
        entries.sort_unstable();
        Self { bins, entries, union: found.union.len(), contaminated }
    }

    /// With several keys, how many rows of the sender and of the receiver share keys with more than one row of the
    /// other.
    pub fn contaminated(&self) -> (usize, usize) {
        self.contaminated
    }

    /// How many ids there are.
    pub fn union(&self) -> usize {
        self.union
    }
}

fn check(rows: usize) -> Result<(), MatchError> {
    match rows < NONE as usize {
        true => Ok(()),
        false => Err(WrongInput::IdRows.into()),
    }
}

/// The rows of the output, batch after batch: the id as text of 32 hexadecimal digits, then the payload, NULL where the
/// party has no row with this id.
pub struct IdRows {
    ids: Arc<Ids>,
    schema: SchemaRef,
    next: usize,
}

impl IdRows {
    /// From the first row. column: the name of the column of ids.
    pub fn new(ids: Arc<Ids>, column: &str) -> Self {
        let payload = ids.bins.schema();
        let fields = payload.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let fields = std::iter::once(Field::new(column, DataType::Utf8, false)).chain(fields);
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self { ids, schema, next: 0 }
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn batch(&self, entries: &[(UniversalId, u32)]) -> Result<RecordBatch, MatchError> {
        let ids: ArrayRef = Arc::new(entries.iter().map(|(id, _)| Some(format!("{id:032x}"))).collect::<StringArray>());
        let mut columns = vec![ids];
        if self.schema.fields().len() > 1 {
            columns.extend_from_slice(self.payload(entries)?.columns());
        }
        RecordBatch::try_new(self.schema(), columns).map_err(|_| rearranged())
    }

    /// The payload of the entries' rows: from the rows with a key, those without, and one row of NULL.
    fn payload(&self, entries: &[(UniversalId, u32)]) -> Result<RecordBatch, MatchError> {
        let bins = &self.ids.bins;
        let keyed = bins.rows(0) as u32;
        let (mut with, mut without, mut places) = (Vec::new(), Vec::new(), Vec::with_capacity(entries.len()));
        for &(_, row) in entries {
            places.push(match row {
                NONE => (2, 0),
                row if row < keyed => (0, push(&mut with, row)),
                row => (1, push(&mut without, row - keyed)),
            });
        }
        let schema = Arc::new(Schema::new(self.schema.fields()[1..].to_vec()));
        let null = schema.fields().iter().map(|field| new_null_array(field.data_type(), 1)).collect();
        let nullable = |batch: RecordBatch| RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec());
        let empty = || Ok(RecordBatch::new_empty(Arc::clone(&schema)));
        let take = |bin: usize, rows: &[u32]| match rows {
            [] => empty(),
            rows => nullable(bins.load(bin)?.take(rows)?).map_err(|_| rearranged()),
        };
        let sources = [
            take(0, &with)?,
            take(1, &without)?,
            RecordBatch::try_new(schema.clone(), null).map_err(|_| rearranged())?,
        ];
        interleave_record_batch(&sources.each_ref(), &places).map_err(|_| rearranged())
    }
}

/// Appends a row; its place.
fn push(rows: &mut Vec<u32>, row: u32) -> usize {
    rows.push(row);
    rows.len() - 1
}

fn rearranged() -> MatchError {
    WrongInput::Carried { wrong: WrongColumn::Type }.into()
}

impl Iterator for IdRows {
    type Item = Result<RecordBatch, MatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.next;
        let end = self.ids.entries.len().min(start + BATCH);
        self.next = end;
        (start < end).then(|| self.batch(&self.ids.entries[start..end]))
    }
}
