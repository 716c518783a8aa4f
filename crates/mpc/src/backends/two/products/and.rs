//! AND of planes, in groups with a common factor.
//!
//! Functionality: z_j = x_j AND y_j XOR base_j. Discloses nothing. For a group x y_1, ..., x y_k the cross products
//! x0 y1_j take one random OT a row with strings of k bits:
//!
//! 1. node 0 has a random bit c and the string m_c, node 1 has m_0 and m_1;
//! 2. node 0 sends d = c XOR x0, node 1 sends e = m_0 XOR m_1 XOR y1;
//! 3. node 0 takes m_c XOR c e = m_0 XOR c y1, node 1 takes m_0 XOR d y1: their sum is x0 y1.
//!
//! The same the other way round at the same time. d and e are masked by bits that their receiver does not know. With
//! k = 1 that is Beaver's multiplication with a triple of two random OTs (Asharov, Lindell, Schneider, Zohner, CCS
//! 2013, section 5.1). A common factor is as there in section 5.2 ("vector multiplication triples": Mohassel, Zhang,
//! S&P 2017).
//!
//! OTs: one a row and group in each direction, rows rounded up to words; from the stock, or streamed if they are many
//! and the link is fast ([`crate::backends::two::terms::streams`]). Rounds: 1, and those of making OTs. Each node sends
//! k + 1 bits a row and group.

use std::ops::Range;

use tacit_math::{CorrelationRobustHash, Plane, transpose};

use crate::Result;
use crate::backends::two::transfers::BATCH;
use crate::backends::two::{NODES, Share, Two, terms};
use crate::backends::wire::{Outgoing, recv_cells};
use crate::products::{Group, common_factors};

/// Blocks hashed at a time where only a bit of each is wanted: they stay in the first-level cache.
const PIECE: usize = 512;

/// What OTs leave to their receiver, as words of planes.
struct Received {
    /// c.
    choice: Vec<u64>,
    /// m_c, plane by plane.
    chosen: Vec<Vec<u64>>,
}

/// What OTs leave to their sender.
struct Sent {
    /// m_0.
    zero: Vec<Vec<u64>>,
    /// m_0 XOR m_1.
    difference: Vec<Vec<u64>>,
}

impl Two {
    pub(in crate::backends::two) fn and_planes(
        &mut self,
        x: &[&Share<Plane>],
        y: &[&Share<Plane>],
        base: &[Option<&Share<Plane>>],
    ) -> Result<Vec<Share<Plane>>> {
        assert!(x.len() == y.len() && x.len() == base.len(), "pairs of planes");
        let groups = common_factors(x, y);
        let sizes: Vec<_> =
            groups.iter().map(|group| (group.common(x, y).0.words().len(), group.outputs.len())).collect();
        // Step 1.
        let (received, mut sent) = self.random_strings(&sizes)?;
        self.session.next_round();
        let peer = self.peer();
        let mut out = Outgoing::masked(&mut self.session, peer);
        // Step 2: d for this node's common factor, e for its other factors.
        for (group, (received, sent)) in groups.iter().zip(received.iter().zip(&mut sent)) {
            out.push_masked(&mut self.session, &xor(&received.choice, group.common(x, y).0.words()))?;
            for (difference, other) in std::mem::take(&mut sent.difference).iter().zip(group.others(x, y)) {
                out.push_masked(&mut self.session, &xor(difference, other.0.words()))?;
            }
        }
        out.finish(&mut self.session)?;
        // Step 3.
        let mut products: Vec<Option<Share<Plane>>> = x.iter().map(|_| None).collect();
        for (group, random) in groups.iter().zip(received.into_iter().zip(sent)) {
            self.finish_group(group, random, (x, y, base), &mut products)?;
        }
        Ok(products.into_iter().map(|product| product.expect("every product is in a group")).collect())
    }

    /// Step 1: random OTs of both directions: each size is a number of words of rows and of bits of a string.
    fn random_strings(&mut self, sizes: &[(usize, usize)]) -> Result<(Vec<Received>, Vec<Sent>)> {
        let mut received: Vec<_> = sizes.iter().map(|&size| Received::with_capacity(size)).collect();
        let mut sent: Vec<_> = sizes.iter().map(|&size| Sent::with_capacity(size)).collect();
        let ots = 64 * sizes.iter().map(|(words, _)| words).sum::<usize>();
        if terms::streams(&self.terms, ots) {
            let mut places = [(); NODES].map(|()| Places::new(sizes));
            let [of_sent, of_received] = &mut places;
            self.stock.begin_streams(&mut self.session)?;
            self.session.next_round();
            self.stock.stream(
                &mut self.session,
                [ots; NODES],
                |hash, offset, zero| {
                    of_sent.take(zero.len(), |group, part| sent[group].push(hash, offset, &zero[part]));
                },
                |hash, choices, blocks| {
                    of_received.take(blocks.len(), |group, part| {
                        let choices = &choices[part.start / 64..part.end / 64];
                        received[group].push(hash, choices, &blocks[part]);
                    });
                },
            )?;
            return Ok((received, sent));
        }
        for (&(words, _), (received, sent)) in sizes.iter().zip(received.iter_mut().zip(&mut sent)) {
            for start in (0..words).step_by(BATCH / 64) {
                let ots = 64 * (words - start).min(BATCH / 64);
                self.stock.prepare(&mut self.session, [ots, ots])?;
                let (hash, choices, blocks) = self.stock.received_blocks(ots);
                received.push(hash, choices, blocks);
                let (hash, offset, zero) = self.stock.sent_blocks(ots);
                sent.push(hash, offset, zero);
            }
        }
        Ok((received, sent))
    }

