//! A file of public text and secret parts, encrypted and authenticated.
//!
//! | bytes | meaning |
//! |---|---|
//! | 16 | `tacit kept 1` and zeros |
//! | 8 | names the party's key |
//! | 16 | salt |
//! | 4 + n | the public text, with its length (little endian) |
//! | 16 | tag of all before |
//! | | parts: chunks of at most 1 MiB, each with its tag of 16 bytes behind it |
//!
//! Chunks are encrypted by AES-256-GCM under a key of this file alone, derived from the party's key and the salt, with their number
//! in the file as nonce (the tag of what comes before them is number 0) and the digest of all before them as associated
//! data: a chunk that was changed, moved, or taken from another file is refused. Every part begins with a chunk of its own,
//! so that parts are read one by one. Their lengths are for the reader to know: it follows from the public text.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use tacit_math::Seed;
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Result, TableError};

const MAGIC: [u8; 16] = *b"tacit kept 1\0\0\0\0";
const SALT: usize = 16;
const KEY_NAME: usize = 8;
const TAG: usize = 16;
const START: usize = MAGIC.len() + KEY_NAME + SALT + 4;
/// The longest public text.
const LONGEST: usize = 64 << 20;
/// Bytes of a part that are encrypted at a time.
pub const CHUNK: usize = 1 << 20;

const FILE_KEY_CONTEXT: &str = "tacit 2026-11-22 key of one file of a kept table";
const KEY_NAME_CONTEXT: &str = "tacit 2026-11-22 name of a key of kept tables";

/// The key of a party under which its files are encrypted. Not printable.
pub struct SealingKey(Zeroizing<[u8; 32]>);

impl SealingKey {
    /// From 32 secret bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Tells keys apart, and nothing else of them.
    fn name(&self) -> [u8; KEY_NAME] {
        let name = blake3::derive_key(KEY_NAME_CONTEXT, &*self.0);
        name[..KEY_NAME].try_into().expect("shorter than a hash")
    }

    /// The key of the file of this salt.
    fn of_file(&self, salt: &[u8]) -> LessSafeKey {
        let secret = Zeroizing::new([&self.0[..], salt].concat());
        let key = Zeroizing::new(blake3::derive_key(FILE_KEY_CONTEXT, &secret));
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &*key).expect("256 bits"))
    }
}

/// What every chunk of one file is encrypted with.
struct Chunks {
    key: LessSafeKey,
    digest: [u8; 32],
}

impl Chunks {
    /// Encrypts the chunk of a number, and appends its tag.
    fn seal(&self, number: u64, chunk: &mut Vec<u8>) {
        let sealed = self.key.seal_in_place_append_tag(nonce(number), Aad::from(&self.digest), chunk);
        sealed.expect("a chunk is far shorter than what a nonce serves for");
    }

    /// Decrypts the chunk of a number with its tag; false if it is not what was sealed.
    fn open(&self, number: u64, chunk: &mut Vec<u8>) -> bool {
        let opened = self.key.open_in_place(nonce(number), Aad::from(&self.digest), chunk).map(|clear| clear.len());
        opened.inspect(|&length| chunk.truncate(length)).is_ok()
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// Writes a sealed file.
pub(super) struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    chunks: Chunks,
    next: u64,
    chunk: Vec<u8>,
}

impl Writer {
    /// Overwrites the file.
    pub(super) fn new(path: &Path, key: &SealingKey, text: &[u8]) -> Result<Self> {
        let salt = Seed::random().map_err(|e| TableError::Internal(format!("no randomness: {e}")))?.expose();
        let length = u32::try_from(text.len()).expect("far shorter than 4 GiB").to_le_bytes();
        let start = [&MAGIC[..], &key.name(), &salt, &length, text].concat();
        let chunks = Chunks { key: key.of_file(&salt), digest: *blake3::hash(&start).as_bytes() };
        let mut tag = vec![];
        chunks.seal(0, &mut tag);
        let unwritten = |error: io::Error| unwritten(path, &error);
        let mut file = BufWriter::new(File::create(path).map_err(unwritten)?);
        file.write_all(&start).and_then(|()| file.write_all(&tag)).map_err(unwritten)?;
        Ok(Self { path: path.into(), file, chunks, next: 1, chunk: Vec::with_capacity(CHUNK + TAG) })
    }

    /// Appends to the present part.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
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
    pub(super) fn end_part(&mut self) -> Result<()> {
        if self.chunk.is_empty() { Ok(()) } else { self.end_chunk() }
    }

    fn end_chunk(&mut self) -> Result<()> {
        self.chunks.seal(self.next, &mut self.chunk);
        self.next += 1;
        let written = self.file.write_all(&self.chunk);
        self.chunk.clear();
        written.map_err(|error| unwritten(&self.path, &error))
    }

