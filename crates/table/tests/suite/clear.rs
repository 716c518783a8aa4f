//! Every operator on the engine without security, against a naive interpreter, on many random tables.

use std::collections::HashMap;

use super::world::cases::{Case, cases};
use super::world::steps::{input_distinct, input_table, join, release, with};
use super::world::tables::{TEXTS, inputs};
use super::world::windows::{FRAMES, windows};
use super::world::{Clear, Plan, model, runs};
use proptest::prelude::*;
use tacit_table::DataTable;

fn data(tables: &HashMap<usize, Clear>) -> HashMap<usize, DataTable> {
    tables.iter().map(|(&id, table)| (id, table.to_data(&TEXTS))).collect()
}

fn check(case: &Case, seed: u64, rows: usize, left_rows: usize) {
    let tables = inputs(seed, rows, left_rows);
    let expected = model::interpret(&case.plan, &tables);
    let got = runs::clear(&case.plan, &data(&tables)).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    for (step, expected) in expected {
        let got = got[&step].clone();
        let (got, expected) = if case.ordered { (got, expected) } else { (got.sorted(), expected.sorted()) };
        assert_eq!(got, expected, "{}: seed {seed}, {rows} and {left_rows} rows", case.name);
    }
}

/// Tables of each case: those of PROPTEST_CASES, by default few, as a case is a plan of every operator.
fn runs_of_a_case() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: runs_of_a_case(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn announced_inputs(seed: u64, rows in 0usize..90, left_rows in 0usize..14) {
        cases(None).iter().for_each(|case| check(case, seed, rows, left_rows));
    }

    #[test]
    fn all_frames(seed: u64, rows in 0usize..40) {
        windows(None, &FRAMES).iter().for_each(|case| check(case, seed, rows, 0));
    }

    #[test]
    fn padded_inputs(seed: u64, rows in 0usize..70, left_rows in 0usize..14) {
        cases(Some(70)).iter().for_each(|case| check(case, seed, rows, left_rows));
    }
}

#[test]
fn tables_without_rows() {
    for (rows, left_rows) in [(0, 0), (0, 3), (1, 0), (1, 1)] {
        (0..8).for_each(|seed| cases(None).iter().for_each(|case| check(case, seed, rows, left_rows)));
    }
}

#[test]
fn thousands_of_rows() {
    let tables = inputs(11, 3000, 14);
    for case in cases(None).iter().filter(|case| !case.name.starts_with("window")) {
        check(case, 11, 3000, 14);
        let released = model::interpret(&case.plan, &tables);
        assert!(released.values().all(|table| !table.rows.is_empty()), "{} would show nothing", case.name);
    }
}

/// Fewer than of other operators, since the interpreter looks at all rows of each frame.
#[test]
fn hundreds_of_rows_in_windows() {
    windows(Some(300), &FRAMES).iter().for_each(|case| check(case, 12, 290, 0));
}

#[test]
fn a_merge_of_what_nobody_sorted_is_refused() {
    let tables = data(&inputs(3, 20, 5));
    let refused = |operators: &[String], why: &str| {
        let error = runs::clear(&Plan::new(operators), &tables).expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
    };
    let merged = join(5, 6, 1, &["lk"], &["k"], &["p"], &["id"]);
    let merged = with(&merged, "merged", serde_json::json!(true));
    let sorted = |input: String, by: &str| with(&input, "sorted_by", serde_json::json!([by]));
    let (t, l) = (input_table(None), input_distinct(None));
    refused(&[t.clone(), l.clone(), merged.clone()], "sorts by nothing");
    refused(
        &[sorted(t.clone(), "k"), sorted(l.clone(), "lh"), merged.clone()],
        "a merged join by lk of a table that its owner sorts by lh",
    );
    refused(&[sorted(t, "other"), l, merged], "sorts ann by a column that it does not share");
}

#[test]
fn rows_with_equal_keys_are_in_no_known_order() {
    let by_b = r#"{"id":3,"op":"sort","input":1,"keys":[{"column":"b","descending":false,"nulls_first":true}]}"#;
    let operators = [input_table(None), by_b.to_owned(), release(9, 3, &["b", "id"], true)];
    let (plan, tables) = (Plan::new(&operators), inputs(5, 500, 0));
    let stable = &model::interpret(&plan, &tables)[&9];
    let runs =
        [(); 2].map(|()| runs::clear(&plan, &data(&tables)).expect("a valid plan").remove(&9).expect("released"));
    let keys = |table: &Clear| table.rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    for got in &runs {
        assert_eq!(keys(got), keys(stable));
        assert_eq!(got.clone().sorted(), stable.clone().sorted());
        assert_ne!(got, stable, "the order of the input shows");
    }
    assert_ne!(runs[0], runs[1]);
}
