//! What a row costs of all three nodes together: the table of docs/protocols/functions.md.

use tacit_array::functions::{Angle, Circle, Curve, Divide, Exp, Interval, Log, Odd, Root};
use tacit_mpc::backends::Rep3;

use super::world::{Plan, declared};

/// Of parts that fill their words.
const ROWS: usize = 19_200;

fn of(plan: &Plan) -> (u64, u64) {
    let cost = declared::<Rep3, u64>(plan, ROWS);
    (cost.rounds, (cost.sent.iter().sum::<u64>() as f64 / ROWS as f64).round() as u64)
}

fn between(low: i128, high: i128) -> Interval {
    Interval::new(low << 16, high << 16)
}

#[test]
fn a_row_costs_what_the_page_says() {
    let exp = |low| Plan::Exp(Exp::new(64, 16, between(low, 0), 16).expect("a plan"));
    let odd = |curve, bound: i128| Plan::Odd(Odd::new(64, 16, between(-bound, bound), 16, curve).expect("a plan"));
    let sine = Plan::Circle(Circle::new(64, 16, between(-1 << 20, 1 << 20), 16, Angle::Sine).expect("a plan"));
    let wide = Interval::new(1 << 12, (1 << 31) - 1);
    let inverse = Plan::Reciprocal(Divide::reciprocal(64, 16, wide, 0, 16).expect("a plan"));
    let near = Plan::Reciprocal(Divide::reciprocal(64, 16, between(1, 100), 0, 16).expect("a plan"));
    let quotient = Divide::quotient(64, [(16, wide), (16, wide)], 0, Some(8 << 16), 16).expect("a plan");
    let root = Plan::Root(Root::root(64, 16, Interval::new(0, (1 << 31) - 1), 16).expect("a plan"));
    let log = Plan::Log(Log::new(64, 16, wide, 16).expect("a plan"));
    let rows = [
        ("exp [-4, 0]", exp(-4), (4, 100)),
        ("exp [-8, 0]", exp(-8), (4, 164)),
        ("exp [-18, 0]", exp(-18), (9, 160)),
        ("exp [-40, 0]", exp(-40), (9, 224)),
        ("sin", sine, (4, 52)),
        ("sigmoid to 4", odd(Curve::Sigmoid, 4), (4, 148)),
        ("sigmoid to 8", odd(Curve::Sigmoid, 8), (4, 212)),
        ("sigmoid of any x", odd(Curve::Sigmoid, 1000), (14, 427)),
        ("erf to 3", odd(Curve::Erf, 3), (4, 180)),
        ("1 / y", inverse, (40, 390)),
        ("1 / y [1, 100]", near, (36, 317)),
        ("x / y", Plan::Quotient(quotient), (41, 426)),
        ("sqrt", root, (46, 558)),
        ("ln", log, (40, 437)),
    ];
    let found: Vec<_> = rows.iter().map(|(name, plan, _)| (*name, of(plan))).collect();
    let said: Vec<_> = rows.iter().map(|(name, _, said)| (*name, *said)).collect();
    assert_eq!(found, said);
}
