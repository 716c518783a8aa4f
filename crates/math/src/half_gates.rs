//! The kernel of half-gates garbling: one AND gate for many rows, by the hash MiTCCRH.
//!
//! What is secure, and why, is for the protocol to say; this is arithmetic. H(x, k) = E_k(s(x)) ⊕ s(x) with s(high,
//! low) = (high ⊕ low, high) and AES-128 as E. Rows lie side by side in vectors of 128-bit labels; the lowest bit of a
//! label is its colour. Two paths with equal results: hashing, masking and adding in 512-bit registers, or plain loops
//! around [`crate::BlockCipher`]'s cipher.

#[cfg(target_arch = "x86_64")]
mod wide;

use crate::aes128::{Aes128, orthomorphism};
use std::mem::MaybeUninit;
use std::ptr;

/// Rows a pass of the portable path.
const PASS: usize = 64;

/// The AES keys of a gate's two halves: of the hashes of x and of the hashes of y. Both parties know them.
#[derive(Clone, Copy, Debug)]
pub struct GateKeys {
    /// Of the half whose hashes are of x.
    pub x: u128,
    /// Of the half whose hashes are of y.
    pub y: u128,
}

/// A gate's table: a block a row for each half.
#[derive(Debug)]
pub struct Halves<T> {
    /// The half that hashes x.
    pub generator: T,
    /// The half that hashes y.
    pub evaluator: T,
}

/// Labels of a wire, or of the XOR of two wires.
#[derive(Clone, Copy, Debug)]
pub struct Sum<'a> {
    /// The labels of the first wire.
    pub first: &'a [u128],
    /// Those of the second wire, if there is one.
    pub second: Option<&'a [u128]>,
}

/// The labels that go into (x AND y) XOR plus.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// The operand that the first half hashes.
    pub x: Sum<'a>,
    /// The operand that the second half hashes.
    pub y: Sum<'a>,
    /// What is added to the product, if anything.
    pub plus: Option<&'a [u128]>,
}

impl Sum<'_> {
    fn at(&self, row: usize) -> u128 {
        self.first[row] ^ self.second.map_or(0, |second| second[row])
    }
}

impl Gate<'_> {
    fn check(&self, rows: usize) {
        let operands = [Some(self.x.first), self.x.second, Some(self.y.first), self.y.second, self.plus];
        assert!(operands.into_iter().flatten().all(|labels| labels.len() == rows), "vectors of one length");
    }

    fn plus(&self, row: usize) -> u128 {
        self.plus.map_or(0, |plus| plus[row])
    }
}

impl GateKeys {
    /// From the zero labels of the operands those of the result, and the gate's table, where there is room for it. The
    /// table is the blocks of its half that hashes x, then those of the other one. Zahur, Rosulek, Evans, Figure 2,
    /// procedure GbAnd.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn garble<'t>(
        self,
        delta: u128,
        gate: Gate<'_>,
        out: &mut [u128],
        table: &'t mut [MaybeUninit<u128>],
    ) -> &'t mut [u128] {
        let rows = out.len();
        gate.check(rows);
        assert_eq!(table.len(), 2 * rows, "two blocks a row");
        let (generator, evaluator) = table.split_at_mut(rows);
        let halves = Halves { generator, evaluator };
        #[cfg(target_arch = "x86_64")]
        match wide::Wide::detect() {
            Some(wide) => wide.garble(self, delta, gate, out, halves),
            None => self.garble_portable(delta, gate, out, halves),
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.garble_portable(delta, gate, out, halves);
        // SAFETY: either path has written both blocks of every row.
        unsafe { &mut *(ptr::from_mut(table) as *mut [u128]) }
    }

    /// From the labels that the evaluator holds of the operands that of the result: the same figure, procedure Ev.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn evaluate(self, gate: Gate<'_>, table: Halves<&[u128]>, out: &mut [u128]) {
        let Halves { generator, evaluator } = table;
        let rows = out.len();
        gate.check(rows);
        assert!([generator.len(), evaluator.len()] == [rows; 2], "vectors of one length");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.evaluate(self, gate, [generator, evaluator], out);
        }
        self.evaluate_portable(gate, [generator, evaluator], out);
    }

    fn ciphers(self) -> [Aes128; 2] {
        [self.x, self.y].map(|key| Aes128::portable(&key.to_le_bytes()))
    }

    fn garble_portable(
        self,
        delta: u128,
        gate: Gate<'_>,
        out: &mut [u128],
        Halves { generator, evaluator }: Halves<&mut [MaybeUninit<u128>]>,
    ) {
        let ciphers = self.ciphers();
        for start in (0..out.len()).step_by(PASS) {
            let rows = start..out.len().min(start + PASS);
            let [of_x, of_y] = [(gate.x, &ciphers[0]), (gate.y, &ciphers[1])].map(|(operand, cipher)| {
                let labels = rows.clone().map(|row| operand.at(row));
                let [zero, one] = [0, delta].map(|offset| hash(cipher, labels.clone(), offset));
                (zero, one)
            });
            for (i, row) in rows.enumerate() {
                let (x, y) = (gate.x.at(row), gate.y.at(row));
                let half = generator[row].write(of_x.0[i] ^ of_x.1[i] ^ colour(y) & delta);
                let difference = of_y.0[i] ^ of_y.1[i];
                evaluator[row].write(difference ^ x);
                let product = of_x.0[i] ^ colour(x) & *half ^ of_y.0[i] ^ colour(y) & difference;
                out[row] = product ^ gate.plus(row);
            }
        }
    }

    fn evaluate_portable(self, gate: Gate<'_>, [generator, evaluator]: [&[u128]; 2], out: &mut [u128]) {
        let ciphers = self.ciphers();
        for start in (0..out.len()).step_by(PASS) {
            let rows = start..out.len().min(start + PASS);
            let of_x = hash(&ciphers[0], rows.clone().map(|row| gate.x.at(row)), 0);
            let of_y = hash(&ciphers[1], rows.clone().map(|row| gate.y.at(row)), 0);
            for (i, row) in rows.enumerate() {
                let (x, y) = (gate.x.at(row), gate.y.at(row));
                let second = of_y[i] ^ colour(y) & (evaluator[row] ^ x);
                out[row] = of_x[i] ^ colour(x) & generator[row] ^ second ^ gate.plus(row);
            }
        }
    }
}

