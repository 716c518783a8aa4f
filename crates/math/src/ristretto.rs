//! Multiplication of many points of ristretto255 (RFC 9496) by one secret scalar, eight points at a time, on processors
//! with AVX-512 and its 52-bit multiplier (IFMA). Decoding, the map from uniform bytes and encoding are inside, since
//! they cost as much as a third of a multiplication when done one by one. Points are multiplied by half the scalar:
//! doubles are encoded by one inversion for many.
//!
//! Multiples of one public point by a scalar for each point, for blinding by sums, take a fifth of the time, from a
//! table ([`Comb`]).
//!
//! Neither scalar nor points steer a branch or an address, except that the place of an invalid encoding is told.

mod comb;
mod field;
mod point;

pub use comb::Comb;
use point::Point;
use zeroize::Zeroizing;

/// Points to a register.
const LANES: usize = 8;

/// Points whose encodings share an inversion.
const TOGETHER: usize = 16 * LANES;

/// The order of the group, 2^252 + 27742317777372353535851937790883648493, by words.
const ORDER: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

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
        let digits = Zeroizing::new(digits(&half(scalar)));
        for (uniform, out) in uniform.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
            unsafe { map_and_multiply(&digits, uniform, out) };
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
        let digits = Zeroizing::new(digits(&half(scalar)));
        for (number, (points, out)) in points.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)).enumerate() {
            // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
            let done = unsafe { decode_and_multiply(&digits, points, out) };
            done.map_err(|place| number * TOGETHER + place)?;
        }
        Ok(())
    }

    /// The table of a public point for [`Self::map_and_add`] and [`Self::add`]; None if the encoding is not canonical,
    /// is no point, or is the identity. It takes as long as about ten multiplications.
    pub fn comb(&self, point: &Encoding) -> Option<Comb> {
        // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
        unsafe { Comb::of(point) }
    }

    /// `out[i]` = 2 (P(`uniform[i]`) + `scalars[i]` · C), P as in [`Self::map_and_multiply`], C the point of the table.
    /// Scalars are below 2^253.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn map_and_add(&self, comb: &Comb, scalars: &[[u8; 32]], uniform: &[[u8; 64]], out: &mut [Encoding]) {
        assert!(uniform.len() == out.len() && scalars.len() == out.len(), "one scalar and encoding for each input");
        let pieces = uniform.chunks(TOGETHER).zip(scalars.chunks(TOGETHER)).zip(out.chunks_mut(TOGETHER));
        for ((uniform, scalars), out) in pieces {
            // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
            unsafe { map_and_add(comb, scalars, uniform, out) };
        }
    }

    /// `out[i]` = 2 (`points[i]` + `scalars[i]` · C), C the point of the table. Scalars are below 2^253.
    ///
    /// # Errors
    /// The index of an encoding that is not canonical, is no point, or is the identity.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add(
        &self,
        comb: &Comb,
        scalars: &[[u8; 32]],
        points: &[Encoding],
        out: &mut [Encoding],
    ) -> Result<(), usize> {
        assert!(points.len() == out.len() && scalars.len() == out.len(), "one scalar and encoding for each input");
        let pieces = points.chunks(TOGETHER).zip(scalars.chunks(TOGETHER)).zip(out.chunks_mut(TOGETHER));
        for (number, ((points, scalars), out)) in pieces.enumerate() {
            // SAFETY: self exists, so the processor has AVX-512F, DQ and IFMA.
            let done = unsafe { decode_and_add(comb, scalars, points, out) };
            done.map_err(|place| number * TOGETHER + place)?;
        }
        Ok(())
    }
}

/// A full set of lanes: those behind the last input repeat it.
fn lanes<T>(inputs: &[T]) -> [&T; LANES] {
    core::array::from_fn(|lane| &inputs[lane.min(inputs.len() - 1)])
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn map_and_multiply(digits: &[i8; 64], uniform: &[[u8; 64]], out: &mut [Encoding]) {
    let mut multiplied = Vec::with_capacity(uniform.len().div_ceil(LANES));
    for uniform in uniform.chunks(LANES) {
        multiplied.push(point::doubling(&point::multiply(&mapped(uniform), digits)));
    }
    encode(&multiplied, out);
}

/// The error is the place of an invalid encoding.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn decode_and_multiply(digits: &[i8; 64], encodings: &[Encoding], out: &mut [Encoding]) -> Result<(), usize> {
    let mut multiplied = Vec::with_capacity(encodings.len().div_ceil(LANES));
    for (group, encodings) in encodings.chunks(LANES).enumerate() {
        let point = decoded(encodings).map_err(|lane| group * LANES + lane)?;
        multiplied.push(point::doubling(&point::multiply(&point, digits)));
    }
    encode(&multiplied, out);
    Ok(())
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn map_and_add(comb: &Comb, scalars: &[[u8; 32]], uniform: &[[u8; 64]], out: &mut [Encoding]) {
    let mut sums = Vec::with_capacity(uniform.len().div_ceil(LANES));
    for (uniform, scalars) in uniform.chunks(LANES).zip(scalars.chunks(LANES)) {
        sums.push(point::doubling(&comb.add_multiple(&mapped(uniform), lanes(scalars))));
    }
    encode(&sums, out);
}

/// The error is the place of an invalid encoding.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn decode_and_add(
    comb: &Comb,
    scalars: &[[u8; 32]],
    encodings: &[Encoding],
    out: &mut [Encoding],
) -> Result<(), usize> {
    let mut sums = Vec::with_capacity(encodings.len().div_ceil(LANES));
    for (group, (encodings, scalars)) in encodings.chunks(LANES).zip(scalars.chunks(LANES)).enumerate() {
        let point = decoded(encodings).map_err(|lane| group * LANES + lane)?;
        sums.push(point::doubling(&comb.add_multiple(&point, lanes(scalars))));
    }
    encode(&sums, out);
    Ok(())
}

/// The points of at most eight uniform strings.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn mapped(uniform: &[[u8; 64]]) -> Point {
    let [first, second] = [0, 1].map(|half| lanes(uniform).map(|bytes| &bytes.as_chunks::<32>().0[half]));
    point::sum(&point::map(first), &point::map(second))
}

/// The points of at most eight encodings; the error is the place of an invalid one.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn decoded(encodings: &[Encoding]) -> Result<Point, usize> {
    let (valid, point) = point::decode(lanes(encodings));
    if valid == u8::MAX { Ok(point) } else { Err(valid.trailing_ones() as usize) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn encode(doublings: &[point::Doubling], out: &mut [Encoding]) {
    point::encode(doublings, |group, encodings| {
        let out = &mut out[group * LANES..];
        let count = out.len().min(LANES);
        out[..count].copy_from_slice(&encodings[..count]);
    });
}

/// Half of a scalar below 2^253 modulo the group's order, which is odd: it is added to an odd scalar first.
fn half(scalar: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let (words, _) = scalar.as_chunks::<8>();
    let mut sum = Zeroizing::new([0; 4]);
    let (odd, mut carry) = (u64::from(scalar[0] & 1).wrapping_neg(), 0u128);
    for ((sum, word), order) in sum.iter_mut().zip(words).zip(ORDER) {
        carry += u128::from(u64::from_le_bytes(*word)) + u128::from(order & odd);
        *sum = carry as u64;
        carry >>= 64;
    }
    let mut out = Zeroizing::new([0; 32]);
    for (i, bytes) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *bytes = (sum[i] >> 1 | sum.get(i + 1).unwrap_or(&0) << 63).to_le_bytes();
    }
    out
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
