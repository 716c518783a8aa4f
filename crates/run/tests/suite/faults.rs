//! What is refused, by whose fault, and what the other nodes are told.

use super::world::plans::{identified, keeping, matched, reading, totals, totals_answer};
use super::world::{ENGINES, Opened, Plan, Store, drive, nodes, over_tls, rows, sessions, step, table, together};
use serde_json::{Value as Json, json};
use tacit_net::Fault;
use tacit_run::containment::install_hook;
use tacit_run::{Agreement, RunError, Session};
use tacit_table::{DataTable, Operator};

type End = Result<Opened, RunError>;

/// Nodes of which each approved these permits.
fn approving(plan: &Plan, engine: &str, change: impl Fn(&mut Vec<Json>)) -> Vec<Session> {
    let mut agreement = plan.agreement(engine);
    let mut permits: Vec<Json> = serde_json::from_str(&agreement.permits).expect("a list");
    change(&mut permits);
    agreement.permits = Json::from(permits).to_string();
    Session::in_memory(&agreement, &tacit_net::Options::default(), None).expect("a plan")
}

/// How they end.
fn under(plan: &Plan, engine: &str, change: impl Fn(&mut Vec<Json>)) -> Vec<End> {
    together(&approving(plan, engine, change), |session| drive(session, plan, None, false))
}

/// All ended for this fault, at one node at least, and because a peer said this, or lost another, at the others.
fn assert_all_end(ends: &[End], fault: Fault, told: &str) {
    let errors: Vec<&RunError> = ends.iter().map(|end| end.as_ref().expect_err("nobody ends in order")).collect();
    assert!(errors.iter().any(|error| error.fault() == fault), "{errors:?}");
    for error in errors.iter().filter(|error| error.fault() != fault) {
        let text = error.to_string();
        assert_eq!(error.fault(), Fault::Gone, "{text}");
        assert!(text.contains(told) || text.contains("it lost a peer"), "{text}");
    }
}

/// The permit of this kind.
fn of_kind<'a>(permits: &'a mut [Json], kind: &str) -> &'a mut Json {
    permits.iter_mut().find(|permit| permit["kind"] == kind).expect("the plan needs one")
}

#[test]
fn what_no_permit_allows_ends_the_run_at_all_nodes() {
    type Change = fn(&mut Vec<Json>);
    let changes: [(&str, Change); 7] = [
        ("no answer", |permits| permits.retain(|permit| permit["kind"] != "answer")),
        ("no size", |permits| permits.retain(|permit| permit["kind"] != "size")),
        ("a smaller size", |permits| of_kind(permits, "size")["rows"] = json!(5)),
        ("fewer rows", |permits| of_kind(permits, "answer")["rows"] = json!(3)),
        ("another recipient", |permits| of_kind(permits, "answer")["recipients"] = json!(["bob"])),
        ("another site", |permits| of_kind(permits, "answer")["site"] = json!("6.release")),
        ("fewer columns", |permits| drop(of_kind(permits, "answer")["columns"].as_array_mut().and_then(Vec::pop))),
    ];
    for engine in ENGINES {
        for (name, change) in &changes {
            let ends = under(&totals(), engine, change);
            println!("{name} on {engine}");
            assert_all_end(&ends, Fault::Policy, "its policy refused");
        }
        let ends = under(&totals(), engine, |permits| of_kind(permits, "size")["rows"] = json!(6));
        assert!(ends.iter().all(Result::is_ok), "the size is 6");
    }
}

/// Also that of the number of matching rows, which nobody knows before, is asked for before anything is sent.
#[test]
fn a_match_needs_each_of_its_permits() {
    for (op, engine) in [("psi", "two"), ("psi", "rep3"), ("circuit_psi", "two"), ("universal_ids", "rep3")] {
        let plan = if op == "universal_ids" { identified(None) } else { matched(op) };
        let step = format!("3.{op}");
        let permits: Vec<Json> = serde_json::from_str(&plan.agreement(engine).permits).expect("a list");
        for (missing, permit) in permits.iter().enumerate() {
            let sessions = approving(&plan, engine, |permits| drop(permits.remove(missing)));
            let ends = together(&sessions, |session| drive(session, &plan, None, false));
            assert_all_end(&ends, Fault::Policy, "its policy refused");
            let metered = sessions.iter().flat_map(|session| session.metrics(false));
            let rounds: u64 = metered.filter(|metered| metered.step == step).map(|metered| metered.rounds).sum();
            assert_eq!(rounds == 0, permit["kind"] != "answer", "{permit} on {engine}: {rounds} rounds");
        }
    }
}

