//! The compressing code against its definition and its laws.

use tacit_math::code::{BLOCK, BlockAccumulate, COMBINATIONS, WORDS};
use tacit_math::{Prg, Seed};

const SIZES: [(usize, u32, usize); 5] = [(464, 4, 3_700), (512, 5, 8_192), (3, 8, 1), (3, 8, 321), (9, 7, 576)];

/// Of the codes.
fn seed() -> Seed {
    Seed::from_bytes(*b"code of a test..")
}

fn prg(seed: u8) -> Prg {
    println!("seed {seed}");
    Prg::new(&Seed::from_bytes([seed; 16]))
}

#[test]
fn is_linear() {
    let mut prg = prg(1);
    for (segments, log, outputs) in SIZES {
        let code = BlockAccumulate::new(&seed(), segments, log, outputs);
        let (x, y): (Vec<u128>, Vec<u128>) = (prg.vector(code.length()), prg.vector(code.length()));
        let sum: Vec<u128> = x.iter().zip(&y).map(|(x, y)| x ^ y).collect();
        let of_parts: Vec<u128> = code.compress(&x).iter().zip(code.compress(&y)).map(|(x, y)| x ^ y).collect();
        assert_eq!(code.compress(&sum), of_parts);
        assert_eq!(of_parts.len(), outputs);
    }
}

/// Bits of a word are compressed apart, so a code over words of any width is the same binary code.
#[test]
fn is_one_binary_code_for_all_words() {
    let mut prg = prg(2);
    for (segments, log, outputs) in SIZES {
        let code = BlockAccumulate::new(&seed(), segments, log, outputs);
        let x: Vec<u128> = prg.vector(code.length());
        let narrow: Vec<u64> = x.iter().map(|x| (x >> 40) as u64).collect();
        let expected: Vec<u64> = code.compress(&x).iter().map(|x| (x >> 40) as u64).collect();
        assert_eq!(code.compress(&narrow), expected);
    }
}

#[test]
fn sparse_vectors_are_vectors() {
    let mut prg = prg(3);
    let mut scratch = Vec::new();
    for (segments, log, outputs) in SIZES {
        let values: Vec<u64> = prg.vector(segments);
        let places: Vec<u32> = prg.vector::<u32>(segments).iter().map(|place| place >> (32 - log)).collect();
        let mut dense = vec![0; segments << log];
        for (i, (&place, &value)) in places.iter().zip(&values).enumerate() {
            dense[(i << log) + place as usize] = value;
        }
        let code = BlockAccumulate::new(&seed(), segments, log, outputs);
        let mut out = vec![7];
        code.compress_sparse(&places, &values, &mut scratch, &mut out);
        assert_eq!(out[0], 7);
        assert_eq!(out[1..], code.compress(&dense));
    }
}

/// Every output depends on about half of the inputs, and every input reaches about half of the outputs.
#[test]
fn columns_have_half_weight() {
    let mut prg = prg(4);
    let code = BlockAccumulate::new(&seed(), 64, 7, 4_096);
    for start in prg.vector::<u32>(4) {
        // 128 unit vectors at once, one a bit.
        let mut units = vec![0_u128; code.length()];
        let places: Vec<usize> = (0..128).map(|bit| (start as usize + 61 * bit) % code.length()).collect();
        places.iter().enumerate().for_each(|(bit, &place)| units[place] = 1 << bit);
        let columns = code.compress(&units);
        for (bit, place) in places.iter().enumerate() {
            let weight = columns.iter().filter(|&column| column >> bit & 1 == 1).count();
            assert!((1_600..2_496).contains(&weight), "input {place} reaches {weight} of 4096");
        }
    }
}

/// The rank of the code is full: no linear combination of the outputs is zero.
#[test]
fn outputs_are_independent() {
    let code = BlockAccumulate::new(&seed(), 32, 5, 512);
    let mut rows = vec![[0_u128; 8]; 512];
    for part in 0..8 {
        let mut units = vec![0_u128; code.length()];
        (0..128).for_each(|bit| units[part * 128 + bit] = 1 << bit);
        code.compress(&units).into_iter().zip(&mut rows).for_each(|(column, row)| row[part] = column);
    }
    let bit = |row: &[u128; 8], i: usize| row[i / 128] >> (i % 128) & 1 == 1;
    let mut rank = 0;
    for column in 0..1_024 {
        let Some(pivot) = (rank..512).find(|&row| bit(&rows[row], column)) else { continue };
        rows.swap(rank, pivot);
        let lead = rows[rank];
        for row in &mut rows[rank + 1..] {
            if bit(row, column) {
                row.iter_mut().zip(&lead).for_each(|(word, lead)| *word ^= lead);
            }
        }
        rank += 1;
    }
    assert_eq!(rank, 512);
}

/// Work on one session's code is of no use in another one.
#[test]
fn another_seed_gives_another_code() {
    let mut prg = prg(5);
    let x: Vec<u128> = prg.vector(64 << 7);
    let [one, other] =
        [0, 1].map(|seed| BlockAccumulate::new(&Seed::from_bytes([seed; 16]), 64, 7, 4_096).compress(&x));
    assert_eq!(one.iter().zip(&other).filter(|(one, other)| one == other).count(), 0);
}

/// With the identity beside them, the combinations generate a self-dual code whose weights are multiples of four and
/// that has no word of weight 4 or 8.
#[test]
fn the_blocks_code_is_extremal() {
    let rows = COMBINATIONS;
    let columns: [u32; BLOCK] = std::array::from_fn(|j| (0..BLOCK).map(|i| (rows[i] >> j & 1) << i).sum());
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row.count_ones() % 4, 3, "row {i}");
        for (j, other) in rows.iter().enumerate() {
            assert_eq!((row & other).count_ones() % 2, u32::from(i == j), "rows {i} and {j}");
        }
    }
    // A word of weight below 14 has at most six ones in one of its halves; the inverse of the combinations is their
    // transpose.
    let mut words = [0_u64; 4];
    let mut count = |half: &[u32; BLOCK], counted: &dyn Fn(u32, u32) -> bool| {
        let mut sums = vec![(0, 0, 0_u32)];
        while let Some((ones, next, sum)) = sums.pop() {
            let weight = ones + sum.count_ones();
            if ones > 0 && weight < 16 && counted(ones, sum.count_ones()) {
                words[weight as usize / 4] += 1;
            }
            if ones < 6 {
                sums.extend((next..BLOCK).map(|row| (ones + 1, row + 1, sum ^ half[row])));
            }
        }
    };
    count(&rows, &|own, other| own <= other);
    count(&columns, &|own, other| own < other);
    assert_eq!(words, [0, 0, 0, WORDS[3]]);
    assert_eq!(WORDS.iter().sum::<u64>(), 1 << BLOCK);
}
