//! Every operation against plain integers, on the engine without security and, of small arrays, on all others.

use serde_json::{Value, json};
use tacit_array::{Instructions, Operation};
use tacit_math::Prg;
use tacit_mpc::backends::{Rep3, Two};
use tacit_views::seed;

use super::plain::{Plain, may_be, results};
use super::world::{Seen, Writer, declared, drawn, in_clear, metered, on_nodes};

/// Bounds of results that are not looked at.
const WIDE: (i128, i128) = (-(1 << 61), 1 << 61);
const BITS: (i128, i128) = (0, 1);

/// Checks the last node of a program on all engines.
fn check(name: &str, writer: &Writer) {
    let program = writer.program();
    let mut prg = Prg::new(&seed(name));
    let given = drawn(&program, &mut prg);
    let (last, all) = (program.all().len() - 1, results(&program, &given));
    let cut = inexact(&program, &all);
    let fits = |found: &[i128]| may_be(&program.all()[last], &all[last], &cut, found);
    let clear = in_clear(&program, &given, &[last]).swap_remove(0);
    assert!(fits(&clear), "{name} in clear: {clear:?}, not {:?}", all[last].values);
    for (seen, declared) in [
        (on_nodes::<Rep3>(&program, &given, &[last]), declared::<Rep3>(&program, &[last])),
        (on_nodes::<Two>(&program, &given, &[last]), declared::<Two>(&program, &[last])),
    ] {
        let alike = |seen: &Seen| fits(&seen.results[0]);
        let nodes = seen.len();
        assert!(
            seen.iter().all(alike),
            "{name} on {nodes} nodes: {:?}, not {:?}",
            seen[0].results[0],
            all[last].values
        );
        assert_eq!(metered(&seen), declared, "{name} on {nodes} nodes: metered cost against declared cost");
    }
}

/// Where the last node's exact result has something behind what is cut.
fn inexact(program: &Instructions, all: &[Plain]) -> Vec<bool> {
    let last = program.all().last().expect("a node");
    let whole = match &last.operation {
        Operation::Multiply { cut, .. } => (Operation::Multiply { cut: 0, floor: true }, *cut),
        Operation::Matmul { cut, .. } => (Operation::Matmul { cut: 0, floor: true }, *cut),
        &Operation::Convolve { gives, size, window, stride, padding, cut, .. } => {
            (Operation::Convolve { gives, size, window, stride, padding, cut: 0, floor: true }, cut)
        }
        Operation::Truncate { bits, .. } => (Operation::Reshape {}, *bits),
        _ => return vec![false; last.elements()],
    };
    let exact = super::plain::exact(last, whole.0, all);
    exact.iter().map(|value| value & ((1 << whole.1) - 1) != 0).collect()
}

/// An operation on inputs of these shapes, rings and bounds.
fn on(name: &str, operation: Value, inputs: &[(&[usize], u32, (i128, i128))], result: (&[usize], u32, (i128, i128))) {
    let mut writer = Writer::default();
    let args: Vec<usize> = inputs.iter().map(|&(shape, ring, bounds)| writer.input(shape, ring, bounds)).collect();
    writer.node(operation, &args, result.0, result.1, result.2);
    check(name, &writer);
}

#[test]
fn sums_and_differences_are_of_repeated_operands() {
    for ring in [64, 128] {
        let inputs: [(&[usize], u32, _); 2] = [(&[3, 1], ring, (-1000, 999)), (&[4], ring, (-7, 1 << 40))];
        for op in ["add", "subtract"] {
            on(op, json!({"op": op}), &inputs, (&[3, 4], ring, WIDE));
        }
        on("negate", json!({"op": "negate"}), &inputs[..1], (&[3, 1], ring, WIDE));
        on("shift", json!({"op": "shift", "bits": 13}), &inputs[..1], (&[3, 1], ring, WIDE));
    }
}

