//! Half-gates garbling of one gate for a tile of rows.
//!
//! Computes, for every row, a table of two blocks and the output's label from the inputs' labels. A label of a wire with bit v is
//! zero + v delta; the lowest bit of delta is one, so that the lowest bit of a label (its colour) tells nothing of v to who
//! holds one label. XOR of labels is XOR of bits (free XOR: Kolesnikov, Schneider, ICALP 2008).
//!
//! **Source** Zahur, Rosulek, Evans, "Two Halves Make a Whole" (EUROCRYPT 2015), Figure 2.
//! **Hash** MiTCCRH: H(x, i) = E_i(s(x)) XOR s(x) with s(l, r) = (l + r, l) and a fresh AES key for each i, from a random start in each session. Guo, Katz, Wang,
//! Weng, Yu, "Better Concrete Security for Half-Gates Garbling (in the Multi-Instance Setting)" (CRYPTO 2020), section 4, prove it with a bound in which
//! only the calls under one key count, not those of all gates and sessions: 2 for each row of a tile here, so p calls of AES win with probability about
//! p 2^10 / 2^128. The two halves of a gate have a key each; rows of a tile share it, as their labels are random and differ.

use tacit_math::{BlockCipher, Seed};

/// Rows of a tile.
pub(super) const TILE: usize = 256;

/// The hash keys of a session, in order: two for each gate and tile.
pub(super) struct Keys {
    start: u128,
    used: u128,
}

impl Keys {
    /// The keys from a random start, which both parties know.
    pub(super) fn new(start: u128) -> Self {
        Self { start, used: 0 }
    }

    fn next(&mut self) -> BlockCipher {
        let key = self.start.wrapping_add(self.used);
        self.used += 1;
        BlockCipher::new(&Seed::from_bytes(key.to_le_bytes()))
    }
}

/// Garbles x AND y: from zero labels of at most [`TILE`] rows the zero labels of the output, and the tables: two blocks a row, all of the
/// garbler's halves and then all of the evaluator's.
pub(super) fn garble(keys: &mut Keys, delta: u128, x: &[u128], y: &[u128], out: &mut [u128], table: &mut [u128]) {
    let rows = out.len();
    let (generator, evaluator) = table.split_at_mut(rows);
    let mut hashes = [0; 2 * TILE];
    let (h0, h1) = hash_both(&keys.next(), delta, x, &mut hashes);
    for i in 0..rows {
        let difference = h0[i] ^ h1[i];
        generator[i] = difference ^ mask(y[i]) & delta;
        out[i] = h0[i] ^ mask(x[i]) & generator[i];
    }
    let (h0, h1) = hash_both(&keys.next(), delta, y, &mut hashes);
    for i in 0..rows {
        let difference = h0[i] ^ h1[i];
        evaluator[i] = difference ^ x[i];
        out[i] ^= h0[i] ^ mask(y[i]) & difference;
    }
}

/// Evaluates x AND y: from the labels that the evaluator holds and the gate's tables the output's labels.
pub(super) fn evaluate(keys: &mut Keys, x: &[u128], y: &[u128], table: &[u128], out: &mut [u128]) {
    let rows = out.len();
    let (generator, evaluator) = table.split_at(rows);
    let mut hashes = [0; TILE];
    hash(&keys.next(), x, &mut hashes[..rows]);
    for i in 0..rows {
        out[i] = hashes[i] ^ mask(x[i]) & generator[i];
    }
    hash(&keys.next(), y, &mut hashes[..rows]);
    for i in 0..rows {
        out[i] ^= hashes[i] ^ mask(y[i]) & (evaluator[i] ^ x[i]);
    }
}

/// All ones if the colour is one.
fn mask(label: u128) -> u128 {
    let word = u128::from((label as u64 & 1).wrapping_neg());
    word << 64 | word
}

/// The linear orthomorphism s.
fn spread(x: u128) -> u128 {
    (x ^ x << 64) & u128::MAX << 64 | x >> 64
}

