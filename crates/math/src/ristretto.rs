//! Multiplication of many points of ristretto255 (RFC 9496) by one secret scalar, eight points at a time, on processors
//! with AVX-512 and its 52-bit multiplier (IFMA). Decoding, the map from uniform bytes and encoding are inside, since they
//! cost as much as a third of a multiplication when done one by one.
//!
//! Neither scalar nor points steer a branch or an address, except that the place of an invalid encoding is told.

mod field;
mod point;

use zeroize::Zeroizing;

/// Points to a register.
const LANES: usize = 8;

/// The canonical encoding of a point.
pub type Encoding = [u8; 32];

/// The proof that this processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Wide(());

impl Wide {
    /// None if the processor lacks AVX-512F, AVX-512DQ or AVX-512IFMA.
    pub fn detect() -> Option<Self> {
        let capable = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma");
        capable.then_some(Self(()))
    }

    /// `out[i]` = scalar · P(`uniform[i]`), P the map from 64 uniform bytes to the group (RFC 9496, section 4.3.4).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn map_and_multiply(&self, scalar: &[u8; 32], uniform: &[[u8; 64]], out: &mut [Encoding]) {
        assert_eq!(uniform.len(), out.len(), "one encoding for each input");
        let digits = Zeroizing::new(digits(scalar));
        for (uniform, out) in uniform.chunks(LANES).zip(out.chunks_mut(LANES)) {
            let half = |from: usize| lanes(uniform).map(|bytes| &bytes.as_chunks::<32>().0[from]);
            // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
            let encodings = unsafe { map_and_multiply(&digits, half(0), half(1)) };
            out.copy_from_slice(&encodings[..out.len()]);
        }
    }

    /// `out[i]` = scalar · `points[i]`.
    ///
    /// # Errors
    /// The index of an encoding that is not canonical, is no point, or is the identity.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn multiply(&self, scalar: &[u8; 32], points: &[Encoding], out: &mut [Encoding]) -> Result<(), usize> {
        assert_eq!(points.len(), out.len(), "one encoding for each input");
        let digits = Zeroizing::new(digits(scalar));
        for (number, (points, out)) in points.chunks(LANES).zip(out.chunks_mut(LANES)).enumerate() {
            // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
            let (valid, encodings) = unsafe { decode_and_multiply(&digits, lanes(points)) };
            if valid != u8::MAX {
                return Err(number * LANES + valid.trailing_ones() as usize);
            }
            out.copy_from_slice(&encodings[..out.len()]);
        }
        Ok(())
    }
}

/// A full set of lanes: those behind the last input repeat it.
fn lanes<T>(inputs: &[T]) -> [&T; LANES] {
    core::array::from_fn(|lane| &inputs[lane.min(inputs.len() - 1)])
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn map_and_multiply(digits: &[i8; 64], first: [&[u8; 32]; 8], second: [&[u8; 32]; 8]) -> [Encoding; LANES] {
    let point = point::sum(&point::map(first), &point::map(second));
    point::encode(&point::multiply(&point, digits))
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn decode_and_multiply(digits: &[i8; 64], encodings: [&[u8; 32]; 8]) -> (u8, [Encoding; LANES]) {
    let (valid, point) = point::decode(encodings);
    (valid, point::encode(&point::multiply(&point, digits)))
}

/// A scalar below 2^253, little-endian, as digits of -8..=8 to base 16.
fn digits(scalar: &[u8; 32]) -> [i8; 64] {
    let mut out = [0; 64];
    for (pair, byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(scalar) {
        *pair = [(byte & 15) as i8, (byte >> 4) as i8];
    }
    for i in 0..63 {
        let carry = (out[i] + 8) >> 4;
        out[i] -= carry << 4;
        out[i + 1] += carry;
    }
    out
}
