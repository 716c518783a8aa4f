//! Numbers packed side by side in words, and the switches of a permutation network on rows of such words.
//!
//! A word holds numbers of any widths, each of which is added and subtracted modulo its own power of two. What tells
//! them apart is the mask of their top bits: sums of the bits below carry into a top bit, but not out of it. A number
//! of one bit is added by XOR. Bits above the last number have no meaning, before and after, and change nothing below.

/// The top bit of a number of `width` bits, 1 to 64, that begins at bit `place` of its word.
pub fn top(place: u32, width: u32) -> u64 {
    1 << (place + width - 1)
}

/// The sums of the numbers of two words, whose top bits are given.
#[inline(always)]
pub fn plus(tops: u64, x: u64, y: u64) -> u64 {
    (x & !tops).wrapping_add(y & !tops) ^ ((x ^ y) & tops)
}

/// The differences of the numbers of two words, whose top bits are given.
#[inline(always)]
pub fn minus(tops: u64, x: u64, y: u64) -> u64 {
    (x | tops).wrapping_sub(y & !tops) ^ (!(x ^ y) & tops)
}

/// For each bit, 64 to a word, a word of ones if it is one, else of zeros.
///
/// # Panics
/// Unless there are 64 masks for each word.
pub fn masks_of(bits: &[u64], masks: &mut [u64]) {
    assert_eq!(masks.len(), 64 * bits.len(), "64 masks for each word");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { masks_of_wide(bits, masks) };
    }
    masks_of_each(bits, masks);
}

/// Switches of rows a and b, of L words each, of which two nodes hold components, at the node that knows which rows are
/// to be exchanged. It adds q to a, takes it from b, with q = k + s (e + b - a), row by row. A string k has S words, of
/// which the first L count. `masks` has ones for s = 1, zeros for s = 0.
///
/// # Panics
/// If there is not one row of everything for each of a.
pub fn switch_known<const L: usize, const S: usize>(
    tops: &[u64; L],
    [a, b]: [&mut [[u64; L]]; 2],
    e: &[[u64; L]],
    k: &[[u64; S]],
    masks: &[u64],
) {
    let rows = a.len();
    assert!([b.len(), e.len(), k.len(), masks.len()].iter().all(|&len| len == rows), "one row of each");
    #[cfg(target_arch = "x86_64")]
    if rows >= FEW && is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { switch_known_wide(tops, [a, b], e, k, masks) };
    }
    switch_known_each(tops, [a, b], e, k, masks);
}

/// The same at the other node, which has two strings for every row. They change their places where `flips` has ones:
/// takes k_0 from a, adds it to b, and writes e = k_0 - k_1 + b - a for what a and b were.
///
/// # Panics
/// If there is not one row of everything for each of a.
pub fn switch_unknown<const L: usize, const S: usize>(
    tops: &[u64; L],
    [a, b]: [&mut [[u64; L]]; 2],
    strings: [&[[u64; S]]; 2],
    flips: &[u64],
    e: &mut [[u64; L]],
) {
    let rows = a.len();
    let lengths = [b.len(), strings[0].len(), strings[1].len(), flips.len(), e.len()];
    assert!(lengths.iter().all(|&len| len == rows), "one row of each");
    #[cfg(target_arch = "x86_64")]
    if rows >= FEW && is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { switch_unknown_wide(tops, [a, b], strings, flips, e) };
    }
    switch_unknown_each(tops, [a, b], strings, flips, e);
}

/// Fewer rows fill no vector register.
const FEW: usize = 8;

/// One word of a switch whose setting is known: what a and b become.
#[inline(always)]
pub fn known(tops: u64, [a, b]: [u64; 2], e: u64, k: u64, mask: u64) -> [u64; 2] {
    let q = plus(tops, k, plus(tops, e, minus(tops, b, a)) & mask);
    [plus(tops, a, q), minus(tops, b, q)]
}

/// One word of a switch whose setting is not known: what a and b become, and e.
#[inline(always)]
pub fn unknown(tops: u64, [a, b]: [u64; 2], [zero, one]: [u64; 2], flip: u64) -> ([u64; 2], u64) {
    let exchange = (zero ^ one) & flip;
    let (k_0, k_1) = (zero ^ exchange, one ^ exchange);
    let moved = plus(tops, b, k_0);
    ([minus(tops, a, k_0), moved], minus(tops, minus(tops, moved, a), k_1))
}

#[inline(always)]
fn masks_of_each(bits: &[u64], masks: &mut [u64]) {
    for (word, masks) in bits.iter().zip(masks.as_chunks_mut::<64>().0) {
        masks.iter_mut().enumerate().for_each(|(i, mask)| *mask = (word >> i & 1).wrapping_neg());
    }
}

#[inline(always)]
fn switch_known_each<const L: usize, const S: usize>(
    tops: &[u64; L],
    [a, b]: [&mut [[u64; L]]; 2],
    e: &[[u64; L]],
    k: &[[u64; S]],
    masks: &[u64],
) {
    for ((((a, b), e), k), &mask) in a.iter_mut().zip(b).zip(e).zip(k).zip(masks) {
        for l in 0..L {
            [a[l], b[l]] = known(tops[l], [a[l], b[l]], e[l], k[l], mask);
        }
    }
}

