//! A bound that is checked and does not hold: the bit says so, and what is computed behind it ends in order, sends as
//! much, and says nothing. Its numbers are of no use, and nothing opens them.

use serde_json::{Value, json};
use tacit_array::Instructions;
use tacit_math::Prg;
use tacit_mpc::backends::{Four, Networked, Rep3, Two};
use tacit_views::seed;

use super::plain::Plain;
use super::world::{Writer, declared, drawn, in_clear, metered, on_nodes};

const FRACTION: i64 = 16;
const ROWS: usize = 6;
/// Numbers from 1/4 to 8, as is checked of numbers that take nearly all bits of a ring.
const CHECKED: (i128, i128) = (1 << 14, 8 << 16);

/// How far numbers of a ring may be from zero.
fn far(ring: u32) -> i128 {
    1 << (ring - 8)
}

/// Whatever has a table, a width, a shift or an order of its own, with the bounds of its result and its bits.
fn operations() -> Vec<(Value, (i128, i128))> {
    let wide = (-(1 << 40), 1 << 40);
    let functions = ["exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "sin", "cos"];
    let functions = functions.map(|name| (json!({"op": "function", "name": name}), wide));
    let others = [
        (json!({"op": "divide"}), wide),
        (json!({"op": "floor_divide"}), wide),
        (json!({"op": "multiply", "cut": 16, "floor": false}), wide),
        (json!({"op": "multiply", "cut": 16, "floor": true}), wide),
        (json!({"op": "matmul", "cut": 16, "floor": false}), wide),
        (json!({"op": "truncate", "bits": 16, "floor": false}), wide),
        (json!({"op": "floor", "bits": 16}), wide),
        (json!({"op": "sort", "axis": 0}), CHECKED),
        (json!({"op": "order", "axis": 0}), (0, ROWS as i128 - 1)),
        (json!({"op": "place", "axis": 0, "largest": true}), (0, ROWS as i128 - 1)),
        (json!({"op": "largest", "axis": 0}), CHECKED),
        (json!({"op": "absolute"}), CHECKED),
        (json!({"op": "less"}), (0, 1)),
        (json!({"op": "equal"}), (0, 1)),
    ];
    functions.into_iter().chain(others).collect()
}

/// A checked array, one bit that says whether it is outside of its bounds, and an operation on it.
fn program(operation: &Value, bounds: (i128, i128), ring: u32) -> (Instructions, [usize; 2]) {
    let mut writer = Writer::default();
    let x = writer.input(&[ROWS], ring, (-far(ring), far(ring)));
    let outside = json!({"op": "outside", "from": CHECKED.0.to_string(), "to": CHECKED.1.to_string()});
    let outside = writer.node(outside, &[x], &[ROWS], 1, (0, 1));
    let any = writer.node(json!({"op": "largest", "axis": 0}), &[outside], &[], 1, (0, 1));
    let checked = writer.node(json!({"op": "reshape"}), &[x], &[ROWS], ring, CHECKED);
    let taken = ["divide", "floor_divide", "multiply", "matmul", "less", "equal"];
    let args = vec![checked; if taken.iter().any(|name| operation["op"] == *name) { 2 } else { 1 }];
    let one = ["matmul", "place", "largest"].iter().any(|name| operation["op"] == *name);
    let is_bit = ["less", "equal"].iter().any(|name| operation["op"] == *name);
    let shape: &[usize] = if one { &[] } else { &[ROWS] };
    let last = writer.node(operation.clone(), &args, shape, if is_bit { 1 } else { ring }, bounds);
    for node in [x, checked, last] {
        writer.nodes[node]["fraction"] = json!(FRACTION);
    }
    (writer.program(), [any, last])
}

/// Numbers of which the last is where nobody looks for it.
fn outside(ring: u32) -> impl Iterator<Item = Plain> {
    let far = far(ring);
    [-far, -1, 0, CHECKED.0 - 1, CHECKED.1 + 1, 1 << 31, 1 << 48, far].into_iter().map(|far| {
        let values = (0..ROWS).map(|row| if row + 1 == ROWS { far } else { CHECKED.0 + row as i128 }).collect();
        Plain::new(&[ROWS], values)
    })
}

/// The messages of a run, but for their contents.
fn sizes<B: Networked>(program: &Instructions, given: &Plain, outputs: &[usize], bit: i128) -> Vec<Vec<String>> {
    let seen = on_nodes::<B>(program, std::slice::from_ref(given), outputs);
    assert_eq!(metered(&seen), declared::<B>(program, outputs), "{}: metered cost against declared cost", B::NAME);
    let node = |seen: super::world::Seen| {
        assert_eq!(seen.results[0], [bit], "{}", B::NAME);
        let messages = seen.messages.into_iter();
        messages.map(|m| format!("{} {} {:?} {:?} {}", m.step, m.round, m.peer, m.direction, m.bytes)).collect()
    };
    seen.into_iter().map(node).collect()
}

fn alike<B: Networked>(program: &Instructions, good: &Plain, outputs: &[usize], far: &[Plain]) {
    let expected = sizes::<B>(program, good, outputs, 0);
    for given in far {
        assert_eq!(sizes::<B>(program, given, outputs, 1), expected, "{}: {given:?}", B::NAME);
    }
}

#[test]
fn what_follows_a_bound_that_does_not_hold_ends_in_order_and_sends_as_much() {
    let good = Plain::new(&[ROWS], (0..ROWS as i128).map(|row| CHECKED.0 + row * 1000).collect());
    let mut draw = Prg::new(&seed("far"));
    for ring in [64, 128] {
        let far: Vec<Plain> = outside(ring).collect();
        for (operation, bounds) in operations() {
            let (program, outputs) = program(&operation, bounds, ring);
            assert_eq!(in_clear(&program, std::slice::from_ref(&good), &outputs)[0], [0], "{operation}");
            for given in far.iter().cloned().chain((0..20).map(|_| drawn(&program, &mut draw).swap_remove(0))) {
                let outside = given.values.iter().any(|&x| x < CHECKED.0 || x > CHECKED.1);
                let found = in_clear(&program, &[given], &outputs);
                assert_eq!(found[0], [i128::from(outside)], "{operation}");
            }
            if ring == 64 {
                alike::<Rep3>(&program, &good, &outputs, &far[..1]);
                alike::<Two>(&program, &good, &outputs, &far[6..7]);
            } else {
                // Its factors wrap, and assistants compare numbers that are wider than the bits they compare.
                alike::<Four>(&program, &good, &outputs, &far[7..]);
            }
        }
    }
}
