//! Programs on arrays in whole plans: the same everywhere, also with clients and within a memory budget, at the
//! declared cost.

use std::collections::HashMap;

use serde_json::{Value as Json, json};
use tacit_net::{Fault, Options};
use tacit_run::{Conditions, Link, Memory, OperatorCost, Prices, RunError, Session, cost, permits};

use super::world::{
    ENGINES, Opened, Plan, RING, bits, columns, drive, in_clear, nodes as nodes_of, over_tls, sessions, table, together,
};

const ROWS: usize = 300;

fn node(operation: Json, args: &[usize], shape: &[usize], ring: u32, most: i64) -> Json {
    let low = if ring == 1 { 0 } else { -most };
    let (low, high) = (low.to_string(), most.to_string());
    let common = json!({"args": args, "shape": shape, "ring": ring, "fraction": 0, "low": low, "high": high});
    let (Json::Object(mut members), Json::Object(common)) = (operation, common) else { unreachable!("objects") };
    members.extend(common);
    Json::Object(members)
}

/// ann's numbers times those of gus, who is no node, where theirs are larger; and the largest of ann's.
fn products(to: &[&str]) -> Plan {
    let kinds = columns(&[("x", RING.into())]);
    let input = |id: usize, owner: &str| {
        format!(r#"{{"id":{id},"op":"input","owner":"{owner}","columns":{kinds},"rows":null}}"#)
    };
    let nodes = [
        node(json!({"op": "input", "index": 0}), &[], &[ROWS], 64, 1000),
        node(json!({"op": "input", "index": 1}), &[], &[ROWS], 64, 1000),
        node(json!({"op": "less"}), &[0, 1], &[ROWS], 1, 1),
        node(json!({"op": "multiply", "cut": 0, "floor": false}), &[0, 1], &[ROWS], 64, 1_000_000),
        node(json!({"op": "multiply", "cut": 0, "floor": false}), &[2, 3], &[ROWS], 64, 1_000_000),
        node(json!({"op": "largest", "axis": 0}), &[0], &[], 64, 1000),
    ];
    let kind: Json = serde_json::from_str(RING).expect("a kind");
    let output = |id: usize, node: usize| json!({"id": id, "node": node, "column": "x", "kind": kind});
    let inputs = [json!({"step": 1, "column": "x"}), json!({"step": 2, "column": "x"})];
    let program =
        json!({"id": 3, "op": "program", "inputs": inputs, "nodes": nodes, "outputs": [output(4, 4), output(5, 5)]});
    let release = |id: usize, input: usize| {
        json!({"id": id, "op": "release", "input": input, "to": to, "columns": ["x"], "ordered": true}).to_string()
    };
    let [ann, gus] = numbers();
    let data = [(1, table(&[("x", &ann)])), (2, table(&[("x", &gus)]))];
    Plan::new(&[input(1, "ann"), input(2, "gus"), program.to_string(), release(6, 4), release(7, 5)], data)
}

fn numbers() -> [Vec<i64>; 2] {
    let of = |by: i64| (0..ROWS as i64).map(|row| row * row * by % 2001 - 1000).collect();
    [of(7), of(13)]
}

fn answer() -> Opened {
    let [ann, gus] = numbers();
    let mut products: Vec<Vec<i64>> = ann.iter().zip(&gus).map(|(x, y)| vec![if x < y { x * y } else { 0 }]).collect();
    products.sort();
    [(6, products), (7, vec![vec![*ann.iter().max().expect("a number")]])].into()
}

#[test]
fn a_program_is_the_same_everywhere() {
    let to = ["bob", "gus"];
    let plan = products(&to);
    assert_eq!(in_clear(&plan), answer());
    for engine in ENGINES {
        let names: Vec<String> = plan.parties(engine).names().cloned().collect();
        let told = |opened: &Opened, name: &str| {
            let expected = if to.contains(&name) { answer() } else { Opened::new() };
            assert_eq!(*opened, expected, "{name} on {engine}");
        };
        for ends in [
            together(&sessions(&plan, engine), |session| drive(session, &plan, None, false)),
            over_tls(&names, |_| plan.agreement(engine), |session| drive(session, &plan, None, false)),
        ] {
            ends.into_iter().zip(&names).for_each(|(end, name)| told(&end.expect("an end in order"), name));
        }
    }
}

fn costs(plan: &Plan, engine: &str) -> Vec<OperatorCost> {
    let (parties, prices) = (&plan.parties(engine), &Prices::default());
    let conditions = Conditions { parties, link: Link::UNDECLARED, network: None, prices, ahead: true };
    cost(engine, &plan.operators, &HashMap::from([(1, ROWS), (2, ROWS)]), &conditions).expect("a plan")
}

#[test]
fn what_a_program_declares_is_what_it_sends() {
    let plan = products(&["ann"]);
    for engine in ENGINES {
        let sessions = sessions(&plan, engine);
        together(&sessions, |session| drive(session, &plan, None, false).expect("an end in order"));
        let costs = costs(&plan, engine);
        let program = costs.iter().find(|cost| cost.step == "3.program").expect("a step");
        assert!(program.declared.communication.rounds > 0 && program.seconds > 0.0);
        assert_eq!(program.declared.rows, ROWS + 1);
        for (place, session) in sessions.iter().enumerate().take(plan.parties(engine).nodes.len()) {
            let metered = session.metrics(false).into_iter().find(|metered| metered.step == "3.program");
            let metered = metered.expect("a step");
            let communication = &program.declared.communication;
            let declared = (communication.rounds, program.declared.ahead, communication.sent[place]);
            assert_eq!((metered.rounds, metered.rounds_ahead, metered.bytes_sent), declared, "{engine}");
        }
    }
}

#[test]
fn a_program_runs_within_what_it_declares_of_memory() {
    let plan = products(&["ann"]);
    for engine in ENGINES {
        let folder = tempfile::tempdir().expect("a folder");
        let needs = costs(&plan, engine).iter().map(|cost| cost.declared.memory.alone).max().expect("steps");
        for (budget, fits) in [(needs, true), (needs - 1, false)] {
            let memory = Memory { budget, folder: folder.path().to_owned() };
            let sessions = Session::in_memory(&plan.agreement(engine), &Options::default(), Some(&memory));
            let ends = together(&sessions.expect("a plan"), |session| drive(session, &plan, None, false));
            assert_eq!(ends.iter().all(Result::is_ok), fits, "{engine} with {budget} bytes");
        }
    }
}

/// The sum of ann's numbers and of those of gus, who is no node, where ann's are checked to be within `most`.
fn guarded(engine: &str, most: i64) -> Plan {
    let kinds = columns(&[("x", RING.into())]);
    let input = |id: usize, owner: &str| {
        format!(r#"{{"id":{id},"op":"input","owner":"{owner}","columns":{kinds},"rows":null}}"#)
    };
    let outside = json!({"op": "outside", "from": (-most).to_string(), "to": most.to_string()});
    let nodes = [
        node(json!({"op": "input", "index": 0}), &[], &[ROWS], 64, 1000),
        node(json!({"op": "input", "index": 1}), &[], &[ROWS], 64, 1000),
        node(outside, &[0], &[ROWS], 1, 1),
        node(json!({"op": "largest", "axis": 0}), &[2], &[], 1, 1),
        node(json!({"op": "reshape"}), &[0], &[ROWS], 64, most),
        node(json!({"op": "add"}), &[4, 1], &[ROWS], 64, 1000 + most),
    ];
    let bit: Json = serde_json::from_str(&bits(1)).expect("a kind");
    let ring: Json = serde_json::from_str(RING).expect("a kind");
    let outputs = [
        json!({"id": 4, "node": 3, "column": "outside", "kind": bit}),
        json!({"id": 5, "node": 5, "column": "x", "kind": ring}),
    ];
    let inputs = [json!({"step": 1, "column": "x"}), json!({"step": 2, "column": "x"})];
    let program = json!({"id": 3, "op": "program", "inputs": inputs, "nodes": nodes, "outputs": outputs});
    let mut everybody = nodes_of(engine);
    everybody.push("gus".into());
    let release = |id: usize, input: usize, to: &[String], column: &str, guard: bool| {
        let mut step =
            json!({"id": id, "op": "release", "input": input, "to": to, "columns": [column], "ordered": true});
        step["guard"] = json!(guard);
        step.to_string()
    };
    let steps = [
        input(1, "ann"),
        input(2, "gus"),
        program.to_string(),
        release(6, 4, &everybody, "outside", true),
        release(7, 5, &everybody[..1], "x", false),
    ];
    let [ann, gus] = numbers();
    Plan::new(&steps, [(1, table(&[("x", &ann)])), (2, table(&[("x", &gus)]))])
}

/// What a step sent, at each node.
fn sent(sessions: &[Session], step: &str) -> Vec<(u64, u64)> {
    let of = |session: &Session| session.metrics(false).into_iter().find(|metered| metered.step == step);
    sessions.iter().filter_map(of).map(|metered| (metered.rounds, metered.bytes_sent)).collect()
}

#[test]
fn a_bound_that_does_not_hold_ends_the_run_alike_at_every_party() {
    for engine in ENGINES {
        let [holds, fails] = [(1000, true), (900, false)].map(|(most, expected)| {
            let plan = guarded(engine, most);
            let sessions = sessions(&plan, engine);
            let ends = together(&sessions, |session| drive(session, &plan, None, false));
            assert_eq!(ends.len(), nodes_of(engine).len() + 1);
            for (session, end) in sessions.iter().zip(ends) {
                match end {
                    Ok(opened) if expected => assert_eq!(opened.contains_key(&7), session.me() == "ann"),
                    Err(error) if !expected => assert_withheld(&error),
                    _ => panic!("{} on {engine} with {most}", session.me()),
                }
                assert!(expected || matches!(session.close(), Err(RunError::Ended(_))), "it has ended");
                let released = session.metrics(false).iter().any(|metered| metered.step == "7.release");
                assert_eq!(released, expected, "nothing is executed behind a guard that is set");
            }
            assert!(sent(&sessions, "3.program").len() >= nodes_of(engine).len());
            ["3.program", "6.release"].map(|step| sent(&sessions, step))
        });
        // A bound of 1000 is proved, so that its comparison costs nothing: the guard alone is alike.
        assert_eq!(holds[1], fails[1], "{engine}");
    }
}

#[test]
fn a_bound_that_does_not_hold_ends_the_run_over_tls() {
    let plan = guarded("rep3", 900);
    let names: Vec<String> = plan.parties("rep3").names().cloned().collect();
    let ends = over_tls(&names, |_| plan.agreement("rep3"), |session| drive(session, &plan, None, false));
    assert_eq!(ends.len(), 4);
    ends.into_iter().for_each(|end| assert_withheld(&end.expect_err("it does not hold")));
    let error = session_in_clear(&plan).expect_err("it does not hold");
    assert_withheld(&error);
}

fn assert_withheld(error: &RunError) {
    assert_eq!(error.fault(), Fault::Withheld, "{error}");
    assert_eq!(error.place(), [None, Some("6.release")]);
    assert!(error.to_string().starts_with("a bound that the program checks does not hold"), "{error}");
}

fn session_in_clear(plan: &Plan) -> Result<Opened, RunError> {
    let session = Session::clear(&plan.agreement("clear")).expect("a plan");
    drive(&session, plan, None, true)
}

#[test]
fn a_guard_is_one_bit_to_all_parties() {
    let plan = guarded("rep3", 900);
    let refusal = |change: &dyn Fn(&mut Json)| {
        let mut steps: Vec<Json> = serde_json::from_str(&plan.operators).expect("operators");
        change(&mut steps[3]);
        let steps = Json::from(steps).to_string();
        permits("rep3", &steps, &plan.parties("rep3")).expect_err("it is no guard").to_string()
    };
    let refused = "6.release: the plan guards a run by something else than one bit that all parties are told";
    assert_eq!(refusal(&|guard| guard["to"] = json!(["ann", "bob", "cyd"])), refused);
    let numbers = |guard: &mut Json| {
        guard["input"] = json!(5);
        guard["columns"] = json!(["x"]);
    };
    assert_eq!(refusal(&numbers), refused);
}
