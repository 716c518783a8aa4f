//! Two parties' tables matched with the ideal twin of the protocols: every join, in memory and on disk, against a join
//! in clear.

#[path = "../../psi/tests/functionality/clear.rs"]
mod clear;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use clear::Clear;
use proptest::prelude::*;
use tacit_linkage::files::{Files, SEALED};
use tacit_linkage::repetitions::Places;
use tacit_linkage::results::Matches;
use tacit_linkage::{Bins, Join, KeyColumn, Layout, MatchError, Normaliser, Partition, Progress, Results, Rows, Run};
use tacit_math::Seed;
use tacit_net::{Message, Options, PartyId, Record, Session, memory};
use tacit_psi::alignment::{Learns, intersect};
use tacit_psi::vole_psi::{Variant, VolePsi};
use tacit_psi::{Protocol, Role, Sizes};
use tacit_sealed::{Folder, SealingKey};

/// A row: a key of two columns, each perhaps NULL. Its payload is its number.
type Key = (Option<String>, Option<i64>);

fn schema() -> SchemaRef {
    let field = |name, kind| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        field("name", DataType::Utf8),
        field("year", DataType::Int64),
        field("row", DataType::Int64),
    ]))
}

fn batches(keys: &[Key]) -> Vec<RecordBatch> {
    let numbered: Vec<(usize, &Key)> = keys.iter().enumerate().collect();
    let batch = |rows: &[(usize, &Key)]| {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|(_, key)| key.0.clone()).collect::<StringArray>()),
            Arc::new(rows.iter().map(|(_, key)| key.1).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|&(row, _)| Some(row as i64)).collect::<Int64Array>()),
        ];
        RecordBatch::try_new(schema(), columns).expect("a batch")
    };
    numbered.chunks(7).map(batch).collect()
}

const SEED: [u8; 16] = [3; 16];

fn columns(name: Normaliser) -> Vec<KeyColumn> {
    vec![KeyColumn { index: 0, normaliser: name }, KeyColumn { index: 1, normaliser: Normaliser::Exact }]
}

fn partition(keys: &[Key], bins: usize, folder: Option<PathBuf>) -> Bins {
    binned(keys, bins, folder, Normaliser::Name, vec![2])
}

/// The files of a run in a folder.
fn sealed(folder: PathBuf) -> Arc<Folder> {
    Arc::new(Folder::new(folder, &SEALED, SealingKey::new([5; 32]), "run".to_owned()))
}

fn kept(bins: usize, folder: &Path) -> Results {
    Results::new(bins, Some(sealed(folder.to_owned())))
}

fn binned(keys: &[Key], bins: usize, folder: Option<PathBuf>, name: Normaliser, payload: Vec<usize>) -> Bins {
    let folder = folder.map(sealed);
    let layout = Layout { bins, folder, flush_bytes: 2000, keep_keyless: true };
    let mut partition = Partition::new(&Seed::from_bytes(SEED), columns(name), payload, layout);
    batches(keys).iter().for_each(|batch| partition.push(batch).expect("a table"));
    let (bins, counts) = partition.finish(schema()).expect("a table");
    assert_eq!(counts.rows as usize, keys.len());
    assert_eq!(counts.null as usize, keys.iter().filter(|key| key.0.is_none() || key.1.is_none()).count());
    bins
}

/// What `binned` has left in a folder.
fn reopened(folder: PathBuf, bins: usize, payload: Vec<usize>) -> Bins {
    let normaliser = if payload.len() == 1 { Normaliser::Name } else { Normaliser::Exact };
    let files = Files::new(sealed(folder), &Seed::from_bytes(SEED), &columns(normaliser), &payload);
    Bins::open(files, bins, schema()).expect("a folder")
}

/// One party's output: the numbers of its rows, None where the row is the other party's.
fn output(bins: &Arc<Bins>, results: &Arc<Results>, join: Join, first: bool, peer_rows: usize) -> Vec<Option<i64>> {
    let rows = Rows::new(Arc::clone(bins), Arc::clone(results), join, first, peer_rows as u64).expect("results");
    rows.flat_map(|batch| {
        let batch = batch.expect("a batch");
        batch.column(0).as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
    })
    .collect()
}

