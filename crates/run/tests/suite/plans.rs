//! Whole plans, from owners' data to answers: on every engine the same, in one process and over TLS, at the declared
//! cost.

use std::collections::HashMap;

use super::world::plans::{
    identified, identified_answer, keeping, matched, matched_answer, reading, reading_answer, release, totals,
    totals_answer,
};
use super::world::{
    ENGINES, Opened, Plan, RING, Rows, Store, bits, drive, in_clear, nodes, over_tls, sessions, together,
};
use tacit_math::KeyedHash;
use tacit_run::{Conditions, Link, OperatorCost, Prices, Session, cost};
use tacit_table::{ColumnData, DataColumn, DataTable, StepCost, Text};

/// The answer of ann, who alone gets one.
fn answer(ends: Vec<Opened>) -> Rows {
    let mut ends = ends.into_iter();
    let opened = ends.next().and_then(|opened| opened.into_values().next());
    assert!(ends.all(|other| other.is_empty()), "only ann is told");
    opened.expect("ann is told")
}

fn among_threads(plan: &Plan, engine: &str) -> Rows {
    let ends = together(&sessions(plan, engine), |session| drive(session, plan, None, false));
    answer(ends.into_iter().map(|end| end.expect("an end in order")).collect())
}

fn among_machines(plan: &Plan, engine: &str) -> Rows {
    let ends = over_tls(&nodes(engine), |_| plan.agreement(engine), |session| drive(session, plan, None, false));
    answer(ends.into_iter().map(|end| end.expect("an end in order")).collect())
}

#[test]
fn a_join_and_its_groups_are_the_same_everywhere() {
    let plan = totals();
    assert_eq!(in_clear(&plan)[&5], totals_answer());
    for engine in ENGINES {
        assert_eq!(among_threads(&plan, engine), totals_answer(), "{engine} among threads");
        assert_eq!(among_machines(&plan, engine), totals_answer(), "{engine} over TLS");
    }
}

#[test]
fn joins_by_intersection_are_the_same_everywhere() {
    for op in ["psi", "circuit_psi"] {
        let plan = matched(op);
        assert_eq!(in_clear(&plan)[&4], matched_answer(), "{op} in clear");
        for engine in ENGINES {
            assert_eq!(among_threads(&plan, engine), matched_answer(), "{op} on {engine} among threads");
            assert_eq!(among_machines(&plan, engine), matched_answer(), "{op} on {engine} over TLS");
        }
    }
}

#[test]
fn full_joins_by_universal_ids_are_the_same_everywhere() {
    for padded in [None, Some([6, 5])] {
        let plan = identified(padded);
        assert_eq!(in_clear(&plan)[&4], identified_answer(), "in clear");
        for engine in ENGINES {
            assert_eq!(among_threads(&plan, engine), identified_answer(), "{engine} among threads");
            assert_eq!(among_machines(&plan, engine), identified_answer(), "{engine} over TLS");
        }
    }
}

/// Kept in one process, read over TLS, where nodes compare of which tables they have parts.
#[test]
fn what_one_run_keeps_another_reads() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store(folder.path());
        let kept = together(&sessions(&keeping(), engine), |session| drive(session, &keeping(), Some(&store), false));
        kept.into_iter().for_each(|end| assert!(end.expect("an end in order").is_empty()));
        let (plan, nodes) = (reading(), nodes(engine));
        let agreement = |place: usize| {
            let part = store.read(&nodes[place], &plan.steps()[0]).expect("an intact file");
            tacit_run::Agreement { kept: Some(vec![part.table]), ..plan.agreement(engine) }
        };
        let ends = over_tls(&nodes, agreement, |session| drive(session, &plan, Some(&store), false));
        let ends = ends.into_iter().map(|end| end.expect("an end in order")).collect();
        assert_eq!(answer(ends), reading_answer(), "{engine}");
    }
}

