//! Programs on every engine: their results, and what they send.

use std::thread;

use serde_json::{Value, json};
use tacit_array::{Array, Instructions, Ring, Shares, execute};
use tacit_math::{Plane, Prg};
use tacit_mpc::backends::{Clear, Networked, Tally};
use tacit_mpc::{Backend, Block, Rows, Shape};
use tacit_net::{Cost, Message, Options, PartyId, Record, memory};

use super::permits::permit;
use super::plain::{Plain, signed};

/// The parties; an engine's nodes are the first of them.
const PARTIES: [&str; 4] = ["a", "b", "c", "d"];

/// A program that is being written.
#[derive(Clone, Default)]
pub struct Writer {
    pub nodes: Vec<Value>,
    given: usize,
}

impl Writer {
    /// The next node. Returns its position.
    pub fn node(
        &mut self,
        operation: Value,
        args: &[usize],
        shape: &[usize],
        ring: u32,
        bounds: (i128, i128),
    ) -> usize {
        let (low, high) = (bounds.0.to_string(), bounds.1.to_string());
        let common = json!({"args": args, "shape": shape, "ring": ring, "fraction": 0, "low": low, "high": high});
        let Value::Object(mut members) = operation else { panic!("an operation is an object") };
        let Value::Object(common) = common else { unreachable!("it is one") };
        members.extend(common);
        self.nodes.push(Value::Object(members));
        self.nodes.len() - 1
    }

    pub fn input(&mut self, shape: &[usize], ring: u32, bounds: (i128, i128)) -> usize {
        self.given += 1;
        self.node(json!({"op": "input", "index": self.given - 1}), &[], shape, ring, bounds)
    }