/// More joint rows than any test has.
const PLENTY: u64 = 1 << 20;

struct Matched {
    bins: Arc<Bins>,
    results: Arc<Results>,
    messages: Vec<Message>,
}

fn play(session: Session, run: &Run, bins: Bins, folder: Option<PathBuf>) -> Matched {
    let results = Results::new(bins.count(), folder.map(sealed));
    let transcript = session.transcript().expect("recorded");
    let mut sessions = [session];
    run.execute(&Clear, &mut sessions, &bins, &results, &Progress::default()).expect("honest parties");
    sessions.into_iter().for_each(|session| session.close().expect("an honest peer"));
    Matched { bins: Arc::new(bins), results: Arc::new(results), messages: transcript.messages() }
}

/// Both parties' ends after a run. The first party is the receiver.
fn matched(keys: [&[Key]; 2], bins: usize, learns: Learns, folders: Option<&Path>) -> [Matched; 2] {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let mut sessions = memory::mesh(&["a", "b"], &options).into_iter();
    let mut party = |me: usize| {
        let session = sessions.next().expect("two");
        let role = [Role::Receiver, Role::Sender][me];
        let rows = [keys[me].len(), keys[1 - me].len()];
        let run = Run { role, learns, rows, todo: (0..bins).collect(), joint_rows: PLENTY };
        let folder = folders.map(|folder| folder.join(format!("{me}")));
        folder.iter().for_each(|folder| std::fs::create_dir_all(folder).expect("a folder"));
        (session, run, partition(keys[me], bins, folder.clone()), folder)
    };
    let (a, b) = (party(0), party(1));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| play(b.0, &b.1, b.2, b.3));
        [play(a.0, &a.1, a.2, a.3), other.join().expect("no panic")]
    })
}

/// The pairs of rows (numbers) that the join has, in no particular order.
fn expected(a: &[Key], b: &[Key], join: Join) -> Vec<(Option<i64>, Option<i64>)> {
    let equal = |x: &Key, y: &Key| x.0.is_some() && x.1.is_some() && x == y;
    let mut pairs = Vec::new();
    for (i, x) in a.iter().enumerate() {
        let found = b.iter().enumerate().filter(|(_, y)| equal(x, y)).map(|(j, _)| (Some(i as i64), Some(j as i64)));
        let before = pairs.len();
        pairs.extend(found);
        if pairs.len() == before && matches!(join, Join::Left | Join::Full) {
            pairs.push((Some(i as i64), None));
        }
    }
    if matches!(join, Join::Right | Join::Full) {
        let lonely = b.iter().enumerate().filter(|(_, y)| !a.iter().any(|x| equal(x, y)));
        pairs.extend(lonely.map(|(j, _)| (None, Some(j as i64))));
    }
    pairs
}

fn check_joins(a: &[Key], b: &[Key], bins: usize, folders: Option<&Path>) {
    let [left, right] = matched([a, b], bins, Learns::Both, folders);
    for join in [Join::Inner, Join::Left, Join::Right, Join::Full] {
        let mine = output(&left.bins, &left.results, join, true, b.len());
        let theirs = output(&right.bins, &right.results, join, false, a.len());
        assert_eq!(mine.len(), theirs.len(), "{join:?}: aligned row for row");
        let mut pairs: Vec<_> = mine.into_iter().zip(theirs).collect();
        let mut wanted = expected(a, b, join);
        pairs.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(pairs, wanted, "{join:?}");
    }
    let in_full = expected(a, b, Join::Full);
    let mut lonely: Vec<_> = in_full.iter().filter(|pair| pair.1.is_none()).map(|pair| pair.0).collect();
    lonely.sort_unstable();
    let mut anti = output(&left.bins, &left.results, Join::Anti, true, b.len());
    anti.sort_unstable();
    assert_eq!(anti, lonely);
}

fn key() -> impl Strategy<Value = Key> {
    let name = prop::option::weighted(0.9, prop::sample::select(vec!["ann", "bob", "cy", ""]).prop_map(str::to_owned));
    (name, prop::option::weighted(0.9, 1990i64..1993))
}

