//! Files without a name, for one process: what does not fit into its memory for a while. The file's name goes before
//! its first byte is written, and the key is in memory alone. So nothing is left of it when the process ends, however
//! it ends, and nobody else can open it by a name.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tacit_math::randomness;
use zeroize::Zeroizing;

use crate::Result;
use crate::file::{CHUNK, Chunks, Kind, SealedError, SealingKey, TAG, read_exact};

/// How the keys of such files are derived. Nothing of a file but its chunks is ever written.
const FILES: Kind = Kind {
    magic: *b"tacit scratch 1\0",
    file_key: "tacit 2026-11-27 key of one file without a name",
    key_name: "tacit 2026-11-27 name of a key of files without a name",
};

/// Where a process puts such files, and its key, which is fresh.
pub struct Scratch {
    folder: PathBuf,
    key: SealingKey,
}

impl Scratch {
    /// In a folder that exists.
    ///
    /// # Errors
    /// [`SealedError::Randomness`].
    pub fn new(folder: &Path) -> Result<Self> {
        let mut key = Zeroizing::new([0; 32]);
        randomness::fill(&mut *key).map_err(|error| SealedError::Randomness(error.to_string()))?;
        Ok(Self { folder: folder.into(), key: SealingKey::new(*key) })
    }

    /// A file of what `write` pushes.
    ///
    /// # Errors
    /// [`SealedError::Unwritten`], also where the disk is full; those of `write`.
    pub fn file(&self, write: impl FnOnce(&mut Writer) -> Result<()>) -> Result<Sheet> {
        // A fresh salt a file: no two have one key.
        let start = self.key.start(&FILES, &[])?;
        let chunks = self.key.chunks(&FILES, &start);
        let file = self.nameless(&start)?;
        // A vector that grows would leave copies of shares behind.
        let chunk = Zeroizing::new(Vec::with_capacity(CHUNK + TAG));
        let mut writer = Writer { folder: self.folder.clone(), file, chunks, next: 0, chunk };
        write(&mut writer)?;
        writer.end_chunk()?;
        let Writer { folder, file, chunks, .. } = writer;
        Ok(Sheet { folder, file, chunks })
    }

    /// A new file that only its user may open, until it has no name.
    fn nameless(&self, start: &[u8]) -> Result<File> {
        let name = blake3::hash(start).to_hex();
        let path = self.folder.join(format!(".tacit-{}", &name[..32]));
        let opened = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = opened.map_err(|error| SealedError::unwritten(&self.folder, &error))?;
        remove_file(&path).map_err(|error| SealedError::unwritten(&path, &error))?;
        Ok(file)
    }
}

/// Writes a file without a name.
pub struct Writer {
    folder: PathBuf,
    file: File,
    chunks: Chunks,
    next: u64,
    chunk: Zeroizing<Vec<u8>>,
}

impl Writer {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`SealedError::Unwritten`].
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

    fn end_chunk(&mut self) -> Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        self.chunks.seal(self.next, &mut self.chunk);
        self.next += 1;
        self.file.write_all(&self.chunk).map_err(|error| SealedError::unwritten(&self.folder, &error))?;
        self.chunk.clear();
        Ok(())
    }
}

/// A written file without a name. It is gone when this is dropped.
pub struct Sheet {
    folder: PathBuf,
    file: File,
    chunks: Chunks,
}

