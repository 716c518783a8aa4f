//! Sums of bit vectors in cache, 64 bits to a word: XOR in the widest registers of the processor.

#[cfg(target_arch = "x86_64")]
mod wide;

/// Adds b to a.
///
/// # Panics
/// If the lengths differ.
pub fn add(a: &mut [u64], b: &[u64]) {
    assert_eq!(a.len(), b.len(), "vectors of one length");
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = wide::Wide::detect() {
        return wide.add(a, b);
    }
    add_portable(a, b);
}

/// The sum of a and b.
///
/// # Panics
/// If the lengths differ.
pub fn sum(out: &mut [u64], a: &[u64], b: &[u64]) {
    assert!(a.len() == out.len() && b.len() == out.len(), "vectors of one length");
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = wide::Wide::detect() {
        return wide.sum(out, a, b);
    }
    sum_portable(out, a, b);
}

/// Of four vectors, numbered by two bits, the sum is returned in the first. The sum of those whose low bit is set is
/// added to `low`, the sum of those whose high bit is set to `high`.
///
/// # Panics
/// If the lengths differ.
pub fn fold_four(first: &mut [u64], others: [&[u64]; 3], low: &mut [u64], high: &mut [u64]) {
    let len = first.len();
    assert!(low.len() == len && high.len() == len && others.iter().all(|v| v.len() == len), "vectors of one length");
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = wide::Wide::detect() {
        return wide.fold_four(first, others, low, high);
    }
    fold_four_portable(first, others, low, high);
}

/// As [`fold_four`] onto nothing: of four vectors, of which the second lies in `low` and the third in `high`, returns
/// the sum in the first. The sum of those whose low bit is set is in `low`, that of those whose high bit is set in
/// `high`.
///
/// # Panics
/// If the lengths differ.
pub fn join_four(first: &mut [u64], low: &mut [u64], high: &mut [u64], last: &[u64]) {
    let len = first.len();
    assert!(low.len() == len && high.len() == len && last.len() == len, "vectors of one length");
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = wide::Wide::detect() {
        return wide.join_four(first, low, high, last);
    }
    join_four_portable(first, low, high, last);
}

#[inline(always)]
fn add_portable(a: &mut [u64], b: &[u64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
}

#[inline(always)]
fn sum_portable(out: &mut [u64], a: &[u64], b: &[u64]) {
    out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = a ^ b);
}

#[inline(always)]
fn fold_four_portable(first: &mut [u64], others: [&[u64]; 3], low: &mut [u64], high: &mut [u64]) {
    let others = others[0].iter().zip(others[1]).zip(others[2]);
    for (((v0, ((&v1, &v2), &v3)), low), high) in first.iter_mut().zip(others).zip(low).zip(high) {
        *low ^= v1 ^ v3;
        *high ^= v2 ^ v3;
        *v0 ^= v1 ^ v2 ^ v3;
    }
}

#[inline(always)]
fn join_four_portable(first: &mut [u64], low: &mut [u64], high: &mut [u64], last: &[u64]) {
    for (((v0, v1), v2), &v3) in first.iter_mut().zip(low).zip(high).zip(last) {
        *v0 ^= *v1 ^ *v2 ^ v3;
        *v1 ^= v3;
        *v2 ^= v3;
    }
}

#[cfg(test)]
mod tests {
    use super::{add, add_portable, fold_four, fold_four_portable, join_four, join_four_portable, sum, sum_portable};
    use crate::{Prg, Seed};

    #[test]
    fn paths_agree_at_every_length() {
        let mut prg = Prg::new(&Seed::from_bytes([41; 16]));
        for len in 0..40 {
            let [a, b, c, d, low, high]: [Vec<u64>; 6] = std::array::from_fn(|_| prg.vector(len));
            let (mut wide, mut portable) = (a.clone(), a.clone());
            add(&mut wide, &b);
            add_portable(&mut portable, &b);
            assert_eq!(wide, portable);
            let (mut wide, mut portable) = (c.clone(), d.clone());
            sum(&mut wide, &a, &b);
            sum_portable(&mut portable, &a, &b);
            assert_eq!(wide, portable);
            let [mut folded, mut joined, mut portable] = [(); 3].map(|()| [a.clone(), b.clone(), c.clone()]);
            let [first, to_low, to_high] = &mut folded;
            to_low.fill(0);
            to_high.fill(0);
            fold_four(first, [&b, &c, &d], to_low, to_high);
            let [first, to_low, to_high] = &mut joined;
            join_four(first, to_low, to_high, &d);
            let [first, to_low, to_high] = &mut portable;
            join_four_portable(first, to_low, to_high, &d);
            assert!(joined == folded && portable == folded);
            let (mut wide, mut portable) = ([a.clone(), low.clone(), high.clone()], [a, low, high]);
            let [first, to_low, to_high] = &mut wide;
            fold_four(first, [&b, &c, &d], to_low, to_high);
            let [first, to_low, to_high] = &mut portable;
            fold_four_portable(first, [&b, &c, &d], to_low, to_high);
            assert_eq!(wide, portable);
        }
    }
}
