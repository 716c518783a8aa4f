//! Every operator on the engine without security, against a naive interpreter, on many random tables.

mod world;

use std::collections::HashMap;

use proptest::prelude::*;
use tacit_table::DataTable;
use world::cases::{Case, cases};
use world::tables::{TEXTS, inputs};
use world::{Clear, model, runs};

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn announced_inputs(seed: u64, rows in 0usize..90, left_rows in 0usize..14) {
        cases(None).iter().for_each(|case| check(case, seed, rows, left_rows));
    }

    #[test]
    fn padded_inputs(seed: u64, rows in 0usize..70, left_rows in 0usize..14) {
        cases(Some(70)).iter().for_each(|case| check(case, seed, rows, left_rows));
    }
}

#[test]
fn tables_without_rows() {
    for (rows, left_rows) in [(0, 0), (0, 3), (1, 0), (1, 1)] {
        (0..20).for_each(|seed| cases(None).iter().for_each(|case| check(case, seed, rows, left_rows)));
    }
}

#[test]
fn thousands_of_rows() {
    let tables = inputs(11, 3000, 14);
    for case in cases(None) {
        check(&case, 11, 3000, 14);
        let released = model::interpret(&case.plan, &tables);
        assert!(released.values().all(|table| !table.rows.is_empty()), "{} would show nothing", case.name);
    }
}