fn table(most: usize) -> impl Strategy<Value = Vec<Key>> {
    prop::collection::vec(key(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn every_join_is_that_of_the_clear_tables(a in table(40), b in table(40), bins in 1usize..6) {
        check_joins(&a, &b, bins, None);
    }

    #[test]
    fn on_disk_as_in_memory(a in table(60), b in table(60), bins in 1usize..6) {
        let folder = tempfile::tempdir().expect("a folder");
        check_joins(&a, &b, bins, Some(folder.path()));
    }
}

fn many(from: i64, to: i64) -> Vec<Key> {
    (from..to).map(|number| (Some(format!("n{number}")), Some(number))).collect()
}

#[test]
fn only_the_receiver_learns_when_only_it_is_to_learn() {
    let (a, b) = (many(0, 300), many(200, 600));
    let [receiver, sender] = matched([&a, &b], 4, Learns::Receiver, None);
    let mut found = output(&receiver.bins, &receiver.results, Join::Inner, true, b.len());
    found.sort_unstable();
    assert_eq!(found, (200..300).map(Some).collect::<Vec<_>>());
    assert!((0..4).all(|bin| sender.results.get(bin).expect("a result").rows.is_empty()));
}

#[test]
fn messages_are_equally_long_for_all_tables_of_equal_size() {
    let sizes = |a: &[Key], b: &[Key]| matched([a, b], 5, Learns::Both, None).map(|party| party.messages);
    let disjoint = sizes(&many(0, 500), &many(500, 1200));
    let equal = sizes(&many(0, 500), &many(0, 700));
    assert_eq!(disjoint, equal);
}

/// How often keys repeat, and which of them match, shows in no message's length.
#[test]
fn messages_are_equally_long_whatever_repeats() {
    // Rows of keys that stand in as many rows as `often` says, then other rows up to 600: all alike, all different, or
    // without a key.
    let table = |often: &[usize], own: i64, other: fn(i64) -> Option<i64>| -> Vec<Key> {
        let keys = (0i64..).zip(often).flat_map(|(key, &times)| std::iter::repeat_n(Some(key), times));
        let others = (0..).map(|row| other(row).map(|key| own + key));
        keys.chain(others).take(600).map(|year| (Some("n".to_owned()), year)).collect()
    };
    let messages = |often: [&[usize]; 2], other| {
        let (a, b) = (table(often[0], 1000, other), table(often[1], 5000, other));
        matched([&a, &b], 3, Learns::Both, None).map(|party| party.messages)
    };
    let expected = messages([&[], &[]], Some);
    for often in [[&[1, 1, 1, 1][..], &[1, 1, 1, 1][..]], [&[2, 1, 3, 1], &[1, 1, 1, 4]], [&[254, 255], &[1, 300]]] {
        for other in [Some, |_| Some(0), |row| (row % 2 == 0).then_some(row)] {
            assert_eq!(messages(often, other), expected, "{often:?}");
        }
    }
}

/// A sender that has the one key in common, and says what it likes of the number of its rows. What the honest receiver
/// of 40 rows makes of it.
fn told_of_repetitions(told: impl FnOnce(usize) -> Vec<u8> + Send, joint_rows: u64) -> Result<usize, MatchError> {
    let (a, b) = (many(0, 40), many(39, 339));
    let mut sessions = memory::mesh(&["a", "b"], &Options::default()).into_iter();
    let (honest, mut cheat) = (sessions.next().expect("two"), sessions.next().expect("two"));
    let sizes = Sizes { sender: 300, receiver: 40 };
    let room = tacit_linkage::repetitions::Places::new(40, 300, 1).bytes();
    let run = Run { role: Role::Receiver, learns: Learns::Both, rows: [40, 300], todo: vec![0], joint_rows };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pair = Clear.setup(Role::Sender, &mut cheat, PartyId(0)).expect("a session");
            let items = partition(&b, 1, None).tokens(0).expect("a bin");
            intersect(pair.as_mut(), Learns::Both, &mut cheat, PartyId(0), &items, sizes).expect("an honest peer");
            cheat.next_round();
            cheat.send(PartyId(0), told(room)).expect("a session");
            let _ = cheat.recv(PartyId(0), &mut [0; 40]);
            let _ = cheat.close();
        });
        let (bins, results) = (partition(&a, 1, None), Results::new(1, None));
        run.execute(&Clear, &mut [honest], &bins, &results, &Progress::default())?;
        Ok(results.get(0)?.rows.len())
    })
}

