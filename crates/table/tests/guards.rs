//! Programs that check bounds: nothing that depends on them is opened, or kept, before the guard of their bounds.

use serde_json::{Value as Json, json};
use tacit_math::Plane;
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::{Block, Permits};
use tacit_table::{Client, Operator, Parties, TableError};

type Formulas = <Two as Networked>::Formulas;

fn kind(repr: &str, width: usize) -> Json {
    json!({"repr": repr, "width": width, "signed": repr != "bits", "nullable": false})
}

fn node(operation: Json, args: &[usize], shape: &[usize], ring: u32, bounds: (i64, i64)) -> Json {
    let (low, high) = (bounds.0.to_string(), bounds.1.to_string());
    let common = json!({"args": args, "shape": shape, "ring": ring, "fraction": 0, "low": low, "high": high});
    let (Json::Object(mut members), Json::Object(common)) = (operation, common) else { unreachable!("objects") };
    members.extend(common);
    Json::Object(members)
}

/// A release to ann in the order that there is.
fn ordered(id: usize, input: usize, column: &str) -> String {
    json!({"id": id, "op": "release", "input": input, "to": ["ann"], "columns": [column], "ordered": true}).to_string()
}

const CHECKED: usize = 20;

/// Numbers that are checked twice, one bit that says whether all checks hold, and the numbers; `nodes` change.
fn checked(id: usize, input: usize, change: &dyn Fn(&mut Vec<Json>)) -> Json {
    let bounds = (-900, 900);
    let outside = |most: &str| json!({"op": "outside", "from": "0", "to": most});
    let mut nodes = vec![
        node(json!({"op": "input", "index": 0}), &[], &[2, 3], 64, bounds),
        node(outside("300"), &[0], &[2, 3], 1, (0, 1)),
        node(json!({"op": "reshape"}), &[0], &[6], 64, (0, 300)),
        node(outside("200"), &[2], &[6], 1, (0, 1)),
        node(json!({"op": "reshape"}), &[1], &[6], 1, (0, 1)),
        node(json!({"op": "concatenate", "axis": 0}), &[4, 3], &[12], 1, (0, 1)),
        node(json!({"op": "largest", "axis": 0}), &[5], &[], 1, (0, 1)),
        node(json!({"op": "reshape"}), &[2], &[6], 64, (0, 200)),
    ];
    change(&mut nodes);
    json!({
        "id": id, "op": "program", "nodes": nodes, "inputs": [{"step": input, "column": "x"}],
        "outputs": [
            {"id": id + 1, "node": 6, "column": "outside", "kind": kind("bits", 1)},
            {"id": id + 2, "node": 7, "column": "x", "kind": kind("ring64", 11)},
        ],
    })
}

fn guard(id: usize, input: usize) -> String {
    let to = ["ann", "bob", "cyd"];
    json!({"id": id, "op": "release", "input": input, "to": to, "columns": ["outside"], "ordered": true, "guard": true})
        .to_string()
}

/// Steps behind the input of numbers and a program of id [`CHECKED`] that checks them, whose guard is the step 30.
fn read(program: &Json, behind: &[String]) -> Result<Vec<Operator>, String> {
    let column = json!({"name": "x", "source": "x", "encode": "int", "kind": kind("ring64", 11)});
    let ann = json!({"id": 1, "op": "input", "owner": "ann", "columns": [column], "rows": null});
    let steps = [&[ann.to_string(), program.to_string()], behind].concat();
    Operator::list_from_json(&format!("[{}]", steps.join(","))).map_err(|error| error.to_string())
}

