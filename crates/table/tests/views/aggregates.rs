//! Operators that add up: `aggregate` and `group_by`, with what they are made of.

use serde_json::{Value as Json, json};
use tacit_mpc::backends::{Rep3, Two};

use crate::plain::{Shape, bits, ring};
use crate::plays::{Case, FEW, From, PUBLIC_PLACE, SIZES, check_case, check_sizes};
use crate::world::Source;

fn table() -> Shape {
    Shape::new(&[bits("k", 1), bits("v", 1).or_null(), ring("w", 3).or_null()], true)
}

/// The same without numbers of many bits.
fn narrow() -> Shape {
    Shape::new(&[bits("k", 1), bits("v", 1).or_null()], true)
}

/// An aggregate column, in planes or modulo 2^64.
fn column(function: &str, of: &str, repr: &str, width: usize) -> Json {
    let kind = json!({"repr": repr, "width": width, "signed": false, "nullable": true});
    let of = if of.is_empty() { Json::Null } else { of.into() };
    json!({"name": format!("{function} {of}"), "function": function, "column": of, "kind": kind})
}

fn aggregate(name: &'static str, table: Shape, columns: &[Json]) -> Case {
    Case::new(name, &[table], json!({"id": 9, "op": "aggregate", "input": 1, "aggregates": columns}))
}

/// A sum of ring elements, and counts in planes.
fn sums() -> Case {
    aggregate("sums", table(), &[column("sum", "w", "ring64", 9), column("count_rows", "", "bits", 3)])
}

/// In the other rings.
fn other_sums() -> Case {
    aggregate("other sums", narrow(), &[column("sum", "v", "ring128", 70), column("count", "v", "ring64", 4)])
}

/// Of the rows where a truth value is TRUE, and how many these are.
fn conditional() -> Case {
    let mut columns = [column("sum", "w", "ring64", 9), column("count_rows", "", "ring64", 3)];
    columns.iter_mut().for_each(|column| column["where"] = "v".into());
    aggregate("conditional sums", table(), &columns)
}

fn extremes() -> Case {
    aggregate("extremes", narrow(), &[column("min", "v", "bits", 1)])
}

fn distinct() -> Case {
    aggregate("distinct values", narrow(), &[column("count_distinct", "v", "bits", 3)])
}

fn middle() -> Case {
    aggregate("middle values", narrow(), &[column("middle", "v", "ring64", 2)])
}

/// A value at a position in the order, and the sum of distinct values.
fn positions() -> Case {
    aggregate("values at positions", narrow(), &[third(), column("sum_distinct", "v", "ring64", 2)])
}

fn third() -> Json {
    let mut column = column("ranked", "v", "ring64", 1);
    column["rank"] = json!({"numerator": 1, "denominator": 3, "shift": 0});
    column
}

// views: crates/table/src/operators/added.rs
// views: crates/table/src/operators/aggregate.rs
// views: crates/table/src/operators/largest.rs
// views: crates/table/src/operators/totals.rs
#[test]
fn what_is_added_up_is_seen_by_nobody() {
    check_case::<Rep3>(&sums(), &[(2, From::Made(Source::Limit))]);
    check_case::<Rep3>(&conditional(), &[(2, From::Made(Source::Limit))]);
    check_case::<Two>(&conditional(), &[(2, From::Made(Source::Slice))]);
    check_case::<Rep3>(&extremes(), &[(2, From::Made(Source::Slice)), (3, From::Made(Source::Slice))]);
    check_case::<Rep3>(&distinct(), &[(3, From::Made(Source::Gather))]);
    check_case::<Rep3>(&middle(), &[(3, From::Made(Source::Limit))]);
    check_case::<Rep3>(&positions(), &[(3, From::Made(Source::Limit))]);
    check_case::<Two>(&other_sums(), &[(3, From::Made(Source::Concat))]);
}

fn group_by(name: &'static str, table: Shape, columns: &[Json], groups: Option<usize>) -> Case {
    let step = json!({"id": 9, "op": "group_by", "input": 1, "keys": ["k"], "aggregates": columns, "groups": groups});
    Case::new(name, &[table], step)
}

fn group_sums() -> Case {
    let columns = [column("sum", "v", "ring64", 9), column("any", "k", "bits", 1)];
    group_by("sums of groups", narrow(), &columns, Some(2))
}

fn group_totals() -> Case {
    let columns = [column("count_rows", "", "bits", 3), column("sum", "w", "ring64", 9)];
    group_by("totals of groups", table(), &columns, None)
}

fn group_extremes() -> Case {
    let columns = [column("max", "v", "bits", 1), column("count_distinct", "v", "bits", 3)];
    group_by("extremes of groups", narrow(), &columns, None)
}

fn group_least() -> Case {
    let table = Shape::new(&[bits("k", 1), bits("u", 1)], false);
    let step = json!({"id": 9, "op": "group_by", "input": 1, "keys": ["k"], "groups": null,
        "aggregates": [column("min", "u", "bits", 1)]});
    Case::new("least of groups", &[table], step)
}

/// The first rows of groups are brought to the front, and the first row of all is one of them: its place is public. So
/// revealed places tell which shuffled row it is. That its number is zero where its place is, is linear among three
/// rows, at every node in this one call.
fn group_middle() -> Case {
    group_by("middle values of groups", narrow(), &[column("middle", "v", "ring64", 2)], None).explained(
        3,
        1,
        PUBLIC_PLACE,
    )
}

/// As of middle values.
fn group_positions() -> Case {
    group_by("values at positions of groups", narrow(), &[third()], None).explained(3, 1, PUBLIC_PLACE)
}

fn group_once() -> Case {
    group_by("sums of distinct values of groups", narrow(), &[column("sum_distinct", "v", "ring64", 2)], None)
}

// views: crates/table/src/operators/group_by.rs
// views: crates/table/src/operators/sorted.rs
// views: crates/table/src/operators/collect.rs
// views: crates/table/src/operators/middle.rs
// views: crates/table/src/operators/picks.rs
// views: crates/table/src/operators/rank.rs
#[test]
fn groups_are_seen_by_nobody() {
    check_case::<Rep3>(&group_sums(), &[(2, From::Made(Source::Concat))]);
    check_case::<Rep3>(&group_extremes(), &[(2, From::Made(Source::Slice))]);
    check_case::<Rep3>(&group_middle(), &[(2, From::Made(Source::Concat))]);
    check_case::<Rep3>(&group_positions(), &[(2, From::Made(Source::Concat))]);
    check_case::<Rep3>(&group_once(), &[(2, From::Made(Source::Concat))]);
    check_case::<Two>(&group_least(), &[(3, From::Made(Source::Limit))]);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_what_is_added_up_at_any_size() {
    let whole = [extremes(), distinct(), middle(), positions()];
    let groups = [group_extremes(), group_least(), group_middle(), group_positions(), group_once()];
    let cases: Vec<Case> = whole.into_iter().chain(groups).collect();
    check_sizes::<Rep3>(&cases, &SIZES);
    check_sizes::<Two>(&cases, &SIZES);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_numbers_that_are_added_up() {
    let cases = [sums(), other_sums(), group_sums(), group_totals()];
    check_sizes::<Rep3>(&cases, &FEW);
    check_sizes::<Two>(&cases, &FEW);
}
