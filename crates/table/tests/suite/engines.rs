//! Every operator on every engine of nodes: the same answers, exactly the declared costs, nothing undeclared, sizes of
//! the shape only.

#[cfg(tacit_memcheck)]
mod constant_time;
use std::collections::HashMap;

use super::world::cases::{Case, cases};
use super::world::runs::{Node, names, nodes, permit_list, permits};
use super::world::tables::{TEXTS, inputs};
use super::world::{Clear, PARTIES, Plan, model};
use serde_json::{Value as Json, json};
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_mpc::{Link, Permits};
use tacit_table::operator::Resize;
use tacit_table::{DataTable, Operator, TableError, cost};

fn data(tables: &HashMap<usize, Clear>) -> HashMap<usize, DataTable> {
    tables.iter().map(|(&id, table)| (id, table.to_data(&TEXTS))).collect()
}

/// Recipients learn the interpreter's answer; others learn nothing.
fn check_answers(case: &Case, nodes: &[Node], expected: &HashMap<usize, Clear>) {
    for (name, node) in PARTIES.iter().zip(nodes) {
        let learnt = node.learnt.as_ref().unwrap_or_else(|error| panic!("{}: {error}", case.name));
        for operator in &case.plan.operators {
            let Operator::Release(release) = operator else { continue };
            assert_eq!(
                learnt.contains_key(&release.id),
                release.to.iter().any(|to| to == name),
                "{}: {name}",
                case.name
            );
        }
        for (step, got) in learnt {
            let (got, expected) = (got.clone(), expected[step].clone());
            let (got, expected) = if case.ordered { (got, expected) } else { (got.sorted(), expected.sorted()) };
            assert_eq!(got, expected, "{}", case.name);
        }
    }
}

