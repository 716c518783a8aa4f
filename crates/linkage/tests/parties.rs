//! The steps that the parties of a match take together.

use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use tacit_linkage::messages::{Announcement, Kind, Misbehaviour, Numbers, Point, tell};
use tacit_linkage::plan::Chosen;
use tacit_linkage::{
    Bins, KeyColumn, KeyedRows, Layout, MatchError, MatchPlan, Normaliser, Parties, Partition, Progress, Results,
    Unapproved,
};
use tacit_math::Seed;
use tacit_net::{Fault, Options, PartyId, Session, memory};
use tacit_psi::Role;

/// A plan of parties, all of which learn what it reveals.
fn plan(parties: &[&str], reveals: &str) -> MatchPlan {
    let text = format!(
        r#"{{"parties":{parties:?},"to":{parties:?},"tables":[],"keys":[[{{"normaliser":"exact","kind":null}}]],"reveals":{reveals},
            "prices":null,"link":null}}"#
    );
    MatchPlan::from_json(&text).expect("a plan")
}

/// Of the numbers of two tables. to: who learns them, among a and b.
fn numbers(summed: bool, least: u64, to: &[&str]) -> MatchPlan {
    let summed = if summed { r#"["a","n"]"# } else { "null" };
    let plan = plan(&["a", "b"], &format!(r#"{{"numbers":{{"summed":{summed},"least":{least}}}}}"#));
    MatchPlan { to: to.iter().map(|&party| party.to_owned()).collect(), ..plan }
}

const ROWS: &str = r#"{"rows":{"join":"inner","protocol":"auto","bins":null,"plugin":null}}"#;

/// Parties with one session each, under a plan of rows.
fn parties(names: &[&str]) -> Vec<Parties> {
    under(&plan(names, if names.len() == 2 { ROWS } else { "\"common\"" }), names)
}

fn under(plan: &MatchPlan, names: &[&str]) -> Vec<Parties> {
    memory::mesh(names, &Options::default()).into_iter().map(|session| with(plan, session)).collect()
}

fn with(plan: &MatchPlan, session: Session) -> Parties {
    let session = Mutex::new(Some(session));
    let connect = move |worker: usize| {
        session.lock().expect("no panic").take().ok_or_else(|| MatchError::Socket(format!("for worker {worker}")))
    };
    Parties::connect(plan.clone(), connect).expect("a session")
}

fn announcement(rows: u64) -> Announcement {
    Announcement { rows, memory: 1 << 20, workers: 1, kinds: vec![Kind::Number], columns: vec![], resume: None }
}

/// Both parties at once, under a plan of rows.
fn both<A: Send, B: Send>(
    first: impl FnOnce(&mut Parties) -> A + Send,
    second: impl FnOnce(&mut Parties) -> B + Send,
) -> (A, B) {
    both_under(&plan(&["a", "b"], ROWS), first, second)
}

fn both_under<A: Send, B: Send>(
    plan: &MatchPlan,
    first: impl FnOnce(&mut Parties) -> A + Send,
    second: impl FnOnce(&mut Parties) -> B + Send,
) -> (A, B) {
    let [mut a, mut b] = <[Parties; 2]>::try_from(under(plan, &["a", "b"])).ok().expect("two");
    thread::scope(|scope| {
        let second = scope.spawn(move || {
            let outcome = second(&mut b);
            (outcome, b)
        });
        let first = first(&mut a);
        let (second, b) = second.join().expect("no panic");
        drop((a, b));
        (first, second)
    })
}

/// The table of keys and values, in one bin.
fn binned(key: &Seed, rows: &[(i64, i64)]) -> Bins {
    let column = |of: fn(&(i64, i64)) -> i64| Arc::new(rows.iter().map(of).collect::<Int64Array>()) as ArrayRef;
    let schema = Arc::new(Schema::new(["key", "value"].map(|name| Field::new(name, DataType::Int64, true)).to_vec()));
    let columns = vec![KeyColumn { index: 0, normaliser: Normaliser::Exact }];
    let layout = Layout { bins: 1, folder: None, flush_bytes: 1 << 20, keep_keyless: false };
    let mut partition = Partition::new(key, columns, vec![1], layout);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column(|row| row.0), column(|row| row.1)]);
    partition.push(&batch.expect("a batch")).expect("a table");
    partition.finish(schema).expect("a table").0
}

#[test]
fn all_hear_what_all_announce_and_have_one_key_and_one_name() {
    let party = |rows| {
        move |parties: &mut Parties| {
            let told: Vec<u64> = parties.announce(announcement(rows))?.iter().map(|told| told.rows).collect();
            let (key, run) = parties.agree()?;
            parties.wait_at(Point::Ready)?;
            parties.wait_at(Point::Done)?;
            let rows = parties.rows()?;
            parties.close()?;
            Ok::<_, MatchError>((told, *key.expose(), run, rows, parties.ended()))
        }
    };
    let (first, second) = both(party(3), party(5));
    let ((told, key, run, rows, ended), second) = (first.expect("peers"), second.expect("peers"));
    assert_eq!((&told[..], rows, ended), (&[3, 5][..], [3, 5], true));
    assert_eq!(second, (vec![3, 5], key, run, [5, 3], true));
}

#[test]
fn sums_are_told_to_the_other_party_where_both_are_to_learn_them() {
    for (tells, least) in [(true, Some(2)), (true, Some(3)), (false, Some(2)), (false, None)] {
        let to: &[&str] = if tells { &["a", "b"] } else { &["b"] };
        let plan = numbers(least.is_some(), least.unwrap_or(1), to);
        let party = |role, rows: &'static [(i64, i64)]| {
            move |parties: &mut Parties| {
                parties.announce(announcement(rows.len() as u64)).expect("a peer");
                let key = parties.agree().expect("a peer").0;
                parties.aggregate(role, &binned(&key, rows)).expect("a peer")
            }
        };
        let sender = party(Role::Sender, &[(1, 10), (2, -30), (9, 1000)]);
        let receiver = party(Role::Receiver, &[(1, 0), (2, 0), (3, 0), (4, 0)]);
        let (sender, receiver) = both_under(&plan, sender, receiver);
        let found = Some(Numbers { keys: 2, sum: (least == Some(2)).then_some(-20) });
        assert_eq!((sender, receiver), (if tells { found } else { None }, found));
    }
}

