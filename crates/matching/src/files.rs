//! Bins on disk: for each, rows in `N.rows`, Arrow streams in pieces, and their tokens in `N.tokens`, 16 bytes a row, unless the
//! rows hold the key columns as they are: then tokens are made from them again, which is faster than a disk. How many rows each bin
//! has is in the file `counts`, so that a file that was cut between two pieces, or is gone, is noticed.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use tacit_math::Seed;
use tacit_psi::Item;

use crate::canonical::KeyColumn;
use crate::error::MatchError;
use crate::normalise::Normaliser;
use crate::pieces::{Pieces, append, replace};
use crate::tokeniser::Tokeniser;

/// The file with the numbers of rows.
const COUNTS: &str = "counts";

/// The files of a party's bins.
pub struct Files {
    folder: PathBuf,
    key: Seed,
    /// The key columns by their places among the payload's; None if tokens have files of their own.
    columns: Option<Vec<KeyColumn>>,
}

impl Files {
    /// In a folder. payload: the places of the columns that are kept.
    pub fn new(folder: PathBuf, key: &Seed, columns: &[KeyColumn], payload: &[usize]) -> Self {
        let kept = |column: &KeyColumn| {
            let index = payload.iter().position(|&place| place == column.index)?;
            (column.normaliser == Normaliser::Exact).then_some(KeyColumn { index, normaliser: Normaliser::Exact })
        };
        Self { folder, key: key.clone(), columns: columns.iter().map(kept).collect() }
    }

    /// Whether tokens are kept beside the rows.
    pub fn keep_tokens(&self) -> bool {
        self.columns.is_none()
    }

    /// Appends rows to a bin. tokens: theirs, if they are kept.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn append(&self, bin: usize, tokens: &[Item], rows: &RecordBatch) -> Result<(), MatchError> {
        if !tokens.is_empty() {
            append(&self.path(bin, "tokens"), tokens.len() as u64, bytemuck::cast_slice(tokens))?;
        }
        let path = self.path(bin, "rows");
        let stream = || {
            let mut stream = StreamWriter::try_new(Vec::new(), rows.schema_ref())?;
            stream.write(rows)?;
            stream.into_inner()
        };
        append(&path, rows.num_rows() as u64, &stream().map_err(|error| unreadable(&path, error))?)
    }

    /// Keeps how many rows each bin has, those without a key last; on disk when this returns.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep_counts(&self, counts: &[u64]) -> Result<(), MatchError> {
        replace(&self.folder.join(COUNTS), counts.iter().sum(), bytemuck::cast_slice(counts))
    }

    /// How many rows each of so many bins has, and how many have no key.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn counts(&self, bins: usize) -> Result<Vec<u64>, MatchError> {
        let path = self.folder.join(COUNTS);
        let counts = match Pieces::open(path.clone())?.next() {
            Some(piece) => piece?.1,
            None => return Err(MatchError::damaged(&path)),
        };
        match counts.len() == (bins + 1) * size_of::<u64>() {
            true => Ok(bytemuck::pod_collect_to_vec(&counts)),
            false => Err(MatchError::damaged(&path)),
        }
    }

    /// A bin's rows, which are so many.
    ///
    /// # Errors
    /// A file that cannot be read, or has other rows.
    pub fn rows(&self, bin: usize, count: u64) -> Result<Vec<RecordBatch>, MatchError> {
        let path = self.path(bin, "rows");
        let mut batches = Vec::new();
        for piece in Pieces::open(path.clone())? {
            let (_, piece) = piece?;
            let stream = StreamReader::try_new(piece.as_slice(), None);
            let read = stream.and_then(Iterator::collect::<Result<Vec<_>, _>>);
            batches.extend(read.map_err(|error| unreadable(&path, error))?);
        }
        let read: u64 = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        if read == count { Ok(batches) } else { Err(MatchError::damaged(&path)) }
    }

    /// The tokens of a bin's rows, which are so many, with repetitions.
    ///
    /// # Errors
    /// A file that cannot be read, or has other tokens.
    pub fn tokens(&self, bin: usize, count: u64) -> Result<Vec<Item>, MatchError> {
        let mut tokens = Vec::new();
        match &self.columns {
            None => {
                let path = self.path(bin, "tokens");
                for piece in Pieces::open(path.clone())? {
                    let (rows, piece) = piece?;
                    if rows.checked_mul(size_of::<Item>() as u64) != Some(piece.len() as u64) {
                        return Err(MatchError::damaged(&path));
                    }
                    tokens.append(&mut bytemuck::pod_collect_to_vec(&piece));
                }
                if tokens.len() as u64 != count {
                    return Err(MatchError::damaged(&path));
                }
            }
            Some(columns) => {
                let mut tokeniser = Tokeniser::new(&self.key, columns.clone());
                for batch in self.rows(bin, count)? {
                    tokeniser.append(&batch, &mut tokens)?;
                }
                if tokeniser.counts().null > 0 {
                    return Err(MatchError::damaged(&self.path(bin, "rows")));
                }
            }
        }
        Ok(tokens)
    }

    /// The columns of the rows, if any bin has rows.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn schema(&self, bins: usize) -> Result<Option<SchemaRef>, MatchError> {
        for path in (0..=bins).map(|bin| self.path(bin, "rows")) {
            if let Some(piece) = Pieces::open(path.clone())?.next() {
                let (_, piece) = piece?;
                let stream = StreamReader::try_new(piece.as_slice(), None);
                return Ok(Some(stream.map_err(|error| unreadable(&path, error))?.schema()));
            }
        }
        Ok(None)
    }

    /// Forces the files of all bins to the disk.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn sync(&self, bins: usize) -> Result<(), MatchError> {
        for path in (0..=bins).flat_map(|bin| [self.path(bin, "tokens"), self.path(bin, "rows")]) {
            match File::open(&path) {
                Ok(file) => file.sync_all().map_err(|error| MatchError::file(&path, &error))?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(MatchError::file(&path, &error)),
            }
        }
        Ok(())
    }

    fn path(&self, bin: usize, ending: &str) -> PathBuf {
        self.folder.join(format!("{bin}.{ending}"))
    }
}

/// The operating system's reason where there is one; others could quote data.
fn unreadable(path: &Path, error: ArrowError) -> MatchError {
    match error {
        ArrowError::IoError(_, error) => MatchError::file(path, &error),
        _ => MatchError::damaged(path),
    }
}
