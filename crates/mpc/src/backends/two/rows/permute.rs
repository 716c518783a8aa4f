//! Permuting shared rows by a permutation that one node knows.
//!
//! Functionality: shares of the rows in the order of the owner's permutation. Discloses nothing. The rows go through a
//! Waksman network ([`super::network`]) of which the owner knows the settings. A switch with bit s turns (a, b) to (a +
//! q, b - q) with q = s (b - a). Of that the owner's own part is local, and s (b' - a') for the other node's components
//! a', b' takes one random OT. The owner tells d = c XOR s, so that of the strings k_0 = m_d, k_1 = m_(1-d) it has k_s.
//! The other node sends e = k_0 - k_1 + b' - a', the owner takes k_s + s e = k_0 + s (b' - a') and the other one -k_0.
//! Since the other node's components after a switch are a' - k_0 and b' + k_0, it can go through the whole network
//! alone and send all e at once: the number of rounds does not depend on the depth. d is masked by a random bit and e
//! by a string that the owner does not have. Source: Mohassel, Sadeghian, EUROCRYPT 2013, section 3.2, with one string
//! of a row's size a switch instead of two: a random OT gives k_0, so that only a difference is sent.
//!
//! OTs: one a switch, about n log2(n) - n. Rounds: 2 for every [`BATCH`](crate::backends::two::transfers::BATCH)
//! switches, and those of making stock. The owner sends one bit a switch, the other node one row.

use std::collections::VecDeque;
use std::ops::Range;

use tacit_math::packed;
use tacit_net::PartyId;

use super::lanes::{Algebra, Layout, Narrow, Wide};
use super::network::{self, Switches};
use super::shuffle::chunks;
use crate::Result;
use crate::backends::two::{NODES, Two};
use crate::backends::wire::{Masked, Outgoing, recv_cells};

/// Switches whose strings are made or received at a time: they stay in the cache. Whole words of settings.
const PIECE: usize = 1 << 10;

impl Two {
    /// Replaces this node's component of the rows, which are packed; `own` are the settings at the permutation's owner.
    pub(in crate::backends::two) fn permute(
        &mut self,
        rows: &mut [u64],
        layout: &Layout,
        owner: PartyId,
        own: Option<&[u64]>,
    ) -> Result<()> {
        match (layout.pairs(), layout.lanes()) {
            (0, 1) => self.permute_in(Narrow::<1, 2>::of(layout), rows, layout, owner, own),
            (0, 2) => self.permute_in(Narrow::<2, 2>::of(layout), rows, layout, owner, own),
            (0, 3) => self.permute_in(Narrow::<3, 4>::of(layout), rows, layout, owner, own),
            (0, 4) => self.permute_in(Narrow::<4, 4>::of(layout), rows, layout, owner, own),
            (0, 5) => self.permute_in(Narrow::<5, 6>::of(layout), rows, layout, owner, own),
            (0, 6) => self.permute_in(Narrow::<6, 6>::of(layout), rows, layout, owner, own),
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
        let piece = Piece { masks: vec![0; PIECE], masked: vec![0; PIECE * layout.lanes()], sent: vec![] };
        match own {
            Some(settings) => {
                let mut owner = Owner { algebra, feed, settings, done: 0, strings: vec![], piece };
                network::evaluate(rows, &mut owner)
            }
            None => {
                let strings = [vec![], vec![]];
                let mut other = Other { algebra, feed, flips: vec![], done: 0, strings, piece, stream: None };
                network::evaluate(rows, &mut other)?;
                other.end()
            }
        }
    }
}

/// What both nodes have of the switches of a piece.
struct Piece {
    /// All ones where the rows are exchanged, at the owner; where the strings are, at the other node.
    masks: Vec<u64>,
    /// e, as lanes and as it is sent.
    masked: Vec<u64>,
    sent: Vec<u8>,
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

