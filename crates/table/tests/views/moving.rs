//! Operators that reveal rows only in a random order, or not at all: `sort`, `limit`, `join`, `group_join`,
//! `union`, `broadcast`.

use serde_json::json;
use tacit_mpc::backends::{Rep3, Two};
use tacit_mpc::ops;

use crate::plain::{Column, Shape, bits, ring};
use crate::plays::{Case, FEW, From, SIZES, check_case, check_sizes};
use crate::world::Source;

fn sort(key: Column, other: Column) -> Case {
    let table = Shape::new(&[key, other], true);
    let key = json!({"column": "k", "descending": true, "nulls_first": false});
    Case::new("sort", &[table], json!({"id": 9, "op": "sort", "input": 1, "keys": [key]}))
}

/// By a key of one pass.
fn short_sort() -> Case {
    sort(bits("k", 2), bits("v", 1))
}

/// By a key of two passes.
fn long_sort() -> Case {
    sort(bits("k", 3).or_null(), ring("w", 3))
}

/// Of rows that a sort put in order.
fn limit() -> Case {
    let table = Shape::new(&[bits("v", 2), bits("w", 1).or_null()], true);
    let step = json!({"id": 9, "op": "limit", "input": 1, "count": 2, "offset": 1});
    Case::new("limit", &[table], step).sorted_by("v", 2)
}

// views: crates/table/src/operators/order.rs
#[test]
fn an_order_is_seen_by_nobody() {
    check_case::<Rep3>(&short_sort(), &[(3, From::Made(Source::Slice))]);
    check_case::<Rep3>(&limit(), &[(3, From::Made(Source::Limit))]);
    check_case::<Two>(&short_sort(), &[(3, From::Made(Source::Dealt))]);
}

/// By a bound on valid rows, or by their number.
fn resize(other: Column, rows: Option<usize>) -> Case {
    let table = Shape::new(&[bits("v", 2), other], true);
    Case::new("resize", &[table], json!({"id": 9, "op": "resize", "input": 1, "rows": rows}))
}

// views: crates/table/src/operators/resize.rs
#[test]
fn of_dropped_padding_nobody_sees_more_than_the_number_that_is_opened() {
    check_case::<Rep3>(&resize(bits("w", 1).or_null(), Some(2)), &[(3, From::Made(Source::Slice))]);
    check_case::<Rep3>(&resize(bits("w", 1).or_null(), None), &[(3, From::Made(Source::Concat))]);
    check_case::<Two>(&resize(bits("w", 1), Some(2)), &[(3, From::Made(Source::Limit))]);
    check_case::<Two>(&resize(bits("w", 1), None), &[(3, From::Made(Source::Dealt))]);
}

/// Of as many left rows as right rows, with this left column.
fn join_with(key: Column, other: Column) -> Case {
    let left = Shape::new(&[bits("lk", 1), other], true);
    let right = Shape::new(&[key, bits("v", 1)], true);
    let step = json!({"id": 9, "op": "join", "left": 1, "right": 2, "left_keys": ["lk"], "right_keys": ["k"],
        "left_columns": [other.name, "lk"], "right_columns": ["v"]});
    Case::new("join", &[left, right], step).labels(|rows| {
        // Left rows have their numbers, right rows theirs behind a power of two.
        let (side, first_right) = (rows as u64 / 2, 1 << ops::label_width(rows / 2));
        (0..side).chain(first_right..first_right + side).collect()
    })
}

fn join() -> Case {
    join_with(bits("k", 1), bits("p", 1))
}

// views: crates/table/src/operators/join.rs
#[test]
fn which_rows_match_is_seen_by_nobody() {
    check_case::<Rep3>(&join(), &[(3, From::Made(Source::Concat))]);
    check_case::<Two>(&join(), &[(2, From::Made(Source::Limit))]);
}

/// A join that keeps the rows of these sides and marks which rows found one.
fn outer_join(sides: &str) -> Case {
    let mut case = join();
    case.step["kept"] = json!(sides);
    case.step["found"] = json!("found");
    case
}

// views: crates/table/src/operators/join_order.rs crates/table/src/operators/outer.rs
#[test]
fn which_rows_stay_without_a_match_is_seen_by_nobody() {
    check_case::<Rep3>(&outer_join("both"), &[(3, From::Made(Source::Concat))]);
    check_case::<Two>(&outer_join("left"), &[(2, From::Made(Source::Limit))]);
}