#[test]
fn products_are_cut_down_or_either_way() {
    for ring in [64, 128] {
        let inputs: [(&[usize], u32, _); 2] = [(&[5, 2], ring, (-70_000, 70_000)), (&[2], ring, (-3000, 90_000))];
        for (cut, floor) in [(0, false), (16, false), (16, true), (0, true)] {
            let operation = json!({"op": "multiply", "cut": cut, "floor": floor});
            on("multiply", operation, &inputs, (&[5, 2], ring, (-(1 << 40), 1 << 40)));
        }
    }
}

#[test]
fn a_factor_of_bits_chooses() {
    let (bits, numbers): ((&[usize], _, _), (&[usize], _, _)) = ((&[6], 1, BITS), (&[6], 64, (-5000, 1 << 30)));
    for inputs in [[bits, numbers], [numbers, bits]] {
        on("choose", json!({"op": "multiply", "cut": 0, "floor": false}), &inputs, (&[6], 64, WIDE));
        on("choose", json!({"op": "multiply", "cut": 3, "floor": true}), &inputs, (&[6], 64, (-(1 << 40), 1 << 40)));
    }
    on("both bits", json!({"op": "multiply", "cut": 0, "floor": false}), &[bits, bits], (&[6], 1, BITS));
}

#[test]
fn a_public_factor_is_local() {
    for (cut, floor) in [(0, false), (5, false), (5, true)] {
        let mut writer = Writer::default();
        let x = writer.input(&[2, 3], 64, (-9999, 10_000));
        let constant = json!({"op": "constant", "values": ["-3", "17", "100000"]});
        let factor = writer.node(constant, &[], &[3], 64, (-3, 100_000));
        let operation = json!({"op": "multiply", "cut": cut, "floor": floor});
        writer.node(operation, &[factor, x], &[2, 3], 64, (-(1 << 40), 1 << 40));
        check("public factor", &writer);
        let rounds = declared::<Rep3>(&writer.program(), &[2]).rounds;
        assert_eq!(rounds == 0, cut == 0, "a local product takes no round, and a truncation does");
    }
}

#[test]
fn matrices_are_multiplied_as_numpy_does() {
    let cases: [(&[usize], &[usize], &[usize]); 8] = [
        (&[3], &[3], &[]),
        (&[2, 3], &[3], &[2]),
        (&[3], &[3, 2], &[2]),
        (&[2, 3], &[3, 4], &[2, 4]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[2, 1, 2, 3], &[4, 3, 1], &[2, 4, 2, 1]),
        (&[2, 0], &[0, 2], &[2, 2]),
        (&[1, 1], &[1, 1], &[1, 1]),
    ];
    for (x, y, shape) in cases {
        for (cut, floor) in [(0, false), (9, false), (9, true)] {
            let inputs = [(x, 64, (-3000, 3000)), (y, 64, (-(1 << 20), 1 << 20))];
            on(
                "matmul",
                json!({"op": "matmul", "cut": cut, "floor": floor}),
                &inputs,
                (shape, 64, (-(1 << 40), 1 << 40)),
            );
        }
    }
}

#[test]
fn a_transposed_factor_is_read_where_it_lies() {
    let transpose = |axes: &[usize]| json!({"op": "transpose", "axes": axes});
    for (cut, floor) in [(0, false), (9, false), (9, true)] {
        let product = json!({"op": "matmul", "cut": cut, "floor": floor});
        let mut writer = Writer::default();
        let x = writer.input(&[4, 1, 3, 2], 64, (-3000, 3000));
        let y = writer.input(&[5, 4, 3], 64, (-(1 << 20), 1 << 20));
        let [turned_x, turned_y] =
            [(x, vec![0, 1, 3, 2], vec![4, 1, 2, 3]), (y, vec![0, 2, 1], vec![5, 3, 4])].map(|(from, axes, shape)| {
                let bounds = if from == x { (-3000, 3000) } else { (-(1 << 20), 1 << 20) };
                writer.node(transpose(&axes), &[from], &shape, 64, bounds)
            });
        writer.node(product.clone(), &[turned_x, turned_y], &[4, 5, 2, 4], 64, (-(1 << 40), 1 << 40));
        check("product of transposes", &writer);
        writer.node(product.clone(), &[y, turned_y], &[5, 4, 4], 64, (-(1 << 50), 1 << 50));
        check("product with the own transpose", &writer);
        let constant = json!({"op": "constant", "values": ["-3", "17", "5", "11", "2", "0"]});
        let factor = writer.node(constant, &[], &[2, 3], 64, (-3, 17));
        let turned = writer.node(transpose(&[1, 0]), &[factor], &[3, 2], 64, (-3, 17));
        writer.node(product.clone(), &[y, turned], &[5, 4, 2], 64, (-(1 << 40), 1 << 40));
        check("product with a public transpose", &writer);
        let other_axes = writer.node(transpose(&[1, 0, 2]), &[y], &[4, 5, 3], 64, (-(1 << 20), 1 << 20));
        writer.node(product, &[other_axes, turned], &[4, 5, 2], 64, (-(1 << 40), 1 << 40));
        check("product of other axes", &writer);
    }
}

