//! Multiplication over Z/2^k by Gilboa's method: inner products of shares.
//!
//! Functionality: out = sum over t of x_t y_t, element by element. Discloses nothing. A cross product x y of an x that node S knows and
//! a y that node R knows is the sum over the bits i of y of 2^i y_i x, each from one random OT: R sends d_i = c_i XOR y_i; S sends
//! e_i = m_0 - m_1 + x, of which only the low k - i bits matter, so that e_i and e_(k-i) share a ring element. As in
//! [`super::bit_product`], R takes (1 - 2 d_i)(m_c + c_i e_i) and S takes x d_i - (1 - 2 d_i) m_0, all times 2^i. One round.
//! Source: Gilboa, CRYPTO 1999, section 4.1; packing of Demmler, Schneider, Zohner, NDSS 2015 (ABY), section III.A.3.
//!
//! For each element, term and direction: k OTs, one ring element from the receiver and k/2 + 1 from the sender. Rounds: one a
//! batch of products, and those of making stock.

use tacit_math::Ring;

use super::batches::{Job, Segment, batches};
use super::{Share, Two};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

/// The ring elements that carry the masked differences of one product.
pub(super) fn packed_elements(bits: usize) -> usize {
    bits / 2 + 1
}

type Terms<'a, R> = [(&'a Share<Vec<R>>, &'a Share<Vec<R>>)];

/// What a segment keeps from OTs until the peer's message is here.
struct Kept<R> {
    choices: Vec<R>,
    strings: Vec<u128>,
    zero: Vec<u128>,
}

impl Two {
    pub(super) fn inner_products_of_vectors<R: Ring>(
        &mut self,
        terms: &[Vec<(&Share<Vec<R>>, &Share<Vec<R>>)>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        let rows = |pairs: &Terms<'_, R>| pairs.first().map_or(0, |(x, _)| x.0.len());
        let job = |pairs: &Vec<_>| Job { rows: rows(pairs), ots: pairs.len() * R::BITS as usize };
        let jobs: Vec<Job> = terms.iter().map(job).collect();
        let mut out: Vec<Vec<R>> = jobs.iter().map(|job| Vec::with_capacity(job.rows)).collect();
        for batch in batches(&jobs) {
            let need = batch.iter().map(|segment| jobs[segment.job].ots_of(segment.rows)).sum();
            self.stock.prepare(&mut self.session, [need, need])?;
            self.session.next_round();
            let peer = self.peer();
            let mut stream = Outgoing::new(&mut self.session, peer);
            let mut kept = Vec::new();
            for segment in &batch {
                kept.push(self.send_products(&terms[segment.job], segment, &mut stream)?);
            }
            stream.finish(&mut self.session)?;
            for (segment, kept) in batch.iter().zip(kept) {
                let products = self.finish_products(&terms[segment.job], segment, kept)?;
                out[segment.job].extend(products);
            }
        }
        Ok(out.into_iter().map(Share).collect())
    }

    fn send_products<R: Ring>(&mut self, terms: &Terms<'_, R>, at: &Segment, out: &mut Outgoing) -> Result<Kept<R>> {
        let bits = R::BITS as usize;
        let ots = (at.rows * terms.len() * bits).next_multiple_of(64);
        let (choices, strings) = self.stock.received(ots);
        let choices: Vec<R> = bytemuck::cast_slice(&choices)[..at.rows * terms.len()].to_vec();
        let flips: Vec<R> = choices.iter().zip(factors(terms, at)).map(|(&c, (_, y))| xor(c, y)).collect();
        out.push(&mut self.session, &flips)?;
        let [zero, one] = self.stock.sent(ots);
        let mut packed = vec![R::ZERO; packed_elements(bits)];
        for (p, (x, _)) in factors(terms, at).enumerate() {
            let range = p * bits..(p + 1) * bits;
            pack_differences(&zero[range.clone()], &one[range], x, &mut packed);
            out.push(&mut self.session, &packed)?;
        }
        Ok(Kept { choices, strings, zero })
    }

    fn finish_products<R: Ring>(&mut self, terms: &Terms<'_, R>, at: &Segment, kept: Kept<R>) -> Result<Vec<R>> {
        let (peer, bits) = (self.peer(), R::BITS as usize);
        let products = at.rows * terms.len();
        let theirs: Vec<R> = recv_cells(&mut self.session, peer, products)?;
        let packed: Vec<R> = recv_cells(&mut self.session, peer, products * packed_elements(bits))?;
        let mut out = vec![R::ZERO; at.rows];
        for (p, (x, y)) in factors(terms, at).enumerate() {
            let range = p * bits..(p + 1) * bits;
            let (packed, c) = (&packed[p * packed_elements(bits)..], kept.choices[p]);
            let received = receivers_share(&kept.strings[range.clone()], packed, c, xor(c, y));
            let sent = x.mul(theirs[p]).sub(signed_sum(kept.zero[range].iter().copied(), theirs[p]));
            let product = x.mul(y).add(received).add(sent);
            out[p / terms.len()] = out[p / terms.len()].add(product);
        }
        Ok(out)
    }
}

/// The factors of a segment, row by row.
fn factors<'a, R: Ring>(terms: &'a Terms<'a, R>, at: &Segment) -> impl Iterator<Item = (R, R)> + 'a {
    (at.start..at.start + at.rows).flat_map(move |row| terms.iter().map(move |(x, y)| (x.0[row], y.0[row])))
}

fn xor<R: Ring>(x: R, y: R) -> R {
    R::from_u128(x.to_u128() ^ y.to_u128())
}

/// e_i = m_0 - m_1 + x for every bit i: e_0, then e_j and above its k - j bits e_(k-j), then e_(k/2).
fn pack_differences<R: Ring>(zero: &[u128], one: &[u128], x: R, packed: &mut [R]) {
    let k = zero.len();
    let difference = |i: usize| R::from_u128(zero[i]).sub(R::from_u128(one[i])).add(x);
    packed[0] = difference(0);
    for (j, packed) in packed.iter_mut().enumerate().take(k / 2).skip(1) {
        let low = difference(j).to_u128() & ((1 << (k - j)) - 1);
        *packed = R::from_u128(low).add(difference(k - j).shl((k - j) as u32));
    }
    packed[k / 2] = difference(k / 2);
}

/// The sum over the bits of 2^i (1 - 2 d_i)(m_c + c_i e_i).
fn receivers_share<R: Ring>(strings: &[u128], packed: &[R], choices: R, flips: R) -> R {
    let k = strings.len();
    let c = choices.to_u128();
    // Bits above the low k - i of e_i do not matter.
    let masked = |i: usize| if i <= k / 2 { packed[i].to_u128() } else { packed[k - i].to_u128() >> i };
    let with_mask = (0..k).map(|i| strings[i].wrapping_add(masked(i) & (c >> i & 1).wrapping_neg()));
    signed_sum(with_mask, flips)
}

/// The sum over the bits of 2^i (1 - 2 d_i) v_i.
fn signed_sum<R: Ring>(values: impl Iterator<Item = u128>, flips: R) -> R {
    let d = flips.to_u128();
    values.enumerate().fold(R::ZERO, |sum, (i, value)| {
        let negative = (d >> i & 1).wrapping_neg();
        // -v = (v XOR -1) + 1.
        let value = R::from_u128((value ^ negative).wrapping_sub(negative));
        sum.add(value.shl(i as u32))
    })
}
