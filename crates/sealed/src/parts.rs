//! Files of parts: every part begins with a chunk of its own, so that parts are read one by one. Their lengths are for
//! the reader to know: they follow from the public text.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroize;

use crate::Result;
use crate::file::{CHUNK, Chunks, Kind, START, SealedError, SealingKey, TAG, read_exact, unchecked_start};

/// Writes a sealed file.
pub struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    chunks: Chunks,
    next: u64,
    chunk: Vec<u8>,
}

impl Writer {
    /// Overwrites the file.
    ///
    /// # Errors
    /// [`SealedError::Unwritten`].
    pub fn new(path: &Path, kind: &Kind, key: &SealingKey, text: &[u8]) -> Result<Self> {
        let start = key.start(kind, text)?;
        let chunks = key.chunks(kind, &start);
        let mut tag = vec![];
        chunks.seal(0, &mut tag);
        let unwritten = |error| SealedError::unwritten(path, &error);
        let mut file = BufWriter::new(File::create(path).map_err(unwritten)?);
        file.write_all(&start).and_then(|()| file.write_all(&tag)).map_err(unwritten)?;
        Ok(Self { path: path.into(), file, chunks, next: 1, chunk: Vec::with_capacity(CHUNK + TAG) })
    }

    /// Appends to the present part.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
            if self.chunk.len() == CHUNK {
                self.end_chunk()?;
            }
        }
        Ok(())
    }

    /// Ends the present part.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn end_part(&mut self) -> Result<()> {
        if self.chunk.is_empty() { Ok(()) } else { self.end_chunk() }
    }

    fn end_chunk(&mut self) -> Result<()> {
        self.chunks.seal(self.next, &mut self.chunk);
        self.next += 1;
        let written = self.file.write_all(&self.chunk);
        self.chunk.clear();
        written.map_err(|error| SealedError::unwritten(&self.path, &error))
    }

    /// All is on the disk when this returns.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        written.map_err(|error| SealedError::unwritten(&self.path, &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.chunk.zeroize();
    }
}

/// Bytes in the file of a part of `part` bytes.
fn sealed_bytes(part: u64) -> u64 {
    part + part.div_ceil(CHUNK as u64) * TAG as u64
}

/// Reads a sealed file.
pub struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    chunks: Chunks,
    /// Where the first part begins.
    start: u64,
}

impl Reader {
    /// Opens a file and checks what comes before its parts. Returns the public text too.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn open(path: &Path, kind: &Kind, key: &SealingKey) -> Result<(Self, Vec<u8>)> {
        let mut file = BufReader::new(File::open(path).map_err(|error| SealedError::unread(path, &error))?);
        let (chunks, mut start) = key.open(kind, path, &mut file)?;
        let text = start.split_off(START);
        let start = (START + text.len() + TAG) as u64;
        Ok((Self { path: path.into(), file, chunks, start }, text))
    }

    /// Refuses a file that is not exactly as long as these parts make it.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn check_length(&self, parts: &[u64]) -> Result<()> {
        let wanted = self.start + parts.iter().copied().map(sealed_bytes).sum::<u64>();
        let found = self.file.get_ref().metadata().map_err(|error| SealedError::unread(&self.path, &error))?.len();
        if found == wanted {
            return Ok(());
        }
        Err(SealedError::damaged(&self.path, &format!("it has {found} bytes instead of {wanted}")))
    }

    /// Goes to a part. lengths: those of all parts.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn part(&mut self, lengths: &[u64], place: usize) -> Result<Part<'_>> {
        let before = &lengths[..place];
        let at = self.start + before.iter().copied().map(sealed_bytes).sum::<u64>();
        self.file.seek(SeekFrom::Start(at)).map_err(|error| SealedError::unread(&self.path, &error))?;
        let next = 1 + before.iter().map(|part| part.div_ceil(CHUNK as u64)).sum::<u64>();
        Ok(Part { reader: self, next, left: lengths[place], chunk: vec![], read: 0 })
    }
}

/// A file's public text, unchecked: nobody but who has the key can tell whether it was changed.
///
/// # Errors
/// [`SealedError`] where it is no such file, or cannot be read.
pub fn unchecked_text(path: &Path, kind: &Kind) -> Result<Vec<u8>> {
    let mut file = BufReader::new(File::open(path).map_err(|error| SealedError::unread(path, &error))?);
    Ok(unchecked_start(kind, path, &mut file)?.split_off(START))
}

/// One part of a sealed file, read from its beginning to its end.
pub struct Part<'a> {
    reader: &'a mut Reader,
    next: u64,
    /// Bytes of the part that were not read.
    left: u64,
    chunk: Vec<u8>,
    /// Bytes of the present chunk that were read.
    read: usize,
}

impl Part<'_> {
    /// Fills the bytes, of which there are as many left.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn read(&mut self, mut out: &mut [u8]) -> Result<()> {
        while !out.is_empty() {
            if self.read == self.chunk.len() {
                self.next_chunk(self.left.min(CHUNK as u64) as usize)?;
            }
            let count = out.len().min(self.chunk.len() - self.read);
            let (now, later) = out.split_at_mut(count);
            now.copy_from_slice(&self.chunk[self.read..][..count]);
            self.read += count;
            self.left -= count as u64;
            out = later;
        }
        Ok(())
    }

    fn next_chunk(&mut self, length: usize) -> Result<()> {
        let Reader { path, file, chunks, .. } = &mut *self.reader;
        self.chunk.resize(length + TAG, 0);
        read_exact(path, file, &mut self.chunk)?;
        if !chunks.open(self.next, &mut self.chunk) {
            return Err(SealedError::damaged(path, "its content was changed"));
        }
        self.next += 1;
        self.read = 0;
        Ok(())
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.chunk.zeroize();
    }
}
