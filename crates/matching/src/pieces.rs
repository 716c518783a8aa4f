//! Private files that grow by whole pieces and notice damage. Before each piece there is a head of 48 bytes: how many rows it is about
//! (8), its length (8), and BLAKE3 of both and of the piece (32). What a disk or another program has changed is never parsed. How many
//! pieces a file has is for its reader to know.

use std::fs::{File, OpenOptions, rename};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::MatchError;

/// Bytes before a piece.
const HEAD: usize = 8 + 8 + 32;

/// A piece as it is on disk.
fn framed(rows: u64, piece: &[u8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&rows.to_le_bytes());
    head[8..16].copy_from_slice(&(piece.len() as u64).to_le_bytes());
    let digest = digest(&head[..16], piece);
    head[16..].copy_from_slice(&digest);
    head
}

fn digest(numbers: &[u8], piece: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(numbers).update(piece).finalize().as_bytes()
}

/// Appends a piece to a file, which it makes if there is none.
///
/// # Errors
/// A file that cannot be written.
pub fn append(path: &Path, rows: u64, piece: &[u8]) -> Result<(), MatchError> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| {
        file.write_all(&framed(rows, piece))?;
        file.write_all(piece)
    });
    written.map_err(|error| MatchError::file(path, &error))
}

/// Makes a file of one piece, which appears whole or not at all, in the place of any other; on disk when this returns.
///
/// # Errors
/// A file that cannot be written.
pub fn replace(path: &Path, rows: u64, piece: &[u8]) -> Result<(), MatchError> {
    let fresh = path.with_extension("fresh");
    let write = || {
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&framed(rows, piece))?;
        file.write_all(piece)?;
        file.sync_all()?;
        rename(&fresh, path)
    };
    write().map_err(|error| MatchError::file(path, &error))
}

/// The pieces of a file, one after another, each with its number of rows. A file that is not there has none.
pub struct Pieces {
    path: PathBuf,
    file: Option<BufReader<File>>,
    /// Bytes from here to the end.
    left: u64,
}

impl Pieces {
    /// The pieces of a file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn open(path: PathBuf) -> Result<Self, MatchError> {
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((left, file)) => Ok(Self { path, file: Some(BufReader::new(file)), left }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self { path, file: None, left: 0 }),
            Err(error) => Err(MatchError::file(&path, &error)),
        }
    }

    /// The next piece, which is as long as its head says.
    fn piece(&mut self) -> Result<Option<(u64, Vec<u8>)>, MatchError> {
        let Some(file) = self.file.as_mut().filter(|_| self.left > 0) else { return Ok(None) };
        let Some(left) = self.left.checked_sub(HEAD as u64) else { return Err(MatchError::damaged(&self.path)) };
        let (mut numbers, mut expected) = ([0; 16], [0; 32]);
        let read = file.read_exact(&mut numbers).and_then(|()| file.read_exact(&mut expected));
        read.map_err(|error| MatchError::file(&self.path, &error))?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| numbers[at + i]));
        let (rows, length) = (number(0), number(8));
        let Some(left) = left.checked_sub(length) else { return Err(MatchError::damaged(&self.path)) };
        let mut piece = vec![0; length as usize];
        file.read_exact(&mut piece).map_err(|error| MatchError::file(&self.path, &error))?;
        self.left = left;
        if digest(&numbers, &piece) != expected {
            return Err(MatchError::damaged(&self.path));
        }
        Ok(Some((rows, piece)))
    }
}

impl Iterator for Pieces {
    type Item = Result<(u64, Vec<u8>), MatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.piece().transpose();
        if matches!(next, Some(Err(_))) {
            self.file = None;
        }
        next
    }
}
