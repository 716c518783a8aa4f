//! One tile of rows through a circuit: what the garbler computes and what the evaluator computes, without messages.

use tacit_math::words;

use super::circuit::{Circuit, Step};
use super::half_gates::{Keys, TILE, evaluate, garble};
use crate::Result;

/// The labels of one tile by place: zero labels at the garbler, those held at the evaluator.
pub(super) struct Tile<'a> {
    rows: usize,
    /// Of inputs that lie elsewhere.
    inputs: Vec<Option<&'a [u128]>>,
    memory: &'a mut Memory,
}

/// Room for the labels of one tile and for one table.
pub(super) struct Memory {
    labels: Vec<[u128; TILE]>,
    table: [u128; 2 * TILE],
}

impl Memory {
    pub(super) fn new(circuit: &Circuit) -> Self {
        Self { labels: vec![[0; TILE]; circuit.places], table: [0; 2 * TILE] }
    }
}

impl<'a> Tile<'a> {
    /// A tile of so many rows. Labels of inputs without any are to be written to [`Self::input`].
    pub(super) fn new(memory: &'a mut Memory, inputs: Vec<Option<&'a [u128]>>, rows: usize) -> Self {
        Self { rows, inputs, memory }
    }

    /// Where the labels of an input are put.
    pub(super) fn input(&mut self, number: usize) -> &mut [u128] {
        &mut self.memory.labels[number][..self.rows]
    }

    /// Garbles every gate; the tables go to `send`, gate by gate.
    pub(super) fn garble(
        &mut self,
        circuit: &Circuit,
        keys: &mut Keys,
        delta: u128,
        mut send: impl FnMut(&[u128]) -> Result<()>,
    ) -> Result<()> {
        for step in &circuit.steps {
            match *step {
                Step::And(x, y, to) => {
                    let ([x, y], to, table) = self.operands([x, y], to);
                    garble(keys, delta, x, y, to, table);
                    send(table)?;
                }
                Step::Xor(x, y, to) => self.xor(x, y, to),
                Step::Not(x, to) => self.add(x, delta, to),
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
                Step::And(x, y, to) => {
                    let blocks = 2 * self.rows;
                    let ([x, y], to, _) = self.operands([x, y], to);
                    receive(blocks, &mut |table| evaluate(keys, x, y, table, to))?;
                }
                Step::Xor(x, y, to) => self.xor(x, y, to),
                Step::Not(x, to) => self.add(x, 0, to),
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
        let labels = |&place: &usize| self.elsewhere(place).unwrap_or_else(|| &self.memory.labels[place][..self.rows]);
        circuit.outputs.iter().map(labels).collect()
    }

    fn elsewhere(&self, place: usize) -> Option<&'a [u128]> {
        self.inputs.get(place).copied().flatten()
    }

    /// The labels at two places, those at a third one to write, and a table to write.
    fn operands(&mut self, from: [usize; 2], to: usize) -> ([&[u128]; 2], &mut [u128], &mut [u128]) {
        let rows = self.rows;
        let elsewhere = from.map(|place| self.elsewhere(place));
        assert!(!from.contains(&to), "a result has a place of its own");
        let Memory { labels, table } = &mut *self.memory;
        let (low, high) = labels.split_at_mut(to);
        let (out, high) = high.split_first_mut().expect("a place");
        let (low, high) = (&*low, &*high);
        let stored = |place: usize| if place < to { &low[place][..rows] } else { &high[place - to - 1][..rows] };
        let [x, y] = [0, 1].map(|i| elsewhere[i].unwrap_or_else(|| stored(from[i])));
        ([x, y], &mut out[..rows], &mut table[..2 * rows])
    }

    fn xor(&mut self, x: usize, y: usize, to: usize) {
        let ([x, y], to, _) = self.operands([x, y], to);
        words::sum(bytemuck::cast_slice_mut(to), bytemuck::cast_slice(x), bytemuck::cast_slice(y));
    }

    fn add(&mut self, x: usize, offset: u128, to: usize) {
        let ([x, _], to, _) = self.operands([x, x], to);
        to.iter_mut().zip(x).for_each(|(to, x)| *to = x ^ offset);
    }
}
