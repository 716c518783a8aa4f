//! Plans with clients: owners and recipients that are no nodes.

use std::collections::{BTreeSet, HashMap};

use super::world::{
    ENGINES, Opened, Plan, RING, Rows, Store, bits, columns, drive, in_clear, nodes, over_tls, rows, sessions, step,
    table, together,
};
use serde_json::{Value as Json, json};
use tacit_net::Fault;
use tacit_run::kept::KeptTable;
use tacit_run::{Agreement, Conditions, Link, OperatorCost, Prices, RunError, Session, cost};
use tacit_table::{Operator, StepCost};

/// Rows of ann, who is a node, and of gus and hal, who are not: the amounts of each region summed, opened to these
/// parties.
fn spread(to: &[&str]) -> Plan {
    let kinds = columns(&[("region", bits(3)), ("amount", RING.into())]);
    let input = |id: usize, owner: &str, rows: &str| {
        format!(r#"{{"id":{id},"op":"input","owner":"{owner}","columns":{kinds},"rows":{rows}}}"#)
    };
    let operators = [
        input(1, "ann", "4"),
        input(2, "gus", "null"),
        input(3, "hal", "5"),
        format!(
            r#"{{"id":4,"op":"union","inputs":[1,2,3],"columns":[{{"name":"region","kind":{}}},
                {{"name":"amount","kind":{RING}}}]}}"#,
            bits(3)
        ),
        format!(
            r#"{{"id":5,"op":"group_by","input":4,"keys":["region"],"groups":null,"aggregates":[
                {{"name":"total","function":"sum","column":"amount","kind":{RING}}}]}}"#
        ),
        json!({"id": 6, "op": "release", "input": 5, "to": to, "columns": ["region", "total"], "ordered": false})
            .to_string(),
    ];
    let rows = |regions: &[i64], amounts: &[i64]| table(&[("region", regions), ("amount", amounts)]);
    let data = [
        (1, rows(&[1, 2, 1], &[10, -4, 5])),
        (2, rows(&[2, 7], &[100, 1_000_000])),
        (3, rows(&[1, 7, 7, 2, 5], &[1, 2, 3, 4, -77])),
    ];
    Plan::new(&operators, data)
}

fn totals() -> Rows {
    vec![vec![1, 16], vec![2, 100], vec![5, -77], vec![7, 1_000_005]]
}

/// All parties, nodes first.
fn names(plan: &Plan, engine: &str) -> Vec<String> {
    plan.parties(engine).names().cloned().collect()
}

fn assert_told(ends: Vec<Result<Opened, RunError>>, names: &[String], to: &[&str]) {
    for (end, name) in ends.into_iter().zip(names) {
        let opened = end.unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = if to.contains(&name.as_str()) { Opened::from([(6, totals())]) } else { Opened::new() };
        assert_eq!(opened, expected, "{name}");
    }
}

#[test]
fn clients_give_and_get_the_same_everywhere() {
    for to in [&["ivy"][..], &["gus", "ivy"], &["ann", "hal"], &["bob"]] {
        let plan = spread(to);
        assert_eq!(in_clear(&plan)[&6], totals());
        for engine in ENGINES {
            let names = names(&plan, engine);
            let among_threads = together(&sessions(&plan, engine), |session| drive(session, &plan, None, false));
            assert_told(among_threads, &names, to);
            let over_tls = over_tls(&names, |_| plan.agreement(engine), |session| drive(session, &plan, None, false));
            assert_told(over_tls, &names, to);
        }
    }
}