/// The hashes of both labels of a wire.
fn hash_both<'a>(
    key: &BlockCipher,
    delta: u128,
    zero: &[u128],
    out: &'a mut [u128; 2 * TILE],
) -> (&'a [u128], &'a [u128]) {
    let rows = zero.len();
    let delta = spread(delta);
    let mut inputs = [0; 2 * TILE];
    for (i, &zero) in zero.iter().enumerate() {
        inputs[i] = spread(zero);
        inputs[rows + i] = inputs[i] ^ delta;
    }
    finish(key, &inputs[..2 * rows], &mut out[..2 * rows]);
    out[..2 * rows].split_at(rows)
}

fn hash(key: &BlockCipher, labels: &[u128], out: &mut [u128]) {
    let mut inputs = [0; TILE];
    inputs.iter_mut().zip(labels).for_each(|(input, &label)| *input = spread(label));
    finish(key, &inputs[..labels.len()], out);
}

/// E(x) XOR x.
fn finish(key: &BlockCipher, inputs: &[u128], out: &mut [u128]) {
    out.copy_from_slice(inputs);
    key.encrypt(out);
    out.iter_mut().zip(inputs).for_each(|(out, input)| *out ^= input);
}

#[cfg(test)]
mod tests {
    use tacit_math::{BlockCipher, Prg, Seed};

    use super::{Keys, TILE, evaluate, garble};

    /// One hash, written from the paper.
    fn reference_hash(label: u128, key: u128) -> u128 {
        let (left, right) = ((label >> 64) as u64, label as u64);
        let input = u128::from(left ^ right) << 64 | u128::from(left);
        let mut image = [input];
        BlockCipher::new(&Seed::from_bytes(key.to_le_bytes())).encrypt(&mut image);
        image[0] ^ input
    }

    /// Figure 2 of the half-gates paper for one row, its names kept.
    fn reference_garble(wa0: u128, wb0: u128, delta: u128, j: u128) -> (u128, u128, u128) {
        let (wa1, wb1) = (wa0 ^ delta, wb0 ^ delta);
        let (pa, pb) = (wa0 & 1 == 1, wb0 & 1 == 1);
        let mut tg = reference_hash(wa0, j) ^ reference_hash(wa1, j);
        if pb {
            tg ^= delta;
        }
        let mut wg = reference_hash(wa0, j);
        if pa {
            wg ^= tg;
        }
        let te = reference_hash(wb0, j + 1) ^ reference_hash(wb1, j + 1) ^ wa0;
        let mut we = reference_hash(wb0, j + 1);
        if pb {
            we ^= te ^ wa0;
        }
        (tg, te, wg ^ we)
    }

    #[test]
    fn tables_and_labels_are_those_of_the_paper() {
        let mut prg = Prg::new(&Seed::from_bytes([9; 16]));
        let delta = prg.vector::<u128>(1)[0] | 1;
        let start = prg.vector::<u128>(1)[0] >> 1;
        for rows in [1, 3, TILE] {
            let (x, y): (Vec<u128>, Vec<u128>) = (prg.vector(rows), prg.vector(rows));
            let (mut out, mut table) = (vec![0; rows], vec![0; 2 * rows]);
            let mut keys = Keys::new(start);
            // The first gate's keys are skipped: keys must differ from gate to gate.
            garble(&mut keys, delta, &y, &x, &mut out, &mut table);
            garble(&mut keys, delta, &x, &y, &mut out, &mut table);
            for i in 0..rows {
                let expected = reference_garble(x[i], y[i], delta, start + 2);
                assert_eq!((table[i], table[rows + i], out[i]), expected, "row {i} of {rows}");
            }
        }
    }

    #[test]
    fn evaluation_gives_the_label_of_the_product() {
        let mut prg = Prg::new(&Seed::from_bytes([10; 16]));
        let delta = prg.vector::<u128>(1)[0] | 1;
        let (x, y): (Vec<u128>, Vec<u128>) = (prg.vector(100), prg.vector(100));
        let (mut out, mut table) = (vec![0; 100], vec![0; 200]);
        garble(&mut Keys::new(5), delta, &x, &y, &mut out, &mut table);
        for bits in 0..4u128 {
            let (a, b) = (bits & 1, bits >> 1);
            let held = |zero: &[u128], bit: u128| zero.iter().map(|zero| zero ^ (bit * delta)).collect::<Vec<_>>();
            let mut got = vec![0; 100];
            evaluate(&mut Keys::new(5), &held(&x, a), &held(&y, b), &table, &mut got);
            assert_eq!(got, held(&out, a & b));
        }
    }
}