#[test]
fn numbers_that_no_tables_have_are_the_peers_fault() {
    let rows = &[(1, 10), (2, 20)];
    let honest = move |parties: &mut Parties| {
        parties.announce(announcement(2))?;
        let key = parties.agree()?.0;
        parties.aggregate(Role::Sender, &binned(&key, rows))
    };
    let deviating = move |parties: &mut Parties| {
        parties.announce(announcement(2))?;
        let key = parties.agree()?.0;
        let bins = binned(&key, rows);
        let sizes = parties.rows()?;
        tacit_linkage::aggregate::aggregate(parties.first()?, Role::Receiver, &bins, sizes, Some(1))?;
        tell(parties.first()?, PartyId(0), &Numbers { keys: 3, sum: Some(1) })
    };
    let (heard, _) = both_under(&numbers(true, 1, &["a", "b"]), honest, deviating);
    let error = heard.expect_err("three keys of two rows");
    assert_eq!(error.fault(), Fault::Misbehaved);
    assert!(matches!(error, MatchError::Misbehaved { what: Misbehaviour::Numbers, ref peer, .. } if peer == "b"));
}

#[test]
fn a_party_that_is_elsewhere_is_named() {
    let at = |point| move |parties: &mut Parties| parties.wait_at(point);
    let (early, late) = both(at(Point::Done), at(Point::Ready));
    for (error, peer) in [(early, "b"), (late, "a")] {
        let error = error.expect_err("two points");
        assert_eq!((error.fault(), error.place()[0]), (Fault::Misbehaved, Some(peer)));
    }
    let (waits, ()) = both(at(Point::Done), Parties::refuse);
    assert!(matches!(waits, Err(MatchError::Refused { ref peer }) if peer == "b"));
    assert_eq!(waits.map_err(|error| error.fault()), Err(Fault::Gone));
}