/// Every step's rounds and bytes at every node are those declared.
fn check_costs<B: Networked>(case: &Case, nodes: &[Node], sizes: &HashMap<usize, usize>) {
    let parties = names::<B>().into();
    let declared = cost::<B::Formulas>(
        &parties,
        &case.plan.operators,
        sizes,
        Link::UNDECLARED,
        Default::default(),
        false,
        |_, _, _| unreachable!("no plan matches"),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    for (step, operator) in declared.iter().zip(&case.plan.operators) {
        for (node, &sent) in nodes.iter().zip(&step.communication.sent) {
            let metered = node.metrics.under(&operator.name());
            let (metered, declared) = ((metered.rounds, metered.bytes_sent), (step.communication.rounds, sent));
            assert_eq!(metered, declared, "{}: rounds and bytes of {}", case.name, operator.name());
        }
    }
}

fn check(padded: Option<usize>, seed: u64, rows: usize, left_rows: usize) {
    check_on::<Rep3>(padded, seed, rows, left_rows);
    check_on::<Two>(padded, seed, rows, left_rows);
}

fn check_on<B: Networked>(padded: Option<usize>, seed: u64, rows: usize, left_rows: usize) {
    for mut case in cases(padded) {
        case.plan = case.plan.among(&names::<B>());
        let tables = inputs(seed, rows, left_rows);
        let nodes = nodes::<B>(&case.plan, &data(&tables), permits);
        check_answers(&case, &nodes, &model::interpret(&case.plan, &tables));
        check_costs::<B>(&case, &nodes, &model::rows(&case.plan, &tables));
    }
}

#[test]
fn answers_and_costs() {
    check(None, 1, 50, 14);
    check(None, 2, 129, 3);
}

#[test]
fn answers_and_costs_of_padded_inputs() {
    check(Some(70), 3, 64, 12);
    check(Some(20), 4, 1, 1);
}

#[test]
fn answers_and_costs_of_empty_tables() {
    check(None, 5, 0, 0);
    check(None, 6, 1, 0);
    check(None, 7, 0, 5);
    check(Some(1), 8, 0, 0);
}

#[test]
fn sizes_of_messages_depend_on_the_shape_only() {
    sizes_depend_on_the_shape_only::<Rep3>();
    sizes_depend_on_the_shape_only::<Two>();
}

fn sizes_depend_on_the_shape_only<B: Networked>() {
    // The number of valid rows is opened, and steps behind it are of that size.
    let opens_size = |operator: &Operator| matches!(operator, Operator::Resize(Resize { rows: None, .. }));
    for case in cases(None).into_iter().filter(|case| !case.plan.operators.iter().any(opens_size)) {
        let plan = case.plan.among(&names::<B>());
        let sizes = |seed| {
            let nodes = nodes::<B>(&plan, &data(&inputs(seed, 40, 9)), permits);
            nodes.into_iter().map(|node| node.messages).collect::<Vec<_>>()
        };
        assert_eq!(sizes(20), sizes(21), "{}", case.name);
    }
}

/// Every node refuses by itself, or learns first that another one did; nobody sends anything in that step.
fn check_refused(nodes: &[Node], step: &str, approved: &str) {
    for node in nodes {
        let refused = matches!(node.learnt, Err(TableError::Policy(_) | TableError::Net(_)));
        assert!(refused, "approved {approved}: no node may succeed");
        assert_eq!(node.metrics.under(step).bytes_sent, 0, "approved {approved}: nothing may be sent");
    }
    let policy = nodes.iter().any(|node| matches!(node.learnt, Err(TableError::Policy(_))));
    assert!(policy, "approved {approved}: the policy was the reason");
}

#[test]
fn an_undeclared_release_aborts() {
    let none = |_: &Plan, _: &[String]| Permits::from_json(&size_permits(&["1.input"])).expect("a list");
    let case = cases(None).swap_remove(0);
    check_refused(&nodes::<Rep3>(&case.plan, &data(&inputs(30, 10, 1)), none), "9.release", "sizes only");
}

/// Changes of the approved answer after which it is not what the release opens.
const OTHERWISE_APPROVED: [(&str, fn(&mut Json)); 11] = [
    ("to one recipient", |answer| answer["recipients"] = json!(["ann"])),
    ("as a size", |answer| answer["kind"] = "size".into()),
    ("at another step", |answer| answer["site"] = "8.release".into()),
    ("without the last column", |answer| drop(columns(answer).pop())),
    ("of another column", |answer| columns(answer)[0]["name"] = "keep".into()),
    ("in another order", |answer| columns(answer).swap(0, 1)),
    ("of a narrower column", |answer| columns(answer)[1]["kind"]["width"] = 3.into()),
    ("of unsigned numbers", |answer| columns(answer)[1]["kind"]["signed"] = false.into()),
    ("without NULLs", |answer| columns(answer)[1]["kind"]["nullable"] = false.into()),
    ("in planes", |answer| columns(answer)[3]["kind"]["repr"] = "bits".into()),
    ("of fewer rows", |answer| answer["rows"] = 9.into()),
];

fn columns(answer: &mut Json) -> &mut Vec<Json> {
    answer["columns"].as_array_mut().expect("a list")
}

/// What becomes of a release of all columns of 10 rows under permits of which the answer is changed.
fn released<B: Networked>(change: fn(&mut Json)) -> Vec<Node> {
    let case = cases(None).swap_remove(0);
    nodes::<B>(&case.plan.among(&names::<B>()), &data(&inputs(33, 10, 1)), |plan, nodes| {
        let mut list: Vec<Json> = serde_json::from_str(&permit_list(plan, nodes)).expect("a list");
        change(list.last_mut().expect("an answer"));
        Permits::from_json(&Json::from(list).to_string()).expect("a list")
    })
}

#[test]
fn nothing_but_the_approved_is_released() {
    let approved = |nodes: Vec<Node>| nodes.iter().all(|node| node.learnt.is_ok());
    assert!(approved(released::<Rep3>(|answer| answer["rows"] = 10.into())));
    assert!(approved(released::<Two>(|answer| answer["rows"] = 10.into())));
    for (what, change) in OTHERWISE_APPROVED {
        for nodes in [released::<Rep3>(change), released::<Two>(change)] {
            check_refused(&nodes, "9.release", what);
        }
    }
}

#[test]
fn an_undeclared_size_aborts() {
    let none = |_: &Plan, _: &[String]| Permits::from_json("[]").expect("a list");
    let case = cases(None).swap_remove(0);
    check_refused(&nodes::<Rep3>(&case.plan, &data(&inputs(31, 10, 1)), none), "1.input", "nothing");
}

/// Permits of a plan that opens a number of valid rows, with one change of the first of them.
fn counted<B: Networked>(change: fn(&mut Json)) -> Vec<Node> {
    let case = cases(None).into_iter().find(|case| case.name == "resize by a number").expect("a case");
    nodes::<B>(&case.plan.among(&names::<B>()), &data(&inputs(34, 10, 5)), |plan, nodes| {
        let mut list: Vec<Json> = serde_json::from_str(&permit_list(plan, nodes)).expect("a list");
        change(list.iter_mut().find(|permit| permit["kind"] == "count").expect("a count"));
        Permits::from_json(&Json::from(list).to_string()).expect("a list")
    })
}

#[test]
fn an_undeclared_count_aborts() {
    let changes: [(&str, fn(&mut Json)); 4] = [
        ("as a size", |count| count["kind"] = "size".into()),
        ("at another step", |count| count["site"] = "3.resize".into()),
        ("to one node", |count| count["recipients"] = json!(["ann"])),
        ("with a column", |count| {
            count["columns"] =
                json!([{"name": "n", "kind": {"repr": "ring32", "width": 32, "signed": false, "nullable": false}}])
        }),
    ];
    for (what, change) in changes {
        for nodes in [counted::<Rep3>(change), counted::<Two>(change)] {
            check_refused(&nodes, "4.resize", what);
        }
    }
    for nodes in [counted::<Rep3>(|count| count["rows"] = 1.into()), counted::<Two>(|count| count["rows"] = 1.into())] {
        let ended = nodes.iter().all(|node| matches!(node.learnt, Err(TableError::Peer(_) | TableError::Net(_))));
        assert!(ended, "a number beyond what is approved ends the run");
    }
}

#[test]
fn bad_data_is_found_before_anything_is_sent() {
    let case = cases(None).swap_remove(0);
    let mut tables = inputs(32, 10, 1);
    if let Some(table) = tables.get_mut(&1) {
        table.rows[4][1] = super::world::Cell::Int(8);
    }
    let nodes = nodes::<Rep3>(&case.plan, &data(&tables), permits);
    let Err(error @ TableError::Input { .. }) = &nodes[0].learnt else { panic!("an error of the input") };
    assert_eq!(
        error.to_string(),
        "1.input: column \"k\", row 5: a value outside the declared bounds, which fit 4 bits, signed"
    );
    assert_eq!(nodes[0].metrics.under("1.input").bytes_sent, 0, "nothing may be sent");
    assert!(nodes[1..].iter().all(|node| matches!(node.learnt, Err(TableError::Net(_)))), "the others end too");
}

fn size_permits(sites: &[&str]) -> String {
    let one = |site: &&str| json!({"site": site, "kind": "size", "recipients": PARTIES, "columns": [], "rows": null});
    Json::from(sites.iter().map(one).collect::<Vec<_>>()).to_string()
}
