//! One tile of rows through a circuit: what the garbler computes and what the evaluator computes, without messages.

use std::mem::MaybeUninit;

use tacit_math::half_gates::{Gate, Sum};
use tacit_math::{wipe, words};

use super::circuit::{self, Circuit, Step};
use super::half_gates::{Keys, TILE, evaluate, garble};
use crate::Result;

/// The labels of one tile by place: zero labels at the garbler, those held at the evaluator.
pub(super) struct Tile<'a> {
    rows: usize,
    /// Of inputs that lie elsewhere.
    inputs: Vec<Option<&'a [u128]>>,
    memory: &'a mut Memory,
}

/// Writes a gate's table where there is room for it.
pub(super) type Write<'a> = &'a mut dyn FnMut(&mut [MaybeUninit<u128>]) -> &mut [u128];

/// Room for the labels of one tile.
pub(super) struct Memory(Vec<Place>);

/// The labels of one wire, in whole cache lines: registers are as long as these.
#[derive(Clone)]
#[repr(align(64))]
struct Place([u128; TILE]);

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|place| wipe(&mut place.0));
    }
}

impl Memory {
    pub(super) fn new(circuit: &Circuit) -> Self {
        Self(vec![Place([0; TILE]); circuit.places])
    }
}

/// The places at hand while one of them is written.
struct Places<'a> {
    rows: usize,
    inputs: &'a [Option<&'a [u128]>],
    below: &'a [Place],
    above: &'a [Place],
}

impl<'a> Places<'a> {
    fn at(&self, place: usize) -> &'a [u128] {
        let elsewhere = self.inputs.get(place).copied().flatten();
        elsewhere.unwrap_or_else(|| {
            let to = self.below.len();
            assert!(place != to, "a result has a place of its own");
            let Place(stored) = if place < to { &self.below[place] } else { &self.above[place - to - 1] };
            &stored[..self.rows]
        })
    }

    fn sum(&self, circuit::Sum(first, second): circuit::Sum) -> Sum<'a> {
        Sum { first: self.at(first), second: second.map(|second| self.at(second)) }
    }

    fn gate(&self, x: circuit::Sum, y: circuit::Sum, plus: Option<usize>) -> Gate<'a> {
        Gate { x: self.sum(x), y: self.sum(y), plus: plus.map(|plus| self.at(plus)) }
    }
}

impl<'a> Tile<'a> {
    /// A tile of `rows` rows. Labels of inputs without any are to be written to [`Self::input`].
    pub(super) fn new(memory: &'a mut Memory, inputs: Vec<Option<&'a [u128]>>, rows: usize) -> Self {
        Self { rows, inputs, memory }
    }

    /// Where the labels of an input are put.
    pub(super) fn input(&mut self, number: usize) -> &mut [u128] {
        &mut self.memory.0[number].0[..self.rows]
    }

    /// Garbles every gate. `send` is told how many blocks the gate's table has, and gives room for it.
    pub(super) fn garble(
        &mut self,
        circuit: &Circuit,
        keys: &mut Keys,
        delta: u128,
        mut send: impl FnMut(usize, Write<'_>) -> Result<()>,
    ) -> Result<()> {
        for step in &circuit.steps {
            match *step {
                Step::And { x, y, plus, to } => {
                    let (places, to) = self.places(to);
                    let gate = places.gate(x, y, plus);
                    send(2 * to.len(), &mut |table| garble(keys, delta, gate, to, table))?;
                }
                Step::Xor { x, y, to } => self.xor(x, y, to),
                Step::Not { x, to } => self.add(x, delta, to),
            }
        }
        Ok(())
    }

    /// Evaluates every gate. `receive` is told how many blocks the gate's table has, and hands the table on.
    pub(super) fn evaluate(
        &mut self,
        circuit: &Circuit,
        keys: &mut Keys,
        mut receive: impl FnMut(usize, &mut dyn FnMut(&[u128])) -> Result<()>,
    ) -> Result<()> {
        for step in &circuit.steps {
            match *step {
                Step::And { x, y, plus, to } => {
                    let (places, to) = self.places(to);
                    let gate = places.gate(x, y, plus);
                    receive(2 * to.len(), &mut |table| evaluate(keys, gate, table, to))?;
                }
                Step::Xor { x, y, to } => self.xor(x, y, to),
                Step::Not { x, to } => self.add(x, 0, to),
            }
        }
        Ok(())
    }

    /// Appends the outputs' colours to their planes.
    pub(super) fn colours(&self, circuit: &Circuit, outputs: &mut [Vec<u64>]) {
        for (labels, words) in self.outputs(circuit).into_iter().zip(outputs) {
            let word = |labels: &[u128]| labels.iter().rev().fold(0, |word, label| word << 1 | *label as u64 & 1);
            words.extend(labels.chunks(64).map(word));
        }
    }

    /// The labels of the outputs.
    pub(super) fn outputs(&self, circuit: &Circuit) -> Vec<&[u128]> {
        let labels = |&place: &usize| self.elsewhere(place).unwrap_or_else(|| &self.memory.0[place].0[..self.rows]);
        circuit.outputs.iter().map(labels).collect()
    }

    fn elsewhere(&self, place: usize) -> Option<&'a [u128]> {
        self.inputs.get(place).copied().flatten()
    }

    /// What can be read while a place is written, and that place.
    fn places(&mut self, to: usize) -> (Places<'_>, &mut [u128]) {
        let (below, others) = self.memory.0.split_at_mut(to);
        let (out, above) = others.split_first_mut().expect("a place");
        (Places { rows: self.rows, inputs: &self.inputs, below, above }, &mut out.0[..self.rows])
    }

    fn xor(&mut self, x: circuit::Sum, y: usize, to: usize) {
        let (places, to) = self.places(to);
        let (Sum { first, second }, y, to) = (places.sum(x), places.at(y), bytemuck::cast_slice_mut(to));
        words::sum(to, bytemuck::cast_slice(first), bytemuck::cast_slice(y));
        if let Some(second) = second {
            words::add(to, bytemuck::cast_slice(second));
        }
    }

    fn add(&mut self, x: usize, offset: u128, to: usize) {
        let (places, to) = self.places(to);
        to.iter_mut().zip(places.at(x)).for_each(|(to, x)| *to = x ^ offset);
    }
}
