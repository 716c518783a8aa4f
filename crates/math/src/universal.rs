//! A universal hash of bit columns: linear over bits, with values in GF(2^64).
//!
//! A column of words a(0), a(1), ... has the hash sum a(w) x(w), where the coefficients x(w) are the key. Two different
//! columns collide with probability 2^-64 over a uniform key (Carter and Wegman 1979): a difference in one word is hit
//! by one value of that word's coefficient only. The field is the polynomials over bits modulo z^64 + z^4 + z^3 +
//! z + 1.
//!
//! Sums are kept without reduction, 128 bits each, so that a long column costs one carry-less multiplication a word.

#[cfg(target_arch = "x86_64")]
mod wide;

use crate::gf::portable::{carryless, reduce64};

/// Bits of a hash: two different columns have the same with probability 2^-BITS.
pub const BITS: u32 = u64::BITS;

/// Adds the products of every column's words with the key's to that column's sum. Columns lie one after the other, each
/// as long as the key.
///
/// # Panics
/// Unless there is one sum for every column.
pub fn accumulate(sums: &mut [u128], columns: &[u64], key: &[u64]) {
    assert_eq!(columns.len(), sums.len() * key.len(), "a sum for every column");
    if key.is_empty() {
        return;
    }
    let product = products().next().unwrap_or(portable);
    sums.iter_mut().zip(columns.chunks_exact(key.len())).for_each(|(sum, column)| *sum ^= product(column, key));
}

/// The field element that a sum stands for.
pub fn reduce(sum: u128) -> u64 {
    reduce64(sum)
}

/// An inner product of words without carry and without reduction.
type Product = fn(&[u64], &[u64]) -> u128;

/// Those that this processor has instructions for, the fastest one first.
fn products() -> impl Iterator<Item = Product> {
    #[cfg(target_arch = "x86_64")]
    return wide::products();
    #[cfg(not(target_arch = "x86_64"))]
    std::iter::empty()
}

/// The product that runs everywhere, in time that depends on lengths alone.
fn portable(a: &[u64], b: &[u64]) -> u128 {
    a.iter().zip(b).fold(0, |sum, (&a, &b)| sum ^ carryless(a, b))
}

#[cfg(test)]
mod tests {
    use super::{portable, products, reduce};
    use crate::{Prg, Seed};

    #[test]
    fn paths_agree_at_every_length() {
        let mut prg = Prg::new(&Seed::from_bytes([31; 16]));
        for len in 0..70 {
            let (a, b): (Vec<u64>, Vec<u64>) = (prg.vector(len), prg.vector(len));
            let expected = portable(&a, &b);
            products().for_each(|product| assert_eq!(product(&a, &b), expected, "{len} words"));
        }
    }

    #[test]
    fn products_are_those_of_the_field() {
        // z^63 z = z^64 = z^4 + z^3 + z + 1; (z + 1)^2 = z^2 + 1.
        assert_eq!(reduce(portable(&[1 << 63], &[2])), 0b11011);
        assert_eq!(reduce(portable(&[3], &[3])), 5);
        // Raising to 2^64 is the identity: 64 squarings.
        for x in [2, 0x0123_4567_89ab_cdef, !0] {
            assert_eq!((0..64).fold(x, |y, _| reduce(portable(&[y], &[y]))), x);
        }
    }
}
