//! Small steps that the functions share.

use tacit_math::Ring;
use tacit_mpc::{Backend, Linear, Result, linear};

/// The residue of an integer with a sign.
#[inline(always)]
pub(super) fn element<R: Ring>(value: i128) -> R {
    R::from_u128(value as u128)
}

/// x plus a public number in every row.
pub(super) fn plus<R: Ring, B: Backend>(b: &B, x: &B::Vector<R>, value: i128) -> B::Vector<R> {
    with_public(b, x, value, R::add)
}

/// A public number less x.
pub(super) fn minus<R: Ring, B: Backend>(b: &B, value: i128, x: &B::Vector<R>) -> B::Vector<R> {
    with_public(b, x, value, |x, value| value.sub(x))
}

/// A linear map of x and of a public number in every row: of the number there is one row, so memory is passed once.
fn with_public<R: Ring, B: Backend>(b: &B, x: &B::Vector<R>, value: i128, map: impl Fn(R, R) -> R) -> B::Vector<R> {
    let value = b.public_vector(1, || vec![element(value)]);
    x.zip(&value, |x, value| x.iter().map(|&x| map(x, value[0])).collect())
}

/// x times a public integer.
pub(super) fn times<R: Ring, B: Backend>(x: &B::Vector<R>, value: i128) -> B::Vector<R> {
    linear::scale(x, element(value))
}

/// x 2^by, where `by` may be negative: then one of the two integers beside it.
pub(super) fn shifted<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, by: i64) -> Result<B::Vector<R>> {
    match by {
        0 => Ok(x.clone()),
        1.. => Ok(linear::scale(x, R::ONE.shl(by as u32))),
        _ => Ok(b.truncate(&[x], by.unsigned_abs() as usize)?.swap_remove(0)),
    }
}

/// x y 2^-by, by at least 0.
pub(super) fn product<R: Ring, B: Backend>(
    b: &mut B,
    x: &B::Vector<R>,
    y: &B::Vector<R>,
    by: usize,
) -> Result<B::Vector<R>> {
    let mut out = if by == 0 { b.mul(&[x], &[y])? } else { b.multiply_truncate(&[vec![(x, y)]], by)? };
    Ok(out.swap_remove(0))
}

/// value 2^-by, to the nearest integer, where `by` may be negative.
pub(super) fn rounded(value: i128, by: i64) -> i128 {
    match by {
        ..=0 => value << by.unsigned_abs(),
        1..=126 => (value + (1 << (by - 1))) >> by,
        _ => 0,
    }
}

/// A hash of the words that nodes which know t compute of it, for summands all over a ring.
#[cfg(test)]
pub(super) fn hash_of_words<R: Ring>(split: &impl tacit_mpc::Split<R>) -> u64 {
    const ROWS: u128 = 1000;
    let part = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_u128;
    let t: Vec<R> = (0..ROWS).map(|i| R::from_u128(part.wrapping_mul(i * i) >> (128 - R::BITS))).collect();
    let [mut w, mut u] = [(); 2].map(|()| vec![R::ZERO; t.len() * split.products()]);
    split.second(&t, &mut w, &mut vec![R::ZERO; t.len()]);
    split.first(&t, &mut u);
    let words = w.iter().chain(&u).flat_map(|word| [word.to_u128() as u64, (word.to_u128() >> 64) as u64]);
    words.fold(0, |hash: u64, word| hash.wrapping_mul(0x0100_0000_01b3).wrapping_add(word))
}
