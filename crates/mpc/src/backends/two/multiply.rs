//! Multiplication over Z/2^k by Gilboa's method: inner products of shares.
//!
//! Functionality: out = sum over t of x_t y_t, element by element. Discloses nothing. A cross product x y of an x that node S knows and
//! a y that node R knows takes k random OTs. Their choices c_i are the bits of a random number a that R knows. S sends
//! e_i = m_0 - m_1 + x for each, of which only the low k - i bits matter, so that e_i and e_(k-i) share a ring element. The sum of the
//! 2^i (m_c + c_i e_i) is then x a more than that of the 2^i m_0: R takes the one and S minus the other. R also sends d = y - a, and S adds x d.
//! d is masked by a, e_i by the string that R lacks. One round.
//! Source: Gilboa, CRYPTO 1999, section 4.1; packing of Demmler, Schneider, Zohner, NDSS 2015 (ABY), section III.A.3.
//! **Departures** the random number is corrected once, by a difference, instead of bit by bit.
//!
//! For each element, term and direction: k OTs, one ring element from the receiver and k/2 + 1 from the sender; OTs of a segment of rows are rounded up
//! to words. They come from the stock, or are streamed if they are many and the declared link is fast ([`streams`]). Rounds: one a batch of
//! products, and those of making stock; streamed, one more in all, as a batch is streamed in the round in which the one before is multiplied.

use tacit_math::{CrHash, Ring};

use super::batches::{Job, Segment, batches, need};
use super::stock::streams;
use super::{NODES, Share, Two};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

/// The ring elements that carry the masked differences of one product.
pub(super) fn packed_elements(bits: usize) -> usize {
    bits / 2 + 1
}

/// Blocks hashed at a time, those of whole products.
const PIECE: usize = 128;

type Terms<'a, R> = Vec<(&'a Share<Vec<R>>, &'a Share<Vec<R>>)>;

/// What OTs leave to their receiver, for each product.
struct Received<R> {
    /// Its random number.
    random: Vec<R>,
    /// The sum of its weighted strings.
    sums: Vec<R>,
}

/// What OTs leave to their sender, for each product.
struct Sent<R> {
    /// The masked differences.
    packed: Vec<R>,
    /// The sum of its weighted first strings.
    sums: Vec<R>,
}

/// A batch before its messages.
struct Batch<'a, R> {
    segments: &'a [Segment],
    /// The factors of its products; products of zeros fill up words of OTs.
    factors: Vec<(R, R)>,
    received: Received<R>,
    sent: Sent<R>,
}

impl Two {
    pub(super) fn inner_products_of_vectors<R: Ring>(&mut self, terms: &[Terms<'_, R>]) -> Result<Vec<Share<Vec<R>>>> {
        let rows = |pairs: &Terms<'_, R>| pairs.first().map_or(0, |(x, _)| x.0.len());
        let job = |pairs: &Terms<'_, R>| Job { rows: rows(pairs), ots: pairs.len() * R::BITS as usize };
        let jobs: Vec<Job> = terms.iter().map(job).collect();
        let mut out: Vec<Vec<R>> = jobs.iter().map(|job| Vec::with_capacity(job.rows)).collect();
        let batches = batches(&jobs);
        if streams::streams(self.link, batches.iter().map(|batch| need(&jobs, batch)).sum()) {
            self.stock.begin_streams(&mut self.session)?;
            let mut ahead: Option<Batch<'_, R>> = None;
            for segments in batches.iter().map(Some).chain([None]) {
                self.session.next_round();
                if let Some(batch) = ahead.take() {
                    self.multiply(batch, terms, &jobs, &mut out)?;
                }
                ahead = segments.map(|segments| self.streamed_batch(segments, terms, &jobs)).transpose()?;
            }
        } else {
            for segments in &batches {
                let batch = self.batch_of_stock(segments, terms, &jobs)?;
                self.session.next_round();
                self.multiply(batch, terms, &jobs, &mut out)?;
            }
        }
        Ok(out.into_iter().map(Share).collect())
    }

    fn streamed_batch<'a, R: Ring>(
        &mut self,
        segments: &'a [Segment],
        terms: &[Terms<'_, R>],
        jobs: &[Job],
    ) -> Result<Batch<'a, R>> {
        let mut batch = Batch::new(segments, terms, jobs);
        let mut x = batch.factors.iter().map(|&(x, _)| x);
        let (sent, received) = (&mut batch.sent, &mut batch.received);
        self.stock.stream(
            &mut self.session,
            [need(jobs, segments); NODES],
            |hash, offset, zero| sent.push(hash, offset, zero, &mut x),
            |hash, choices, blocks| received.push(hash, choices, blocks),
        )?;
        Ok(batch)
    }

