//! Between rows (one word per row) and planes (one packed bit vector per bit of the word).

mod square;

use crate::plane::{Plane, words_for};

pub use square::square;

/// Squares transposed together, so that planes are read and written a cache line at a time.
const TILE: usize = 8;

/// How many words ahead a plane is fetched: two tiles. Processors see for themselves that a vector is read from one end
/// to the other, but not of fifty planes at once.
const AHEAD: usize = 2 * TILE;

/// The low `width` bits of every row as planes, least significant first. width is at most 64.
pub fn planes_of_rows(rows: &[u64], width: usize) -> Vec<Plane> {
    assert!(width <= 64, "a row word has 64 bits");
    to_planes(rows.len(), width, |i, _| rows[i])
}

/// The low `width` bits of every 128-bit row as planes, least significant first. width is at most 128.
pub fn planes_of_wide_rows(rows: &[u128], width: usize) -> Vec<Plane> {
    assert!(width <= 128, "a wide row has 128 bits");
    to_planes(rows.len(), width, |i, part| (rows[i] >> (64 * part)) as u64)
}

/// One word per row from at most 64 planes of equal length, least significant first; higher bits are zero.
pub fn rows_of_planes(planes: &[&Plane], rows: usize) -> Vec<u64> {
    assert!(planes.len() <= 64, "a row word has 64 bits");
    let mut out = vec![0; rows];
    from_planes::<[u64; 1]>(planes, bytemuck::cast_slice_mut(&mut out));
    out
}

/// One 128-bit number per row from at most 128 planes of equal length, least significant first; higher bits are zero.
pub fn wide_rows_of_planes(planes: &[&Plane], rows: usize) -> Vec<u128> {
    assert!(planes.len() <= 128, "a wide row has 128 bits");
    let mut out = vec![0; rows];
    from_planes::<[u64; 2]>(planes, bytemuck::cast_slice_mut(&mut out));
    out
}

/// Rows of 64 W bits from 64 W columns, lowest first, that lie one after the other; a column has one bit of every row.
///
/// # Panics
/// Unless the number of rows is a multiple of 64 and the columns have one bit for each.
pub fn rows_of_columns<const W: usize>(columns: &[u64], rows: &mut [[u64; W]]) {
    assert!(rows.len().is_multiple_of(64) && columns.len() == W * rows.len(), "columns of {} rows", rows.len());
    let (square, eight_squares) = (square::fastest(), square::fastest_eight());
    let words = rows.len() / 64;
    let mut squares = [[[0; 64]; TILE]; W];
    for (tile, rows) in rows.chunks_mut(64 * TILE).enumerate() {
        for (part, squares) in squares.iter_mut().enumerate() {
            let columns = &columns[64 * part * words + tile * TILE..];
            if rows.len() == 64 * TILE {
                eight_squares(columns, words, squares);
            } else {
                let squares = &mut squares[..rows.len() / 64];
                (0..64).for_each(|j| squares.iter_mut().zip(&columns[j * words..]).for_each(|(m, word)| m[j] = *word));
                squares.iter_mut().for_each(square);
            }
        }
        for (number, rows) in rows.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for (i, row) in rows.iter_mut().enumerate() {
                row.iter_mut().zip(&squares).for_each(|(word, part)| *word = part[number][i]);
            }
        }
    }
}

/// The planes with their rows rearranged: row i becomes the old row from[i], which is public. At most 64 planes.
///
/// The planes become row words, so that a row is fetched at once, and planes again tile by tile as the rows arrive.
pub fn gather_planes(planes: &[&Plane], from: &[u32]) -> Vec<Plane> {
    assert!(planes.len() <= 64, "a row word has 64 bits");
    let rows = planes.first().map_or(0, |plane| plane.rows());
    if planes.len() <= 32 {
        gather_through::<u32>(planes, rows, from)
    } else {
        gather_through::<[u64; 1]>(planes, rows, from)
    }
}

fn gather_through<T: Row>(planes: &[&Plane], rows: usize, from: &[u32]) -> Vec<Plane> {
    let mut words = vec![T::default(); rows];
    from_planes(planes, &mut words);
    to_planes(from.len(), planes.len(), |i, _| words[from[i] as usize].part(0))
}

/// The planes with their rows rearranged: row i moves to the position to[i], which is public; all positions are
/// different. At most 64 planes.
///
/// As [`gather_planes`], where row words are written in random order and read one after the other. A processor waits
/// for what it reads and not for what it writes.
pub fn scatter_planes(planes: &[&Plane], to: &[u32]) -> Vec<Plane> {
    assert!(planes.len() <= 64, "a row word has 64 bits");
    assert!(planes.iter().all(|plane| plane.rows() == to.len()), "one position per row");
    if planes.len() <= 32 { scatter_through::<u32>(planes, to) } else { scatter_through::<[u64; 1]>(planes, to) }
}

