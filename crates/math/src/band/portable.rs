//! The path that runs everywhere.

use super::{Row, Word};

pub(super) fn products<T: Word, const W: usize>(rows: &[Row<W>], columns: &[T], out: &mut [T]) {
    for (row, out) in rows.iter().zip(out) {
        *out = product(&row.bits, &columns[row.start as usize..]);
    }
}

pub(super) fn substitute<T: Word, const W: usize>(pivots: &[[u64; W]], columns: &mut [T]) {
    for (place, pivot) in pivots.iter().enumerate().rev() {
        let mut rest = *pivot;
        rest[0] &= !1;
        let sum = product(&rest, &columns[place..]);
        columns[place] ^= sum;
    }
}

fn product<T: Word, const W: usize>(bits: &[u64; W], columns: &[T]) -> T {
    let mut sum = T::default();
    for (&word, columns) in bits.iter().zip(columns.chunks(64)) {
        for (j, &column) in columns.iter().enumerate() {
            sum ^= column.masked(word >> j & 1);
        }
    }
    sum
}
