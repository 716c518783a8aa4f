//! `program`, with what is opened of it: the guard of its checked bounds, and the release of its result.

use serde_json::{Value as Json, json};
use tacit_math::{Plane, Prg};
use tacit_mpc::backends::{Rep3, Two};
use tacit_mpc::{Block, Permits};
use tacit_table::operator::Kept;
use tacit_table::{Executor, TableError};
use tacit_views::{View, seed};

use crate::ideal::{Dealing, Disclosed, Engine, Public};
use crate::plain::{Shape, bits, operator, ring};
use crate::plays::{Case, EFFORT, From, Node, OPENED, Play, check, check_case, check_sizes, names};
use crate::watched::{bundle, clear, unwrapped};
use crate::world::{Ends, PARTIES, Source, dealt};

/// A node of a program, of integers.
fn node(operation: Json, args: &[usize], shape: &[usize], ring: u32, bounds: (i64, i64)) -> Json {
    let (low, high) = (bounds.0.to_string(), bounds.1.to_string());
    let common = json!({"args": args, "shape": shape, "ring": ring, "fraction": 0, "low": low, "high": high});
    let (Json::Object(mut members), Json::Object(common)) = (operation, common) else { unreachable!("objects") };
    members.extend(common);
    Json::Object(members)
}

fn output(id: usize, node: usize, column: &str, repr: &str, width: usize) -> Json {
    let kind = json!({"repr": repr, "width": width, "signed": false, "nullable": false});
    json!({"id": id, "node": node, "column": column, "kind": kind})
}

/// Products of numbers and bits, their order, and random numbers, of a table with this number of rows.
fn operations(rows: usize) -> Case {
    let product = json!({"op": "multiply", "cut": 0, "floor": false});
    let nodes = [
        node(json!({"op": "input", "index": 0}), &[], &[rows], 64, (0, 7)),
        node(json!({"op": "input", "index": 1}), &[], &[rows], 1, (0, 1)),
        node(product, &[0, 0], &[rows], 64, (0, 49)),
        node(json!({"op": "select"}), &[1, 2, 0], &[rows], 64, (0, 49)),
        node(json!({"op": "outside", "from": "2", "to": "5"}), &[0], &[rows], 1, (0, 1)),
        node(json!({"op": "sample", "bits": 2}), &[], &[rows], 64, (0, 3)),
        node(json!({"op": "add"}), &[3, 5], &[rows], 64, (0, 52)),
        node(json!({"op": "sort", "axis": 0}), &[6], &[rows], 64, (0, 52)),
    ];
    let inputs = json!([{"step": 1, "column": "x"}, {"step": 1, "column": "flag"}]);
    let outputs = [output(10, 7, "sorted", "ring64", 6), output(11, 4, "outside", "bits", 1)];
    let step = json!({"id": 9, "op": "program", "inputs": inputs, "nodes": nodes, "outputs": outputs});
    Case::new("program", &[Shape::new(&[ring("x", 3), bits("flag", 1)], false)], step)
}

const ROWS: usize = 2;
/// More than this is outside.
const MOST: u64 = 3;

/// The sum of squares of numbers that are checked to be no more than [`MOST`]. holds: whether they are, in every run.
struct Guarded {
    holds: bool,
}

impl Guarded {
    fn program() -> Json {
        let numbers = [ROWS];
        let nodes = [
            node(json!({"op": "input", "index": 0}), &[], &numbers, 64, (0, 7)),
            node(json!({"op": "outside", "from": "0", "to": MOST.to_string()}), &[0], &numbers, 1, (0, 1)),
            node(json!({"op": "largest", "axis": 0}), &[1], &[], 1, (0, 1)),
            node(json!({"op": "reshape"}), &[0], &numbers, 64, (0, MOST as i64)),
            node(json!({"op": "matmul", "cut": 0, "floor": false}), &[3, 3], &[], 64, (0, 18)),
        ];
        let outputs = [output(10, 2, "outside", "bits", 1), output(11, 4, "sum", "ring64", 5)];
        let inputs = json!([{"step": 1, "column": "x"}]);
        json!({"id": 9, "op": "program", "inputs": inputs, "nodes": nodes, "outputs": outputs})
    }

    fn permits(all: &[String]) -> Permits {
        let columns = |output: &Json| json!([{"name": output["column"], "kind": output["kind"]}]);
        let program = Self::program();
        let permit = |site: &str, kind: &str, to: &[String], place: usize| {
            let columns = columns(&program["outputs"][place]);
            json!({"site": site, "kind": kind, "recipients": to, "columns": columns, "rows": 1})
        };
        let list = [permit("12.release", "value", all, 0), permit("13.release", "answer", &all[..1], 1)];
        Permits::from_json(&Json::from(list.to_vec()).to_string()).expect("a list")
    }
}

