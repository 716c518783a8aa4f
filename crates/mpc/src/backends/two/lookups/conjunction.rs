//! Conjunctions of several planes at once, by transfers of one bit of several.
//!
//! Functionality: out = x_1 AND ... AND x_w for the w planes of each group. Discloses nothing. Of a row, one node (the
//! sender) has the bits s, the other one (the receiver) r; the result is whether r is the complement of s.
//!
//! Streamed, if they are many and the link is fast: w = 4, by [`super::table`], 4/3 OTs for each plane less
//! where an AND takes two. Otherwise w = 3, as follows.
//!
//! 1. A random lookup gives the sender a table m of 2^w random bits, the receiver a random place a and m_a.
//! 2. The receiver sends d = a XOR r. Then r is the complement of s exactly if a is p = NOT s XOR d, which the sender
//!    knows.
//! 3. The sender keeps k = m_0 XOR \[0 = p\] and sends m_j XOR \[j = p\] XOR k for every j but 0.
//! 4. The receiver XORs m_a and, unless a is 0, what it got for a: both sum up to \[a = p\].
//!
//! d is masked by a, and all that the receiver does not need by bits of m that it lacks.
//!
//! Each node is the sender of half of the rows' words. Lookups: one a row and group, rows rounded up to words. Rounds:
//! 2, and those of making lookups. The receiver sends w bits a row and group, the sender 2^w - 1. For w = 3 that is 5
//! bits for each plane less, where an AND takes 4; but the conjunction takes half a lookup instead of two OTs.
//!
//! Source: Chandran, Gupta, Shah, "Circuit-PSI with Linear Complexity via Relaxed Batch OPPRF" (PoPETs 2022), whose
//! equality test has one-of-sixteen transfers as leaves. Random transfers corrected when they are used: Beaver,
//! "Precomputing Oblivious Transfer" (CRYPTO 1995). **Departures** every level is by transfers, not the leaves alone;
//! tables of eight.

use std::ops::Range;

use tacit_math::Plane;
use tacit_math::plane::words_for;
use tacit_ot::silent::lookup::{self, LOOKUP_STRINGS};

use super::table::{self, one_hot};
use super::{ENTRIES, parts};
use crate::Result;
use crate::backends::two::strategy::Way;
use crate::backends::two::transfers::Lookups;
use crate::backends::two::{Share, Two};
use crate::backends::wire::{Outgoing, recv_cells};

impl Two {
    /// The conjunctions of the groups of planes.
    pub(in crate::backends::two) fn conjunctions(
        &mut self,
        mut planes: Vec<Share<Plane>>,
        way: Way,
    ) -> Result<Vec<Share<Plane>>> {
        let rows = planes[0].0.rows();
        match way {
            Way::Streamed(groups) => {
                planes.resize_with(groups * table::WIDTH, || self.public(|| Plane::ones(rows), || Plane::zeros(rows)));
                let groups: Vec<_> = planes.as_chunks().0.iter().map(|group| group.each_ref().map(|x| &x.0)).collect();
                let [out] = self.look_up(rows, &groups, |s| [one_hot(s.map(|s| !s))])?;
                Ok(out)
            }
            Way::Silent(_) => self.silent_conjunctions(rows, &planes),
        }
    }

    fn silent_conjunctions(&mut self, rows: usize, planes: &[Share<Plane>]) -> Result<Vec<Share<Plane>>> {
        let groups: Vec<&[Share<Plane>]> = planes.chunks_exact(lookup::WIDTH).collect();
        let parts = parts(rows);
        let counts = parts.each_ref().map(|part| 64 * groups.len() * part.len());
        // Step 1.
        let random: Lookups<1> = self.stock.lookups(&mut self.session, counts)?;
        let [sending, receiving] = [self.me(), 1 - self.me()].map(|node| parts[node].clone());
        // Step 2.
        let d = self.exchange_flips(&groups, &random.places, &sending, &receiving)?;
        let mut out: Vec<Vec<u64>> = groups.iter().map(|_| vec![0; words_for(rows)]).collect();
        // Steps 3 and 4, of which this node is the sender of some rows and the receiver of the others.
        self.send_tables(&groups, &random, &d, &sending, &mut out)?;
        self.look_up_groups(&random, &receiving, &mut out)?;
        Ok(out.into_iter().map(|words| Share(Plane::from_words(rows, words))).collect())
    }

