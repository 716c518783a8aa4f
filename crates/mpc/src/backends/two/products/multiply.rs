//! Multiplication over Z/2^k: inner products of shares, by oblivious linear evaluation if there are many products and
//! by transfers if there are few.
//!
//! Functionality: out = sum over t of x_t y_t, element by element. Discloses nothing. Of a product of shares each node
//! computes what it knows alone; the cross products x_0 y_1 and x_1 y_0 are shared between them.
//!
//! *Many*, [`strategy::MANY`] products or more. A number of 128 bits is l + 2^64 h, and takes three products: l l', and
//! l h' and h l' times 2^64.
//!
//! 1. [`tacit_ot::ole`] gives shares of the signed 64-bit products, up to a public offset T wherever both nodes' wrap
//!    bits are one.
//! 2. A product of bits and elements ([`super::bit_product`]) adds that offset.
//! 3. The products of a number of 128 bits are added up.
//!
//! Bytes and rounds are those of [`tacit_ot::ole::cost`], once those of its setup, and those of the products of bits.
//!
//! *Few*: a cross product x y of an x that node S knows and a y that node R knows takes k random OTs (Gilboa).
//!
//! 1. Their choices c_i are the bits of a random number a that R knows; R has m_c of each, S has m_0 and m_1.
//! 2. R sends d = y - a. S sends e_i = m_0 - m_1 + x for each OT, of which only the low k - i bits matter, so that e_i
//!    and e_(k-i) share a ring element.
//! 3. R takes the sum of the 2^i (m_c + c_i e_i), which is x a more than that of the 2^i m_0. S takes x d minus that
//!    one. Both sum up to x a + x d = x y.
//!
//! d is masked by a, e_i by the string that R lacks. One round, and those of making stock. For each product and
//! direction k OTs, one ring element from the receiver and k/2 + 1 from the sender; OTs are rounded up to words.
//! Source: Gilboa, CRYPTO 1999, section 4.1; packing of Demmler, Schneider, Zohner, NDSS 2015 (ABY), section III.A.3.
//! **Departures** the random number is corrected once, by a difference, instead of bit by bit.

use std::ops::Range;

use tacit_math::{CorrelationRobustHash, Ring};
use tacit_ot::ole::{CrossProducts, Ole};

use super::bit_product::BitProduct;
use crate::Result;
use crate::backends::two::transfers::Stock;
use crate::backends::two::{NODES, Share, Two, strategy};
use crate::backends::wire::{Outgoing, recv_cells};

/// The OTs of each direction that `products` products of `bits` bits take: whole words of choices.
pub(in crate::backends::two) fn transfers(products: usize, bits: usize) -> usize {
    (products * bits).next_multiple_of(64)
}

/// The ring elements that carry the masked differences of one product.
pub(in crate::backends::two) fn packed_elements(bits: usize) -> usize {
    bits / 2 + 1
}

/// Blocks hashed at a time, those of whole products.
const PIECE: usize = 128;

/// Columns of factors, whose products are made one behind the other.
type Pairs<'a, R> = [(&'a [R], &'a [R])];