fn assert_as_declared(plan: &Plan, engine: &str, sizes: &[(usize, usize)]) {
    let sessions = sessions(plan, engine);
    together(&sessions, |session| drive(session, plan, None, false).expect("an end in order"));
    let sizes: HashMap<usize, usize> = sizes.iter().copied().collect();
    let (parties, prices) = (&plan.parties(engine), &Prices::default());
    let conditions = Conditions { parties, link: Link::UNDECLARED, network: None, prices, ahead: true };
    let declared = cost(engine, &plan.operators, &sizes, &conditions).expect("a plan");
    assert_eq!(declared.len(), plan.steps().len());
    for (node, session) in sessions.iter().enumerate() {
        for OperatorCost { step, declared: StepCost { communication, ahead, .. }, .. } in &declared {
            let metered = session.metrics(false).into_iter().find(|metered| metered.step == *step);
            let metered = metered.map(|metered| (metered.rounds, metered.rounds_ahead, metered.bytes_sent));
            assert_eq!(
                metered,
                Some((communication.rounds, *ahead, communication.sent[node])),
                "{step} on {engine} at {node}"
            );
        }
    }
}

#[test]
fn what_is_declared_is_what_is_metered() {
    for engine in ENGINES {
        assert_as_declared(&totals(), engine, &[(2, 6)]);
        assert_as_declared(&matched("psi"), engine, &[(1, 4), (2, 3), (3, 2)]);
        assert_as_declared(&matched("circuit_psi"), engine, &[(1, 4), (2, 3)]);
        assert_as_declared(&identified(None), engine, &[(1, 4), (2, 3), (3, 5)]);
        assert_as_declared(&identified(Some([6, 5])), engine, &[(3, 9)]);
    }
}

/// A step's nested steps add up to it.
#[test]
fn nested_steps_add_up() {
    let plan = totals();
    let sessions = sessions(&plan, "rep3");
    together(&sessions, |session| drive(session, &plan, None, false).expect("an end in order"));
    let bytes = |session: &Session, nested: bool, step: &str| -> Vec<u64> {
        let of = |name: &str| name.split('/').next() == Some(step);
        session.metrics(nested).into_iter().filter(|each| of(&each.step)).map(|each| each.bytes_sent).collect()
    };
    for session in &sessions {
        let (parts, whole) = (bytes(session, true, "3.join"), bytes(session, false, "3.join"));
        assert!(parts.len() > 1);
        assert_eq!(whole, [parts.iter().sum::<u64>()]);
    }
}

/// ann's rows with `code 15`, opened to ann. codes: those of ann's rows, with the number of each.
fn with_code(width: usize, codes: &[&str]) -> Plan {
    let kind = bits(width);
    let predicate = format!(
        r#"{{"op":"eq","args":[{{"col":"code"}},{{"text":"code 15","encode":"hash","kind":{kind}}}],"kind":{}}}"#,
        bits(1)
    );
    let operators = [
        format!(
            r#"{{"id":1,"op":"input","owner":"ann","rows":{},"columns":[
                {{"name":"code","source":"code","encode":"hash","kind":{kind}}},
                {{"name":"v","source":"v","encode":"int","kind":{RING}}}]}}"#,
            codes.len()
        ),
        format!(r#"{{"id":2,"op":"filter","input":1,"predicate":{predicate}}}"#),
        release(3, 2, &["v"]),
    ];
    let mut text = Text::default();
    codes.iter().for_each(|code| text.push(code.as_bytes()));
    let column = |name: &str, data| DataColumn { name: name.into(), data, nulls: None };
    let numbers = ColumnData::Integers((0..codes.len() as i64).collect());
    let columns = vec![column("code", ColumnData::Text(text)), column("v", numbers)];
    Plan::new(&operators, [(1, DataTable { rows: codes.len(), columns, pad_to: None })])
}

/// Who writes a plan can try names in it until an innocent constant has the hash of another string, if the key of
/// hashes follows from the plan. The engine without security has such a key.
#[test]
fn strings_that_collide_under_a_key_of_the_plan_differ_in_a_run() {
    const WIDTH: usize = 20;
    let foreseen = with_code(WIDTH, &["code 15", "no match"]).agreement("clear").hash_key(&[0; 32]);
    let hash = |text: &str| KeyedHash::new(&foreseen).hash(text.as_bytes()) % (1 << WIDTH);
    let innocent = hash("code 15");
    let other = (0..).map(|i| format!("diagnosis {i}")).find(|text| hash(text) == innocent).expect("one of many");
    let plan = with_code(WIDTH, &["code 15", &other]);
    assert_eq!(in_clear(&plan)[&3], [[0], [1]], "the other string passes for the constant");
    for engine in ENGINES {
        assert_eq!(among_threads(&plan, engine), [[0]], "{engine} among threads");
        assert_eq!(among_machines(&plan, engine), [[0]], "{engine} over TLS");
    }
}
