//! Kept tables: what one session keeps another one reads, on both engines; damage of any kind is refused; nothing is in
//! clear.

use std::path::{Path, PathBuf};

use super::world::runs::{names, permits};
use super::world::tables::TEXTS;
use super::world::{Cell, Clear, HASH_KEY, PARTIES, Plan, bits, ring64, ring128};
use serde_json::json;
use static_assertions::assert_not_impl_any;
use tacit_mpc::backends::{Components, Rep3, Two};
use tacit_net::{Options, Session, memory};
use tacit_table::kept::{Header, KeptFile, KeptShares, SealingKey, write};
use tacit_table::{Executor, Operator, Table, TableError, WrongInput};

assert_not_impl_any!(KeptShares: std::fmt::Debug, Clone, serde::Serialize);
assert_not_impl_any!(SealingKey: std::fmt::Debug, Clone, serde::Serialize);

const COLUMNS: [&str; 4] = ["zip", "n", "wide", "name"];

fn kinds() -> [String; 4] {
    let text = json!({"repr": "bits", "width": 32, "signed": false, "nullable": false}).to_string();
    [bits(17, false, true), ring64(40, false), ring128(90, true), text]
}

fn operator(text: &str) -> Operator {
    Operator::from_json(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn listed(columns: &[usize]) -> String {
    let kinds = kinds();
    let one = |&at: &usize| {
        let (name, encode) = (COLUMNS[at], if at == 3 { "bytes" } else { "int" });
        format!(r#"{{"name": "{name}", "source": "{name}", "encode": "{encode}", "kind": {}}}"#, kinds[at])
    };
    format!("[{}]", columns.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn input(rows: &str) -> Operator {
    operator(&format!(
        r#"{{"id": 1, "op": "input", "owner": "ann", "columns": {}, "rows": {rows}}}"#,
        listed(&[0, 1, 2, 3])
    ))
}

fn keep() -> Operator {
    operator(r#"{"id": 2, "op": "keep", "input": 1, "table": "totals", "columns": ["zip", "n", "wide", "name"]}"#)
}

fn kept(columns: &[usize], rows: usize, padded: bool) -> Operator {
    let columns = listed(columns);
    operator(&format!(
        r#"{{"id": 1, "op": "kept", "table": "totals", "columns": {columns}, "rows": {rows}, "padded": {padded}}}"#
    ))
}

fn release(columns: &[usize]) -> Operator {
    let columns: Vec<&str> = columns.iter().map(|&at| COLUMNS[at]).collect();
    operator(
        &json!({"id": 3, "op": "release", "input": 1, "to": ["bob"], "columns": columns, "ordered": false}).to_string(),
    )
}

fn table(rows: usize) -> Clear {
    let row = |i: usize| {
        let i = i as i128;
        let zip = if i % 3 == 1 { Cell::Null } else { Cell::Int(i % 100_000) };
        let wide = if i % 5 == 2 { Cell::Null } else { Cell::Int((1 << 80) - i) };
        vec![zip, Cell::Int(7 - 3 * i), wide, Cell::Text(format!("n{}", i % 997))]
    };
    Clear { names: COLUMNS.map(String::from).to_vec(), rows: (0..rows).map(row).collect() }
}

/// A key for each node.
fn key(node: &str) -> SealingKey {
    let mut bytes = [3; 32];
    bytes[..node.len()].copy_from_slice(node.as_bytes());
    SealingKey::new(bytes)
}

fn path(folder: &Path, node: &str) -> PathBuf {
    folder.join(format!("{node}.kept"))
}

fn components(engine: &str) -> Option<usize> {
    [("rep3", Rep3::COUNT), ("two", Two::COUNT)].into_iter().find(|(name, _)| *name == engine).map(|(_, count)| count)
}

/// Runs the body at every node of a new session, in order of the nodes.
fn session<B: Components, T: Send>(
    operators: &[Operator],
    body: impl Fn(&mut Executor<B>, &str) -> T + Sync,
) -> Vec<T> {
    let plan = Plan { operators: operators.to_vec() };
    let one = |session: Session| {
        let name = session.name(session.me()).to_owned();
        let engine = B::start(session).expect("an engine");
        let mut executor = Executor::new(engine, permits(&plan, &names::<B>()), names::<B>(), HASH_KEY);
        let out = body(&mut executor, &name);
        executor.into_backend().into_session().close().expect("a good end");
        out
    };
    std::thread::scope(|scope| {
        let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| one(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Keeps a table of ann's.
fn keep_at<B: Components>(folder: &Path, data: &Clear, rows: &str) {
    let data = data.to_data(&TEXTS);
    let Operator::Keep(keep) = keep() else { unreachable!() };
    session::<B, _>(&[input(rows)], |executor, node| {
        let data = (node == "ann").then(|| data.clone());
        let table: Table<B> = executor.input(&input(rows), data).expect("data as declared");
        let me = PARTIES.iter().position(|party| *party == node).expect("a node");
        let header = Header::new(&table, &keep, &[1; 16], &names::<B>(), me).expect("its columns");
        write(&table, &header, &path(folder, node), &key(node)).expect("a folder");
    });
}

fn open(folder: &Path, node: &str) -> Result<KeptFile, TableError> {
    KeptFile::open(&path(folder, node), &key(node), components)
}

fn read_at<B: Components>(folder: &Path, columns: &[usize], rows: usize, padded: bool) -> Clear {
    let (read, release) = (kept(columns, rows, padded), release(columns));
    let opened = session::<B, _>(&[read.clone(), release.clone()], |executor, node| {
        let Operator::Kept(kept) = &read else { unreachable!() };
        let shares = open(folder, node).and_then(|mut file| file.read(kept)).expect("an intact file");
        let table = executor.kept(&read, |_, kept| shares.into_rows::<B>(kept)).expect("its shares");
        executor.release(&release, table).expect("a permit").map(|opened| Clear::from_data(&opened))
    });
    opened.into_iter().flatten().next().expect("bob learns the rows").sorted()
}

fn reads_what_was_kept<B: Components>() {
    for (rows, declared) in [(0, "0"), (1, "null"), (67, "null"), (500, "640")] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = table(rows);
        keep_at::<B>(folder.path(), &data, declared);
        let (bound, padded) = declared.parse().map_or((rows, false), |bound| (bound, true));
        for columns in [&[0, 1, 2, 3][..], &[3, 1], &[2]] {
            let pick = |row: &Vec<Cell>| columns.iter().map(|&at| row[at].clone()).collect();
            let names = columns.iter().map(|&at| COLUMNS[at].to_owned()).collect();
            let expected = Clear { names, rows: data.rows.iter().map(pick).collect() }.sorted();
            assert_eq!(read_at::<B>(folder.path(), columns, bound, padded), expected, "{rows} rows of {columns:?}");
        }
    }
}

#[test]
fn three_nodes_read_what_they_kept() {
    reads_what_was_kept::<Rep3>();
}

#[test]
fn two_nodes_read_what_they_kept() {
    reads_what_was_kept::<Two>();
}

/// Reads all of a file.
fn whole(folder: &Path, node: &str) -> Result<KeptShares, TableError> {
    let mut file = open(folder, node)?;
    let Operator::Kept(kept) = kept(&[0, 1, 2, 3], file.header().rows, file.header().padded) else { unreachable!() };
    file.read(&kept)
}

fn refusal(folder: &Path, node: &str) -> String {
    match whole(folder, node) {
        Err(error @ TableError::Input { what: WrongInput::File { .. }, .. }) => error.to_string(),
        Err(other) => panic!("another fault: {other}"),
        Ok(_) => panic!("the file was read"),
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    keep_at::<Two>(folder.path(), &table(3), "5");
    let file = path(folder.path(), "ann");
    let intact = std::fs::read(&file).expect("the file");
    assert!(whole(folder.path(), "ann").is_ok());
    for at in 0..intact.len() {
        let mut changed = intact.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&file, &changed).expect("a disk");
        let sentence = refusal(folder.path(), "ann");
        assert!(sentence.contains("damaged") || sentence.contains("another private key"), "byte {at}: {sentence}");
        assert!(sentence.contains("ann.kept") && sentence.contains("drop the table"), "byte {at}: {sentence}");
    }
    for length in 0..intact.len() {
        std::fs::write(&file, &intact[..length]).expect("a disk");
        assert!(refusal(folder.path(), "ann").contains("damaged"), "cut after {length}");
    }
    std::fs::write(&file, [&intact[..], &[0]].concat()).expect("a disk");
    assert!(refusal(folder.path(), "ann").contains("bytes instead of"));
}

#[test]
fn another_key_and_another_nodes_file_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    keep_at::<Rep3>(folder.path(), &table(3), "null");
    std::fs::copy(path(folder.path(), "bob"), path(folder.path(), "ann")).expect("a disk");
    assert!(refusal(folder.path(), "ann").contains("another private key"));
}

#[test]
fn chunks_have_their_place_in_their_file() {
    const CHUNK: usize = (1 << 20) + 16;
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let rows = 300_000;
    keep_at::<Two>(folder.path(), &table(rows), "null");
    keep_at::<Two>(other.path(), &table(rows), "null");
    let file = path(folder.path(), "ann");
    let (intact, foreign) = (std::fs::read(&file).expect("it"), std::fs::read(path(other.path(), "ann")).expect("it"));
    assert_eq!(intact.len(), foreign.len(), "files of one shape");
    let Operator::Kept(all) = kept(&[0, 1, 2, 3], rows, false) else { unreachable!() };
    let shares = whole(folder.path(), "ann").expect("an intact file").into_rows::<Two>(&all);
    let content = Two::take_apart(shares.expect("the operator for which they were read")).remove(0);
    let first = content.r64[0][0].to_le_bytes();
    let last = content.r64[0][rows - 1].to_le_bytes();
    for share in [first, last] {
        assert!(!intact.windows(8).any(|window| window == share), "no share is in the file");
    }
    // The column of 64-bit integers begins behind that of 17 planes and their null plane, and has three chunks.
    let planes = 18 * rows.div_ceil(64) * 8;
    let header = intact.len()
        - sealed(planes)
        - sealed(8 * rows)
        - sealed(16 * rows + rows.div_ceil(64) * 8)
        - sealed(32 * rows.div_ceil(64) * 8);
    let begin = header + sealed(planes);
    let mut swapped = intact.clone();
    swapped[begin..][..CHUNK].copy_from_slice(&intact[begin + CHUNK..][..CHUNK]);
    swapped[begin + CHUNK..][..CHUNK].copy_from_slice(&intact[begin..][..CHUNK]);
    let mut mixed = intact.clone();
    mixed[begin..][..CHUNK].copy_from_slice(&foreign[begin..][..CHUNK]);
    for changed in [swapped, mixed] {
        std::fs::write(&file, &changed).expect("a disk");
        assert!(refusal(folder.path(), "ann").contains("its content was changed"));
    }
}

/// Bytes in the file of a part of `part` bytes.
fn sealed(part: usize) -> usize {
    part + part.div_ceil(1 << 20) * 16
}

/// No branch and no address depends on a share that is kept or read again, under memcheck
/// (docs/security/constant-time.md).
#[cfg(tacit_memcheck)]
mod constant_time {
    use std::hint::black_box;

    use tacit_marks::found;

    use super::*;

    const ROWS: usize = 67;
    const ALL: [usize; 4] = [0, 1, 2, 3];

    fn of_kept<B: Components>(folder: &Path) -> Vec<(String, usize)> {
        found(&format!("{} kept", B::NAME), || {
            keep_at::<B>(folder, &table(ROWS), "70");
            assert_eq!(read_at::<B>(folder, &ALL, 70, true), table(ROWS).sorted());
        })
    }

    #[test]
    fn kept_tables_branch_on_no_share() {
        let folder = || tempfile::tempdir().expect("a folder");
        assert_eq!([of_kept::<Rep3>(folder().path()), of_kept::<Two>(folder().path())].concat(), []);
    }

    /// A call, so that no compiler makes a conditional move of the branch.
    #[inline(never)]
    fn odd() -> u64 {
        black_box(1)
    }

    #[test]
    fn planted_faults_of_kept_shares_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        keep_at::<Two>(folder.path(), &table(ROWS), "70");
        let found = found("planted", || {
            let Operator::Kept(all) = kept(&ALL, 70, true) else { unreachable!() };
            let shares = whole(folder.path(), "ann").and_then(|shares| shares.into_rows::<Two>(&all));
            let share = Two::take_apart(shares.expect("an intact file")).remove(0);
            black_box(if black_box(share.r64[0][3]) & 1 == 1 { odd() } else { 0 });
        });
        assert_eq!(found, [("planted".to_owned(), 1)]);
    }
}