/// What a party says of one key: a byte, and four bytes for what a byte does not hold.
fn says(count: u32) -> impl FnOnce(usize) -> Vec<u8> {
    move |room| {
        let mut message = vec![0; room];
        message[0] = count.min(255) as u8;
        if count >= 255 {
            message[40..44].copy_from_slice(&count.to_le_bytes());
        }
        message
    }
}

#[test]
fn a_peers_counts_are_believed_as_far_as_its_rows_go() {
    assert_eq!(told_of_repetitions(says(300), PLENTY).expect("as many as it has announced"), 300);
    for count in [301, 1 << 26, u32::MAX] {
        let error = told_of_repetitions(says(count), u64::MAX).expect_err("more than it has announced");
        assert!(error.to_string().contains("more rows than it has announced"), "{error}");
        assert!(error.to_string().starts_with("b sent something"), "{error}");
    }
}

#[test]
fn what_is_no_count_is_refused() {
    for (place, byte) in [(0, 0), (1, 1), (40, 254), (0, 254)] {
        let told = move |room| {
            let mut message = says(255)(room);
            message[place] = byte;
            if place == 40 {
                message[41] = 0;
            }
            message
        };
        let error = told_of_repetitions(told, PLENTY).expect_err("no count").to_string();
        assert!(error.contains("no number of rows for each"), "{error}");
    }
}