impl Sheet {
    /// Lets `read` take the bytes in the order in which they were pushed. It can be read again.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file; those of `read`.
    pub fn read<E: From<SealedError>>(&mut self, read: impl FnOnce(&mut Pages<'_>) -> Result<(), E>) -> Result<(), E> {
        let Self { folder, file, chunks } = self;
        let opened = file.seek(SeekFrom::Start(0)).and_then(|_| file.metadata());
        let left = opened.map_err(|error| SealedError::unread(folder, &error))?.len();
        read(&mut Pages { folder, file, chunks, left, next: 0, chunk: Zeroizing::default(), read: 0 })
    }

    /// The file itself, for tests.
    #[doc(hidden)]
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Reads a file without a name.
pub struct Pages<'a> {
    folder: &'a Path,
    file: &'a mut File,
    chunks: &'a Chunks,
    /// Bytes of the file that were not read.
    left: u64,
    next: u64,
    chunk: Zeroizing<Vec<u8>>,
    /// Bytes of the present chunk that were taken.
    read: usize,
}

impl Pages<'_> {
    /// Fills the bytes.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn fill(&mut self, mut out: &mut [u8]) -> Result<()> {
        while !out.is_empty() {
            if self.read == self.chunk.len() {
                self.next_chunk()?;
            }
            let count = out.len().min(self.chunk.len() - self.read);
            let (now, later) = out.split_at_mut(count);
            now.copy_from_slice(&self.chunk[self.read..][..count]);
            self.read += count;
            out = later;
        }
        Ok(())
    }

    fn next_chunk(&mut self) -> Result<()> {
        let length = self.left.min((CHUNK + TAG) as u64);
        if length <= TAG as u64 {
            return Err(SealedError::damaged(self.folder, "a file of this run in it is cut off"));
        }
        self.chunk.resize(length as usize, 0);
        read_exact(self.folder, self.file, &mut self.chunk)?;
        if !self.chunks.open(self.next, &mut self.chunk) {
            return Err(SealedError::damaged(self.folder, "the content of a file of this run in it was changed"));
        }
        (self.left, self.next, self.read) = (self.left - length, self.next + 1, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom};
    use std::os::unix::fs::{FileExt, MetadataExt};

    use super::{Scratch, Sheet};
    use crate::file::{CHUNK, SealedError, TAG};

    const PATTERN: &[u8] = b"these bytes are a secret of the process";

    fn scratch() -> (tempfile::TempDir, Scratch) {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::new(folder.path()).expect("randomness");
        (folder, scratch)
    }

    fn written(scratch: &Scratch, bytes: &[u8]) -> Sheet {
        scratch.file(|file| bytes.chunks(1000).try_for_each(|piece| file.push(piece))).expect("a disk")
    }

    fn content(sheet: &Sheet) -> Vec<u8> {
        let (mut file, mut all) = (sheet.file(), vec![]);
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut all)).expect("a file");
        all
    }

    fn read(sheet: &mut Sheet, length: usize) -> Result<Vec<u8>, SealedError> {
        let mut bytes = vec![0; length];
        sheet.read(|pages| bytes.chunks_mut(777).try_for_each(|piece| pages.fill(piece)))?;
        Ok(bytes)
    }

    #[test]
    fn what_was_written_is_read() {
        let (_folder, scratch) = scratch();
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let mut sheet = written(&scratch, &bytes);
            assert_eq!(content(&sheet).len(), length + length.div_ceil(CHUNK) * TAG);
            for _ in 0..2 {
                assert!(read(&mut sheet, length).expect("an intact file") == bytes, "{length}");
            }
        }
    }

    #[test]
    fn a_file_has_no_name_and_nothing_in_clear() {
        let (folder, scratch) = scratch();
        let sheet = written(&scratch, &PATTERN.repeat(100));
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
        let found = sheet.file().metadata().expect("a file");
        assert_eq!((found.mode() & 0o777, found.nlink()), (0o600, 0));
        assert!(!content(&sheet).windows(8).any(|bytes| bytes == &PATTERN[..8]));
    }

    #[test]
    fn the_same_bytes_are_never_the_same_file_twice() {
        let (_folder, scratch) = scratch();
        let [one, other] = [(); 2].map(|()| content(&written(&scratch, &PATTERN.repeat(100))));
        assert!(one.windows(16).all(|bytes| !other.windows(16).any(|others| others == bytes)));
    }

    #[test]
    fn whatever_was_changed_is_refused() {
        let (_folder, scratch) = scratch();
        let bytes = PATTERN.repeat(2 * CHUNK / PATTERN.len());
        let spoilt = |spoil: &dyn Fn(&std::fs::File)| {
            let mut sheet = written(&scratch, &bytes);
            spoil(sheet.file());
            let error = read(&mut sheet, bytes.len()).expect_err("a changed file");
            assert!(matches!(error, SealedError::Damaged { .. }), "{error}");
        };
        spoilt(&|file| file.write_all_at(&[0xff; 8], 12).expect("a file"));
        spoilt(&|file| file.set_len(CHUNK as u64 + 5).expect("a file"));
        spoilt(&|file| file.set_len(0).expect("a file"));
        // Chunks that change places.
        spoilt(&|file| {
            let mut second = vec![0; CHUNK + TAG];
            file.read_exact_at(&mut second[..bytes.len() - CHUNK + TAG], (CHUNK + TAG) as u64).expect("a file");
            file.write_all_at(&second, 0).expect("a file");
        });
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let (folder, _) = scratch();
        let scratch = Scratch::new(&folder.path().join("none")).expect("randomness");
        let error = scratch.file(|_| Ok(())).err().expect("no folder");
        assert!(matches!(&error, SealedError::Unwritten { path, .. } if path.ends_with("none")), "{error}");
    }
}
