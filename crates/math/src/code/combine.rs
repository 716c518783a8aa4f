//! Combinations of 32 symbols: the last step of the code, block by block.

#[cfg(target_arch = "x86_64")]
mod wide;

use super::{BLOCK, Symbol};

/// Adds to every symbol of `own` a combination of the 32 of `others` in its block: those whose bits are set in the row
/// of its place in the block.
///
/// # Panics
/// If the lengths are not equal numbers of whole blocks.
pub(super) fn combine<W: Symbol>(own: &mut [W], others: &[W], rows: &[u32; BLOCK]) {
    assert_eq!(own.len(), others.len(), "another symbol for each symbol");
    assert!(own.len().is_multiple_of(BLOCK), "whole blocks");
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = wide::Wide::detect() {
        match size_of::<W>() {
            8 => return wide.combine64(bytemuck::cast_slice_mut(own), bytemuck::cast_slice(others), rows),
            16 => return wide.combine128(bytemuck::cast_slice_mut(own), bytemuck::cast_slice(others), rows),
            _ => {}
        }
    }
    portable(own, others, rows);
}

/// By tables of 16 sums (the method of the four Russians).
fn portable<W: Symbol>(own: &mut [W], others: &[W], rows: &[u32; BLOCK]) {
    for (own, others) in own.chunks_exact_mut(BLOCK).zip(others.as_chunks().0) {
        let sums = Sixteens::new(others);
        own.iter_mut().zip(rows).for_each(|(own, &row)| *own = *own ^ sums.combination(row));
    }
}

/// For each four of 32 symbols, the sums of all their subsets.
struct Sixteens<W>([[W; 16]; BLOCK / 4]);

impl<W: Symbol> Sixteens<W> {
    #[inline]
    fn new(symbols: &[W; BLOCK]) -> Self {
        let mut tables = [[W::zeroed(); 16]; BLOCK / 4];
        for (table, four) in tables.iter_mut().zip(symbols.as_chunks::<4>().0) {
            for (bit, &symbol) in four.iter().enumerate() {
                for subset in 0..1 << bit {
                    table[subset | 1 << bit] = table[subset] ^ symbol;
                }
            }
        }
        Self(tables)
    }

    /// The sum of the symbols whose bits are set in a public row.
    #[inline]
    fn combination(&self, row: u32) -> W {
        let mut sum = W::zeroed();
        for (i, table) in self.0.iter().enumerate() {
            sum = sum ^ table[(row >> (4 * i) & 15) as usize];
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Symbol, combine, portable};
    use crate::{Prg, Seed};

    fn agree<W: Symbol + PartialEq + std::fmt::Debug + Send>() {
        let mut prg = Prg::new(&Seed::from_bytes([8; 16]));
        for blocks in 0..4 {
            let (own, others): (Vec<W>, Vec<W>) = (prg.vector(blocks * BLOCK), prg.vector(blocks * BLOCK));
            let rows: [u32; BLOCK] = prg.vector(BLOCK).try_into().expect("a row for each place");
            let expected: Vec<W> = (0..own.len())
                .map(|i| {
                    let block = &others[i / BLOCK * BLOCK..][..BLOCK];
                    let chosen = block.iter().enumerate().filter(|(bit, _)| rows[i % BLOCK] >> bit & 1 == 1);
                    chosen.fold(own[i], |sum, (_, &other)| sum ^ other)
                })
                .collect();
            let (mut widest, mut plain) = (own.clone(), own);
            combine(&mut widest, &others, &rows);
            portable(&mut plain, &others, &rows);
            assert_eq!(widest, expected);
            assert_eq!(plain, expected);
        }
    }

    #[test]
    fn every_path_follows_the_definition() {
        #[cfg(target_arch = "x86_64")]
        println!("bit matrices by instruction: {}", super::wide::Wide::detect().is_some());
        agree::<u64>();
        agree::<u128>();
    }
}