/// Adds the offset to those labels whose bit is one; bits lie 64 to a word, lowest first.
///
/// # Panics
/// If there are fewer bits than labels.
pub fn add_offset(labels: &mut [u128], bits: &[u64], offset: u128) {
    assert!(labels.len() <= 64 * bits.len(), "a bit for each label");
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = wide::Wide::detect() {
        return wide.add_offset(labels, bits, offset);
    }
    add_offset_portable(labels, bits, offset);
}

fn add_offset_portable(labels: &mut [u128], bits: &[u64], offset: u128) {
    for (labels, word) in labels.chunks_mut(64).zip(bits) {
        for (i, label) in labels.iter_mut().enumerate() {
            *label ^= offset & u128::from(word >> i & 1).wrapping_neg();
        }
    }
}

/// The hashes of at most [`PASS`] labels, each plus an offset.
fn hash(cipher: &Aes128, labels: impl ExactSizeIterator<Item = u128>, offset: u128) -> [u128; PASS] {
    let (mut inputs, rows) = ([0; PASS], labels.len());
    inputs.iter_mut().zip(labels).for_each(|(input, label)| *input = orthomorphism(label ^ offset));
    let mut images = inputs;
    cipher.encrypt(bytemuck::cast_slice_mut(&mut images[..rows]));
    images.iter_mut().zip(inputs).for_each(|(image, input)| *image ^= input);
    images
}

/// All ones if the colour is one.
fn colour(label: u128) -> u128 {
    (label & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::{Gate, GateKeys, Halves, Sum, add_offset, add_offset_portable};
    use crate::{Prg, Seed};
    use std::mem::MaybeUninit;

    #[test]
    fn paths_agree_at_every_length_and_shape() {
        let mut prg = Prg::new(&Seed::from_bytes([23; 16]));
        for rows in (0..40).chain([255, 256, 257]) {
            for shape in 0..8 {
                let v: [Vec<u128>; 5] = std::array::from_fn(|_| prg.vector(rows));
                let optional = |i: usize| (shape >> i & 1 == 1).then_some(v[i].as_slice());
                let [x, y] = [0, 1].map(|i| Sum { first: &v[3 + i], second: optional(i) });
                let gate = Gate { x, y, plus: optional(2) };
                let &[x, y, delta] = prg.vector::<u128>(3).as_slice() else { unreachable!("three were asked for") };
                let (keys, delta) = (GateKeys { x, y }, delta | 1);
                let [mut labels, mut plain_labels] = [(); 2].map(|()| vec![0; rows]);
                let [mut fast, mut plain] = [(); 2].map(|()| vec![MaybeUninit::uninit(); 2 * rows]);
                let fast = keys.garble(delta, gate, &mut labels, &mut fast);
                let (generator, evaluator) = plain.split_at_mut(rows);
                keys.garble_portable(delta, gate, &mut plain_labels, Halves { generator, evaluator });
                // SAFETY: all of them were just written.
                let plain: Vec<u128> = plain.iter().map(|block| unsafe { block.assume_init() }).collect();
                assert_eq!((&labels, &*fast), (&plain_labels, plain.as_slice()), "garbling {rows} rows, shape {shape}");
                let (generator, evaluator) = fast.split_at(rows);
                let (mut got, mut expected) = (vec![0; rows], vec![0; rows]);
                keys.evaluate(gate, Halves { generator, evaluator }, &mut got);
                keys.evaluate_portable(gate, [generator, evaluator], &mut expected);
                assert_eq!(got, expected, "evaluating {rows} rows, shape {shape}");
                assert_eq!(got, labels, "labels of zero give the label of zero");
            }
        }
    }

    #[test]
    fn paths_add_the_offset_alike() {
        let mut prg = Prg::new(&Seed::from_bytes([24; 16]));
        for len in (0..70).chain([127, 128, 129, 256]) {
            let (labels, bits): (Vec<u128>, Vec<u64>) = (prg.vector(len), prg.vector(len.div_ceil(64)));
            let offset = prg.vector::<u128>(1)[0];
            let (mut fast, mut plain) = (labels.clone(), labels);
            add_offset(&mut fast, &bits, offset);
            add_offset_portable(&mut plain, &bits, offset);
            assert_eq!(fast, plain, "{len} labels");
        }
    }
}
