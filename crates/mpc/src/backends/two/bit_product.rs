//! Bits times ring elements: injection, selection, and products with a scan of the bits.
//!
//! Functionality: for bits that one node knows and ring elements s that the other one knows, shares of their products, one random OT
//! each. Node R has a random bit c and the string m_c, node S has m_0 and m_1. R sends d = c XOR bit, S sends e = m_0 - m_1 + s,
//! in one round. R holds m_c + c e = m_0 + c s and takes (1 - 2d) times that, S takes s d - (1 - 2d) m_0; the sum is
//! s (d + c - 2 c d) = s bit. Discloses nothing: d and e are masked by a bit and by a string that their receiver does not know.
//! Source: Demmler, Schneider, Zohner, NDSS 2015 (ABY), section III.E, with random OTs corrected in the same round.
//!
//! - `inject`: b = b0 + b1 (1 - 2 b0), one product, its direction alternating from plane to plane.
//! - `select`: (b0 XOR b1) (v0 + v1) = b0 v0 + b1 v1 + b1 (1 - 2 b0) v0 + b0 (1 - 2 b1) v1, two products.
//! - `scan_product`: the bits injected, then each selects the factor that the scan gives for it.
//!
//! OTs: one a product, rows rounded up to words. Rounds: one a batch of products, and those of making stock. A product costs its
//! sender one ring element and its receiver one bit.

use tacit_math::{Plane, Ring};

use super::batches::{Job, Segment, batches};
use super::{NODES, Share, Two};
use crate::backends::wire::{Outgoing, recv_cells};
use crate::{LinearScan, Result};

/// Products of many rows: this node's part in them.
pub(super) struct BitProduct<'a, R> {
    pub rows: usize,
    /// This node's bits, if it has any to multiply with the peer's elements.
    pub bits: Option<&'a [u64]>,
    /// This node's elements, if it has any to multiply with the peer's bits.
    pub elements: Option<Vec<R>>,
}

/// What a segment keeps from OTs until the peer's message is here.
struct Kept<R> {
    /// The receiver's bits and strings.
    received: Option<(Vec<u64>, Vec<R>)>,
    /// The sender's first strings.
    zero: Option<Vec<R>>,
}

impl Two {
    /// This node's shares of the products; where it has both bits and elements, of the sum of both products.
    fn bit_products<R: Ring>(&mut self, products: &[BitProduct<'_, R>]) -> Result<Vec<Vec<R>>> {
        let jobs: Vec<Job> = products.iter().map(|product| Job { rows: product.rows, ots: 1 }).collect();
        let mut shares: Vec<Vec<R>> = products.iter().map(|product| Vec::with_capacity(product.rows)).collect();
        for batch in batches(&jobs) {
            let mut need = [0; NODES];
            for segment in &batch {
                let (product, ots) = (&products[segment.job], jobs[segment.job].ots_of(segment.rows));
                need[self.me()] += product.elements.as_ref().map_or(0, |_| ots);
                need[1 - self.me()] += product.bits.map_or(0, |_| ots);
            }
            self.stock.prepare(&mut self.session, need)?;
            self.session.next_round();
            let peer = self.peer();
            let mut out = Outgoing::new(&mut self.session, peer);
            let mut kept = Vec::new();
            for segment in &batch {
                kept.push(self.send_segment(&products[segment.job], segment, &mut out)?);
            }
            out.finish(&mut self.session)?;
            for (segment, kept) in batch.iter().zip(kept) {
                let share = self.finish_segment(&products[segment.job], segment, kept)?;
                shares[segment.job].extend(share);
            }
        }
        Ok(shares)
    }

    fn send_segment<R: Ring>(
        &mut self,
        product: &BitProduct<'_, R>,
        segment: &Segment,
        out: &mut Outgoing,
    ) -> Result<Kept<R>> {
        let rows = segment.rows;
        let words = rows.div_ceil(64);
        let mut kept = Kept { received: None, zero: None };
        if let Some(bits) = product.bits {
            let (choices, strings) = self.stock.received(64 * words);
            let flips: Vec<u64> = choices.iter().zip(&bits[segment.start / 64..]).map(|(c, b)| c ^ b).collect();
            out.push(&mut self.session, &flips)?;
            kept.received = Some((choices, strings[..rows].iter().map(|&m| R::from_u128(m)).collect()));
        }
        if let Some(elements) = &product.elements {
            let [zero, one] = self.stock.sent(64 * words);
            let zero: Vec<R> = zero[..rows].iter().map(|&m| R::from_u128(m)).collect();
            let elements = &elements[segment.start..segment.start + rows];
            let masked = zero.iter().zip(one).zip(elements).map(|((zero, one), &s)| zero.sub(R::from_u128(one)).add(s));
            out.push(&mut self.session, &masked.collect::<Vec<R>>())?;
            kept.zero = Some(zero);
        }
        Ok(kept)
    }

    fn finish_segment<R: Ring>(
        &mut self,
        product: &BitProduct<'_, R>,
        segment: &Segment,
        kept: Kept<R>,
    ) -> Result<Vec<R>> {
        let (peer, rows) = (self.peer(), segment.rows);
        let mut share = vec![R::ZERO; rows];
        if let (Some(zero), Some(elements)) = (kept.zero, &product.elements) {
            let flips: Vec<u64> = recv_cells(&mut self.session, peer, rows.div_ceil(64))?;
            for (i, (share, &s)) in share.iter_mut().zip(&elements[segment.start..]).enumerate() {
                let d = bit(&flips, i);
                *share = share.add(s.mul(d)).sub(signed(d, zero[i]));
            }
        }
        if let (Some((choices, strings)), Some(bits)) = (kept.received, product.bits) {
            let masked: Vec<R> = recv_cells(&mut self.session, peer, rows)?;
            let bits = &bits[segment.start / 64..];
            for (i, share) in share.iter_mut().enumerate() {
                let c: R = bit(&choices, i);
                let d = R::from_u128(u128::from((choices[i / 64] ^ bits[i / 64]) >> (i % 64) & 1));
                *share = share.add(signed(d, strings[i].add(c.mul(masked[i]))));
            }
        }
        Ok(share)
    }

    pub(super) fn inject_bits<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let products: Vec<BitProduct<'_, R>> = bits
            .iter()
            .map(|plane| {
                let rows = plane.0.rows();
                let sends = self.next_sender() == self.me();
                let elements = sends.then(|| (0..rows).map(|i| sign(bit(plane.0.words(), i))).collect());
                BitProduct { rows, bits: (!sends).then(|| plane.0.words()), elements }
            })
            .collect();
        let mut shares = self.bit_products(&products)?;
        for ((share, product), plane) in shares.iter_mut().zip(&products).zip(bits) {
            if product.elements.is_some() {
                share.iter_mut().enumerate().for_each(|(i, share)| *share = share.add(bit(plane.0.words(), i)));
            }
        }
        Ok(shares.into_iter().map(Share).collect())
    }

