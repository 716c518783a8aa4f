//! The rows of a join as a stream of batches: first the pairs that match, then what the join keeps besides, in the same
//! order at both parties. Where a row is the other party's alone, this party's columns are NULL.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Schema, SchemaRef};

use crate::bins::{Bins, Loaded};
use crate::error::MatchError;
use crate::results::{Matches, Results};
use crate::wrong_input::WrongInput;

/// Rows of one batch.
const BATCH: usize = 122_880;

/// Rows for which a bin is loaded once: keys that repeat can give a bin any number of rows.
const LOT: usize = 16 * BATCH;

/// Which rows the output has; the first party is the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The pairs that match.
    Inner,
    /// These, and the first party's other rows.
    Left,
    /// These, and the second party's other rows.
    Right,
    /// These, and both parties' other rows.
    Full,
    /// This party's rows that match nothing. Nothing is to be aligned.
    Anti,
}

impl Join {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "inner" => Self::Inner,
            "left" => Self::Left,
            "right" => Self::Right,
            "full" => Self::Full,
            "anti" => Self::Anti,
            _ => return None,
        })
    }

    /// Whether the output has the pairs that match.
    fn pairs(self) -> bool {
        self != Self::Anti
    }

    /// Whether a party keeps its own rows that match nothing.
    pub fn keeps_own(self, first: bool) -> bool {
        match self {
            Self::Inner => false,
            Self::Left => first,
            Self::Right => !first,
            Self::Full | Self::Anti => true,
        }
    }

    /// Whether a party has rows of NULL for the peer's rows that match nothing.
    fn keeps_others(self, first: bool) -> bool {
        matches!(self, Self::Left | Self::Right | Self::Full) && self.keeps_own(!first)
    }
}

/// One stretch of the output.
enum Stretch {
    /// The pairs of a bin.
    Pairs(usize),
    /// Rows of a bin that match nothing.
    Unmatched(usize),
    /// A number of rows of NULL.
    Nulls(u64),
}

/// What is left of the present stretch.
enum Present {
    /// Rows of a bin, from the place `at` on.
    Listed { bin: usize, rows: Vec<u32>, at: usize },
    /// A number of rows of NULL.
    Nulls(u64),
}

/// The output, batch after batch.
pub struct Rows {
    bins: Arc<Bins>,
    results: Arc<Results>,
    schema: SchemaRef,
    stretches: std::vec::IntoIter<Stretch>,
    present: Option<Present>,
    /// Batches that are ready, the next one last.
    ready: Vec<RecordBatch>,
}

impl Rows {
    /// The output of one party. first: whether it is the first of the two; peer_rows: all rows of the other.
    ///
    /// # Errors
    /// A result that cannot be read.
    pub fn new(
        bins: Arc<Bins>,
        results: Arc<Results>,
        join: Join,
        first: bool,
        peer_rows: u64,
    ) -> Result<Self, MatchError> {
        let fields =
            bins.schema().fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect::<Vec<_>>();
        let mut stretches = Vec::new();
        if join.pairs() {
            stretches.extend((0..bins.count()).map(Stretch::Pairs));
        }
        let own = join.keeps_own(first).then(|| (0..=bins.count()).map(Stretch::Unmatched));
        let nulls = match join.keeps_others(first) {
            false => None,
            true => {
                Some(Stretch::Nulls(peer_rows.saturating_sub(total(&results, bins.count(), |found| found.peer_rows)?)))
            }
        };
        // The first party's rows come before the second's.
        if first {
            stretches.extend(own.into_iter().flatten().chain(nulls));
        } else {
            stretches.extend(nulls.into_iter().chain(own.into_iter().flatten()));
        }
        Ok(Self {
            bins,
            results,
            schema: Arc::new(Schema::new(fields)),
            stretches: stretches.into_iter(),
            present: None,
            ready: Vec::new(),
        })
    }

    /// The columns, all of which may be NULL.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn begin(&self, stretch: &Stretch) -> Result<Present, MatchError> {
        Ok(match *stretch {
            Stretch::Pairs(bin) => Present::Listed { bin, rows: self.results.get(bin)?.rows, at: 0 },
            Stretch::Unmatched(bin) => {
                let rows = self.unmatched(bin, self.bins.rows(bin))?;
                Present::Listed { bin, rows, at: 0 }
            }
            Stretch::Nulls(rows) => Present::Nulls(rows),
        })
    }

    /// Makes the next batches ready: of a stretch however long a bounded number. Returns what is left of it.
    fn go_on(&mut self, present: Present) -> Result<Option<Present>, MatchError> {
        match present {
            Present::Listed { bin, rows, at } => {
                let to = rows.len().min(at + LOT);
                if at < to {
                    self.ready = self.taken(&self.bins.load(bin)?, &rows[at..to])?;
                    self.ready.reverse();
                }
                Ok((to < rows.len()).then_some(Present::Listed { bin, rows, at: to }))
            }
            Present::Nulls(rows) => {
                let now = rows.min(BATCH as u64) as usize;
                if now > 0 {
                    let null = |field: &arrow_schema::FieldRef| new_null_array(field.data_type(), now);
                    self.ready = vec![self.batch(self.schema.fields().iter().map(null).collect(), now)?];
                }
                Ok((rows > now as u64).then_some(Present::Nulls(rows - now as u64)))
            }
        }
    }

    fn taken(&self, loaded: &Loaded<'_>, rows: &[u32]) -> Result<Vec<RecordBatch>, MatchError> {
        let piece = |piece: Range<usize>| {
            let batch = loaded.take(&rows[piece])?;
            self.batch(batch.columns().to_vec(), batch.num_rows())
        };
        pieces(rows.len()).map(piece).collect()
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, MatchError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema(), columns, &options).map_err(|_| WrongInput::BinColumns.into())
    }

    /// Of the rows of a bin those that match nothing.
    fn unmatched(&self, bin: usize, rows: usize) -> Result<Vec<u32>, MatchError> {
        let mut matched = vec![false; rows];
        if bin < self.bins.count() {
            // A row that the bin does not have is found where the matching ones are taken.
            for row in self.results.get(bin)?.rows {
                matched.get_mut(row as usize).into_iter().for_each(|matched| *matched = true);
            }
        }
        Ok((0..rows as u32).filter(|&row| !matched[row as usize]).collect())
    }
}

/// The sum of something over all bins.
///
/// # Errors
/// A result that cannot be read.
pub fn total(results: &Results, bins: usize, of: impl Fn(&Matches) -> u64) -> Result<u64, MatchError> {
    (0..bins).map(|bin| results.get(bin).map(|found| of(&found))).sum()
}

fn pieces(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(BATCH).map(move |start| start..rows.min(start + BATCH))
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, MatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop() {
                return Some(Ok(batch));
            }
            let present = match self.present.take() {
                Some(present) => Ok(present),
                None => self.stretches.next().map(|stretch| self.begin(&stretch))?,
            };
            match present.and_then(|present| self.go_on(present)) {
                Ok(left) => self.present = left,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
