//! Products of band matrices over GF(2) with vectors of 64-bit or 128-bit words. Each row holds its bits in a band of a
//! few hundred neighbouring columns; the rest of it is zero.
//!
//! Two paths with equal results: masked XORs of 512-bit registers, one a cycle, and a portable one. The bits and
//! positions of rows are public or a party's own: they choose what is added. The time does not depend on the vector.

mod portable;
#[cfg(target_arch = "x86_64")]
mod wide;

use bytemuck::Pod;
use std::ops::{BitXor, BitXorAssign};

/// A row: bit j of the band, in little-endian order of words and bits, is the entry in column start + j.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<const W: usize> {
    /// The first column of the band.
    pub start: u32,
    /// The band, 64 W columns wide.
    pub bits: [u64; W],
}

/// What the columns hold: a vector space over GF(2) whose addition is XOR.
pub trait Word:
    Pod + Send + Sync + Default + PartialEq + BitXor<Output = Self> + BitXorAssign + sealed::Kernels
{
    /// The word if `bit` is 1, zero if it is 0, without a branch.
    fn masked(self, bit: u64) -> Self;
}

impl Word for u64 {
    fn masked(self, bit: u64) -> Self {
        self & bit.wrapping_neg()
    }
}

impl Word for u128 {
    fn masked(self, bit: u64) -> Self {
        self & u128::from(bit).wrapping_neg()
    }
}

mod sealed {
    use super::Row;

    /// The 512-bit path of a kind of word; false if this processor has none, and nothing is done.
    pub trait Kernels: Sized {
        fn products<const W: usize>(rows: &[Row<W>], columns: &[Self], out: &mut [Self]) -> bool;
        fn substitute<const W: usize>(pivots: &[[u64; W]], columns: &mut [Self]) -> bool;
    }
}

macro_rules! kernels {
    ($word:ty, $lanes:ident) => {
        impl sealed::Kernels for $word {
            fn products<const W: usize>(rows: &[Row<W>], columns: &[Self], out: &mut [Self]) -> bool {
                #[cfg(target_arch = "x86_64")]
                if let Some(wide) = wide::Wide::detect() {
                    wide.products::<wide::$lanes, W>(rows, columns, out);
                    return true;
                }
                let _ = (rows, columns, out);
                false
            }

            fn substitute<const W: usize>(pivots: &[[u64; W]], columns: &mut [Self]) -> bool {
                #[cfg(target_arch = "x86_64")]
                if let Some(wide) = wide::Wide::detect() {
                    wide.substitute::<wide::$lanes, W>(pivots, columns);
                    return true;
                }
                let _ = (pivots, columns);
                false
            }
        }
    };
}

kernels!(u64, Lanes64);
kernels!(u128, Lanes128);

/// `out[i]` becomes the product of row i and the columns.
///
/// # Panics
/// If the lengths of rows and out differ, or a band ends after the last column.
pub fn products<T: Word, const W: usize>(rows: &[Row<W>], columns: &[T], out: &mut [T]) {
    assert_eq!(rows.len(), out.len(), "one product for each row");
    let last = rows.iter().map(|row| row.start as usize + 64 * W).max().unwrap_or(0);
    assert!(last <= columns.len(), "every band lies within the columns");
    if !T::products(rows, columns, out) {
        portable::products(rows, columns, out);
    }
}

/// Solves a triangular band system in place, last column first. Row i of the system has its first one in column i, as
/// bit 0 of `pivots[i]`, and `columns[i]` is its right side. Where `pivots[i]` is zero, `columns[i]` is chosen freely
/// and stays. Afterwards the product of every row and the columns is its right side.
///
/// # Panics
/// If there are fewer than 64 W columns from the last row's position on.
pub fn substitute<T: Word, const W: usize>(pivots: &[[u64; W]], columns: &mut [T]) {
    assert!(pivots.is_empty() || pivots.len() - 1 + 64 * W <= columns.len(), "every band lies within the columns");
    if !T::substitute(pivots, columns) {
        portable::substitute(pivots, columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prg, Seed};

    /// Rows of random bands at random places among `columns`.
    fn rows<const W: usize>(count: usize, columns: usize, prg: &mut Prg) -> Vec<Row<W>> {
        let words = prg.vector::<u64>(count * (W + 1));
        let row = |words: &[u64]| Row {
            start: (words[W] % (columns - 64 * W + 1) as u64) as u32,
            bits: std::array::from_fn(|j| words[j]),
        };
        words.chunks(W + 1).map(row).collect()
    }

    fn product<T: Word, const W: usize>(row: &Row<W>, columns: &[T]) -> T {
        let entry = |j: usize| columns[row.start as usize + j].masked(row.bits[j / 64] >> (j % 64) & 1);
        (0..64 * W).map(entry).fold(T::default(), |sum, entry| sum ^ entry)
    }

    fn products_are_sums_of_columns<T: Word, const W: usize>() {
        let mut prg = Prg::new(&Seed::from_bytes([3; 16]));
        for extra in [0, 1, 7, 500] {
            let columns: Vec<T> = prg.vector(64 * W + extra);
            let rows = rows::<W>(50, columns.len(), &mut prg);
            let expected: Vec<T> = rows.iter().map(|row| product(row, &columns)).collect();
            let (mut out, mut portable) = (vec![T::default(); rows.len()], vec![T::default(); rows.len()]);
            products(&rows, &columns, &mut out);
            portable::products(&rows, &columns, &mut portable);
            assert!(out == expected && portable == expected);
        }
    }

    fn substitution_solves<T: Word, const W: usize>() {
        let mut prg = Prg::new(&Seed::from_bytes([4; 16]));
        let size = 700;
        let mut pivots: Vec<[u64; W]> = prg.vector::<u64>(size * W).as_chunks::<W>().0.to_vec();
        pivots.iter_mut().for_each(|pivot| pivot[0] |= 1);
        pivots.iter_mut().step_by(5).for_each(|pivot| *pivot = [0; W]);
        let sides: Vec<T> = prg.vector(size + 64 * W);
        let (mut columns, mut portable) = (sides.clone(), sides.clone());
        substitute(&pivots, &mut columns);
        portable::substitute(&pivots, &mut portable);
        assert!(columns == portable);
        for (place, pivot) in pivots.iter().enumerate() {
            let free = pivot[0] & 1 == 0;
            let value =
                if free { columns[place] } else { product(&Row { start: place as u32, bits: *pivot }, &columns) };
            assert!(value == sides[place], "row {place}");
        }
    }

    #[test]
    fn every_path_multiplies_and_solves() {
        products_are_sums_of_columns::<u64, 4>();
        products_are_sums_of_columns::<u64, 8>();
        products_are_sums_of_columns::<u128, 4>();
        products_are_sums_of_columns::<u128, 8>();
        substitution_solves::<u64, 4>();
        substitution_solves::<u128, 8>();
    }

    #[test]
    #[should_panic(expected = "within the columns")]
    fn a_band_beyond_the_last_column_is_refused() {
        products::<u64, 4>(&[Row { start: 1, bits: [0; 4] }], &[0; 256], &mut [0]);
    }
}
