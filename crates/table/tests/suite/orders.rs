//! Which order rows are opened in, and which of them a limit keeps: what a sort of the plan says, and nothing else.

use std::collections::{BTreeSet, HashMap};

use super::world::runs::{self, clear, permits};
use super::world::steps::{call, col, column, filter, input, int, limit, release, sort_by, with};
use super::world::{Cell, Plan, bits, ring64};
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_mpc::{Link, Permits};
use tacit_table::{ColumnData, DataColumn, DataTable, Operator, TableError, WrongInput, cost};

const RUNS: usize = 20;

/// Rows of ann, one for each of 4 departments and each of 3 salaries in it, as her file lists them.
fn staff() -> String {
    let columns = [column("dept", "int", &bits(6, true, false)), column("salary", "int", &bits(8, false, false))];
    input(1, "ann", &columns.join(","), None)
}

fn data() -> HashMap<usize, DataTable> {
    let of = |name: &str, value: fn(i64) -> i64| DataColumn {
        name: name.into(),
        data: ColumnData::Integers((0..12).map(value).collect()),
        nulls: None,
    };
    let columns = vec![of("dept", |row| row / 3), of("salary", |row| 10 * row)];
    [(1, DataTable { rows: 12, columns, pad_to: None })].into()
}

/// A group for every row, in the order of these keys.
fn groups(id: usize, input: usize, keys: &[&str]) -> String {
    let count = serde_json::json!({"name": "n", "function": "count_rows", "kind": {"repr": "ring64", "width": 20, "signed": false, "nullable": false}});
    serde_json::json!({"id": id, "op": "group_by", "input": input, "keys": keys, "aggregates": [count], "groups": null})
        .to_string()
}