#[test]
fn what_a_program_computes_behind_checked_bounds_is_behind_its_guard() {
    let (plain, bit, numbers) = (checked(CHECKED, 1, &|_| ()), CHECKED + 1, CHECKED + 2);
    let again = |input: usize| checked(40, input, &|_| ()).to_string();
    let step = |json: Json| json.to_string();
    let late = |operator: &str| {
        format!(
            "{operator}: the plan opens or keeps what 20.program computed before the guard of the bounds that it \
             checks; make the plan anew"
        )
    };
    let opened = ordered(31, numbers, "x");
    assert!(read(&plain, &[guard(30, bit), opened.clone()]).is_ok());
    assert_eq!(read(&plain, std::slice::from_ref(&opened)).err(), Some(late("31.release")), "no guard");
    assert_eq!(read(&plain, &[opened, guard(30, bit)]).err(), Some(late("31.release")), "the guard is too late");
    assert_eq!(read(&plain, &[ordered(31, bit, "outside")]).err(), Some(late("31.release")), "the bit without a guard");
    let limit = step(json!({"id": 32, "op": "limit", "input": numbers, "count": 1, "offset": 0}));
    let behind = ordered(33, 32, "x");
    assert_eq!(read(&plain, &[limit.clone(), behind.clone()]).err(), Some(late("33.release")), "what is made of it");
    assert!(read(&plain, &[limit, guard(30, bit), behind]).is_ok());
    let keep = step(json!({"id": 34, "op": "keep", "input": numbers, "table": "t", "columns": ["x"]}));
    assert_eq!(read(&plain, &[keep]).err(), Some(late("34.keep")));
    let count = step(json!({"id": 35, "op": "resize", "input": numbers, "rows": null}));
    assert_eq!(read(&plain, &[count]).err(), Some(late("35.resize")), "a size");
    // Of two programs each has a guard, and the second one's bit depends on the first one's numbers.
    let second = [guard(36, 41), guard(30, bit), ordered(37, 42, "x")];
    let with = |steps: &[&String]| steps.iter().copied().cloned().collect::<Vec<_>>();
    let [theirs, own, both] = &second;
    let other = &again(numbers);
    assert!(read(&plain, &with(&[other, own, theirs, both])).is_ok());
    assert_eq!(read(&plain, &with(&[other, theirs, own, both])).err(), Some(late("36.release")));
    let missing = read(&plain, &with(&[other, own, both])).expect_err("a guard is missing");
    assert!(missing.contains("what 40.program computed"), "{missing}");
    let numbers = guard(30, numbers).replace("outside", "x");
    let refused = "30.release: the plan guards a run by something else than one bit that all parties are told";
    assert_eq!(read(&plain, &[numbers]).err().as_deref(), Some(refused));
}

#[test]
fn a_program_that_checks_bounds_says_whether_all_hold() {
    let refused = "20.program: the plan's program checks bounds, and no output is one bit that says whether all hold; make the plan anew";
    let changes: [(&str, &dyn Fn(&mut Vec<Json>)); 4] = [
        ("a check is left out", &|nodes| nodes[5]["args"] = json!([4, 4])),
        ("one element of a check", &|nodes| {
            nodes[6] = node(json!({"op": "slice", "ranges": [[0, 1, 1]]}), &[5], &[1], 1, (0, 1));
        }),
        ("the least of all bits", &|nodes| nodes[6]["op"] = json!("smallest")),
        ("a bit of something else besides", &|nodes| {
            nodes[4] = node(json!({"op": "less"}), &[2, 2], &[6], 1, (0, 1));
        }),
    ];
    for (what, change) in changes {
        let program = checked(CHECKED, 1, change);
        assert_eq!(read(&program, &[]).err().as_deref(), Some(refused), "{what}");
    }
    let none = |nodes: &mut Vec<Json>| {
        nodes[1] = node(json!({"op": "less"}), &[0, 0], &[2, 3], 1, (0, 1));
        nodes[3] = node(json!({"op": "less"}), &[2, 2], &[6], 1, (0, 1));
    };
    assert!(read(&checked(CHECKED, 1, &none), &[ordered(31, CHECKED + 2, "x")]).is_ok(), "nothing is checked");
}

/// A client knows from the nodes alone how many rows they open to it.
#[test]
fn a_guard_of_no_row_does_not_pass_at_a_client() {
    let parties = Parties { nodes: vec!["ann".into(), "bob".into()], clients: vec!["cyd".into()] };
    let operators = read(&checked(CHECKED, 1, &|_| ()), &[guard(30, CHECKED + 1)]).expect("a plan");
    let none = |_: &mut _, _: &_, _| unreachable!("no plan matches");
    let text = tacit_table::cost::permits::<Formulas>(&parties, &operators, none).expect("a plan");
    let told = |rows: usize, set: bool| {
        let permits = Permits::from_json(&text).expect("permits");
        let mut client = Client::<Formulas>::new(parties.clone(), permits, [0; 32]);
        operators[..2].iter().for_each(|operator| client.note(operator, none).expect("it fits"));
        let expected = client.expect(&operators[2]).expect("it is allowed");
        expected.table(Block { rows, bits: vec![Plane::from_fn(rows, |_| set)], ..Block::default() })
    };
    assert_eq!(told(1, false).expect("all bounds hold").rows, 1);
    assert!(matches!(told(1, true), Err(TableError::Withheld)));
    for rows in [0, 2, 64, 65] {
        let error = told(rows, false).expect_err("it is no guard");
        let says = format!("30.release: the nodes opened 1 columns of {rows} rows in place of the bit");
        assert!(matches!(&error, TableError::Peer(text) if text.starts_with(&says)), "{error}");
    }
}
