//! Permuting shared rows by a permutation that one node knows.
//!
//! Functionality: shares of the rows in the order of the owner's permutation. Discloses nothing. The rows go through a
//! Waksman network ([`tacit_math::network`]) of which the owner knows the settings. A switch with bit s turns (a, b) to
//! (a + q, b - q) with q = s (b - a). Of that the owner's own part is local, and s (b' - a') for the other node's
//! components a', b' takes one random OT. The OT leaves the owner a bit c and the string m_c, the other node m_0 and
//! m_1:
//!
//! 1. The owner tells d = c XOR s, so that of the strings k_0 = m_d, k_1 = m_(1-d) it has k_s.
//! 2. The other node sends e = k_0 - k_1 + b' - a' and takes -k_0: its components become a' - k_0 and b' + k_0.
//! 3. The owner takes k_s + s e = k_0 + s (b' - a').
//!
//! After a switch the other node knows its components, so it can go through the whole network alone and send all e at
//! once. The number of rounds does not depend on the depth. d is masked by a random bit and e by a string that the
//! owner does not have. Source: Mohassel, Sadeghian, EUROCRYPT 2013, section 3.2, with one string of a row's size a
//! switch instead of two. A random OT gives k_0, so that only a difference is sent.
//!
//! OTs: one a switch, about n log2(n) - n. Rounds: 2 for every [`BATCH`](crate::backends::two::transfers::BATCH)
//! switches, and those of making stock. The owner sends one bit a switch, the other node one row.

use std::ops::Range;
use std::slice::Chunks;

use tacit_math::network::{self, Progress, Switches};
use tacit_math::packed;
use tacit_net::PartyId;

use super::lanes::{Algebra, Layout, Narrow, Wide};
use crate::backends::two::transfers::BATCH;
use crate::backends::two::{NODES, Two};
use crate::backends::wire::{Masked, Outgoing, recv_cells};
use crate::{MpcError, Result};

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
        let feed = Feed { node: self, layout, owner, progress: Progress::new(switches, BATCH, PIECE) };
        let piece = Piece { masks: vec![0; PIECE], masked: vec![0; PIECE * layout.lanes()], sent: vec![] };
        match own {
            Some(settings) => {
                let settings = settings.chunks(BATCH / 64);
                let mut owner = Owner { algebra, feed, settings, batch: &[], strings: vec![], piece };
                network::evaluate(rows, &mut owner)
            }
            None => {
                let strings = [vec![], vec![]];
                let mut other = Other { algebra, feed, d: vec![], strings, piece, stream: None };
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

/// What gives the switches their OTs.
struct Feed<'a> {
    node: &'a mut Two,
    layout: &'a Layout,
    owner: PartyId,
    progress: Progress,
}

impl Feed<'_> {
    /// If the batch is used up: makes stock for the next one and gives its size.
    fn next_batch(&mut self) -> Result<Option<usize>> {
        let Some(count) = self.progress.next_batch() else { return Ok(None) };
        let mut need = [0; NODES];
        need[1 - self.owner.0] = count.next_multiple_of(64);
        self.node.stock.prepare(&mut self.node.session, need)?;
        Ok(Some(count))
    }

    /// Blocks of a string: two lanes each.
    fn blocks(&self) -> usize {
        self.layout.lanes().div_ceil(2)
    }
}

/// A range of switches in words, `each` for a switch.
fn words(switches: &Range<usize>, each: usize) -> Range<usize> {
    switches.start * each..switches.end * each
}

/// Strings as lanes.
fn lanes_of(strings: &[u128]) -> &[u64] {
    bytemuck::cast_slice(strings)
}

/// The node that knows the settings.
struct Owner<'a, A> {
    algebra: A,
    feed: Feed<'a>,
    /// Settings of later batches, and of the present one.
    settings: Chunks<'a, u64>,
    batch: &'a [u64],
    /// For each switch of the piece k_s.
    strings: Vec<u128>,
    piece: Piece,
}

