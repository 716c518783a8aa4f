//! Garbled circuits: what the evaluator receives and holds, and what the garbler is asked.

use std::mem::MaybeUninit;

use tacit_math::{Plane, Prg};
use tacit_views::{Kind, View, leaks};

use super::half_gates::Keys;
use super::tile::{Memory, Tile};
use super::{Circuit, Input, circuit};
use crate::backends::two::Two;
use crate::backends::two::views::{
    Own, Protocol, Source, Strings, THIN, blocks, check, check_simulator, meetings, plane, runs_for, runs_of, shape,
    watch,
};
use crate::circuits::Function;
use crate::{Block, Result, Rows};

fn evaluated(b: &mut Two, x: Rows<Two>, function: Function) -> Result<Rows<Two>> {
    let inputs: Vec<Input<'_>> = x.bits.iter().map(Input::Shared).collect();
    let bits = b.garbled(&circuit(function), &inputs)?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

fn compared(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    evaluated(b, x, Function::LessThan { width: 2 })
}

fn added(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    evaluated(b, x, Function::Sum { width: 2 })
}

/// Node 0 knows the first input; node 1 part of the others.
fn conjoined(b: &mut Two, mut x: Rows<Two>) -> Result<Rows<Two>> {
    if b.me() == 1 {
        x.bits[0].0 = Plane::zeros(x.rows);
    }
    let inputs = [Input::OfGarbler(&x.bits[0]), Input::Shared(&x.bits[1]), Input::Shared(&x.bits[2])];
    let bits = b.garbled(&circuit(Function::All { planes: 3 }), &inputs)?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

const fn of<'a>(
    name: &'a str,
    bits: usize,
    run: &'a (dyn Fn(&mut Two, Rows<Two>) -> Result<Rows<Two>> + Sync),
) -> Protocol<'a> {
    Protocol { name, shape: shape(bits, 0), strings: Strings::None, used: None, run }
}

const COMPARE: Protocol<'_> = of("garbled comparison", 4, &compared);
const CONJOIN: Protocol<'_> = of("garbled conjunction", 3, &conjoined);

// views: Two::evaluate
// views: crates/mpc/src/backends/two/garbled/mod.rs
#[test]
fn garbled_circuits_tell_nothing() {
    check(&COMPARE, 1, Source::Dealt, THIN);
    check(&CONJOIN, 1, Source::Slice, THIN);
}

/// One node's data of one run of a circuit: its part of the labels of each input, and the tables of each AND, if it got
/// them.
struct Held {
    start: u128,
    labels: Vec<Vec<u128>>,
    tables: Vec<Vec<u128>>,
}

impl Held {
    /// `drawn` are the inputs of which labels are drawn by both: those that node 0 knows, the first ones.
    fn of(own: &Own, drawn: usize) -> Self {
        let named = |name: &str| -> Vec<Vec<u128>> {
            own.seen.parts().iter().filter(|part| part.name == name).map(|part| blocks(&part.bytes)).collect()
        };
        let labels = [named("drawn label"), named("label")];
        assert_eq!(labels[0].len(), drawn);
        let received = own.seen.parts().iter().filter(|part| part.kind == Kind::Received);
        Self {
            start: named("start")[0][0],
            labels: labels.concat(),
            tables: received.map(|part| blocks(&part.bytes)).collect(),
        }
    }

    fn random(circuit: &Circuit, rows: usize, prg: &mut Prg) -> Self {
        let mut vectors =
            |count: usize, length: usize| (0..count).map(|_| prg.vector::<u128>(length)).collect::<Vec<_>>();
        let (labels, tables) = (vectors(circuit.inputs(), rows), vectors(circuit.ands(), 2 * rows));
        Self { start: prg.vector::<u128>(1)[0], labels, tables }
    }

    fn tile<'a>(&'a self, memory: &'a mut Memory) -> Tile<'a> {
        Tile::new(memory, self.labels.iter().map(|labels| Some(&labels[..])).collect(), self.labels[0].len())
    }

    /// The labels of the outputs that an evaluator finds, and their colours.
    fn evaluate(&self, circuit: &Circuit) -> (Vec<u128>, Vec<Vec<u64>>) {
        let (mut memory, mut tables) = (Memory::new(circuit), self.tables.iter());
        let mut tile = self.tile(&mut memory);
        let next = |_: usize, take: &mut dyn FnMut(&[u128])| {
            take(tables.next().expect("tables of each AND"));
            Ok(())
        };
        tile.evaluate(circuit, &mut Keys::new(self.start), next).expect("no message");
        let mut colours = vec![vec![]; circuit.outputs()];
        tile.colours(circuit, &mut colours);
        (tile.outputs(circuit).concat(), colours)
    }

    /// The colours of the outputs' zero labels, where these are zero labels.
    fn garble(&self, circuit: &Circuit, delta: u128) -> Vec<Vec<u64>> {
        let mut memory = Memory::new(circuit);
        let mut tile = self.tile(&mut memory);
        let send = |blocks: usize, write: super::tile::Write<'_>| {
            write(&mut vec![MaybeUninit::uninit(); blocks]);
            Ok(())
        };
        tile.garble(circuit, &mut Keys::new(self.start), delta, send).expect("no message");
        let mut colours = vec![vec![]; circuit.outputs()];
        tile.colours(circuit, &mut colours);
        colours
    }
}

fn is_output(colours: &[Vec<u64>], output: &Block) -> bool {
    let planes = colours.iter().map(|words| Plane::from_words(output.rows, words.clone()));
    planes.zip(&output.bits).all(|(made, bits)| made.words() == bits.words())
}

