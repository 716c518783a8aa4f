//! One of several shared ring elements, chosen by a shared digit of w = [`WIDTH`] bits.
//!
//! Functionality: shares of v_t for the digit t of each row, given shares of v_1, v_2, ...; v_0 = 0. Discloses nothing.
//! A node (the sender) has the components u_t of the v_t and a part s of the digit, the other one (the receiver) the
//! part r. The receiver is to look up u_(r XOR s).
//!
//! 1. A random lookup gives the sender a table m of 2^w random elements, the receiver a random place a and m_a.
//! 2. The receiver sends d = a XOR r.
//! 3. With T_j = u_(j XOR d XOR s) the sender keeps k = T_0 - m_0 and sends T_j - m_j - k for every place j but 0.
//! 4. The receiver adds what it got for its a, if that is not 0, to m_a. Both sum up to T_a, the element that was
//!    meant.
//!
//! d is masked by a, what is sent by elements of m that the receiver lacks. The same for the other node's components at
//! the same time.
//!
//! It replaces a product of a bit and an element for every v_t ([`crate::backends::two::products::bit_product`]), which
//! takes 2^w - 1 OTs in each direction for the same bytes.
//!
//! Lookups: one a row in each direction, rows rounded up to words. Rounds: 2, and those of making lookups. Each node
//! sends w bits and 2^w - 1 elements a row.
//!
//! Source: as [`super::conjunction`], with strings of a ring element: Beaver, "Precomputing Oblivious Transfer" (CRYPTO
//! 1995).

use std::hint::black_box;

use tacit_math::plane::words_for;
use tacit_math::{Plane, Ring};
use tacit_ot::silent::lookup::{LOOKUP_STRINGS, WIDTH};

use super::ENTRIES;
use crate::Result;
use crate::backends::two::transfers::Elements;
use crate::backends::two::{NODES, Share, Two};
use crate::backends::wire::{Outgoing, recv_cells};

/// Rows whose elements are sent or received at a time.
const PIECE: usize = 512;

impl Two {
    /// This node's shares of the elements that the digits choose; `factors[t - 1]` are its components of v_t.
    pub(in crate::backends::two) fn chosen<R: Ring>(
        &mut self,
        digit: &[&Share<Plane>],
        factors: &[&[R]],
    ) -> Result<Vec<R>> {
        assert!(digit.len() == WIDTH && factors.len() == ENTRIES, "an element for every digit but zero");
        let (rows, peer) = (factors[0].len(), self.peer());
        let words = words_for(rows);
        // Step 1.
        let random: Elements<R> = self.stock.elements(&mut self.session, [64 * words; NODES])?;
        self.session.next_round();
        let mut stream = Outgoing::masked(&mut self.session, peer);
        // Step 2.
        for (place, plane) in random.places.iter().zip(digit) {
            let d: Vec<u64> = place.iter().zip(plane.0.words()).map(|(a, r)| a ^ r).collect();
            stream.push_masked(&mut self.session, &d)?;
        }
        stream.finish(&mut self.session)?;
        let d: Vec<u64> = recv_cells(&mut self.session, peer, WIDTH * words)?;
        // Step 3 as the sender, then step 4 as the receiver: k, m_a and the entry for a are added up.
        let mut shares = self.send_elements(digit, factors, &random, &d)?;
        for (piece, shares) in shares.chunks_mut(PIECE).enumerate() {
            let entries: Vec<R> = recv_cells(&mut self.session, peer, ENTRIES * shares.len())?;
            for (i, (share, entries)) in shares.iter_mut().zip(entries.as_chunks::<ENTRIES>().0).enumerate() {
                let row = piece * PIECE + i;
                let a = (0..WIDTH).fold(0, |a, bit| a | bit_of(&random.places[bit], row) << bit);
                let is_a: [u64; ENTRIES] = std::array::from_fn(|at| ones(a ^ (at as u64 + 1)));
                let entry = entries
                    .iter()
                    .zip(black_box(&is_a))
                    .fold(R::ZERO, |sum, (entry, &is_a)| sum.add(entry.and(mask(is_a))));
                let m_a = random.found[row];
                *share = share.add(m_a).add(entry);
            }
        }
        Ok(shares)
    }

    /// Step 3: the sender's part once it has d; its shares.
    fn send_elements<R: Ring>(
        &mut self,
        digit: &[&Share<Plane>],
        factors: &[&[R]],
        random: &Elements<R>,
        d: &[u64],
    ) -> Result<Vec<R>> {
        let (rows, peer) = (factors[0].len(), self.peer());
        let words = words_for(rows);
        self.session.next_round();
        let mut stream = Outgoing::masked(&mut self.session, peer);
        let (mut kept, mut message) = (Vec::with_capacity(rows), Vec::with_capacity(ENTRIES * PIECE));
        for first in (0..rows).step_by(PIECE) {
            message.clear();
            let piece = random.tables.iter().enumerate().take(rows.min(first + PIECE)).skip(first);
            for (row, m) in piece {
                // u_t, and then T_j: what was at j XOR d XOR s is at j.
                let mut table: [R; LOOKUP_STRINGS] =
                    std::array::from_fn(|t| if t == 0 { R::ZERO } else { factors[t - 1][row] });
                let exchanged: [u64; WIDTH] = std::array::from_fn(|bit| {
                    (bit_of(digit[bit].0.words(), row) ^ bit_of(&d[bit * words..], row)).wrapping_neg()
                });
                for (bit, &exchanged) in black_box(&exchanged).iter().enumerate() {
                    exchange(&mut table, bit, mask(exchanged));
                }
                let masked: [R; LOOKUP_STRINGS] = std::array::from_fn(|j| table[j].sub(m[j]));
                let k = masked[0];
                message.extend(masked[1..].iter().map(|entry| entry.sub(k)));
                kept.push(k);
            }
            stream.push_masked(&mut self.session, &message)?;
        }
        stream.finish(&mut self.session)?;
        Ok(kept)
    }
}

fn bit_of(words: &[u64], row: usize) -> u64 {
    words[row / 64] >> (row % 64) & 1
}

/// All ones for zero, and zero for other numbers below 2^63.
fn ones(number: u64) -> u64 {
    (number.wrapping_sub(1) >> 63).wrapping_neg()
}

/// All ones or zero as a ring element. The compiler makes a branch of what it knows to be one of both: masks come from
/// memory of which it knows nothing.
fn mask<R: Ring>(mask: u64) -> R {
    R::from_u128(i128::from(mask as i64) as u128)
}

/// Entries whose places differ in one bit change places where the mask is all ones and not zero; the same is done in
/// either case.
pub(in crate::backends::two) fn exchange<R: Ring>(table: &mut [R; LOOKUP_STRINGS], bit: usize, mask: R) {
    for low in (0..LOOKUP_STRINGS).filter(|place| place >> bit & 1 == 0) {
        let high = low | 1 << bit;
        let change = table[high].sub(table[low]).and(mask);
        table[low] = table[low].add(change);
        table[high] = table[high].sub(change);
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOKUP_STRINGS, exchange};

    #[test]
    fn entries_move_by_the_bits_of_their_places() {
        for places in 0..LOOKUP_STRINGS as u32 {
            let mut table: [u32; LOOKUP_STRINGS] = std::array::from_fn(|t| t as u32);
            (0..3).for_each(|bit| exchange(&mut table, bit, (places >> bit & 1).wrapping_neg()));
            (0..LOOKUP_STRINGS).for_each(|t| assert_eq!(table[t], t as u32 ^ places));
        }
    }
}
