//! Products of what S1 and S2 know each by itself, and the conversions that are made of them.
//!
//! None of the operations discloses anything, and nothing is sent but by [`super::multiply`] and the opening of masked
//! planes. A vector that one primary server knows is shared with the other one's zeros.
//!
//! `inject_bits`: b1 XOR b2 = b1 + b2 - 2 b1 b2. 2 rounds, 6 elements a row.
//!
//! `split_products`: u_i(x1) is known to S1, w_i(x2) to S2: an inner product. 2 rounds, 4 elements a row and product,
//! and 2 a row.
//!
//! `digit_times_scan`: the scan runs on each component of the injected bits by itself; then an inner product.
//!
//! `two_summands`: each primary server has the planes of its own component. No message.
//!
//! `ring_mask`: S1 draws y and knows the planes of -y; S2 has zeros. No message.
//!
//! `ring_unmask`: the planes of x - y are opened to S2, which does not know y; they become its component, beside y of
//! S1. 1 round; S1 sends as many bits a row as there are planes.
//!
//! Source: PrivPy composes all functions of its two protocols and linear maps (section 5.5). Conversions by masks:
//! Demmler, Schneider, Zohner, NDSS 2015 (ABY), section IV. **Departures** these compositions are not in the paper.

use tacit_math::{Plane, Ring};

use super::{Four, S1, S2, Share};
use crate::backends::wire::{Outgoing, recv_plane};
use crate::bits::{planes_of, vector_of};
use crate::ops::nonzero_digits;
use crate::split::assert_products;
use crate::{Linear, LinearScan, Result, Split, linear};

/// Pairs of shared vectors, of which S1 knows the first one and S2 the second one.
pub(super) type Known<R> = [Share<Vec<R>>; 2];

impl Four {
    /// A vector that is known to S1 beside one that is known to S2. Each server is asked for its own.
    pub(super) fn known<R: Ring>(&self, rows: usize, own: impl Fn() -> Vec<R>) -> Known<R> {
        let zeros = || vec![R::ZERO; rows];
        [self.of_first(rows, &own, zeros), self.of_second(rows, &own, zeros)]
    }

    pub(super) fn inject_bits<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let known: Vec<Known<R>> =
            bits.iter().map(|bits| self.known(bits.rows, || vector_of(&[bits.own()], bits.rows))).collect();
        let terms: Vec<Vec<_>> = known.iter().map(|[x, y]| vec![(x, y)]).collect();
        let both = self.inner_products_of_vectors(&terms)?;
        let two = R::ONE.shl(1);
        let sum =
            |([x, y], both): (&Known<R>, &Share<Vec<R>>)| linear::sub(&linear::add(x, y), &linear::scale(both, two));
        Ok(known.iter().zip(&both).map(sum).collect())
    }

    pub(super) fn split_products<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        f: &impl Split<R>,
    ) -> Result<Vec<Share<Vec<R>>>> {
        assert_products(f);
        let mut factors: Vec<Vec<Known<R>>> = Vec::with_capacity(x.len());
        let mut alone: Vec<Share<Vec<R>>> = Vec::with_capacity(x.len());
        for x in x {
            let rows = x.rows;
            let (mut words, mut rest) = (vec![R::ZERO; rows * f.products()], vec![R::ZERO; rows]);
            match self.me() {
                S1 => f.first(x.own(), &mut words),
                S2 => f.second(x.own(), &mut words, &mut rest),
                _ => {}
            }
            let each = |i: usize| self.known(rows, || words[i * rows..(i + 1) * rows].to_vec());
            factors.push((0..f.products()).map(each).collect());
            alone.push(self.known(rows, || rest.clone())[1].clone());
        }
        let terms: Vec<Vec<_>> = factors.iter().map(|pairs| pairs.iter().map(|[u, w]| (u, w)).collect()).collect();
        let sums = self.inner_products_of_vectors(&terms)?;
        Ok(sums.iter().zip(&alone).map(|(sum, alone)| linear::add(sum, alone)).collect())
    }

    pub(super) fn digit_times_scan<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Share<Plane>],
    ) -> Result<Share<Vec<u32>>> {
        let flags = nonzero_digits(self, digit)?;
        let x: Vec<Share<Vec<u32>>> = self.inject_bits(&flags.iter().collect::<Vec<_>>())?;
        let rows = digit[0].rows();
        // The factors, and behind them the base.
        let mut scanned = Share::map_many(&x.iter().collect::<Vec<_>>(), N + 1, rows, |columns: &[&Vec<u32>]| {
            let columns: [&[u32]; N] = std::array::from_fn(|t| columns[t].as_slice());
            let (mut factors, mut base): ([Vec<u32>; N], _) = (std::array::from_fn(|_| vec![0; rows]), vec![0; rows]);
            S::start(columns).piece(columns, factors.each_mut().map(Vec::as_mut_slice), &mut base);
            factors.into_iter().chain([base]).collect()
        });
        let base = scanned.pop().expect("a base behind the factors");
        let terms = vec![x.iter().zip(&scanned).collect::<Vec<_>>()];
        let sum = linear::add(&self.inner_products_of_vectors(&terms)?.swap_remove(0), &base);
        let numbers = self.of_first(rows, || (0..rows as u32).collect(), || vec![0; rows]);
        Ok(linear::add::<u32, _>(&sum, &numbers))
    }

    pub(super) fn two_summands<R: Ring>(&self, x: &Share<Vec<R>>, width: usize) -> [Vec<Share<Plane>>; 2] {
        let (rows, own) = (x.rows, x.held.as_ref().map(|held| planes_of(held, width)).unwrap_or_default());
        let zeros = || Plane::zeros(rows);
        let first = |j: usize| self.of_first(rows, || own[j].clone(), zeros);
        let second = |j: usize| self.of_second(rows, || own[j].clone(), zeros);
        [(0..width).map(first).collect(), (0..width).map(second).collect()]
    }

    pub(super) fn ring_mask<R: Ring>(&mut self, rows: usize) -> (Share<Vec<R>>, Vec<Share<Plane>>) {
        let y: Vec<R> = if self.me() == S1 { self.own.vector(rows) } else { vec![R::ZERO; rows] };
        let y = self.of_first(rows, || y, || vec![R::ZERO; rows]);
        let minus_y: Share<Vec<R>> = linear::scale(&y, R::ONE.neg());
        let [negated, _] = self.two_summands(&minus_y, R::BITS as usize);
        (y, negated)
    }

    pub(super) fn ring_unmask<R: Ring>(
        &mut self,
        y: Share<Vec<R>>,
        difference: &[&Share<Plane>],
    ) -> Result<Share<Vec<R>>> {
        self.session.next_round();
        match self.me() {
            S1 => {
                let mut out = Outgoing::opening(&mut self.session, S2);
                difference.iter().try_for_each(|share| out.push_open(&mut self.session, share.own().words()))?;
                out.finish(&mut self.session)?;
                Ok(y)
            }
            S2 => {
                // x - y, which y masks from S2.
                let mut opened = Vec::with_capacity(difference.len());
                for plane in difference {
                    opened.push(recv_plane(&mut self.session, S1, y.rows)?.xor(plane.own()));
                }
                Ok(Share::new(vector_of(&opened.iter().collect::<Vec<_>>(), y.rows)))
            }
            _ => Ok(y),
        }
    }
}