/// A projection to columns, each with its expression and kind.
fn project(id: usize, input: usize, columns: &[(&str, String, String)]) -> String {
    let one =
        |(name, expr, kind): &(&str, String, String)| format!(r#"{{"name":"{name}","expr":{expr},"kind":{kind}}}"#);
    let columns: Vec<_> = columns.iter().map(one).collect();
    format!(r#"{{"id":{id},"op":"project","input":{input},"columns":[{}]}}"#, columns.join(","))
}

/// The salary, and the distance of the department from the first one, under the department's name.
fn reused_name(id: usize, input: usize) -> String {
    let (dept, salary) = (bits(6, true, false), bits(8, false, false));
    let distance = call("sub", &[&int(3, 3), &col("dept")], &dept);
    project(id, input, &[("dept", distance, dept), ("salary", col("salary"), salary)])
}

fn kept(id: usize, input: usize) -> String {
    project(id, input, &[("dept", col("dept"), bits(6, true, false)), ("n", col("n"), ring64(20, false))])
}

fn refused(operators: &[String]) {
    match clear(&Plan::new(operators), &data()) {
        Err(TableError::Input { step: Some(_), what: WrongInput::Unordered }) => {}
        other => panic!("{other:?} of {operators:?}"),
    }
}

fn shown(operators: &[String], engine: Engine) -> Vec<Vec<i128>> {
    let number = |cell: &Cell| if let Cell::Int(x) = cell { *x } else { panic!("a number") };
    engine(&Plan::new(operators)).iter().map(|row| row.iter().map(number).collect()).collect()
}

type Engine = fn(&Plan) -> Vec<Vec<Cell>>;

fn in_clear(plan: &Plan) -> Vec<Vec<Cell>> {
    clear(plan, &data()).expect("a valid plan").remove(&9).expect("released").rows
}

fn among<B: Networked>(plan: &Plan) -> Vec<Vec<Cell>> {
    let plan = plan.clone().among(&runs::names::<B>());
    let nodes = runs::nodes::<B>(&plan, &data(), permits);
    let mut learnt = nodes.into_iter().map(|node| node.learnt.expect("a valid plan"));
    learnt.find_map(|mut learnt| learnt.remove(&9)).expect("released").rows
}

const ENGINES: [Engine; 3] = [in_clear, among::<Rep3>, among::<Two>];

#[test]
fn an_order_that_no_sort_made_is_neither_opened_nor_cut_off() {
    let both = ["dept", "salary"];
    let grouped = || groups(2, 1, &["dept", "salary"]);
    // The order of an owner's file, of group keys, of a filter's rows, of what is sorted by another column's encodings.
    refused(&[staff(), release(9, 1, &both, true)]);
    refused(&[staff(), grouped(), release(9, 2, &both, true)]);
    refused(&[staff(), grouped(), reused_name(3, 2), release(9, 3, &both, true)]);
    refused(&[
        staff(),
        sort_by(2, 1, &both),
        filter(3, 2, &call("gt", &[&col("dept"), &int(1, 2)], &bits(1, false, false))),
        release(9, 3, &both, true),
    ]);
    refused(&[staff(), sort_by(2, 1, &both), groups(3, 2, &["salary"]), release(9, 3, &["salary"], true)]);
    let by_encoding = with(&staff(), "sorted_by", serde_json::json!(["salary"]));
    refused(&[by_encoding.clone(), release(9, 1, &both, true)]);
    refused(&[with(&by_encoding, "ordered", serde_json::json!(true)), release(9, 1, &both, true)]);
    refused(&[staff(), limit(2, 1, 5, 0), release(9, 2, &both, false)]);
    refused(&[staff(), grouped(), limit(3, 2, 5, 0), release(9, 3, &both, false)]);
}

#[test]
fn nothing_is_sent_before_a_refusal() {
    let operators = [staff(), groups(2, 1, &["dept"]), release(9, 2, &["dept"], true)];
    let nodes = runs::nodes::<Rep3>(&Plan::new(&operators), &data(), permits);
    // Who refuses first ends the session of the others.
    assert!(nodes.iter().any(|node| matches!(node.learnt, Err(TableError::Input { .. }))));
    for node in nodes {
        assert!(node.learnt.is_err());
        assert_eq!(node.metrics.under("9.release").bytes_sent, 0);
    }
}

#[test]
fn an_owner_may_give_rows_in_the_order_of_the_query() {
    let given = with(&staff(), "ordered", serde_json::json!(true));
    let operators = [given, limit(2, 1, 3, 1), release(9, 2, &["salary"], true)];
    assert_eq!(shown(&operators, in_clear), [[10], [20], [30]]);
}

/// The staff with salaries of 90 or more, of whom a release opens 4 rows.
fn few_of(before: &[String], input: usize, ordered: bool) -> Vec<String> {
    let high = filter(7, input, &call("ge", &[&col("salary"), &int(90, 8)], &bits(1, false, false)));
    let opened = with(&release(9, 7, &["salary"], ordered), "most", serde_json::json!(4));
    [before, &[high, opened]].concat()
}

/// Permits, that of the release for a number of rows.
fn of_rows(permits: &str, rows: usize) -> Permits {
    let mut listed: Vec<serde_json::Value> = serde_json::from_str(permits).expect("a list");
    let answer = listed.iter_mut().find(|permit| permit["site"] == "9.release").expect("an answer");
    answer["rows"] = rows.into();
    Permits::from_json(&serde_json::Value::from(listed).to_string()).expect("a list of permits")
}

#[test]
fn where_few_rows_can_be_valid_no_others_are_opened() {
    for engine in ENGINES {
        let mut rows = shown(&few_of(&[staff()], 1, false), engine);
        rows.sort();
        assert_eq!(rows, [[90], [100], [110]]);
    }
    // An approval of as many rows allows it, and none of fewer.
    let plan = Plan::new(&few_of(&[staff()], 1, false));
    let opened = |rows: usize| {
        let permits = |plan: &Plan, nodes: &[String]| of_rows(&runs::permit_list(plan, nodes), rows);
        runs::nodes::<Rep3>(&plan.clone().among(&runs::names::<Rep3>()), &data(), permits)
    };
    assert!(opened(4).into_iter().all(|node| node.learnt.is_ok()));
    assert!(opened(3).into_iter().all(|node| node.learnt.is_err()));
}

#[test]
fn a_computed_column_is_sorted_whatever_its_name_was() {
    let operators = [
        staff(),
        groups(2, 1, &["dept", "salary"]),
        reused_name(3, 2),
        sort_by(4, 3, &["dept", "salary"]),
        limit(5, 4, 4, 0),
        release(9, 5, &["dept", "salary"], true),
    ];
    for engine in ENGINES {
        assert_eq!(shown(&operators, engine), [[0, 90], [0, 100], [0, 110], [1, 60]]);
    }
}

/// The sorted column of each row, and which rows of the department 1 a limit keeps, in their order, over several runs.
fn of_equal_rows(operators: &[String], engine: Engine, runs: usize) -> BTreeSet<Vec<i128>> {
    let run = |_| {
        let rows = shown(operators, engine);
        assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
        rows[3..].iter().map(|row| row[1]).collect()
    };
    (0..runs).map(run).collect()
}

#[test]
fn rows_that_the_query_holds_equal_show_nothing_of_what_ordered_them_before() {
    // Two of three salaries come in six ways of the same chance: 20 runs come all in one with a probability of 6^-19.
    let plans = |arranged: Vec<String>| {
        let last = arranged.len() + 1;
        let mut operators = vec![staff()];
        operators.extend(arranged);
        operators.extend([sort_by(6, last, &["dept"]), limit(7, 6, 5, 0), release(9, 7, &["dept", "salary"], true)]);
        operators
    };
    let keep = |id, input| {
        let of = |name: &'static str, kind| (name, col(name), kind);
        project(id, input, &[of("dept", bits(6, true, false)), of("salary", bits(8, false, false))])
    };
    for arranged in [
        vec![],
        vec![groups(2, 1, &["dept", "salary"])],
        vec![groups(2, 1, &["dept", "salary"]), keep(3, 2)],
        vec![sort_by(2, 1, &["dept", "salary"])],
        vec![sort_by(2, 1, &["dept", "salary"]), limit(3, 2, 12, 0), keep(4, 3)],
    ] {
        let operators = plans(arranged);
        assert!(of_equal_rows(&operators, in_clear, RUNS).len() > 1, "{operators:?}");
    }
    let operators = plans(vec![groups(2, 1, &["dept", "salary"])]);
    for engine in [among::<Rep3> as Engine, among::<Two>] {
        assert!(of_equal_rows(&operators, engine, RUNS).len() > 1);
    }
}

/// Departments by their number of salaries, and beside them how many rows of the staff they have.
fn beside_departments(columns: &[&str], kept: bool) -> Vec<String> {
    let kind: serde_json::Value = serde_json::from_str(&ring64(20, false)).expect("a kind");
    let count = serde_json::json!({"name": "rows", "function": "count_rows", "kind": kind});
    let join = serde_json::json!({"id": 4, "op": "group_join", "left": 3, "right": 1, "left_keys": ["dept"],
        "right_keys": ["dept"], "left_columns": columns, "aggregates": [count], "kept": kept});
    vec![staff(), groups(2, 1, &["dept"]), sort_by(3, 2, &["n", "dept"]), join.to_string()]
}

#[test]
fn rows_that_all_stay_beside_their_sums_stay_in_order() {
    let opened = |columns: &[&str], kept| {
        let shown = release(9, 4, &[columns, &["rows"]].concat(), true);
        [beside_departments(columns, kept), vec![shown]].concat()
    };
    for engine in ENGINES {
        let rows = shown(&opened(&["dept", "n"], true), engine);
        assert_eq!(rows, [[0, 3, 3], [1, 3, 3], [2, 3, 3], [3, 3, 3]]);
    }
    refused(&opened(&["dept", "n"], false));
    refused(&opened(&["dept"], true));
}

#[test]
fn columns_that_are_gone_order_nothing() {
    // Salaries order the groups of a department even where only a number computed from them is left.
    let operators = [
        staff(),
        groups(2, 1, &["dept", "salary"]),
        project(3, 2, &[("dept", col("dept"), bits(6, true, false)), ("pay", col("salary"), bits(8, false, false))]),
        project(
            4,
            3,
            &[
                ("dept", col("dept"), bits(6, true, false)),
                ("x", call("sub", &[&int(127, 8), &col("pay")], &bits(9, true, false)), bits(9, true, false)),
            ],
        ),
        sort_by(5, 4, &["dept"]),
        limit(7, 5, 5, 0),
        release(9, 7, &["dept", "x"], true),
    ];
    assert!(of_equal_rows(&operators, in_clear, RUNS).len() > 1);
}

#[test]
fn a_sort_of_what_is_in_exactly_this_order_costs_nothing() {
    let rounds = |arranged: &[String], by: &[&str]| {
        let last = arranged.len() + 1;
        let mut operators = vec![staff()];
        operators.extend_from_slice(arranged);
        operators.extend([sort_by(8, last, by), release(9, 8, by, true)]);
        let plan = Plan::new(&operators);
        let sizes = [(1, 12)].into();
        let names = runs::names::<Rep3>();
        let unmatched = |_: &mut _, _: &_, _| unreachable!("no plan matches");
        let (names, operators) = (names.into(), &plan.operators);
        let costs =
            cost::<<Rep3 as Networked>::Formulas>(&names, operators, &sizes, Link::UNDECLARED, (), false, unmatched);
        let costs = costs.expect("a valid plan");
        let place = plan.operators.iter().position(|operator| matches!(operator, Operator::Sort(x) if x.id == 8));
        costs[place.expect("a sort")].communication.rounds
    };
    let grouped = || groups(2, 1, &["dept", "salary"]);
    assert_eq!(rounds(&[grouped()], &["dept", "salary"]), 0);
    assert_eq!(rounds(&[sort_by(2, 1, &["dept"])], &["dept"]), 0);
    assert_eq!(rounds(&[sort_by(2, 1, &["dept"]), limit(3, 2, 5, 0)], &["dept"]), 0);
    assert_eq!(rounds(&[groups(2, 1, &["dept"]), kept(3, 2)], &["dept"]), 0);
    let renamed = |input| {
        project(3, input, &[("a", col("dept"), bits(6, true, false)), ("b", col("salary"), bits(8, false, false))])
    };
    assert_eq!(rounds(&[grouped(), renamed(2)], &["a", "b"]), 0);
    assert!(rounds(&[grouped()], &["dept"]) > 0);
    assert!(rounds(&[grouped()], &["salary", "dept"]) > 0);
    assert!(rounds(&[grouped(), kept(3, 2)], &["dept"]) > 0);
    assert!(rounds(&[grouped(), reused_name(3, 2)], &["dept", "salary"]) > 0);
    assert!(rounds(&[sort_by(2, 1, &["dept", "salary"])], &["dept"]) > 0);
}
