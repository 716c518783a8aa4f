//! What a row costs of all three nodes together: the table of docs/protocols/functions.md.

use tacit_array::functions::{Angle, Circle, Curve, Divide, Exp, Interval, Log, Odd, Root};
use tacit_mpc::backends::Rep3;
use tacit_mpc::{Shape, circuits};

use super::world::{Plan, counting, declared};

/// Of parts that fill their words.
const ROWS: usize = 19_200;

/// Rounds, bytes of a row, and hundredths of the stated error in units of the last bit.
fn of(plan: &Plan) -> (u64, u64, u64) {
    let cost = declared::<Rep3, u64>(plan, ROWS);
    let bytes = cost.sent.iter().sum::<u64>() as f64 / ROWS as f64;
    (cost.rounds, bytes.round() as u64, (100.0 * plan.error()).ceil() as u64)
}

/// Numbers with 16 fractional bits.
fn between(low: f64, high: f64) -> Interval {
    Interval::new((65_536.0 * low).ceil() as i128, (65_536.0 * high).floor() as i128)
}

#[test]
fn a_row_costs_what_the_page_says() {
    let exp = |low| Plan::Exp(Exp::new(64, 16, between(low, 0.0), 16).expect("a plan"));
    let odd = |curve, bound: f64| Plan::Odd(Odd::new(64, 16, between(-bound, bound), 16, curve).expect("a plan"));
    let far = f64::from(1 << 26);
    let sine = Plan::Circle(Circle::new(64, 16, between(-far, far), 16, Angle::Sine).expect("a plan"));
    let inverse =
        |low, high, least| Plan::Reciprocal(Divide::reciprocal(64, 16, between(low, high), least, 16).expect("a plan"));
    let [x, y] = [between(-2048.0, 2048.0), between(0.125, 256.0)];
    let quotient = Divide::quotient(64, [(16, x), (16, y)], 0, Some(8 << 16), 16).expect("a plan");
    let root = Plan::Root(Root::of(64, 16, between(0.0, 1000.0), 16).expect("a plan"));
    let inverse_root = Plan::Root(Root::inverse(64, 16, between(0.0625, 16.0), 16).expect("a plan"));
    let log = Plan::Log(Log::new(64, 16, between(0.001, 1000.0), 16).expect("a plan"));
    let rows = [
        ("exp [-4, 0]", exp(-4.0), (4, 100, 101)),
        ("exp [-8, 0]", exp(-8.0), (4, 164, 101)),
        ("exp [-18, 0]", exp(-18.0), (9, 160, 110)),
        ("exp [-40, 0]", exp(-40.0), (9, 224, 110)),
        ("sin", sine, (4, 52, 106)),
        ("sigmoid to 4", odd(Curve::Sigmoid, 4.0), (4, 148, 112)),
        ("sigmoid to 8", odd(Curve::Sigmoid, 8.0), (4, 212, 135)),
        ("sigmoid to 100", odd(Curve::Sigmoid, 100.0), (14, 419, 196)),
        ("tanh to 4", odd(Curve::Tanh, 4.0), (4, 212, 169)),
        ("erf to 3", odd(Curve::Erf, 3.0), (4, 180, 115)),
        ("1 / y [1/4, 8]", inverse(0.25, 8.0, 0), (34, 304, 116)),
        ("1 / y [1, 500]", inverse(1.0, 500.0, 0), (38, 327, 119)),
        ("1 / y [-8, 8], 1/4", inverse(-8.0, 8.0, 1 << 14), (36, 313, 116)),
        ("x / y", Plan::Quotient(quotient), (37, 386, 118)),
        ("sqrt", root, (41, 490, 160)),
        ("1 / sqrt", inverse_root, (40, 434, 160)),
        ("ln", log, (40, 425, 110)),
    ];
    let found: Vec<_> = rows.iter().map(|(name, plan, _)| (*name, of(plan))).collect();
    let said: Vec<_> = rows.iter().map(|(name, _, said)| (*name, *said)).collect();
    assert_eq!(found, said);
}

/// A number of 32 planes as a vector over 64 bits: 98 bytes, where masking all planes of the ring takes 164.
#[test]
fn a_narrow_return_costs_what_its_circuit_says() {
    let of = |narrow: bool| {
        let mut b = counting::<Rep3>();
        let x = b.columns(Shape { rows: ROWS, bits: 32, ..Shape::default() });
        b.take();
        let to = if narrow { circuits::narrow_to_ring::<u64, _> } else { circuits::to_ring::<u64, _> };
        let _ = to(&mut b, &x.bits, false).expect("a tally");
        let cost = b.take();
        (cost.rounds, (cost.sent.iter().sum::<u64>() as f64 / ROWS as f64).round() as u64)
    };
    assert_eq!([of(true), of(false)], [(11, 98), (9, 164)]);
}
