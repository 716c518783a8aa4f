//! Windows: plans of them, and what they mean, row by row.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use tacit_table::operator::{Frame, FrameUnit, SortKey, Window, WindowFunction, WindowOutput};

use super::cases::Case;
use super::model::compare;
use super::steps::{again, col, filter, group, input_table, release, sort_by};
use super::{Cell, Clear, Plan, bits, ring64, ring128};

/// An output over a column, "" for none. more: other members, as JSON.
fn output(name: &str, function: &str, column: &str, kind: &str, more: &str) -> String {
    let column = if column.is_empty() { "null".into() } else { format!("\"{column}\"") };
    format!(r#"{{"name":"{name}","function":"{function}","column":{column},"kind":{kind}{more}}}"#)
}

fn rows(start: &str, end: &str) -> String {
    format!(r#","frame":{{"unit":"rows","start":{start},"end":{end}}}"#)
}

fn range(start: &str, end: &str) -> String {
    format!(r#","frame":{{"unit":"range","start":{start},"end":{end}}}"#)
}

/// order: columns, descending ones with a minus, and whether NULLs come first.
pub fn window(id: usize, input: usize, partition: &[&str], order: &[(&str, bool)], outputs: &[String]) -> String {
    let key = |(column, nulls_first): &(&str, bool)| {
        let bare = column.trim_start_matches('-');
        serde_json::json!({"column": bare, "descending": bare != *column, "nulls_first": nulls_first})
    };
    let (partition, order) =
        (serde_json::json!(partition), serde_json::json!(order.iter().map(key).collect::<Vec<_>>()));
    format!(
        r#"{{"id":{id},"op":"window","input":{input},"partition":{partition},"order":{order},"outputs":[{}]}}"#,
        outputs.join(",")
    )
}

/// Outputs that are the same for all peers.
fn of_peers() -> Vec<String> {
    let (count, sum, wide) = (ring64(20, false), ring64(40, true), ring128(90, true));
    let (small, number) = (bits(13, false, false), bits(17, true, true));
    let running = range("null", "0");
    vec![
        output("rank", "rank", "", &count, ""),
        output("narrow", "rank", "", &small, ""),
        output("dense", "dense_rank", "", &small, ""),
        output("n", "count_rows", "", &count, &running),
        output("some", "count", "v", &small, &running),
        output("total", "sum", "v", &sum, &running),
        output("wide", "sum", "q", &wide, &running),
        output("least", "min", "v", &number, &running),
        output("most", "max", "s", &bits(24, false, true), &running),
        output("rest", "sum", "u", &sum, &range("0", "null")),
        output("last", "max", "v", &number, &range("0", "null")),
        output("own", "sum", "v", &sum, &range("0", "0")),
        output("peak", "max", "v", &number, &range("0", "0")),
        output("all", "sum", "r", &sum, ""),
        output("lowest", "min", "r", &bits(20, true, true), ""),
    ]
}

/// First and last rows of frames, of all kinds.
pub const FRAMES: [(&str, &str); 13] = [
    ("null", "0"),
    ("null", "2"),
    ("null", "-2"),
    ("-1", "0"),
    ("-3", "2"),
    ("0", "0"),
    ("-4", "-2"),
    ("1", "3"),
    ("0", "null"),
    ("2", "null"),
    ("-2", "null"),
    ("null", "null"),
    ("-1000", "1000"),
];

/// Some of them.
pub const FEW: [(&str, &str); 2] = [("-1", "2"), ("null", "-2")];

/// Outputs that need an order of all rows.
fn of_rows(frames: &[(&str, &str)]) -> Vec<String> {
    let (count, sum) = (ring64(20, false), ring64(40, true));
    let (small, number, text) = (bits(13, false, false), bits(17, true, true), bits(24, false, true));
    let shift = |number: usize| format!(r#","number":{number}"#);
    let default = |number: usize, column: &str| format!(r#","number":{number},"default":"{column}""#);
    let mut found = vec![
        output("row", "row_number", "", &count, ""),
        output("place", "row_number", "", &small, ""),
        output("third", "ntile", "", &count, &shift(3)),
        output("part", "ntile", "", &small, &shift(40)),
        output("one", "ntile", "", &small, &shift(1)),
        output("before", "lag", "v", &number, &shift(1)),
        output("itself", "lag", "r", &ring64(20, true), &shift(0)),
        output("later", "lead", "s", &text, &shift(2)),
        output("never", "lead", "u", &bits(8, false, true), &shift(100_000)),
        output("other", "lag", "u", &bits(12, true, true), &default(3, "k")),
        output("some", "lead", "r", &ring64(40, true), &default(1, "v")),
    ];
    for (at, (start, end)) in frames.iter().enumerate() {
        let frame = rows(start, end);
        found.extend([
            output(&format!("n{at}"), "count_rows", "", &count, &frame),
            output(&format!("m{at}"), "count", "r", &small, &frame),
            output(&format!("t{at}"), "sum", "v", &sum, &frame),
            output(&format!("u{at}"), "sum", "u", &sum, &frame),
            output(&format!("l{at}"), "min", "s", &text, &frame),
            output(&format!("h{at}"), "max", "u", &bits(8, false, true), &frame),
            output(&format!("f{at}"), "first_value", "v", &number, &frame),
            output(&format!("e{at}"), "last_value", "r", &ring64(20, true), &frame),
        ]);
    }
    found
}

fn names(outputs: &[String]) -> Vec<String> {
    let name = |text: &String| serde_json::from_str::<WindowOutput>(text).expect("an output").name;
    std::iter::once("id".to_owned()).chain(outputs.iter().map(name)).collect()
}

/// Windows over the big table.
pub fn windows(padded: Option<usize>, frames: &[(&str, &str)]) -> Vec<Case> {
    let case = |name, partition: &[&str], order: &[(&str, bool)], outputs: &[String], kept: bool| {
        let names = names(outputs);
        let shown: Vec<&str> = names.iter().map(String::as_str).collect();
        let from = if kept { 3 } else { 1 };
        let mut operators = vec![input_table(padded)];
        operators.extend(kept.then(|| filter(3, 1, &col("keep"))));
        operators.extend([window(4, from, partition, order, outputs), release(9, 4, &shown, false)]);
        Case { name, plan: Plan::new(&operators), ordered: false }
    };
    let whole = [
        output("n", "count_rows", "", &ring64(20, false), ""),
        output("total", "sum", "v", &ring64(40, true), ""),
        output("most", "max", "q", &bits(70, true, true), ""),
    ];
    let after_groups = {
        let outputs = [output("place", "row_number", "", &ring64(20, false), "")];
        let operators = [
            input_table(padded),
            group(3, 1, &["k", "u"], "null"),
            window(4, 3, &["k"], &[("u", false)], &outputs),
            again(5, 4),
            sort_by(6, 5, &["k"]),
            release(8, 4, &["k", "u", "place"], false),
            release(9, 6, &["k", "groups", "all"], true),
        ];
        Case { name: "window of groups", plan: Plan::new(&operators), ordered: false }
    };
    vec![
        case("window of peers", &["k"], &[("u", false)], &of_peers(), true),
        case("window of peers in all", &[], &[("-b", true), ("s", true)], &of_peers(), false),
        case("window of rows", &["k"], &[("-r", true), ("id", false)], &of_rows(frames), true),
        case("window of rows in all", &[], &[("id", false)], &of_rows(frames), false),
        case("window of partitions", &["b", "h"], &[], &whole, true),
        case("window of the whole", &[], &[], &whole, false),
        after_groups,
    ]
}

/// What a window adds to a table.
pub fn interpret(window: &Window, table: &Clear) -> Clear {
    let partition: Vec<usize> = window.partition.iter().map(|name| table.index(name)).collect();
    let mut sorted = table.rows.clone();
    sorted.sort_by(|a, b| compare(a, b, &table.names, &window.order));
    let mut partitions: BTreeMap<Vec<&Cell>, Vec<&Vec<Cell>>> = BTreeMap::new();
    for row in &sorted {
        partitions.entry(partition.iter().map(|&column| &row[column]).collect()).or_default().push(row);
    }
    let mut out = Clear { names: table.names.clone(), rows: vec![] };
    out.names.extend(window.outputs.iter().map(|output| output.name.clone()));
    for rows in partitions.values() {
        for (place, row) in rows.iter().enumerate() {
            let equal = |other: &&Vec<Cell>| compare(other, row, &table.names, &window.order) == Ordering::Equal;
            let before = rows[..place].iter().rev().take_while(|other| equal(other)).count();
            let behind = rows[place..].iter().take_while(|other| equal(other)).count();
            let peers = place - before..place + behind;
            let values = window.outputs.iter().map(|each| one(each, &window.order, &table.names, rows, place, &peers));
            out.rows.push(row.iter().cloned().chain(values).collect());
        }
    }
    out
}

/// One value, for the row in a place of its partition.
fn one(
    output: &WindowOutput,
    order: &[SortKey],
    names: &[String],
    rows: &[&Vec<Cell>],
    place: usize,
    peers: &Range<usize>,
) -> Cell {
    let column = output.column.as_ref().map(|name| names.iter().position(|known| known == name).expect("a column"));
    let value = |row: usize| rows[row][column.expect("a column")].clone();
    let frame = in_frame(output.frame, rows.len(), place, peers);
    let values: Vec<Cell> =
        column.map_or(vec![], |_| frame.iter().map(|&row| value(row)).filter(|cell| *cell != Cell::Null).collect());
    let number = |number: usize| Cell::Int(number as i128);
    let near = |by: isize| {
        let there = place.checked_add_signed(by).filter(|&there| there < rows.len());
        let default = output.default.as_ref().map(|name| names.iter().position(|known| known == name).expect("one"));
        there.map_or_else(|| default.map_or(Cell::Null, |column| rows[place][column].clone()), value)
    };
    match output.function {
        WindowFunction::RowNumber => number(place + 1),
        WindowFunction::Rank => number(peers.start + 1),
        WindowFunction::DenseRank => {
            let firsts = (1..=place).filter(|&row| compare(rows[row - 1], rows[row], names, order) != Ordering::Equal);
            number(firsts.count() + 1)
        }
        WindowFunction::Ntile => number(bucket(place, rows.len(), output.number.expect("buckets"))),
        WindowFunction::Lag => near(-(output.number.expect("rows") as isize)),
        WindowFunction::Lead => near(output.number.expect("rows") as isize),
        WindowFunction::FirstValue => frame.first().map_or(Cell::Null, |&row| value(row)),
        WindowFunction::LastValue => frame.last().map_or(Cell::Null, |&row| value(row)),
        WindowFunction::CountRows => number(frame.len()),
        WindowFunction::Count => number(values.len()),
        WindowFunction::Sum if values.is_empty() => Cell::Null,
        WindowFunction::Sum => {
            Cell::Int(values.iter().map(|cell| if let Cell::Int(x) = cell { *x } else { panic!("a number") }).sum())
        }
        WindowFunction::Min => values.into_iter().min().unwrap_or(Cell::Null),
        WindowFunction::Max => values.into_iter().max().unwrap_or(Cell::Null),
    }
}

fn in_frame(frame: Frame, rows: usize, place: usize, peers: &Range<usize>) -> Vec<usize> {
    let bound = |by: Option<i64>, whole: usize, peer: usize| match (by, frame.unit) {
        (None, _) => whole as i64,
        (Some(by), FrameUnit::Rows) => place as i64 + by,
        (Some(_), FrameUnit::Range) => peer as i64,
    };
    let (first, last) = (bound(frame.start, 0, peers.start), bound(frame.end, rows - 1, peers.end - 1));
    (first.max(0)..=last.min(rows as i64 - 1)).map(|row| row as usize).collect()
}

/// The larger buckets come first.
fn bucket(place: usize, rows: usize, count: usize) -> usize {
    let size = |bucket: usize| rows / count + usize::from(bucket < rows % count);
    (0..count)
        .scan(0, |end, bucket| {
            *end += size(bucket);
            Some(*end)
        })
        .take_while(|&end| end <= place)
        .count()
        + 1
}
