//! Gauss elimination of band rows on the fly, as in ribbon filters (Dillinger, Walzer, "Ribbon filter: practically
//! smaller than Bloom and Xor", 2021). A row that meets a pivot is added to it and moves on to its next one.

use super::Dependent;
use tacit_math::Prg;
use tacit_math::band::{self, Word};

/// The system of one cluster.
pub(super) struct System<T, const W: usize> {
    /// The row whose first one is in this column, shifted so that this one is bit 0; zero if there is none.
    pivots: Vec<[u64; W]>,
    /// Right sides, later the solution, with zeros behind it that bands may reach.
    sides: Vec<T>,
}

impl<T: Word, const W: usize> System<T, W> {
    pub(super) fn new(columns: usize) -> Self {
        Self { pivots: vec![[0; W]; columns], sides: vec![T::zeroed(); columns + 64 * W] }
    }

    /// No rows; every column is random.
    pub(super) fn reset(&mut self, random: &mut Prg) {
        self.pivots.fill([0; W]);
        let columns = self.pivots.len();
        random.fill(&mut self.sides[..columns]);
    }

    /// Adds a row with its right side.
    pub(super) fn insert(&mut self, mut place: usize, mut bits: [u64; W], mut side: T) -> Result<(), Dependent> {
        loop {
            while bits[0] == 0 {
                if bits == [0; W] {
                    return Err(Dependent);
                }
                bits.rotate_left(1);
                place += 64;
            }
            let skip = bits[0].trailing_zeros();
            bits = shifted(bits, skip);
            place += skip as usize;
            let pivot = &mut self.pivots[place];
            if pivot[0] == 0 {
                *pivot = bits;
                self.sides[place] = side;
                return Ok(());
            }
            bits.iter_mut().zip(pivot).for_each(|(word, pivot)| *word ^= *pivot);
            side ^= self.sides[place];
        }
    }

    /// The columns that satisfy every row.
    pub(super) fn solve(&mut self) -> &[T] {
        band::substitute(&self.pivots, &mut self.sides);
        &self.sides[..self.pivots.len()]
    }
}

/// The words as one number, shifted down by less than 64.
fn shifted<const W: usize>(bits: [u64; W], by: u32) -> [u64; W] {
    std::array::from_fn(|j| {
        let above = if j + 1 < W { bits[j + 1] } else { 0 };
        bits[j] >> by | (above << 1) << (63 - by)
    })
}
