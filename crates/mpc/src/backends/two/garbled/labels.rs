//! Labels of a circuit's inputs, batch by batch.
//!
//! The labels of an input x0 XOR x1 come from correlated OTs that node 0 sends, whose offset is the garbling's: node 1 holds zero + c delta for a
//! random bit c and tells d = c XOR x1; node 0 takes zero XOR (d XOR x0) delta as the zero label, so that node 1's block is the label of
//! x0 XOR x1. Of an input that node 0 alone knows the label is drawn from the common generator, and the zero label is it XOR x0 delta.
//!
//! The OTs are by SoftSpokenOT with k = 2: its receiver is node 1, whose message can go together with d, so that a batch is asked for in one message
//! and waits for nothing; it is small beside the tables that come back, and silent OT would take three times as much computing.

use tacit_math::Prg;
use tacit_math::plane::words_for;
use tacit_net::{PartyId, Session};
use tacit_ot::softspoken::{self, Receiver, Sender};
use tacit_ot::{Adversary, Cost};

use super::Input;
use super::tile::Tile;
use crate::Result;
use crate::backends::two::Two;
use crate::backends::wire::{Outgoing, recv_cells};

/// SoftSpokenOT's k.
const BLOCK_BITS: usize = 2;

/// What a node keeps between circuits to make labels by OT.
pub(in crate::backends::two) enum Transfers {
    Garbler(Sender),
    Evaluator(Receiver),
}

impl Transfers {
    fn setup(session: &mut Session, peer: PartyId, delta: u128) -> Result<Self> {
        let adversary = Adversary::SemiHonest;
        Ok(match session.me() {
            PartyId(0) => Self::Garbler(Sender::setup_with(session, peer, adversary, BLOCK_BITS, delta)?),
            _ => Self::Evaluator(Receiver::setup(session, peer, adversary, BLOCK_BITS)?),
        })
    }

    /// What the setup costs; the garbler is the sender.
    pub(in crate::backends::two) fn setup_cost() -> Cost {
        softspoken::setup_cost(BLOCK_BITS, Adversary::SemiHonest)
    }

    /// Bytes by which the evaluator asks for a batch with so many inputs by OT.
    pub(in crate::backends::two) fn bytes_asked(rows: usize, transferred: usize) -> u64 {
        let words = words_for(rows) * transferred;
        let extension = softspoken::extension_cost(BLOCK_BITS, Adversary::SemiHonest, 64 * words);
        extension.receiver + (8 * words).max(1) as u64
    }
}

/// The labels of a batch's inputs that are transferred: zero labels at node 0, those held at node 1.
pub(super) struct Labels {
    /// Rows, whole words of them.
    stride: usize,
    /// Input by input.
    blocks: Vec<u128>,
}

impl Labels {
    /// Those of rows from `start`, for each input that has some.
    pub(super) fn of_rows(&self, inputs: &[Input<'_>], start: usize, rows: usize) -> Vec<Option<&[u128]>> {
        let mut labels = self.blocks.chunks_exact(self.stride);
        let mut next = || labels.next().map(|labels| &labels[start..start + rows]);
        inputs.iter().map(|input| if input.is_transferred() { next() } else { None }).collect()
    }
}

/// Draws the labels of rows from `start` of the inputs that node 0 knows, which is given its delta.
pub(super) fn draw(prg: &mut Prg, delta: Option<u128>, inputs: &[Input<'_>], start: usize, tile: &mut Tile<'_>) {
    for (number, input) in inputs.iter().enumerate().filter(|(_, input)| !input.is_transferred()) {
        let labels = tile.input(number);
        prg.fill(labels);
        if let Some(delta) = delta {
            let words = words_for(labels.len());
            add_offset(labels, words_of(input, start, words), delta);
        }
    }
}

impl Two {
    /// Makes sure that labels can be transferred. The first time, 2 rounds.
    pub(super) fn prepare_transfers(&mut self) -> Result<()> {
        if self.transfers.is_none() {
            let (peer, delta) = (self.peer(), self.stock.offset());
            self.session.enter("labels");
            let made = Transfers::setup(&mut self.session, peer, delta);
            self.session.leave();
            self.transfers = Some(made?);
        }
        Ok(())
    }

    /// Node 1 asks for the tables of rows from `start`, a multiple of 64, by sending its part of the inputs.
    pub(super) fn ask(&mut self, inputs: &[Input<'_>], start: usize, rows: usize) -> Result<Labels> {
        let (peer, words) = (self.peer(), words_for(rows));
        let own: Vec<&[u64]> = transferred(inputs).map(|input| words_of(input, start, words)).collect();
        let mut out = Outgoing::new(&mut self.session, peer);
        let labels = match &mut self.transfers {
            Some(Transfers::Evaluator(receiver)) if !own.is_empty() => {
                let made = receiver.extend_in_round(&mut self.session, 64 * words * own.len())?;
                for (choices, own) in made.choices.chunks_exact(words).zip(own) {
                    let flips: Vec<u64> = choices.iter().zip(own).map(|(c, x)| c ^ x).collect();
                    out.push(&mut self.session, &flips)?;
                }
                made.blocks
            }
            _ => {
                out.push(&mut self.session, &[0u8])?;
                vec![]
            }
        };
        out.finish(&mut self.session)?;
        Ok(Labels { stride: 64 * words, blocks: labels })
    }

    /// Node 0 is asked for the tables of rows from `start`.
    pub(super) fn asked(&mut self, inputs: &[Input<'_>], start: usize, rows: usize) -> Result<Labels> {
        let (peer, words, delta) = (self.peer(), words_for(rows), self.stock.offset());
        let own: Vec<&[u64]> = transferred(inputs).map(|input| words_of(input, start, words)).collect();
        let labels = match &mut self.transfers {
            Some(Transfers::Garbler(sender)) if !own.is_empty() => {
                let mut zero = sender.extend_in_round(&mut self.session, 64 * words * own.len())?.zero;
                for (labels, own) in zero.chunks_exact_mut(64 * words).zip(own) {
                    let flips: Vec<u64> = recv_cells(&mut self.session, peer, words)?;
                    let off: Vec<u64> = flips.iter().zip(own).map(|(d, x)| d ^ x).collect();
                    add_offset(labels, &off, delta);
                }
                zero
            }
            _ => {
                self.session.recv(peer, &mut [0])?;
                vec![]
            }
        };
        Ok(Labels { stride: 64 * words, blocks: labels })
    }
}

fn transferred<'a>(inputs: &'a [Input<'a>]) -> impl Iterator<Item = &'a Input<'a>> {
    inputs.iter().filter(|input| input.is_transferred())
}

fn words_of<'a>(input: &'a Input<'_>, start: usize, words: usize) -> &'a [u64] {
    &input.plane().words()[start / 64..start / 64 + words]
}

/// Adds the offset to the blocks whose bit is one.
fn add_offset(blocks: &mut [u128], bits: &[u64], offset: u128) {
    for (blocks, word) in blocks.chunks_mut(64).zip(bits) {
        for (i, block) in blocks.iter_mut().enumerate() {
            *block ^= offset & u128::from(word >> i & 1).wrapping_neg();
        }
    }
}