/// A party is metered for what it sends itself; rounds are those of the nodes.
#[test]
fn what_is_declared_is_what_is_metered() {
    for to in [&["ivy"][..], &["ann", "gus", "ivy"]] {
        for engine in ENGINES {
            let plan = spread(to);
            let (sessions, parties) = (sessions(&plan, engine), plan.parties(engine));
            together(&sessions, |session| drive(session, &plan, None, false).expect("an end in order"));
            let prices = &Prices::default();
            let conditions =
                Conditions { parties: &parties, link: Link::UNDECLARED, network: None, prices, ahead: true };
            let declared = cost(engine, &plan.operators, &HashMap::from([(2, 2)]), &conditions);
            for OperatorCost { step: name, declared: StepCost { communication, ahead, .. }, .. } in
                declared.expect("a plan")
            {
                for (place, session) in sessions.iter().enumerate() {
                    let metered = session.metrics(false).into_iter().find(|metered| metered.step == name);
                    let metered = metered.unwrap_or_default();
                    let sent = communication.sent.get(place).copied().unwrap_or_default();
                    assert_eq!(metered.bytes_sent, sent, "{name} on {engine} at {}", session.me());
                    if place < parties.nodes.len() {
                        let rounds = (metered.rounds, metered.rounds_ahead);
                        assert_eq!(rounds, (communication.rounds, ahead), "{name} on {engine} at {}", session.me());
                    }
                }
            }
        }
    }
}

type Change = fn(&mut Vec<Json>);

/// Whatever a permit does not allow ends the run at everybody, before anything is opened.
#[test]
fn a_client_is_told_nothing_without_a_permit() {
    let changes: [(&str, Change); 5] = [
        ("no size of an input", |permits| permits.retain(|permit| permit["site"] != "2.input")),
        ("no size of the answer", |permits| {
            permits.retain(|permit| permit["site"] != "6.release" || permit["kind"] != "size");
        }),
        ("no answer", |permits| permits.retain(|permit| permit["kind"] != "answer")),
        ("a smaller size", |permits| {
            permits
                .iter_mut()
                .filter(|permit| permit["site"] == "2.input")
                .for_each(|permit| permit["rows"] = json!(1));
        }),
        ("fewer rows", |permits| {
            permits.iter_mut().filter(|permit| permit["kind"] == "answer").for_each(|permit| permit["rows"] = json!(3));
        }),
    ];
    for engine in ENGINES {
        for (name, change) in &changes {
            let plan = spread(&["ivy"]);
            let mut agreement = plan.agreement(engine);
            let mut permits: Vec<Json> = serde_json::from_str(&agreement.permits).expect("a list");
            change(&mut permits);
            agreement.permits = Json::from(permits).to_string();
            let sessions = Session::in_memory(&agreement, &tacit_net::Options::default(), None).expect("a plan");
            let ends = together(&sessions, |session| drive(session, &plan, None, false));
            let errors: Vec<RunError> = ends.into_iter().map(|end| end.expect_err("nobody ends in order")).collect();
            assert!(errors.iter().any(|error| error.fault() == Fault::Policy), "{name} on {engine}: {errors:?}");
            for error in errors.iter().filter(|error| error.fault() != Fault::Policy) {
                assert!([Fault::Gone, Fault::Misbehaved].contains(&error.fault()), "{name} on {engine}: {error}");
            }
        }
    }
}

/// A client dies before its input is in: all others end and name it, or whom it took along.
#[test]
fn a_client_that_vanishes_ends_all_others() {
    for engine in ENGINES {
        let plan = spread(&["ivy"]);
        let names = names(&plan, engine);
        let ends = over_tls(
            &names,
            |_| plan.agreement(engine),
            |session| {
                if session.me() == "hal" {
                    step(session, &plan, &plan.steps()[0], None, false)?;
                    session.leave();
                    return Err(RunError::Aborted);
                }
                drive(session, &plan, None, false)
            },
        );
        let errors = ends.into_iter().zip(&names).filter(|(_, name)| *name != "hal");
        let errors: Vec<RunError> = errors.map(|(end, _)| end.expect_err("hal is gone")).collect();
        assert!(errors.iter().all(|error| error.fault() == Fault::Gone), "{errors:?}");
        assert!(errors.iter().any(|error| error.to_string().contains("hal")), "{errors:?}");
    }
}