fn scatter_through<T: Row>(planes: &[&Plane], to: &[u32]) -> Vec<Plane> {
    let mut words = vec![T::default(); to.len()];
    for_each_square(planes, to.len(), |first, part, square| {
        to[first..].iter().zip(square).for_each(|(&to, bits)| words[to as usize].set(part, *bits));
    });
    to_planes(to.len(), planes.len(), |i, _| words[i].part(0))
}

/// A row of bits, as stored between transposes: parts of up to 64 bits, low part first.
trait Row: Copy + Default {
    fn part(&self, part: usize) -> u64;
    fn set(&mut self, part: usize, bits: u64);
}

impl Row for u32 {
    #[inline(always)]
    fn part(&self, _part: usize) -> u64 {
        u64::from(*self)
    }
    #[inline(always)]
    fn set(&mut self, _part: usize, bits: u64) {
        *self = bits as u32;
    }
}

impl<const W: usize> Row for [u64; W]
where
    [u64; W]: Default,
{
    #[inline(always)]
    fn part(&self, part: usize) -> u64 {
        self[part]
    }
    #[inline(always)]
    fn set(&mut self, part: usize, bits: u64) {
        self[part] = bits;
    }
}

/// Rows, given by their parts, to planes: tile by tile, through squares in L1.
fn to_planes(rows: usize, width: usize, row: impl Fn(usize, usize) -> u64) -> Vec<Plane> {
    let square = square::fastest();
    let mut planes: Vec<Vec<u64>> = (0..width).map(|_| vec![0; words_for(rows)]).collect();
    let mut squares = [[0; 64]; TILE];
    for (tile, first) in (0..rows).step_by(64 * TILE).enumerate() {
        for (part, planes) in planes.chunks_mut(64).enumerate() {
            for (m, first) in squares.iter_mut().zip((first..rows).step_by(64)) {
                for (word, i) in m.iter_mut().zip(first..rows) {
                    *word = row(i, part);
                }
                square(m);
            }
            for (j, plane) in planes.iter_mut().enumerate() {
                let words = &mut plane[tile * TILE..];
                fetch_ahead(words);
                // A full cache line has a length the compiler knows, which unrolls the copy.
                if let Some(line) = words.first_chunk_mut::<TILE>() {
                    line.iter_mut().zip(&squares).for_each(|(word, m)| *word = m[j & 63]);
                } else {
                    words.iter_mut().zip(&squares).for_each(|(word, m)| *word = m[j]);
                }
            }
        }
    }
    // In a square that is not full, places behind the last row have rows of an earlier square: the planes are cleared
    // there.
    planes.into_iter().map(|words| Plane::from_words(rows, words)).collect()
}

/// The inverse of [`to_planes`]; absent planes are zero.
fn from_planes<T: Row>(planes: &[&Plane], rows: &mut [T]) {
    for_each_square(planes, rows.len(), |first, part, square| {
        rows[first..].iter_mut().zip(square).for_each(|(row, bits)| row.set(part, *bits));
    });
}

/// Gives `take` the rows' parts, 64 rows at a time: the number of the first, the part, and the part of each; behind the
/// last row they are zero.
#[inline(always)]
fn for_each_square(planes: &[&Plane], rows: usize, mut take: impl FnMut(usize, usize, &[u64; 64])) {
    assert!(planes.iter().all(|plane| plane.words().len() == words_for(rows)), "planes of {rows} rows");
    let square = square::fastest();
    for (tile, first) in (0..rows).step_by(64 * TILE).enumerate() {
        for (part, planes) in planes.chunks(64).enumerate() {
            let mut squares = [[0; 64]; TILE];
            for (j, plane) in planes.iter().enumerate() {
                let words = &plane.words()[tile * TILE..];
                fetch_ahead(words);
                if let Some(line) = words.first_chunk::<TILE>() {
                    line.iter().zip(&mut squares).for_each(|(word, m)| m[j & 63] = *word);
                } else {
                    words.iter().zip(&mut squares).for_each(|(word, m)| m[j] = *word);
                }
            }
            for (m, first) in squares.iter_mut().zip((first..rows).step_by(64)) {
                square(m);
                take(first, part, m);
            }
        }
    }
}

/// Has the processor bring the word that is [`AHEAD`] of the first one, and its cache line, into the cache.
#[inline(always)]
fn fetch_ahead(words: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(word) = words.get(AHEAD) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint to the cache of an address within the slice; nothing is read or written.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = words;
}