impl Play for Guarded {
    fn run<B: Dealing + 'static>(&self, b: Node<B>, number: usize) -> (Node<B>, Ends) {
        let mut prg = Prg::new(&seed(&self.name()).derive(&number.to_string()));
        let (node, all, shape) = (b.node(), names(B::NODES), Shape::new(&[ring("x", 3)], false));
        let mut plain = shape.draw(ROWS, |_, _| true, &mut prg);
        plain.r64[0].iter_mut().for_each(|x| *x &= MOST);
        if !self.holds {
            plain.r64[0][number % ROWS] |= MOST + 1;
        }
        let mut executor = Executor::new(b, Self::permits(&all), all.clone(), [7; 32]);
        let mut begin = vec![];
        let deal = |_: &mut Node<B>, _: &Kept| {
            let shares = dealt::<Engine<B>>(&plain, node, &mut prg);
            begin = bundle("begin", &shares);
            Ok(unwrapped(shares))
        };
        let table = executor.kept(&shape.kept(1, ROWS), deal).unwrap_or_else(|error| panic!("{error}"));
        let bit = Block { rows: 1, bits: vec![Plane::from_fn(1, |_| !self.holds)], ..Block::default() };
        let sum = plain.r64[0].iter().map(|x| x * x).sum();
        let sum = Block { rows: 1, r64: vec![vec![sum]], ..Block::default() };
        let mut declared = clear("declared bit", &bit);
        let opened = |part: &Block, to| Disclosed::Opened { parts: vec![part.clone()], to, sorting: None };
        let mut public = Public { disclosed: [opened(&bit, &[0, 1, 2][..])].into(), ..Public::default() };
        if self.holds {
            declared.extend(if node == 0 { clear("declared answer", &sum) } else { View::default() });
            public.disclosed.push_back(opened(&sum, &[0]));
        }
        executor.backend_mut().inner_mut().hear(public);
        let made = executor.make(&operator(&Self::program()), vec![table]).unwrap_or_else(|error| panic!("{error}"));
        let [(10, outside), (11, result)] = <[_; 2]>::try_from(made).unwrap_or_else(|_| panic!("two tables")) else {
            panic!("the ids that the program says")
        };
        let release = |id: usize, column: &str, to: &[String], guard: bool| {
            let mut step =
                json!({"id": id, "op": "release", "input": 0, "to": to, "columns": [column], "ordered": true});
            step["guard"] = json!(guard);
            operator(&step)
        };
        match executor.release(&release(12, "outside", &all, true), outside) {
            Ok(told) => {
                assert!(self.holds && told.is_some(), "a bound that does not hold ends the run");
                let answer = executor.release(&release(13, "sum", &all[..1], false), result);
                assert_eq!(answer.unwrap_or_else(|error| panic!("{error}")).is_some(), PARTIES[node] == all[0]);
            }
            Err(error) => assert!(!self.holds && matches!(error, TableError::Withheld), "{error}"),
        }
        (executor.into_backend(), Ends { begin, end: vec![], declared })
    }

    fn discloses(&self) -> &'static [&'static str] {
        if self.holds { &["open", "open"] } else { &["open"] }
    }

    fn name(&self) -> String {
        format!("a checked bound that {}", if self.holds { "holds" } else { "does not hold" })
    }
}

// views: crates/table/src/operators/program.rs
#[test]
fn programs_are_seen_by_nobody() {
    check_case::<Rep3>(&operations(2), &[(2, From::Made(Source::Slice))]);
    check_case::<Two>(&operations(1), &[(1, From::Made(Source::Limit))]);
}

#[test]
fn the_bit_of_checked_bounds_is_all_that_is_seen_besides() {
    for holds in [true, false] {
        check::<Rep3>(&Guarded { holds }, OPENED);
    }
    check::<Two>(&Guarded { holds: false }, EFFORT);
}

#[test]
#[ignore = "minutes: make nightly"]
fn nothing_is_seen_of_programs_at_any_size() {
    for rows in [0, 1, 3] {
        check_sizes::<Rep3>(&[operations(rows)], &[rows]);
        check_sizes::<Two>(&[operations(rows)], &[rows]);
    }
    for holds in [true, false] {
        check::<Two>(&Guarded { holds }, OPENED);
    }
}