#[test]
fn kinds_of_other_columns_and_own_announcements_that_cannot_be_are_refused() {
    let more = Announcement { kinds: vec![Kind::Number, Kind::Text], ..announcement(1) };
    let announce = |told: Announcement| move |parties: &mut Parties| parties.announce(told).map(drop);
    let (heard, _) = both(announce(announcement(1)), announce(more));
    assert!(matches!(heard, Err(MatchError::Misbehaved { what: Misbehaviour::Kinds, .. })));
    let mut parties = parties(&["a"]);
    let own = parties[0].announce(Announcement { workers: 0, ..announcement(1) }).map(drop);
    assert!(matches!(own, Err(MatchError::Announced(Misbehaviour::Workers))));
}

#[test]
fn nothing_is_matched_before_it_is_announced_and_nothing_after_the_end() {
    let mut parties = parties(&["a"]);
    let only = &mut parties[0];
    assert!(matches!(only.rows(), Err(MatchError::Unannounced)));
    only.close().expect("nobody else");
    assert!(matches!(only.agree(), Err(MatchError::Ended)));
}

#[test]
fn nothing_is_run_that_is_not_approved() {
    let of = |plan: &MatchPlan, work: fn(&mut Parties, &Bins) -> Option<MatchError>| {
        let attempt = move |parties: &mut Parties| {
            parties.announce(announcement(1)).expect("a peer");
            let key = parties.agree().expect("a peer").0;
            let error = work(parties, &binned(&key, &[(1, 10)])).expect("it is refused");
            parties.close().expect("nothing was sent");
            let MatchError::NotApproved(what) = error else { panic!("another error: {error}") };
            (error.fault(), what)
        };
        let (first, second) = both_under(plan, attempt, attempt);
        assert_eq!((first, first.0), (second, Fault::Internal));
        first.1
    };
    let rows = plan(&["a", "b"], ROWS);
    let summed = of(&rows, |parties, bins| parties.aggregate(Role::Receiver, bins).err());
    assert_eq!(summed, Unapproved::Numbers);
    let common =
        of(&rows, |parties, bins| parties.intersect(0, bins, &Results::new(1, None), &Progress::default()).err());
    assert_eq!(common, Unapproved::Common);
    let run = |parties: &mut Parties, _: &Bins| parties.run(Role::Sender, Chosen::Named("dh"), 1, vec![0]).err();
    let counted = of(&numbers(false, 1, &["a", "b"]), run);
    assert_eq!(counted, Unapproved::Rows);
    let told = MatchError::NotApproved(counted).to_string();
    assert_eq!(told, "the approved plan of this match does not show which rows match");
}

/// What a party does that shares the column `value`. announced: how many columns it says that it shares.
fn shares_value(role: Role, announced: usize) -> impl FnOnce(&mut Parties) -> Option<MatchError> + Send {
    move |parties| {
        let columns = (0..announced).map(|at| format!("0 column{at}")).collect();
        parties.announce(Announcement { columns, ..announcement(1) }).expect("a peer");
        let key = parties.agree().expect("a peer").0;
        let bins = Arc::new(binned(&key, &[(1, 10)]));
        let identifiers = bins.tokens(0).expect("a table").into_iter().map(Some).collect();
        parties.share(role, &KeyedRows { bins, identifiers, keys: 1 }).err()
    }
}

#[test]
fn no_column_is_shared_that_the_plan_does_not_name() {
    let named = |columns: &str| plan(&["a", "b"], &format!(r#"{{"shares":{{"pairs":"one","columns":{columns}}}}}"#));
    let (sender, receiver) = (|| shares_value(Role::Sender, 1), || shares_value(Role::Receiver, 1));
    let shared = both_under(&named(r#"[["value"],["value"]]"#), sender(), receiver());
    assert!(matches!(shared, (None, None)), "{shared:?}");
    for columns in [r#"[["other"],["other"]]"#, r#"[[],[]]"#, r#"[["value","other"],["value","other"]]"#] {
        let (first, second) = both_under(&named(columns), sender(), receiver());
        for refused in [first, second] {
            let refused = refused.expect("other columns than approved");
            assert!(matches!(refused, MatchError::NotApproved(Unapproved::SharesOfThese)), "{columns}: {refused}");
        }
    }
    let more = both_under(&named(r#"[["value"],["value"]]"#), sender(), shares_value(Role::Receiver, 2)).0;
    assert!(
        matches!(more, Some(MatchError::Misbehaved { what: Misbehaviour::OtherColumns, ref peer, .. }) if peer == "b")
    );
}