    /// The piece's next switches, at most `most`.
    fn take(&mut self, most: usize) -> Range<usize> {
        let first = self.next;
        self.next = self.ready.min(first + most);
        first..self.next
    }
}

/// A range of switches in words, `each` for a switch.
fn words(switches: &Range<usize>, each: usize) -> Range<usize> {
    switches.start * each..switches.end * each
}

fn next_words<'a>(rows: &mut &'a mut [u64], count: usize) -> &'a mut [u64] {
    rows.split_off_mut(..count).expect("as many words as were counted")
}

/// Strings as lanes.
fn lanes_of(strings: &[u128]) -> &[u64] {
    bytemuck::cast_slice(strings)
}

/// The node that knows the settings.
struct Owner<'a, A> {
    algebra: A,
    feed: Feed<'a>,
    settings: &'a [u64],
    /// Switches before the present piece.
    done: usize,
    /// For each switch of the piece k_s.
    strings: Vec<u128>,
    piece: Piece,
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
            let mut out = Outgoing::masked(&mut node.session, peer);
            out.push_masked(&mut node.session, &flips)?;
            out.finish(&mut node.session)?;
            node.session.next_round();
        }
        let count = self.feed.next_piece();
        let (blocks, layout) = (self.feed.blocks(), self.feed.layout);
        let (node, Piece { masks, masked, sent }) = (&mut *self.feed.node, &mut self.piece);
        let whole = count.next_multiple_of(64);
        node.stock.received_long(whole, blocks, &mut self.strings);
        let peer = node.peer();
        sent.resize(count * layout.bytes(), 0);
        node.session.recv(peer, sent)?;
        tacit_marks::secret(sent);
        layout.read(sent, &mut masked[..count * layout.lanes()]);
        packed::masks_of(&self.settings[self.done / 64..][..whole / 64], &mut masks[..whole]);
        Ok(())
    }
}

impl<A: Algebra> Switches for Owner<'_, A> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        self.algebra.lanes()
    }

    fn switch(&mut self, mut a: &mut [u64], mut b: &mut [u64]) -> Result<()> {
        let (algebra, lanes) = (self.algebra, self.algebra.lanes());
        while !a.is_empty() {
            if self.feed.next == self.feed.ready {
                self.refill()?;
            }
            let run = self.feed.take(a.len() / lanes);
            let rows = [next_words(&mut a, run.len() * lanes), next_words(&mut b, run.len() * lanes)];
            let k = &lanes_of(&self.strings)[words(&run, lanes.next_multiple_of(2))];
            algebra.own(rows, &self.piece.masked[words(&run, lanes)], k, &self.piece.masks[run]);
        }
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
    /// For each switch of the piece both strings.
    strings: [Vec<u128>; 2],
    piece: Piece,
    stream: Option<Outgoing<Masked>>,
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
            self.stream = Some(Outgoing::prompt(&mut node.session, peer));
        }
        let whole = self.feed.next_piece().next_multiple_of(64);
        let blocks = self.feed.blocks();
        self.feed.node.stock.sent_long(whole, blocks, &mut self.strings);
        packed::masks_of(&self.flips[self.done / 64..][..whole / 64], &mut self.piece.masks[..whole]);
        Ok(())
    }

    /// Sends e of the switches that are done.
    fn send_piece(&mut self) -> Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let (layout, Piece { masked, sent, .. }) = (self.feed.layout, &mut self.piece);
        layout.write(&masked[..self.feed.next * layout.lanes()], sent);
        stream.push_masked(&mut self.feed.node.session, sent)
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

    fn switch(&mut self, mut a: &mut [u64], mut b: &mut [u64]) -> Result<()> {
        let (algebra, lanes) = (self.algebra, self.algebra.lanes());
        while !a.is_empty() {
            if self.feed.next == self.feed.ready {
                self.refill()?;
            }
            let run = self.feed.take(a.len() / lanes);
            let rows = [next_words(&mut a, run.len() * lanes), next_words(&mut b, run.len() * lanes)];
            let string = words(&run, lanes.next_multiple_of(2));
            let strings = self.strings.each_ref().map(|strings| &lanes_of(strings)[string.clone()]);
            algebra.other(rows, strings, &self.piece.masks[run.clone()], &mut self.piece.masked[words(&run, lanes)]);
        }
        Ok(())
    }
}
