//! Matches of whole tables that are no joins: sums, universal ids and shares, against the clear tables; and what their messages tell.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use tacit_matching::aggregate::aggregate;
use tacit_matching::shares::{self, Announced};
use tacit_matching::{Bins, IdRows, Ids, KeyColumn, Layout, Normaliser, Partition};
use tacit_math::Seed;
use tacit_net::{Message, Options, Session, memory};
use tacit_psi::relatives::PrivateId;
use tacit_psi::{Role, Sizes, Traffic};

/// Keys, some NULL. A row's payload is its number, and its number squared.
type Keys = Vec<Option<i64>>;

fn binned(keys: &Keys, columns: usize) -> Arc<Bins> {
    let numbers = |power: u32| (0..keys.len() as i64).map(|row| row.pow(power)).collect::<Int64Array>();
    let all: Vec<ArrayRef> =
        vec![Arc::new(keys.iter().copied().collect::<Int64Array>()), Arc::new(numbers(1)), Arc::new(numbers(2))];
    let field = |name| Field::new(name, DataType::Int64, true);
    let schema = Arc::new(Schema::new(vec![field("key"), field("row"), field("square")]));
    let layout = Layout { bins: 1, folder: None, flush_bytes: 1 << 20, keep_keyless: true };
    let key = vec![KeyColumn { index: 0, normaliser: Normaliser::Exact }];
    let mut partition = Partition::new(&Seed::from_bytes([3; 16]), key, (1..=columns).collect(), layout);
    partition.push(&RecordBatch::try_new(Arc::clone(&schema), all).expect("a batch")).expect("a table");
    Arc::new(partition.finish(schema).expect("a table").0)
}

struct Ended<T> {
    found: T,
    traffic: Traffic,
    messages: Vec<Message>,
}

/// What both parties find, the sender's first, what it costs and what is sent.
fn both<T: Send>(play: impl Fn(&mut Session, Role) -> T + Sync) -> [Ended<T>; 2] {
    let options = Options { record: true, ..Options::default() };
    let [a, b]: [Session; 2] = memory::mesh(&["a", "b"], &options).try_into().expect("two");
    let play = |mut session: Session, role| {
        let found = play(&mut session, role);
        let total = session.meter().snapshot().total;
        let (rounds, sent, received) = (total.rounds, total.bytes_sent, total.bytes_received);
        let traffic = match role {
            Role::Sender => Traffic { rounds, sender: sent, receiver: received },
            Role::Receiver => Traffic { rounds, sender: received, receiver: sent },
        };
        let messages = session.transcript().expect("recorded").messages();
        session.close().expect("an honest peer");
        Ended { found, traffic, messages }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| play(b, Role::Receiver));
        [play(a, Role::Sender), other.join().expect("no panic")]
    })
}

/// A party's list of ids, and for each id its rows.
type Listed = (Vec<String>, BTreeMap<String, Vec<i64>>);

fn listed(ids: Ids) -> Listed {
    let (mut column, mut rows) = (Vec::new(), BTreeMap::new());
    for batch in IdRows::new(Arc::new(ids), "id") {
        let batch = batch.expect("a batch");
        for (id, row) in batch.column(0).as_string::<i32>().iter().zip(batch.column(1).as_primitive::<Int64Type>()) {
            let id = id.expect("an id").to_owned();
            column.push(id.clone());
            rows.entry(id).or_insert_with(Vec::new).extend(row);
        }
    }
    (column, rows)
}

fn identify(keys: [&Keys; 2], method: PrivateId) -> [Ended<Listed>; 2] {
    both(|session, role| {
        let (mine, theirs) = if role == Role::Sender { (keys[0], keys[1]) } else { (keys[1], keys[0]) };
        let ids = Ids::agree(session, role, method, binned(mine, 2), [mine.len(), theirs.len()]).expect("ids");
        let union = ids.union();
        let listed = listed(ids);
        assert_eq!(union, listed.1.len());
        listed
    })
}

fn distinct(keys: &Keys) -> BTreeSet<i64> {
    keys.iter().flatten().copied().collect()
}

fn check_ids(a: &Keys, b: &Keys, method: PrivateId) {
    let ends = identify([a, b], method);
    let common = distinct(a).intersection(&distinct(b)).count();
    let union = a.len() + b.len() - common;
    assert_eq!(ends[0].traffic, method.cost_of(Sizes { sender: a.len(), receiver: b.len() }, union));
    let [x, y] = ends.map(|ended| ended.found);
    assert!(x.0.is_sorted() && y.0.is_sorted());
    assert!(x.1.keys().eq(y.1.keys()) && x.1.len() == union, "both have the same ids");
    for (keys, (_, rows)) in [(a, &x), (b, &y)] {
        let mut of_key: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
        let mut seen: Vec<i64> = Vec::new();
        for (id, rows) in rows {
            seen.extend(rows);
            assert!(rows.len() == 1 || rows.iter().all(|&row| keys[row as usize].is_some()));
            rows.iter().filter_map(|&row| keys[row as usize]).for_each(|key| {
                of_key.entry(key).or_default().insert(id);
            });
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..keys.len() as i64), "every row is there once");
        assert!(of_key.values().all(|ids| ids.len() == 1), "a key has one id");
    }
    let mut met: Vec<(i64, i64)> = Vec::new();
    for (mine, theirs) in x.1.values().zip(y.1.values()) {
        met.extend(mine.iter().flat_map(|&mine| theirs.iter().map(move |&theirs| (mine, theirs))));
    }
    met.sort_unstable();
    assert_eq!(met, pairs(a, b), "joining by id is joining by key");
}