// views: crates/table/src/operators/partners.rs
#[test]
fn how_many_rows_of_a_key_match_is_seen_by_nobody() {
    let mut of_two = join();
    of_two.step["repeats"] = json!(2);
    check_case::<Rep3>(&of_two, &[(3, From::Made(Source::Concat))]);
    of_two.step["kept"] = json!("right");
    check_case::<Two>(&of_two, &[(2, From::Made(Source::Limit))]);
}

/// Left rows with a sum of the right rows that they match, and how many these are.
fn group_join(of: Column, kept: bool) -> Case {
    let left = Shape::new(&[bits("lk", 1).or_null(), bits("p", 1)], true);
    let right = Shape::new(&[bits("k", 1), of], true);
    let kind = |width: usize| json!({"repr": "ring64", "width": width, "signed": false, "nullable": true});
    let aggregates = json!([{"name": "t", "function": "sum", "column": of.name, "kind": kind(9)},
        {"name": "n", "function": "count_rows", "column": null, "kind": kind(4)}]);
    let step = json!({"id": 9, "op": "group_join", "left": 1, "right": 2, "left_keys": ["lk"], "right_keys": ["k"],
        "left_columns": ["p"], "aggregates": aggregates, "kept": kept});
    Case::new("group join", &[left, right], step)
}

// views: crates/table/src/operators/group_join.rs
#[test]
fn which_rows_are_added_up_for_which_is_seen_by_nobody() {
    check_case::<Rep3>(&group_join(bits("v", 1), false), &[(3, From::Made(Source::Concat))]);
    check_case::<Two>(&group_join(bits("v", 1), true), &[(2, From::Made(Source::Limit))]);
}

fn pairs() -> Case {
    let left = Shape::new(&[bits("x", 1).or_null()], true);
    let right = Shape::new(&[ring("y", 2)], true);
    Case::new("pairs", &[left, right], json!({"id": 9, "op": "pairs", "left": 1, "right": 2}))
}

// views: crates/table/src/operators/pairs.rs
#[test]
fn which_pairs_are_valid_is_seen_by_nobody() {
    check_case::<Rep3>(&pairs(), &[(3, From::Made(Source::Concat))]);
    check_case::<Two>(&pairs(), &[(3, From::Made(Source::Concat))]);
}

fn union() -> Case {
    let first = Shape::new(&[bits("x", 2).or_null(), bits("y", 1)], true);
    let second = Shape::new(&[ring("x", 3), bits("y", 2)], false).of(1);
    let kind = |repr: &str, width: usize| json!({"repr": repr, "width": width, "signed": false, "nullable": true});
    let columns = json!([{"name": "x", "kind": kind("ring64", 4)}, {"name": "y", "kind": kind("bits", 2)}]);
    Case::new("union", &[first, second], json!({"id": 9, "op": "union", "inputs": [1, 2], "columns": columns}))
}

// views: crates/table/src/operators/union.rs
#[test]
fn the_parts_of_a_union_are_seen_by_nobody() {
    check_case::<Rep3>(&union(), &[(3, From::Made(Source::Slice))]);
    check_case::<Two>(&union(), &[(3, From::Made(Source::Concat))]);
}

fn broadcast() -> Case {
    let input = Shape::new(&[bits("v", 1)], true);
    let scalar = Shape::new(&[bits("s", 2).or_null(), ring("r", 3)], true).of(1);
    Case::new("broadcast", &[input, scalar], json!({"id": 9, "op": "broadcast", "input": 1, "scalar": 2}))
}

// views: crates/table/src/operators/scalar.rs
#[test]
fn whether_a_scalar_is_there_is_seen_by_nobody() {
    check_case::<Rep3>(&broadcast(), &[(3, From::Made(Source::Limit))]);
    check_case::<Two>(&broadcast(), &[(3, From::Made(Source::Gather))]);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_rows_that_move_at_any_size() {
    let cases = [short_sort(), limit(), join(), resize(bits("w", 1), Some(2)), resize(bits("w", 1).or_null(), None)];
    check_sizes::<Rep3>(&cases, &SIZES);
    check_sizes::<Two>(&cases, &SIZES);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_numbers_that_move() {
    let of_numbers = group_join(ring("q", 3).or_null(), true);
    let cases = [long_sort(), union(), broadcast(), join_with(bits("k", 2).or_null(), ring("q", 3)), of_numbers];
    check_sizes::<Rep3>(&cases, &FEW);
    check_sizes::<Two>(&cases, &FEW);
}
