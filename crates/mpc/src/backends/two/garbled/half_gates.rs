//! Half-gates garbling of one gate for a tile of rows.
//!
//! Computes, for every row, a table of two blocks and the output's label from the inputs' labels. A label of a wire
//! with bit v is zero + v delta. The lowest bit of delta is one, so that the lowest bit of a label (its colour) tells
//! nothing of v to who holds one label. XOR of labels is XOR of bits (free XOR: Kolesnikov, Schneider, ICALP 2008).
//!
//! **Source** Zahur, Rosulek, Evans, "Two Halves Make a Whole" (EUROCRYPT 2015), Figure 2. **Hash** MiTCCRH: H(x, i) =
//! E_i(s(x)) XOR s(x) with s(l, r) = (l + r, l) and a fresh AES key for each i, from a random start for each circuit
//! that runs. Guo, Katz, Wang, Weng, Yu, "Better Concrete Security for Half-Gates Garbling (in the Multi-Instance
//! Setting)" (CRYPTO 2020), section 4, prove it. For p calls of AES the calls under one key count, not those of all
//! gates and sessions. Here that is 2 for each row of a tile, 512, against an offset of 127 random bits (its lowest one
//! is one). The calls win with probability about p 2^10 / 2^127. Without any, two rows whose labels differ by the
//! offset show it: about 2^8 q / 2^127 for the q hashes of all sessions. The two halves of a gate have a key each; rows
//! of a tile share it, as their labels are random and differ. The arithmetic is in [`tacit_math::half_gates`].

use std::mem::MaybeUninit;

use tacit_math::half_gates::{Gate, GateKeys, Halves};

/// Rows of a tile.
pub(super) const TILE: usize = 256;

/// The hash keys of a circuit that runs, in order: two for each gate and tile.
pub(super) struct Keys {
    next: u128,
}

impl Keys {
    /// The keys from a random start, which both parties know.
    pub(super) fn new(start: u128) -> Self {
        Self { next: start }
    }

    /// Those of the next gate and tile.
    fn take(&mut self) -> GateKeys {
        let x = self.next;
        self.next = x.wrapping_add(2);
        GateKeys { x, y: x.wrapping_add(1) }
    }
}

/// Garbles a gate (Figure 2, GbAnd): from zero labels of at most [`TILE`] rows the zero labels of the result, and the
/// tables. Those are two blocks a row, T_G of all rows and then T_E of all rows.
pub(super) fn garble<'t>(
    keys: &mut Keys,
    delta: u128,
    gate: Gate<'_>,
    out: &mut [u128],
    table: &'t mut [MaybeUninit<u128>],
) -> &'t mut [u128] {
    keys.take().garble(delta, gate, out, table)
}

/// Evaluates a gate (Figure 2, Ev): from the labels that the evaluator holds and the gate's tables the result's labels.
pub(super) fn evaluate(keys: &mut Keys, gate: Gate<'_>, table: &[u128], out: &mut [u128]) {
    let (t_g, t_e) = table.split_at(out.len());
    keys.take().evaluate(gate, Halves { generator: t_g, evaluator: t_e }, out);
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use tacit_math::half_gates::{Gate, Sum};
    use tacit_math::{BlockCipher, Prg, Seed};

    use super::{Keys, TILE, evaluate, garble};

    fn and<'a>(x: &'a [u128], y: &'a [u128]) -> Gate<'a> {
        let [x, y] = [x, y].map(|first| Sum { first, second: None });
        Gate { x, y, plus: None }
    }

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
            let (mut out, mut table) = (vec![0; rows], vec![MaybeUninit::uninit(); 2 * rows]);
            let mut keys = Keys::new(start);
            // The first gate's keys are skipped: keys must differ from gate to gate.
            garble(&mut keys, delta, and(&y, &x), &mut out, &mut table);
            let table = garble(&mut keys, delta, and(&x, &y), &mut out, &mut table);
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
        let (mut out, mut table) = (vec![0; 100], vec![MaybeUninit::uninit(); 200]);
        let table = garble(&mut Keys::new(5), delta, and(&x, &y), &mut out, &mut table);
        for bits in 0..4u128 {
            let (a, b) = (bits & 1, bits >> 1);
            let held = |zero: &[u128], bit: u128| zero.iter().map(|zero| zero ^ (bit * delta)).collect::<Vec<_>>();
            let mut got = vec![0; 100];
            evaluate(&mut Keys::new(5), and(&held(&x, a), &held(&y, b)), table, &mut got);
            assert_eq!(got, held(&out, a & b));
        }
    }

    /// Why circuits refuse constant operands: a wire that is the XOR of equal ones has the label zero in every row. So
    /// under the gate's one key its hashes are the same in all rows, and the tables of two rows whose other operands
    /// have different colours differ by delta.
    #[test]
    fn tables_of_a_constant_operand_show_delta() {
        let mut prg = Prg::new(&Seed::from_bytes([11; 16]));
        let delta = prg.vector::<u128>(1)[0] | 1;
        let random: Vec<u128> = prg.vector(20);
        let differ_by_delta = |x: &[u128], y: &[u128]| {
            let (mut out, mut table) = (vec![0; 20], vec![MaybeUninit::uninit(); 40]);
            let table = garble(&mut Keys::new(5), delta, and(x, y), &mut out, &mut table);
            let pairs = table.iter().flat_map(|a| table.iter().map(move |b| a ^ b));
            pairs.filter(|&difference| difference == delta).count()
        };
        assert!(differ_by_delta(&[0; 20], &random) > 0);
        assert!(differ_by_delta(&[delta; 20], &random) > 0);
        assert_eq!(differ_by_delta(&prg.vector::<u128>(20), &random), 0);
    }
}
