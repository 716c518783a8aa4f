//! Rows of Arrow batches to tokens under the key of a run.

use arrow_array::RecordBatch;
use tacit_math::Seed;
use tacit_psi::Item;
use tacit_psi::tokens::TokenHash;

use crate::canonical::{Counts, KeyColumn, Keys, encode};
use crate::error::MatchError;

/// Makes tokens of key columns, batch by batch.
pub struct Tokeniser {
    hash: TokenHash,
    columns: Vec<KeyColumn>,
    keys: Keys,
    counts: Counts,
}

impl Tokeniser {
    /// Under a key.
    pub fn new(key: &Seed, columns: Vec<KeyColumn>) -> Self {
        let counts = Counts { invalid: vec![(0, None); columns.len()], ..Counts::default() };
        Self { hash: TokenHash::new(key), columns, keys: Keys::default(), counts }
    }

    /// Appends the token of every row that has a key. Returns these rows.
    ///
    /// # Errors
    /// A key column of a type without equality.
    pub fn append(&mut self, batch: &RecordBatch, tokens: &mut Vec<Item>) -> Result<&[u32], MatchError> {
        encode(batch, &self.columns, &mut self.keys, &mut self.counts)?;
        self.hash.hash_rows(&self.keys.bytes, &self.keys.ends, tokens);
        Ok(&self.keys.rows)
    }

    /// What all batches so far have come to.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