fn clear(plan: &Plan) -> Session {
    Session::clear(&plan.agreement("clear")).expect("a plan")
}

/// Executes the first steps as every party.
fn after(plan: &Plan, steps: usize) -> Session {
    let session = clear(plan);
    for operator in &plan.steps()[..steps] {
        step(&session, plan, operator, None, true).expect("it is as approved");
    }
    session
}

fn assert_refused<T>(outcome: Result<T, RunError>, fault: Fault, told: &str) {
    let error = outcome.err().expect("it is refused");
    assert!(error.to_string().contains(told), "{error}");
    assert_eq!(error.fault(), fault, "{error}");
}

#[test]
fn steps_are_executed_in_their_order_and_once() {
    let plan = totals();
    let told = |asked: &str, next: &str| format!("{asked} was to be executed where the approved plan has {next};");
    assert_refused(after(&plan, 0).run(3), Fault::Internal, &told("3.join", "1.input"));
    assert_refused(after(&plan, 1).run(3), Fault::Internal, &told("3.join", "2.input"));
    assert_refused(after(&plan, 2).release(5), Fault::Internal, &told("5.release", "3.join"));
    assert_refused(after(&plan, 3).run(3), Fault::Internal, &told("3.join", "4.group_by"));
    assert_refused(after(&plan, 4).run(9), Fault::Internal, &told("step 9", "5.release"));
    assert_refused(after(&plan, 5).release(5), Fault::Internal, &told("5.release", "nothing"));
    let session = after(&plan, 1);
    let again = session.input(1, || unreachable!("data of a step out of its turn is not read"));
    assert_refused(again, Fault::Internal, &told("1.input", "2.input"));
    assert_refused(session.run(3), Fault::Input, "the session has ended (an error ended it); connect again");
}

#[test]
fn a_node_out_of_order_ends_the_others() {
    for engine in ENGINES {
        let plan = totals();
        let ends = together(&sessions(&plan, engine), |session| {
            if session.me() == "bob" {
                return session.run(3).map(|_| Opened::new());
            }
            drive(session, &plan, None, false)
        });
        assert_all_end(&ends, Fault::Internal, "it failed");
    }
}

#[test]
fn a_step_is_executed_by_its_own_method() {
    let plan = totals();
    assert_refused(after(&plan, 0).run(1), Fault::Internal, "1.input was given to run, which does not execute it");
    assert_refused(after(&plan, 2).release(3), Fault::Input, "3.join is no release; give it to the method");
    assert_refused(after(&plan, 2).psi(3, || Ok([None, None])), Fault::Input, "3.join is no psi");
    let nowhere = || Ok(Some(DataTable::default()));
    assert_refused(after(&plan, 2).input(3, nowhere), Fault::Internal, "3.join was given to input");
    let session = &sessions(&totals(), "two")[0];
    let kept = session.keep(1, &target());
    assert_refused(kept, Fault::Input, "1.input is no keep");
}

fn target() -> tacit_run::kept::Target {
    let key = tacit_run::kept::sealing_key(&[7; 32]).expect("32 bytes");
    tacit_run::kept::Target { path: "nowhere".into(), key, about: "{}".into() }
}

#[test]
fn a_table_that_no_step_has_made_is_refused() {
    let sort = r#"{"id":1,"op":"sort","input":7,"keys":[]}"#.to_owned();
    let agreement = Agreement::within_process("clear", nodes("rep3"), "[]".into(), format!("[{sort}]"));
    let session = Session::clear(&agreement).expect("a plan");
    assert_refused(session.run(1), Fault::Input, "1.sort: step 7 gives no table before it");
}

#[test]
fn a_node_that_vanishes_ends_the_others() {
    for engine in ENGINES {
        let plan = totals();
        let mut sessions = sessions(&plan, engine);
        drop(sessions.remove(1));
        for end in together(&sessions, |session| drive(session, &plan, None, false)) {
            assert_refused(end, Fault::Gone, "without closing");
        }
        let ends = over_tls(
            &nodes(engine),
            |_| plan.agreement(engine),
            |session| {
                if session.me() == "bob" {
                    step(session, &plan, &plan.steps()[0], None, false)?;
                    session.leave();
                    return Err(RunError::Aborted);
                }
                drive(session, &plan, None, false)
            },
        );
        for (place, end) in ends.into_iter().enumerate().filter(|(place, _)| *place != 1) {
            let error = end.expect_err("bob is gone");
            assert_eq!(error.fault(), Fault::Gone, "{place}: {error}");
            assert!(error.place()[1].is_some_and(|step| step.contains('.')), "{place}: {error}");
        }
    }
}

