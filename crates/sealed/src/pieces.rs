//! Files that grow by whole pieces. A piece is a chunk of 16 bytes, how many rows it is about (8) and its length (8),
//! and its bytes in chunks. How many pieces a file has is for its reader to know: a file that was cut between two of
//! them is one of fewer.

use std::fs::{File, OpenOptions, rename};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use zeroize::{Zeroize, Zeroizing};

use crate::Result;
use crate::file::{CHUNK, Chunks, Kind, START, SealedError, SealingKey, TAG, read_exact, sync_folder};

/// Bytes of a piece's head.
const HEAD: usize = 8 + 8;

/// A file that this process has begun and appends to.
pub(crate) struct Growing {
    start: Vec<u8>,
    next: u64,
}

impl Growing {
    /// Begins a new file, which only its owner can read. It must not be there yet: its numbers would be used twice.
    pub(crate) fn begin(path: &Path, kind: &Kind, key: &SealingKey, text: &[u8]) -> Result<Self> {
        let start = key.start(kind, text)?;
        let opened = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path);
        let begun = opened.and_then(|mut file| file.write_all(&whole_start(kind, key, &start)));
        begun.map_err(|error| SealedError::unwritten(path, &error))?;
        Ok(Self { start, next: 1 })
    }

    /// Appends a piece. After a failure the file is of no use any more.
    pub(crate) fn append(&mut self, path: &Path, kind: &Kind, key: &SealingKey, rows: u64, piece: &[u8]) -> Result<()> {
        let chunks = key.chunks(kind, &self.start);
        let opened = OpenOptions::new().append(true).open(path);
        let written = opened.and_then(|mut file| write_piece(&mut file, &chunks, &mut self.next, rows, piece));
        written.map_err(|error| SealedError::unwritten(path, &error))
    }
}

/// Makes a file of one piece, which appears whole or not at all, in the place of any other; on disk when this returns,
/// under its name.
///
/// # Errors
/// [`SealedError::Unwritten`].
pub fn replace(path: &Path, kind: &Kind, key: &SealingKey, text: &[u8], rows: u64, piece: &[u8]) -> Result<()> {
    let start = key.start(kind, text)?;
    let fresh = path.with_extension("fresh");
    let write = || {
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&whole_start(kind, key, &start))?;
        write_piece(&mut file, &key.chunks(kind, &start), &mut 1, rows, piece)?;
        file.sync_all()?;
        rename(&fresh, path)
    };
    write().map_err(|error| SealedError::unwritten(path, &error))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// The bytes of a file of one piece.
///
/// # Errors
/// [`SealedError::Randomness`].
pub fn seal(kind: &Kind, key: &SealingKey, text: &[u8], piece: &[u8]) -> Result<Vec<u8>> {
    let start = key.start(kind, text)?;
    let mut bytes = whole_start(kind, key, &start);
    let written = write_piece(&mut bytes, &key.chunks(kind, &start), &mut 1, 0, piece);
    written.expect("memory takes all that is written");
    Ok(bytes)
}

/// The piece of the bytes that [`seal`] has made with the same text. path: where they are from.
///
/// # Errors
/// [`SealedError`], by what is wrong with them.
pub fn unseal(path: &Path, kind: &Kind, key: &SealingKey, text: &[u8], bytes: &[u8]) -> Result<Vec<u8>> {
    let pieces = Pieces::of(path.into(), kind, key, text, bytes, bytes.len() as u64)?;
    let piece = pieces.only()?.ok_or_else(|| SealedError::damaged(path, "it is cut off"))?;
    Ok(piece.1)
}

/// A start with its tag.
fn whole_start(kind: &Kind, key: &SealingKey, start: &[u8]) -> Vec<u8> {
    let mut tag = vec![];
    key.chunks(kind, start).seal(0, &mut tag);
    [start, &tag].concat()
}