impl Two {
    pub(in crate::backends::two) fn inner_products_of_vectors<R: Ring>(
        &mut self,
        terms: &[Vec<(&Share<Vec<R>>, &Share<Vec<R>>)>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        let pairs: Vec<_> = terms.iter().flatten().map(|(x, y)| (&x.0[..], &y.0[..])).collect();
        let products = pairs.iter().map(|(x, _)| x.len()).sum();
        let cross: Vec<R> = match products {
            0 => vec![],
            _ if strategy::evaluates(products) => self.evaluated(&pairs)?,
            _ => self.transferred(&pairs, products)?,
        };
        let mut cross = &cross[..];
        let inner_product = |terms: &Vec<(&Share<Vec<R>>, &Share<Vec<R>>)>| {
            let mut sums = vec![R::ZERO; terms.first().map_or(0, |(x, _)| x.0.len())];
            for (x, y) in terms {
                let (now, later) = cross.split_at(sums.len());
                let products = x.0.iter().zip(&y.0).zip(now).map(|((&x, &y), &cross)| x.mul(y).add(cross));
                sums.iter_mut().zip(products).for_each(|(sum, product)| *sum = sum.add(product));
                cross = later;
            }
            Share(sums)
        };
        Ok(terms.iter().map(inner_product).collect())
    }

    /// The state of oblivious linear evaluation, to be put back; keys are made for the first.
    pub(super) fn evaluator(&mut self) -> Result<Ole> {
        if let Some(ole) = self.ole.take() {
            return Ok(ole);
        }
        let peer = self.peer();
        self.session.enter("keys");
        let keys = Ole::setup(&mut self.session, peer);
        self.session.leave();
        Ok(keys?)
    }

    /// Shares of the cross products, from evaluations.
    fn evaluated<R: Ring>(&mut self, pairs: &Pairs<'_, R>) -> Result<Vec<R>> {
        let mut ole = self.evaluator()?;
        let mut columns = [Vec::new(), Vec::new()];
        for &(x, y) in pairs {
            let halves: &[[Half<R>; 2]] = match strategy::evaluations(R::BITS as usize) {
                1 => &[[low, low]],
                _ => &[[low, low], [low, high], [high, low]],
            };
            for [of_x, of_y] in halves {
                columns[0].push((x, *of_x));
                columns[1].push((y, *of_y));
            }
        }
        let count = columns[0].iter().map(|(column, _)| column.len()).sum();
        let [x, y] = columns.each_ref().map(|columns| |range| numbers(columns, range));
        // Step 1.
        let CrossProducts { shares, bits, wraps } = ole.cross_products(&mut self.session, count, x, y)?;
        self.ole = Some(ole);
        Stock::note(&self.session, "shares", &shares);
        Stock::note(&self.session, "bits", &bits);
        Stock::note(&self.session, "wraps", &wraps);
        // Step 2.
        let wraps = BitProduct { rows: count, bits: Some(&bits), elements: Some(wraps) };
        let mut products: Vec<R> = self.bit_products(&[wraps])?.pop().expect("one vector for one");
        products.iter_mut().zip(shares).for_each(|(product, share)| *product = product.add(share));
        if strategy::evaluations(R::BITS as usize) == 1 {
            return Ok(products);
        }
        // Step 3.
        let mut out = Vec::with_capacity(count / 3);
        let mut rest = &products[..];
        for (x, _) in pairs {
            let (now, later) = rest.split_at(3 * x.len());
            let [lows, mixed, others] = [0, 1, 2].map(|i| &now[i * x.len()..(i + 1) * x.len()]);
            let high = mixed.iter().zip(others).map(|(&a, &b)| a.add(b).shl(64));
            out.extend(lows.iter().zip(high).map(|(&low, high)| low.add(high)));
            rest = later;
        }
        Ok(out)
    }

    /// Shares of the cross products, from OTs.
    fn transferred<R: Ring>(&mut self, pairs: &Pairs<'_, R>, products: usize) -> Result<Vec<R>> {
        let (peer, bits) = (self.peer(), R::BITS as usize);
        let (ots, packed) = (transfers(products, bits), packed_elements(bits));
        let mut factors: Vec<(R, R)> =
            pairs.iter().flat_map(|(x, y)| x.iter().copied().zip(y.iter().copied())).collect();
        // Products of zeros fill up the last word.
        factors.resize(ots / bits, (R::ZERO, R::ZERO));
        self.stock.prepare(&mut self.session, [ots; NODES])?;
        // Step 1, as S of the first factors and as R of the second ones.
        let (hash, offset, zero) = self.stock.sent_blocks(ots);
        let sent = Sent::new(hash, offset, zero, factors.iter().map(|&(x, _)| x));
        let (hash, choices, blocks) = self.stock.received_blocks(ots);
        let received = Received::new(hash, choices, blocks);
        self.session.next_round();
        let mut stream = Outgoing::masked(&mut self.session, peer);
        // Step 2: d, and the e_i.
        let d: Vec<R> = factors.iter().zip(&received.random).map(|((_, y), &a)| y.sub(a)).collect();
        stream.push_masked(&mut self.session, &d)?;
        stream.push_masked(&mut self.session, &sent.packed)?;
        stream.finish(&mut self.session)?;
        // Step 3: as R the sum of the 2^i (m_c + c_i e_i), as S x d less that of the 2^i m_0.
        let d: Vec<R> = recv_cells(&mut self.session, peer, factors.len())?;
        let e: Vec<R> = recv_cells(&mut self.session, peer, factors.len() * packed)?;
        let of_receiver = received.random.iter().zip(&received.sums).zip(e.chunks_exact(packed));
        let cross = of_receiver.zip(sent.sums.iter().zip(&d));
        let shares = factors.iter().zip(cross).map(|(&(x, _), (((&a, &sum_of_m_c), e), (&sum_of_m_0, &d)))| {
            let received = sum_of_m_c.add(chosen(e, a));
            x.mul(d).add(received).sub(sum_of_m_0)
        });
        Ok(shares.take(products).collect())
    }
}

/// A signed number of 64 bits in an element.
type Half<R> = fn(R) -> i64;

/// That of the low 64 bits.
fn low<R: Ring>(x: R) -> i64 {
    x.to_u128() as i64
}

/// What is above it, modulo 2^64.
fn high<R: Ring>(x: R) -> i64 {
    (x.to_u128().wrapping_sub(low(x) as u128) >> 64) as i64
}

/// Some of the numbers in columns, one behind the other.
fn numbers<R: Ring>(columns: &[(&[R], Half<R>)], range: Range<usize>) -> Vec<i64> {
    let mut out = Vec::with_capacity(range.len());
    let mut first = 0;
    for &(column, half) in columns {
        let place = |at: usize| at.saturating_sub(first).min(column.len());
        out.extend(column[place(range.start)..place(range.end)].iter().map(|&x| half(x)));
        first += column.len();
    }
    out
}

/// What OTs leave to their receiver, for each product.
struct Received<R> {
    /// a.
    random: Vec<R>,
    /// The sum of the 2^i m_c.
    sums: Vec<R>,
}

impl<R: Ring> Received<R> {
    fn new(hash: &CorrelationRobustHash, choices: &[u64], blocks: &[u128]) -> Self {
        let bytes: &[u8] = bytemuck::cast_slice(choices);
        let random = bytes.chunks_exact(size_of::<R>()).map(bytemuck::pod_read_unaligned::<R>).collect();
        let mut sums = Vec::with_capacity(blocks.len() / R::BITS as usize);
        let mut strings = [0; PIECE];
        for blocks in blocks.chunks(PIECE) {
            let strings = &mut strings[..blocks.len()];
            hash.hash_to(blocks, 0, strings);
            sums.extend(strings.chunks_exact(R::BITS as usize).map(weighted_sum::<R>));
        }
        Self { random, sums }
    }
}

/// What OTs leave to their sender, for each product.
struct Sent<R> {
    /// The e_i, two to a ring element.
    packed: Vec<R>,
    /// The sum of the 2^i m_0.
    sums: Vec<R>,
}

impl<R: Ring> Sent<R> {
    /// Of products whose first factors are x.
    fn new(hash: &CorrelationRobustHash, offset: u128, blocks: &[u128], mut x: impl Iterator<Item = R>) -> Self {
        let k = R::BITS as usize;
        let products = blocks.len() / k;
        let mut out =
            Self { packed: Vec::with_capacity(products * packed_elements(k)), sums: Vec::with_capacity(products) };
        let mut strings = [[0; PIECE]; 2];
        for blocks in blocks.chunks(PIECE) {
            let [zero, one] = strings.each_mut().map(|strings| &mut strings[..blocks.len()]);
            hash.hash_to(blocks, 0, zero);
            hash.hash_to(blocks, offset, one);
            for ((zero, one), x) in zero.chunks_exact(k).zip(one.chunks_exact(k)).zip(x.by_ref()) {
                out.sums.push(weighted_sum(zero));
                pack_differences(zero, one, x, &mut out.packed);
            }
        }
        out
    }
}

/// The sum of the 2^i m_i.
pub(in crate::backends::two) fn weighted_sum<R: Ring>(strings: &[u128]) -> R {
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
pub(in crate::backends::two) fn chosen<R: Ring>(packed: &[R], number: R) -> R {
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

#[cfg(test)]
mod tests {
    use super::{high, low, numbers};

    #[test]
    fn halves_are_signed_and_make_up_the_number() {
        for x in [0, 1, u128::MAX, 1 << 63, (1 << 64) - 1, 1 << 64, 3 << 126, 0x8000_0000_0000_0000_8000_0000_0000_0000]
        {
            let product = (low(x) as u128).wrapping_add((high(x) as u128) << 64);
            assert_eq!(product, x);
        }
        assert_eq!((low(u32::MAX), low(u64::MAX)), (i64::from(u32::MAX), -1));
    }

    #[test]
    fn ranges_go_over_columns() {
        let (a, b) = ([1_u64, 2, 3], [4_u64, 5]);
        let columns = [(&a[..], low::<u64> as fn(u64) -> i64), (&[], low), (&b, |x| -low(x))];
        assert_eq!(numbers(&columns, 1..4), [2, 3, -4]);
        assert_eq!(numbers(&columns, 3..5), [-4, -5]);
        assert!(numbers(&columns, 0..0).is_empty());
    }
}
