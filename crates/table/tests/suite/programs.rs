//! Programs on arrays among the operators of a plan: columns in, columns of new tables out.

use std::collections::HashMap;

use serde_json::{Value as Json, json};
use tacit_mpc::Link;
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_table::{ColumnData, DataColumn, DataTable, Operator, TableError, WrongInput, cost};

use super::world::runs::{clear, names, nodes, permits};
use super::world::steps::{col, column, filter, input, release};
use super::world::{Cell, Clear, PARTIES, Plan, bits, ring64, ring128};

const ROWS: usize = 6;

fn kind(text: &str) -> Json {
    serde_json::from_str(text).expect("a kind")
}

fn node(operation: Json, args: &[usize], shape: &[usize], ring: u32, bounds: (i64, i64)) -> Json {
    let (low, high) = (bounds.0.to_string(), bounds.1.to_string());
    let common = json!({"args": args, "shape": shape, "ring": ring, "fraction": 0, "low": low, "high": high});
    let (Json::Object(mut members), Json::Object(common)) = (operation, common) else { unreachable!("objects") };
    members.extend(common);
    Json::Object(members)
}

/// ann's numbers as a matrix of 2 x 3 times its transpose, and which of them are above bob's where his flag is set.
fn program(kinds: [String; 2]) -> Json {
    let bounds = (-900, 900);
    let nodes = [
        node(json!({"op": "input", "index": 0}), &[], &[2, 3], 64, bounds),
        node(json!({"op": "transpose", "axes": [1, 0]}), &[0], &[3, 2], 64, bounds),
        node(json!({"op": "matmul", "cut": 0, "floor": false}), &[0, 1], &[2, 2], 64, (-2_430_000, 2_430_000)),
        node(json!({"op": "input", "index": 1}), &[], &[2, 3], 64, (0, 511)),
        node(json!({"op": "less"}), &[3, 0], &[2, 3], 1, (0, 1)),
        node(json!({"op": "input", "index": 2}), &[], &[2, 3], 1, (0, 1)),
        node(json!({"op": "both"}), &[4, 5], &[2, 3], 1, (0, 1)),
    ];
    let [matrix, flags] = kinds.map(|text| kind(&text));
    json!({
        "id": 7, "op": "program", "nodes": nodes,
        "inputs": [{"step": 1, "column": "x"}, {"step": 2, "column": "y"}, {"step": 2, "column": "flag"}],
        "outputs": [
            {"id": 8, "node": 2, "column": "matrix", "kind": matrix},
            {"id": 9, "node": 6, "column": "above", "kind": flags},
        ],
    })
}

fn kinds() -> [String; 2] {
    [ring64(23, false), bits(1, false, false)]
}

/// A release in the order that there is.
fn ordered(id: usize, input: usize, column: &str) -> String {
    release(id, input, &[column], true)
}

fn inputs(rows: Option<usize>, x: &str) -> [String; 2] {
    let theirs = [column("y", "int", &bits(9, false, false)), column("flag", "int", &bits(1, false, false))];
    [input(1, "ann", &column("x", "int", x), rows), input(2, "bob", &theirs.join(","), rows)]
}

fn plan(program: &Json) -> Plan {
    let [ann, bob] = inputs(None, &ring64(11, false));
    Plan::new(&[ann, bob, program.to_string(), ordered(10, 8, "matrix"), ordered(11, 9, "above")])
}

const X: [i64; ROWS] = [1, -20, 300, 4, 500, -900];
const Y: [i64; ROWS] = [0, 1, 299, 5, 400, 511];
const FLAGS: [i64; ROWS] = [1, 1, 1, 0, 0, 1];

fn data() -> HashMap<usize, DataTable> {
    let of = |name: &str, values: &[i64]| DataColumn {
        name: name.into(),
        data: ColumnData::Integers(values.to_vec()),
        nulls: None,
    };
    let table = |columns: Vec<DataColumn>| DataTable { rows: ROWS, columns, pad_to: None };
    [(1, table(vec![of("x", &X)])), (2, table(vec![of("y", &Y), of("flag", &FLAGS)]))].into()
}