    /// All is on the disk when this returns.
    pub(super) fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        written.map_err(|error| unwritten(&self.path, &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.chunk.zeroize();
    }
}

/// Bytes in the file of a part of so many bytes.
fn sealed_bytes(part: u64) -> u64 {
    part + part.div_ceil(CHUNK as u64) * TAG as u64
}

/// Reads a sealed file.
pub(super) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    chunks: Chunks,
    /// Where the first part begins.
    start: u64,
}

impl Reader {
    /// Opens a file and checks what comes before its parts. Returns the public text too.
    pub(super) fn open(path: &Path, key: &SealingKey) -> Result<(Self, Vec<u8>)> {
        let (mut file, mut start) = begin(path)?;
        let (name, salt) = (&start[MAGIC.len()..][..KEY_NAME], &start[MAGIC.len() + KEY_NAME..][..SALT]);
        if name != key.name() {
            return Err(TableError::Input(format!(
                "{}: was encrypted under another private key of this party; put that key back where the federation file \
                 has it, or drop the table and make it again",
                path.display()
            )));
        }
        let chunks = Chunks { key: key.of_file(salt), digest: *blake3::hash(&start).as_bytes() };
        let mut tag = vec![0; TAG];
        read_exact(path, &mut file, &mut tag)?;
        if !chunks.open(0, &mut tag) {
            return Err(damaged(path, "what it says of itself was changed"));
        }
        let text = start.split_off(START);
        let start = (START + text.len() + TAG) as u64;
        Ok((Self { path: path.into(), file, chunks, start }, text))
    }

    /// Refuses a file that is not exactly as long as these parts make it.
    pub(super) fn check_length(&self, parts: &[u64]) -> Result<()> {
        let wanted = self.start + parts.iter().copied().map(sealed_bytes).sum::<u64>();
        let found = self.file.get_ref().metadata().map_err(|error| unread(&self.path, &error))?.len();
        if found == wanted {
            return Ok(());
        }
        Err(damaged(&self.path, &format!("it has {found} bytes instead of {wanted}")))
    }

    /// Goes to a part. lengths: those of all parts.
    pub(super) fn part(&mut self, lengths: &[u64], place: usize) -> Result<Part<'_>> {
        let before = &lengths[..place];
        let at = self.start + before.iter().copied().map(sealed_bytes).sum::<u64>();
        self.file.seek(SeekFrom::Start(at)).map_err(|error| unread(&self.path, &error))?;
        let next = 1 + before.iter().map(|part| part.div_ceil(CHUNK as u64)).sum::<u64>();
        Ok(Part { reader: self, next, left: lengths[place], chunk: vec![], read: 0 })
    }
}

/// A file's public text, unchecked: nobody but who has the key can tell whether it was changed.
pub(super) fn unchecked_text(path: &Path) -> Result<Vec<u8>> {
    Ok(begin(path)?.1.split_off(START))
}

/// Opens a file and reads it up to the end of its public text.
fn begin(path: &Path) -> Result<(BufReader<File>, Vec<u8>)> {
    let mut file = BufReader::new(File::open(path).map_err(|error| unread(path, &error))?);
    let mut start = vec![0; START];
    read_exact(path, &mut file, &mut start)?;
    if start[..MAGIC.len()] != MAGIC {
        return Err(damaged(path, "it does not begin like one of this version"));
    }
    let length = u32::from_le_bytes(start[START - 4..].try_into().expect("four bytes")) as usize;
    if length > LONGEST {
        return Err(damaged(path, "what it says of itself does not end"));
    }
    start.resize(START + length, 0);
    read_exact(path, &mut file, &mut start[START..])?;
    Ok((file, start))
}

fn read_exact(path: &Path, file: &mut impl Read, out: &mut [u8]) -> Result<()> {
    file.read_exact(out).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(path, "it is cut off"),
        _ => unread(path, &error),
    })
}

/// One part of a sealed file, read from its beginning to its end.
pub(super) struct Part<'a> {
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
    pub(super) fn read(&mut self, mut out: &mut [u8]) -> Result<()> {
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
            return Err(damaged(path, "its content was changed"));
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

fn unwritten(path: &Path, error: &io::Error) -> TableError {
    let reason = reason(error);
    TableError::Input(format!("{}: cannot be written ({reason}); free space or repair the disk", path.display()))
}

fn unread(path: &Path, error: &io::Error) -> TableError {
    TableError::Input(format!("{}: cannot be read ({})", path.display(), reason(error)))
}

/// The operating system's own words.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

pub(super) fn damaged(path: &Path, how: &str) -> TableError {
    TableError::Input(format!(
        "{}: is damaged ({how}); put a copy back, or drop the table and make it again",
        path.display()
    ))
}