/// What a convolution gives, and the shapes of what it takes and gives: of images, filters and outputs.
fn convolutions(images: [usize; 4], filters: [usize; 2], outputs: [usize; 4]) -> [(&'static str, [Vec<usize>; 3]); 3] {
    let [images, filters, outputs] = [images.to_vec(), filters.to_vec(), outputs.to_vec()];
    [
        ("outputs", [images.clone(), filters.clone(), outputs.clone()]),
        ("filters", [images.clone(), outputs.clone(), filters.clone()]),
        ("images", [filters, outputs, images]),
    ]
}

/// A convolution's JSON.
fn convolve(gives: &str, [size, window, stride, padding]: [[usize; 2]; 4], cut: usize, floor: bool) -> Value {
    let sizes = json!({"size": size, "window": window, "stride": stride, "padding": padding});
    let mut operation = json!({"op": "convolve", "gives": gives, "cut": cut, "floor": floor});
    let (Value::Object(members), Value::Object(sizes)) = (&mut operation, sizes) else { unreachable!("objects") };
    members.extend(sizes);
    operation
}

#[test]
fn convolutions_have_gradients() {
    let cases = [
        ([[3, 4], [2, 3], [1, 1], [0, 0]], convolutions([2, 2, 3, 4], [3, 12], [2, 3, 2, 2])),
        ([[4, 3], [3, 2], [2, 1], [1, 1]], convolutions([1, 2, 4, 3], [2, 12], [1, 2, 2, 4])),
        ([[2, 2], [2, 2], [1, 1], [0, 0]], convolutions([0, 1, 2, 2], [2, 4], [0, 2, 1, 1])),
        ([[2, 2], [2, 2], [1, 1], [0, 0]], convolutions([1, 0, 2, 2], [2, 0], [1, 2, 1, 1])),
    ];
    for (sizes, forms) in cases {
        for (gives, [x, y, shape]) in forms {
            for (ring, cut, floor) in [(64, 0, false), (64, 9, false), (128, 9, true)] {
                let inputs: [(&[usize], u32, _); 2] = [(&x, ring, (-3000, 3000)), (&y, ring, (-(1 << 20), 1 << 20))];
                on(gives, convolve(gives, sizes, cut, floor), &inputs, (&shape, ring, (-(1 << 40), 1 << 40)));
            }
        }
    }
}

#[test]
fn a_public_factor_of_a_convolution_is_local_and_bits_are_one() {
    let sizes = [[3, 3], [2, 2], [1, 1], [0, 0]];
    for (gives, [x, y, shape]) in convolutions([1, 1, 3, 3], [1, 4], [1, 1, 2, 2]) {
        for first in [false, true] {
            let mut writer = Writer::default();
            let [of_input, of_constant] = if first { [&y, &x] } else { [&x, &y] };
            let input = writer.input(of_input, 64, (-99, 99));
            let values: Vec<String> =
                (0..of_constant.iter().product::<usize>()).map(|i| (i as i64 - 2).to_string()).collect();
            let constant = writer.node(json!({"op": "constant", "values": values}), &[], of_constant, 64, (-2, 9));
            let args = if first { [constant, input] } else { [input, constant] };
            writer.node(convolve(gives, sizes, 0, false), &args, &shape, 64, WIDE);
            check("public factor of a convolution", &writer);
            assert_eq!(declared::<Rep3>(&writer.program(), &[2]).rounds, 0);
        }
        let inputs: [(&[usize], u32, _); 2] = [(&x, 1, BITS), (&y, 64, (-9, 9))];
        on("convolution of bits", convolve(gives, sizes, 0, false), &inputs, (&shape, 64, WIDE));
    }
}

#[test]
fn a_public_matrix_is_local() {
    for first in [false, true] {
        let mut writer = Writer::default();
        let x = writer.input(&[2, 2], 128, (-9999, 10_000));
        let constant = json!({"op": "constant", "values": ["-3", "17", "5", "11"]});
        let factor = writer.node(constant, &[], &[2, 2], 128, (-3, 17));
        let args = if first { [factor, x] } else { [x, factor] };
        writer.node(json!({"op": "matmul", "cut": 0, "floor": false}), &args, &[2, 2], 128, WIDE);
        check("public matrix", &writer);
        assert_eq!(declared::<Rep3>(&writer.program(), &[2]).rounds, 0);
    }
}

#[test]
fn truncations_and_rings() {
    for ring in [64, 128] {
        let most = (1 << (ring - 2)) - 1;
        let inputs: [(&[usize], u32, _); 1] = [(&[9], ring, (-most, most))];
        for bits in [1, 20, ring as usize - 2] {
            for floor in [false, true] {
                let operation = json!({"op": "truncate", "bits": bits, "floor": floor});
                on("truncate", operation, &inputs, (&[9], ring, (-most, most)));
            }
            on("floor", json!({"op": "floor", "bits": bits}), &inputs, (&[9], ring, (-most, most)));
        }
    }
    for bounds in [(-5, 5), (0, 1 << 40), (-(1 << 61), (1 << 61) - 1), (0, 0)] {
        on("widen", json!({"op": "widen"}), &[(&[9], 64, bounds)], (&[9], 128, bounds));
        on("narrow", json!({"op": "narrow"}), &[(&[9], 128, bounds)], (&[9], 64, bounds));
    }
}

#[test]
fn comparisons_are_of_the_widths_that_bounds_say() {
    let bounds = [(-8, 7), (0, 0), (3, 3), (-(1 << 61), (1 << 61) - 1), (0, 1), (-1, 0), (0, 1 << 33)];
    for ring in [64, 128] {
        for (x, y) in bounds.into_iter().zip(bounds.into_iter().rev()).chain([((-8, 7), (-8, 7))]) {
            let inputs: [(&[usize], u32, _); 2] = [(&[30], ring, x), (&[30], ring, y)];
            let hull = (x.0.min(y.0), x.1.max(y.1));
            on("less", json!({"op": "less"}), &inputs, (&[30], 1, BITS));
            on("equal", json!({"op": "equal"}), &inputs, (&[30], 1, BITS));
            on("maximum", json!({"op": "maximum"}), &inputs, (&[30], ring, hull));
            on("minimum", json!({"op": "minimum"}), &inputs, (&[30], ring, hull));
            on("absolute", json!({"op": "absolute"}), &inputs[..1], (&[30], ring, (0, x.1.max(-x.0))));
        }
    }
}

#[test]
fn numbers_are_clipped_to_an_interval() {
    let (x, far) = ((-900, 1 << 30), (1 << 61) - 1);
    for (bounds, low, high) in [(x, (-5, 5), (5, 9)), (x, (-5, -5), (1 << 20, 1 << 20)), ((-far, far), (-1, 0), (0, 1))]
    {
        for ring in [64, 128] {
            let inputs: [(&[usize], u32, _); 3] = [(&[2, 20], ring, bounds), (&[2, 1], ring, low), (&[], ring, high)];
            on("clip", json!({"op": "clip"}), &inputs, (&[2, 20], ring, (low.0, high.1)));
        }
    }
    let mut writer = Writer::default();
    let x = writer.input(&[9], 64, (-900, 900));
    let [low, high] = [-3, 17]
        .map(|end: i128| writer.node(json!({"op": "constant", "values": [end.to_string()]}), &[], &[], 64, (end, end)));
    let larger = writer.node(json!({"op": "maximum"}), &[x, low], &[9], 64, (-3, 900));
    let clipped = writer.node(json!({"op": "clip"}), &[x, low, high], &[9], 64, (-3, 17));
    check("clip to public ends", &writer);
    let [one, both] = [larger, clipped].map(|node| declared::<Rep3>(&writer.program(), &[node]).rounds);
    assert_eq!(one, both, "both sides take the rounds of one");
}

#[test]
fn numbers_are_outside_of_an_interval_on_either_side() {
    let most = (1 << 61) - 1;
    for (bounds, ends) in [
        ((-8, 7), [(-3, 3), (-8, 6), (-7, 7), (0, 0), (-8, 7), (9, 11)]),
        ((-most, most), [(-5, 5), (-most, 5), (1 - most, most), (0, most - 1), (most, most), (-1, 1 << 50)]),
    ] {
        for (from, to) in ends {
            let operation = json!({"op": "outside", "from": from.to_string(), "to": to.to_string()});
            for ring in [64, 128] {
                on("outside", operation.clone(), &[(&[40], ring, bounds)], (&[40], 1, BITS));
            }
        }
    }
}

#[test]
fn a_bit_of_many_is_found() {
    for length in [31, 32, 33, 64, 101] {
        let mut writer = Writer::default();
        let x = writer.input(&[length, 2], 64, (0, 2 * length as i128));
        let operation = json!({"op": "outside", "from": "0", "to": (2 * length - 1).to_string()});
        let outside = writer.node(operation, &[x], &[length, 2], 1, BITS);
        let any = [(0, 2), (1, length)]
            .map(|(axis, lines)| writer.node(json!({"op": "largest", "axis": axis}), &[outside], &[lines], 1, BITS));
        let program = writer.program();
        for place in 0..2 * length {
            let values = (0..2 * length).map(|i| if i == place { 2 * length as i128 } else { i as i128 }).collect();
            let given = [Plain::new(&[length, 2], values)];
            let found = in_clear(&program, &given, &any);
            let expected = results(&program, &given);
            assert_eq!(found, any.map(|node| expected[node].values.clone()), "{place} of {length}");
        }
        for op in ["largest", "smallest"] {
            on(op, json!({"op": op, "axis": 0}), &[(&[length, 2], 1, BITS)], (&[2], 1, BITS));
            on(op, json!({"op": op, "axis": 1}), &[(&[2, length], 1, BITS)], (&[2], 1, BITS));
        }
    }
}

#[test]
fn bits_have_their_logic() {
    let inputs: [(&[usize], u32, _); 3] = [(&[2, 33], 1, BITS), (&[33], 1, BITS), (&[2, 1], 1, BITS)];
    for op in ["both", "either", "differ", "less", "equal", "maximum", "minimum"] {
        on(op, json!({"op": op}), &inputs[..2], (&[2, 33], 1, BITS));
    }
    on("not", json!({"op": "not"}), &inputs[..1], (&[2, 33], 1, BITS));
    on("select", json!({"op": "select"}), &inputs, (&[2, 33], 1, BITS));
    for ring in [64, 128] {
        on("count", json!({"op": "count"}), &inputs[..1], (&[2, 33], ring, BITS));
        let numbers: [(&[usize], u32, _); 3] = [inputs[0], (&[33], ring, (-9, 9)), (&[2, 1], ring, (0, 1 << 50))];
        on("select", json!({"op": "select"}), &numbers, (&[2, 33], ring, WIDE));
    }
}

#[test]
fn lines_have_sums_extremes_and_orders() {
    let shape: &[usize] = &[2, 5, 3];
    let axes: [(usize, &[usize]); 3] = [(0, &[5, 3]), (1, &[2, 3]), (2, &[2, 5])];
    for (ring, bounds, axes) in [
        (64, (-4, 4), &axes[..]),
        (64, (-(1 << 40), 1 << 40), &axes[1..2]),
        (128, (5, 5), &axes[..1]),
        (128, (0, 1 << 70), &axes[2..]),
        (1, BITS, &axes[..2]),
    ] {
        for &(axis, without) in axes {
            let input: [(&[usize], u32, _); 1] = [(shape, ring, bounds)];
            for op in ["largest", "smallest"] {
                on(op, json!({"op": op, "axis": axis}), &input, (without, ring, bounds));
            }
            for largest in [false, true] {
                on("place", json!({"op": "place", "axis": axis, "largest": largest}), &input, (without, 64, (0, 4)));
            }
            on("sort", json!({"op": "sort", "axis": axis}), &input, (shape, ring, bounds));
            on("order", json!({"op": "order", "axis": axis}), &input, (shape, 64, (0, 4)));
            if ring > 1 {
                let sums = (-(1 << 50), 1i128 << (ring - 4).min(100));
                on("sum", json!({"op": "sum", "axis": axis}), &input, (without, ring, sums));
                on("cumulative", json!({"op": "cumulative_sum", "axis": axis}), &input, (shape, ring, sums));
            }
        }
    }
}

#[test]
fn the_first_of_equal_ones_is_the_largest() {
    let input: [(&[usize], u32, _); 1] = [(&[1, 13], 64, (0, 1))];
    for largest in [false, true] {
        on("ties", json!({"op": "place", "axis": 1, "largest": largest}), &input, (&[1], 64, (0, 12)));
    }
}

#[test]
fn elements_move() {
    let input: [(&[usize], u32, _); 1] = [(&[2, 3, 4], 64, (-99, 99))];
    let bounds = (-99, 99);
    let moved: [(Value, &[usize]); 8] = [
        (json!({"op": "reshape"}), &[4, 6]),
        (json!({"op": "transpose", "axes": [2, 0, 1]}), &[4, 2, 3]),
        (json!({"op": "broadcast"}), &[2, 2, 3, 4]),
        (json!({"op": "slice", "ranges": [[1, 2, 1], [2, -1, -1], [0, 4, 3]]}), &[1, 3, 2]),
        (json!({"op": "slice", "ranges": [[1, 1, 1], [0, 3, 1], [3, 4, 1]]}), &[0, 3, 1]),
        (json!({"op": "take", "positions": [2, 0, 0, 1], "axis": 1}), &[2, 4, 4]),
        (json!({"op": "take", "positions": [], "axis": 2}), &[2, 3, 0]),
        (json!({"op": "concatenate", "axis": 2}), &[2, 3, 4]),
    ];
    for (operation, shape) in moved {
        on("move", operation.clone(), &input, (shape, 64, bounds));
        on("move", operation, &[(&[2, 3, 4], 1, BITS)], (shape, 1, BITS));
    }
    for (axis, shape) in [(0, [5, 2]), (1, [2, 5])] {
        let other: &[usize] = if axis == 0 { &[3, 2] } else { &[2, 3] };
        let parts: [(&[usize], u32, _); 2] = [(&[2, 2], 128, bounds), (other, 128, bounds)];
        on("concatenate", json!({"op": "concatenate", "axis": axis}), &parts, (&shape, 128, bounds));
    }
}

#[test]
fn quotients_of_integers_are_rounded_down() {
    for (x, y) in [((-50, 50), (1, 7)), ((0, 1 << 30), (1, 1 << 15)), ((-(1 << 40), -1), (3, 3)), ((0, 0), (1, 2))] {
        let inputs: [(&[usize], u32, _); 2] = [(&[12], 64, x), (&[12], 64, y)];
        on("floor divide", json!({"op": "floor_divide"}), &inputs, (&[12], 64, (-(1 << 41), 1 << 41)));
    }
}
