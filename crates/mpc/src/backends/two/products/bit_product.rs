//! Bits that one node knows times ring elements that the other one knows: what [`super::inject`], [`super::select`],
//! [`super::scan`] and [`super::multiply`] are made of.
//!
//! Functionality: for bits b that node R knows and ring elements s that node S knows, shares of b s, one random OT
//! each. Discloses nothing: d and e are masked by a bit and by a string that their receiver does not know.
//!
//! 1. A random OT leaves R a random bit c and the string m_c, S the strings m_0 and m_1.
//! 2. R sends d = c XOR b, S sends e = m_0 - m_1 + s, in one round.
//! 3. S takes s d - (1 - 2d) m_0.
//! 4. R holds m_c + c e = m_0 + c s and takes (1 - 2d) times that. The sum of both is s (d + c - 2 c d) = b s.
//!
//! Source: Demmler, Schneider, Zohner, NDSS 2015 (ABY), section III.E, with random OTs corrected in the same round.
//!
//! OTs: one a product, rows rounded up to words; from the stock, or streamed if they are many and the link is fast
//! ([`crate::backends::two::terms::streams`]). Rounds: one a batch of products, and those of making stock. Streamed,
//! one more in all, as a batch is streamed in the round in which the one before is multiplied. A product costs its
//! sender one ring element and its receiver one bit.

use std::hint::black_box;
use std::slice;

use tacit_math::{CorrelationRobustHash, Ring, packed};

use super::batches::{Segment, batches};
use crate::Result;
use crate::backends::two::{NODES, Two, terms};
use crate::backends::wire::{Outgoing, recv_cells};

/// Products of many rows: this node's part in them.
pub(in crate::backends::two) struct BitProduct<'a, R> {
    pub rows: usize,
    /// This node's bits, if it has any to multiply with the peer's elements.
    pub bits: Option<&'a [u64]>,
    /// This node's elements, if it has any to multiply with the peer's bits.
    pub elements: Option<Vec<R>>,
}

/// Blocks hashed at a time.
const PIECE: usize = 128;

/// A batch before its messages: what OTs leave, segment by segment in whole words.
struct Batch<'a, R> {
    segments: &'a [Segment],
    /// c and m_c, of what this node receives.
    choices: Vec<u64>,
    chosen: Vec<R>,
    /// m_0 and m_0 - m_1, of what this node sends.
    zero: Vec<R>,
    difference: Vec<R>,
}

/// How many OTs of each direction a batch takes, if node d gives elements to the products that `directions` says.
pub(in crate::backends::two) fn need_of(
    segments: &[Segment],
    directions: impl Fn(usize) -> [bool; NODES],
) -> [usize; NODES] {
    let mut need = [0; NODES];
    for segment in segments {
        for (need, gives) in need.iter_mut().zip(directions(segment.job)) {
            *need += if gives { segment.rows.next_multiple_of(64) } else { 0 };
        }
    }
    need
}

