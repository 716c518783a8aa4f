//! What is no program is refused when it is read, with the node and what is wrong.

use serde_json::{Value, json};
use tacit_array::Instructions;

/// A node with all its members.
fn node(operation: Value, args: &[usize], shape: &[usize], ring: u32, low: &str, high: &str) -> Value {
    let common = json!({"args": args, "shape": shape, "ring": ring, "fraction": 0, "low": low, "high": high});
    let (Value::Object(mut members), Value::Object(common)) = (operation, common) else { unreachable!("objects") };
    members.extend(common);
    Value::Object(members)
}

fn input(shape: &[usize], ring: u32, low: &str, high: &str) -> Value {
    node(json!({"op": "input", "index": 0}), &[], shape, ring, low, high)
}

fn refusal(nodes: &[Value]) -> String {
    let text = Value::Array(nodes.to_vec()).to_string();
    match serde_json::from_str::<Instructions>(&text) {
        Ok(_) => panic!("it is read: {text}"),
        Err(error) => error.to_string(),
    }
}

/// What is said of a node behind an input of shape [2, 3], numbers from -8 to 7.
fn refused(next: Value, says: &str) {
    let told = refusal(&[input(&[2, 3], 64, "-8", "7"), next]);
    assert!(told.contains(says), "{told:?} does not say {says:?}");
}

#[test]
fn members_are_all_there_and_no_others() {
    let plain = || node(json!({"op": "negate"}), &[0], &[2, 3], 64, "-7", "8");
    let without = |name: &str| {
        let Value::Object(mut members) = plain() else { unreachable!("an object") };
        members.remove(name);
        Value::Object(members)
    };
    for name in ["args", "shape", "ring", "fraction", "low", "high"] {
        refused(without(name), &format!("a node without {name:?}"));
    }
    refused(without("op"), "op");
    refused(node(json!({"op": "negate", "axis": 0}), &[0], &[2, 3], 64, "-7", "8"), "axis");
    refused(node(json!({"op": "sum"}), &[0], &[3], 64, "-16", "14"), "axis");
    refused(node(json!({"op": "explode"}), &[0], &[2, 3], 64, "-7", "8"), "explode");
    refused(json!(7), "map");
    for number in ["1.5", "+1", "01", "", "x", "170141183460469231731687303715884105728"] {
        refused(node(json!({"op": "negate"}), &[0], &[2, 3], 64, number, "8"), "is no integer");
    }
    refused(node(json!({"op": "negate"}), &[0], &[2, 3], 32, "-7", "8"), "a ring of 32 bits");
}

#[test]
fn arguments_are_before_and_as_many_as_needed() {
    refused(
        node(json!({"op": "negate"}), &[1], &[2, 3], 64, "-7", "8"),
        "node 1 (negate): argument 1 is not before it",
    );
    refused(node(json!({"op": "negate"}), &[0, 0], &[2, 3], 64, "-7", "8"), "2 arguments");
    refused(node(json!({"op": "concatenate", "axis": 0}), &[], &[0, 3], 64, "-7", "8"), "0 arguments");
}

#[test]
fn shapes_follow() {
    let shaped = |operation: Value, shape: &[usize], says: &str| {
        refused(node(operation, &[0], shape, 64, "-64", "64"), says);
    };
    shaped(json!({"op": "negate"}), &[3, 2], "its shape is [2, 3], not [3, 2]");
    shaped(json!({"op": "sum", "axis": 2}), &[2, 3], "no axis 2");
    shaped(json!({"op": "reshape"}), &[7], "does not apply");
    shaped(json!({"op": "transpose", "axes": [0, 0]}), &[2, 2], "does not apply");
    shaped(json!({"op": "broadcast"}), &[2, 4], "does not apply");
    shaped(json!({"op": "slice", "ranges": [[0, 2, 1]]}), &[2, 3], "does not apply");
    for range in [[0, 4, 1], [0, 3, 0], [-1, 2, 1], [2, -2, -1], [0, i64::MAX, 1], [i64::MIN, 0, 1], [0, 3, i64::MIN]] {
        shaped(json!({"op": "slice", "ranges": [[0, 2, 1], range]}), &[2, 3], "does not apply");
    }
    shaped(json!({"op": "take", "positions": [3], "axis": 1}), &[2, 1], "does not apply");
    shaped(json!({"op": "concatenate", "axis": 9}), &[2, 3], "no axis 9");
    let far = [1 << 20, 1 << 20, 1 << 20, 1 << 20];
    let told = refusal(&[input(&far, 64, "0", "1")]);
    assert!(told.contains("too many elements"), "{told}");
    let told =
        refusal(&[input(&[2, 0], 64, "0", "1"), node(json!({"op": "largest", "axis": 1}), &[0], &[2], 64, "0", "1")]);
    assert!(told.contains("does not apply"), "{told}");
    let constant = node(json!({"op": "constant", "values": ["1", "2"]}), &[], &[3], 64, "0", "9");
    assert!(refusal(&[constant]).contains("does not apply"));
    let product = node(json!({"op": "matmul", "cut": 0, "floor": false}), &[0, 0], &[2, 2], 64, "-999", "999");
    refused(product, "does not apply");
}