    /// Step 2: sends the receiver's d, and receives the peer's: for each group its planes, one after the other.
    pub(in crate::backends::two) fn exchange_flips(
        &mut self,
        groups: &[&[Share<Plane>]],
        places: &[Vec<u64>; lookup::WIDTH],
        sending: &Range<usize>,
        receiving: &Range<usize>,
    ) -> Result<Vec<u64>> {
        let peer = self.peer();
        self.session.next_round();
        let mut out = Outgoing::masked(&mut self.session, peer);
        for (g, group) in groups.iter().enumerate() {
            for (place, plane) in places.iter().zip(*group) {
                let place = &place[g * receiving.len()..][..receiving.len()];
                let d: Vec<u64> = place.iter().zip(&plane.0.words()[receiving.clone()]).map(|(a, r)| a ^ r).collect();
                out.push_masked(&mut self.session, &d)?;
            }
        }
        out.finish(&mut self.session)?;
        recv_cells(&mut self.session, peer, groups.len() * lookup::WIDTH * sending.len())
    }

    /// Step 3: the sender's part once it has the d of all groups.
    fn send_tables(
        &mut self,
        groups: &[&[Share<Plane>]],
        random: &Lookups<1>,
        d: &[u64],
        sending: &Range<usize>,
        out: &mut [Vec<u64>],
    ) -> Result<()> {
        let (peer, count) = (self.peer(), sending.len());
        self.session.next_round();
        let mut stream = Outgoing::masked(&mut self.session, peer);
        let mut message = Vec::with_capacity(ENTRIES * count);
        for (g, (group, out)) in groups.iter().zip(out).enumerate() {
            let s: Vec<&[u64]> = group.iter().map(|plane| &plane.0.words()[sending.clone()]).collect();
            message.clear();
            for (word, out) in out[sending.clone()].iter_mut().enumerate() {
                // p = NOT s XOR d, and for each j whether it is p.
                let d = |i: usize| d[(g * lookup::WIDTH + i) * count + word];
                let p: [u64; lookup::WIDTH] = std::array::from_fn(|i| !(s[i][word] ^ d(i)));
                let is_p: [u64; LOOKUP_STRINGS] = one_hot(p);
                let masked: [u64; LOOKUP_STRINGS] =
                    std::array::from_fn(|j| random.tables[j][0][g * count + word] ^ is_p[j]);
                let k = masked[0];
                *out = k;
                message.extend(masked[1..].iter().map(|entry| entry ^ k));
            }
            stream.push_masked(&mut self.session, &message)?;
        }
        stream.finish(&mut self.session)
    }

    /// Step 4: the receiver's part in the tables' round.
    fn look_up_groups(&mut self, random: &Lookups<1>, receiving: &Range<usize>, out: &mut [Vec<u64>]) -> Result<()> {
        let (peer, count) = (self.peer(), receiving.len());
        for (g, out) in out.iter_mut().enumerate() {
            let entries: Vec<u64> = recv_cells(&mut self.session, peer, ENTRIES * count)?;
            let entries = entries.as_chunks::<ENTRIES>().0;
            for (word, (out, entries)) in out[receiving.clone()].iter_mut().zip(entries).enumerate() {
                let at = g * count + word;
                let is_a: [u64; LOOKUP_STRINGS] = one_hot(random.places.each_ref().map(|place| place[at]));
                let m_a = random.found[0][at];
                *out = is_a[1..].iter().zip(entries).fold(m_a, |sum, (is_a, entry)| sum ^ is_a & entry);
            }
        }
        Ok(())
    }
}
