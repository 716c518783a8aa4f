//! A party's own files, encrypted and authenticated under a key that only this party has.
//!
//! | bytes | meaning |
//! |---|---|
//! | 16 | what kind of file it is ([`Kind`]) |
//! | 8 | names the party's key |
//! | 16 | salt |
//! | 4 + n | the public text, with its length (little endian) |
//! | 16 | authentication tag of all before |
//! | | chunks of at most 1 MiB, each with its authentication tag of 16 bytes behind it |
//!
//! Chunks are encrypted by AES-256-GCM under a key of this file alone, derived from the party's key and the salt. The
//! cipher takes their number in the file as nonce (the authentication tag of what comes before them is number 0). It
//! takes the digest of all before them as associated data. So a chunk that was changed, moved, or taken from another
//! file is refused. A file is written once from its beginning and may grow; no number is used twice under one salt.
//!
//! | module | chunks are |
//! |---|---|
//! | [`parts`] | of parts, whose lengths follow from the public text: they are read one by one |
//! | [`pieces`] | of pieces, each with its length before it: a file grows by whole pieces |
//! | [`folder`] | of pieces, in the files of one private folder, which know their names and their run |
//!
//! [`scratch`] has files of chunks alone, without a start and without a name, under a key that only this process has.

mod file;
pub mod folder;
pub mod parts;
pub mod pieces;
pub mod scratch;

pub use file::{CHUNK, Kind, SealedError, SealingKey};
pub use folder::Folder;
pub use scratch::Scratch;

/// The result of reading or writing a sealed file.
pub type Result<T, E = SealedError> = std::result::Result<T, E>;