#[test]
fn convolutions_have_room_for_their_filters() {
    let said = |gives: &str, [size, window, stride, padding]: [[usize; 2]; 4]| {
        json!({"op": "convolve", "gives": gives, "size": size, "window": window, "stride": stride,
            "padding": padding, "cut": 0, "floor": false})
    };
    let read = |gives: &str, sizes: [[usize; 2]; 4], shapes: [&[usize]; 3]| {
        let mut second = input(shapes[1], 64, "-8", "7");
        second["index"] = json!(1);
        let last = node(said(gives, sizes), &[0, 1], shapes[2], 64, "-999", "999");
        let text = Value::Array(vec![input(shapes[0], 64, "-8", "7"), second, last]).to_string();
        serde_json::from_str::<Instructions>(&text).map(|_| ()).map_err(|error| error.to_string())
    };
    let (sizes, images, filters, outputs) = ([[3, 4], [2, 2], [1, 1], [1, 0]], [2, 3, 3, 4], [5, 12], [2, 5, 4, 3]);
    for (gives, shapes) in [
        ("outputs", [&images[..], &filters[..], &outputs[..]]),
        ("filters", [&images[..], &outputs[..], &filters[..]]),
        ("images", [&filters[..], &outputs[..], &images[..]]),
    ] {
        assert_eq!(read(gives, sizes, shapes), Ok(()), "{gives}");
        let no = |sizes: [[usize; 2]; 4], shapes: [&[usize]; 3], says: &str| {
            let told = read(gives, sizes, shapes).expect_err(gives);
            assert!(told.contains(says), "{told:?} does not say {says:?}");
        };
        for (member, wrong) in [
            (0, [4, 4]),
            (0, [0, 4]),
            (1, [0, 2]),
            (1, [6, 2]),
            (2, [0, 1]),
            (0, [usize::MAX, 4]),
            (1, [usize::MAX, 2]),
            (3, [usize::MAX, 0]),
        ] {
            let mut sizes = sizes;
            sizes[member] = wrong;
            no(sizes, shapes, "does not apply");
        }
        no(sizes, [shapes[1], shapes[0], shapes[2]], "does not apply");
        no(sizes, [&[2], shapes[1], shapes[2]], "does not apply");
        no(sizes, [shapes[0], &[], shapes[2]], "does not apply");
        let mut larger = shapes[2].to_vec();
        larger[0] += 1;
        no(sizes, [shapes[0], shapes[1], &larger], "its shape is");
    }
    let far = [[1, 1 << 20], [1 << 20, 1], [1, 1], [(1 << 20) - 1, 0]];
    let told = read("outputs", far, [&[1, 1, 1, 1 << 20], &[1, 1 << 20], &[1, 1, 1 << 20, 1 << 20]]);
    assert!(told.is_err_and(|told| told.contains("too many elements") || told.contains("does not apply")));
    let spread = [[1, 1 << 20], [1 << 20, 1], [1 << 20, 1 << 20], [(1 << 20) - 1, 0]];
    let told = read("outputs", spread, [&[1, 1, 1, 1 << 20], &[1, 1 << 20], &[1, 1, 1, 1]]);
    assert!(told.is_err_and(|told| told.contains("does not apply")));
}

