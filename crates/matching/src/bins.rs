//! A party's rows in bins: the token of every row with a key, and the row's payload, in memory or in private files.
//!
//! On disk each bin is two files that grow by whole pieces: `N.tokens`, 16 bytes a row, and `N.rows`, Arrow streams one after another.
//! Rows keep their order within a bin. Rows without a key go to one more bin, if the join will ask for them. Files are
//! readable by their owner only: whoever holds the run's key can try likely identifiers on tokens.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use tacit_math::Seed;
use tacit_psi::Item;
use tacit_psi::binning::bin_of;
use tacit_psi::tokens::TokenHash;

use crate::canonical::{Counts, KeyColumn, Keys, encode};
use crate::error::MatchError;

/// Which rows go where.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How many bins there are.
    pub bins: usize,
    /// The folder of the files; None keeps everything in memory.
    pub folder: Option<PathBuf>,
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
    hash: TokenHash,
    columns: Vec<KeyColumn>,
    payload: Vec<usize>,
    layout: Layout,
    counts: Counts,
    keys: Keys,
    tokens: Vec<Item>,
    chunks: Vec<RecordBatch>,
    chunk_bytes: usize,
    /// One a bin, and one for rows without a key.
    piles: Vec<Pile>,
    schema: Option<SchemaRef>,
    written: Vec<u64>,
}

impl Partition {
    /// An empty one. payload: the places of the columns to keep.
    pub fn new(key: &Seed, columns: Vec<KeyColumn>, payload: Vec<usize>, layout: Layout) -> Self {
        let piles = (0..=layout.bins).map(|_| Pile::default()).collect();
        Self {
            hash: TokenHash::new(key),
            columns,
            payload,
            counts: Counts::default(),
            keys: Keys::default(),
            tokens: Vec::new(),
            chunks: Vec::new(),
            chunk_bytes: 0,
            piles,
            schema: None,
            written: vec![0; layout.bins + 1],
            layout,
        }
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// A key column of a type without equality; a file that cannot be written.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), MatchError> {
        encode(batch, &self.columns, &mut self.keys, &mut self.counts)?;
        self.tokens.clear();
        self.hash.hash_rows(&self.keys.bytes, &self.keys.ends, &mut self.tokens);
        let payload = batch.project(&self.payload).map_err(|error| unusable(&error))?;
        self.schema.get_or_insert_with(|| payload.schema());
        let chunk = self.chunks.len();
        for (&row, &token) in self.keys.rows.iter().zip(&self.tokens) {
            let pile = &mut self.piles[bin_of(token, self.layout.bins)];
            pile.tokens.push(token);
            pile.places.push((chunk, row as usize));
        }
        if self.layout.keep_keyless && self.keys.rows.len() < batch.num_rows() {
            let mut with_key = self.keys.rows.iter().peekable();
            let keyless =
                (0..batch.num_rows()).filter(|&row| with_key.next_if(|&&next| next as usize == row).is_none());
            self.piles[self.layout.bins].places.extend(keyless.map(|row| (chunk, row)));
        }
        self.chunk_bytes += payload.get_array_memory_size() + 48 * batch.num_rows();
        self.chunks.push(payload);
        if self.layout.folder.is_some() && self.chunk_bytes >= self.layout.flush_bytes {
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
        let storage = match self.layout.folder.clone() {
            None => Storage::Memory { chunks: self.chunks, piles: self.piles },
            Some(folder) => {
                self.flush()?;
                Storage::Disk { folder }
            }
        };
        self.counts.invalid.resize(self.columns.len(), (0, None));
        Ok((Bins { schema, bins: self.layout.bins, storage }, self.counts))
    }

    /// Appends everything in memory to the bins' files.
    fn flush(&mut self) -> Result<(), MatchError> {
        let Some(folder) = &self.layout.folder else { return Ok(()) };
        let chunks: Vec<&RecordBatch> = self.chunks.iter().collect();
        for (bin, pile) in self.piles.iter_mut().enumerate().filter(|(_, pile)| !pile.places.is_empty()) {
            append(&folder.join(format!("{bin}.tokens")), |file| file.write_all(bytemuck::cast_slice(&pile.tokens)))?;
            let rows = gather(&chunks, &pile.places)?;
            append(&folder.join(format!("{bin}.rows")), |file| {
                let mut stream = StreamWriter::try_new(file, rows.schema_ref()).map_err(std::io::Error::other)?;
                stream.write(&rows).and_then(|()| stream.finish()).map_err(reason)
            })?;
            self.written[bin] += pile.places.len() as u64;
            pile.tokens.clear();
            pile.places.clear();
        }
        self.chunks.clear();
        self.chunk_bytes = 0;
        Ok(())
    }
}

/// The operating system's reason where there is one.
fn reason(error: ArrowError) -> std::io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => std::io::Error::other(other),
    }
}

