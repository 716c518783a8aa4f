use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tacit_math::{Prg, Seed};
use tacit_mpc::Block;
use tacit_mpc::backends::{Components, Rep3, Two};
use tacit_sealed::Scratch;

use super::{Lying, Spill, Tables};
use crate::bundle::bundle;
use crate::encode::shape;
use crate::error::TableError;
use crate::operator::{Encoding, InputColumn, Kind, Repr};
use crate::operators::input::columns;
use crate::table::Table;
use crate::wrong_input::WrongInput;

const REPRS: [Repr; 3] = [Repr::Bits, Repr::Ring64, Repr::Ring128];

/// A node's random shares of a table with such columns, each of a representation, a width and with NULLs or not.
fn table<B: Components>(prg: &mut Prg, rows: usize, of: &[(usize, usize, bool)]) -> Table<B> {
    let column = |(place, &(repr, width, nullable)): (usize, &(usize, usize, bool))| {
        let kind = Kind { repr: REPRS[repr], width, signed: false, nullable };
        let name = format!("c{place}");
        InputColumn { source: name.clone(), name, encode: Encoding::Int, kind }
    };
    let listed: Vec<InputColumn> = of.iter().enumerate().map(column).collect();
    let blocks = (0..B::COUNT).map(|_| Block::random(shape(&listed, rows, false), prg)).collect();
    Table::new(rows, None, columns(&listed, B::put_together(blocks)))
}

/// The bytes of all columns' components.
fn content<B: Components>(table: &Table<B>) -> Vec<Vec<u8>> {
    let bytes = |block: Block| block.bytes().flatten().copied().collect::<Vec<u8>>();
    let of = |value| B::take_apart(bundle(table.rows, [value]).0).into_iter().map(bytes);
    table.columns.iter().flat_map(|column| of(&*column.value)).collect()
}

fn spill<B: Components>(folder: &Path) -> Spill<B> {
    Spill::new(Scratch::new(folder).expect("randomness"))
}

fn prg(seed: u8) -> Prg {
    Prg::new(&Seed::from_bytes([seed; 16]))
}

/// Tables of some columns, of which some go to files and all come back as they were.
fn comes_back<B: Components>(rows: usize, of: &[Vec<(usize, usize, bool)>], room: u64, seed: u8) {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut prg, mut tables) = (spill::<B>(folder.path()), prg(seed), Tables::new(B::COUNT));
    let made: Vec<Table<B>> = of.iter().map(|of| table(&mut prg, rows, of)).collect();
    made.iter().enumerate().for_each(|(step, table)| tables.insert(step, table.clone()));
    let all = tables.bytes();
    let gone = tables.make_room(&spill, &[0], room).expect("a disk");
    assert_eq!(tables.bytes(), all - gone);
    assert!(tables.beside(&[0]).iter().map(|(_, bytes)| bytes).sum::<u64>() <= room);
    assert!(gone == 0 || tables.away() > 0);
    for (step, table) in made.iter().enumerate() {
        tables.bring(&spill, &[step]).expect("an intact file");
        let back = tables.get(step).expect("in memory").expect("of the step");
        assert!(content(&back) == content(table), "{step}");
        assert!(back.names().eq(table.names()) && back.rows == table.rows);
    }
    assert_eq!((tables.bytes(), tables.away()), (all, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_to_files_comes_back(
        rows in 1usize..300,
        of in prop::collection::vec(prop::collection::vec((0usize..3, 1usize..40, any::<bool>()), 1..4), 1..4),
        room in 0u64..40_000,
        seed: u8,
    ) {
        comes_back::<Rep3>(rows, &of, room, seed);
        comes_back::<Two>(rows, &of, room, seed);
    }
}

#[test]
fn a_column_of_two_tables_is_in_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut tables) = (spill::<Rep3>(folder.path()), Tables::new(Rep3::COUNT));
    let made = table::<Rep3>(&mut prg(1), 100, &[(0, 20, false), (1, 64, false)]);
    tables.insert(1, made.clone());
    tables.insert(2, Table { columns: made.columns[..1].to_vec(), ..made.clone() });
    drop(made);
    let bytes = [20 * 16, 800].map(|bytes| bytes * Rep3::COUNT as u64);
    assert_eq!(tables.bytes(), bytes[0] + bytes[1]);
    // What a step takes stays, and what other tables have of it.
    assert_eq!(tables.make_room(&spill, &[2], 0).expect("a disk"), bytes[1]);
    assert_eq!(tables.make_room(&spill, &[], 0).expect("a disk"), bytes[0]);
    assert_eq!((tables.bytes(), tables.away()), (0, 2));
    tables.bring(&spill, &[1, 2]).expect("an intact file");
    let [one, two] = [1, 2].map(|step| tables.get(step).expect("in memory").expect("of the step"));
    assert!(Arc::ptr_eq(&one.columns[0].value, &two.columns[0].value));
    tables.retain(|step| step == 2);
    assert_eq!(tables.bytes(), bytes[0]);
    assert!(tables.get(1).expect("no file").is_none());
}

