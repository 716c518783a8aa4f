//! Between ring vectors and planes: the parts that need the engine's sharing; the adders are in `circuits`.
//!
//! Functionality and disclosures: none of the three operations discloses anything. Source: ABY3, sections 5.2 and 5.3.
//!
//! `two_summands`: x = (x0 + x1) + x2. Node 0 knows s = x0 + x1 and deals its planes: component 0 from the generator of nodes 0
//! and 2, component 1 sent to node 1. x2 is known to nodes 1 and 2 and needs no message. 1 round; node 0 sends width bits a row.
//!
//! `ring_mask`: y = y0 + y1 with y0 from the generator of nodes 2 and 0, y1 of nodes 0 and 1; node 0 deals the planes of -y.
//! 1 round; node 0 sends as many bits a row as the ring has.
//!
//! `ring_unmask`: the planes of x - y are opened to nodes 1 and 2, of which each lacks a component that the other holds; they
//! become component 2. Node 1 knows y1, node 2 knows y0: to each the opened value is masked by the other. 1 round; nodes 1
//! and 2 send the ring's bits a row.

use tacit_math::{Plane, Ring, ring};

use super::{Rep3, Share};
use crate::backends::wire::{Outgoing, recv_plane};
use crate::bits::{planes_of, vector_of};
use crate::{Linear, Result};

impl Rep3 {
    pub(super) fn two_summands<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        width: usize,
    ) -> Result<Vec<[Vec<Share<Plane>>; 2]>> {
        let sums = x.iter().map(|x| (self.me() == 0).then(|| planes_of(&ring::add(&x.mine, &x.next), width)));
        let sums: Vec<_> = sums.collect();
        let rows: Vec<usize> = x.iter().map(|x| x.rows()).collect();
        let dealt = self.deal_planes(&rows, width, &sums)?;
        Ok(dealt.into_iter().zip(x).map(|(sum, x)| [sum, self.third_component(x, width)]).collect())
    }

    /// Component 2 of a vector as Boolean shares.
    fn third_component<R: Ring>(&self, x: &Share<Vec<R>>, width: usize) -> Vec<Share<Plane>> {
        let zeros = || Plane::zeros(x.rows());
        match self.me() {
            0 => (0..width).map(|_| Share { mine: zeros(), next: zeros() }).collect(),
            1 => planes_of(&x.next, width).into_iter().map(|next| Share { mine: zeros(), next }).collect(),
            _ => planes_of(&x.mine, width).into_iter().map(|mine| Share { mine, next: zeros() }).collect(),
        }
    }

    /// Node 0 shares planes that only it knows: component 2 is zero.
    fn deal_planes(
        &mut self,
        rows: &[usize],
        width: usize,
        known: &[Option<Vec<Plane>>],
    ) -> Result<Vec<Vec<Share<Plane>>>> {
        self.session.next_round();
        let me = self.me();
        let mut out = (me == 0).then(|| Outgoing::new(&mut self.session, tacit_net::PartyId(1)));
        let mut dealt = Vec::new();
        for (&rows, known) in rows.iter().zip(known) {
            let mut planes = Vec::new();
            for j in 0..width {
                let share = match me {
                    0 => {
                        let mine = self.random_plane_with_previous(rows);
                        let next = known.as_ref().expect("node 0 knows the value")[j].xor(&mine);
                        out.as_mut().expect("node 0 sends").push(&mut self.session, next.words())?;
                        Share { mine, next }
                    }
                    1 => {
                        let previous = self.previous();
                        let mine = recv_plane(&mut self.session, previous, rows)?;
                        Share { mine, next: Plane::zeros(rows) }
                    }
                    _ => {
                        let mut next = Plane::zeros(rows);
                        self.with_next.fill(next.words_mut());
                        Share { mine: Plane::zeros(rows), next }
                    }
                };
                planes.push(share);
            }
            dealt.push(planes);
        }
        if let Some(out) = out {
            out.finish(&mut self.session)?;
        }
        Ok(dealt)
    }

    fn random_plane_with_previous(&mut self, rows: usize) -> Plane {
        let mut plane = Plane::zeros(rows);
        self.with_previous.fill(plane.words_mut());
        plane
    }

    pub(super) fn ring_mask<R: Ring>(&mut self, rows: usize) -> Result<(Share<Vec<R>>, Vec<Share<Plane>>)> {
        let zeros = || vec![R::ZERO; rows];
        let y = match self.me() {
            0 => Share { mine: self.with_previous.vector(rows), next: self.with_next.vector(rows) },
            1 => Share { mine: self.with_previous.vector(rows), next: zeros() },
            _ => Share { mine: zeros(), next: self.with_next.vector(rows) },
        };
        let width = R::BITS as usize;
        let negated = (self.me() == 0).then(|| {
            let sum = ring::add(&y.mine, &y.next);
            planes_of(&ring::sub(&zeros(), &sum), width)
        });
        let planes = self.deal_planes(&[rows], width, &[negated])?.swap_remove(0);
        Ok((y, planes))
    }

    pub(super) fn ring_unmask<R: Ring>(
        &mut self,
        y: Share<Vec<R>>,
        difference: &[&Share<Plane>],
    ) -> Result<Share<Vec<R>>> {
        self.session.next_round();
        let rows = y.rows();
        match self.me() {
            0 => Ok(y),
            1 => {
                let next = self.next();
                let opened = self.open_between(next, difference, |share| (&share.mine, &share.next))?;
                Ok(Share { mine: y.mine, next: vector_of(&opened.iter().collect::<Vec<_>>(), rows) })
            }
            _ => {
                let previous = self.previous();
                let opened = self.open_between(previous, difference, |share| (&share.next, &share.mine))?;
                Ok(Share { mine: vector_of(&opened.iter().collect::<Vec<_>>(), rows), next: y.next })
            }
        }
    }

    /// Nodes 1 and 2 send each other the component that only one of them holds; `parts` gives (that one, the common one).
    fn open_between(
        &mut self,
        peer: tacit_net::PartyId,
        planes: &[&Share<Plane>],
        parts: impl Fn(&Share<Plane>) -> (&Plane, &Plane),
    ) -> Result<Vec<Plane>> {
        let mut out = Outgoing::new(&mut self.session, peer);
        planes.iter().try_for_each(|share| out.push(&mut self.session, parts(share).0.words()))?;
        out.finish(&mut self.session)?;
        let mut opened = Vec::new();
        for share in planes {
            let theirs = recv_plane(&mut self.session, peer, share.rows())?;
            let (own, common) = parts(share);
            opened.push(theirs.xor(own).xor(common));
        }
        Ok(opened)
    }
}