fn append(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<(), MatchError> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let written = opened.and_then(|file| {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        write(&mut file)?;
        file.flush()
    });
    written.map_err(|error| MatchError::file(path, &error))
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

/// The error's own words could quote data.
fn unusable(error: &ArrowError) -> MatchError {
    let kind = match error {
        ArrowError::NotYetImplemented(_) => "of a type that cannot be rearranged",
        ArrowError::OffsetOverflowError(_) => "with more than 2 GiB of text in one batch",
        _ => "that is no proper Arrow data",
    };
    MatchError::Input(format!("a column {kind} cannot be carried along; leave it out with --columns"))
}

/// A party's rows in bins.
pub struct Bins {
    schema: SchemaRef,
    bins: usize,
    storage: Storage,
}

enum Storage {
    Memory { chunks: Vec<RecordBatch>, piles: Vec<Pile> },
    Disk { folder: PathBuf },
}

impl Bins {
    /// The bins that an earlier run has left in a folder.
    pub fn open(folder: PathBuf, bins: usize, schema: SchemaRef) -> Self {
        Self { schema, bins, storage: Storage::Disk { folder } }
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
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn rows(&self, bin: usize) -> Result<usize, MatchError> {
        match &self.storage {
            Storage::Memory { piles, .. } => Ok(piles[bin].places.len()),
            Storage::Disk { .. } if bin == self.bins => Ok(self.payload(bin)?.iter().map(RecordBatch::num_rows).sum()),
            Storage::Disk { folder } => {
                let path = folder.join(format!("{bin}.tokens"));
                match path.metadata() {
                    Ok(file) => Ok(file.len() as usize / size_of::<Item>()),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
                    Err(error) => Err(MatchError::file(&path, &error)),
                }
            }
        }
    }

    /// The tokens of a bin's rows, with repetitions.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn tokens(&self, bin: usize) -> Result<Vec<Item>, MatchError> {
        match &self.storage {
            Storage::Memory { piles, .. } => Ok(piles[bin].tokens.clone()),
            Storage::Disk { folder } => {
                let mut tokens = vec![0; self.rows(bin)?];
                if !tokens.is_empty() {
                    let path = folder.join(format!("{bin}.tokens"));
                    let read =
                        File::open(&path).and_then(|mut file| file.read_exact(bytemuck::cast_slice_mut(&mut tokens)));
                    read.map_err(|error| MatchError::file(&path, &error))?;
                }
                Ok(tokens)
            }
        }
    }

    /// Forces a bin's files to the disk.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn sync(&self) -> Result<(), MatchError> {
        let Storage::Disk { folder } = &self.storage else { return Ok(()) };
        for name in (0..=self.bins).flat_map(|bin| [format!("{bin}.tokens"), format!("{bin}.rows")]) {
            let path = folder.join(name);
            match File::open(&path) {
                Ok(file) => file.sync_all().map_err(|error| MatchError::file(&path, &error))?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(MatchError::file(&path, &error)),
            }
        }
        Ok(())
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
            Storage::Disk { .. } => {
                let chunks = self.payload(bin)?;
                let mut ends = Vec::with_capacity(chunks.len());
                chunks.iter().for_each(|chunk| ends.push(ends.last().copied().unwrap_or(0) + chunk.num_rows()));
                Loaded { chunks: chunks.into_iter().map(Held::Owned).collect(), places: Places::Counted(ends) }
            }
        })
    }

    fn payload(&self, bin: usize) -> Result<Vec<RecordBatch>, MatchError> {
        let Storage::Disk { folder } = &self.storage else { return Ok(Vec::new()) };
        let path = folder.join(format!("{bin}.rows"));
        let failed = |error: ArrowError| MatchError::file(&path, &reason(error));
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(MatchError::file(&path, &error)),
        };
        let mut left = file.metadata().map_err(|error| MatchError::file(&path, &error))?.len();
        let mut file = Counting { file: BufReader::with_capacity(1 << 20, file), read: 0 };
        let mut batches = Vec::new();
        while file.read < left {
            for batch in StreamReader::try_new(&mut file, None).map_err(failed)? {
                batches.push(batch.map_err(failed)?);
            }
            left = left.max(file.read);
        }
        Ok(batches)
    }
}

/// Counts what is read, to know where the last stream of a file ends.
struct Counting {
    file: BufReader<File>,
    read: u64,
}

impl Read for Counting {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(out)?;
        self.read += count as u64;
        Ok(count)
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
    /// Rows of the bin in the given order.
    ///
    /// # Errors
    /// A column of a type that cannot be rearranged.
    pub fn take(&self, rows: &[u32]) -> Result<RecordBatch, MatchError> {
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
