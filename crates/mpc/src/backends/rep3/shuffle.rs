//! Shuffling in three hops, optionally revealing a second bundle that moved along.
//!
//! Functionality: the rows in an order given by pi = pi01, then pi12, then pi20, of which each node misses one.
//! Adversary: semi-honest, one node. The roles 0, 1, 2 go to the nodes in turn, a new turn for every shuffle, so that
//! all send alike. Each hop works on a sharing between two nodes, A + B = x:
//!
//! 1. Nodes 0 and 1 hold A = x0 + x1 and B = x2 and apply pi01; node 0 sends A - r to node 2, node 1 keeps B + r.
//! 2. Nodes 1 and 2 apply pi12; node 1 sends B - r' to node 0, node 2 keeps A + r'.
//! 3. Nodes 2 and 0 apply pi20 and reshare. Component 0 is t + t', drawn by both; node 0 sends component 1 = B - t and
//!    node 2 sends component 2 = A - t' to node 1.
//!
//! The masks r, r', (t, t') are drawn from the generators of nodes (0,1), (1,2), (2,0), so to whoever receives it every
//! message is uniform. The revealed bundle is not reshared: nodes 0 and 2 send B - t and A + t to each other and to
//! node 1, who all add the two up. To every node that is a uniformly random arrangement of the rows, since it misses
//! one of the permutations. Source: the shuffle of Laur, Willemson, Zhang (ISC 2011) by pairs, on two-node sharings
//! between the hops.
//!
//! Of the revealed bundle, numbers of rows are sent in the bytes that these need ([`crate::backends::numbers`]).
//!
//! Rounds: 3. Sent by roles 0, 1, 2: 2, 1, 1 copies of the rows; of the revealed bundle 3, 1, 2.

#[cfg(test)]
mod liar;

use tacit_math::permutation;
use tacit_net::PartyId;

use super::input::{components, share_rows};
use super::{Held, NODES, Rep3};
use crate::backends::numbers::{added_up, mask_and_send_revealed, recv_revealed, send_revealed};
use crate::backends::wire::{mask_and_send, recv_block, send_masked};
use crate::{Block, Result, Rows, Shape};

/// What moves: the rows and, if any, the bundle that will be revealed.
struct Moving {
    rows: Block,
    reveal: Block,
}

/// The shapes of both.
#[derive(Clone, Copy)]
struct Shapes {
    rows: Shape,
    reveal: Shape,
}

impl Rep3 {
    pub(super) fn shuffle_by_hops(
        &mut self,
        rows: Rows<Self>,
        reveal: Option<Rows<Self>>,
    ) -> Result<(Rows<Self>, Block)> {
        let reveal = reveal.unwrap_or_else(|| Rows::empty(rows.rows));
        assert_eq!(rows.rows, reveal.rows, "bundles of one length");
        let shapes = Shapes { rows: rows.shape(), reveal: reveal.shape() };
        let role = (self.me() + NODES - self.turn) % NODES;
        self.turn = (self.turn + 1) % NODES;
        let (rows, revealed) = match role {
            0 => self.shuffle_first(rows, reveal, shapes),
            1 => self.shuffle_second(rows, reveal, shapes),
            _ => self.shuffle_third(shapes),
        }?;
        // All three nodes learn it, in an order that no node knows.
        Ok((rows, added_up(revealed).published()))
    }

    fn shuffle_first(&mut self, rows: Rows<Self>, reveal: Rows<Self>, shapes: Shapes) -> Result<(Rows<Self>, Block)> {
        let (second, third) = (self.next(), self.previous());
        self.session.next_round();
        let sum = |(mine, next): (Block, Block)| mine.plus(&next);
        // Step 1: A = x0 + x1, permuted by pi01; A - r leaves.
        let a = Moving { rows: sum(components(rows)), reveal: sum(components(reveal)) };
        self.hop_away(Held::Next, a, third)?;
        self.session.next_round();
        // Step 2: B - r' arrives.
        let b = self.receive(second, shapes)?;
        self.session.next_round();
        // Step 3: B, permuted by pi20; components t + t' and B - t, and B - t of the revealed bundle.
        let Moving { rows: b, reveal: mut b_revealed } = self.permute_with(Held::Mine, b);
        let prg = &mut self.with_previous;
        let mut y_0 = Block::random(shapes.rows, prg);
        let y_1 = b.minus(&y_0);
        y_0.add_random(prg);
        b_revealed.subtract_random(prg);
        send_masked(&mut self.session, second, &y_1)?;
        send_revealed(&mut self.session, second, &b_revealed)?;
        send_revealed(&mut self.session, third, &b_revealed)?;
        let a_revealed = recv_revealed(&mut self.session, third, shapes.reveal)?;
        Ok((share_rows(y_0, y_1), a_revealed.plus(&b_revealed)))
    }