fn expected(step: usize) -> Vec<i128> {
    match step {
        10 => {
            let row = |i: usize| &X[3 * i..3 * i + 3];
            let entry = |i, j| row(i).iter().zip(row(j)).map(|(a, b)| i128::from(a * b)).sum();
            vec![entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)]
        }
        _ => (0..ROWS).map(|i| i128::from(X[i] > Y[i] && FLAGS[i] == 1)).collect(),
    }
}

/// Bob's rows, of which there may be more than he has, and of which his flag leaves some. Of these the numbers, and
/// which they are, become one table.
fn filtered() -> Plan {
    let [_, bob] = inputs(Some(PADDED), &ring64(11, false));
    let nodes = [
        node(json!({"op": "input", "index": 0}), &[], &[PADDED], 64, (0, 511)),
        node(json!({"op": "input", "index": 1}), &[], &[PADDED], 1, (0, 1)),
        node(json!({"op": "input", "index": 2}), &[], &[PADDED], 1, (0, 1)),
    ];
    let [number, bit] = [ring64(10, false), bits(1, false, false)].map(|text| kind(&text));
    let program = json!({
        "id": 7, "op": "program", "nodes": nodes,
        "inputs": [{"step": 3, "column": "y"}, {"step": 3, "column": "flag"}, {"step": 3, "column": null}],
        "outputs": [
            {"id": 8, "node": 0, "column": "y", "kind": number},
            {"id": 8, "node": 1, "column": "flag", "kind": bit},
            {"id": 8, "node": 2, "column": "there", "kind": bit},
        ],
    });
    let opened = release(10, 8, &["y", "flag", "there"], true);
    Plan::new(&[bob, filter(3, 2, &col("flag")), program.to_string(), opened])
}

const PADDED: usize = 8;

#[test]
fn rows_that_are_not_valid_are_zero_and_columns_stand_side_by_side() {
    let plan = filtered();
    let check = |learnt: &HashMap<usize, Clear>| {
        let row = |i: usize| match FLAGS.get(i) {
            Some(1) => vec![Cell::Int(Y[i].into()), Cell::Int(1), Cell::Int(1)],
            _ => vec![Cell::Int(0); 3],
        };
        assert_eq!(learnt[&10].rows, (0..PADDED).map(row).collect::<Vec<_>>());
    };
    check(&clear(&plan, &data()).unwrap_or_else(|error| panic!("{error}")));
    check_with::<Rep3>(&plan, check);
    check_with::<Two>(&plan, check);
}

fn check(learnt: &HashMap<usize, Clear>) {
    for (&step, table) in learnt {
        let found: Vec<Cell> = table.rows.iter().map(|row| row[0].clone()).collect();
        let expected: Vec<Cell> = expected(step).into_iter().map(Cell::Int).collect();
        assert_eq!(found, expected, "step {step}");
    }
}

/// On an engine every node that learns anything learns what is right, at the declared cost.
fn check_with<B: Networked>(plan: &Plan, check: impl Fn(&HashMap<usize, Clear>)) {
    let plan = plan.clone().among(&names::<B>());
    let nodes = nodes::<B>(&plan, &data(), permits);
    let parties = names::<B>().into();
    let none = |_: &mut _, _: &_, _| unreachable!("no plan matches");
    let sizes = [(1, ROWS), (2, ROWS)].into();
    let declared =
        cost::<B::Formulas>(&parties, &plan.operators, &sizes, Link::UNDECLARED, Default::default(), false, none);
    let declared = declared.unwrap_or_else(|error| panic!("{error}"));
    let mut answers = 0;
    for (place, (node, name)) in nodes.iter().zip(PARTIES).enumerate() {
        let learnt = node.learnt.as_ref().unwrap_or_else(|error| panic!("{name}: {error}"));
        answers += learnt.len();
        if !learnt.is_empty() {
            check(learnt);
        }
        for (step, operator) in declared.iter().zip(&plan.operators) {
            let metered = node.metrics.under(&operator.name());
            let declared = (step.communication.rounds, step.communication.sent[place]);
            assert_eq!((metered.rounds, metered.bytes_sent), declared, "{}", operator.name());
        }
    }
    assert!(answers > 0, "tables are opened");
}

