//! Shuffle: a uniformly random order of the rows that no server knows.
//!
//! Functionality: the rows are in an order P2 after P1. A second bundle in the same order becomes public, if there is
//! one. Nothing else is disclosed.
//!
//! 1. S1 and S2 draw P1 and masks from their joint generator. Each moves its component by P1 and masks it; S1 sends it
//!    to Sa, S2 to Sb.
//! 2. Sa and Sb draw P2 and masks from their generator. Each moves what it got by P2 and masks it. Of the first bundle
//!    Sa sends it to S1 and Sb to S2, where it is their component. Of the second one each sends it to all others.
//!
//! S1 and S2 do not know P2, nor can they tell it from what comes back: it is masked by what Sa and Sb drew. Sa and Sb
//! do not know P1. What is revealed is public but for its order, and P2 after P1 is uniform to whoever knows one of
//! both.
//!
//! **Source** Laur, Willemson, Zhang, "Round-Efficient Oblivious Database Manipulation" (ISC 2011): resharing to two
//! groups in turn. **Departures** PrivPy has no shuffle.
//!
//! Rounds: 2. Bytes in all: four copies of the rows, and eight of the revealed ones.

use tacit_math::permutation;
use tacit_net::PartyId;

use super::input::{component, no_rows, share_rows};
use super::{Four, NODES, S1, S2, SA, SB};
use crate::backends::wire::{recv_block, send_masked, send_open};
use crate::{Block, Result, Rows, Shape};

impl Four {
    pub(super) fn shuffle_twice(
        &mut self,
        rows: Rows<Self>,
        reveal: Option<Rows<Self>>,
    ) -> Result<(Rows<Self>, Block)> {
        let me = self.session.me();
        let shapes = [Some(rows.shape()), reveal.as_ref().map(Rows::shape)];
        let shapes: Vec<Shape> = shapes.into_iter().flatten().collect();
        let across = match me {
            S1 => SA,
            S2 => SB,
            SA => S1,
            _ => S2,
        };
        // Step 1.
        self.session.next_round();
        let mut moved: Vec<Block> = Vec::with_capacity(shapes.len());
        if self.holds() {
            let p1 = permutation::random(rows.rows, &mut self.joint);
            for bundle in [Some(rows), reveal].into_iter().flatten() {
                let own = component(bundle).expect("a primary server has a component");
                let masked = self.moved(own, &p1);
                send_masked(&mut self.session, across, &masked)?;
            }
            self.session.next_round();
            let own = recv_block(&mut self.session, across, shapes[0])?;
            let revealed = shapes.get(1).map(|&shape| self.revealed(shape, None)).transpose()?;
            return Ok((share_rows(own), revealed.unwrap_or_default()));
        }
        // Step 2.
        for &shape in &shapes {
            moved.push(recv_block(&mut self.session, across, shape)?);
        }
        let p2 = permutation::random(shapes[0].rows, &mut self.joint);
        self.session.next_round();
        let mut moved: Vec<Block> = moved.into_iter().map(|bundle| self.moved(bundle, &p2)).collect();
        send_masked(&mut self.session, across, &moved[0])?;
        let mut public = Block::default();
        if let (Some(&shape), Some(own)) = (shapes.get(1), (moved.len() > 1).then(|| moved.swap_remove(1))) {
            for to in (0..NODES).map(PartyId).filter(|&to| to != me) {
                send_open(&mut self.session, to, &own)?;
            }
            public = self.revealed(shape, Some(own))?;
        }
        Ok((no_rows(shapes[0]), public))
    }

    /// A component in another order, masked by what this server and the one beside it draw.
    fn moved(&mut self, component: Block, order: &[u32]) -> Block {
        let mut moved = component.gather(order);
        match self.session.me() {
            S1 | SA => moved.add_random(&mut self.joint),
            _ => moved.subtract_random(&mut self.joint),
        }
        moved
    }

    /// The sum of both assistants' components, of which an assistant has one.
    fn revealed(&mut self, shape: Shape, own: Option<Block>) -> Result<Block> {
        let me = self.session.me();
        let mut sum = own.unwrap_or_else(|| Block::zeros(shape));
        for from in [SA, SB].into_iter().filter(|&from| from != me) {
            sum = sum.plus(&recv_block(&mut self.session, from, shape)?);
        }
        // It is public to all from here on: a contract of the trait.
        Ok(sum.published())
    }
}
