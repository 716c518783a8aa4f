//! Shuffling: each node in turn permutes by a permutation that only it knows; optionally a second bundle is revealed.
//!
//! Functionality: the rows in an order of which each node knows one of two random permutations. Discloses nothing, but
//! of the second bundle, by the contract of [`crate::Backend::shuffle_reveal`], a uniformly random arrangement of
//! public rows.
//!
//! 1. Each node draws a permutation of its own.
//! 2. Node 0's permutation is applied, then node 1's: [`super::permute`]. The order is composed of both, so to each
//!    node it is uniformly random.
//! 3. To reveal, each node sends its component of the second bundle.
//!
//! Rounds: those of two permutations; 1 to reveal, in which each node sends its component, row by row.

#[cfg(test)]
mod liar;

use tacit_math::{network, permutation};
use tacit_net::PartyId;

use super::lanes::Layout;
use super::open::{component, share_rows};
use crate::backends::two::{NODES, Two};
use crate::backends::wire::Outgoing;
use crate::{Block, Result, Rows, Shape};

impl Two {
    pub(in crate::backends::two) fn shuffle_by_both(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        let nothing = Block::zeros(Shape { rows: rows.rows, ..Shape::default() });
        let (moved, _) = self.permute_by_both(component(rows), nothing)?;
        Ok(share_rows(moved))
    }

    pub(in crate::backends::two) fn shuffle_by_both_and_reveal(
        &mut self,
        rows: Rows<Self>,
        reveal: Rows<Self>,
    ) -> Result<(Rows<Self>, Block)> {
        // Steps 1 and 2.
        let layout = revealed(reveal.shape());
        let (rows, own) = self.permute_by_both(component(rows), component(reveal))?;
        // Step 3.
        let (peer, mut message) = (self.peer(), vec![]);
        layout.write(&layout.pack(&own), &mut message);
        self.session.next_round();
        let mut out = Outgoing::opening(&mut self.session, peer);
        out.push_open(&mut self.session, &message)?;
        out.finish(&mut self.session)?;
        self.session.recv(peer, &mut message)?;
        let mut theirs = vec![0; layout.lanes() * own.rows];
        layout.read(&message, &mut theirs);
        // In lanes again, because numbers of rows are modulo what they were moved in.
        let sum = layout.pack(&layout.unpack(&theirs).plus(&own));
        // Both nodes learn it, in an order that no node knows.
        Ok((share_rows(rows), layout.unpack(&sum).published()))
    }

    /// Both bundles, of which the second has row numbers as vectors of 32 bits.
    fn permute_by_both(&mut self, left: Block, right: Block) -> Result<(Block, Block)> {
        let (keep, layout) = (left.shape(), Layout::of(left.shape(), right.shape()));
        // Step 1, before the first message, so that no node waits for the other one's.
        let settings = network::settings(&permutation::random(keep.rows, &mut self.own));
        let mut rows = layout.pack(&beside(left, right));
        // Step 2.
        for owner in (0..NODES).map(PartyId) {
            let own = (owner == self.session.me()).then_some(&settings[..]);
            self.permute(&mut rows, &layout, owner, own)?;
        }
        Ok(split(layout.unpack(&rows), keep))
    }
}

/// How what is revealed lies in messages.
pub(in crate::backends::two) fn revealed(reveal: Shape) -> Layout {
    Layout::of(Shape { rows: reveal.rows, ..Shape::default() }, reveal)
}

/// The columns of two bundles together.
fn beside(mut left: Block, right: Block) -> Block {
    assert_eq!(left.rows, right.rows, "bundles of one length");
    left.bits.extend(right.bits);
    left.r32.extend(right.r32);
    left.r64.extend(right.r64);
    left.r128.extend(right.r128);
    left
}

/// The inverse of [`beside`], given the shape of the left bundle.
fn split(mut both: Block, left: Shape) -> (Block, Block) {
    let right = Block {
        rows: both.rows,
        bits: both.bits.split_off(left.bits),
        r32: both.r32.split_off(left.r32),
        r64: both.r64.split_off(left.r64),
        r128: both.r128.split_off(left.r128),
    };
    (both, right)
}
