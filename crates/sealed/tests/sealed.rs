//! Pieces and parts: what was written is read, whatever else a disk holds is refused, and no key serves two files.

use proptest::prelude::*;
use static_assertions::assert_not_impl_any;
use tacit_sealed::parts::{Reader, Writer};
use tacit_sealed::pieces::{Pieces, replace};
use tacit_sealed::{Folder, Kind, SealedError, SealingKey};

assert_not_impl_any!(SealingKey: std::fmt::Debug, Clone);

const KIND: Kind =
    Kind { magic: *b"tacit test files", file_key: "tacit test file key", key_name: "tacit test key name" };
const OTHER: Kind = Kind { magic: *b"tacit other kind", ..KIND };

fn key() -> SealingKey {
    SealingKey::new([7; 32])
}

fn all(pieces: Pieces) -> Result<Vec<(u64, Vec<u8>)>, SealedError> {
    pieces.collect()
}

#[test]
fn a_file_grows_by_whole_pieces_of_any_length() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = Folder::new(folder.path().to_owned(), &KIND, key(), "run".into());
    let lengths = [0, 1, 16, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20];
    for (rows, &length) in (0..).zip(&lengths) {
        files.append("a", rows, &vec![rows as u8; length]).expect("a folder");
    }
    let expected: Vec<_> = (0..).zip(&lengths).map(|(rows, &length)| (rows, vec![rows as u8; length])).collect();
    assert_eq!(all(files.pieces("a").expect("a file")).expect("whole pieces"), expected);
    assert_eq!(all(files.pieces("b").expect("no file")).expect("none"), []);
    // Another process does not append: it does not know which numbers are spent.
    let later = Folder::new(folder.path().to_owned(), &KIND, key(), "run".into());
    assert!(matches!(later.append("a", 1, b"more"), Err(SealedError::Unwritten { .. })));
    assert_eq!(all(later.pieces("a").expect("a file")).expect("whole pieces"), expected);
}

#[test]
fn the_same_bytes_are_never_the_same_file_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let write = || {
        replace(&path, &KIND, &key(), b"a", 0, &[0; 100]).expect("a folder");
        std::fs::read(&path).expect("a file")
    };
    let (one, other) = (write(), write());
    assert_eq!(one.len(), other.len());
    // Kind and name of the key are equal, then the salt differs and all that follows from it.
    assert_eq!(one[..24], other[..24]);
    let equal = one[45..].iter().zip(&other[45..]).filter(|(a, b)| a == b).count();
    assert!(one[24..40] != other[24..40] && equal < 10, "{equal} equal bytes");
    assert!(!folder.path().join("a.fresh").exists());
}

#[test]
fn kinds_keys_and_names_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    replace(&path, &KIND, &key(), b"a", 5, b"secret").expect("a folder");
    let open = |kind, key: &SealingKey, text: &[u8]| Pieces::open(path.clone(), kind, key, text).and_then(all);
    assert_eq!(open(&KIND, &key(), b"a").expect("the file"), [(5, b"secret".to_vec())]);
    assert!(matches!(open(&OTHER, &key(), b"a"), Err(SealedError::Damaged { .. })));
    assert!(matches!(open(&KIND, &key(), b"b"), Err(SealedError::Damaged { .. })));
    assert!(matches!(open(&KIND, &SealingKey::new([8; 32]), b"a"), Err(SealedError::OtherKey { .. })));
}

#[test]
fn a_file_of_one_piece_has_nothing_behind_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = Folder::new(folder.path().to_owned(), &KIND, key(), "run".into());
    assert_eq!(files.pieces("a").and_then(Pieces::only).expect("no file"), None);
    files.replace("a", 5, b"secret").expect("a folder");
    assert_eq!(files.pieces("a").and_then(Pieces::only).expect("one piece"), Some((5, b"secret".to_vec())));
    let whole = std::fs::read(files.path("a")).expect("a file");
    std::fs::write(files.path("a"), [&whole[..], b"x"].concat()).expect("a folder");
    assert!(matches!(files.pieces("a").and_then(Pieces::only), Err(SealedError::Damaged { .. })));
}

#[test]
fn a_length_that_nobody_checked_takes_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    replace(&path, &KIND, &key(), b"a", 5, b"secret").expect("a folder");
    let mut bytes = std::fs::read(&path).expect("a file");
    bytes[40..44].copy_from_slice(&(64u32 << 20).to_le_bytes());
    std::fs::write(&path, bytes).expect("a folder");
    assert!(matches!(Pieces::open(path, &KIND, &key(), b"a"), Err(SealedError::Damaged { .. })));
}

#[test]
fn parts_are_read_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let lengths = [3u64, 0, (1 << 20) + 5];
    let mut writer = Writer::new(&path, &KIND, &key(), b"three").expect("a folder");
    for (part, &length) in lengths.iter().enumerate() {
        writer.push(&vec![part as u8; length as usize]).and_then(|()| writer.end_part()).expect("a folder");
    }
    writer.finish().expect("a folder");
    let (mut reader, text) = Reader::open(&path, &KIND, &key()).expect("a file");
    assert_eq!(text, b"three");
    reader.check_length(&lengths).expect("as long as it was");
    for part in [2, 0] {
        let mut bytes = vec![9; lengths[part] as usize];
        reader.part(&lengths, part).and_then(|mut read| read.read(&mut bytes)).expect("the part");
        assert!(bytes.iter().all(|&byte| byte == part as u8));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    /// Whatever a disk does to a file: what is read is what was written, or it is refused.
    #[test]
    fn damage_is_noticed(at in any::<prop::sample::Index>(), change in 1u8.., how in 0usize..3) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        replace(&path, &KIND, &key(), b"a", 5, b"something that is secret").expect("a folder");
        let mut bytes = std::fs::read(&path).expect("a file");
        let at = at.index(bytes.len());
        match how {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, change),
            _ => bytes[at] ^= change,
        }
        std::fs::write(&path, &bytes).expect("a folder");
        let read = Pieces::open(path, &KIND, &key(), b"a").and_then(all);
        prop_assert!(!matches!(read, Ok(pieces) if pieces != [(5, b"something that is secret".to_vec())] && !pieces.is_empty()));
    }
}