#[test]
fn data_outside_its_bounds_is_its_owners_fault_and_others_learn_only_that() {
    for engine in ENGINES {
        let mut plan = totals();
        plan.data.insert(2, table(&[("customer", &[3, 31337]), ("amount", &[1, 2])]));
        let ends = together(&sessions(&plan, engine), |session| drive(session, &plan, None, false));
        for (place, end) in ends.into_iter().enumerate() {
            let error = end.expect_err("nobody has an answer");
            let text = error.to_string();
            assert!(error.place()[1].is_some(), "{text}");
            if place == 1 {
                assert_refused::<()>(Err(error), Fault::Input, "row 2: a value outside the declared bounds");
            } else {
                assert!(text.contains("its own input was refused") || text.contains("it lost a peer"), "{text}");
                assert!(!text.contains("31337") && !text.contains("row"), "{text}");
            }
        }
    }
}

#[test]
fn an_owner_gives_its_own_data_and_no_other() {
    let plan = totals();
    assert_refused(clear(&plan).input(1, || Ok(None)), Fault::Input, "this party owns the input; give its data");
    for engine in ENGINES {
        let owner = &sessions(&plan, engine)[0];
        assert_refused(owner.input(1, || Ok(None)), Fault::Input, "this party owns the input; give its data");
        let join = matched("psi");
        let side = |local: usize| Some(join.data[&local].clone());
        for data in [[None, None], [None, side(2)], [side(1), side(2)]] {
            let left = &sessions(&join, engine)[0];
            let told = "each owner of a psi gives the data of its own side, and of no other";
            assert_refused(left.psi(3, || Ok(data)), Fault::Input, told);
        }
    }
}

/// Of an input only the owner's data counts, whoever else gives some.
#[test]
fn what_a_node_gives_for_anothers_input_is_ignored() {
    for engine in ENGINES {
        let (plan, mut forged) = (totals(), totals());
        forged.data.insert(1, table(&[("id", &[3]), ("region", &[7])]));
        forged.data.insert(2, table(&[("customer", &[3]), ("amount", &[1])]));
        let opened = together(&sessions(&plan, engine), |session| {
            let mut opened = Opened::new();
            for operator in plan.steps() {
                let Operator::Input(input) = &operator else {
                    let table = step(session, &plan, &operator, None, false).expect("it is as approved");
                    opened.extend(table.map(|table| (operator.id(), rows(&table))));
                    continue;
                };
                let given = if input.owner == session.me() { &plan } else { &forged };
                session.input(input.id, || Ok(Some(given.data[&input.id].clone()))).expect("it is as approved");
            }
            session.close().expect("an end in order");
            opened
        });
        assert_eq!(opened[0][&5], totals_answer(), "{engine}");
    }
}

