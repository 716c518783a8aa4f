//! Cuckoo hashing of pseudorandom numbers with three choices and no stash.
//!
//! **Failure** with m bins for n numbers has two sides. Far below the threshold of 0.917 n / m the random part is negligible: m = 1.27 n serves
//! from n = 2^8 on with probability 2^-40 (Pinkas, Schneider, Zohner, "Scalable Private Set Intersection Based on OT Extension", TOPS 2018,
//! section 6.4; used without a stash by Pinkas, Schneider, Tkachenko, Yanai, EUROCRYPT 2019). For fewer numbers the smallest obstruction rules,
//! four numbers with the same three bins: n^4 / 24 (6 / m^3)^3 = 9 n^4 / m^9 of them are expected, and m keeps that below 2^-41.

/// Choices of a number.
pub const CHOICES: usize = 3;
/// Evictions before giving up; a number settles after a few dozen.
const PATIENCE: usize = 10_000;
/// An empty bin.
pub const EMPTY: u32 = u32::MAX;

/// How many bins n numbers take.
pub fn bins(n: usize) -> usize {
    let obstruction = (9.0 * (n as f64).powi(4) * 2f64.powi(41)).powf(1.0 / 9.0);
    ((1.27 * n as f64).max(obstruction).ceil() as usize).max(CHOICES)
}

/// The three different bins of a number, by its low 96 bits.
pub fn choices(number: u128, bins: usize) -> [usize; CHOICES] {
    let below =
        |bound: usize, word: u32| ((bound as u64 * u64::from(number.wrapping_shr(32 * word) as u32)) >> 32) as usize;
    let first = below(bins, 0);
    let second = below(bins - 1, 1);
    let second = second + usize::from(second >= first);
    let (low, high) = (first.min(second), first.max(second));
    let third = below(bins - 2, 2);
    let third = third + usize::from(third >= low);
    [first, second, third + usize::from(third >= high)]
}

/// For each bin the index of the number in it, or [`EMPTY`]. None with probability 2^-40, or if numbers are not distinct.
pub fn table(numbers: &[u128]) -> Option<Vec<u32>> {
    let m = bins(numbers.len());
    let mut table = vec![EMPTY; m];
    for new in 0..numbers.len() as u32 {
        let (mut number, mut left) = (new, usize::MAX);
        for turn in 0..=PATIENCE {
            let choices = choices(numbers[number as usize], m);
            let free = choices.into_iter().find(|&bin| table[bin] == EMPTY);
            if let Some(bin) = free {
                table[bin] = number;
                break;
            }
            if turn == PATIENCE {
                return None;
            }
            // Whoever was put out of a bin does not go back there at once.
            let others: Vec<usize> = choices.into_iter().filter(|&bin| bin != left).collect();
            left = others[(turn ^ number as usize) % others.len()];
            std::mem::swap(&mut table[left], &mut number);
        }
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_math::{Prg, Seed};

    #[test]
    fn every_number_is_in_one_of_its_bins() {
        let mut prg = Prg::new(&Seed::from_bytes([3; 16]));
        for n in [0, 1, 2, 3, 10, 255, 256, 257, 5000, 40_000] {
            let numbers: Vec<u128> = prg.vector(n);
            let table = table(&numbers).expect("fixed numbers that fit");
            assert_eq!(table.len(), bins(n));
            let mut found: Vec<u32> = table.iter().copied().filter(|&number| number != EMPTY).collect();
            for (bin, &number) in table.iter().enumerate().filter(|(_, number)| **number != EMPTY) {
                assert!(choices(numbers[number as usize], table.len()).contains(&bin));
            }
            found.sort_unstable();
            assert!(found.iter().copied().eq(0..n as u32));
        }
    }

    #[test]
    fn a_numbers_bins_are_different_and_every_bin_is_chosen() {
        let mut prg = Prg::new(&Seed::from_bytes([4; 16]));
        for m in [3, 4, 7] {
            let mut seen = vec![[false; CHOICES]; m];
            for number in prg.vector::<u128>(2000) {
                let [a, b, c] = choices(number, m);
                assert!(a != b && b != c && a != c);
                [a, b, c].iter().enumerate().for_each(|(choice, &bin)| seen[bin][choice] = true);
            }
            assert!(seen.iter().flatten().all(|&seen| seen));
        }
    }
}
