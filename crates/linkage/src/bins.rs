//! A party's rows in bins: the token of every row with a key, and the row's payload, in memory or in private files.
//!
//! Rows keep their order within a bin. Rows without a key go to one more bin, if the join will ask for them. Files are
//! encrypted under the party's key: whoever holds the run's key can try likely identifiers on tokens.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use tacit_math::Seed;
use tacit_psi::Item;
use tacit_psi::binning::bin_of;
use tacit_sealed::Folder;

use crate::canonical::{Counts, KeyColumn};
use crate::error::MatchError;
use crate::files::Files;
use crate::tokeniser::Tokeniser;
use crate::wrong_input::{WrongColumn, WrongInput};

/// Which rows go where.
#[derive(Clone)]
pub struct Layout {
    /// How many bins there are.
    pub bins: usize,
    /// The folder of the files; None keeps everything in memory.
    pub folder: Option<Arc<Folder>>,
    /// Bytes of rows kept before they are written to the bins' files.
    pub flush_bytes: usize,
    /// Whether rows without a key are kept too.
    pub keep_keyless: bool,
}

/// Where a row is among the batches that are in memory.
type Place = (usize, usize);

#[derive(Default)]
struct Pile {
    tokens: Vec<Item>,
    places: Vec<Place>,
}

/// Rows on their way into bins.
pub struct Partition {
    tokeniser: Tokeniser,
    payload: Vec<usize>,
    layout: Layout,
    files: Option<Files>,
    tokens: Vec<Item>,
    chunks: Vec<RecordBatch>,
    chunk_bytes: usize,
    /// One a bin, and one for rows without a key.
    piles: Vec<Pile>,
    /// How many rows each of these has in the files.
    written: Vec<u64>,
    schema: Option<SchemaRef>,
}

impl Partition {
    /// An empty one. payload: the positions of the columns to keep.
    pub fn new(key: &Seed, columns: Vec<KeyColumn>, payload: Vec<usize>, layout: Layout) -> Self {
        let piles = (0..=layout.bins).map(|_| Pile::default()).collect();
        let written = vec![0; layout.bins + 1];
        let files = layout.folder.clone().map(|folder| Files::new(folder, key, &columns, &payload));
        Self {
            tokeniser: Tokeniser::new(key, columns),
            payload,
            layout,
            files,
            tokens: Vec::new(),
            chunks: Vec::new(),
            chunk_bytes: 0,
            piles,
            written,
            schema: None,
        }
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// A key column of a type without equality; a file that cannot be written.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), MatchError> {
        self.tokens.clear();
        let rows = self.tokeniser.append(batch, &mut self.tokens)?;
        let keep_tokens = self.files.as_ref().is_none_or(Files::keep_tokens);
        let payload = projected(batch, &self.payload)?;
        self.schema.get_or_insert_with(|| payload.schema());
        let chunk = self.chunks.len();
        for (&row, &token) in rows.iter().zip(&self.tokens) {
            let pile = &mut self.piles[bin_of(token, self.layout.bins)];
            if keep_tokens {
                pile.tokens.push(token);
            }
            pile.places.push((chunk, row as usize));
        }
        if self.layout.keep_keyless && rows.len() < batch.num_rows() {
            let mut with_key = rows.iter().peekable();
            let keyless =
                (0..batch.num_rows()).filter(|&row| with_key.next_if(|&&next| next as usize == row).is_none());
            self.piles[self.layout.bins].places.extend(keyless.map(|row| (chunk, row)));
        }
        self.chunk_bytes += payload.get_array_memory_size() + 48 * batch.num_rows();
        self.chunks.push(payload);
        if self.files.is_some() && self.chunk_bytes >= self.layout.flush_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the partition: the bins, and what was counted.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(mut self, schema: SchemaRef) -> Result<(Bins, Counts), MatchError> {
        let schema = match self.schema.take() {
            Some(schema) => schema,
            None => schema.project(&self.payload).map_err(|error| unusable(&error))?.into(),
        };
        self.flush()?;
        let storage = match self.files {
            None => Storage::Memory { chunks: self.chunks, piles: self.piles },
            Some(files) => {
                files.keep_counts(&self.written)?;
                Storage::Disk { files, counts: self.written }
            }
        };
        Ok((Bins { schema, bins: self.layout.bins, storage }, self.tokeniser.counts().clone()))
    }

    /// Appends everything in memory to the bins' files, if there are any.
    fn flush(&mut self) -> Result<(), MatchError> {
        let Some(files) = &self.files else { return Ok(()) };
        let chunks: Vec<&RecordBatch> = self.chunks.iter().collect();
        for (bin, pile) in self.piles.iter_mut().enumerate().filter(|(_, pile)| !pile.places.is_empty()) {
            files.append(bin, &pile.tokens, &gather(&chunks, &pile.places)?)?;
            self.written[bin] += pile.places.len() as u64;
            pile.tokens.clear();
            pile.places.clear();
        }
        self.chunks.clear();
        self.chunk_bytes = 0;
        Ok(())
    }
}

/// Rows of several batches as one, in the order of their places. Without columns there is still a number of rows.
fn gather(chunks: &[&RecordBatch], places: &[Place]) -> Result<RecordBatch, MatchError> {
    match chunks.first() {
        Some(first) if first.num_columns() == 0 => {
            let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
            RecordBatch::try_new_with_options(first.schema(), Vec::new(), &options).map_err(|error| unusable(&error))
        }
        _ => interleave_record_batch(chunks, places).map_err(|error| unusable(&error)),
    }
}

/// Some of a batch's columns.
pub(crate) fn projected(batch: &RecordBatch, columns: &[usize]) -> Result<RecordBatch, MatchError> {
    batch.project(columns).map_err(|error| unusable(&error))
}

/// The error's own words could quote data.
fn unusable(error: &ArrowError) -> MatchError {
    let wrong = match error {
        ArrowError::NotYetImplemented(_) => WrongColumn::Type,
        ArrowError::OffsetOverflowError(_) => WrongColumn::Size,
        _ => WrongColumn::Layout,
    };
    WrongInput::Carried { wrong }.into()
}

/// A party's rows in bins.
pub struct Bins {
    schema: SchemaRef,
    bins: usize,
    storage: Storage,
}

enum Storage {
    Memory {
        chunks: Vec<RecordBatch>,
        piles: Vec<Pile>,
    },
    /// counts: of every bin its rows, and of those without a key.
    Disk {
        files: Files,
        counts: Vec<u64>,
    },
}

impl Bins {
    /// All rows of some batches, in their order, as one bin without tokens.
    pub(crate) fn of_rows(schema: SchemaRef, chunks: Vec<RecordBatch>) -> Self {
        let places =
            chunks.iter().enumerate().flat_map(|(chunk, batch)| (0..batch.num_rows()).map(move |row| (chunk, row)));
        let piles = vec![Pile { tokens: Vec::new(), places: places.collect() }, Pile::default()];
        Self { schema, bins: 1, storage: Storage::Memory { chunks, piles } }
    }