#[inline(always)]
fn switch_unknown_each<const L: usize, const S: usize>(
    tops: &[u64; L],
    [a, b]: [&mut [[u64; L]]; 2],
    [zero, one]: [&[[u64; S]]; 2],
    flips: &[u64],
    e: &mut [[u64; L]],
) {
    for (((((a, b), zero), one), &flip), e) in a.iter_mut().zip(b).zip(zero).zip(one).zip(flips).zip(e) {
        for l in 0..L {
            ([a[l], b[l]], e[l]) = unknown(tops[l], [a[l], b[l]], [zero[l], one[l]], flip);
        }
    }
}

/// The same on vector registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn masks_of_wide(bits: &[u64], masks: &mut [u64]) {
    masks_of_each(bits, masks);
}

/// The same on vector registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn switch_known_wide<const L: usize, const S: usize>(
    tops: &[u64; L],
    rows: [&mut [[u64; L]]; 2],
    e: &[[u64; L]],
    k: &[[u64; S]],
    masks: &[u64],
) {
    switch_known_each(tops, rows, e, k, masks);
}

/// The same on vector registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn switch_unknown_wide<const L: usize, const S: usize>(
    tops: &[u64; L],
    rows: [&mut [[u64; L]]; 2],
    strings: [&[[u64; S]]; 2],
    flips: &[u64],
    e: &mut [[u64; L]],
) {
    switch_unknown_each(tops, rows, strings, flips, e);
}

#[cfg(test)]
mod tests {
    use super::{known, masks_of, minus, plus, switch_known, switch_unknown, top, unknown};
    use crate::{Prg, Seed};

    /// Places and widths that fill a word, or not.
    const WORDS: [&[(u32, u32)]; 4] =
        [&[(0, 1), (1, 1), (2, 16), (18, 1), (19, 32)], &[(0, 64)], &[(0, 32), (32, 32)], &[(0, 5)]];

    fn tops_of(numbers: &[(u32, u32)]) -> u64 {
        numbers.iter().fold(0, |tops, &(place, width)| tops | top(place, width))
    }

    #[test]
    fn every_number_has_its_own_modulus() {
        let random: Vec<[u64; 2]> = Prg::new(&Seed::from_bytes([2; 16])).vector(200);
        for numbers in WORDS {
            let tops = tops_of(numbers);
            for &[x, y] in &random {
                for &(place, width) in numbers {
                    let number = |word: u64| word << (64 - place - width) >> (64 - width);
                    let modulo = |value: u64| value << (64 - width) >> (64 - width);
                    assert_eq!(number(plus(tops, x, y)), modulo(number(x).wrapping_add(number(y))));
                    assert_eq!(number(minus(tops, x, y)), modulo(number(x).wrapping_sub(number(y))));
                }
            }
        }
    }

    #[test]
    fn masks_are_those_of_the_bits() {
        let bits: Vec<u64> = Prg::new(&Seed::from_bytes([4; 16])).vector(5);
        let mut masks = vec![7; 320];
        masks_of(&bits, &mut masks);
        (0..320).for_each(|i| assert_eq!(masks[i], (bits[i / 64] >> (i % 64) & 1).wrapping_neg()));
    }

    fn many_are_switched_as_one<const L: usize, const S: usize>() {
        let mut prg = Prg::new(&Seed::from_bytes([L as u8; 16]));
        let tops: [u64; L] = std::array::from_fn(|l| tops_of(WORDS[l % WORDS.len()]));
        for rows in [0, 1, 7, 8, 9, 64, 100] {
            let [a, b, e] = [(); 3].map(|()| prg.vector::<u64>(rows * L));
            let [zero, one] = [(); 2].map(|()| prg.vector::<u64>(rows * S));
            let masks: Vec<u64> = prg.vector::<u64>(rows).iter().map(|word| (word & 1).wrapping_neg()).collect();
            let (k, e) = ([&zero, &one].map(|words| words.as_chunks::<S>().0), e.as_chunks::<L>().0);
            let [mut known_a, mut unknown_a] = [(); 2].map(|()| a.clone());
            let [mut known_b, mut unknown_b] = [(); 2].map(|()| b.clone());
            let mut sent = vec![[0; L]; rows];
            switch_known(&tops, [&mut known_a, &mut known_b].map(|rows| rows.as_chunks_mut().0), e, k[0], &masks);
            let unknown_rows = [&mut unknown_a, &mut unknown_b].map(|rows| rows.as_chunks_mut().0);
            switch_unknown(&tops, unknown_rows, k, &masks, &mut sent);
            for (at, i, l) in (0..rows).flat_map(|i| (0..L).map(move |l| (i * L + l, i, l))) {
                let expected = known(tops[l], [a[at], b[at]], e[i][l], k[0][i][l], masks[i]);
                assert_eq!([known_a[at], known_b[at]], expected);
                let expected = unknown(tops[l], [a[at], b[at]], k.map(|k| k[i][l]), masks[i]);
                assert_eq!(([unknown_a[at], unknown_b[at]], sent[i][l]), expected);
            }
        }
    }

    #[test]
    fn every_path_switches_alike() {
        many_are_switched_as_one::<1, 2>();
        many_are_switched_as_one::<2, 2>();
        many_are_switched_as_one::<3, 4>();
        many_are_switched_as_one::<6, 6>();
    }
}