/// Under one plan hash: what the nodes are about to execute is compared before anything is shared.
#[test]
fn another_approval_under_the_same_hash_is_refused() {
    let (plan, engine) = (totals(), "rep3");
    let to_bob = plan.operators.replace(r#""to":["ann"]"#, r#""to":["bob"]"#);
    let sorted = plan.operators.replace(r#""op":"group_by""#, r#""op":"group_by" "#);
    assert_ne!(to_bob, plan.operators);
    let agreed = |place: usize, other: &str| {
        let operators = if place == 2 { other.to_owned() } else { plan.operators.clone() };
        Agreement { operators, kept: Some(vec![]), ..plan.agreement(engine) }
    };
    let work = |session: &Session| drive(session, &plan, None, false);
    let ends = over_tls(&nodes(engine), |place| agreed(place, &to_bob), work);
    assert!(ends[2].as_ref().is_err_and(|error| error.fault() == Fault::Misbehaved));
    assert!(
        ends.iter().all(|end| end.as_ref().is_err_and(|error| error.to_string().contains("approved something else")))
    );
    // How it is written does not matter.
    let ends = over_tls(&nodes(engine), |place| agreed(place, &sorted), work);
    assert!(ends.iter().all(Result::is_ok));
}

#[test]
fn shares_of_another_kept_table_are_not_taken_up() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let stores = [Store(one.path()), Store(other.path())];
    for store in &stores {
        let ends = together(&sessions(&keeping(), "two"), |session| drive(session, &keeping(), Some(store), false));
        assert!(ends.iter().all(Result::is_ok));
    }
    let (plan, nodes) = (reading(), nodes("two"));
    let part = |store: &Store<'_>, place: usize| store.read(&nodes[place], &plan.steps()[0]).expect("an intact file");
    // Both compare one table and take up another.
    let agreement = |place| Agreement { kept: Some(vec![part(&stores[0], place).table]), ..plan.agreement("two") };
    let told = "the shares are of another kept table than this party approved";
    for end in over_tls(&nodes, agreement, |session| drive(session, &plan, Some(&stores[1]), false)) {
        let error = end.expect_err("it is refused");
        assert!(error.to_string().contains(told) || error.to_string().contains("it failed"), "{error}");
    }
    // One compares another table.
    let agreement = |place| {
        let store = &stores[usize::from(place == 1)];
        Agreement { kept: Some(vec![part(store, place).table]), ..plan.agreement("two") }
    };
    for end in over_tls(&nodes, agreement, |session| drive(session, &plan, Some(&stores[0]), false)) {
        let error = end.expect_err("it is refused");
        assert!(error.to_string().contains("do not have shares of one run"), "{error}");
    }
    // One is missing.
    let missing = Agreement { kept: Some(vec![]), ..plan.agreement("two") };
    let refused = Session::in_memory(&missing, &tacit_net::Options::default(), None).map(drop);
    assert_refused(refused, Fault::Input, "0 kept tables for a plan that reads 1; give all");
}

#[test]
fn engines_have_their_nodes() {
    let start = |engine: &str, nodes: &[&str]| {
        let nodes = nodes.iter().copied().map(String::from).collect();
        let agreement = Agreement::within_process(engine, nodes, "[]".into(), "[]".into());
        Session::in_memory(&agreement, &tacit_net::Options::default(), None).map(drop)
    };
    let told = "there is no engine \"five\" of nodes; the engines are \"rep3\" and \"two\" and \"four\"";
    assert_refused(start("five", &["a", "b", "c", "d"]), Fault::Input, told);
    let told = "the engine two has 2 nodes, not 3; name 2 nodes";
    assert_refused(start("two", &["a", "b", "c"]), Fault::Input, told);
    assert_refused(start("rep3", &["a", "b", "a"]), Fault::Input, "a node is named twice; name each party once");
    let nobody = Agreement::within_process("clear", vec![], "[]".into(), "[]".into());
    assert_refused(Session::clear(&nobody).map(drop), Fault::Input, "no parties; name at least one");
}

#[test]
fn a_session_says_how_it_ended() {
    let plan = totals();
    let closed = clear(&plan);
    closed.close().and_then(|()| closed.close()).expect("closing twice is closing");
    assert_refused(closed.run(3), Fault::Input, "the session has ended (it was closed); connect again");
    let aborted = clear(&plan);
    aborted.abort("enough");
    assert_refused(aborted.close(), Fault::Input, "the session has ended (it was aborted); connect again");
    let busy = clear(&plan);
    let within = busy.input(1, || {
        assert_refused(busy.run(3), Fault::Input, "the session executes another operator; drive it by one thread");
        Ok(Some(plan.data[&1].clone()))
    });
    assert!(within.is_ok());
    let left = busy.input(2, || {
        busy.leave();
        Ok(Some(plan.data[&2].clone()))
    });
    assert_refused(left, Fault::Input, "the session was aborted while the operator ran");
}

#[test]
fn an_abort_ends_a_waiting_step_and_the_others() {
    let plan = totals();
    let sessions = sessions(&plan, "rep3");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sessions[1].input(1, || Ok(None)));
        while !sessions[1].metrics(false).iter().any(|metered| metered.step == "1.input") {
            std::thread::yield_now();
        }
        sessions[1].abort("enough");
        assert_refused(waiting.join().expect("no panic"), Fault::Interrupted, "enough");
    });
    assert_refused(drive(&sessions[2], &plan, None, false), Fault::Gone, "enough");
}

/// What a panic quotes may be data.
#[test]
fn a_panic_ends_the_run_and_quotes_nothing() {
    install_hook();
    let plan = totals();
    let sessions = sessions(&plan, "rep3");
    let error = sessions[0].input(1, || panic!("the secret is 31337")).expect_err("it panicked");
    assert_eq!(error.fault(), Fault::Internal);
    let text = error.to_string();
    assert!(text.starts_with("internal error at ") && text.contains("faults.rs"), "{text}");
    assert!(!text.contains("31337"), "{text}");
    assert_refused(drive(&sessions[1], &plan, None, false), Fault::Gone, "it failed");
}
