//! The file of declared errors: results and errors of functions, as native code takes the planner to declare them.
//! tests/programs/test_declared_errors.py compares the planner with the file. `TACIT_UPDATE_GOLDEN=1` writes it anew.

use std::fs;

use super::{Operation, QUOTIENT_ERROR, Way, quotient};
use crate::program::{Function, Instruction, Ring};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/declared.txt");

const FUNCTIONS: [Function; 9] = [
    Function::Exp,
    Function::Log,
    Function::Sqrt,
    Function::Rsqrt,
    Function::Sigmoid,
    Function::Tanh,
    Function::Erf,
    Function::Sin,
    Function::Cos,
];

/// Intervals in units of 2^-10.
const UNIT: u32 = 10;
const ARGUMENTS: [(i128, i128); 9] = [
    (-1 << 10, 1 << 10),
    (-8 << 10, 8 << 10),
    (-1000 << 10, 1000 << 10),
    (-64 << 10, 0),
    (-256 << 10, 0),
    (0, 20 << 10),
    (1, 1000 << 10),
    (256, 8 << 10),
    (1 << 20, 1 << 22),
];
const DIVISORS: [(i128, i128); 3] = [(1, 1000 << 10), (256, 8 << 10), (-10 << 10, -256)];
const BITS: [u32; 3] = [8, 16, 24];

fn number(ring: Ring, fraction: u32, (low, high): (i128, i128)) -> Instruction {
    let (operation, fraction) = (Operation::Input { index: 0 }, fraction as i32);
    Instruction { operation, args: vec![], shape: vec![1], ring, fraction, low, high }
}

/// An interval in units of 2^-fraction.
fn scaled((low, high): (i128, i128), fraction: u32) -> (i128, i128) {
    (low << (fraction - UNIT), high << (fraction - UNIT))
}

/// The least and the largest x / y with bits behind the point: those of the corners, with the declared error.
fn reached(x: (i128, i128), y: (i128, i128), bits: u32) -> (i128, i128) {
    let corners = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)].map(|(x, y)| ((x << bits) * y.signum(), y.abs()));
    let low = corners.map(|(x, y)| x.div_euclid(y)).into_iter().min().expect("four corners");
    let high = corners.map(|(x, y)| -(-x).div_euclid(y)).into_iter().max().expect("four corners");
    (low - QUOTIENT_ERROR as i128, high + QUOTIENT_ERROR as i128)
}

fn said<T>(found: &Result<T, String>) -> &'static str {
    if found.is_ok() { "computed" } else { "refused" }
}

#[test]
fn what_the_planner_is_taken_to_declare_is_in_the_file() {
    let mut lines = vec![format!("error divide {QUOTIENT_ERROR}")];
    for function in FUNCTIONS {
        let name = serde_json::to_value(function).expect("a name");
        let name = name.as_str().expect("a name").to_owned();
        lines.push(format!("error {name} {}", function.declared_error()));
        for ring in [Ring::Ring64, Ring::Ring128] {
            for (from, to) in [16, 20].into_iter().flat_map(|from| BITS.map(|to| (from, to))) {
                for interval in ARGUMENTS.map(|interval| scaled(interval, from)) {
                    let found = Way::of(function, &number(ring, from, interval), &number(ring, to, (0, 0)));
                    let (bits, (low, high)) = (ring.bits(), interval);
                    lines.push(format!("{name} {bits} {from} {to} {low} {high} {}", said(&found)));
                }
            }
        }
    }
    for (ring, to) in [Ring::Ring64, Ring::Ring128].into_iter().flat_map(|ring| BITS.map(|to| (ring, to))) {
        for (x, y) in ARGUMENTS.into_iter().flat_map(|x| DIVISORS.map(|y| (scaled(x, 16), scaled(y, 16)))) {
            let result = reached(x, y, to);
            let found = quotient(&number(ring, 16, x), &number(ring, 16, y), &number(ring, to, result));
            let ends = [x.0, x.1, y.0, y.1, result.0, result.1].map(|end| end.to_string()).join(" ");
            lines.push(format!("divide {} 16 {to} {ends} {}", ring.bits(), said(&found)));
        }
    }
    let text = lines.join("\n") + "\n";
    if std::env::var_os("TACIT_UPDATE_GOLDEN").is_some() {
        return fs::write(FILE, text).expect("a writable file");
    }
    assert_eq!(fs::read_to_string(FILE).expect("a file"), text, "TACIT_UPDATE_GOLDEN=1 writes {FILE} anew");
}

/// Whoever writes a plan may write any numbers: each is computed or refused, in a sentence.
#[test]
fn no_bounds_and_no_bits_behind_the_point_break_the_plan_of_a_function() {
    let ends =
        |limit: i128| [-limit + 1, 1 - limit / 2, -(1 << 40), -3, -1, 0, 1, 2, 1 << 16, 1 << 40, limit / 2, limit - 1];
    for (ring, limit) in [(Ring::Ring64, 1 << 62), (Ring::Ring128, 1 << 126)] {
        let intervals = ends(limit).into_iter().flat_map(|low| ends(limit).map(|high| (low, high)));
        let intervals: Vec<(i128, i128)> = intervals.filter(|(low, high)| low <= high).collect();
        for from in [i32::MIN, -1, 0, 1, 16, 62, 127, 128, 1000, i32::MAX] {
            for to in [i32::MIN, -1, 0, 1, 16, 62, 127, 128, 1000, i32::MAX] {
                for &interval in &intervals {
                    let with = |fraction| Instruction { fraction, ..number(ring, 0, interval) };
                    let (argument, result) = (with(from), with(to));
                    let planned = FUNCTIONS.map(|function| Way::of(function, &argument, &result).err());
                    let divided = quotient(&argument, &argument, &result).err();
                    assert!(planned.iter().flatten().chain(&divided).all(|what| !what.is_empty()));
                }
            }
        }
    }
}
