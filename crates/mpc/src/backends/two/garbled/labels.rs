//! Labels of a circuit's inputs, batch by batch.
//!
//! The labels of an input x0 XOR x1 come from correlated OTs that node 0 sends, whose offset is the garbling's and
//! serves nothing else:
//!
//! 1. node 1 chooses by x1 and holds the OT's zero block + x1 delta;
//! 2. node 0 adds x0 delta to its zero block, which is then the zero label: node 1's block is the label of x0 XOR x1.
//!
//! Of an input that node 0 alone knows the label is drawn from the common generator, and the zero label is it XOR x0
//! delta. Source: Demmler, Schneider, Zohner, NDSS 2015 (ABY), section IV.

use tacit_math::half_gates::add_offset;
use tacit_math::plane::words_for;
use tacit_math::{Prg, wipe};
use tacit_net::Session;

use super::tile::Tile;
use super::transfers::Transfers;
use super::{Pair, Part};
use crate::Result;
use crate::backends::two::transfers::Stock;

/// The labels of a batch's inputs that are transferred: zero labels at node 0, those held at node 1.
#[derive(Default)]
pub(super) struct Labels {
    /// Rows, whole words of them.
    stride: usize,
    /// Input by input.
    blocks: Vec<u128>,
}

impl Drop for Labels {
    fn drop(&mut self) {
        wipe(&mut self.blocks);
    }
}

impl Labels {
    /// Makes room for `words` words of rows of `inputs` inputs. What is there is to be overwritten.
    fn resize(&mut self, words: usize, inputs: usize) {
        self.stride = 64 * words;
        self.blocks.resize(64 * words * inputs, 0);
    }

    /// Those of rows from `start`, for each input that has some.
    pub(super) fn of_rows(&self, inputs: &[Part<'_>], start: usize, rows: usize) -> Vec<Option<&[u128]>> {
        let mut labels = self.blocks.chunks_exact(self.stride);
        let mut next = || labels.next().map(|labels| &labels[start..start + rows]);
        inputs.iter().map(|input| if input.transferred { next() } else { None }).collect()
    }

    /// Records the labels of `rows` rows as this node's, where a test records contents.
    fn note(&self, session: &Session, inputs: &[Part<'_>], rows: usize) {
        self.of_rows(inputs, 0, rows).into_iter().flatten().for_each(|labels| Stock::note(session, "label", labels));
    }
}

/// Draws the labels of rows from `start` of the inputs that node 0 knows, which is given its delta.
pub(super) fn draw(prg: &mut Prg, delta: Option<u128>, inputs: &[Part<'_>], start: usize, tile: &mut Tile<'_>) {
    for (number, input) in inputs.iter().enumerate().filter(|(_, input)| !input.transferred) {
        let labels = tile.input(number);
        prg.fill(labels);
        // At node 0, zero label = drawn label XOR x0 delta.
        if let Some(delta) = delta {
            let words = words_for(labels.len());
            add_offset(labels, words_of(input, start, words), delta);
        }
    }
}

impl Pair<'_> {
    /// Makes sure that labels can be transferred. The first time, 2 rounds.
    pub(super) fn prepare_transfers(&mut self) -> Result<()> {
        if self.transfers.is_none() {
            self.session.enter("labels");
            let made = Transfers::setup(self.session, self.peer, self.garbles.then_some(self.offset));
            self.session.leave();
            *self.transfers = Some(made?);
        }
        Ok(())
    }

    /// Node 1 asks for the tables of rows from `start`, a multiple of 64, by sending its part of the inputs; it gets
    /// their labels.
    pub(super) fn ask(&mut self, inputs: &[Part<'_>], start: usize, rows: usize, labels: &mut Labels) -> Result<()> {
        let (peer, own) = (self.peer, transferred(inputs, start, rows));
        labels.resize(words_for(rows), own.len() / words_for(rows));
        match &mut *self.transfers {
            Some(Transfers::Evaluator(receiver)) if !own.is_empty() => {
                // Step 1.
                receiver.extend_chosen(self.session, &own, &mut labels.blocks)?;
                labels.note(self.session, inputs, rows);
                Ok(())
            }
            _ => Ok(self.session.send(peer, vec![0])?),
        }
    }

    /// Node 0 is asked for the tables of rows from `start`; it gets the zero labels.
    pub(super) fn asked(&mut self, inputs: &[Part<'_>], start: usize, rows: usize, labels: &mut Labels) -> Result<()> {
        let (peer, own) = (self.peer, transferred(inputs, start, rows));
        labels.resize(words_for(rows), own.len() / words_for(rows));
        match &mut *self.transfers {
            Some(Transfers::Garbler(sender)) if !own.is_empty() => {
                // Step 2: the OTs take x0 as the sender's part of each choice.
                sender.extend_chosen(self.session, &own, &mut labels.blocks)?;
                labels.note(self.session, inputs, rows);
                Ok(())
            }
            _ => Ok(self.session.recv(peer, &mut [0])?),
        }
    }
}

/// This node's shares of the inputs that are transferred, input by input.
fn transferred(inputs: &[Part<'_>], start: usize, rows: usize) -> Vec<u64> {
    let inputs = inputs.iter().filter(|input| input.transferred);
    inputs.flat_map(|input| words_of(input, start, words_for(rows))).copied().collect()
}

fn words_of<'a>(input: &Part<'a>, start: usize, words: usize) -> &'a [u64] {
    &input.plane.words()[start / 64..start / 64 + words]
}
