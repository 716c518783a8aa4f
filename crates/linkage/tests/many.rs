//! A match of more than two parties' tables against the clear one, at its declared cost.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use std::sync::Arc;
use tacit_linkage::{Bins, Join, KeyColumn, Layout, MatchError, Normaliser, Partition, Progress, Results, Rows, many};
use tacit_math::Seed;
use tacit_net::{Counters, Options, PartyId, Session, memory};
use tacit_psi::multi_party::Owners;

/// Keys, some NULL. A row's payload is its number.
type Keys = Vec<Option<i64>>;

struct Ended {
    keys: u64,
    count: u64,
    rows: Vec<i64>,
    total: Counters,
}

fn binned(keys: &Keys) -> Bins {
    let all: Vec<ArrayRef> = vec![
        Arc::new(keys.iter().copied().collect::<Int64Array>()),
        Arc::new((0..keys.len() as i64).collect::<Int64Array>()),
    ];
    let schema = Arc::new(Schema::new(["key", "row"].map(|name| Field::new(name, DataType::Int64, true)).to_vec()));
    let layout = Layout { bins: 1, folder: None, flush_bytes: 1 << 20, keep_keyless: false };
    let key = vec![KeyColumn { index: 0, normaliser: Normaliser::Exact }];
    let mut partition = Partition::new(&Seed::from_bytes([3; 16]), key, vec![1], layout);
    partition.push(&RecordBatch::try_new(Arc::clone(&schema), all).expect("a batch")).expect("a table");
    partition.finish(schema).expect("a table").0
}

fn play(mut session: Session, keys: &Keys, owners: &Owners, most: u64) -> Result<Ended, MatchError> {
    let (bins, results, progress) = (Arc::new(binned(keys)), Arc::new(Results::new(1, None)), Progress::default());
    let count = many::intersect(&mut session, owners, &bins, &results, &progress, most)?;
    let total = session.meter().snapshot().total;
    session.close()?;
    let rows = Rows::new(bins, Arc::clone(&results), Join::Inner, true, 0)?;
    let numbers = rows.flat_map(|batch| {
        batch.expect("a batch").column(0).as_primitive::<Int64Type>().values().iter().copied().collect::<Vec<_>>()
    });
    Ok(Ended { rows: numbers.collect(), keys: results.get(0)?.keys, count, total })
}

fn run(tables: &[Keys], leader: usize, recipients: &[usize], most: u64) -> (Owners, Vec<Result<Ended, MatchError>>) {
    let recipients = recipients.iter().copied().map(PartyId).collect();
    let owners = Owners { sizes: tables.iter().map(Vec::len).collect(), leader: PartyId(leader), recipients };
    let sessions = memory::mesh(&["a", "b", "c", "d", "e"][..tables.len()], &Options::default());
    let ends = std::thread::scope(|scope| {
        let owners = &owners;
        let start = |(session, keys)| scope.spawn(move || play(session, keys, owners, most));
        let running: Vec<_> = sessions.into_iter().zip(tables).map(start).collect();
        running.into_iter().map(|party| party.join().expect("no panic")).collect()
    });
    (owners, ends)
}

/// The rows of the clear join: for every key that all have, all combinations of the recipients' rows.
fn joined(tables: &[Keys], recipients: &[usize]) -> (u64, BTreeSet<Vec<i64>>) {
    let mut rows: Vec<BTreeMap<i64, Vec<i64>>> = vec![BTreeMap::new(); tables.len()];
    for (table, keys) in rows.iter_mut().zip(tables) {
        (0..).zip(keys).filter_map(|(row, key)| Some((row, (*key)?))).for_each(|(row, key)| {
            table.entry(key).or_default().push(row);
        });
    }
    let common: Vec<i64> = rows[0].keys().copied().filter(|key| rows.iter().all(|of| of.contains_key(key))).collect();
    let mut found = BTreeSet::new();
    for key in &common {
        let extended = |tuples: Vec<Vec<i64>>, party: &usize| -> Vec<Vec<i64>> {
            let with = |tuple: &Vec<i64>| rows[*party][key].iter().map(|&row| [&tuple[..], &[row]].concat()).collect();
            tuples.iter().flat_map(|tuple: &Vec<i64>| -> Vec<Vec<i64>> { with(tuple) }).collect()
        };
        found.extend(recipients.iter().fold(vec![Vec::new()], extended));
    }
    (common.len() as u64, found)
}

fn check(tables: &[Keys], leader: usize, recipients: &[usize]) {
    let (owners, ends) = run(tables, leader, recipients, 1 << 20);
    let ends: Vec<Ended> = ends.into_iter().map(|end| end.expect("honest parties")).collect();
    let (keys, expected) = joined(tables, recipients);
    let rows = ends[leader].rows.len();
    let found: BTreeSet<Vec<i64>> =
        (0..rows).map(|row| recipients.iter().map(|&party| ends[party].rows[row]).collect()).collect();
    assert_eq!((rows, found), (expected.len(), expected));
    let declared = many::cost(&owners);
    for (party, end) in ends.iter().enumerate() {
        let learns = recipients.contains(&party);
        assert_eq!((end.keys, end.rows.len()), if learns { (keys, rows) } else { (0, 0) });
        assert_eq!(end.count, end.rows.len() as u64);
        assert_eq!((end.total.rounds, end.total.bytes_sent), (declared.rounds, declared.sent[party]), "party {party}");
    }
}

fn table(range: std::ops::Range<i64>) -> Keys {
    range.map(Some).collect()
}

#[test]
fn all_recipients_have_the_joins_rows_in_one_order() {
    check(&[table(0..200), table(150..300), table(100..180)], 0, &[0, 1, 2]);
    check(&[table(0..200), table(150..300), table(100..180)], 2, &[2]);
    check(&[table(0..9), table(0..0), table(5..7)], 0, &[0, 1, 2]);
    check(&[table(3..4), table(0..40), table(3..4), table(2..5), table(3..20)], 1, &[1, 3, 4]);
    check(&[vec![None; 4], table(0..40), table(3..4)], 1, &[0, 1]);
}

#[test]
fn more_rows_than_fit_are_found_at_all_recipients_and_not_kept() {
    let tables = vec![vec![Some(7); 100]; 3];
    for (most, kept) in [(999_999, 0), (1_000_000, 1_000_000)] {
        for end in run(&tables, 1, &[0, 1, 2], most).1 {
            let end = end.expect("honest parties");
            assert_eq!((end.count, end.rows.len()), (1_000_000, kept));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn keys_that_repeat_give_all_combinations(
        tables in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.9, 0i64..12), 1..20), 3),
        leader in 0usize..3,
        both in any::<bool>(),
    ) {
        let recipients: Vec<usize> = (0..3).filter(|&party| both || party == leader || party == 0).collect();
        check(&tables, leader, &recipients);
    }
}
