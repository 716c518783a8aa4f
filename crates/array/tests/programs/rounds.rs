//! Instructions of one kind share their rounds, and what is sent is a function of the program alone.

use serde_json::json;
use tacit_math::Prg;
use tacit_mpc::backends::{Networked, Rep3, Two};
use tacit_views::seed;

use super::random::program;
use super::world::{Writer, declared, drawn, in_clear, on_nodes};

const BOUNDS: (i128, i128) = (-1000, 1000);

/// Pairs of inputs with a product, and what is done with it.
fn products(count: usize, then: impl Fn(&mut Writer, usize, usize)) -> (Writer, Vec<usize>) {
    let mut writer = Writer::default();
    let mut last = vec![];
    for k in 0..count {
        let [x, y] = [0, 1].map(|_| writer.input(&[3 + k], 64, BOUNDS));
        let operation = json!({"op": "multiply", "cut": 8, "floor": false});
        let product = writer.node(operation, &[x, y], &[3 + k], 64, (-4000, 4000));
        then(&mut writer, product, x);
        last.push(writer.nodes.len() - 1);
    }
    (writer, last)
}

#[test]
fn what_is_alike_and_ready_shares_its_rounds() {
    let compared = |writer: &mut Writer, product: usize, x: usize| {
        let shape = writer.nodes[product]["shape"][0].as_u64().expect("a size") as usize;
        let less = writer.node(json!({"op": "less"}), &[product, x], &[shape], 1, (0, 1));
        writer.node(json!({"op": "select"}), &[less, product, x], &[shape], 64, (-4000, 4000));
    };
    let [(one, last_of_one), (five, last_of_five)] = [1, 5].map(|count| products(count, compared));
    let rounds = |writer: &Writer, last: &[usize]| {
        let program = writer.program();
        [declared::<Rep3>(&program, last).rounds, declared::<Two>(&program, last).rounds]
    };
    assert_eq!(rounds(&one, &last_of_one), rounds(&five, &last_of_five));
}

#[test]
fn convolutions_and_products_of_matrices_share_their_rounds() {
    let mut writer = Writer::default();
    let image = writer.input(&[1, 1, 3, 3], 64, BOUNDS);
    let filter = writer.input(&[2, 4], 64, BOUNDS);
    let outputs = writer.input(&[1, 2, 2, 2], 64, BOUNDS);
    let convolve = |gives: &str| {
        json!({"op": "convolve", "gives": gives, "size": [3, 3], "window": [2, 2], "stride": [1, 1],
            "padding": [0, 0], "cut": 8, "floor": false})
    };
    let wide = (-1 << 20, 1 << 20);
    let matrix = json!({"op": "matmul", "cut": 8, "floor": false});
    let last = [
        writer.node(convolve("filters"), &[image, outputs], &[2, 4], 64, wide),
        writer.node(convolve("images"), &[filter, outputs], &[1, 1, 3, 3], 64, wide),
        writer.node(matrix, &[image, image], &[1, 1, 3, 3], 64, wide),
    ];
    let program = writer.program();
    let [one, all] = [&last[..1], &last[..]].map(|outputs| declared::<Rep3>(&program, outputs).rounds);
    assert_eq!(one, all);
    let given = drawn(&program, &mut Prg::new(&seed("convolutions")));
    let expected = super::plain::results(&program, &given);
    for seen in on_nodes::<Rep3>(&program, &given, &last) {
        for (found, &node) in seen.results.iter().zip(&last) {
            let near =
                found.iter().zip(&expected[node].values).all(|(found, expected)| (0..=1).contains(&(found - expected)));
            assert!(near, "{found:?}, not {:?}", expected[node].values);
        }
    }
}

#[test]
fn lines_of_several_arrays_share_their_rounds() {
    for operation in [
        json!({"op": "largest", "axis": 0}),
        json!({"op": "place", "axis": 0, "largest": false}),
        json!({"op": "sort", "axis": 0}),
        json!({"op": "order", "axis": 0}),
    ] {
        let shape = |columns: usize| {
            if operation["op"] == "sort" || operation["op"] == "order" { vec![7, columns] } else { vec![columns] }
        };
        let bounds = if operation["op"] == "place" || operation["op"] == "order" { (0, 6) } else { BOUNDS };
        let mut writer = Writer::default();
        let all: Vec<usize> = [1, 3, 2]
            .map(|columns| {
                let x = writer.input(&[7, columns], 64, BOUNDS);
                writer.node(operation.clone(), &[x], &shape(columns), 64, bounds)
            })
            .to_vec();
        let program = writer.program();
        let given = drawn(&program, &mut Prg::new(&seed("lines")));
        let results = super::plain::results(&program, &given);
        let expected: Vec<_> = all.iter().map(|&node| results[node].values.clone()).collect();
        assert!(on_nodes::<Rep3>(&program, &given, &all).iter().all(|seen| seen.results == expected), "{operation}");
        let [one, three] = [&all[1..2], &all[..]].map(|outputs| declared::<Rep3>(&program, outputs).rounds);
        // A sort of more lines has more bits of their numbers to sort by: two passes at most.
        let more = if operation["op"] == "sort" || operation["op"] == "order" { 12 } else { 0 };
        assert!(three <= one + more, "{operation}: {three} rounds of three, {one} of one");
    }
}