#[test]
fn rings_fit() {
    let ringed = |operation: Value, ring: u32| refused(node(operation, &[0], &[2, 3], ring, "0", "1"), "rings of [64]");
    ringed(json!({"op": "negate"}), 128);
    ringed(json!({"op": "not"}), 1);
    ringed(json!({"op": "count"}), 64);
    ringed(json!({"op": "widen"}), 64);
    ringed(json!({"op": "narrow"}), 64);
    ringed(json!({"op": "reshape"}), 1);
    refused(node(json!({"op": "less"}), &[0, 0], &[2, 3], 64, "0", "1"), "rings of [64, 64]");
    let select = node(json!({"op": "select"}), &[0, 0, 0], &[2, 3], 64, "0", "1");
    refused(select, "rings of [64, 64, 64]");
    let bits = [input(&[2], 1, "0", "1"), node(json!({"op": "sum", "axis": 0}), &[0], &[], 64, "0", "2")];
    assert!(refusal(&bits).contains("rings of [1]"));
}

#[test]
fn bounds_stay_in_the_ring_with_two_bits_to_spare() {
    let limit = (1i128 << 62).to_string();
    for (low, high) in [("0", limit.as_str()), (&format!("-{limit}"), "0")] {
        refused(node(json!({"op": "negate"}), &[0], &[2, 3], 64, low, high), "leave the ring");
    }
    refused(node(json!({"op": "negate"}), &[0], &[2, 3], 64, "1", "0"), "is above its upper bound");
    assert!(refusal(&[input(&[1], 1, "0", "2")]).contains("leave the ring"));
    assert!(refusal(&[input(&[1], 1, "-1", "1")]).contains("leave the ring"));
    for bits in [0, 63, usize::MAX] {
        let operation = json!({"op": "truncate", "bits": bits, "floor": false});
        refused(node(operation, &[0], &[2, 3], 64, "-8", "8"), "bits; 1 to 62 are possible");
    }
    refused(node(json!({"op": "shift", "bits": 64}), &[0], &[2, 3], 64, "-8", "8"), "it moves by 64 bits");
    let product = json!({"op": "multiply", "cut": 30, "floor": false});
    refused(node(product, &[0, 0], &[2, 3], 64, "0", "4294967298"), "leaves the ring before it is cut");
    refused(node(json!({"op": "clip"}), &[0, 0, 0], &[2, 3], 64, "-8", "8"), "its lower end may be above its upper");
    refused(node(json!({"op": "floor_divide"}), &[0, 0], &[2, 3], 64, "-8", "8"), "its divisor may be zero");
    let outside =
        |from: &str, to: &str| node(json!({"op": "outside", "from": from, "to": to}), &[0], &[2, 3], 1, "0", "1");
    refused(outside("3", "2"), "no numbers of the ring are from 3 to 2");
    refused(outside("0", &limit), "no numbers of the ring are from 0 to");
    let constant = node(json!({"op": "constant", "values": ["10"]}), &[], &[1], 64, "0", "9");
    assert!(refusal(&[constant]).contains("the constant 10 is not within its bounds"));
}

/// Nobody goes along an axis of such a length, where there is no element either.
#[test]
fn an_array_without_elements_is_not_long() {
    let most = 1usize << 31;
    let empty =
        |shape: &[usize]| serde_json::from_str::<Instructions>(&json!([input(shape, 64, "0", "1")]).to_string());
    for shape in [&[0, most][..], &[most, 0], &[0, 0, 1 << 16, 1 << 15]] {
        assert!(empty(shape).is_ok(), "{shape:?}");
    }
    for shape in [&[0, most + 1][..], &[1 << 62, 0], &[1 << 62, 4, 0], &[0, 1 << 16, 1 << 16], &[usize::MAX, 0]] {
        let told = refusal(&[input(shape, 64, "0", "1")]);
        assert!(told.contains("has too many elements or axes"), "{told}");
    }
    assert!(empty(&[1; 64]).is_ok());
    assert!(refusal(&[input(&[1; 65], 64, "0", "1")]).contains("has too many elements or axes"));
}
