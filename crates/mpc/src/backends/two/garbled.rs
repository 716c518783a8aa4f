//! A circuit of any depth on shared planes in a constant number of rounds, by garbling (Yao).
//!
//! Functionality: shares of the circuit's outputs, row by row. Discloses nothing. Node 0 garbles, node 1 evaluates. The labels of an input x0 XOR x1
//! come from correlated OTs that node 0 sends, whose offset is the garbling's: node 1 holds zero + c delta for a random bit c and
//! tells d = c XOR x1; node 0 takes zero XOR (d XOR x0) delta as the zero label, so that node 1's block is the label of x0 XOR x1.
//! Of an input that node 0 alone knows the label is drawn from the common generator, and the zero label is it XOR x0 delta: no OT and no
//! message. The colours of an output's two labels at node 0 and at node 1 are its shares: no message either.
//!
//! Rows go in tiles of [`TILE`]; node 0 garbles and sends a tile while node 1 evaluates the one before and the network carries what is between, and only one
//! tile's labels are in memory. **Source** Yao, FOCS 1986; conversions: Demmler, Schneider, Zohner, NDSS 2015 (ABY), section IV.
//!
//! OTs: one a row and input that node 1 knows a part of, in direction 0. Rounds: 2 for every [`BATCH`] OTs (every 2^20 rows without any), and
//! those of making stock. Node 0 sends 32 bytes a row and AND; node 1 a bit a row and OT.

use tacit_math::{Plane, plane::words_for};

use super::stock::BATCH;
use super::{Share, Two};
use tacit_net::PartyId;

use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

mod circuit;
mod half_gates;

pub use circuit::{Builder, Circuit, Wire};
use half_gates::{Keys, TILE, evaluate, garble};

use circuit::Step;

/// An input of a circuit.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// Shared in any way.
    Shared(&'a Share<Plane>),
    /// Node 0 knows it: node 1's component is zero.
    OfGarbler(&'a Share<Plane>),
}

impl<'a> Input<'a> {
    fn plane(self) -> &'a Plane {
        match self {
            Self::Shared(share) | Self::OfGarbler(share) => &share.0,
        }
    }
}

/// Rows that are done between two messages of choices: whole tiles.
pub(super) fn rows_of_batch(transferred: usize) -> usize {
    (BATCH / transferred.max(1) / TILE).max(1) * TILE
}

/// The labels of the tiles of one batch, input by input.
struct Inputs {
    /// For each input a label a row: zero labels at node 0, those held at node 1.
    labels: Vec<Vec<u128>>,
}

impl Two {
    /// Shares of a plane that one node knows (given only there) and the other one need not hear of. Local.
    pub fn known(&self, owner: PartyId, rows: usize, value: Option<Plane>) -> Share<Plane> {
        let own = value.filter(|_| self.session.me() == owner);
        Share(own.unwrap_or_else(|| Plane::zeros(rows)))
    }