#[test]
fn results_are_tables_in_their_order() {
    let wide = [ring64(61, false), bits(3, true, false)];
    for kinds in [kinds(), [bits(23, true, false), bits(1, false, false)], wide] {
        let plan = plan(&program(kinds));
        let learnt = clear(&plan, &data()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(learnt.len(), 2);
        check(&learnt);
        check_with::<Rep3>(&plan, check);
        check_with::<Two>(&plan, check);
    }
}

#[test]
fn a_program_has_ids_of_its_tables_and_its_own() {
    let text = program(kinds()).to_string();
    let operator = Operator::from_json(&text).expect("an operator");
    assert_eq!((operator.id(), operator.name()), (7, "7.program".to_owned()));
    assert_eq!((operator.inputs(), operator.makes()), (vec![1, 2], vec![8, 9]));
    assert_eq!(Operator::from_json(&operator.to_json()).expect("as it was").to_json(), operator.to_json());
    let other = |id: usize| format!("[{text},{}]", ordered(id, 8, "matrix"));
    for id in [7, 8, 9] {
        assert!(Operator::list_from_json(&other(id)).is_err(), "{id} is taken");
    }
    assert!(Operator::list_from_json(&other(10)).is_ok());
}

#[test]
fn what_is_no_program_is_refused_when_it_is_read() {
    let wrong = |change: &dyn Fn(&mut Json), says: &str| {
        let mut changed = program(kinds());
        change(&mut changed);
        let error = Operator::from_json(&changed.to_string()).expect_err("it is wrong").to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    };
    wrong(&|program| program["nodes"][4]["ring"] = json!(64), "node 4 (less)");
    wrong(&|program| program["nodes"][0]["index"] = json!(3), "takes input 3 of 3");
    wrong(&|program| program["outputs"][0]["node"] = json!(99), "has no node 99");
    wrong(&|program| program["outputs"][0]["kind"] = kind(&ring64(22, false)), "does not hold numbers");
    wrong(&|program| program["outputs"][0]["kind"] = kind(&ring128(40, false)), "does not hold numbers");
    wrong(&|program| program["outputs"][0]["kind"] = kind(&ring64(40, true)), "does not hold numbers");
    wrong(&|program| program["more"] = json!(1), "more");
    wrong(&|program| program["inputs"][0]["row"] = json!(1), "row");
    wrong(&|program| program["inputs"][0] = json!({"step": 1}), "column");
    wrong(&|program| program["outputs"][1]["id"] = json!(8), "as long as it is");
    wrong(&|program| program["outputs"][1] = program["outputs"][0].clone(), "no column of its own");
}

/// What clear says of a plan with this program or these inputs.
fn refusal(program: &Json, x: &str) -> WrongInput {
    let [ann, bob] = inputs(None, x);
    match clear(&Plan::new(&[ann, bob, program.to_string()]), &data()) {
        Err(TableError::Input { step: Some(step), what }) => {
            assert_eq!(step, "7.program");
            what
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn columns_that_are_no_arrays_are_refused() {
    let plain = program(kinds());
    let x = ring64(11, false);
    assert!(matches!(refusal(&plain, &ring64(11, true)), WrongInput::ArrayNulls { .. }), "NULLs");
    let changed = |change: &dyn Fn(&mut Json)| {
        let mut changed = plain.clone();
        change(&mut changed);
        refusal(&changed, &x)
    };
    let other_shape = changed(&|program| {
        for place in [3, 4, 5, 6] {
            program["nodes"][place]["shape"] = json!([1, 3]);
        }
        program["nodes"][4]["shape"] = json!([2, 3]);
        program["nodes"][6]["shape"] = json!([2, 3]);
    });
    assert!(matches!(other_shape, WrongInput::ArrayRows { rows: 6, elements: 3, .. }), "{other_shape}");
    let no_column = changed(&|program| program["inputs"][0]["column"] = json!("z"));
    assert!(matches!(no_column, WrongInput::PlanColumn { .. }), "{no_column}");
    let no_bits = changed(&|program| program["inputs"][2]["column"] = json!("y"));
    assert!(matches!(no_bits, WrongInput::ArrayColumn { .. }), "{no_bits}");
    let unused = changed(&|program| {
        program["inputs"].as_array_mut().expect("a list").push(json!({"step": 1, "column": "x"}));
    });
    assert!(matches!(unused, WrongInput::ArrayTaken { .. }), "{unused}");
}