#[test]
fn more_joint_rows_than_memory_holds_are_refused_before_there_is_memory_for_them() {
    assert_eq!(told_of_repetitions(says(300), 300).expect("they fit"), 300);
    let error = told_of_repetitions(says(300), 299).expect_err("too many");
    assert!(matches!(error, MatchError::JointRows { rows: 300, most: 299 }), "{error}");
    // Of several bins in memory together.
    let (a, b) = (vec![(Some("x".to_owned()), Some(1)); 30], vec![(Some("x".to_owned()), Some(1)); 30]);
    let sessions = memory::mesh(&["a", "b"], &Options::default());
    let ends = std::thread::scope(|scope| {
        let play = |(me, session): (usize, Session)| {
            let keys = [&a, &b][me];
            let role = [Role::Receiver, Role::Sender][me];
            scope.spawn(move || {
                let run = Run { role, learns: Learns::Both, rows: [30, 30], todo: vec![0, 1], joint_rows: 899 };
                let results = Results::new(2, None);
                run.execute(&Clear, &mut [session], &partition(keys, 2, None), &results, &Progress::default())
            })
        };
        let running: Vec<_> = sessions.into_iter().enumerate().map(play).collect();
        running.into_iter().map(|party| party.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(ends.iter().any(|end| matches!(end, Err(MatchError::JointRows { rows: 900, most: 899 }))), "{ends:?}");
}

#[test]
fn a_bin_is_confirmed_when_the_peer_goes_on_or_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (many(0, 200), many(100, 300));
    matched([&a, &b], 3, Learns::Both, Some(folder.path()));
    for party in ["0", "1"] {
        let results = kept(3, &folder.path().join(party));
        assert_eq!(results.confirmed().expect("results"), [true, true, false], "the last one is nobody's word yet");
        results.confirm(&[false, false, true]).expect("a folder");
        assert_eq!(kept(3, &folder.path().join(party)).confirmed().expect("results"), [true; 3]);
    }
}

/// A receiver that takes what a bin tells and breaks off before the sender has its result, as often as it likes.
#[test]
fn a_bin_that_a_peer_breaks_off_is_known_to_have_been_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("1");
    std::fs::create_dir(&own).expect("a folder");
    let keys = many(0, 100);
    drop(partition(&keys, 2, Some(own.clone())));
    for times in 1..=3 {
        let mut sessions = memory::mesh(&["a", "b"], &Options::default()).into_iter();
        let (mut cheat, honest) = (sessions.next().expect("two"), sessions.next().expect("two"));
        let run =
            Run { role: Role::Sender, learns: Learns::Both, rows: [100, 100], todo: vec![0, 1], joint_rows: PLENTY };
        let found = std::thread::scope(|scope| {
            let cheats = scope.spawn(move || {
                cheat.enter("setup");
                let mut pair = Clear.setup(Role::Receiver, &mut cheat, PartyId(1)).expect("setup");
                cheat.leave();
                cheat.enter("bins");
                let size = tacit_psi::binning::capacity(100, 2);
                let items: Vec<u128> = (0..size as u128).collect();
                let found = pair.online(&mut cheat, &items, Sizes { sender: size, receiver: size });
                cheat.abort("it has what it wants");
                found.is_ok()
            });
            let bins = reopened(own.clone(), 2, vec![2]);
            let ended = run.execute(&Clear, &mut [honest], &bins, &kept(2, &own), &Progress::default());
            assert!(ended.is_err(), "the peer broke off");
            cheats.join().expect("no panic")
        });
        assert!(found, "it has the bin's outcome");
        let results = kept(2, &own);
        assert_eq!((results.done(), results.begun().expect("a folder")), (vec![false; 2], vec![times, 0]));
    }
}

#[test]
fn files_are_private_and_results_are_resumed_from() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (many(0, 200), many(100, 300));
    let first = matched([&a, &b], 3, Learns::Both, Some(folder.path()));
    let own = folder.path().join("0");
    for file in std::fs::read_dir(&own).expect("a folder") {
        let mode = file.expect("a file").metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    std::fs::remove_file(own.join("1.matches")).expect("a result");
    let again = kept(3, &own);
    assert_eq!(again.done(), [true, false, true]);
    let reopened = reopened(own, 3, vec![2]);
    assert_eq!((0..4).map(|bin| reopened.rows(bin)).sum::<usize>(), 200);
    assert_eq!(reopened.tokens(0).expect("a bin"), first[0].bins.tokens(0).expect("a bin"));
}

#[test]
fn a_bin_that_overflows_ends_the_run_before_anything_is_sent() {
    let a = many(0, 300);
    let bins = partition(&a, 3, None);
    // As if the party had announced fewer rows than it has.
    let run =
        Run { role: Role::Sender, learns: Learns::Both, rows: [30, 300], todo: (0..3).collect(), joint_rows: PLENTY };
    let mut sessions = memory::mesh(&["a", "b"], &Options::default());
    sessions.truncate(1);
    let results = Results::new(3, None);
    let error = run.execute(&Clear, &mut sessions, &bins, &results, &Progress::default()).expect_err("too many");
    assert!(error.to_string().contains("nothing was revealed"), "{error}");
    assert_eq!(sessions[0].meter().snapshot().total.bytes_sent, 0);
}

#[test]
fn tokens_are_kept_only_where_the_rows_do_not_hold_the_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let (keys, payload) = (many(0, 200), vec![2, 1, 0]);
    let on_disk = binned(&keys, 3, Some(folder.path().to_owned()), Normaliser::Exact, payload.clone());
    let in_memory = binned(&keys, 3, None, Normaliser::Exact, payload.clone());
    assert!(!folder.path().join("0.tokens").exists());
    let reopened = reopened(folder.path().to_owned(), 3, payload);
    assert_eq!(reopened.schema(), on_disk.schema());
    for bin in 0..3 {
        let tokens = in_memory.tokens(bin).expect("a bin");
        assert_eq!(on_disk.tokens(bin).expect("a bin"), tokens);
        assert_eq!(reopened.tokens(bin).expect("a bin"), tokens);
    }
}

/// Cut exactly between two pieces a file is still one of whole pieces, and without any it is no file: its rows are
/// missed.
#[test]
fn files_cut_between_pieces_and_lost_files_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    binned(&many(0, 200), 2, Some(path.clone()), Normaliser::Name, vec![2]);
    for ending in ["rows", "tokens"] {
        let file = path.join(format!("1.{ending}"));
        let whole = std::fs::read(&file).expect("a file");
        // Where each piece ends: its length is sealed, so that all places are tried.
        let mut missed = 0;
        for kept in 0..whole.len() {
            std::fs::write(&file, &whole[..kept]).expect("a folder");
            let bins = reopened(path.clone(), 2, vec![2]);
            let read = [bins.load(1).map(drop), bins.tokens(1).map(drop)];
            let [of_rows, of_tokens] = read.map(|read| matches!(read, Err(MatchError::Damaged { .. })));
            assert_eq!((of_rows, of_tokens), (ending == "rows", ending == "tokens"), "{kept} bytes of {ending}");
            missed += 1;
        }
        assert_eq!(missed, whole.len());
        std::fs::remove_file(&file).expect("a folder");
        let bins = reopened(path.clone(), 2, vec![2]);
        assert!(bins.load(1).map(drop).and(bins.tokens(1).map(drop)).is_err());
        assert!(bins.load(0).is_ok() && bins.tokens(0).is_ok(), "the other bin is whole");
        std::fs::write(&file, &whole).expect("a folder");
    }
    std::fs::remove_file(path.join("counts")).expect("a folder");
    let files = Files::new(sealed(path), &Seed::from_bytes(SEED), &columns(Normaliser::Name), &[2]);
    assert!(matches!(Bins::open(files, 2, schema()), Err(MatchError::Damaged { .. })));
}