#[test]
fn checks_of_several_arrays_share_their_rounds() {
    let mut writer = Writer::default();
    let any: Vec<usize> = [1, 3, 2]
        .map(|columns| {
            let x = writer.input(&[70, columns], 64, BOUNDS);
            let operation = json!({"op": "outside", "from": "-900", "to": "900"});
            let outside = writer.node(operation, &[x], &[70, columns], 1, (0, 1));
            writer.node(json!({"op": "largest", "axis": 0}), &[outside], &[columns], 1, (0, 1))
        })
        .to_vec();
    let program = writer.program();
    let [one, three] = [&any[1..2], &any[..]].map(|outputs| declared::<Rep3>(&program, outputs).rounds);
    assert_eq!(one, three);
}

#[test]
fn what_waits_longest_goes_first() {
    let mut writer = Writer::default();
    let x = writer.input(&[4], 64, BOUNDS);
    let less = writer.node(json!({"op": "less"}), &[x, x], &[4], 1, (0, 1));
    let count = writer.node(json!({"op": "count"}), &[less], &[4], 64, (0, 1));
    let other = writer.input(&[4], 64, BOUNDS);
    let late =
        writer.node(json!({"op": "multiply", "cut": 0, "floor": false}), &[other, other], &[4], 64, (0, 1_000_000));
    let joined = writer.node(json!({"op": "multiply", "cut": 0, "floor": false}), &[count, x], &[4], 64, BOUNDS);
    let together = declared::<Rep3>(&writer.program(), &[joined, late]).rounds;
    assert_eq!(together, declared::<Rep3>(&writer.program(), &[joined]).rounds, "the product waits for the other one");
}

#[test]
fn nothing_is_done_that_no_result_needs() {
    let (writer, last) = products(2, |_, _, _| ());
    let program = writer.program();
    let [one, both] = [&last[..1], &last[..]].map(|outputs| declared::<Rep3>(&program, outputs).sent);
    assert!(one[0] < both[0]);
}

/// Two sets of data: the same messages, in the same order, of the same sizes.
fn same_messages<B: Networked>(name: &str) {
    let mut prg = Prg::new(&seed(name));
    for _ in 0..4 {
        let (program, outputs) = program(&mut prg, 12);
        let runs: [Vec<_>; 2] = [(); 2].map(|()| {
            let given = drawn(&program, &mut prg);
            on_nodes::<B>(&program, &given, &outputs).into_iter().map(|seen| seen.messages).collect()
        });
        let as_text = |messages: &tacit_net::Message| {
            format!(
                "{} {} {:?} {:?} {}",
                messages.step, messages.round, messages.peer, messages.direction, messages.bytes
            )
        };
        let [first, second] = runs.map(|run: Vec<Vec<tacit_net::Message>>| {
            run.iter().map(|messages| messages.iter().map(as_text).collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        assert_eq!(first, second);
        assert!(first.iter().any(|messages| !messages.is_empty()), "a program that sends nothing shows nothing");
    }
}

#[test]
fn three_nodes_send_what_the_program_says() {
    same_messages::<Rep3>("messages of three nodes");
}

#[test]
fn two_nodes_send_what_the_program_says() {
    same_messages::<Two>("messages of two nodes");
}

#[test]
fn an_input_that_is_taken_twice_is_given_once() {
    let mut writer = Writer::default();
    let x = writer.input(&[2], 64, BOUNDS);
    let again = writer.node(json!({"op": "input", "index": 0}), &[], &[2, 1], 64, BOUNDS);
    let sum = writer.node(json!({"op": "add"}), &[x, again], &[2, 2], 64, (-2000, 2000));
    let program = writer.program();
    let given = vec![super::plain::Plain::new(&[2], vec![1, 10])];
    assert_eq!(in_clear(&program, &given, &[sum, x]), [vec![2, 11, 11, 20], vec![1, 10]]);
}