#[test]
fn a_column_is_written_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut tables) = (spill::<Rep3>(folder.path()), Tables::new(Rep3::COUNT));
    let made = table::<Rep3>(&mut prg(5), 300, &[(1, 64, false)]);
    let shares = content(&made);
    tables.insert(1, made);
    tables.make_room(&spill, &[], 0).expect("a disk");
    // No file can be made any more.
    drop(folder);
    for _ in 0..3 {
        tables.bring(&spill, &[1]).expect("an intact file");
        assert!(content(&tables.get(1).expect("in memory").expect("of the step")) == shares);
        assert_eq!(tables.make_room(&spill, &[], 0).expect("the file that there is"), 4800);
        assert_eq!((tables.bytes(), tables.away()), (0, 1));
    }
}

#[test]
fn a_table_in_files_is_not_given_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut tables) = (spill::<Rep3>(folder.path()), Tables::new(Rep3::COUNT));
    tables.insert(1, table(&mut prg(2), 10, &[(0, 8, true)]));
    tables.make_room(&spill, &[], 0).expect("a disk");
    assert!(matches!(tables.get(1), Err(TableError::Internal(_))));
    tables.retain(|_| false);
    assert_eq!(tables.away(), 0);
}

/// The bytes of the file of the only column.
fn only_file<B: Components>(tables: &Tables<B>) -> &std::fs::File {
    match tables.columns.values().next() {
        Some(Lying::Away(away)) => away.sheet.file(),
        _ => panic!("the column is in memory"),
    }
}

#[test]
fn no_share_is_on_the_disk_in_clear() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut tables) = (spill::<Rep3>(folder.path()), Tables::new(Rep3::COUNT));
    let made = table::<Rep3>(&mut prg(3), 200, &[(1, 64, false)]);
    let shares = content(&made);
    tables.insert(1, made);
    tables.make_room(&spill, &[], 0).expect("a disk");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "files have no names");
    let file = only_file(&tables);
    let mut bytes = vec![0; file.metadata().expect("a file").len() as usize];
    file.read_exact_at(&mut bytes, 0).expect("a file");
    assert_eq!(bytes.len(), 2 * 1600 + 16);
    let found = |share: &[u8]| bytes.windows(8).any(|window| window == share);
    assert!(!shares.iter().flat_map(|component| component.chunks(8)).any(found));
}

#[test]
fn a_changed_file_is_the_machines_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut tables) = (spill::<Rep3>(folder.path()), Tables::new(Rep3::COUNT));
    tables.insert(1, table(&mut prg(4), 100, &[(1, 64, false)]));
    tables.make_room(&spill, &[], 0).expect("a disk");
    only_file(&tables).write_all_at(&[0x55; 4], 100).expect("a file");
    let error = tables.bring(&spill, &[1]).expect_err("a changed file");
    let told = error.to_string();
    assert!(matches!(error, TableError::Internal(_)) && told.contains("was changed"), "{told}");
}

#[test]
fn a_folder_that_takes_no_file_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spill, mut tables) = (spill::<Rep3>(&folder.path().join("none")), Tables::new(Rep3::COUNT));
    tables.insert(1, table(&mut prg(5), 100, &[(1, 64, false)]));
    let error = tables.make_room(&spill, &[], 0).expect_err("no folder");
    assert!(matches!(&error, TableError::Input { what: WrongInput::Spill { .. }, .. }), "{error}");
}