impl Two {
    /// This node's shares of the products; where it has both bits and elements, of the sum of both products.
    pub(in crate::backends::two) fn bit_products<R: Ring>(
        &mut self,
        products: &[BitProduct<'_, R>],
    ) -> Result<Vec<Vec<R>>> {
        let jobs: Vec<usize> = products.iter().map(|product| product.rows).collect();
        let mut shares: Vec<Vec<R>> = products.iter().map(|product| Vec::with_capacity(product.rows)).collect();
        let batches = batches(&jobs);
        let needs: Vec<_> = batches.iter().map(|segments| self.need(segments, products)).collect();
        if terms::streams(&self.terms, needs.iter().flatten().sum::<usize>() / NODES) {
            self.stock.begin_streams(&mut self.session)?;
            let mut ahead: Option<Batch<'_, R>> = None;
            for next in batches.iter().zip(needs).map(Some).chain([None]) {
                self.session.next_round();
                // Steps 2 to 4 of a batch go with step 1 of the next one.
                if let Some(batch) = ahead.take() {
                    self.multiply_bits(&batch, products, &mut shares)?;
                }
                ahead = next.map(|(segments, need)| self.streamed_bits(segments, need)).transpose()?;
            }
        } else {
            for (segments, need) in batches.iter().zip(needs) {
                // Step 1, then the others.
                let batch = self.bits_of_stock(segments, need)?;
                self.session.next_round();
                self.multiply_bits(&batch, products, &mut shares)?;
            }
        }
        Ok(shares)
    }

    fn need<R>(&self, segments: &[Segment], products: &[BitProduct<'_, R>]) -> [usize; NODES] {
        let [mine, theirs] = [self.me(), 1 - self.me()];
        need_of(segments, |job| {
            let mut gives = [false; NODES];
            gives[mine] = products[job].elements.is_some();
            gives[theirs] = products[job].bits.is_some();
            gives
        })
    }

    fn streamed_bits<'a, R: Ring>(&mut self, segments: &'a [Segment], need: [usize; NODES]) -> Result<Batch<'a, R>> {
        let mut batch = Batch::with_capacity(segments, need[self.me()], need[1 - self.me()]);
        let Batch { choices, chosen, zero, difference, .. } = &mut batch;
        self.stock.stream(
            &mut self.session,
            need,
            |hash, offset, blocks| push_sent(hash, offset, blocks, zero, difference),
            |hash, bits, blocks| push_received(hash, bits, blocks, choices, chosen),
        )?;
        Ok(batch)
    }

    fn bits_of_stock<'a, R: Ring>(&mut self, segments: &'a [Segment], need: [usize; NODES]) -> Result<Batch<'a, R>> {
        let [send, receive] = [need[self.me()], need[1 - self.me()]];
        let mut batch = Batch::with_capacity(segments, send, receive);
        self.stock.prepare(&mut self.session, need)?;
        let (hash, bits, blocks) = self.stock.received_blocks(receive);
        push_received(hash, bits, blocks, &mut batch.choices, &mut batch.chosen);
        let (hash, offset, blocks) = self.stock.sent_blocks(send);
        push_sent(hash, offset, blocks, &mut batch.zero, &mut batch.difference);
        Ok(batch)
    }

    /// Steps 2 to 4: exchanges the messages of a batch and appends the shares.
    fn multiply_bits<R: Ring>(
        &mut self,
        batch: &Batch<'_, R>,
        products: &[BitProduct<'_, R>],
        shares: &mut [Vec<R>],
    ) -> Result<()> {
        let peer = self.peer();
        let mut out = Outgoing::masked(&mut self.session, peer);
        let (mut receiving, mut sending) = (0, 0);
        for segment in batch.segments {
            let (product, words) = (&products[segment.job], segment.rows.div_ceil(64));
            if let Some(bits) = product.bits {
                // Step 2 of R: d = c XOR b.
                let choices = &batch.choices[receiving..receiving + words];
                let d: Vec<u64> = choices.iter().zip(&bits[segment.start / 64..]).map(|(c, b)| c ^ b).collect();
                out.push_masked(&mut self.session, &d)?;
                receiving += words;
            }
            if let Some(elements) = &product.elements {
                // Step 2 of S: e = m_0 - m_1 + s.
                let elements = &elements[segment.start..segment.start + segment.rows];
                let e = batch.difference[64 * sending..].iter().zip(elements).map(|(m, &s)| m.add(s));
                out.push_masked(&mut self.session, &e.collect::<Vec<R>>())?;
                sending += words;
            }
        }
        out.finish(&mut self.session)?;
        let (mut receiving, mut sending) = (0, 0);
        for segment in batch.segments {
            let (product, words) = (&products[segment.job], segment.rows.div_ceil(64));
            let mut share = vec![R::ZERO; segment.rows];
            if let Some(elements) = &product.elements {
                self.add_sent(&mut share, &elements[segment.start..], &batch.zero[64 * sending..])?;
                sending += words;
            }
            if let Some(bits) = product.bits {
                let strings = (&batch.choices[receiving..], &batch.chosen[64 * receiving..]);
                self.add_received(&mut share, &bits[segment.start / 64..], strings)?;
                receiving += words;
            }
            shares[segment.job].extend(share);
        }
        Ok(())
    }

    /// Step 3: adds s d - (1 - 2d) m_0.
    fn add_sent<R: Ring>(&mut self, share: &mut [R], elements: &[R], zero: &[R]) -> Result<()> {
        let peer = self.peer();
        let d: Vec<u64> = recv_cells(&mut self.session, peer, share.len().div_ceil(64))?;
        for_each_mask(&d, share.iter_mut().zip(elements).zip(zero), |d, ((share, s), &m_0)| {
            *share = share.add(s.and(d)).sub(signed(d, m_0));
        });
        Ok(())
    }

    /// Step 4: adds (1 - 2d) (m_c + c e).
    fn add_received<R: Ring>(
        &mut self,
        share: &mut [R],
        bits: &[u64],
        (choices, strings): (&[u64], &[R]),
    ) -> Result<()> {
        let peer = self.peer();
        let mut e: Vec<R> = recv_cells(&mut self.session, peer, share.len())?;
        let choices = &choices[..share.len().div_ceil(64)];
        let d: Vec<u64> = choices.iter().zip(bits).map(|(c, b)| c ^ b).collect();
        for_each_mask(choices, e.iter_mut().zip(strings), |c, (e, m_c)| *e = m_c.add(e.and(c)));
        for_each_mask(&d, share.iter_mut().zip(e), |d, (share, sum)| *share = share.add(signed(d, sum)));
        Ok(())
    }
}