/// A file in another one's place, of the same folder or of another run under the same key, is refused; so is another
/// key.
#[test]
fn swapped_files_and_other_keys_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    binned(&many(0, 200), 2, Some(path.clone()), Normaliser::Name, vec![2]);
    let read = |run: &str, key| {
        let folder = Arc::new(Folder::new(path.clone(), &SEALED, SealingKey::new([key; 32]), run.to_owned()));
        let files = Files::new(folder, &Seed::from_bytes(SEED), &columns(Normaliser::Name), &[2]);
        Bins::open(files, 2, schema()).and_then(|bins| bins.tokens(0).map(|tokens| tokens.len()))
    };
    assert!(read("run", 5).expect("its own files") > 0);
    assert!(matches!(read("another run", 5), Err(MatchError::Damaged { .. })));
    assert!(matches!(read("run", 6), Err(MatchError::OtherKey { .. })));
    let [zero, one] = ["0.tokens", "1.tokens"].map(|name| path.join(name));
    std::fs::rename(&one, &zero).expect("a folder");
    let error = read("run", 5).expect_err("a swapped file").to_string();
    assert!(error.contains("0.tokens: is damaged; remove the folder that it is in"), "{error}");
}

/// Whoever reads the folder sees lengths, and neither tokens nor what rows hold.
#[test]
fn no_token_and_no_payload_is_in_clear_on_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys: Vec<Key> = (0..200).map(|row| (Some(format!("somebody-{row:04}")), Some(row))).collect();
    for (name, payload) in [(Normaliser::Name, vec![2]), (Normaliser::Exact, vec![0, 1, 2])] {
        let path = folder.path().join(format!("{name:?}"));
        std::fs::create_dir(&path).expect("a folder");
        let bins = binned(&keys, 2, Some(path.clone()), name, payload);
        kept(2, &path).put(0, Matches { rows: (0..90).collect(), ..Matches::default() }).expect("a folder");
        let tokens = [bins.tokens(0).expect("a bin"), bins.tokens(1).expect("a bin")].concat();
        let (mut found, mut bytes) = (0, 0);
        for file in std::fs::read_dir(&path).expect("a folder") {
            let content = std::fs::read(file.expect("a file").path()).expect("a file");
            bytes += content.len();
            let holds = |needle: &[u8]| content.windows(needle.len()).any(|window| window == needle);
            found += tokens.iter().filter(|token| holds(&token.to_le_bytes())).count();
            found += usize::from(holds(b"somebody-")) + usize::from(holds(b"ARROW")) + usize::from(holds(b"year"));
            let three: Vec<u8> = [5u32, 6, 7].iter().flat_map(|row| row.to_le_bytes()).collect();
            found += usize::from(holds(&three));
        }
        assert_eq!((found, bytes > 4000), (0, true));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// Whatever a disk does to a file: what is read is what was written, or an error.
    #[test]
    fn damaged_files_are_noticed(
        keys in table(60),
        whole: bool,
        file: prop::sample::Index,
        place: prop::sample::Index,
        change in 1u8..,
        cut in 0usize..3,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (normaliser, payload) = match whole {
            true => (Normaliser::Exact, vec![0, 1, 2]),
            false => (Normaliser::Name, vec![2]),
        };
        binned(&keys, 2, Some(folder.path().to_owned()), normaliser, payload.clone());
        let results = kept(2, folder.path());
        let found = |rows| Matches { keys: 1, peer_rows: 2, rows, before: Some(1) };
        results.put(0, found(vec![0, 1])).expect("a folder");
        results.put(1, found(Vec::new())).expect("a folder");
        let read = |bins: &Bins| {
            let bin = |bin| {
                let rows = bins.load(bin)?;
                let all: Vec<u32> = (0..rows.rows() as u32).collect();
                let all = if all.is_empty() { String::new() } else { format!("{:?}", rows.take(&all)?) };
                Ok::<_, MatchError>((bins.rows(bin), bins.tokens(bin)?, all))
            };
            [bin(0), bin(1), bin(2)]
        };
        let before = read(&reopened(folder.path().to_owned(), 2, payload.clone()));
        let mut files: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("a file").path()).collect();
        files.sort();
        let path = file.get(&files);
        let mut bytes = std::fs::read(path).expect("a file");
        let at = place.index(bytes.len());
        match cut {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, change),
            _ => bytes[at] ^= change,
        }
        std::fs::write(path, &bytes).expect("a file");
        let files = Files::new(sealed(folder.path().to_owned()), &Seed::from_bytes(SEED), &columns(Normaliser::Exact), &payload);
        if let Ok(bins) = Bins::open(files, 2, schema()) {
            for (before, after) in before.iter().zip(read(&bins)) {
                if let (Ok(before), Ok(after)) = (before, after) {
                    prop_assert_eq!(before, &after);
                }
            }
        }
        for (bin, before) in [found(vec![0, 1]), found(Vec::new())].into_iter().enumerate() {
            if let Ok(after) = results.get(bin) {
                prop_assert_eq!(after, before);
            }
        }
    }
}

