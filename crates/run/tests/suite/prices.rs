//! Tables of prices, as parties share them.

use tacit_run::Prices;

#[test]
fn the_default_is_told_as_a_table_that_parties_share() {
    let default = Prices::default();
    let shared = Prices::from_json(&default.to_json()).expect("a table");
    assert!(shared.digest().is_some());
    assert_eq!((shared.to_json(), default.digest()), (default.to_json(), None));
}

#[test]
fn what_is_wrong_is_told_without_a_place_in_the_json() {
    let text = Prices::default().to_json();
    for (right, wrong, told) in [
        (r#""union":20"#, r#""union":0.5"#, "invalid type: floating point `0.5`, expected u64"),
        (r#""lookup":36000"#, r#""lookup":99000000000000"#, "lookup is said to take 99000000000000 ps"),
    ] {
        let error = Prices::from_json(&text.replace(right, wrong)).expect_err("it is wrong").to_string();
        assert!(error.contains(told) && !error.contains("column"), "{error}");
    }
}