    /// Who gives the elements of the next injection: the nodes in turn.
    fn next_sender(&mut self) -> usize {
        self.turn = (self.turn + 1) % NODES;
        self.turn
    }

    pub(super) fn bits_times_vectors<R: Ring>(
        &mut self,
        bits: &[&Share<Plane>],
        x: &[&Share<Vec<R>>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        let vectors: Vec<&[R]> = x.iter().map(|x| x.0.as_slice()).collect();
        Ok(self.selections(bits, &vectors)?.into_iter().map(Share).collect())
    }

    fn selections<R: Ring>(&mut self, bits: &[&Share<Plane>], x: &[&[R]]) -> Result<Vec<Vec<R>>> {
        let products: Vec<BitProduct<'_, R>> = bits
            .iter()
            .zip(x)
            .map(|(plane, x)| {
                let elements = x.iter().enumerate().map(|(i, &x)| signed(bit(plane.0.words(), i), x)).collect();
                BitProduct { rows: x.len(), bits: Some(plane.0.words()), elements: Some(elements) }
            })
            .collect();
        let mut shares = self.bit_products(&products)?;
        for ((share, plane), x) in shares.iter_mut().zip(bits).zip(x) {
            for (i, (share, x)) in share.iter_mut().zip(*x).enumerate() {
                *share = share.add(x.mul(bit(plane.0.words(), i)));
            }
        }
        Ok(shares)
    }

    pub(super) fn bits_times_scan<R: Ring, S: LinearScan<R, N>, const N: usize>(
        &mut self,
        bits: [&Share<Plane>; N],
    ) -> Result<Share<Vec<R>>> {
        let rows = bits[0].0.rows();
        let flags: Vec<Share<Vec<R>>> = self.inject_bits(&bits)?;
        let columns: [&[R]; N] = std::array::from_fn(|t| flags[t].0.as_slice());
        let mut factors: [Vec<R>; N] = std::array::from_fn(|_| vec![R::ZERO; rows]);
        let mut sum = vec![R::ZERO; rows];
        S::start(columns).piece(columns, factors.each_mut().map(Vec::as_mut_slice), &mut sum);
        for selected in self.selections(&bits, &factors.each_ref().map(Vec::as_slice))? {
            sum.iter_mut().zip(selected).for_each(|(sum, x)| *sum = sum.add(x));
        }
        if self.me() == 0 {
            sum.iter_mut().enumerate().for_each(|(i, sum)| *sum = sum.add(R::from_u128(i as u128)));
        }
        Ok(Share(sum))
    }
}

/// Bit i as a ring element.
fn bit<R: Ring>(words: &[u64], i: usize) -> R {
    R::from_u128(u128::from(words[i / 64] >> (i % 64) & 1))
}

/// 1 - 2 bit.
fn sign<R: Ring>(bit: R) -> R {
    R::ONE.sub(bit.shl(1))
}

/// x (1 - 2 bit).
fn signed<R: Ring>(bit: R, x: R) -> R {
    x.mul(sign(bit))
}