#[test]
fn data_outside_its_bounds_is_its_owners_fault_and_others_learn_only_that() {
    let many = (0..6).collect::<Vec<i64>>();
    let refused = [
        (table(&[("region", &[3, 9]), ("amount", &[1, 31337])]), "row 2: a value outside the declared bounds"),
        (table(&[("region", &many), ("amount", &many)]), "hal has 6 rows, more than the 5 declared for this input"),
        (table(&[("region", &[1])]), "amount"),
    ];
    for engine in ENGINES {
        for (data, told) in &refused {
            let mut plan = spread(&["ivy"]);
            plan.data.insert(3, data.clone());
            for (end, name) in together(&sessions(&plan, engine), |session| drive(session, &plan, None, false))
                .into_iter()
                .zip(names(&plan, engine))
            {
                let (error, own) = (end.expect_err("nobody has an answer"), name == "hal");
                assert_eq!(error.fault(), if own { Fault::Input } else { Fault::Gone }, "{name}: {error}");
                let text = error.to_string();
                assert_eq!(text.contains(told), own, "{name}: {text}");
                assert!(own || !text.contains("31337") && !text.contains("row"), "{name}: {text}");
            }
        }
    }
}

/// Nodes and clients compare what they approve.
#[test]
fn a_client_that_approved_something_else_is_refused() {
    let (plan, other, engine) = (spread(&["ivy"]), spread(&["gus", "ivy"]), "two");
    let names = names(&plan, engine);
    let agreement = |place: usize| {
        let plan = if names[place] == "gus" { &other } else { &plan };
        // Under one plan hash.
        Agreement { plan_hash: [1; 32], kept: Some(vec![]), ..plan.agreement(engine) }
    };
    for end in over_tls(&names, agreement, |session| drive(session, &plan, None, false)) {
        let error = end.expect_err("gus approved another plan");
        assert!([Fault::Misbehaved, Fault::Gone].contains(&error.fault()), "{error}");
    }
}

#[test]
fn who_has_no_part_is_no_client() {
    let plan = spread(&["ivy"]);
    let with = |clients: &[&str]| {
        let clients = clients.iter().copied().map(String::from).collect();
        let agreement = Agreement { clients, ..plan.agreement("rep3") };
        Session::in_memory(&agreement, &tacit_net::Options::default(), None)
            .map(drop)
            .expect_err("it is refused")
            .to_string()
    };
    assert!(with(&["gus", "hal", "ivy", "jon"]).contains("\"jon\" is no client of this plan"));
    assert!(with(&["gus", "gus", "hal", "ivy"]).contains("named twice"));
    assert!(with(&["ann", "gus", "hal", "ivy"]).contains("named twice"));
}

/// Only what the owner itself gives counts.
#[test]
fn what_a_node_gives_for_a_clients_input_is_ignored() {
    for engine in ENGINES {
        let (plan, mut forged) = (spread(&["ivy"]), spread(&["ivy"]));
        forged.data.values_mut().for_each(|data| *data = table(&[("region", &[0]), ("amount", &[1])]));
        let ends = together(&sessions(&plan, engine), |session| {
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
        assert_eq!(ends.into_iter().flatten().collect::<Vec<_>>(), [(6, totals())], "{engine}");
    }
}

/// Rows of ann, who is a node, and of gus, who is not, kept by the nodes.
fn keeping() -> Plan {
    let kinds = columns(&[("region", bits(3)), ("amount", RING.into())]);
    let input = |id: usize, owner: &str, rows: &str| {
        format!(r#"{{"id":{id},"op":"input","owner":"{owner}","columns":{kinds},"rows":{rows}}}"#)
    };
    let operators = [
        input(1, "ann", "3"),
        input(2, "gus", "null"),
        format!(
            r#"{{"id":3,"op":"union","inputs":[1,2],"columns":[{{"name":"region","kind":{}}},
                {{"name":"amount","kind":{RING}}}]}}"#,
            bits(3)
        ),
        r#"{"id":4,"op":"keep","input":3,"table":"stored","columns":["region","amount"]}"#.into(),
    ];
    let rows = |regions: &[i64], amounts: &[i64]| table(&[("region", regions), ("amount", amounts)]);
    Plan::new(&operators, [(1, rows(&[1, 2], &[10, -4])), (2, rows(&[2, 7], &[100, 1_000_000]))])
}

