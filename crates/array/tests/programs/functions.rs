//! Functions, quotients and numbers drawn together: within their declared errors on every engine.

use serde_json::{Value, json};
use tacit_array::Instructions;
use tacit_math::Prg;
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_views::seed;

use super::plain::Plain;
use super::world::{Writer, declared, drawn, in_clear, metered, on_nodes};

/// The last results on every engine, of which the costs are those declared.
fn everywhere(program: &Instructions, given: &[Plain]) -> Vec<(&'static str, Vec<i128>)> {
    fn on<B: Networked>(program: &Instructions, given: &[Plain], last: usize) -> (&'static str, Vec<i128>) {
        let mut seen = on_nodes::<B>(program, given, &[last]);
        assert_eq!(
            metered(&seen),
            declared::<B>(program, &[last]),
            "metered cost against declared cost on {}",
            B::NAME
        );
        assert!(seen.iter().all(|other| other.results == seen[0].results), "{}: nodes open the same", B::NAME);
        (B::NAME, seen.swap_remove(0).results.swap_remove(0))
    }
    let last = program.all().len() - 1;
    let clear = ("clear", in_clear(program, given, &[last]).swap_remove(0));
    vec![clear, on::<Rep3>(program, given, last), on::<Two>(program, given, last)]
}

/// A node with bits behind the point.
fn fixed(writer: &mut Writer, operation: Value, args: &[usize], fraction: i64, bounds: (i128, i128)) -> usize {
    let node = writer.node(operation, args, &[40], 64, bounds);
    writer.nodes[node]["fraction"] = json!(fraction);
    node
}

const FRACTION: i64 = 16;

fn real(x: i128) -> f64 {
    x as f64 / (1u64 << FRACTION) as f64
}

fn close(name: &str, found: &[(&str, Vec<i128>)], expected: &[f64], error: f64) {
    for (engine, found) in found {
        for (found, expected) in found.iter().zip(expected) {
            let distance = (*found as f64 - expected * (1u64 << FRACTION) as f64).abs();
            assert!(distance <= error + 1e-6, "{name} on {engine}: {} and {expected}", real(*found));
        }
    }
}

#[test]
fn functions_are_within_their_declared_errors() {
    let cases: [(&str, fn(f64) -> f64, (f64, f64), f64); 8] = [
        ("exp", f64::exp, (-8.0, 4.0), 2.0),
        ("log", f64::ln, (0.01, 100.0), 8.0),
        ("sqrt", f64::sqrt, (0.0, 100.0), 2.0),
        ("rsqrt", |x| 1.0 / x.sqrt(), (0.25, 100.0), 2.0),
        ("sigmoid", |x| 1.0 / (1.0 + (-x).exp()), (-7.0, 7.0), 4.0),
        ("tanh", f64::tanh, (-4.0, 4.0), 4.0),
        ("sin", f64::sin, (-100.0, 100.0), 2.0),
        ("cos", f64::cos, (-3.0, 3.0), 2.0),
    ];
    for (name, of, (low, high), error) in cases {
        let mut writer = Writer::default();
        let units = |x: f64| (x * (1u64 << FRACTION) as f64) as i128;
        let x = writer.input(&[40], 64, (units(low), units(high)));
        writer.nodes[x]["fraction"] = json!(FRACTION);
        fixed(&mut writer, json!({"op": "function", "name": name}), &[x], FRACTION, (-(1 << 30), 1 << 30));
        let program = writer.program();
        let given = drawn(&program, &mut Prg::new(&seed(name)));
        let expected: Vec<f64> = given[0].values.iter().map(|&x| of(real(x))).collect();
        close(name, &everywhere(&program, &given), &expected, error);
    }
}

#[test]
fn quotients_are_within_their_declared_error() {
    for divisors in [(1 << 14, 1 << 20), (-(1 << 18), -(1 << 15))] {
        let mut writer = Writer::default();
        let x = writer.input(&[40], 64, (-(1 << 18), 1 << 18));
        let y = writer.input(&[40], 64, divisors);
        [x, y].into_iter().for_each(|node| writer.nodes[node]["fraction"] = json!(FRACTION));
        fixed(&mut writer, json!({"op": "divide"}), &[x, y], FRACTION, (-(1 << 21), 1 << 21));
        let program = writer.program();
        let given = drawn(&program, &mut Prg::new(&seed("quotients")));
        let pairs = given[0].values.iter().zip(&given[1].values);
        let expected: Vec<f64> = pairs.map(|(&x, &y)| x as f64 / y as f64).collect();
        close("divide", &everywhere(&program, &given), &expected, 2.0);
    }
}

#[test]
fn what_cannot_be_computed_within_its_bounds_is_refused() {
    let refusal = |operation: Value, bounds: (i128, i128), fraction: i64| {
        let mut writer = Writer::default();
        let x = writer.input(&[40], 64, bounds);
        writer.nodes[x]["fraction"] = json!(FRACTION);
        let args = if operation["op"] == "divide" { vec![x, x] } else { vec![x] };
        fixed(&mut writer, operation, &args, fraction, (-(1 << 30), 1 << 30));
        let text = Value::Array(writer.nodes).to_string();
        serde_json::from_str::<Instructions>(&text).expect_err("it is refused").to_string()
    };
    let function = |name: &str| json!({"op": "function", "name": name});
    for (operation, bounds) in [
        (function("log"), (0, 1 << 20)),
        (function("rsqrt"), (-1, 1 << 20)),
        (function("sqrt"), (-1, 1 << 20)),
        (function("exp"), (0, 1 << 30)),
        (json!({"op": "divide"}), (-5, 5)),
    ] {
        let told = refusal(operation.clone(), bounds, FRACTION);
        assert!(told.starts_with("node 1 ("), "{operation}: {told}");
    }
    assert!(refusal(function("sin"), (-5, 5), -1).contains("bits behind the point"));
    assert!(refusal(function("sine"), (-5, 5), 16).contains("sine"));
}

#[test]
fn numbers_are_drawn_that_all_nodes_agree_on() {
    for (ring, bits) in [(64, 8), (128, 8), (1, 1), (64, 40)] {
        let mut writer = Writer::default();
        let most = (1i128 << bits) - 1;
        writer.node(json!({"op": "sample", "bits": bits}), &[], &[2000], ring, (0, most));
        for (engine, found) in everywhere(&writer.program(), &[]) {
            assert!(found.iter().all(|x| (0..=most).contains(x)), "{engine}: {bits} bits");
            let mean = found.iter().map(|&x| x as f64 / most as f64).sum::<f64>() / found.len() as f64;
            // A deviation of the mean is below 0.5 / sqrt(2000) = 0.0112; this is six of them.
            assert!((mean - 0.5).abs() < 0.068, "{engine}: a mean of {mean} for {bits} bits");
            let alike = found.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / found.len() as f64;
            assert!((alike - 1.0 / (most as f64 + 1.0)).abs() < 0.068, "{engine}: {alike} alike for {bits} bits");
        }
    }
}

#[test]
fn two_samples_are_different() {
    let mut writer = Writer::default();
    let first = writer.node(json!({"op": "sample", "bits": 60}), &[], &[50], 64, (0, (1 << 60) - 1));
    let second = writer.node(json!({"op": "sample", "bits": 60}), &[], &[50], 64, (0, (1 << 60) - 1));
    let equal = writer.node(json!({"op": "equal"}), &[first, second], &[50], 1, (0, 1));
    for (engine, found) in everywhere(&writer.program(), &[]) {
        assert_eq!(found, [0; 50], "{engine}: node {equal}");
    }
}