    /// The bins that an earlier run has left in a folder. schema: of its payload, if it had no rows.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn open(files: Files, bins: usize, schema: SchemaRef) -> Result<Self, MatchError> {
        let counts = files.counts(bins)?;
        let schema = files.schema(bins)?.unwrap_or(schema);
        Ok(Self { schema, bins, storage: Storage::Disk { files, counts } })
    }

    /// How many bins there are; rows without a key are in one more.
    pub fn count(&self) -> usize {
        self.bins
    }

    /// The columns of the payload.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// How many rows a bin has.
    pub fn rows(&self, bin: usize) -> usize {
        match &self.storage {
            Storage::Memory { piles, .. } => piles[bin].places.len(),
            Storage::Disk { counts, .. } => counts[bin] as usize,
        }
    }

    /// The tokens of a bin's rows, with repetitions.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn tokens(&self, bin: usize) -> Result<Vec<Item>, MatchError> {
        match &self.storage {
            Storage::Memory { piles, .. } => Ok(piles[bin].tokens.clone()),
            Storage::Disk { .. } if bin == self.bins => Ok(Vec::new()),
            Storage::Disk { files, counts } => files.tokens(bin, counts[bin]),
        }
    }

    /// Forces the bins' files to the disk.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn sync(&self) -> Result<(), MatchError> {
        match &self.storage {
            Storage::Memory { .. } => Ok(()),
            Storage::Disk { files, .. } => files.sync(self.bins),
        }
    }

    /// A bin's payload, ready to take rows from.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn load(&self, bin: usize) -> Result<Loaded<'_>, MatchError> {
        Ok(match &self.storage {
            Storage::Memory { chunks, piles } => Loaded {
                chunks: chunks.iter().map(Held::Borrowed).collect(),
                places: Places::Listed(&piles[bin].places),
            },
            Storage::Disk { files, counts } => {
                let chunks = files.rows(bin, counts[bin])?;
                let mut ends = Vec::with_capacity(chunks.len());
                chunks.iter().for_each(|chunk| ends.push(ends.last().copied().unwrap_or(0) + chunk.num_rows()));
                Loaded { chunks: chunks.into_iter().map(Held::Owned).collect(), places: Places::Counted(ends) }
            }
        })
    }
}

/// One bin's payload.
pub struct Loaded<'a> {
    chunks: Vec<Held<'a>>,
    places: Places<'a>,
}

enum Held<'a> {
    Borrowed(&'a RecordBatch),
    Owned(RecordBatch),
}

enum Places<'a> {
    Listed(&'a [Place]),
    /// Where each chunk ends.
    Counted(Vec<usize>),
}

impl Loaded<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match &self.places {
            Places::Listed(places) => places.len(),
            Places::Counted(ends) => ends.last().copied().unwrap_or(0),
        }
    }

    /// Rows of the bin in the given order.
    ///
    /// # Errors
    /// A column of a type that cannot be rearranged; a row that the bin does not have.
    pub fn take(&self, rows: &[u32]) -> Result<RecordBatch, MatchError> {
        let all = self.rows();
        if rows.iter().any(|&row| row as usize >= all) {
            return Err(WrongInput::BinRows.into());
        }
        let chunks: Vec<&RecordBatch> = self
            .chunks
            .iter()
            .map(|held| match held {
                Held::Borrowed(batch) => *batch,
                Held::Owned(batch) => batch,
            })
            .collect();
        let place = |&row: &u32| match &self.places {
            Places::Listed(places) => places[row as usize],
            Places::Counted(ends) => {
                let chunk = ends.partition_point(|&end| end <= row as usize);
                (chunk, row as usize - chunk.checked_sub(1).map_or(0, |before| ends[before]))
            }
        };
        gather(&chunks, &rows.iter().map(place).collect::<Vec<_>>())
    }
}
