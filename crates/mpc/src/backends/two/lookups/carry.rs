//! Carries of the sum of two numbers of which each node knows one, digit by digit, by transfers of two bits of several.
//!
//! Functionality: node 0 has numbers x, node 1 has numbers y, in digits of w bits. The nodes get shares of \[x_i +
//! y_i > 2^w - 1\] and \[x_i + y_i = 2^w - 1\] for every digit i. These say whether the digit carries by itself, and
//! whether it hands on a carry. Discloses nothing. Of a digit one node (the sender) has s, the other one (the receiver)
//! r, and z = 2^w - 1 - s: the bits are r > z and r = z.
//!
//! - Streamed, if they are many and the link is fast: w = 4, by [`super::table`].
//! - Otherwise w = 3, by the steps below. Rounds: 2, and those of making lookups. The receiver sends w bits a row and
//!   digit, the sender 2 (2^w - 1).
//!
//! 1. A random lookup gives the sender a table m of 2^w pairs of random bits, the receiver a random place a and m_a.
//! 2. The receiver sends d = a XOR r.
//! 3. The sender has the pair T_j of bits for r = j XOR d, for every place j. It keeps k = T_0 XOR m_0 and sends T_j
//!    XOR m_j XOR k for every j but 0.
//! 4. The receiver XORs m_a and, unless a is 0, what it got for a: both sum up to T_a.
//!
//! The comparison of numbers that each node knows one of (Yao's millionaires) follows by a tree of ANDs. In each
//! direction that takes 3/4 OT a bit if streamed, else 1/3 OT and 1/6 lookup, where gates take 2 OTs.
//!
//! Of numbers that are shared themselves, two bits of each are a digit, streamed where that is done. The sender's table
//! has the carries of what its own part and r sum up to. That takes 3/2 OT a bit in each direction.
//!
//! Each node is the sender of half of the rows' words. Lookups: one a row and digit, rows rounded up to words.
//!
//! Source: Rathee, Rathee, Kumar, Chandran, Gupta, Rastogi, Sharma, "CrypTFlow2" (CCS 2020), section 3.1: comparison by
//! one-of-many transfers of digits and a tree of ANDs. **Departures** random lookups corrected when they are used, as
//! in [`super::conjunction`]; digits of three bits there.

use std::ops::Range;

use tacit_math::Plane;
use tacit_math::plane::words_for;
use tacit_ot::silent::lookup::{self, LOOKUP_STRINGS};

use super::table::{self, PAIRS, one_hot};
use super::{ENTRIES, parts};
use crate::Result;
use crate::backends::two::strategy::Way;
use crate::backends::two::transfers::Lookups;
use crate::backends::two::{Share, Two};
use crate::backends::wire::{Outgoing, recv_cells};

/// Bits of a digit that are wanted.
pub(in crate::backends::two) const BITS: usize = 2;

/// What a node sends of every word of a digit as its sender.
pub(in crate::backends::two) const SENT: usize = BITS * ENTRIES;

/// For each digit, the words of a bit.
type Words = [Vec<Vec<u64>>; BITS];

impl Two {
    /// Which digits of the sum of both nodes' numbers carry, and which hand on a carry, lowest first. `own` are the
    /// planes of this node's number.
    pub(in crate::backends::two) fn carries_of(
        &mut self,
        rows: usize,
        own: Vec<Plane>,
        way: Way,
    ) -> Result<[Vec<Share<Plane>>; BITS]> {
        match way {
            Way::Streamed(_) => {
                let planes = whole_digits::<{ table::WIDTH }>(rows, own);
                let digits: Vec<_> = planes.as_chunks().0.iter().map(|digit| digit.each_ref().map(|x| &x.0)).collect();
                self.look_up(rows, &digits, |s| sums(s.map(|s| !s)))
            }
            Way::Silent(_) => self.silent_carries(rows, &whole_digits::<{ lookup::WIDTH }>(rows, own)),
        }
    }

    /// The same of the sum of two shared numbers.
    pub(in crate::backends::two) fn carries_of_shared(
        &mut self,
        x: &[Share<Plane>],
        y: &[Share<Plane>],
    ) -> Result<[Vec<Share<Plane>>; BITS]> {
        let rows = x[0].0.rows();
        let zeros = Plane::zeros(rows);
        let missing = x.len().next_multiple_of(PAIRS) - x.len();
        let [x, y]: [Vec<&Plane>; 2] =
            [x, y].map(|x| std::iter::repeat_n(&zeros, missing).chain(x.iter().map(|x| &x.0)).collect());
        let pairs = x.as_chunks::<PAIRS>().0.iter().zip(y.as_chunks::<PAIRS>().0);
        let digits: Vec<_> = pairs.map(|([x0, x1], [y0, y1])| [*x0, *x1, *y0, *y1]).collect();
        self.look_up(rows, &digits, |s| SUMS_OF_PAIRS.map(|table| moved(table, s)))
    }

    fn silent_carries(&mut self, rows: usize, planes: &[Share<Plane>]) -> Result<[Vec<Share<Plane>>; BITS]> {
        let digits: Vec<&[Share<Plane>]> = planes.chunks_exact(lookup::WIDTH).collect();
        let parts = parts(rows);
        let counts = parts.each_ref().map(|part| 64 * digits.len() * part.len());
        // Step 1.
        let random: Lookups<BITS> = self.stock.lookups(&mut self.session, counts)?;
        let [sending, receiving] = [self.me(), 1 - self.me()].map(|node| parts[node].clone());
        // Step 2.
        let d = self.exchange_flips(&digits, &random.places, &sending, &receiving)?;
        let mut out: Words = [(); BITS].map(|()| vec![vec![0; words_for(rows)]; digits.len()]);
        // Steps 3 and 4, of which this node is the sender of some rows and the receiver of the others.
        self.send_digits(&digits, &random, &d, &sending, &mut out)?;
        self.look_up_digits(&random, &receiving, &mut out)?;
        let share = |words| Share(Plane::from_words(rows, words));
        Ok(out.map(|digits| digits.into_iter().map(share).collect()))
    }

