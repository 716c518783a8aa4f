//! Carry-less multiplication by integer multiplications, and the reductions of all paths.

use super::Field;

/// The carry-less product. Low half by [`low_half`]; the high half is the low half of the reversed numbers, reversed.
pub(crate) fn carryless(a: u64, b: u64) -> u128 {
    let high = low_half(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(low_half(a, b)) | u128::from(high) << 64
}

/// The low 64 bits of the carry-less product: integer products of numbers with holes of three zeros, into which carries
/// fall (T. Pornin, BearSSL, `ghash_ctmul64`). At most 16 terms meet in one place, and the 16 only at the top.
fn low_half(a: u64, b: u64) -> u64 {
    const CLASS: u64 = 0x1111_1111_1111_1111;
    let split = |x: u64| -> [u64; 4] { std::array::from_fn(|i| x & CLASS << i) };
    let (a, b) = (split(a), split(b));
    (0..4).fold(0, |out, k| {
        let class = (0..4).fold(0, |sum, i| sum ^ a[i].wrapping_mul(b[(k + 4 - i) % 4]));
        out | class & CLASS << k
    })
}

/// A polynomial of degree below 127, modulo x^64 + x^4 + x^3 + x + 1.
pub(crate) fn reduce64(product: u128) -> u64 {
    let (low, high) = (product as u64, u128::from((product >> 64) as u64));
    let folded = high ^ high << 1 ^ high << 3 ^ high << 4;
    let rest = (folded >> 64) as u64;
    low ^ folded as u64 ^ rest ^ rest << 1 ^ rest << 3 ^ rest << 4
}

/// A polynomial of degree below 255, low and high half, modulo x^128 + x^7 + x^2 + x + 1.
pub(super) fn reduce128(low: u128, high: u128) -> u128 {
    let rest = high >> 127 ^ high >> 126 ^ high >> 121;
    let fold = |x: u128| x ^ x << 1 ^ x << 2 ^ x << 7;
    low ^ fold(high) ^ fold(rest)
}

pub(super) fn add_scaled<F: Field>(out: &mut [u128], scalars: &[F], element: u128) {
    for (out, scalar) in out.iter_mut().zip(scalars) {
        *out ^= scalar.scale(element);
    }
}

pub(super) fn inner_product<F: Field>(scalars: &[F], elements: &[u128]) -> u128 {
    scalars.iter().zip(elements).fold(0, |sum, (scalar, &element)| sum ^ scalar.scale(element))
}