/// Labels and tables at random, again until the outputs' colours are this node's shares. A garbler's offset is its own,
/// and what it is asked is random.
fn simulated(function: Function, drawn: usize, node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let circuit = circuit(function);
    let delta = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6979;
    let held = loop {
        let mut held = Held::random(&circuit, own.input.rows, prg);
        let fits = match node {
            0 => is_output(&held.garble(&circuit, delta), &own.output),
            _ => is_output(&held.evaluate(&circuit).1, &own.output),
        };
        if fits {
            if node == 0 {
                // The drawn label is the one of the bit that node 0 has.
                for (which, labels) in held.labels.iter_mut().take(drawn).enumerate() {
                    let bit = |row: usize| u128::from(plane(&own.input, which)[row / 64] >> (row % 64) & 1);
                    labels.iter_mut().enumerate().for_each(|(row, label)| *label ^= bit(row) * delta);
                }
            }
            break held;
        }
    };
    let bytes = |blocks: &[u128]| bytemuck::cast_slice(blocks).to_vec();
    let [by_both, by_ot] =
        [&held.labels[..drawn], &held.labels[drawn..]].map(|labels| labels.iter().map(|labels| bytes(labels)));
    let asked = own.seen.parts().iter().filter(|part| node == 0 && part.kind == Kind::Received);
    let asked: Vec<Vec<u8>> = asked.map(|part| prg.vector(part.bytes.len())).collect();
    let tables = held.tables.iter().filter(|_| node == 1).map(|table| bytes(table));
    let start = bytes(&[held.start]);
    std::iter::once(start).chain(asked).chain(by_ot).chain(by_both).chain(tables).collect()
}

fn simulated_comparison(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    simulated(Function::LessThan { width: 2 }, 0, node, own, prg)
}

fn simulated_conjunction(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    simulated(Function::All { planes: 3 }, 1, node, own, prg)
}

#[test]
fn garbled_circuits_are_simulated() {
    check_simulator(&COMPARE, 1, simulated_comparison);
    check_simulator(&CONJOIN, 3, simulated_conjunction);
}

/// Of every input in every row node 1 holds one label, that of the input's value. Neither it nor anything that node 1
/// sees or evaluates is the other label of a wire, or differs from it by what would show it. No two blocks of node 1's
/// view differ by the offset.
// views: crates/mpc/src/backends/two/garbled/labels.rs
// views: crates/mpc/src/backends/two/garbled/transfers.rs
#[test]
fn an_evaluator_holds_one_label_of_each_wire() {
    const ROWS: usize = 3;
    let circuit = circuit(Function::All { planes: 3 });
    let owns = watch(&CONJOIN, ROWS, Source::Dealt, THIN, 200);
    let (mut offsets, mut words, mut others) = (vec![], vec![], vec![]);
    for (garbler, evaluator) in owns[0].iter().zip(&owns[1]) {
        let [of_garbler, held] = [garbler, evaluator].map(|own| Held::of(own, 1));
        assert_eq!(of_garbler.labels[0], held.labels[0], "drawn by both");
        for (which, (zero, labels)) in of_garbler.labels.iter().zip(&held.labels).enumerate().skip(1) {
            let bits = plane(&garbler.input, which)[0] ^ plane(&evaluator.input, which)[0];
            for (row, (zero, label)) in zero.iter().zip(labels).enumerate() {
                match bits >> row & 1 {
                    0 => assert_eq!(zero, label),
                    _ => offsets.push(zero ^ label),
                }
            }
        }
        let (outputs, colours) = held.evaluate(&circuit);
        assert!(is_output(&colours, &evaluator.output), "its own output");
        let inputs: Vec<u128> = held.labels.concat();
        others.extend(inputs.iter().chain(&outputs).copied());
        words.extend([held.start].into_iter().chain(inputs).chain(held.tables.concat()).chain(outputs));
    }
    let offset = offsets[0];
    assert!(offset & 1 == 1 && offsets.iter().all(|&other| other == offset), "one offset, which is odd");
    assert_eq!(meetings(words.iter().copied(), &[offset]), Vec::<[usize; 2]>::new());
    // A view that has another wire's second label.
    words.push(others[7] ^ offset);
    assert_eq!(meetings(words, &[offset]).len(), 2, "from either side");
}

/// Labels whose colour is the value of their wire, as they are where zero labels are even.
#[test]
fn labels_of_known_parity_are_found() {
    let runs = runs_for(&CONJOIN, 1, Source::Dealt, THIN);
    let mut owns = watch(&CONJOIN, 1, Source::Dealt, THIN, runs);
    assert_eq!(leaks(&lanes(&owns)), []);
    let [garblers, evaluators] = &mut owns;
    for (garbler, evaluator) in garblers.iter().zip(evaluators) {
        let mut view = View::default();
        let mut which = 1;
        for part in evaluator.seen.parts() {
            let mut bytes = part.bytes.clone();
            if part.name == "label" {
                let value = plane(&garbler.input, which)[0] ^ plane(&evaluator.input, which)[0];
                bytes[0] = bytes[0] & !1 | value as u8 & 1;
                which += 1;
            }
            view.add(part.kind, &part.name, bytes);
        }
        evaluator.seen = view;
    }
    assert_eq!(leaks(&lanes(&owns)).len(), 2, "both inputs of which labels are transferred");
}

/// The evaluator's runs of one row, cut to the lowest bits of every word.
fn lanes(owns: &[Vec<Own>; 2]) -> Vec<tacit_views::Run> {
    runs_of(owns, 1).iter().map(|run| run.lanes(0xff)).collect()
}

#[test]
#[ignore = "minutes: make nightly"]
fn garbled_circuits_of_more_rows_tell_nothing() {
    let added = of("garbled sum", 4, &added);
    check(&added, 3, Source::Slice, THIN);
    check(&added, 65, Source::Kept, THIN);
}