    /// Step 3: the sender's part once it has the d of all digits.
    fn send_digits(
        &mut self,
        digits: &[&[Share<Plane>]],
        random: &Lookups<BITS>,
        d: &[u64],
        sending: &Range<usize>,
        out: &mut Words,
    ) -> Result<()> {
        let (peer, count) = (self.peer(), sending.len());
        self.session.next_round();
        let mut stream = Outgoing::masked(&mut self.session, peer);
        let mut message = Vec::with_capacity(SENT * count);
        for (g, digit) in digits.iter().enumerate() {
            let s: Vec<&[u64]> = digit.iter().map(|plane| &plane.0.words()[sending.clone()]).collect();
            message.clear();
            for word in 0..count {
                // z = 2^w - 1 - s; what the table has for r is moved to the place r XOR d.
                let z: [u64; lookup::WIDTH] = std::array::from_fn(|i| !s[i][word]);
                let d: [u64; lookup::WIDTH] = std::array::from_fn(|i| d[(g * lookup::WIDTH + i) * count + word]);
                let t = sums(z).map(|table: [u64; LOOKUP_STRINGS]| moved(table, d));
                for (bit, t) in t.into_iter().enumerate() {
                    let masked = |j: usize| t[j] ^ random.tables[j][bit][g * count + word];
                    let k = masked(0);
                    out[bit][g][sending.start + word] = k;
                    message.extend((1..LOOKUP_STRINGS).map(|j| masked(j) ^ k));
                }
            }
            stream.push_masked(&mut self.session, &message)?;
        }
        stream.finish(&mut self.session)
    }

    /// Step 4: the receiver's part in the tables' round.
    fn look_up_digits(&mut self, random: &Lookups<BITS>, receiving: &Range<usize>, out: &mut Words) -> Result<()> {
        let (peer, count) = (self.peer(), receiving.len());
        for g in 0..out[0].len() {
            let entries: Vec<u64> = recv_cells(&mut self.session, peer, SENT * count)?;
            for (word, entries) in entries.as_chunks::<SENT>().0.iter().enumerate() {
                let at = g * count + word;
                let is_a: [u64; LOOKUP_STRINGS] = one_hot(random.places.each_ref().map(|place| place[at]));
                for (bit, entries) in entries.as_chunks::<ENTRIES>().0.iter().enumerate() {
                    let m_a = random.found[bit][at];
                    out[bit][g][receiving.start + word] =
                        is_a[1..].iter().zip(entries).fold(m_a, |sum, (is_a, entry)| sum ^ is_a & entry);
                }
            }
        }
        Ok(())
    }
}

/// The planes of a number in whole digits of `W` bits. What is missing of the lowest one are zeros below: they do not
/// carry.
fn whole_digits<const W: usize>(rows: usize, own: Vec<Plane>) -> Vec<Share<Plane>> {
    let missing = own.len().next_multiple_of(W) - own.len();
    let zeros = (0..missing).map(|_| Plane::zeros(rows));
    zeros.chain(own).map(Share).collect()
}

/// For every r the rows in which r > z, and those in which r = z.
pub(in crate::backends::two) fn sums<const W: usize, const N: usize>(z: [u64; W]) -> [[u64; N]; BITS] {
    let same: [u64; N] = one_hot(z);
    let mut greater = [0; N];
    (1..N).for_each(|r| greater[r] = greater[r - 1] ^ same[r - 1]);
    [greater, same]
}

/// For every x + 4 y whether x + y carries, in all rows, and whether it hands on a carry.
const SUMS_OF_PAIRS: [[u64; table::STREAMED_STRINGS]; BITS] = {
    let mut sums = [[0; table::STREAMED_STRINGS]; BITS];
    let mut pair = 0;
    while pair < table::STREAMED_STRINGS {
        match pair % 4 + pair / 4 {
            3 => sums[1][pair] = !0,
            4.. => sums[0][pair] = !0,
            _ => {}
        }
        pair += 1;
    }
    sums
};

/// What was at a XOR d is at a.
pub(in crate::backends::two) fn moved<const W: usize, const N: usize>(mut table: [u64; N], d: [u64; W]) -> [u64; N] {
    for (i, d) in d.into_iter().enumerate() {
        for low in (0..N).filter(|place| place >> i & 1 == 0) {
            let high = low | 1 << i;
            let exchange = (table[low] ^ table[high]) & d;
            table[low] ^= exchange;
            table[high] ^= exchange;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{LOOKUP_STRINGS, lookup, moved, sums};

    #[test]
    fn every_pair_of_digits_has_its_sum() {
        // Row 8 z + d.
        let bit = |number: usize, i: usize| (number >> i & 1 == 1) as u64;
        let planes = |of_row: fn(usize) -> usize| -> [u64; lookup::WIDTH] {
            std::array::from_fn(|i| (0..64).fold(0, |word, row| word | bit(of_row(row), i) << row))
        };
        let d = planes(|row| row % 8);
        let [greater, same] = sums(planes(|row| row / 8)).map(|table: [u64; LOOKUP_STRINGS]| moved(table, d));
        for row in 0..64 {
            let (z, d) = (row / 8, row % 8);
            for a in 0..LOOKUP_STRINGS {
                assert_eq!((greater[a] >> row & 1 == 1, same[a] >> row & 1 == 1), (a ^ d > z, a ^ d == z));
            }
        }
    }
}
