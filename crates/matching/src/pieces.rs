//! Private files that grow by whole pieces and notice damage. Before each piece there is a head of 48 bytes: how many rows it is about
//! (8), its length (8), and BLAKE3 of both and of the piece (32). What a disk or another program has changed is never parsed.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::MatchError;

/// Bytes before a piece.
const HEAD: usize = 8 + 8 + 32;

/// A piece as it is on disk.
pub fn framed(rows: u64, piece: &[u8]) -> [u8; HEAD] {
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

/// The pieces of a file, one after another, each with its number of rows. A file that is not there has none.
pub struct Pieces {
    path: PathBuf,
    file: Option<BufReader<File>>,
    /// Bytes from here to the end.
    left: u64,
}

struct Head {
    numbers: [u8; 16],
    rows: u64,
    length: u64,
    digest: [u8; 32],
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

    /// How many rows the heads of all pieces name. The pieces themselves are not read.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub fn rows(mut self) -> Result<u64, MatchError> {
        let mut sum = 0u64;
        while let Some((head, file)) = self.head()? {
            file.seek_relative(head.length as i64).map_err(|error| MatchError::file(&self.path, &error))?;
            self.left -= head.length;
            sum = sum.checked_add(head.rows).ok_or_else(|| MatchError::damaged(&self.path))?;
        }
        Ok(sum)
    }

    /// The head of the next piece, which is as long as its head says.
    fn head(&mut self) -> Result<Option<(Head, &mut BufReader<File>)>, MatchError> {
        let Some(file) = self.file.as_mut().filter(|_| self.left > 0) else { return Ok(None) };
        let Some(left) = self.left.checked_sub(HEAD as u64) else { return Err(MatchError::damaged(&self.path)) };
        let (mut numbers, mut digest) = ([0; 16], [0; 32]);
        let read = file.read_exact(&mut numbers).and_then(|()| file.read_exact(&mut digest));
        read.map_err(|error| MatchError::file(&self.path, &error))?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| numbers[at + i]));
        let (rows, length) = (number(0), number(8));
        if length > left {
            return Err(MatchError::damaged(&self.path));
        }
        self.left = left;
        Ok(Some((Head { numbers, rows, length, digest }, file)))
    }

    fn piece(&mut self) -> Result<Option<(u64, Vec<u8>)>, MatchError> {
        let Some((head, file)) = self.head()? else { return Ok(None) };
        let mut piece = vec![0; head.length as usize];
        file.read_exact(&mut piece).map_err(|error| MatchError::file(&self.path, &error))?;
        self.left -= head.length;
        if digest(&head.numbers, &piece) != head.digest {
            return Err(MatchError::damaged(&self.path));
        }
        Ok(Some((head.rows, piece)))
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
