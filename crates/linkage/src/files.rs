//! Bins on disk, in files encrypted under the party's key. Each bin has its rows in `N.rows`, Arrow streams in pieces,
//! and their tokens in `N.tokens`, 16 bytes a row. Where the rows hold the key columns as they are, tokens are made
//! from them again, which is faster than a disk. How many rows each bin has is in the file `counts`, so that a file
//! that was cut between two pieces, or is gone, is noticed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use tacit_math::Seed;
use tacit_psi::Item;
use tacit_sealed::{Folder, Kind};

use crate::canonical::KeyColumn;
use crate::error::MatchError;
use crate::normalise::Normaliser;
use crate::tokeniser::Tokeniser;

/// How a match's files begin, and what their keys are derived for.
pub const SEALED: Kind = Kind {
    magic: *b"tacit psi 1\0\0\0\0\0",
    file_key: "tacit 2026-11-22 key of one file of a match",
    key_name: "tacit 2026-11-22 name of a key of matches",
};

/// The file with the numbers of rows.
const COUNTS: &str = "counts";

/// How the names of the files with rows and with tokens end.
const ROWS: &str = "rows";
const TOKENS: &str = "tokens";

/// The files of a party's bins.
pub struct Files {
    folder: Arc<Folder>,
    key: Seed,
    /// The key columns by their places among the payload's; None if tokens have files of their own.
    columns: Option<Vec<KeyColumn>>,
}

impl Files {
    /// In a folder. payload: the positions of the columns that are kept.
    pub fn new(folder: Arc<Folder>, key: &Seed, columns: &[KeyColumn], payload: &[usize]) -> Self {
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
            self.folder.append(&name(bin, TOKENS), tokens.len() as u64, bytemuck::cast_slice(tokens))?;
        }
        let name = name(bin, ROWS);
        let stream = || {
            let mut stream = StreamWriter::try_new(Vec::new(), rows.schema_ref())?;
            stream.write(rows)?;
            stream.into_inner()
        };
        let stream = stream().map_err(|error| unreadable(&self.folder.path(&name), error))?;
        Ok(self.folder.append(&name, rows.num_rows() as u64, &stream)?)
    }

    /// Keeps how many rows each bin has, those without a key last; on disk when this returns.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep_counts(&self, counts: &[u64]) -> Result<(), MatchError> {
        Ok(self.folder.replace(COUNTS, counts.iter().sum(), bytemuck::cast_slice(counts))?)
    }

    /// How many rows each of the `bins` bins has, and how many have no key.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn counts(&self, bins: usize) -> Result<Vec<u64>, MatchError> {
        let path = self.folder.path(COUNTS);
        let counts = match self.folder.pieces(COUNTS)?.only()? {
            Some((_, counts)) => counts,
            None => return Err(MatchError::damaged(&path)),
        };
        match counts.len() == (bins + 1) * size_of::<u64>() {
            true => Ok(bytemuck::pod_collect_to_vec(&counts)),
            false => Err(MatchError::damaged(&path)),
        }
    }

    /// A bin's `count` rows.
    ///
    /// # Errors
    /// A file that cannot be read, or has other rows.
    pub fn rows(&self, bin: usize, count: u64) -> Result<Vec<RecordBatch>, MatchError> {
        let path = self.path(bin, ROWS);
        let mut batches = Vec::new();
        for piece in self.folder.pieces(&name(bin, ROWS))? {
            let (_, piece) = piece?;
            let stream = StreamReader::try_new(piece.as_slice(), None);
            let read = stream.and_then(Iterator::collect::<Result<Vec<_>, _>>);
            batches.extend(read.map_err(|error| unreadable(&path, error))?);
        }
        let read: u64 = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        if read == count { Ok(batches) } else { Err(MatchError::damaged(&path)) }
    }

    /// The tokens of a bin's `count` rows, with repetitions.
    ///
    /// # Errors
    /// A file that cannot be read, or has other tokens.
    pub fn tokens(&self, bin: usize, count: u64) -> Result<Vec<Item>, MatchError> {
        let mut tokens = Vec::new();
        match &self.columns {
            None => {
                let path = self.path(bin, TOKENS);
                for piece in self.folder.pieces(&name(bin, TOKENS))? {
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
                    return Err(MatchError::damaged(&self.path(bin, ROWS)));
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
        for bin in 0..=bins {
            let path = self.path(bin, ROWS);
            if let Some(piece) = self.folder.pieces(&name(bin, ROWS))?.next() {
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
        Ok(self.folder.sync((0..=bins).flat_map(|bin| [name(bin, TOKENS), name(bin, ROWS)]))?)
    }

    fn path(&self, bin: usize, ending: &str) -> PathBuf {
        self.folder.path(&name(bin, ending))
    }
}

/// The name of a bin's file.
fn name(bin: usize, ending: &str) -> String {
    format!("{bin}.{ending}")
}

/// The operating system's reason where there is one; others could quote data.
fn unreadable(path: &Path, error: ArrowError) -> MatchError {
    match error {
        ArrowError::IoError(_, error) => MatchError::file(path, &error),
        _ => MatchError::damaged(path),
    }
}
