//! Between ring vectors and planes: the parts that need the engine's sharing; the adders are in `circuits`.
//!
//! None of the operations discloses anything. Source: Demmler, Schneider, Zohner, NDSS 2015 (ABY), section IV.
//!
//! `two_summands`: x = x0 + x1, and each node knows the planes of its own. No message.
//!
//! `ring_mask`: node 0 draws y and knows the planes of -y, which are its component; node 1 has zeros. No message.
//!
//! `ring_unmask`: the planes of x - y are opened to node 1, which does not know y; they become its component, beside y
//! of node 0. 1 round; node 0 sends as many bits a row as the ring has.

use tacit_math::{Plane, Ring};

use crate::Result;
use crate::backends::two::{Share, Two};
use crate::backends::wire::{Outgoing, recv_plane};
use crate::bits::{planes_of, vector_of};

impl Two {
    pub(in crate::backends::two) fn two_summands<R: Ring>(
        &self,
        x: &Share<Vec<R>>,
        width: usize,
    ) -> [Vec<Share<Plane>>; 2] {
        let zeros = || (0..width).map(|_| Share(Plane::zeros(x.0.len()))).collect();
        let own = planes_of(&x.0, width).into_iter().map(Share).collect();
        if self.me() == 0 { [own, zeros()] } else { [zeros(), own] }
    }

    pub(in crate::backends::two) fn ring_mask<R: Ring>(&mut self, rows: usize) -> (Share<Vec<R>>, Vec<Share<Plane>>) {
        let width = R::BITS as usize;
        if self.me() == 1 {
            return (Share(vec![R::ZERO; rows]), (0..width).map(|_| Share(Plane::zeros(rows))).collect());
        }
        let y: Vec<R> = self.own.vector(rows);
        let minus_y: Vec<R> = y.iter().map(|y| y.neg()).collect();
        (Share(y), planes_of(&minus_y, width).into_iter().map(Share).collect())
    }

    pub(in crate::backends::two) fn ring_unmask<R: Ring>(
        &mut self,
        y: Share<Vec<R>>,
        difference: &[&Share<Plane>],
    ) -> Result<Share<Vec<R>>> {
        self.session.next_round();
        let (peer, rows) = (self.peer(), y.0.len());
        if self.me() == 0 {
            let mut out = Outgoing::opening(&mut self.session, peer);
            difference.iter().try_for_each(|share| out.push_open(&mut self.session, share.0.words()))?;
            out.finish(&mut self.session)?;
            return Ok(y);
        }
        // x - y, which y masks from node 1.
        let mut opened = Vec::new();
        for plane in difference {
            opened.push(recv_plane(&mut self.session, peer, rows)?.xor(&plane.0));
        }
        Ok(Share(vector_of(&opened.iter().collect::<Vec<_>>(), rows)))
    }
}