    /// Step 3: receives the peer's d and e of a group and computes its products.
    fn finish_group(
        &mut self,
        group: &Group,
        (received, sent): (Received, Sent),
        (x, y, base): (&[&Share<Plane>], &[&Share<Plane>], &[Option<&Share<Plane>>]),
        products: &mut [Option<Share<Plane>>],
    ) -> Result<()> {
        let (peer, common) = (self.peer(), &group.common(x, y).0);
        let words = common.words().len();
        let d: Vec<u64> = recv_cells(&mut self.session, peer, words)?;
        // What multiplies this node's other factors: its own part of the common one, and the peer's d.
        let factor = xor(&d, common.words());
        for (j, (&(k, _), other)) in group.outputs.iter().zip(group.others(x, y)).enumerate() {
            let e: Vec<u64> = recv_cells(&mut self.session, peer, words)?;
            // As node 1 m_0 XOR d y, as node 0 m_c XOR c e, and the product of this node's own components.
            let parts = sent.zero[j].iter().zip(&received.chosen[j]).map(|(m_0, m_c)| m_0 ^ m_c);
            let mut product: Vec<u64> = parts.collect();
            add_product(&mut product, &factor, other.0.words());
            add_product(&mut product, &received.choice, &e);
            if let Some(base) = base[k] {
                product.iter_mut().zip(base.0.words()).for_each(|(a, b)| *a ^= b);
            }
            products[k] = Some(Share(Plane::from_words(common.rows(), product)));
        }
        Ok(())
    }
}

impl Received {
    fn with_capacity((words, width): (usize, usize)) -> Self {
        Self { choice: Vec::with_capacity(words), chosen: planes(words, width) }
    }

    /// Appends what correlated OTs leave, whole words of them.
    fn push(&mut self, hash: &CorrelationRobustHash, choices: &[u64], blocks: &[u128]) {
        self.choice.extend_from_slice(choices);
        match &mut self.chosen[..] {
            [chosen] => hash.hash_bits(blocks, 0, chosen),
            [first, second] => hash.hash_two_bits(blocks, 0, [first, second]),
            chosen => append_planes(hash, blocks, 0, chosen),
        }
    }
}

impl Sent {
    fn with_capacity((words, width): (usize, usize)) -> Self {
        Self { zero: planes(words, width), difference: planes(words, width) }
    }

    /// Appends what correlated OTs leave, whole words of them.
    fn push(&mut self, hash: &CorrelationRobustHash, offset: u128, blocks: &[u128]) {
        let from = self.zero[0].len();
        match (&mut self.zero[..], &mut self.difference[..]) {
            ([zero], [difference]) => {
                for piece in blocks.chunks(PIECE) {
                    hash.hash_bits(piece, 0, zero);
                    hash.hash_bits(piece, offset, difference);
                }
            }
            ([zero, other_zero], [difference, other_difference]) => {
                for piece in blocks.chunks(PIECE) {
                    hash.hash_two_bits(piece, 0, [zero, other_zero]);
                    hash.hash_two_bits(piece, offset, [difference, other_difference]);
                }
            }
            (zero, difference) => {
                append_planes(hash, blocks, 0, zero);
                append_planes(hash, blocks, offset, difference);
            }
        }
        for (difference, zero) in self.difference.iter_mut().zip(&self.zero) {
            difference[from..].iter_mut().zip(&zero[from..]).for_each(|(m_1, m_0)| *m_1 ^= m_0);
        }
    }
}

fn planes(words: usize, width: usize) -> Vec<Vec<u64>> {
    (0..width).map(|_| Vec::with_capacity(words)).collect()
}

/// Appends the low bits of the hashes of blocks, each plus an offset, to as many planes.
fn append_planes(hash: &CorrelationRobustHash, blocks: &[u128], offset: u128, planes: &mut [Vec<u64>]) {
    let mut strings: Vec<u128> = blocks.iter().map(|block| block ^ offset).collect();
    hash.hash_blocks(&mut strings);
    let new = transpose::planes_of_wide_rows(&strings, planes.len());
    for (plane, new) in planes.iter_mut().zip(new) {
        plane.extend_from_slice(new.words());
    }
}

/// To which group OTs go that come in a row, group after group.
struct Places {
    left: Vec<usize>,
    group: usize,
}

impl Places {
    fn new(sizes: &[(usize, usize)]) -> Self {
        Self { left: sizes.iter().map(|(words, _)| 64 * words).collect(), group: 0 }
    }

    /// Gives every group its part of the next `count`.
    fn take(&mut self, count: usize, mut give: impl FnMut(usize, Range<usize>)) {
        let mut start = 0;
        while start < count {
            let left = &mut self.left[self.group];
            let part = start..start + (count - start).min(*left);
            *left -= part.len();
            start = part.end;
            if !part.is_empty() {
                give(self.group, part);
            }
            self.group += usize::from(*left == 0);
        }
    }
}

fn xor(x: &[u64], y: &[u64]) -> Vec<u64> {
    x.iter().zip(y).map(|(x, y)| x ^ y).collect()
}

fn add_product(sum: &mut [u64], x: &[u64], y: &[u64]) {
    for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
        *sum ^= x & y;
    }
}
