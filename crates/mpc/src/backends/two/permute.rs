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

use std::collections::VecDeque;

use tacit_net::PartyId;

use super::lanes::{Algebra, Layout, Narrow, Wide};
use super::network::{self, Switches};
use super::shuffle::chunks;
use super::{NODES, Two};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

/// Switches whose strings are made or received at a time: they stay in the cache. Whole words of settings.
const PIECE: usize = 1 << 10;

impl Two {
    /// Replaces this node's component of the rows, which are packed; `own` are the settings at the permutation's owner.
    pub(super) fn permute(
        &mut self,
        rows: &mut [u64],
        layout: &Layout,
        owner: PartyId,
        own: Option<&[u64]>,
    ) -> Result<()> {
        match (layout.pairs(), layout.lanes()) {
            (0, 1) => self.permute_in(Narrow::<1>::of(layout), rows, layout, owner, own),
            (0, 2) => self.permute_in(Narrow::<2>::of(layout), rows, layout, owner, own),
            (0, 3) => self.permute_in(Narrow::<3>::of(layout), rows, layout, owner, own),
            (0, 4) => self.permute_in(Narrow::<4>::of(layout), rows, layout, owner, own),
            (0, 5) => self.permute_in(Narrow::<5>::of(layout), rows, layout, owner, own),
            (0, 6) => self.permute_in(Narrow::<6>::of(layout), rows, layout, owner, own),
            _ => self.permute_in(Wide::of(layout), rows, layout, owner, own),
        }
    }

    fn permute_in<A: Algebra>(
        &mut self,
        algebra: A,
        rows: &mut [u64],
        layout: &Layout,
        owner: PartyId,
        own: Option<&[u64]>,
    ) -> Result<()> {
        let switches = network::switches(rows.len().checked_div(layout.lanes()).unwrap_or(0));
        let feed = Feed { node: self, layout, owner, chunks: chunks(switches).collect(), left: 0, ready: 0, next: 0 };
        let masked = vec![0; PIECE * layout.lanes()];
        match own {
            Some(settings) => {
                let mut owner = Owner { algebra, feed, settings, done: 0, strings: vec![], masked };
                network::evaluate(rows, &mut owner)
            }
            None => {
                let strings = [vec![], vec![]];
                let mut other = Other { algebra, feed, flips: vec![], done: 0, strings, masked, stream: None };
                network::evaluate(rows, &mut other)?;
                other.end()
            }
        }
    }
}

/// Where a node is in the sequence of switches: batches of OTs, in them pieces, in them single switches.
struct Feed<'a> {
    node: &'a mut Two,
    layout: &'a Layout,
    owner: PartyId,
    chunks: VecDeque<usize>,
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

    /// Blocks of a string: two lanes each.
    fn blocks(&self) -> usize {
        self.layout.lanes().div_ceil(2)
    }
}

/// All ones if the switch of this number exchanges its rows.
#[inline(always)]
fn mask(settings: &[u64], switch: usize) -> u64 {
    (settings[switch / 64] >> (switch % 64) & 1).wrapping_neg()
}

/// The string of a switch of a piece, as lanes.
#[inline(always)]
fn string<A: Algebra>(algebra: A, strings: &[u128], i: usize) -> &[u64] {
    let stride = algebra.lanes().next_multiple_of(2);
    &bytemuck::cast_slice::<u128, u64>(strings)[i * stride..i * stride + algebra.lanes()]
}

/// The node that knows the settings.
struct Owner<'a, A> {
    algebra: A,
    feed: Feed<'a>,
    settings: &'a [u64],
    /// Switches before the present piece.
    done: usize,
    /// For each switch of the piece k_s, and e.
    strings: Vec<u128>,
    masked: Vec<u64>,
}

impl<A: Algebra> Owner<'_, A> {
    #[cold]
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
        let (blocks, layout) = (self.feed.blocks(), self.feed.layout);
        let node = &mut *self.feed.node;
        (_, self.strings) = node.stock.received_long(piece.next_multiple_of(64), blocks);
        let peer = node.peer();
        let masked: Vec<u8> = recv_cells(&mut node.session, peer, piece * layout.bytes())?;
        layout.read(&masked, &mut self.masked[..piece * layout.lanes()]);
        Ok(())
    }
}

impl<A: Algebra> Switches for Owner<'_, A> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        self.algebra.lanes()
    }

    #[inline(always)]
    fn switch(&mut self, a: &mut [u64], b: &mut [u64]) -> Result<()> {
        if self.feed.next == self.feed.ready {
            self.refill()?;
        }
        let (i, algebra) = (self.feed.next, self.algebra);
        self.feed.next += 1;
        let mask = mask(self.settings, self.done + i);
        let width = algebra.lanes();
        let masked = &self.masked[i * width..(i + 1) * width];
        algebra.own(a, b, masked, string(algebra, &self.strings, i), mask);
        Ok(())
    }
}

/// The node that does not.
struct Other<'a, A> {
    algebra: A,
    feed: Feed<'a>,
    /// The owner's d of the batch, and the switches of the batch before the present piece.
    flips: Vec<u64>,
    done: usize,
    /// For each switch of the piece both strings, and e.
    strings: [Vec<u128>; 2],
    masked: Vec<u64>,
    stream: Option<Outgoing>,
}

impl<A: Algebra> Other<'_, A> {
    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.send_piece()?;
        self.done += self.feed.ready;
        if self.feed.left == 0 {
            self.end_batch()?;
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
        self.strings = self.feed.node.stock.sent_long(piece.next_multiple_of(64), blocks);
        Ok(())
    }

    /// Sends e of the switches that are done.
    fn send_piece(&mut self) -> Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let (layout, mut sent) = (self.feed.layout, Vec::new());
        layout.write(&self.masked[..self.feed.next * layout.lanes()], &mut sent);
        stream.push(&mut self.feed.node.session, &sent)
    }

    fn end_batch(&mut self) -> Result<()> {
        match self.stream.take() {
            Some(stream) => stream.finish(&mut self.feed.node.session),
            None => Ok(()),
        }
    }

    fn end(mut self) -> Result<()> {
        self.send_piece()?;
        self.end_batch()
    }
}

impl<A: Algebra> Switches for Other<'_, A> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        self.algebra.lanes()
    }

    #[inline(always)]
    fn switch(&mut self, a: &mut [u64], b: &mut [u64]) -> Result<()> {
        if self.feed.next == self.feed.ready {
            self.refill()?;
        }
        let (i, algebra) = (self.feed.next, self.algebra);
        self.feed.next += 1;
        let flip = mask(&self.flips, self.done + i);
        let strings = self.strings.each_ref().map(|strings| string(algebra, strings, i));
        let width = algebra.lanes();
        let masked = &mut self.masked[i * width..(i + 1) * width];
        algebra.other(a, b, strings, flip, masked);
        Ok(())
    }
}
