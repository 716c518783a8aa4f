//! A circuit of any depth on shared planes in a constant number of rounds, by garbling (Yao).
//!
//! Functionality: shares of the circuit's outputs, row by row. Discloses nothing. Node 0 garbles, node 1 evaluates:
//!
//! 1. labels of the inputs come from correlated OTs or from the common generator ([`labels`]);
//! 2. node 0 garbles every gate and sends its table ([`half_gates`]);
//! 3. node 1 evaluates every gate from its table;
//! 4. the colours of an output's two labels at node 0 and at node 1 are its shares: no message.
//!
//! Rows go in batches of about [`TABLES`] bytes of tables, which node 1 asks for with its part of the inputs, some
//! ahead of the one it evaluates. Node 0 garbles, the network carries both directions and node 1 evaluates at the same
//! time, and what is on its way is bounded whatever the network. Node 0 garbles no more than a message ahead of what
//! has left it. Within a batch rows go in tiles of [`TILE`], whose labels stay near one core. **Source** Yao, FOCS
//! 1986; conversions: Demmler, Schneider, Zohner, NDSS 2015 (ABY), section IV.
//!
//! OTs: one a row and input that node 1 knows a part of. Rounds: 2 for any number of rows (none for none), and 2 more
//! the first time that there are OTs, for their setup. Node 0 sends 32 bytes a row and AND; node 1 8 bytes an OT, or
//! one byte a batch without any.

use std::collections::VecDeque;

use tacit_math::{Plane, Prg, Seed, plane::words_for};
use tacit_net::{PartyId, Session};

use super::transfers::Stock;
use super::{Share, Two};
use crate::Result;
use crate::backends::generator::generator;
use crate::backends::wire::Outgoing;

mod circuit;
mod function;
mod half_gates;
#[cfg(test)]
mod known_answers;
mod labels;
mod tile;
mod transfers;
#[cfg(test)]
mod views;

pub use circuit::{Builder, Circuit, Wire};
pub(super) use function::circuit;

pub(in crate::backends) use transfers::Transfers;

use half_gates::{Keys, TILE};
use labels::{Labels, draw};
use tile::{Memory, Tile};

/// Rows that share the hash keys of a gate's two halves: each key serves two calls a row.
pub const ROWS_A_KEY: usize = TILE;

/// Random bits of the offset of labels, whose lowest bit is one.
pub const OFFSET_BITS: u32 = u128::BITS - 1;

/// Bytes of tables that are asked for together, at most, unless those of one tile are more.
const TABLES: usize = 1 << 20;

/// OTs of a batch, at most.
const TRANSFERS: usize = 1 << 15;

/// Bytes of tables that may be asked for and not yet evaluated, unless those of two batches are more.
const AHEAD: usize = 16 << 20;

/// An input of a circuit.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// Shared in any way.
    Shared(&'a Share<Plane>),
    /// Node 0 knows it: node 1's component is zero.
    OfGarbler(&'a Share<Plane>),
}

impl<'a> Input<'a> {
    fn part(&self) -> Part<'a> {
        match self {
            Self::Shared(share) => Part { plane: &share.0, transferred: true },
            Self::OfGarbler(share) => Part { plane: &share.0, transferred: false },
        }
    }
}

/// What a party has of an input, which is the XOR of both parts.
#[derive(Clone, Copy)]
pub(in crate::backends) struct Part<'a> {
    /// Its part.
    pub plane: &'a Plane,
    /// Whether the evaluator has a part that may not be zero, so that labels come from transfers.
    pub transferred: bool,
}

/// Two parties of a session, one of which garbles, and what this one keeps of it between circuits. Other parties of
/// the session count the same rounds.
pub(in crate::backends) struct Pair<'a> {
    /// This party's session.
    pub session: &'a mut Session,
    /// Whether it garbles; else it evaluates.
    pub garbles: bool,
    /// The other party.
    pub peer: PartyId,
    /// The offset of the labels that it garbles with, which serves nothing else.
    pub offset: u128,
    /// OT state for labels of inputs, created by the first circuit that has any.
    pub transfers: &'a mut Option<Transfers>,
    /// The generator that both hold.
    pub common: &'a mut Prg,
}

