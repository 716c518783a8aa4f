//! AND of planes, in groups with a common factor.
//!
//! Functionality: out[k] = x[k] AND y[k] XOR base[k]. Discloses nothing. For a group x y_1, ..., x y_k the cross products x0 y1_j
//! take one random OT a row with strings of k bits: node 0 has a random bit c and the string m_c, node 1 has m_0 and m_1. Node 0
//! sends d = c XOR x0, node 1 sends e = m_0 XOR m_1 XOR y1. Node 0 takes m_c XOR c e = m_0 XOR c y1, node 1 takes
//! m_0 XOR d y1: their sum is x0 y1. The same the other way round at the same time. d and e are masked by bits that their
//! receiver does not know. With k = 1 that is Beaver's multiplication with a triple of two random OTs (Asharov, Lindell,
//! Schneider, Zohner, CCS 2013, section 5.1); a common factor as there in section 5.2 ("vector multiplication triples": Mohassel,
//! Zhang, S&P 2017).
//!
//! OTs: one a row and group in each direction, rows rounded up to words. Rounds: 1, and those of making stock. Each node sends
//! k + 1 bits a row and group.

use tacit_math::{Plane, transpose};

use super::stock::BATCH;
use super::{Share, Two};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};
use crate::products::{Group, common_factors};

/// What the OTs of a group leave, as words of planes.
struct Random {
    /// The receiver's bits.
    choice: Vec<u64>,
    /// Its strings, plane by plane.
    chosen: Vec<Vec<u64>>,
    /// The sender's first strings.
    zero: Vec<Vec<u64>>,
    /// The XOR of its two strings.
    difference: Vec<Vec<u64>>,
}

impl Two {
    pub(super) fn and_planes(
        &mut self,
        x: &[&Share<Plane>],
        y: &[&Share<Plane>],
        base: &[Option<&Share<Plane>>],
    ) -> Result<Vec<Share<Plane>>> {
        assert!(x.len() == y.len() && x.len() == base.len(), "pairs of planes");
        let groups = common_factors(x, y);
        let mut randoms = groups
            .iter()
            .map(|group| self.random_words(group.common(x, y).0.words().len(), group.outputs.len()))
            .collect::<Result<Vec<_>>>()?;
        self.session.next_round();
        let peer = self.peer();
        let mut out = Outgoing::new(&mut self.session, peer);
        for (group, random) in groups.iter().zip(&mut randoms) {
            out.push(&mut self.session, &xor(&random.choice, group.common(x, y).0.words()))?;
            for (difference, other) in random.difference.iter().zip(group.others(x, y)) {
                out.push(&mut self.session, &xor(difference, other.0.words()))?;
            }
        }
        out.finish(&mut self.session)?;
        let mut products: Vec<Option<Share<Plane>>> = x.iter().map(|_| None).collect();
        for (group, random) in groups.iter().zip(randoms) {
            self.finish_group(group, random, (x, y, base), &mut products)?;
        }
        Ok(products.into_iter().map(|product| product.expect("every product is in a group")).collect())
    }

    /// Random OTs for so many words of rows, with strings of so many bits.
    fn random_words(&mut self, words: usize, width: usize) -> Result<Random> {
        let planes = || vec![Vec::with_capacity(words); width];
        let mut random =
            Random { choice: Vec::with_capacity(words), chosen: planes(), zero: planes(), difference: planes() };
        for start in (0..words).step_by(BATCH / 64) {
            let ots = 64 * (words - start).min(BATCH / 64);
            self.stock.prepare(&mut self.session, [ots, ots])?;
            if let ([chosen], [zero], [difference]) =
                (&mut random.chosen[..], &mut random.zero[..], &mut random.difference[..])
            {
                self.stock.received_bits(ots, &mut random.choice, chosen);
                self.stock.sent_bits(ots, zero, difference);
                continue;
            }
            let (choices, strings) = self.stock.received(ots);
            random.choice.extend(choices);
            append_planes(&strings, &mut random.chosen);
            let [zero, mut one] = self.stock.sent(ots);
            append_planes(&zero, &mut random.zero);
            one.iter_mut().zip(&zero).for_each(|(one, zero)| *one ^= zero);
            append_planes(&one, &mut random.difference);
        }
        Ok(random)
    }

    /// Receives the peer's part of a group and computes its products.
    fn finish_group(
        &mut self,
        group: &Group,
        random: Random,
        (x, y, base): (&[&Share<Plane>], &[&Share<Plane>], &[Option<&Share<Plane>>]),
        products: &mut [Option<Share<Plane>>],
    ) -> Result<()> {
        let (peer, common) = (self.peer(), &group.common(x, y).0);
        let words = common.words().len();
        let theirs: Vec<u64> = recv_cells(&mut self.session, peer, words)?;
        // What multiplies this node's other factors: its own part of the common one, and what the peer's bit is off by.
        let factor = xor(&theirs, common.words());
        for (j, (&(k, _), other)) in group.outputs.iter().zip(group.others(x, y)).enumerate() {
            let masked: Vec<u64> = recv_cells(&mut self.session, peer, words)?;
            let parts = random.zero[j].iter().zip(&random.chosen[j]).map(|(zero, chosen)| zero ^ chosen);
            let mut product: Vec<u64> = parts.collect();
            add_product(&mut product, &factor, other.0.words());
            add_product(&mut product, &random.choice, &masked);
            if let Some(base) = base[k] {
                product.iter_mut().zip(base.0.words()).for_each(|(a, b)| *a ^= b);
            }
            products[k] = Some(Share(Plane::from_words(common.rows(), product)));
        }
        Ok(())
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

/// Appends the low bits of whole words of strings to as many planes.
fn append_planes(strings: &[u128], planes: &mut [Vec<u64>]) {
    let new = transpose::planes_of_wide_rows(strings, planes.len());
    for (plane, new) in planes.iter_mut().zip(new) {
        plane.extend_from_slice(new.words());
    }
}
