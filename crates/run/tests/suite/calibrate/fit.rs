//! Prices from equations.

use serde_json::json;
use tacit_run::calibrate::fit::{Equation, fitted, paths, price, raised};

fn table() -> serde_json::Value {
    json!({"date": "", "rep3": {"rows": {"sort": 1000, "join": 4000}}, "two": {"work": {"and": 600}}})
}

fn equation(coefficients: [f64; 3], taken: f64) -> Equation {
    Equation { coefficients: coefficients.into(), taken }
}

#[test]
fn prices_that_steps_decide_are_found_and_the_others_follow() {
    let table = table();
    assert_eq!(
        paths(&table).iter().map(|path| path.join(".")).collect::<Vec<_>>(),
        ["rep3.rows.join", "rep3.rows.sort", "two.work.and"]
    );
    // join 8000 and sort 3000: twice and thrice the former ones.
    let equations =
        [equation([1.0, 0.0, 0.0], 8000.0), equation([1.0, 2.0, 0.0], 14_000.0), equation([0.0, 5.0, 0.0], 15_000.0)];
    let fitted = fitted(&table, &equations);
    let prices: Vec<f64> = paths(&fitted).iter().map(|path| price(&fitted, path)).collect();
    assert!((prices[0] / 8000.0 - 1.0).abs() < 0.05 && (prices[1] / 3000.0 - 1.0).abs() < 0.05, "{prices:?}");
    assert!((1200.0..=1800.0).contains(&prices[2]), "{prices:?}");
}

#[test]
fn no_price_is_negative() {
    let equations = [equation([1.0, 1.0, 0.0], 1000.0), equation([1.0, 2.0, 0.0], 500.0)];
    let fitted = fitted(&table(), &equations);
    assert!(paths(&fitted).iter().all(|path| price(&fitted, path) >= 0.0), "{fitted}");
}

#[test]
fn a_price_is_raised_by_a_whole_number() {
    let (raised, difference) = raised(&table(), &["two".into(), "work".into(), "and".into()]);
    assert_eq!((raised["two"]["work"]["and"].as_u64(), difference), (Some(638), 38.0));
}