    fn shuffle_second(&mut self, rows: Rows<Self>, reveal: Rows<Self>, shapes: Shapes) -> Result<(Rows<Self>, Block)> {
        let (first, third) = (self.previous(), self.next());
        self.session.next_round();
        // Step 1: B = x2, permuted by pi01, plus r.
        let b = Moving { rows: components(rows).1, reveal: components(reveal).1 };
        let b = self.hop_and_stay(Held::Mine, b);
        self.session.next_round();
        // Step 2: B, permuted by pi12; B - r' leaves.
        self.hop_away(Held::Next, b, first)?;
        self.session.next_round();
        // Step 3: components 1 and 2 arrive.
        let b = self.receive(first, shapes)?;
        let a = self.receive(third, shapes)?;
        Ok((share_rows(b.rows, a.rows), b.reveal.plus(&a.reveal)))
    }

    fn shuffle_third(&mut self, shapes: Shapes) -> Result<(Rows<Self>, Block)> {
        let (first, second) = (self.next(), self.previous());
        self.session.next_round();
        // Step 1: A - r arrives.
        let a = self.receive(first, shapes)?;
        self.session.next_round();
        // Step 2: A, permuted by pi12, plus r'.
        let a = self.hop_and_stay(Held::Mine, a);
        self.session.next_round();
        // Step 3: A, permuted by pi20; components A - t' and t + t', and A + t of the revealed bundle.
        let Moving { rows: a, reveal: mut a_revealed } = self.permute_with(Held::Next, a);
        let prg = &mut self.with_next;
        let t = Block::random(shapes.rows, prg);
        let t_prime = Block::random(shapes.rows, prg);
        let y_2 = a.minus(&t_prime);
        let y_0 = t.plus(&t_prime);
        a_revealed.add_random(prg);
        send_masked(&mut self.session, second, &y_2)?;
        send_revealed(&mut self.session, second, &a_revealed)?;
        send_revealed(&mut self.session, first, &a_revealed)?;
        let b_revealed = recv_revealed(&mut self.session, first, shapes.reveal)?;
        Ok((share_rows(y_2, y_0), b_revealed.plus(&a_revealed)))
    }

    /// Permutes with a peer, adds the masks and keeps the result.
    fn hop_and_stay(&mut self, peer: Held, moving: Moving) -> Moving {
        let mut moved = self.permute_with(peer, moving);
        moved.rows.add_random(self.generator(peer));
        moved.reveal.add_random(self.generator(peer));
        moved
    }

    /// Permutes with a peer, subtracts the masks and sends the result to the third node.
    fn hop_away(&mut self, peer: Held, moving: Moving, to: PartyId) -> Result<()> {
        let moved = self.permute_with(peer, moving);
        let (session, prg) = match peer {
            Held::Next => (&mut self.session, &mut self.with_next),
            Held::Mine => (&mut self.session, &mut self.with_previous),
        };
        mask_and_send(session, to, &moved.rows, prg)?;
        mask_and_send_revealed(session, to, &moved.reveal, prg)
    }

    /// Applies the permutation that this node and a peer draw together.
    fn permute_with(&mut self, peer: Held, moving: Moving) -> Moving {
        let pi = permutation::random(moving.rows.rows, self.generator(peer));
        Moving { rows: moving.rows.scatter(&pi), reveal: moving.reveal.scatter(&pi) }
    }

    fn generator(&mut self, peer: Held) -> &mut tacit_math::Prg {
        match peer {
            Held::Next => &mut self.with_next,
            Held::Mine => &mut self.with_previous,
        }
    }

    fn receive(&mut self, from: PartyId, shapes: Shapes) -> Result<Moving> {
        let rows = recv_block(&mut self.session, from, shapes.rows)?;
        Ok(Moving { rows, reveal: recv_revealed(&mut self.session, from, shapes.reveal)? })
    }
}
