//! `window`, with what it is made of: copies from the edges of groups, sums, values of other rows, extremes, buckets.

use serde_json::{Value as Json, json};
use tacit_mpc::backends::{Rep3, Two};

use crate::plain::{Shape, bits, ring};
use crate::plays::{Case, FEW, From, PUBLIC_PLACE, SIZES, check_case, check_sizes};
use crate::world::Source;

fn window(name: &'static str, table: Shape, outputs: &[Json]) -> Case {
    let key = json!({"column": "v", "descending": true, "nulls_first": false});
    let step = json!({"id": 9, "op": "window", "input": 1, "partition": ["k"], "order": [key], "outputs": outputs});
    Case::new(name, &[table], step)
}

fn narrow() -> Shape {
    Shape::new(&[bits("k", 1), bits("v", 1).or_null()], true)
}

fn output(name: &str, function: &str, repr: &str, width: usize) -> Json {
    let kind = json!({"repr": repr, "width": width, "signed": false, "nullable": true});
    json!({"name": name, "function": function, "kind": kind})
}

/// The output over a column, with other members.
fn over(mut output: Json, column: &str, members: Json) -> Json {
    output["column"] = column.into();
    let Json::Object(members) = members else { unreachable!("an object") };
    members.into_iter().for_each(|(name, value)| output[name] = value);
    output
}

fn rows(start: Option<i64>, end: Option<i64>) -> Json {
    json!({"frame": {"unit": "rows", "start": start, "end": end}})
}

fn running() -> Json {
    json!({"frame": {"unit": "range", "start": null, "end": 0}})
}

/// Row numbers and ranks: positions copied from the first rows of partitions and of peers. The first row of all is one
/// of them, as of middle values (`aggregates`). Positions are what moves to the front: each copy tells it twice.
fn numbers() -> Case {
    window("row numbers", narrow(), &[output("n", "row_number", "ring64", 3), output("r", "rank", "bits", 3)])
        .explained(3, 4, PUBLIC_PLACE)
}

/// The first row of all is the first of its peers.
fn shifted() -> Case {
    let lag = over(output("l", "lag", "bits", 1), "v", json!({"number": 1}));
    let last = over(output("e", "last_value", "bits", 1), "v", running());
    window("values of other rows", narrow(), &[lag, last]).explained(3, 1, PUBLIC_PLACE)
}

fn sums() -> Case {
    let table = Shape::new(&[bits("k", 1), bits("v", 1), ring("w", 3).or_null()], true);
    let near = over(output("s", "sum", "ring64", 9), "w", rows(Some(-1), Some(1)));
    window("sums of frames", table, &[near]).explained(3, 2, PUBLIC_PLACE)
}

fn extremes() -> Case {
    let least = over(output("m", "min", "bits", 1), "v", running());
    window("extremes of frames", narrow(), &[least]).explained(3, 1, PUBLIC_PLACE)
}

/// Numbers and lengths of partitions, copied from their first and last rows.
fn buckets() -> Case {
    let table = Shape::new(&[bits("k", 1), bits("v", 1)], false);
    let bucket = over(output("b", "ntile", "bits", 2), "v", json!({"column": null, "number": 2}));
    window("buckets", table, &[bucket]).explained(3, 5, PUBLIC_PLACE)
}

// views: crates/table/src/operators/window.rs
// views: crates/table/src/operators/copies.rs
// views: crates/table/src/operators/frames.rs
// views: crates/table/src/operators/neighbours.rs
// views: crates/table/src/operators/running.rs
// views: crates/table/src/operators/picked.rs
// views: crates/table/src/operators/extremes.rs
// views: crates/table/src/operators/buckets.rs
#[test]
fn windows_are_seen_by_nobody() {
    check_case::<Rep3>(&numbers(), &[(2, From::Made(Source::Concat))]);
    check_case::<Rep3>(&shifted(), &[(2, From::Made(Source::Slice))]);
    check_case::<Rep3>(&sums(), &[(2, From::Made(Source::Limit))]);
    check_case::<Rep3>(&extremes(), &[(2, From::Made(Source::Gather))]);
    check_case::<Rep3>(&buckets(), &[(2, From::Made(Source::Slice))]);
    check_case::<Two>(&shifted(), &[(2, From::Made(Source::Concat))]);
    check_case::<Two>(&extremes(), &[(2, From::Made(Source::Limit))]);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_windows_at_any_size() {
    let cases = [shifted(), extremes()];
    check_sizes::<Rep3>(&cases, &SIZES);
    check_sizes::<Two>(&cases, &SIZES);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_numbers_in_windows() {
    let cases = [numbers(), sums(), buckets()];
    check_sizes::<Rep3>(&cases, &FEW);
    check_sizes::<Two>(&cases, &FEW);
}