    /// Evaluates a circuit on every row.
    ///
    /// # Errors
    /// When the peer is gone.
    ///
    /// # Panics
    /// If there are not as many inputs as the circuit has, all of one length.
    pub fn garbled(&mut self, circuit: &Circuit, inputs: &[Input<'_>]) -> Result<Vec<Share<Plane>>> {
        assert_eq!(inputs.len(), circuit.inputs(), "as many inputs as the circuit has");
        let rows = inputs.first().map_or(0, |input| input.plane().rows());
        assert!(inputs.iter().all(|input| input.plane().rows() == rows), "planes of one length");
        let transferred = inputs.iter().filter(|input| matches!(input, Input::Shared(_))).count();
        let mut outputs = vec![Vec::with_capacity(words_for(rows)); circuit.outputs()];
        let mut keys = Keys::new(self.common.vector::<u128>(1)[0]);
        for start in (0..rows).step_by(rows_of_batch(transferred)) {
            let rows = (rows - start).min(rows_of_batch(transferred));
            let labels = self.input_labels(inputs, transferred, start, rows)?;
            self.session.next_round();
            match self.me() {
                0 => self.garble_rows(circuit, &mut keys, labels, rows, &mut outputs)?,
                _ => self.evaluate_rows(circuit, &mut keys, labels, rows, &mut outputs)?,
            }
        }
        Ok(outputs.into_iter().map(|words| Share(Plane::from_words(rows, words))).collect())
    }

    /// The labels of rows from `start`, a multiple of 64. One round.
    fn input_labels(&mut self, inputs: &[Input<'_>], transferred: usize, start: usize, rows: usize) -> Result<Inputs> {
        let (words, peer) = (words_for(rows), self.peer());
        let ots = 64 * words;
        self.stock.prepare(&mut self.session, [ots * transferred, 0])?;
        self.session.next_round();
        let own = |input: &Input<'_>| input.plane().words()[start / 64..start / 64 + words].to_vec();
        let mut labels = Vec::with_capacity(inputs.len());
        let mut out = Outgoing::new(&mut self.session, peer);
        for input in inputs {
            let own = own(input);
            labels.push(match (input, self.me()) {
                (Input::OfGarbler(_), me) => {
                    let mut drawn: Vec<u128> = self.common.vector(ots);
                    if me == 0 {
                        add_offset(&mut drawn, &own, self.stock.offset());
                    }
                    drawn
                }
                (Input::Shared(_), 0) => {
                    let mut zero = self.stock.sent_correlated(ots);
                    let flips: Vec<u64> = recv_cells(&mut self.session, peer, words)?;
                    let off: Vec<u64> = flips.iter().zip(own).map(|(d, x)| d ^ x).collect();
                    add_offset(&mut zero, &off, self.stock.offset());
                    zero
                }
                (Input::Shared(_), _) => {
                    let (choices, blocks) = self.stock.received_correlated(ots);
                    let flips: Vec<u64> = choices.iter().zip(own).map(|(c, x)| c ^ x).collect();
                    out.push(&mut self.session, &flips)?;
                    blocks
                }
            });
        }
        out.finish(&mut self.session)?;
        Ok(Inputs { labels })
    }

    fn garble_rows(
        &mut self,
        circuit: &Circuit,
        keys: &mut Keys,
        inputs: Inputs,
        rows: usize,
        outputs: &mut [Vec<u64>],
    ) -> Result<()> {
        let peer = self.peer();
        let delta = self.stock.offset();
        let mut wires = Wires::new(circuit);
        let mut table = [0; 2 * TILE];
        let mut stream = Outgoing::new(&mut self.session, peer);
        for start in (0..rows).step_by(TILE) {
            let rows = (rows - start).min(TILE);
            wires.load(&inputs, start, rows);
            for step in &circuit.steps {
                match *step {
                    Step::And(x, y, to) => {
                        let table = &mut table[..2 * rows];
                        let ([x, y], to) = wires.operands([x, y], to, rows);
                        garble(keys, delta, x, y, to, table);
                        stream.push(&mut self.session, table)?;
                    }
                    Step::Xor(x, y, to) => wires.xor(x, y, to, rows),
                    Step::Not(x, to) => wires.add(x, delta, to, rows),
                }
            }
            wires.colours(circuit, rows, outputs);
        }
        stream.finish(&mut self.session)
    }

    fn evaluate_rows(
        &mut self,
        circuit: &Circuit,
        keys: &mut Keys,
        inputs: Inputs,
        rows: usize,
        outputs: &mut [Vec<u64>],
    ) -> Result<()> {
        let peer = self.peer();
        let mut wires = Wires::new(circuit);
        let mut table = [0u128; 2 * TILE];
        for start in (0..rows).step_by(TILE) {
            let rows = (rows - start).min(TILE);
            wires.load(&inputs, start, rows);
            for step in &circuit.steps {
                match *step {
                    Step::And(x, y, to) => {
                        let table = &mut table[..2 * rows];
                        self.session.recv(peer, bytemuck::cast_slice_mut(table))?;
                        let ([x, y], to) = wires.operands([x, y], to, rows);
                        evaluate(keys, x, y, table, to);
                    }
                    Step::Xor(x, y, to) => wires.xor(x, y, to, rows),
                    Step::Not(x, to) => wires.add(x, 0, to, rows),
                }
            }
            wires.colours(circuit, rows, outputs);
        }
        Ok(())
    }
}

/// Adds the offset to the blocks whose bit is one.
fn add_offset(blocks: &mut [u128], bits: &[u64], offset: u128) {
    for (i, block) in blocks.iter_mut().enumerate() {
        *block ^= offset & u128::from(bits[i / 64] >> (i % 64) & 1).wrapping_neg();
    }
}

/// The labels of one tile by place.
struct Wires(Vec<[u128; TILE]>);

impl Wires {
    fn new(circuit: &Circuit) -> Self {
        Self(vec![[0; TILE]; circuit.places])
    }

    /// The labels of the inputs.
    fn load(&mut self, inputs: &Inputs, start: usize, rows: usize) {
        for (wire, labels) in self.0.iter_mut().zip(&inputs.labels) {
            wire[..rows].copy_from_slice(&labels[start..start + rows]);
        }
    }

    /// The labels at two places, and those at a third one to write.
    fn operands(&mut self, from: [usize; 2], to: usize, rows: usize) -> ([&[u128]; 2], &mut [u128]) {
        let [x, y] = from;
        assert!(x != to && y != to, "a result has a place of its own");
        let (low, high) = self.0.split_at_mut(to);
        let (out, high) = high.split_first_mut().expect("a place");
        let (low, high) = (&*low, &*high);
        let side = |place: usize| if place < to { &low[place][..rows] } else { &high[place - to - 1][..rows] };
        ([side(x), side(y)], &mut out[..rows])
    }

    fn xor(&mut self, x: usize, y: usize, to: usize, rows: usize) {
        let ([x, y], to) = self.operands([x, y], to, rows);
        to.iter_mut().zip(x).zip(y).for_each(|((to, x), y)| *to = x ^ y);
    }

    fn add(&mut self, x: usize, offset: u128, to: usize, rows: usize) {
        let ([x, _], to) = self.operands([x, x], to, rows);
        to.iter_mut().zip(x).for_each(|(to, x)| *to = x ^ offset);
    }

    /// Appends the outputs' colours to their planes.
    fn colours(&self, circuit: &Circuit, rows: usize, outputs: &mut [Vec<u64>]) {
        for (&place, words) in circuit.outputs.iter().zip(outputs) {
            let word = |labels: &[u128]| labels.iter().rev().fold(0, |word, label| word << 1 | *label as u64 & 1);
            words.extend(self.0[place][..rows].chunks(64).map(word));
        }
    }
}