/// Batches of rows: whole tiles, but for the last.
#[derive(Clone, Copy)]
pub(in crate::backends) struct Batches {
    total: usize,
    rows: usize,
    /// How many are asked for before the first of them is evaluated.
    ahead: usize,
}

impl Batches {
    pub(in crate::backends) fn new(circuit: &Circuit, rows: usize, transferred: usize) -> Self {
        let tables = 32 * circuit.ands().max(1);
        let batch = (TABLES / tables).min(TRANSFERS / transferred.max(1));
        let batch = (batch / TILE).max(1) * TILE;
        Self { total: rows, rows: batch, ahead: (AHEAD / (batch * tables)).clamp(2, 16) }
    }

    /// The first row and how many there are, batch by batch.
    pub(in crate::backends) fn iter(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.total).step_by(self.rows).map(move |start| (start, self.rows.min(self.total - start)))
    }
}

/// What both nodes draw for a circuit.
struct Public {
    keys: Keys,
    /// Gives the labels of inputs that node 0 knows.
    labels: Prg,
}

impl Public {
    fn draw(common: &mut Prg, session: &Session) -> Self {
        let [start, seed] = [(); 2].map(|()| common.vector::<u128>(1)[0]);
        Stock::note(session, "start", &[start]);
        let seed = Seed::from_bytes(seed.to_le_bytes());
        Self { keys: Keys::new(start), labels: generator(session, "drawn label", &seed) }
    }
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
        let parts: Vec<Part<'_>> = inputs.iter().map(Input::part).collect();
        Ok(self.pair().garbled(circuit, &parts)?.into_iter().map(Share).collect())
    }

    fn pair(&mut self) -> Pair<'_> {
        let (garbles, peer, offset) = (self.me() == 0, self.peer(), *self.garbling);
        let Self { session, transfers, common, .. } = self;
        Pair { session, garbles, peer, offset, transfers, common }
    }
}

