//! Permuting shared rows by a permutation that one node knows.
//!
//! Functionality: shares of the rows in the order of the owner's permutation. Discloses nothing. The rows go through a Waksman
//! network ([`super::network`]) of which the owner knows the settings. A switch with bit s turns (a, b) to (a + q, b - q) with
//! q = s (b - a); of that the owner's own part is local, and s (b' - a') for the other node's components a', b' takes
//! one random OT: the owner tells d = c XOR s, so that of the strings k_0 = m_d, k_1 = m_(1-d) it has k_s; the other node sends
//! e = k_0 - k_1 + b' - a', the owner takes k_s + s e = k_0 + s (b' - a') and the other one -k_0. Since the other node's
//! components after a switch are a' - k_0 and b' + k_0, it can go through the whole network alone and send all e at once: the
//! number of rounds does not depend on the depth. d is masked by a random bit and e by a string that the owner does not have.
//! Source: Mohassel, Sadeghian, EUROCRYPT 2013, section 3.2, with one string of a row's size a switch instead of two: a
//! random OT gives k_0, so that only a difference is sent.
//!
//! OTs: one a switch, about n log2(n) - n. Rounds: 2 for every [`BATCH`](super::stock::BATCH) switches, and those of making stock.
//! The owner sends one bit a switch, the other node one row.

use tacit_net::PartyId;

use super::network::{self, Switches};
use super::shuffle::{Layout, chunks};
use super::{NODES, Two};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

/// Switches whose strings are made or received at a time; whole words of settings.
const PIECE: usize = 1 << 12;

impl Two {
    /// Replaces this node's component of the rows; `own` is the permutation at its owner: row i goes to the place own[i].
    pub(super) fn permute(
        &mut self,
        cells: &mut [u32],
        layout: &Layout,
        owner: PartyId,
        own: Option<&[u32]>,
    ) -> Result<()> {
        let width = layout.cells();
        let switches = network::switches(cells.len().checked_div(width).unwrap_or(0));
        let feed = Feed { node: self, layout, owner, chunks: chunks(switches).collect(), left: 0, ready: 0, next: 0 };
        match own {
            Some(own) => {
                let settings = network::settings(own);
                let mut owner = Owner { feed, settings, done: 0, strings: vec![], row: vec![0; width] };
                network::evaluate(cells, width, &mut owner)
            }
            None => {
                let strings = [vec![], vec![]];
                let mut other = Other { feed, flips: vec![], done: 0, strings, stream: None, row: vec![0; width] };
                network::evaluate(cells, width, &mut other)?;
                other.end_stream()
            }
        }
    }
}

/// Where a node is in the sequence of switches: batches of OTs, in them pieces, in them single switches.
struct Feed<'a> {
    node: &'a mut Two,
    layout: &'a Layout,
    owner: PartyId,
    chunks: std::collections::VecDeque<usize>,
    /// Switches of the batch behind the present piece.
    left: usize,
    /// Switches of the present piece, and the next one of them.
    ready: usize,
    next: usize,
}

impl Feed<'_> {
    /// If the batch is used up: makes stock for the next one and gives its size.
    fn next_batch(&mut self) -> Result<Option<usize>> {
        if self.left > 0 {
            return Ok(None);
        }
        self.left = self.chunks.pop_front().expect("as many switches as counted");
        let mut need = [0; NODES];
        need[1 - self.owner.0] = self.left.next_multiple_of(64);
        self.node.stock.prepare(&mut self.node.session, need)?;
        Ok(Some(self.left))
    }

    /// Opens the next piece of the batch; gives its size.
    fn next_piece(&mut self) -> usize {
        self.ready = self.left.min(PIECE);
        self.left -= self.ready;
        self.next = 0;
        self.ready
    }

    /// The cells of the strings of a piece, row by row.
    fn cells(&self, strings: &[u128]) -> Vec<u32> {
        let (width, cells) = (self.layout.cells(), bytemuck::cast_slice::<u128, u32>(strings));
        cells.chunks_exact(4 * self.blocks()).take(self.ready).flat_map(|string| &string[..width]).copied().collect()
    }

    /// Blocks of a string.
    fn blocks(&self) -> usize {
        self.layout.cells().div_ceil(4)
    }
}

/// The node that knows the settings.
struct Owner<'a> {
    feed: Feed<'a>,
    settings: Vec<u64>,
    /// Switches before the present piece.
    done: usize,
    /// For each switch of the piece k_s + s e.
    strings: Vec<u32>,
    row: Vec<u32>,
}