fn write_piece(file: &mut impl Write, chunks: &Chunks, next: &mut u64, rows: u64, piece: &[u8]) -> std::io::Result<()> {
    let head = [rows.to_le_bytes(), (piece.len() as u64).to_le_bytes()].concat();
    let mut sealed = Zeroizing::new(Vec::with_capacity(CHUNK.min(piece.len()) + HEAD + TAG));
    for chunk in std::iter::once(&head[..]).chain(piece.chunks(CHUNK)) {
        sealed.clear();
        sealed.extend_from_slice(chunk);
        chunks.seal(*next, &mut sealed);
        // A number is spent even if its chunk is not written.
        *next += 1;
        file.write_all(&sealed)?;
    }
    Ok(())
}

/// The pieces of a file, one after another, each with its number of rows. A file that is not there has none.
pub struct Pieces<R = BufReader<File>> {
    path: PathBuf,
    file: Option<(R, Chunks)>,
    next: u64,
    /// Bytes from here to the end.
    left: u64,
}

impl Pieces {
    /// The pieces of a file with this public text.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn open(path: PathBuf, kind: &Kind, key: &SealingKey, text: &[u8]) -> Result<Self> {
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path, file: None, next: 1, left: 0 });
            }
            Err(error) => return Err(SealedError::unread(&path, &error)),
        };
        Self::of(path, kind, key, text, BufReader::new(file), length)
    }
}

impl<R: Read> Pieces<R> {
    /// The pieces of a file of `length` bytes.
    fn of(path: PathBuf, kind: &Kind, key: &SealingKey, text: &[u8], mut file: R, length: u64) -> Result<Self> {
        let (chunks, start) = key.open(kind, &path, &mut file)?;
        if &start[START..] != text {
            return Err(SealedError::damaged(&path, "it is another file under this name"));
        }
        let left = length.saturating_sub((start.len() + TAG) as u64);
        Ok(Self { path, file: Some((file, chunks)), next: 1, left })
    }

    /// The piece of a file that has one, or none if there is no file.
    ///
    /// # Errors
    /// [`SealedError::Damaged`], of a file that has more too.
    pub fn only(mut self) -> Result<Option<(u64, Vec<u8>)>> {
        let first = self.piece()?;
        match self.left {
            0 => Ok(first),
            _ => Err(SealedError::damaged(&self.path, "it has more bytes than it had")),
        }
    }

    /// The next piece, which is as long as its head says.
    fn piece(&mut self) -> Result<Option<(u64, Vec<u8>)>> {
        if self.left == 0 || self.file.is_none() {
            return Ok(None);
        }
        let mut head = self.chunk(HEAD)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let (rows, length) = (number(0), number(8));
        head.zeroize();
        // What was sealed is true, but the file may have been cut since: memory is taken for bytes that are there.
        if length > self.left {
            return Err(SealedError::damaged(&self.path, "it is cut off"));
        }
        let mut piece = Vec::with_capacity(length as usize + TAG);
        while (piece.len() as u64) < length {
            let mut chunk = self.chunk((length - piece.len() as u64).min(CHUNK as u64) as usize)?;
            piece.extend_from_slice(&chunk);
            chunk.zeroize();
        }
        Ok(Some((rows, piece)))
    }

    /// The next chunk, of `length` bytes.
    fn chunk(&mut self, length: usize) -> Result<Vec<u8>> {
        let cut = || SealedError::damaged(&self.path, "it is cut off");
        let (file, chunks) = self.file.as_mut().ok_or_else(cut)?;
        self.left = self.left.checked_sub((length + TAG) as u64).ok_or_else(cut)?;
        let mut chunk = vec![0; length + TAG];
        read_exact(&self.path, file, &mut chunk)?;
        if !chunks.open(self.next, &mut chunk) {
            return Err(SealedError::damaged(&self.path, "its content was changed"));
        }
        self.next += 1;
        Ok(chunk)
    }
}

impl<R: Read> Iterator for Pieces<R> {
    type Item = Result<(u64, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.piece().transpose();
        if matches!(next, Some(Err(_))) {
            self.file = None;
        }
        next
    }
}
