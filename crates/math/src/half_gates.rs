//! The kernel of half-gates garbling: one AND gate for many rows, by the hash MiTCCRH.
//!
//! What is secure, and why, is for the protocol to say; this is arithmetic. H(x, k) = E_k(s(x)) ⊕ s(x) with s(high, low) = (high ⊕ low, high) and AES-128
//! as E. Rows lie side by side in vectors of 128-bit labels; the lowest bit of a label is its colour. Two paths with equal results: hashing, masking
//! and adding in 512-bit registers, or plain loops around [`crate::BlockCipher`]'s cipher.

#[cfg(target_arch = "x86_64")]
mod wide;

use crate::aes128::{Aes128, orthomorphism};

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

/// What the garbler makes of a gate, beside its zero labels: a block a row for each half.
#[derive(Debug)]
pub struct Halves<T> {
    /// The half that hashes x.
    pub generator: T,
    /// The half that hashes y.
    pub evaluator: T,
}

impl GateKeys {
    /// From the zero labels of x and y those of x AND y, and the rows of the gate's table: Zahur, Rosulek, Evans, Figure 2, procedure GbAnd.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn garble(self, delta: u128, x: &[u128], y: &[u128], out: &mut [u128], table: Halves<&mut [u128]>) {
        let Halves { generator, evaluator } = table;
        let rows = out.len();
        assert!([x.len(), y.len(), generator.len(), evaluator.len()] == [rows; 4], "vectors of one length");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.garble(self, delta, [x, y], [out, generator, evaluator]);
        }
        self.garble_portable(delta, [x, y], [out, generator, evaluator]);
    }

    /// From the labels that the evaluator holds of x and y that of x AND y: the same figure, procedure Ev.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn evaluate(self, x: &[u128], y: &[u128], table: Halves<&[u128]>, out: &mut [u128]) {
        let Halves { generator, evaluator } = table;
        let rows = out.len();
        assert!([x.len(), y.len(), generator.len(), evaluator.len()] == [rows; 4], "vectors of one length");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.evaluate(self, [x, y, generator, evaluator], out);
        }
        self.evaluate_portable([x, y, generator, evaluator], out);
    }

    fn ciphers(self) -> [Aes128; 2] {
        [self.x, self.y].map(|key| Aes128::portable(&key.to_le_bytes()))
    }

    fn garble_portable(self, delta: u128, [x, y]: [&[u128]; 2], [out, generator, evaluator]: [&mut [u128]; 3]) {
        let ciphers = self.ciphers();
        for start in (0..out.len()).step_by(PASS) {
            let rows = start..out.len().min(start + PASS);
            let [of_x, of_y] = [(x, &ciphers[0]), (y, &ciphers[1])].map(|(labels, cipher)| {
                let [zero, one] = [0, delta].map(|offset| hash(cipher, &labels[rows.clone()], offset));
                (zero, one)
            });
            for (i, row) in rows.enumerate() {
                let (x_colour, y_colour) = (colour(x[row]), colour(y[row]));
                generator[row] = of_x.0[i] ^ of_x.1[i] ^ y_colour & delta;
                let difference = of_y.0[i] ^ of_y.1[i];
                evaluator[row] = difference ^ x[row];
                out[row] = of_x.0[i] ^ x_colour & generator[row] ^ of_y.0[i] ^ y_colour & difference;
            }
        }
    }

    fn evaluate_portable(self, [x, y, generator, evaluator]: [&[u128]; 4], out: &mut [u128]) {
        let ciphers = self.ciphers();
        for start in (0..out.len()).step_by(PASS) {
            let rows = start..out.len().min(start + PASS);
            let of_x = hash(&ciphers[0], &x[rows.clone()], 0);
            let of_y = hash(&ciphers[1], &y[rows.clone()], 0);
            for (i, row) in rows.enumerate() {
                let second = of_y[i] ^ colour(y[row]) & (evaluator[row] ^ x[row]);
                out[row] = of_x[i] ^ colour(x[row]) & generator[row] ^ second;
            }
        }
    }
}

/// The hashes of at most [`PASS`] labels, each plus an offset.
fn hash(cipher: &Aes128, labels: &[u128], offset: u128) -> [u128; PASS] {
    let mut inputs = [0; PASS];
    inputs.iter_mut().zip(labels).for_each(|(input, label)| *input = orthomorphism(label ^ offset));
    let mut images = inputs;
    cipher.encrypt(bytemuck::cast_slice_mut(&mut images[..labels.len()]));
    images.iter_mut().zip(inputs).for_each(|(image, input)| *image ^= input);
    images
}

/// All ones if the colour is one.
fn colour(label: u128) -> u128 {
    (label & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::{GateKeys, Halves};
    use crate::{Prg, Seed};

    #[test]
    fn paths_agree_at_every_length() {
        let mut prg = Prg::new(&Seed::from_bytes([23; 16]));
        for rows in (0..40).chain([255, 256, 257]) {
            let [x, y]: [Vec<u128>; 2] = std::array::from_fn(|_| prg.vector(rows));
            let &[key_x, key_y, delta] = prg.vector::<u128>(3).as_slice() else { unreachable!("three were asked for") };
            let (keys, delta) = (GateKeys { x: key_x, y: key_y }, delta | 1);
            let [mut fast, mut plain] = [(); 2].map(|()| [(); 3].map(|()| vec![0; rows]));
            let [out, generator, evaluator] = fast.each_mut().map(Vec::as_mut_slice);
            keys.garble(delta, &x, &y, out, Halves { generator, evaluator });
            keys.garble_portable(delta, [&x, &y], plain.each_mut().map(Vec::as_mut_slice));
            assert_eq!(fast, plain, "garbling {rows} rows");
            let [_, generator, evaluator] = fast.each_ref().map(Vec::as_slice);
            let (mut got, mut expected) = (vec![0; rows], vec![0; rows]);
            keys.evaluate(&x, &y, Halves { generator, evaluator }, &mut got);
            keys.evaluate_portable([&x, &y, generator, evaluator], &mut expected);
            assert_eq!(got, expected, "evaluating {rows} rows");
            assert_eq!(got, fast[0], "labels of zero give the label of zero");
        }
    }
}