    /// The program, as it is read.
    pub fn program(&self) -> Instructions {
        let text = Value::Array(self.nodes.clone()).to_string();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// Arrays within the bounds of a program's inputs.
pub fn drawn(program: &Instructions, prg: &mut Prg) -> Vec<Plain> {
    let mut given: Vec<(usize, Plain)> = program
        .given()
        .map(|(index, node)| {
            let range = (node.high - node.low) as u128 + 1;
            let drawn = prg.vector::<u128>(node.elements());
            let extreme = |i: usize, value: u128| match i % 7 {
                5 => node.low,
                6 => node.high,
                _ => node.low + (value % range) as i128,
            };
            let values = drawn.into_iter().enumerate().map(|(i, value)| extreme(i, value)).collect();
            (index, Plain::new(&node.shape, values))
        })
        .collect();
    given.sort_by_key(|(index, _)| *index);
    given.into_iter().map(|(_, plain)| plain).collect()
}

fn ring_of(program: &Instructions, index: usize) -> Ring {
    program.given().find(|(given, _)| *given == index).expect("it is taken").1.ring
}

fn shape(ring: Ring, rows: usize) -> Shape {
    let empty = Shape { rows, ..Shape::default() };
    match ring {
        Ring::Bits => Shape { bits: 1, ..empty },
        Ring::Ring64 => Shape { r64: 1, ..empty },
        Ring::Ring128 => Shape { r128: 1, ..empty },
    }
}

fn block(ring: Ring, values: &[i128]) -> Block {
    let empty = Block { rows: values.len(), ..Block::default() };
    match ring {
        Ring::Bits => Block { bits: vec![Plane::from_fn(values.len(), |i| values[i] == 1)], ..empty },
        Ring::Ring64 => Block { r64: vec![values.iter().map(|&x| x as u64).collect()], ..empty },
        Ring::Ring128 => Block { r128: vec![values.iter().map(|&x| x as u128).collect()], ..empty },
    }
}

fn array<B: Backend>(mut rows: Rows<B>) -> Array<B> {
    let shares = match (rows.bits.pop(), rows.r64.pop(), rows.r128.pop()) {
        (Some(plane), _, _) => Shares::Bits(plane),
        (_, Some(x), _) => Shares::Ring64(x),
        (_, _, Some(x)) => Shares::Ring128(x),
        _ => unreachable!("one column"),
    };
    Array::new(&[rows.rows], shares)
}

fn bundle<B: Backend>(array: &Array<B>) -> Rows<B> {
    let empty = Rows::empty(array.elements());
    match array.shares() {
        Shares::Bits(x) => Rows { bits: vec![x.clone()], ..empty },
        Shares::Ring64(x) => Rows { r64: vec![x.clone()], ..empty },
        Shares::Ring128(x) => Rows { r128: vec![x.clone()], ..empty },
    }
}

fn values(ring: Ring, block: &Block) -> Vec<i128> {
    let found: Vec<u128> = match ring {
        Ring::Bits => block.bits[0].to_bools().into_iter().map(u128::from).collect(),
        Ring::Ring64 => block.r64[0].iter().map(|&x| u128::from(x)).collect(),
        Ring::Ring128 => block.r128[0].clone(),
    };
    found.into_iter().map(|value| signed(ring, value)).collect()
}

/// What one node of a run has at its end.
pub struct Seen {
    pub results: Vec<Vec<i128>>,
    pub messages: Vec<Message>,
    rounds: u64,
    sent: u64,
}

fn played<B: Backend>(b: &mut B, program: &Instructions, given: Vec<Array<B>>, outputs: &[usize]) -> Vec<Array<B>> {
    let mut made = vec![];
    b.step("program", |b| {
        made = execute(b, program, given, outputs)?;
        Ok(())
    })
    .expect("a result");
    made
}

fn opened<B: Backend>(b: &mut B, names: &[&str], made: &[Array<B>]) -> Vec<Vec<i128>> {
    let one = |array: &Array<B>| {
        let rows = bundle(array);
        let block = b.open(&rows, permit(names, rows.shape())).expect("opened").expect("for all nodes");
        values(array.ring(), &block)
    };
    made.iter().map(one).collect()
}

/// The results on the engine without security.
pub fn in_clear(program: &Instructions, given: &[Plain], outputs: &[usize]) -> Vec<Vec<i128>> {
    let mut b = Clear::new().expect("an engine");
    let mut share = |(index, plain): (usize, &Plain)| {
        let ring = ring_of(program, index);
        let rows = b.input(PartyId(0), shape(ring, plain.values.len()), Some(block(ring, &plain.values)));
        array(rows.expect("an input"))
    };
    let given = given.iter().enumerate().map(&mut share).collect();
    let made = played(&mut b, program, given, outputs);
    opened(&mut b, &["a"], &made)
}

/// What every node of an engine has at its end.
pub fn on_nodes<B: Networked>(program: &Instructions, given: &[Plain], outputs: &[usize]) -> Vec<Seen> {
    let names = &PARTIES[..B::NODES];
    let sessions = memory::mesh(names, &Options { record: Record::Sizes, ..Options::default() });
    let node = |session| {
        let mut b = B::start(session).expect("an engine");
        let me = b.session().me();
        let mut share = |(index, plain): (usize, &Plain)| {
            let (ring, owner) = (ring_of(program, index), PartyId(index % B::NODES));
            let data = (me == owner).then(|| block(ring, &plain.values));
            array(b.input(owner, shape(ring, plain.values.len()), data).expect("an input"))
        };
        let given = given.iter().enumerate().map(&mut share).collect();
        let made = played(&mut b, program, given, outputs);
        let results = opened(&mut b, names, &made);
        let counters = b.session().meter().snapshot().under("program");
        let messages = b.session().transcript().expect("a transcript").messages();
        let messages = messages.into_iter().filter(|message| message.step.starts_with("program")).collect();
        b.into_session().close().expect("an orderly end");
        Seen { results, messages, rounds: counters.rounds, sent: counters.bytes_sent }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

/// What nodes sent in a program.
pub fn metered(seen: &[Seen]) -> Cost {
    Cost { rounds: seen[0].rounds, sent: seen.iter().map(|seen| seen.sent).collect() }
}

/// What an engine declares that a program sends.
pub fn declared<B: Networked>(program: &Instructions, outputs: &[usize]) -> Cost {
    let names: Vec<String> = PARTIES[..B::NODES].iter().copied().map(String::from).collect();
    let mut b = Tally::<B::Formulas>::new(names);
    b.declare(tacit_mpc::Link::UNDECLARED);
    let inputs = program.inputs();
    let node = |index| program.given().find(|(given, _)| *given == index).expect("it is taken").1;
    let given = (0..inputs).map(|index| array(b.columns(shape(node(index).ring, node(index).elements())))).collect();
    b.take();
    let _made = played(&mut b, program, given, outputs);
    b.take()
}
