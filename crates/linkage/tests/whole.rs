//! Matches of whole tables that are no joins: sums, universal ids and shares, against the clear tables; and what their
//! messages tell.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use tacit_linkage::aggregate::aggregate;
use tacit_linkage::ids::cost_by_keys;
use tacit_linkage::keyed::Reading;
use tacit_linkage::shares::{self, Announced};
use tacit_linkage::{Bins, IdRows, Ids, KeyColumn, KeyedRows, Layout, Normaliser, Partition};
use tacit_math::Seed;
use tacit_net::{Message, Options, Record, Session, Traffic, memory};
use tacit_psi::blind_join::Rule;
use tacit_psi::relatives::PrivateId;
use tacit_psi::{Role, Sizes};

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

/// Rows with these keys.
fn keyed(keys: &[Keys], columns: usize) -> KeyedRows {
    let rows = keys[0].len();
    let numbers = |power: u32| Arc::new((0..rows as i64).map(|row| row.pow(power)).collect::<Int64Array>()) as ArrayRef;
    let given = keys.iter().map(|keys| Arc::new(keys.iter().copied().collect::<Int64Array>()) as ArrayRef);
    let all: Vec<ArrayRef> = given.chain([numbers(1), numbers(2)]).collect();
    let field = |number| Field::new(format!("c{number}"), DataType::Int64, true);
    let schema = Arc::new(Schema::new((0..all.len()).map(field).collect::<Vec<_>>()));
    let key = |index| vec![KeyColumn { index, normaliser: Normaliser::Exact }];
    let payload = (keys.len()..keys.len() + columns).collect();
    let mut reading = Reading::new(&Seed::from_bytes([3; 16]), (0..keys.len()).map(key).collect(), payload);
    let batch = RecordBatch::try_new(Arc::clone(&schema), all).expect("a batch");
    for from in (0..rows).step_by(7) {
        reading.push(&batch.slice(from, 7.min(rows - from))).expect("a table");
    }
    let (read, counts) = reading.finish(&schema).expect("a table");
    let keyless = (0..rows).filter(|&row| keys.iter().all(|keys| keys[row].is_none())).count();
    assert_eq!((counts.rows as usize, counts.null as usize), (rows, keyless));
    read
}

struct Ended<T> {
    found: T,
    traffic: Traffic,
    messages: Vec<Message>,
}

