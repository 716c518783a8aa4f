//! Conjunctions of several planes at once, by transfers of one bit of several.
//!
//! Functionality: out = x_1 AND ... AND x_w for the w = [`WIDTH`] planes of each group. Discloses nothing. Of a row, one node (the sender) has
//! the bits s, the other one (the receiver) r; the result is whether r is the complement of s. A random lookup gives the sender a table m of 2^w random bits,
//! the receiver a random place a and m_a. The receiver sends d = a XOR r. Then r is the complement of s exactly if a is p = NOT s XOR d, which the sender
//! knows: it sends m_j XOR m_0 XOR \[j = p\] XOR \[0 = p\] for every j but 0 and keeps m_0 XOR \[0 = p\]. The receiver XORs m_a and, unless a is 0,
//! what it got for a: both sum up to \[a = p\]. d is masked by a, and all that the receiver does not need by bits of m that it lacks.
//!
//! Each node is the sender of half of the rows' words. Lookups: one a row and group, rows rounded up to words. Rounds: 2, and
//! those of making lookups. The receiver sends w bits a row and group, the sender 2^w - 1: for w = 3 that is 5 bits for each
//! plane less, where an AND takes 4; but it takes half a lookup instead of two OTs.
//!
//! Source: Chandran, Gupta, Shah, "Circuit-PSI with Linear Complexity via Relaxed Batch OPPRF" (PoPETs 2022), whose equality test has one-of-sixteen
//! transfers as leaves; random transfers corrected when they are used: Beaver, "Precomputing Oblivious Transfer" (CRYPTO 1995).
//! **Departures** every level is by transfers, not the leaves alone; tables of eight.

use std::ops::Range;

use tacit_math::Plane;
use tacit_math::plane::words_for;
use tacit_ot::silent::lookup::{STRINGS, WIDTH};

use super::stock::Lookups;
use super::{NODES, Share, Two};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

/// From so many lookups on they are made; below, ANDs take less traffic if the stock is made by silent OT.
pub(super) const LEAST: usize = 1 << 16;

/// What a node sends of every word of a group as its sender.
pub(super) const ENTRIES: usize = STRINGS - 1;

/// How many groups of [`WIDTH`] planes are conjoined at once, if that is the way to go.
pub(super) fn groups(rows: usize, planes: usize) -> Option<usize> {
    let groups = planes / WIDTH;
    (64 * words_for(rows) * groups >= LEAST).then_some(groups)
}

/// The words of which each node is the sender.
pub(super) fn parts(rows: usize) -> [Range<usize>; NODES] {
    let words = words_for(rows);
    let middle = words.div_ceil(2);
    [0..middle, middle..words]
}

impl Two {
    /// The conjunction of each group of [`WIDTH`] planes.
    pub(super) fn conjunctions(&mut self, planes: &[Share<Plane>]) -> Result<Vec<Share<Plane>>> {
        let groups: Vec<&[Share<Plane>]> = planes.chunks_exact(WIDTH).collect();
        let rows = planes[0].0.rows();
        let parts = parts(rows);
        let counts = parts.each_ref().map(|part| 64 * groups.len() * part.len());
        let random: Lookups<1> = self.stock.lookups(&mut self.session, counts)?;
        let [sending, receiving] = [self.me(), 1 - self.me()].map(|node| parts[node].clone());
        let flips = self.exchange_flips(&groups, &random.places, &sending, &receiving)?;
        let mut out: Vec<Vec<u64>> = groups.iter().map(|_| vec![0; words_for(rows)]).collect();
        self.send_tables(&groups, &random, &flips, &sending, &mut out)?;
        self.look_up(&random, &receiving, &mut out)?;
        Ok(out.into_iter().map(|words| Share(Plane::from_words(rows, words))).collect())
    }

    /// Sends the receiver's d, and receives the peer's: for each group its planes, one after the other.
    pub(super) fn exchange_flips(
        &mut self,
        groups: &[&[Share<Plane>]],
        places: &[Vec<u64>; WIDTH],
        sending: &Range<usize>,
        receiving: &Range<usize>,
    ) -> Result<Vec<u64>> {
        let peer = self.peer();
        self.session.next_round();
        let mut out = Outgoing::new(&mut self.session, peer);
        for (g, group) in groups.iter().enumerate() {
            for (place, plane) in places.iter().zip(*group) {
                let place = &place[g * receiving.len()..][..receiving.len()];
                let flips: Vec<u64> =
                    place.iter().zip(&plane.0.words()[receiving.clone()]).map(|(a, r)| a ^ r).collect();
                out.push(&mut self.session, &flips)?;
            }
        }
        out.finish(&mut self.session)?;
        recv_cells(&mut self.session, peer, groups.len() * WIDTH * sending.len())
    }