/// A receiver that announces as many rows as the sender has, asks about keys that nobody has, and says that every key
/// of the sender's matches.
#[test]
fn matches_that_a_receiver_makes_up_tell_it_of_no_key_how_often_it_repeats() {
    let repeats = [1usize, 1, 5, 9, 17, 3];
    let keys =
        (0i64..).zip(repeats).flat_map(|(key, often)| std::iter::repeat_n((Some("n".to_owned()), Some(key)), often));
    let keys: Vec<Key> = keys.collect();
    let rows = keys.len();
    let protocol = VolePsi { variant: Variant::Malicious, bins: 1 };
    let mut sessions = memory::mesh(&["a", "b"], &Options::default()).into_iter();
    let (mut cheat, honest) = (sessions.next().expect("two"), sessions.next().expect("two"));
    let run = Run { role: Role::Sender, learns: Learns::Both, rows: [rows, rows], todo: vec![0], joint_rows: PLENTY };
    let room = Places::new(rows, rows, 1).bytes();
    let (told, ended) = std::thread::scope(|scope| {
        let cheats = scope.spawn(move || {
            let peer = PartyId(1);
            cheat.enter("setup");
            let mut pair = protocol.setup(Role::Receiver, &mut cheat, peer).expect("setup");
            cheat.leave();
            cheat.enter("bins");
            let nobodys: Vec<u128> = (0..rows as u128).map(|number| number << 8 | 3).collect();
            pair.online(&mut cheat, &nobodys, Sizes { sender: rows, receiver: rows }).expect("an outcome");
            let mut bits = vec![0u8; rows.div_ceil(8)];
            (0..rows).for_each(|position| bits[position / 8] |= 1 << (position % 8));
            let mut counts = vec![0u8; room];
            cheat.next_round();
            cheat.send(peer, [bits, vec![7; 32]].concat())?;
            cheat.next_round();
            cheat.send(peer, vec![1u8; room])?;
            cheat.recv(peer, &mut counts).map(|_| counts)
        });
        let mut sessions = [honest];
        let bins = partition(&keys, 1, None);
        let ended = run.execute(&protocol, &mut sessions, &bins, &Results::new(1, None), &Progress::default());
        sessions.into_iter().for_each(|session| session.abort("it cheats"));
        (cheats.join().expect("no panic"), ended)
    });
    assert!(told.is_err(), "it learns how often keys repeat: {told:?}");
    let error = ended.expect_err("a match that is not proved").to_string();
    assert!(error.contains("it reports a match that it does not prove"), "{error}");
}
