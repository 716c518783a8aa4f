//! Rows with one key or several, in memory: what universal ids and shares by several keys are computed from.
//!
//! Each key has tokens of its own kind, so that a key matches the other party's key of the same number and no other.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tacit_math::Seed;
use tacit_psi::Item;

use crate::bins::{Bins, projected};
use crate::canonical::{Counts, KeyColumn};
use crate::error::MatchError;
use crate::tokeniser::Tokeniser;

/// Rows on their way into memory.
pub struct Reading {
    tokenisers: Vec<Tokeniser>,
    payload: Vec<usize>,
    identifiers: Vec<Option<Item>>,
    tokens: Vec<Item>,
    chunks: Vec<RecordBatch>,
    rows: u64,
    keyless: u64,
}

/// Rows with an identifier for each of their keys.
pub struct KeyedRows {
    /// All rows, in their order, as the only bin.
    pub bins: Arc<Bins>,
    /// Of every row its identifiers, by falling priority; None where it has no such key.
    pub identifiers: Vec<Option<Item>>,
    /// How many keys there are.
    pub keys: usize,
}

impl Reading {
    /// Of no rows. keys: the columns of each key, the most important first. payload: the positions of the columns to
    /// keep.
    pub fn new(seed: &Seed, keys: Vec<Vec<KeyColumn>>, payload: Vec<usize>) -> Self {
        let tokeniser =
            |(number, columns)| Tokeniser::new(&seed.derive(&format!("tacit 2026 matching: key {number}")), columns);
        Self {
            tokenisers: keys.into_iter().enumerate().map(tokeniser).collect(),
            payload,
            identifiers: Vec::new(),
            tokens: Vec::new(),
            chunks: Vec::new(),
            rows: 0,
            keyless: 0,
        }
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// A key column of a type without equality.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), MatchError> {
        let (keys, begin) = (self.tokenisers.len(), self.identifiers.len());
        self.identifiers.resize(begin + keys * batch.num_rows(), None);
        let added = &mut self.identifiers[begin..];
        for (number, tokeniser) in self.tokenisers.iter_mut().enumerate() {
            self.tokens.clear();
            let rows = tokeniser.append(batch, &mut self.tokens)?;
            for (&row, &token) in rows.iter().zip(&self.tokens) {
                added[row as usize * keys + number] = Some(token);
            }
        }
        self.rows += batch.num_rows() as u64;
        self.keyless += added.chunks(keys).filter(|row| row.iter().all(Option::is_none)).count() as u64;
        self.chunks.push(projected(batch, &self.payload)?);
        Ok(())
    }

    /// Ends the reading. schema: of the table. The counts are those of the key. With several keys, rows without any of
    /// them count as rows with NULL, and the values without a canonical spelling are listed by column, key after key.
    ///
    /// # Errors
    /// Columns to keep that the table does not have.
    pub fn finish(self, schema: &SchemaRef) -> Result<(KeyedRows, Counts), MatchError> {
        let payload = projected(&RecordBatch::new_empty(SchemaRef::clone(schema)), &self.payload)?.schema();
        let invalid = self.tokenisers.iter().flat_map(|tokeniser| tokeniser.counts().invalid.clone()).collect();
        let null = if let [only] = &self.tokenisers[..] { only.counts().null } else { self.keyless };
        let counts = Counts { rows: self.rows, null, invalid };
        let bins = Arc::new(Bins::of_rows(payload, self.chunks));
        Ok((KeyedRows { bins, identifiers: self.identifiers, keys: self.tokenisers.len() }, counts))
    }
}