    /// The sender's part once it has the d of all groups.
    fn send_tables(
        &mut self,
        groups: &[&[Share<Plane>]],
        random: &Lookups<1>,
        flips: &[u64],
        sending: &Range<usize>,
        out: &mut [Vec<u64>],
    ) -> Result<()> {
        let (peer, count) = (self.peer(), sending.len());
        self.session.next_round();
        let mut stream = Outgoing::new(&mut self.session, peer);
        let mut message = Vec::with_capacity(ENTRIES * count);
        for (g, (group, out)) in groups.iter().zip(out).enumerate() {
            let shares: Vec<&[u64]> = group.iter().map(|plane| &plane.0.words()[sending.clone()]).collect();
            message.clear();
            for (word, out) in out[sending.clone()].iter_mut().enumerate() {
                let flip = |i: usize| flips[(g * WIDTH + i) * count + word];
                let here = one_hot(std::array::from_fn(|i| !(shares[i][word] ^ flip(i))));
                let table: [u64; STRINGS] = std::array::from_fn(|j| random.tables[j][0][g * count + word] ^ here[j]);
                *out = table[0];
                message.extend(table[1..].iter().map(|entry| entry ^ table[0]));
            }
            stream.push(&mut self.session, &message)?;
        }
        stream.finish(&mut self.session)
    }

    /// The receiver's part in the tables' round.
    fn look_up(&mut self, random: &Lookups<1>, receiving: &Range<usize>, out: &mut [Vec<u64>]) -> Result<()> {
        let (peer, count) = (self.peer(), receiving.len());
        for (g, out) in out.iter_mut().enumerate() {
            let entries: Vec<u64> = recv_cells(&mut self.session, peer, ENTRIES * count)?;
            let entries = entries.as_chunks::<ENTRIES>().0;
            for (word, (out, entries)) in out[receiving.clone()].iter_mut().zip(entries).enumerate() {
                let at = g * count + word;
                let here = one_hot(random.places.each_ref().map(|place| place[at]));
                *out = here[1..].iter().zip(entries).fold(random.found[0][at], |sum, (here, entry)| sum ^ here & entry);
            }
        }
        Ok(())
    }
}

/// For each number j the rows in which the bits are those of j.
pub(super) fn one_hot(bits: [u64; WIDTH]) -> [u64; STRINGS] {
    let mut out = [!0; STRINGS];
    for (i, bit) in bits.into_iter().enumerate() {
        for (j, out) in out.iter_mut().enumerate() {
            *out &= if j >> i & 1 == 1 { bit } else { !bit };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{LEAST, STRINGS, WIDTH, groups, one_hot, parts};

    #[test]
    fn every_row_has_one_place() {
        let bits = std::array::from_fn(|i| 0x0123_4567_89ab_cdef_u64.rotate_left(7 * i as u32));
        let places = one_hot(bits);
        for row in 0..64 {
            let place = (0..WIDTH).fold(0, |place, i| place | (bits[i] as usize >> row & 1) << i);
            (0..STRINGS).for_each(|j| assert_eq!(places[j] >> row & 1 == 1, j == place));
        }
    }

    #[test]
    fn both_nodes_send_for_half_of_the_words() {
        for (rows, [first, second]) in [(0, [0, 0]), (1, [1, 0]), (64, [1, 0]), (65, [1, 1]), (300, [3, 2])] {
            assert_eq!(parts(rows), [0..first, first..first + second]);
        }
    }

    #[test]
    fn few_rows_are_multiplied() {
        assert_eq!(groups(LEAST, WIDTH - 1), None);
        assert_eq!(groups(LEAST, WIDTH), Some(1));
        assert_eq!(groups(LEAST - 64, WIDTH), None);
        assert_eq!(groups(1, WIDTH * LEAST / 64 + 1), Some(LEAST / 64));
    }
}