impl<A: Algebra> Owner<'_, A> {
    #[cold]
    fn refill(&mut self) -> Result<()> {
        if let Some(count) = self.feed.next_batch()? {
            self.batch = self.settings.next().expect("as many settings as switches");
            let node = &mut *self.feed.node;
            let choices = node.stock.choices_ahead(count.next_multiple_of(64));
            // Step 1: d for all switches of the batch.
            let d: Vec<u64> = choices.iter().zip(self.batch).map(|(c, s)| c ^ s).collect();
            node.session.next_round();
            let peer = node.peer();
            let mut out = Outgoing::masked(&mut node.session, peer);
            out.push_masked(&mut node.session, &d)?;
            out.finish(&mut node.session)?;
            node.session.next_round();
        }
        let piece = self.feed.progress.next_piece();
        let (blocks, layout) = (self.feed.blocks(), self.feed.layout);
        let (node, Piece { masks, masked, sent }) = (&mut *self.feed.node, &mut self.piece);
        let (count, whole) = (piece.len(), piece.len().next_multiple_of(64));
        // Step 3, before the switches: k_s and e of the piece, and masks that are all ones where s is one.
        node.stock.received_long(whole, blocks, &mut self.strings);
        let peer = node.peer();
        sent.resize(count * layout.bytes(), 0);
        node.session.recv(peer, sent)?;
        tacit_marks::secret(sent);
        layout.read(sent, &mut masked[..count * layout.lanes()]);
        packed::masks_of(&self.batch[piece.start / 64..][..whole / 64], &mut masks[..whole]);
        Ok(())
    }
}

impl<A: Algebra> Switches for Owner<'_, A> {
    type Error = MpcError;

    #[inline(always)]
    fn lanes(&self) -> usize {
        self.algebra.lanes()
    }

    fn ready(&mut self, most: usize) -> Result<Range<usize>> {
        if self.feed.progress.ends_piece() {
            self.refill()?;
        }
        Ok(self.feed.progress.take(most))
    }

    // Step 3.
    fn switch(&mut self, rows: [&mut [u64]; 2], switches: Range<usize>) {
        let lanes = self.lanes();
        let k = &lanes_of(&self.strings)[words(&switches, lanes.next_multiple_of(2))];
        self.algebra.own(rows, &self.piece.masked[words(&switches, lanes)], k, &self.piece.masks[switches]);
    }
}

/// The node that does not.
struct Other<'a, A> {
    algebra: A,
    feed: Feed<'a>,
    /// The owner's d of the batch.
    d: Vec<u64>,
    /// For each switch of the piece m_0 and m_1.
    strings: [Vec<u128>; 2],
    piece: Piece,
    stream: Option<Outgoing<Masked>>,
}

impl<A: Algebra> Other<'_, A> {
    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.send_piece()?;
        if self.feed.progress.ends_batch() {
            self.end_batch()?;
        }
        if let Some(count) = self.feed.next_batch()? {
            let node = &mut *self.feed.node;
            let peer = node.peer();
            node.session.next_round();
            // Step 1.
            self.d = recv_cells(&mut node.session, peer, count.div_ceil(64))?;
            node.session.next_round();
            self.stream = Some(Outgoing::prompt(&mut node.session, peer));
        }
        let piece = self.feed.progress.next_piece();
        let whole = piece.len().next_multiple_of(64);
        let blocks = self.feed.blocks();
        self.feed.node.stock.sent_long(whole, blocks, &mut self.strings);
        // Step 2, before the switches: both strings, and masks that are all ones where they change places.
        packed::masks_of(&self.d[piece.start / 64..][..whole / 64], &mut self.piece.masks[..whole]);
        Ok(())
    }

    /// Sends e of the switches that are done.
    fn send_piece(&mut self) -> Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let (layout, Piece { masked, sent, .. }) = (self.feed.layout, &mut self.piece);
        layout.write(&masked[..self.feed.progress.taken() * layout.lanes()], sent);
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
    type Error = MpcError;

    #[inline(always)]
    fn lanes(&self) -> usize {
        self.algebra.lanes()
    }

    fn ready(&mut self, most: usize) -> Result<Range<usize>> {
        if self.feed.progress.ends_piece() {
            self.refill()?;
        }
        Ok(self.feed.progress.take(most))
    }

    // Step 2.
    fn switch(&mut self, rows: [&mut [u64]; 2], switches: Range<usize>) {
        let (lanes, Piece { masks, masked, .. }) = (self.algebra.lanes(), &mut self.piece);
        let string = words(&switches, lanes.next_multiple_of(2));
        let strings = self.strings.each_ref().map(|strings| &lanes_of(strings)[string.clone()]);
        let e = &mut masked[words(&switches, lanes)];
        self.algebra.other(rows, strings, &masks[switches], e);
    }
}