/// The pairs of rows with equal keys, ascending.
fn pairs(a: &Keys, b: &Keys) -> Vec<(i64, i64)> {
    let all = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
    all.filter(|&(i, j)| a[i].is_some() && a[i] == b[j]).map(|(i, j)| (i as i64, j as i64)).collect()
}

fn share(keys: [&Keys; 2], columns: Sizes) -> [Ended<RecordBatch>; 2] {
    let rows = Sizes { sender: keys[0].len(), receiver: keys[1].len() };
    let announced = Announced { rows, columns };
    let names: Vec<String> = (0..columns.sender + columns.receiver).map(|column| column.to_string()).collect();
    let ends = both(|session, role| {
        let (mine, columns) =
            if role == Role::Sender { (keys[0], columns.sender) } else { (keys[1], columns.receiver) };
        let found = shares::share(session, role, &binned(mine, columns), announced).expect("shares");
        shares::table(found, &names).expect("a table")
    });
    assert_eq!(ends[0].traffic, announced.cost());
    ends
}

fn check_shares(a: &Keys, b: &Keys) {
    let [x, y] = share([a, b], Sizes { sender: 1, receiver: 2 }).map(|ended| ended.found);
    let opened: Vec<Vec<i64>> = (0..3)
        .map(|column| {
            let shares = [&x, &y].map(|table| table.column(column).as_primitive::<UInt64Type>().values().to_vec());
            shares[0].iter().zip(&shares[1]).map(|(a, b)| a.wrapping_add(*b) as i64).collect()
        })
        .collect();
    let mut found: Vec<(i64, i64)> = opened[0].iter().copied().zip(opened[1].iter().copied()).collect();
    assert!(opened[1].iter().zip(&opened[2]).all(|(row, square)| row * row == *square));
    found.sort_unstable();
    assert_eq!(found, pairs(a, b));
}

fn keys() -> impl Strategy<Value = Keys> {
    prop::collection::vec(prop::option::weighted(0.8, 0i64..12), 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn ids_are_those_of_the_clear_tables(a in keys(), b in keys(), oprf: bool) {
        check_ids(&a, &b, if oprf { PrivateId::Oprf } else { PrivateId::Ddh });
    }

    #[test]
    fn shares_are_of_the_pairs_of_the_clear_tables(a in keys(), b in keys()) {
        check_shares(&a, &b);
    }
}

fn many(from: i64, to: i64) -> Keys {
    (from..to).map(Some).collect()
}

/// So many rows, of which so many have the keys 0, 1, ... and the others keys of their own, few of them distinct if `crowded`.
fn table(rows: i64, common: i64, own: i64, crowded: bool) -> Keys {
    let others = (common..rows).map(|row| match (crowded, row % 3) {
        (true, 0) => None,
        (true, _) => Some(own),
        (false, _) => Some(own + row),
    });
    (0..common).map(Some).chain(others).collect()
}

/// What is declared is equal in both: rows, and common keys. How often other keys repeat, and which rows have none, is not.
const LOOSE: [(i64, bool); 2] = [(40, false), (40, true)];

#[test]
fn messages_tell_nothing_but_the_size_of_the_union() {
    for method in [PrivateId::Ddh, PrivateId::Oprf] {
        let [plain, crowded] = LOOSE.map(|(common, crowded)| {
            identify([&table(150, common, 1000, crowded), &table(90, common, 5000, crowded)], method)
                .map(|ended| ended.messages)
        });
        assert_eq!(plain, crowded, "{method:?}");
    }
}

#[test]
fn messages_of_sums_and_shares_tell_the_numbers_of_rows_alone() {
    let sums = |a: Keys, b: Keys| {
        both(|session, role| {
            let (mine, theirs) = if role == Role::Sender { (&a, &b) } else { (&b, &a) };
            aggregate(session, role, &binned(mine, 1), [mine.len(), theirs.len()], true).expect("sums");
        })
        .map(|ended| ended.messages)
    };
    let [plain, crowded] =
        LOOSE.map(|(common, crowded)| sums(table(150, common, 1000, crowded), table(90, common / 2, 5000, crowded)));
    assert_eq!(plain, crowded);
    assert_eq!(plain, sums(many(0, 150), many(500, 590)));
    let shared = |a: Keys, b: Keys| share([&a, &b], Sizes { sender: 1, receiver: 1 }).map(|ended| ended.messages);
    let disjoint = shared(many(0, 150), many(500, 590));
    assert_eq!(disjoint, shared(many(0, 150), many(0, 90)));
    assert_eq!(disjoint, shared(table(150, 20, 1000, true), table(90, 20, 1000, true)));
}