impl Owner<'_> {
    fn refill(&mut self) -> Result<()> {
        self.done += self.feed.ready;
        if let Some(count) = self.feed.next_batch()? {
            let node = &mut *self.feed.node;
            let choices = node.stock.choices_ahead(count.next_multiple_of(64));
            let settings = &self.settings[self.done / 64..];
            let flips: Vec<u64> = choices.iter().zip(settings).map(|(c, s)| c ^ s).collect();
            node.session.next_round();
            let peer = node.peer();
            let mut out = Outgoing::new(&mut node.session, peer);
            out.push(&mut node.session, &flips)?;
            out.finish(&mut node.session)?;
            node.session.next_round();
        }
        let piece = self.feed.next_piece();
        let blocks = self.feed.blocks();
        let (_, strings) = self.feed.node.stock.received_long(piece.next_multiple_of(64), blocks);
        self.strings = self.feed.cells(&strings);
        let (peer, width) = (self.feed.node.peer(), self.feed.layout.cells());
        let mut masked: Vec<u32> = recv_cells(&mut self.feed.node.session, peer, piece * width)?;
        for (i, (string, masked)) in self.strings.chunks_mut(width).zip(masked.chunks_mut(width)).enumerate() {
            let mask = mask(&self.settings, self.done + i);
            masked.iter_mut().for_each(|cell| *cell &= mask);
            self.feed.layout.add(string, masked);
        }
        Ok(())
    }
}

/// All ones if the switch of this number exchanges its rows.
fn mask(settings: &[u64], switch: usize) -> u32 {
    (settings[switch / 64] >> (switch % 64) & 1).wrapping_neg() as u32
}

impl Switches for Owner<'_> {
    fn switch(&mut self, a: &mut [u32], b: &mut [u32]) -> Result<()> {
        if self.feed.next == self.feed.ready {
            self.refill()?;
        }
        let (i, layout) = (self.feed.next, self.feed.layout);
        self.feed.next += 1;
        let mask = mask(&self.settings, self.done + i);
        self.row.copy_from_slice(b);
        layout.subtract(&mut self.row, a);
        self.row.iter_mut().for_each(|cell| *cell &= mask);
        let width = self.row.len();
        layout.add(&mut self.row, &self.strings[i * width..(i + 1) * width]);
        layout.add(a, &self.row);
        layout.subtract(b, &self.row);
        Ok(())
    }
}

/// The node that does not.
struct Other<'a> {
    feed: Feed<'a>,
    /// The owner's d of the batch, and the switches of the batch before the present piece.
    flips: Vec<u64>,
    done: usize,
    /// For each switch of the piece k_0 and k_0 - k_1.
    strings: [Vec<u32>; 2],
    stream: Option<Outgoing>,
    row: Vec<u32>,
}

impl Other<'_> {
    fn refill(&mut self) -> Result<()> {
        self.done += self.feed.ready;
        if self.feed.left == 0 {
            self.end_stream()?;
        }
        if let Some(count) = self.feed.next_batch()? {
            let node = &mut *self.feed.node;
            let peer = node.peer();
            node.session.next_round();
            self.flips = recv_cells(&mut node.session, peer, count.div_ceil(64))?;
            self.done = 0;
            node.session.next_round();
            self.stream = Some(Outgoing::new(&mut node.session, peer));
        }
        let piece = self.feed.next_piece();
        let blocks = self.feed.blocks();
        let [mut zero, mut one] = self.feed.node.stock.sent_long(piece.next_multiple_of(64), blocks);
        for (i, (zero, one)) in zero.chunks_mut(blocks).zip(one.chunks_mut(blocks)).take(piece).enumerate() {
            let switch = self.done + i;
            let flip = u128::from(self.flips[switch / 64] >> (switch % 64) & 1).wrapping_neg();
            for (zero, one) in zero.iter_mut().zip(one) {
                let exchange = (*zero ^ *one) & flip;
                *zero ^= exchange;
                *one ^= exchange;
            }
        }
        let (first, second) = (self.feed.cells(&zero), self.feed.cells(&one));
        let (mut difference, width) = (first.clone(), self.feed.layout.cells());
        for (difference, second) in difference.chunks_mut(width).zip(second.chunks(width)) {
            self.feed.layout.subtract(difference, second);
        }
        self.strings = [first, difference];
        Ok(())
    }

    fn end_stream(&mut self) -> Result<()> {
        match self.stream.take() {
            Some(stream) => stream.finish(&mut self.feed.node.session),
            None => Ok(()),
        }
    }
}

impl Switches for Other<'_> {
    fn switch(&mut self, a: &mut [u32], b: &mut [u32]) -> Result<()> {
        if self.feed.next == self.feed.ready {
            self.refill()?;
        }
        let (layout, width) = (self.feed.layout, self.row.len());
        let at = self.feed.next * width..(self.feed.next + 1) * width;
        self.feed.next += 1;
        let (first, difference) = (&self.strings[0][at.clone()], &self.strings[1][at]);
        self.row.copy_from_slice(b);
        layout.subtract(&mut self.row, a);
        layout.add(&mut self.row, difference);
        let stream = self.stream.as_mut().expect("a batch is open");
        stream.push(&mut self.feed.node.session, &self.row)?;
        layout.subtract(a, first);
        layout.add(b, first);
        Ok(())
    }
}