impl<'a, R: Ring> Batch<'a, R> {
    fn with_capacity(segments: &'a [Segment], send: usize, receive: usize) -> Self {
        Self {
            segments,
            choices: Vec::with_capacity(receive / 64),
            chosen: Vec::with_capacity(receive),
            zero: Vec::with_capacity(send),
            difference: Vec::with_capacity(send),
        }
    }
}

/// Step 1 of R: appends c and m_c.
fn push_received<R: Ring>(
    hash: &CorrelationRobustHash,
    bits: &[u64],
    blocks: &[u128],
    choices: &mut Vec<u64>,
    chosen: &mut Vec<R>,
) {
    choices.extend_from_slice(bits);
    push_strings(hash, 0, blocks, chosen);
}

/// Step 1 of S: appends m_0 and m_0 - m_1.
fn push_sent<R: Ring>(
    hash: &CorrelationRobustHash,
    offset: u128,
    blocks: &[u128],
    zero: &mut Vec<R>,
    difference: &mut Vec<R>,
) {
    let from = zero.len();
    push_strings(hash, 0, blocks, zero);
    push_strings(hash, offset, blocks, difference);
    difference[from..].iter_mut().zip(&zero[from..]).for_each(|(m_1, m_0)| *m_1 = m_0.sub(*m_1));
}

/// Appends the hashes of blocks, each plus an offset.
fn push_strings<R: Ring>(hash: &CorrelationRobustHash, offset: u128, blocks: &[u128], out: &mut Vec<R>) {
    let mut strings = [0; PIECE];
    for blocks in blocks.chunks(PIECE) {
        let strings = &mut strings[..blocks.len()];
        hash.hash_to(blocks, offset, strings);
        out.extend(strings.iter().map(|&string| R::from_u128(string)));
    }
}

/// Calls `with` for every element, with all ones if its bit is one, else zero.
pub(super) fn for_each_mask<R: Ring, T>(bits: &[u64], elements: impl Iterator<Item = T>, mut with: impl FnMut(R, T)) {
    let (mut masks, mut elements) = ([0; 64], elements);
    for word in bits {
        packed::masks_of(slice::from_ref(word), &mut masks);
        // The compiler makes a branch of a product with a bit; of what is in this memory it knows nothing.
        for (&mask, element) in black_box(&mut masks).iter().zip(elements.by_ref()) {
            with(R::from_u128(i128::from(mask as i64) as u128), element);
        }
    }
}

/// x (1 - 2 bit), given all ones or zero for the bit.
pub(super) fn signed<R: Ring>(mask: R, x: R) -> R {
    x.sub(x.shl(1).and(mask))
}