    fn batch_of_stock<'a, R: Ring>(
        &mut self,
        segments: &'a [Segment],
        terms: &[Terms<'_, R>],
        jobs: &[Job],
    ) -> Result<Batch<'a, R>> {
        let mut batch = Batch::new(segments, terms, jobs);
        let ots = need(jobs, segments);
        self.stock.prepare(&mut self.session, [ots; NODES])?;
        let (hash, offset, zero) = self.stock.sent_blocks(ots);
        batch.sent.push(hash, offset, zero, &mut batch.factors.iter().map(|&(x, _)| x));
        let (hash, choices, blocks) = self.stock.received_blocks(ots);
        batch.received.push(hash, choices, blocks);
        Ok(batch)
    }

    /// Exchanges the messages of a batch and appends its sums of products.
    fn multiply<R: Ring>(
        &mut self,
        batch: Batch<'_, R>,
        terms: &[Terms<'_, R>],
        jobs: &[Job],
        out: &mut [Vec<R>],
    ) -> Result<()> {
        let (peer, packed) = (self.peer(), packed_elements(R::BITS as usize));
        let Batch { segments, factors, received, sent } = batch;
        let mut stream = Outgoing::new(&mut self.session, peer);
        let differences: Vec<R> = factors.iter().zip(&received.random).map(|((_, y), &a)| y.sub(a)).collect();
        stream.push(&mut self.session, &differences)?;
        stream.push(&mut self.session, &sent.packed)?;
        stream.finish(&mut self.session)?;
        let differences: Vec<R> = recv_cells(&mut self.session, peer, factors.len())?;
        let masked: Vec<R> = recv_cells(&mut self.session, peer, factors.len() * packed)?;
        let with_masks = received.random.iter().zip(&received.sums).zip(masked.chunks_exact(packed));
        let cross = with_masks.zip(sent.sums.iter().zip(&differences));
        let mut products = factors.iter().zip(cross).map(|(&(x, y), (((&a, &sum), masked), (&zero, &d)))| {
            let received = sum.add(chosen(masked, a));
            x.mul(y.add(d)).add(received).sub(zero)
        });
        for segment in segments {
            let terms = terms[segment.job].len();
            let sums = (0..segment.rows).map(|_| products.by_ref().take(terms).fold(R::ZERO, R::add));
            out[segment.job].extend(sums);
            let with_zeros = jobs[segment.job].ots_of(segment.rows) / R::BITS as usize;
            products.by_ref().take(with_zeros - segment.rows * terms).for_each(drop);
        }
        Ok(())
    }
}

impl<'a, R: Ring> Batch<'a, R> {
    fn new(segments: &'a [Segment], terms: &[Terms<'_, R>], jobs: &[Job]) -> Self {
        let count = need(jobs, segments) / R::BITS as usize;
        let mut factors = Vec::with_capacity(count);
        for at in segments {
            let end = factors.len() + jobs[at.job].ots_of(at.rows) / R::BITS as usize;
            for row in at.start..at.start + at.rows {
                factors.extend(terms[at.job].iter().map(|(x, y)| (x.0[row], y.0[row])));
            }
            factors.resize(end, (R::ZERO, R::ZERO));
        }
        let vector = || Vec::with_capacity(count);
        let packed = Vec::with_capacity(count * packed_elements(R::BITS as usize));
        let received = Received { random: vector(), sums: vector() };
        Self { segments, factors, received, sent: Sent { packed, sums: vector() } }
    }
}

impl<R: Ring> Received<R> {
    /// Appends what the OTs of whole products leave.
    fn push(&mut self, hash: &CrHash, choices: &[u64], blocks: &[u128]) {
        let bytes: &[u8] = bytemuck::cast_slice(choices);
        self.random.extend(bytes.chunks_exact(size_of::<R>()).map(bytemuck::pod_read_unaligned::<R>));
        let mut strings = [0; PIECE];
        for blocks in blocks.chunks(PIECE) {
            let strings = &mut strings[..blocks.len()];
            hash.hash_to(blocks, 0, strings);
            self.sums.extend(strings.chunks_exact(R::BITS as usize).map(weighted_sum::<R>));
        }
    }
}

impl<R: Ring> Sent<R> {
    /// Appends what the OTs of whole products leave whose first factors are the next x.
    fn push(&mut self, hash: &CrHash, offset: u128, blocks: &[u128], x: &mut impl Iterator<Item = R>) {
        let k = R::BITS as usize;
        let mut strings = [[0; PIECE]; 2];
        for blocks in blocks.chunks(PIECE) {
            let [zero, one] = strings.each_mut().map(|strings| &mut strings[..blocks.len()]);
            hash.hash_to(blocks, 0, zero);
            hash.hash_to(blocks, offset, one);
            for ((zero, one), x) in zero.chunks_exact(k).zip(one.chunks_exact(k)).zip(x.by_ref()) {
                self.sums.push(weighted_sum(zero));
                pack_differences(zero, one, x, &mut self.packed);
            }
        }
    }
}

/// The sum of the 2^i m_i.
fn weighted_sum<R: Ring>(strings: &[u128]) -> R {
    strings.iter().zip(0..).fold(R::ZERO, |sum, (&string, i)| sum.add(R::from_u128(string).shl(i)))
}

/// Appends e_i = m_0 - m_1 + x for every bit i: e_0, then e_j and above its k - j bits e_(k-j), then e_(k/2).
fn pack_differences<R: Ring>(zero: &[u128], one: &[u128], x: R, packed: &mut Vec<R>) {
    let k = zero.len();
    let difference = |i: usize| R::from_u128(zero[i]).sub(R::from_u128(one[i])).add(x);
    packed.push(difference(0));
    packed.extend((1..k / 2).map(|j| {
        let below = R::ONE.shl((k - j) as u32).sub(R::ONE);
        difference(j).and(below).add(difference(k - j).shl((k - j) as u32))
    }));
    packed.push(difference(k / 2));
}

/// The sum of the 2^i e_i over the bits that are set in a number.
fn chosen<R: Ring>(packed: &[R], number: R) -> R {
    let k = R::BITS;
    let if_set = |i: u32| R::ZERO.sub(number.bit(i));
    let mut sum = R::ZERO;
    // Above the low k - i bits of e_i is what 2^i shifts out.
    for (&e, i) in packed.iter().zip(0..) {
        sum = sum.add(e.shl(i).and(if_set(i)));
    }
    for (&e, i) in packed[1..packed.len() - 1].iter().rev().zip(k / 2 + 1..k) {
        sum = sum.add(e.and(if_set(i).shl(i)));
    }
    sum
}
