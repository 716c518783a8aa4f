//! What is taken in and what is shown: `input`, `release`.

use serde_json::json;
use tacit_mpc::backends::{Rep3, Two};

use crate::plain::{Shape, bits, ring};
use crate::plays::{Case, EFFORT, FEW, From, MORE, Owned, SIZES, Size, check, check_case, check_sizes, names};
use crate::world::Source;

/// Columns of which a release shows the first and the last.
fn narrow(padded: bool) -> Shape {
    Shape::new(&[bits("v", 2), bits("hidden", 1), bits("w", 1).or_null()], padded)
}

/// The same with a number of many bits.
fn wide(padded: bool) -> Shape {
    Shape::new(&[bits("v", 2), bits("hidden", 1), ring("w", 3).or_null()], padded)
}

/// A release of two of three columns to these nodes, in a random order.
fn release_of(table: Shape, to: &'static [usize]) -> Case {
    let recipients: Vec<String> = to.iter().map(|&node| names(3)[node].clone()).collect();
    let step = json!({"id": 9, "op": "release", "input": 1, "to": recipients, "columns": ["v", "w"], "ordered": false});
    Case::new("release", &[table], step).released(&["v", "w"], to)
}

/// A release without rows that are not valid.
pub fn release(to: &'static [usize]) -> Case {
    release_of(narrow(false), to)
}

/// The same release where the plan knows that no more rows are valid.
fn of_few(mut case: Case, most: usize) -> Case {
    case.step["most"] = most.into();
    case
}

/// The same release in the order of its first column, in which a sort puts the rows before.
fn ordered(mut case: Case) -> Case {
    case.step["ordered"] = true.into();
    case.sorted_by("v", 2)
}

// views: crates/table/src/operators/release.rs
#[test]
fn recipients_see_the_declared_rows_alone() {
    check_case::<Rep3>(&release_of(narrow(true), &[0, 1, 2]), &[(3, From::Made(Source::Limit))]);
    check_case::<Rep3>(&ordered(release_of(narrow(true), &[1])), &[(3, From::Made(Source::Gather))]);
    check_case::<Rep3>(&release_of(wide(false), &[0, 2]), &[(1, From::File)]);
    check_case::<Two>(&release_of(narrow(true), &[0, 1]), &[(3, From::Made(Source::Concat))]);
}

// views: crates/table/src/operators/release.rs
#[test]
fn where_few_rows_can_be_valid_recipients_see_no_more() {
    check_case::<Rep3>(&of_few(release_of(narrow(true), &[0, 1, 2]), 2), &[(3, From::Made(Source::Gather))]);
    check_case::<Rep3>(&ordered(of_few(release_of(narrow(true), &[1]), 1)), &[(3, From::Made(Source::Limit))]);
    check_case::<Two>(&of_few(release_of(narrow(true), &[0, 1]), 2), &[(3, From::Made(Source::Concat))]);
}

/// Releases of such a table, to all nodes and to one.
fn releases(table: &Shape, all: &'static [usize]) -> Vec<Case> {
    let to_some = [all, &[0]].map(|to| release_of(table.clone(), to));
    to_some.into_iter().flat_map(|case| [case.clone(), ordered(case)]).collect()
}

#[test]
#[ignore = "minutes: make nightly"]
fn recipients_see_the_declared_rows_alone_at_any_size() {
    for padded in [false, true] {
        check_sizes::<Rep3>(&releases(&narrow(padded), &[0, 1, 2]), &SIZES);
        check_sizes::<Two>(&releases(&narrow(padded), &[0, 1]), &SIZES);
    }
}

#[test]
#[ignore = "minutes: make nightly"]
fn recipients_see_the_declared_numbers_alone() {
    for padded in [false, true] {
        check_sizes::<Rep3>(&releases(&wide(padded), &[0, 1, 2]), &FEW);
        check_sizes::<Two>(&releases(&wide(padded), &[0, 1]), &FEW);
    }
}

/// Every size at which an owner's rows are known, padded or announced.
const SIZED: [Size; 3] = [Size::Announced, Size::Padded, Size::Source];

/// Its numbers are wide: what an owner holds of small ones is nearly linear in its generators' numbers.
fn owned() -> Shape {
    Shape::new(&[bits("v", 2).or_null(), ring("w", 64)], true)
}

// views: crates/table/src/operators/input.rs
#[test]
fn an_owners_rows_are_seen_by_nobody_but_their_number_where_it_is_announced() {
    for size in SIZED {
        check::<Rep3>(&Owned::new(&owned(), size, 3), EFFORT);
        check::<Two>(&Owned::new(&owned(), size, 3), EFFORT);
    }
}

#[test]
#[ignore = "minutes: make nightly"]
fn an_owners_rows_are_seen_by_nobody_at_any_size() {
    for size in SIZED {
        for rows in SIZES {
            check::<Rep3>(&Owned::new(&owned(), size, rows), MORE);
            check::<Two>(&Owned::new(&owned(), size, rows), MORE);
        }
    }
}
