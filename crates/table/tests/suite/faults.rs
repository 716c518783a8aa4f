//! Whose fault it is: owners' data outside what is declared, plans that do not fit, disclosures that are not approved.

use std::collections::HashMap;

use super::world::runs::names;
use super::world::steps::{column, filter, input, release};
use super::world::{Clear, Plan, bits, ring64, runs};
use tacit_math::Plane;
use tacit_mpc::Link;
use tacit_mpc::backends::{Networked, Rep3};
use tacit_table::{ColumnData, DataColumn, DataTable, TableError, Text, cost};

/// The message of the input error that sharing a one-column table gives; empty if there is none.
fn refused(data: ColumnData, nulls: Option<Plane>, encode: &str, kind: &str, size: &str) -> String {
    let rows = data.rows();
    let table = DataTable { rows, columns: vec![DataColumn { name: "x".into(), data, nulls }], pad_to: None };
    match runs::clear(&plan(encode, kind, size), &HashMap::from([(1, table)])) {
        Ok(_) => String::new(),
        Err(error @ TableError::Input { .. }) => error.to_string(),
        Err(other) => panic!("not an input error: {other}"),
    }
}

fn plan(encode: &str, kind: &str, size: &str) -> Plan {
    let column = format!(r#"{{"name":"y","source":"x","encode":"{encode}","kind":{kind}}}"#);
    Plan::new(&[format!(r#"{{"id":1,"op":"input","owner":"ann","columns":[{column}],{size}}}"#)])
}

fn integers(values: &[i64]) -> ColumnData {
    ColumnData::Integers(values.to_vec())
}

fn text(strings: &[&str]) -> ColumnData {
    let mut out = Text::default();
    strings.iter().for_each(|string| out.push(string.as_bytes()));
    ColumnData::Text(out)
}

const ANNOUNCED: &str = r#""rows":null"#;

#[test]
fn values_outside_their_kind() {
    let outside = "column \"x\", row 2: a value outside the declared bounds, which fit 8 bits";
    let check = |data, kind: &str| refused(data, None, "int", kind, ANNOUNCED);
    assert_eq!(check(integers(&[0, 256]), &bits(8, false, false)), format!("1.input: {outside}, unsigned"));
    assert_eq!(check(integers(&[0, -1]), &bits(8, false, false)), format!("1.input: {outside}, unsigned"));
    assert_eq!(check(integers(&[0, 128]), &ring64(8, false)), format!("1.input: {outside}, signed"));
    assert_eq!(check(integers(&[-128, 127]), &bits(8, true, false)), "");
    assert_eq!(check(integers(&[i64::MIN, i64::MAX]), &ring64(64, false)), "");
    assert_eq!(check(ColumnData::Wide(vec![i128::MIN, i128::MAX]), &bits(128, true, false)), "");
    assert_eq!(check(ColumnData::Wide(vec![0, i128::MAX]), &bits(127, false, false)), "");
}

#[test]
fn nulls_where_none_are_declared() {
    let nulls = || Some(Plane::from_fn(3, |i| i == 2));
    let message = "1.input: column \"x\", row 3: NULL in a column declared without NULLs";
    assert_eq!(refused(integers(&[1, 2, 3]), nulls(), "int", &bits(4, false, false), ANNOUNCED), message);
    assert_eq!(refused(integers(&[1, 2, 99]), nulls(), "int", &bits(4, false, true), ANNOUNCED), "");
}

#[test]
fn strings_that_do_not_fit() {
    let check = |data, encode| refused(data, None, encode, &bits(16, false, false), ANNOUNCED);
    let long = "1.input: column \"x\", row 2: a string of 3 bytes where at most 2 are declared";
    assert_eq!(check(text(&["ab", "abc"]), "bytes"), long);
    assert_eq!(check(text(&["\0"]), "bytes"), "1.input: column \"x\", row 1: a string with a zero byte");
    assert_eq!(check(text(&["ab", "abc"]), "hash"), "");
    assert!(check(text(&["ab"]), "int").contains("strings where the plan expects"));
    assert!(check(integers(&[1]), "hash").contains("integers where the plan expects"));
}

#[test]
fn sizes() {
    let check = |size| refused(integers(&[1, 2, 3]), None, "int", &bits(4, false, false), size);
    assert_eq!(check(r#""rows":2"#), "1.input: ann has 3 rows, more than the 2 declared for this input");
    assert_eq!(check(r#""rows":3"#), "");
    let unknown = "1.input: rows are padded to those of their source: give its number of rows";
    assert_eq!(check(r#""rows":null,"pad_to_source":true"#), unknown);
}

#[test]
fn padding_to_the_source_keeps_the_rows() {
    let input = r#"{"id":1,"op":"input","owner":"ann","rows":null,"pad_to_source":true,"ordered":true,"columns":[
        {"name":"id","source":"id","encode":"int","kind":{"repr":"bits","width":5,"signed":false,"nullable":false}}]}"#;
    let plan = Plan::new(&[input.into(), release(2, 1, &["id"], true)]);
    let rows = Clear::new(&["id"], vec![vec![super::world::Cell::Int(3)], vec![super::world::Cell::Int(9)]]);
    let data = DataTable { pad_to: Some(20), ..rows.to_data(&[]) };
    let learnt = runs::clear(&plan, &HashMap::from([(1, data)])).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(learnt[&2], rows);
}

#[test]
fn hashes_are_not_opened() {
    let column = format!(r#"{{"name":"y","source":"x","encode":"hash","kind":{}}}"#, bits(64, false, false));
    let input = format!(r#"{{"id":1,"op":"input","owner":"ann","columns":[{column}],"rows":null}}"#);
    let plan = Plan::new(&[input, release(2, 1, &["y"], false)]);
    let data = DataTable {
        rows: 1,
        columns: vec![DataColumn { name: "x".into(), data: text(&["a"]), nulls: None }],
        pad_to: None,
    };
    let error = runs::clear(&plan, &HashMap::from([(1, data)])).expect_err("a hash");
    assert_eq!(error.to_string(), "2.release: column \"y\" is a hash, which cannot be opened as a string");
}

#[test]
fn a_plan_that_names_no_column() {
    let plan = Plan::new(&[
        r#"{"id":1,"op":"input","owner":"ann","columns":[],"rows":null}"#.to_owned(),
        filter(2, 1, r#"{"col":"z"}"#),
    ]);
    let error = runs::clear(&plan, &HashMap::from([(1, DataTable::default())])).expect_err("no column");
    assert!(matches!(error, TableError::Input { .. }));
    assert!(error.to_string().starts_with("2.filter: the plan refers to column \"z\""), "{error}");
}

#[test]
fn tables_of_more_rows_than_widths_allow() {
    const MOST: usize = 1 << 31;
    let refused = |operators: &[String], rows: [usize; 2]| {
        let sizes = HashMap::from([(1, rows[0]), (2, rows[1])]);
        let unmatched = |_: &mut _, _: &_, _| unreachable!("no plan matches");
        let plan = Plan::new(operators);
        match cost::<<Rep3 as Networked>::Formulas>(
            &names::<Rep3>().into(),
            &plan.operators,
            &sizes,
            Link::UNDECLARED,
            (),
            false,
            unmatched,
        ) {
            Ok(_) => String::new(),
            Err(error @ TableError::Input { .. }) => error.to_string(),
            Err(other) => panic!("not an input error: {other}"),
        }
    };
    let both = [
        input(1, "ann", &column("x", "int", &bits(1, false, false)), None),
        input(2, "bob", &column("x", "int", &bits(1, false, false)), None),
    ];
    assert_eq!(refused(&both, [MOST, MOST]), "");
    assert_eq!(
        refused(&both, [1, MOST + 1]),
        "2.input: bob has 2147483649 rows; a table has at most 2^31, so ask about fewer rows"
    );
    let kind = bits(1, false, false);
    let union = format!(r#"{{"id":3,"op":"union","inputs":[1,2],"columns":[{{"name":"x","kind":{kind}}}]}}"#);
    let [a, b] = both;
    let all = [a, b, union];
    assert_eq!(refused(&all, [1 << 30, 1 << 30]), "");
    assert_eq!(
        refused(&all, [1 << 30, (1 << 30) + 1]),
        "3.union: a union has 2147483649 rows; a table has at most 2^31, so ask about fewer rows"
    );
}

#[test]
fn operators_that_are_not() {
    for wrong in [
        r#"{"id":1,"op":"nothing"}"#,
        r#"{"id":1,"op":"limit","input":0,"count":3}"#,
        r#"{"id":1,"op":"limit","input":0,"count":3,"offset":0,"extra":1}"#,
        r#"{"id":1,"op":"filter","input":0,"predicate":{"col":"a","int":"1"}}"#,
        r#"{"id":1,"op":"filter","input":0,"predicate":{"op":"not","args":[],"kind":{"repr":"bits","width":1,"signed":false,"nullable":false}}}"#,
        r#"{"id":1,"op":"filter","input":0,"predicate":{"null":{"repr":"bits","width":0,"signed":false,"nullable":false}}}"#,
    ] {
        assert!(matches!(tacit_table::Operator::from_json(wrong), Err(TableError::Input { .. })), "{wrong}");
    }
}
