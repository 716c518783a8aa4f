//! Operators in which a trusted party sees keys: `join` and `group_by`.

use serde_json::{Value as Json, json};
use tacit_math::{Plane, transpose};
use tacit_mpc::backends::{Rep3, Two};
use tacit_mpc::{Block, ops};

use crate::plain::{Column, Shape, bits, ring};
use crate::plays::{Case, FEW, From, SIZES, check_case, check_sizes, names};
use crate::world::Source;

/// Of as many left rows as right rows; the party of this place sees the keys.
fn join(key: Column, other: Column, sides: &str, to: &'static [usize]) -> Case {
    let left = Shape::new(&[bits("lk", 1), other], true);
    let right = Shape::new(&[key, bits("v", 1)], true);
    let trusted: &Json = &names(3)[to[0]].clone().into();
    let step = json!({"id": 9, "op": "join", "left": 1, "right": 2, "left_keys": ["lk"], "right_keys": ["k"],
        "left_columns": [other.name, "lk"], "right_columns": ["v"], "kept": sides, "trusted": trusted});
    let case = Case::new("trusted join", &[left, right], step).labels(|rows| {
        let (side, first_right) = (rows as u64 / 2, 1 << ops::label_width(rows / 2));
        (0..side).chain(first_right..first_right + side).collect()
    });
    case.keys(to, &["lk", "k"], met)
}

/// A row of what a trusted party sees: whether it does not count, its key, and which table it is of.
type Row = (bool, u64, usize);

/// The rows of all tables in the order of their keys, those of the first table first.
fn in_order(tables: &[Block]) -> Vec<Row> {
    let rows = tables.iter().enumerate().flat_map(|(table, block)| {
        let (counting, key) = block.bits.split_last().expect("which rows count");
        let keys = transpose::rows_of_planes(&key.iter().collect::<Vec<_>>(), block.rows);
        (0..block.rows).map(move |row| (!counting.get(row), keys[row], table))
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_unstable();
    rows
}

/// What follows for a join: which rows found one of the other table, and where those of the first one stand.
fn met(tables: &[Block]) -> Block {
    let rows = in_order(tables);
    let other = |row: &Row| rows.contains(&(false, row.1, 1 - row.2));
    let found = Plane::from_fn(rows.len(), |place| !rows[place].0 && other(&rows[place]));
    let lefts = (0..rows.len() as u32).filter(|&place| rows[place as usize].2 == 0).collect();
    Block { rows: rows.len(), bits: vec![found], r32: vec![lefts], ..Block::default() }
}

/// What follows for groups: their keys one after the other, and where rows in order go so that groups come first.
fn gathered(tables: &[Block]) -> Block {
    let rows = in_order(tables);
    let is_end = |place: usize| !rows[place].0 && rows.get(place + 1) != Some(&rows[place]);
    let (ends, others): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&place| is_end(place));
    let mut to_front = vec![0; rows.len()];
    ends.iter().chain(&others).zip(0..).for_each(|(&place, to)| to_front[place] = to);
    let mut keys: Vec<u64> = ends.iter().map(|&place| rows[place].1).collect();
    keys.resize(rows.len(), 0);
    let width = tables[0].bits.len() - 1;
    let bits = transpose::planes_of_rows(&keys, width).into_iter();
    let bits = bits.chain([Plane::from_fn(rows.len(), |place| place < ends.len())]).collect();
    Block { rows: rows.len(), bits, r32: vec![to_front], ..Block::default() }
}

// views: crates/table/src/operators/trusted.rs crates/table/src/operators/trusted_join.rs
#[test]
fn a_trusted_party_sees_the_keys_of_a_join_and_nobody_sees_more() {
    check_case::<Rep3>(&join(bits("k", 1), bits("p", 1), "none", &[1]), &[(3, From::Made(Source::Concat))]);
    check_case::<Rep3>(&join(bits("k", 1).or_null(), bits("p", 1), "both", &[2]), &[(2, From::Made(Source::Limit))]);
    check_case::<Two>(&join(bits("k", 1), bits("p", 1), "left", &[0]), &[(2, From::Made(Source::Limit))]);
}

/// Sums and numbers of rows by groups.
fn groups(key: Column, of: Column, to: &'static [usize]) -> Case {
    let kind = |width: usize| json!({"repr": "ring64", "width": width, "signed": false, "nullable": true});
    let aggregates = json!([{"name": "t", "function": "sum", "column": of.name, "kind": kind(9)},
        {"name": "n", "function": "count_rows", "column": null, "kind": kind(4)}]);
    let step = json!({"id": 9, "op": "group_by", "input": 1, "keys": [key.name], "aggregates": aggregates,
        "groups": null, "trusted": names(3)[to[0]]});
    Case::new("trusted groups", &[Shape::new(&[key, of], true)], step).keys(to, &[key.name], gathered)
}

// views: crates/table/src/operators/trusted_groups.rs
#[test]
fn a_trusted_party_sees_the_keys_of_groups_and_nobody_sees_more() {
    check_case::<Rep3>(&groups(bits("k", 1), bits("v", 1), &[1]), &[(3, From::Made(Source::Concat))]);
    check_case::<Rep3>(&groups(bits("k", 1).or_null(), bits("v", 1), &[2]), &[(3, From::Made(Source::Slice))]);
    check_case::<Two>(&groups(bits("k", 1), bits("v", 1), &[0]), &[(3, From::Made(Source::Limit))]);
}

#[test]
#[ignore = "minutes: make nightly"]
fn a_trusted_party_sees_keys_alone_at_any_size() {
    let cases =
        [join(bits("k", 1).or_null(), bits("p", 1), "both", &[0]), groups(bits("k", 2).or_null(), bits("v", 1), &[0])];
    check_sizes::<Rep3>(&cases, &SIZES);
    check_sizes::<Two>(&cases, &SIZES);
    check_sizes::<Rep3>(&[join(bits("k", 1), ring("q", 3), "right", &[1])], &FEW);
}