/// What both parties find, the sender's first, what it costs and what is sent.
fn both<T: Send>(play: impl Fn(&mut Session, Role) -> T + Sync) -> [Ended<T>; 2] {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let [a, b]: [Session; 2] = memory::mesh(&["a", "b"], &options).try_into().expect("two");
    let play = |mut session: Session, role| {
        let found = play(&mut session, role);
        let total = session.meter().snapshot().total;
        let sender = Traffic { rounds: total.rounds, sender: total.bytes_sent, receiver: total.bytes_received };
        let traffic = if role == Role::Sender { sender } else { sender.swapped() };
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

const ALL: Rule = Rule::Collect { drop_sender: false, drop_receiver: false, most: u64::MAX };

fn share(keys: [&[Keys]; 2], columns: Sizes, rule: Rule) -> [Ended<RecordBatch>; 2] {
    let rows = Sizes { sender: keys[0][0].len(), receiver: keys[1][0].len() };
    let announced = Announced { rows, columns, keys: keys[0].len() };
    let names: Vec<String> = (0..columns.sender + columns.receiver).map(|column| column.to_string()).collect();
    let ends = both(|session, role| {
        let (mine, columns) =
            if role == Role::Sender { (keys[0], columns.sender) } else { (keys[1], columns.receiver) };
        let found = shares::share(session, role, &keyed(mine, columns), announced, rule).expect("shares");
        shares::table(found, &names).expect("a table")
    });
    assert_eq!(ends[0].traffic, announced.cost());
    ends
}

fn check_shares(a: &[Keys], b: &[Keys], rule: Rule) {
    let [x, y] = share([a, b], Sizes { sender: 1, receiver: 2 }, rule).map(|ended| ended.found);
    let opened: Vec<Vec<i64>> = (0..3)
        .map(|column| {
            let shares = [&x, &y].map(|table| table.column(column).as_primitive::<UInt64Type>().values().to_vec());
            shares[0].iter().zip(&shares[1]).map(|(a, b)| a.wrapping_add(*b) as i64).collect()
        })
        .collect();
    let mut found: Vec<(i64, i64)> = opened[0].iter().copied().zip(opened[1].iter().copied()).collect();
    assert!(opened[1].iter().zip(&opened[2]).all(|(row, square)| row * row == *square));
    found.sort_unstable();
    match rule {
        Rule::Single => check_single(a, b, &found),
        Rule::Collect { drop_sender, drop_receiver, .. } => {
            let mut wanted: Vec<(i64, i64)> = a.iter().zip(b).flat_map(|(a, b)| pairs(a, b)).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let several = |of: fn(&(i64, i64)) -> i64| {
                let met: Vec<i64> = wanted.iter().map(of).collect();
                move |row: i64| met.iter().filter(|&&other| other == row).count() > 1
            };
            let (of_sender, of_receiver) = (several(|pair| pair.0), several(|pair| pair.1));
            wanted.retain(|&(s, r)| !(drop_sender && of_sender(s) || drop_receiver && of_receiver(r)));
            assert_eq!(found, wanted);
        }
    }
}

/// Pairs of which each row is in one at most, and for which no key of higher priority was passed over.
fn check_single(a: &[Keys], b: &[Keys], found: &[(i64, i64)]) {
    let shared = |s: i64, r: i64| {
        (0..a.len()).find(|&key| a[key][s as usize].is_some() && a[key][s as usize] == b[key][r as usize])
    };
    let of_sender: BTreeMap<i64, i64> = found.iter().copied().collect();
    let of_receiver: BTreeMap<i64, i64> = found.iter().map(|&(s, r)| (r, s)).collect();
    assert!(of_sender.len() == found.len() && of_receiver.len() == found.len());
    assert!(found.iter().all(|&(s, r)| shared(s, r).is_some()));
    for s in 0..a[0].len() as i64 {
        for r in 0..b[0].len() as i64 {
            let Some(key) = shared(s, r) else { continue };
            let no_later =
                |partner: Option<(i64, i64)>| partner.and_then(|(s, r)| shared(s, r)).is_some_and(|by| by <= key);
            let one = of_sender.get(&s).map(|&r| (s, r));
            let other = of_receiver.get(&r).map(|&s| (s, r));
            assert!(no_later(one) || no_later(other), "rows {s} and {r} share key {key} and were passed over");
        }
    }
}

/// What `Ids` by several keys gives: each row an id of its own, those of pairs the same.
fn check_ids_by_keys(a: &[Keys], b: &[Keys]) {
    let rows = Sizes { sender: a[0].len(), receiver: b[0].len() };
    let ends = both(|session, role| {
        let (mine, theirs) = if role == Role::Sender { (a, rows.receiver) } else { (b, rows.sender) };
        let ids = Ids::agree_by_keys(session, role, &keyed(mine, 1), theirs).expect("ids");
        (ids.union(), ids.contaminated(), listed(ids))
    });
    let most = cost_by_keys(a.len(), rows);
    let traffic = ends[0].traffic;
    assert!(traffic.rounds == most.rounds && traffic.sender <= most.sender && traffic.receiver <= most.receiver);
    let [(union, contaminated, x), (also, same, y)] = ends.map(|ended| ended.found);
    assert_eq!((union, contaminated), (also, same));
    assert!(x.1.keys().eq(y.1.keys()) && x.1.len() == union);
    assert!(x.1.values().chain(y.1.values()).all(|rows| rows.len() <= 1));
    let met = x.1.values().zip(y.1.values()).filter_map(|(mine, theirs)| Some((*mine.first()?, *theirs.first()?)));
    let mut met: Vec<(i64, i64)> = met.collect();
    met.sort_unstable();
    assert_eq!(union, rows.sender + rows.receiver - met.len());
    check_single(a, b, &met);
}

fn two_keys() -> impl Strategy<Value = Vec<Keys>> {
    let row = || prop::option::weighted(0.7, 0i64..9);
    prop::collection::vec((row(), row()), 1..16).prop_map(|rows| {
        let (first, second) = rows.into_iter().unzip();
        vec![first, second]
    })
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
        check_shares(&[a], &[b], ALL);
    }

    #[test]
    fn shares_by_two_keys_are_of_the_pairs_of_the_rule(a in two_keys(), b in two_keys(), rule in 0usize..5) {
        let collect = |drop_sender, drop_receiver| Rule::Collect { drop_sender, drop_receiver, most: u64::MAX };
        let rules = [ALL, collect(true, false), collect(false, true), collect(true, true), Rule::Single];
        check_shares(&a, &b, rules[rule]);
    }

    #[test]
    fn ids_by_two_keys_pair_rows_by_the_first_that_they_share(a in two_keys(), b in two_keys()) {
        check_ids_by_keys(&a, &b);
    }
}

fn many(from: i64, to: i64) -> Keys {
    (from..to).map(Some).collect()
}

/// A table of `rows` rows, of which `common` have the keys 0, 1, ... and the others keys of their own, few of them
/// distinct if `crowded`.
fn table(rows: i64, common: i64, own: i64, crowded: bool) -> Keys {
    let others = (common..rows).map(|row| match (crowded, row % 3) {
        (true, 0) => None,
        (true, _) => Some(own),
        (false, _) => Some(own + row),
    });
    (0..common).map(Some).chain(others).collect()
}

/// Two tables with equal numbers of rows and of common keys, which are declared. Other keys repeat in one of them, and
/// other rows have no key.
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
            aggregate(session, role, &binned(mine, 1), [mine.len(), theirs.len()], Some(1)).expect("sums");
        })
        .map(|ended| ended.messages)
    };
    let [plain, crowded] =
        LOOSE.map(|(common, crowded)| sums(table(150, common, 1000, crowded), table(90, common / 2, 5000, crowded)));
    assert_eq!(plain, crowded);
    assert_eq!(plain, sums(many(0, 150), many(500, 590)));
    let one = Sizes { sender: 1, receiver: 1 };
    let shared = |a: Keys, b: Keys| share([&[a], &[b]], one, ALL).map(|ended| ended.messages);
    let disjoint = shared(many(0, 150), many(500, 590));
    assert_eq!(disjoint, shared(many(0, 150), many(0, 90)));
    assert_eq!(disjoint, shared(table(150, 20, 1000, true), table(90, 20, 1000, true)));
}