impl Pair<'_> {
    /// This party's shares of a circuit's outputs in every row.
    ///
    /// # Panics
    /// If there are not as many inputs as the circuit has, all of one length.
    pub(in crate::backends) fn garbled(&mut self, circuit: &Circuit, inputs: &[Part<'_>]) -> Result<Vec<Plane>> {
        assert_eq!(inputs.len(), circuit.inputs(), "as many inputs as the circuit has");
        let rows = inputs.first().map_or(0, |input| input.plane.rows());
        assert!(inputs.iter().all(|input| input.plane.rows() == rows), "planes of one length");
        let transferred = inputs.iter().filter(|input| input.transferred).count();
        let mut outputs = vec![Vec::with_capacity(words_for(rows)); circuit.outputs()];
        if rows > 0 {
            if transferred > 0 {
                self.prepare_transfers()?;
            }
            let public = Public::draw(self.common, self.session);
            let batches = Batches::new(circuit, rows, transferred);
            self.session.next_round();
            match self.garbles {
                true => self.garble_batches(circuit, public, inputs, batches, &mut outputs)?,
                false => self.evaluate_batches(circuit, public, inputs, batches, &mut outputs)?,
            }
        }
        Ok(outputs.into_iter().map(|words| Plane::from_words(rows, words)).collect())
    }

    fn garble_batches(
        &mut self,
        circuit: &Circuit,
        mut public: Public,
        inputs: &[Part<'_>],
        batches: Batches,
        outputs: &mut [Vec<u64>],
    ) -> Result<()> {
        let (peer, delta) = (self.peer, self.offset);
        let mut memory = Memory::new(circuit);
        let mut stream = Outgoing::paced(self.session, peer);
        let mut labels = Labels::default();
        for (start, rows) in batches.iter() {
            // Step 1, of the inputs that are transferred.
            self.asked(inputs, start, rows, &mut labels)?;
            if start == 0 {
                self.session.next_round();
            }
            for first in (0..rows).step_by(TILE) {
                let rows = TILE.min(rows - first);
                let mut tile = Tile::new(&mut memory, labels.of_rows(inputs, first, rows), rows);
                // Step 1, of the inputs that this node knows; then steps 2 and 4.
                draw(&mut public.labels, Some(delta), inputs, start + first, &mut tile);
                let session = &mut *self.session;
                tile.garble(circuit, &mut public.keys, delta, |blocks, garble| stream.place(session, blocks, garble))?;
                tile.colours(circuit, outputs);
            }
            stream.flush(self.session)?;
        }
        stream.finish(self.session)
    }

    fn evaluate_batches(
        &mut self,
        circuit: &Circuit,
        mut public: Public,
        inputs: &[Part<'_>],
        batches: Batches,
        outputs: &mut [Vec<u64>],
    ) -> Result<()> {
        let mut memory = Memory::new(circuit);
        let mut cut = [0; 2 * TILE];
        let (mut to_ask, mut asked, mut used) = (batches.iter(), VecDeque::new(), vec![]);
        for (start, rows) in batches.iter() {
            while asked.len() < batches.ahead
                && let Some((start, rows)) = to_ask.next()
            {
                // Step 1, of the inputs that are transferred, for batches ahead.
                let mut labels: Labels = used.pop().unwrap_or_default();
                self.ask(inputs, start, rows, &mut labels)?;
                asked.push_back(labels);
                if start == 0 {
                    self.session.next_round();
                }
            }
            let labels = asked.pop_front().expect("asked for before it is evaluated");
            for first in (0..rows).step_by(TILE) {
                let rows = TILE.min(rows - first);
                let mut tile = Tile::new(&mut memory, labels.of_rows(inputs, first, rows), rows);
                // Step 1, of the inputs that node 0 knows; then steps 3 and 4.
                draw(&mut public.labels, None, inputs, start + first, &mut tile);
                tile.evaluate(circuit, &mut public.keys, |blocks, take| self.table(&mut cut[..blocks], take))?;
                tile.colours(circuit, outputs);
            }
            used.push(labels);
        }
        Ok(())
    }

    /// Receives a table; it is used where it lies if it arrived in one piece, else it is put together in `cut`.
    fn table(&mut self, cut: &mut [u128], take: &mut dyn FnMut(&[u128])) -> Result<()> {
        let (peer, bytes, mut filled) = (self.peer, 16 * cut.len(), 0);
        self.session.recv_pieces(peer, bytes, |piece| match bytemuck::try_cast_slice(piece) {
            Ok(whole) if piece.len() == bytes => take(whole),
            _ => {
                bytemuck::cast_slice_mut(cut)[filled..filled + piece.len()].copy_from_slice(piece);
                filled += piece.len();
            }
        })?;
        if filled > 0 {
            take(cut);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tacit_net::{Options, memory};

    use super::Two;

    /// Nodes garble under an offset that nothing else is made from, odd and fresh in every session.
    #[test]
    fn the_offset_of_labels_is_none_of_the_stock() {
        let sessions = memory::mesh(&["alice", "bob"], &Options::default());
        let nodes: Vec<Two> = thread::scope(|scope| {
            let starts: Vec<_> = sessions
                .into_iter()
                .map(|session| scope.spawn(|| Two::new(session).expect("an honest peer")))
                .collect();
            starts.into_iter().map(|start| start.join().expect("a node")).collect()
        });
        let offsets: Vec<u128> = nodes.iter().flat_map(|node| [*node.garbling, node.stock.offset()]).collect();
        assert!(offsets.iter().all(|offset| offset & 1 == 1));
        // The stock's have zeros where they are in no element of GF(8), and nothing else in common with any other.
        for (i, x) in offsets.iter().enumerate() {
            for y in &offsets[..i] {
                assert!((30..=98).contains(&(x ^ y).count_ones()), "six standard deviations");
            }
        }
    }
}
