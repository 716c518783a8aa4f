//! Polynomials as bytes: 32 bits, 8 bits and 4 bits of all words apart, so that vector instructions cut them.

use tacit_math::ntt::DEGREE;
use tacit_math::simd::{Kernel, dispatch};

/// Bytes of [`DEGREE`] words of 4, 12 or 44 bits.
pub(super) const fn bytes(bits: u32) -> usize {
    bytes_of(DEGREE, bits)
}

/// Bytes of an even number of words.
pub(super) const fn bytes_of(words: usize, bits: u32) -> usize {
    words * bits as usize / 8
}

/// Appends the low bits of words.
pub(super) fn pack(words: &[u64], bits: u32, message: &mut Vec<u8>) {
    let start = message.len();
    message.resize(start + bytes_of(words.len(), bits), 0);
    dispatch(Pack { words, bits, out: &mut message[start..] });
}

/// Takes words of `bits` bits off a message's front.
pub(super) fn unpack(message: &mut &[u8], bits: u32, words: &mut [u64]) {
    let (now, later) = message.split_at(bytes_of(words.len(), bits));
    dispatch(Unpack { bytes: now, bits, words });
    *message = later;
}

/// Takes residues of a prime off a message's front; whether all are below it.
pub(super) fn unpack_residues(message: &mut &[u8], prime: u64, words: &mut [u64]) -> bool {
    unpack(message, tacit_math::ntt::PRIME_BITS, words);
    words.iter().fold(0, |above, &word| above | (prime - 1).wrapping_sub(word)) >> 63 == 0
}

struct Pack<'a> {
    words: &'a [u64],
    bits: u32,
    out: &'a mut [u8],
}

impl Kernel for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut out, mut shift) = (self.out, 0);
        if self.bits >= 32 {
            let (low, rest) = out.split_at_mut(4 * self.words.len());
            low.as_chunks_mut::<4>()
                .0
                .iter_mut()
                .zip(self.words)
                .for_each(|(out, &word)| *out = (word as u32).to_le_bytes());
            (out, shift) = (rest, 32);
        }
        if self.bits % 32 >= 8 {
            let (middle, rest) = out.split_at_mut(self.words.len());
            middle.iter_mut().zip(self.words).for_each(|(out, &word)| *out = (word >> shift) as u8);
            (out, shift) = (rest, shift + 8);
        }
        let (first, second) = self.words.split_at(self.words.len() / 2);
        for (out, (&first, &second)) in out.iter_mut().zip(first.iter().zip(second)) {
            *out = (first >> shift & 15 | (second >> shift & 15) << 4) as u8;
        }
    }
}

struct Unpack<'a> {
    bytes: &'a [u8],
    bits: u32,
    words: &'a mut [u64],
}

impl Kernel for Unpack<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut bytes, mut shift) = (self.bytes, 0);
        self.words.fill(0);
        if self.bits >= 32 {
            let (low, rest) = bytes.split_at(4 * self.words.len());
            let low = low.as_chunks::<4>().0.iter();
            self.words.iter_mut().zip(low).for_each(|(word, &low)| *word = u64::from(u32::from_le_bytes(low)));
            (bytes, shift) = (rest, 32);
        }
        if self.bits % 32 >= 8 {
            let (middle, rest) = bytes.split_at(self.words.len());
            self.words.iter_mut().zip(middle).for_each(|(word, &byte)| *word |= u64::from(byte) << shift);
            (bytes, shift) = (rest, shift + 8);
        }
        let (first, second) = self.words.split_at_mut(self.words.len() / 2);
        for ((first, second), &byte) in first.iter_mut().zip(second).zip(bytes) {
            *first |= u64::from(byte & 15) << shift;
            *second |= u64::from(byte >> 4) << shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DEGREE, bytes, bytes_of, pack, unpack, unpack_residues};
    use tacit_math::{Prg, Seed};

    #[test]
    fn words_come_back() {
        let words: Vec<u64> = Prg::new(&Seed::from_bytes([8; 16])).vector(DEGREE);
        let mut message = vec![];
        let widths = [44, 12, 4];
        widths.iter().for_each(|&bits| pack(&words, bits, &mut message));
        assert_eq!(message.len(), widths.into_iter().map(bytes).sum());
        let (mut rest, mut back) = (&message[..], vec![0; DEGREE]);
        for bits in widths {
            unpack(&mut rest, bits, &mut back);
            assert!(back.iter().zip(&words).all(|(back, word)| *back == word & ((1 << bits) - 1)), "{bits} bits");
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn few_words_come_back() {
        for count in [0, 2, 8, 40] {
            let words: Vec<u64> = Prg::new(&Seed::from_bytes([9; 16])).vector(count);
            let (mut message, mut back) = (vec![], vec![1; count]);
            pack(&words, 44, &mut message);
            assert_eq!(message.len(), bytes_of(count, 44));
            unpack(&mut &message[..], 44, &mut back);
            assert!(back.iter().zip(&words).all(|(back, word)| *back == word & ((1 << 44) - 1)), "{count} words");
        }
    }

    #[test]
    fn numbers_that_are_not_below_the_prime_are_seen() {
        let prime = 0xfff_ffdf_8001;
        for (largest, fits) in [(prime - 1, true), (prime, false), ((1 << 44) - 1, false)] {
            let (mut words, mut message) = (vec![0; DEGREE], vec![]);
            words[DEGREE - 3] = largest;
            pack(&words, 44, &mut message);
            assert_eq!(unpack_residues(&mut &message[..], prime, &mut words), fits, "{largest}");
        }
    }
}