/// What [`keeping`] kept and a row of hal, who is no node either, opened to ivy. owners: who has to approve that.
fn reading(owners: &[&str]) -> Plan {
    let kinds = columns(&[("region", bits(3)), ("amount", RING.into())]);
    let union = json!([
        {"name": "region", "kind": serde_json::from_str::<Json>(&bits(3)).expect("a kind")},
        {"name": "amount", "kind": serde_json::from_str::<Json>(RING).expect("a kind")},
    ]);
    let operators = [
        format!(
            r#"{{"id":1,"op":"kept","table":"stored","columns":{kinds},"rows":5,"padded":true,"owners":{}}}"#,
            json!(owners)
        ),
        format!(r#"{{"id":2,"op":"input","owner":"hal","columns":{kinds},"rows":1}}"#),
        json!({"id": 3, "op": "union", "inputs": [1, 2], "columns": union}).to_string(),
        json!({"id": 4, "op": "release", "input": 3, "to": ["ivy"], "columns": ["region", "amount"], "ordered": false})
            .to_string(),
    ];
    Plan::new(&operators, [(2, table(&[("region", &[5]), ("amount", &[6])]))])
}

/// The owner of a part of a kept table is there when it is kept, and when it is read if it has to approve that.
#[test]
fn what_clients_gave_is_kept_by_the_nodes_alone_and_read_with_clients() {
    let expected = vec![vec![1, 10], vec![2, -4], vec![2, 100], vec![5, 6], vec![7, 1_000_000]];
    for engine in ENGINES {
        let folder = tempfile::tempdir().expect("a folder");
        let (keeping, store) = (keeping(), Store(folder.path()));
        let kept = together(&sessions(&keeping, engine), |session| drive(session, &keeping, Some(&store), false));
        assert!(kept.into_iter().all(|end| end.expect("an end in order").is_empty()));
        let holders: BTreeSet<_> = std::fs::read_dir(folder.path()).expect("a folder").map(file_name).collect();
        assert_eq!(holders, nodes(engine).into_iter().collect());
        for owners in [&["gus"][..], &[]] {
            let plan = reading(owners);
            assert_eq!(plan.parties(engine).clients.contains(&"gus".to_owned()), !owners.is_empty());
            let read = together(&sessions(&plan, engine), |session| drive(session, &plan, Some(&store), false));
            for (end, name) in read.into_iter().zip(names(&plan, engine)) {
                let told = if name == "ivy" { Opened::from([(4, expected.clone())]) } else { Opened::new() };
                assert_eq!(end.expect("an end in order"), told, "{name} on {engine}");
            }
        }
    }
}

fn file_name(entry: std::io::Result<std::fs::DirEntry>) -> String {
    entry.expect("a file").file_name().into_string().expect("a name")
}

/// A client that knows of another table of this name is refused before anybody uses shares.
#[test]
fn a_client_compares_which_kept_table_is_read() {
    let (engine, folder) = ("two", tempfile::tempdir().expect("a folder"));
    let (keeping, store, plan) = (keeping(), Store(folder.path()), reading(&["gus"]));
    together(&sessions(&keeping, engine), |session| drive(session, &keeping, Some(&store), false).expect("it is kept"));
    let (names, operator) = (names(&plan, engine), &plan.steps()[0]);
    let table = |party: &str| store.read(party, operator).expect("a part").table;
    assert_eq!(table("ann").digest, table("bob").digest);
    let mut description: Json = serde_json::from_str(&store.header("ann")).expect("a header");
    description["node"] = json!("");
    assert_eq!(KeptTable::described(&description.to_string()).expect("a description").digest, table("ann").digest);
    description["id"] = json!("00");
    let older = KeptTable::described(&description.to_string()).expect("a description");
    assert!(KeptTable::described("{}").is_err());
    let agreement = |place: usize| {
        let known = if names[place] == "gus" { older.clone() } else { table("ann") };
        Agreement { kept: Some(vec![known]), ..plan.agreement(engine) }
    };
    let ends = over_tls(&names, agreement, |session| drive(session, &plan, Some(&store), false));
    let errors: Vec<RunError> = ends.into_iter().map(|end| end.expect_err("gus knows another table")).collect();
    assert!(errors.iter().any(|error| error.to_string().contains("do not have shares of one run: stored")));
}
