//! What all sealed files have in common: the key, the start of a file, and its chunks.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use tacit_math::Seed;
use zeroize::Zeroizing;

use crate::Result;

const MAGIC: usize = 16;
const SALT: usize = 16;
const KEY_NAME: usize = 8;
/// Bytes behind the start and behind each chunk.
pub(crate) const TAG: usize = 16;
/// Bytes before the public text.
pub(crate) const START: usize = MAGIC + KEY_NAME + SALT + 4;
/// The longest public text.
const LONGEST: usize = 64 << 20;
/// Bytes that are encrypted at a time.
pub const CHUNK: usize = 1 << 20;

/// What kind of file it is: files of one kind are never taken for those of another.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The first bytes of every file.
    pub magic: [u8; MAGIC],
    /// The context in which a file's key is derived.
    pub file_key: &'static str,
    /// The context in which the name of a party's key is derived.
    pub key_name: &'static str,
}

/// Why a sealed file cannot be used. What to do about it is for the room to say whose file it is.
#[derive(Debug, thiserror::Error)]
pub enum SealedError {
    /// It is not as it was written.
    #[error("{path}: is damaged ({how})", path = .path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// In what way.
        how: String,
    },
    /// It was encrypted under another key.
    #[error("{path}: was encrypted under another private key of this party", path = .path.display())]
    OtherKey {
        /// Which file.
        path: PathBuf,
    },
    /// The operating system does not read it.
    #[error("{path}: cannot be read ({reason})", path = .path.display())]
    Unread {
        /// Which file.
        path: PathBuf,
        /// The operating system's reason.
        reason: String,
    },
    /// The operating system does not write it.
    #[error("{path}: cannot be written ({reason})", path = .path.display())]
    Unwritten {
        /// Which file.
        path: PathBuf,
        /// The operating system's reason.
        reason: String,
    },
    /// The operating system gives no randomness.
    #[error("no randomness: {0}")]
    Randomness(String),
}

impl SealedError {
    pub(crate) fn damaged(path: &Path, how: &str) -> Self {
        Self::Damaged { path: path.into(), how: how.into() }
    }

    pub(crate) fn unread(path: &Path, error: &io::Error) -> Self {
        Self::Unread { path: path.into(), reason: reason(error) }
    }

    pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Self {
        Self::Unwritten { path: path.into(), reason: reason(error) }
    }
}

/// The operating system's own words.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// The key of a party under which its files are encrypted. Not printable.
pub struct SealingKey(Zeroizing<[u8; 32]>);

impl SealingKey {
    /// From 32 secret bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Tells keys apart, and nothing else of them.
    fn name(&self, kind: &Kind) -> [u8; KEY_NAME] {
        let name = blake3::derive_key(kind.key_name, &*self.0);
        name[..KEY_NAME].try_into().expect("shorter than a hash")
    }

    /// The key of the file of this salt.
    fn of_file(&self, kind: &Kind, salt: &[u8]) -> LessSafeKey {
        let secret = Zeroizing::new([&self.0[..], salt].concat());
        let key = Zeroizing::new(blake3::derive_key(kind.file_key, &secret));
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &*key).expect("256 bits"))
    }

    /// The start of a new file with a fresh salt, without its tag.
    pub(crate) fn start(&self, kind: &Kind, text: &[u8]) -> Result<Vec<u8>> {
        // Part of the file in clear.
        let salt = Seed::random().map_err(|error| SealedError::Randomness(error.to_string()))?.published();
        let length = u32::try_from(text.len()).expect("far shorter than 4 GiB").to_le_bytes();
        Ok([&kind.magic[..], &self.name(kind), salt.expose(), &length, text].concat())
    }

    /// What the chunks of the file with this start are encrypted with.
    pub(crate) fn chunks(&self, kind: &Kind, start: &[u8]) -> Chunks {
        let salt = &start[MAGIC + KEY_NAME..][..SALT];
        Chunks { key: self.of_file(kind, salt), digest: *blake3::hash(start).as_bytes() }
    }

    /// Reads a file's start with its tag, and checks both. Returns the start, which ends with the public text.
    pub(crate) fn open(&self, kind: &Kind, path: &Path, file: &mut impl Read) -> Result<(Chunks, Vec<u8>)> {
        let start = unchecked_start(kind, path, file)?;
        if start[MAGIC..][..KEY_NAME] != self.name(kind) {
            return Err(SealedError::OtherKey { path: path.into() });
        }
        let chunks = self.chunks(kind, &start);
        let mut tag = vec![0; TAG];
        read_exact(path, file, &mut tag)?;
        if !chunks.open(0, &mut tag) {
            return Err(SealedError::damaged(path, "what it says of itself was changed"));
        }
        Ok((chunks, start))
    }
}

/// What every chunk of one file is encrypted with.
pub(crate) struct Chunks {
    key: LessSafeKey,
    digest: [u8; 32],
}

impl Chunks {
    /// Encrypts the chunk of a number, and appends its tag.
    pub(crate) fn seal(&self, number: u64, chunk: &mut Vec<u8>) {
        let sealed = self.key.seal_in_place_append_tag(nonce(number), Aad::from(&self.digest), chunk);
        sealed.expect("a chunk is far shorter than what a nonce serves for");
        // Encrypted: the disk may have it.
        tacit_marks::public(chunk);
    }

    /// Decrypts the chunk of a number with its tag; false if it is not what was sealed.
    pub(crate) fn open(&self, number: u64, chunk: &mut Vec<u8>) -> bool {
        let opened = self.key.open_in_place(nonce(number), Aad::from(&self.digest), chunk).map(|clear| clear.len());
        opened.inspect(|&length| chunk.truncate(length)).is_ok()
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// Reads a file's start, whose tag comes next.
pub(crate) fn unchecked_start(kind: &Kind, path: &Path, file: &mut impl Read) -> Result<Vec<u8>> {
    let mut start = vec![0; START];
    read_exact(path, file, &mut start)?;
    if start[..MAGIC] != kind.magic {
        return Err(SealedError::damaged(path, "it does not begin like one of this version"));
    }
    let length = u32::from_le_bytes(start[START - 4..].try_into().expect("four bytes")) as usize;
    if length > LONGEST {
        return Err(SealedError::damaged(path, "what it says of itself does not end"));
    }
    // As much as there is, before a length that nobody has checked takes memory.
    let read = file.by_ref().take(length as u64).read_to_end(&mut start);
    let read = read.map_err(|error| SealedError::unread(path, &error))?;
    if read < length { Err(SealedError::damaged(path, "it is cut off")) } else { Ok(start) }
}

pub(crate) fn read_exact(path: &Path, file: &mut impl Read, out: &mut [u8]) -> Result<()> {
    file.read_exact(out).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SealedError::damaged(path, "it is cut off"),
        _ => SealedError::unread(path, &error),
    })
}

/// Forces the names in a folder to the disk: a file that was made or renamed is there after a loss of power.
///
/// # Errors
/// [`SealedError::Unwritten`].
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| SealedError::unwritten(folder, &error))
}
