//! Between rows (one word per row) and planes (one packed bit vector per bit of the word).

mod square;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::lanes::{self, Grow, Room};
use crate::plane::{Plane, words_for};
use crate::ring::Ring;

pub use square::square;

/// Squares transposed together, so that planes are read and written a cache line at a time.
const TILE: usize = 8;

/// How many words ahead a plane is fetched: two tiles. Processors see for themselves that a vector is read from one end
/// to the other, but not of fifty planes at once.
const AHEAD: usize = 2 * TILE;

/// Rows that are worth a lane of their own.
const LEAST: usize = 1 << 14;

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

/// The low `width` bits of every element of a ring vector as planes, least significant first. width is at most 128.
pub fn planes_of_ring<R: Ring>(x: &[R], width: usize) -> Vec<Plane> {
    assert!(width <= 128, "a wide row has 128 bits");
    to_planes(x.len(), width, |i, part| (x[i].to_u128() >> (64 * part)) as u64)
}

/// The ring vector whose elements have the given planes, at most 128, least significant first; higher bits are zero.
pub fn ring_of_planes<R: Ring>(planes: &[&Plane], rows: usize) -> Vec<R> {
    assert!(planes.len() <= 128, "a wide row has 128 bits");
    let mut out = vec![R::ZERO; rows];
    from_planes::<Number<R>>(planes, bytemuck::cast_slice_mut(&mut out));
    out
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
    if planes.len() <= 32 { scatter_through::<AtomicU32>(planes, to) } else { scatter_through::<AtomicU64>(planes, to) }
}

/// All lanes write into one vector of row words: different rows into different words.
fn scatter_through<T: Shared>(planes: &[&Plane], to: &[u32]) -> Vec<Plane> {
    let words: Vec<T> = to.iter().map(|_| T::default()).collect();
    lanes::each(lanes::cut(to.len(), LEAST, 64 * TILE), |lane| {
        for_each_square(planes, to.len(), lane, |first, _, square| {
            to[first..].iter().zip(square).for_each(|(&to, bits)| words[to as usize].set(*bits));
        });
    });
    to_planes(to.len(), planes.len(), |i, _| words[i].get())
}

/// A row of bits that any thread may write.
trait Shared: Default + Sync {
    fn get(&self) -> u64;
    fn set(&self, bits: u64);
}

impl Shared for AtomicU32 {
    #[inline(always)]
    fn get(&self) -> u64 {
        u64::from(self.load(Relaxed))
    }
    #[inline(always)]
    fn set(&self, bits: u64) {
        self.store(bits as u32, Relaxed);
    }
}

impl Shared for AtomicU64 {
    #[inline(always)]
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }
    #[inline(always)]
    fn set(&self, bits: u64) {
        self.store(bits, Relaxed);
    }
}

/// A row of bits, as stored between transposes: parts of up to 64 bits, low part first.
trait Row: Copy + Default + Send + Sync {
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

/// A ring element as a row.
#[derive(Clone, Copy, bytemuck::Zeroable)]
#[repr(transparent)]
struct Number<R>(R);

// SAFETY: a transparent wrapper of plain data.
unsafe impl<R: Ring> bytemuck::Pod for Number<R> {}

impl<R: Ring> Default for Number<R> {
    fn default() -> Self {
        Self(R::ZERO)
    }
}

impl<R: Ring> Row for Number<R> {
    #[inline(always)]
    fn part(&self, part: usize) -> u64 {
        (self.0.to_u128() >> (64 * part)) as u64
    }
    #[inline(always)]
    fn set(&mut self, part: usize, bits: u64) {
        let below = if part == 0 { R::ZERO } else { self.0 };
        self.0 = below.add(R::from_u128(u128::from(bits) << (64 * part)));
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

/// Rows, given by their parts, to planes: tile by tile, through squares in L1. Lanes of rows are computed side by side.
fn to_planes(rows: usize, width: usize, row: impl Fn(usize, usize) -> u64 + Sync) -> Vec<Plane> {
    let lanes = lanes::cut(rows, LEAST, 64 * TILE);
    let mut planes: Vec<Vec<u64>> = (0..width).map(|_| Vec::new()).collect();
    let mut grows: Vec<Grow<'_, u64>> = planes.iter_mut().map(|plane| Grow::new(plane, words_for(rows))).collect();
    let mut of_lanes: Vec<Vec<Room<'_, u64>>> = lanes.iter().map(|_| Vec::with_capacity(width)).collect();
    for grow in &mut grows {
        let rooms = grow.rooms(lanes.iter().map(|lane| words_for(lane.len())));
        rooms.into_iter().zip(&mut of_lanes).for_each(|(room, lane)| lane.push(room));
    }
    lanes::each(lanes.into_iter().zip(of_lanes).collect(), |(lane, planes)| lane_to_planes(lane, planes, &row));
    lanes::finish(grows);
    // In a square that is not full, places behind the last row have rows of an earlier square: the planes are cleared
    // there.
    planes.into_iter().map(|words| Plane::from_words(rows, words)).collect()
}

/// The rows of one lane; only the last one of a vector ends within a tile.
fn lane_to_planes(lane: Range<usize>, mut planes: Vec<Room<'_, u64>>, row: impl Fn(usize, usize) -> u64) {
    let square = square::fastest();
    let mut squares = [[0; 64]; TILE];
    for first in lane.clone().step_by(64 * TILE) {
        let words = TILE.min(words_for(lane.end - first));
        for (part, planes) in planes.chunks_mut(64).enumerate() {
            for (m, first) in squares.iter_mut().zip((first..lane.end).step_by(64)) {
                for (word, i) in m.iter_mut().zip(first..lane.end) {
                    *word = row(i, part);
                }
                square(m);
            }
            for (j, plane) in planes.iter_mut().enumerate() {
                let line: [u64; TILE] = std::array::from_fn(|number| squares[number][j & 63]);
                // A full cache line has a length the compiler knows, which unrolls the copy.
                if words == TILE {
                    plane.extend_from_slice(&line);
                } else {
                    plane.extend_from_slice(&line[..words]);
                }
            }
        }
    }
}

/// The inverse of [`to_planes`]; absent planes are zero.
fn from_planes<T: Row>(planes: &[&Plane], rows: &mut [T]) {
    let (count, lanes) = (rows.len(), lanes::cut(rows.len(), LEAST, 64 * TILE));
    let step = lanes[0].len().max(1);
    lanes::each(lanes.into_iter().zip(rows.chunks_mut(step)).collect(), |(lane, rows)| {
        for_each_square(planes, count, lane.clone(), |first, part, square| {
            rows[first - lane.start..].iter_mut().zip(square).for_each(|(row, bits)| row.set(part, *bits));
        });
    });
}

/// Gives `take` the parts of a lane's rows, 64 rows at a time: the number of the first row, which part it is, and the
/// part of each row. Behind the last row they are zero.
#[inline(always)]
fn for_each_square(planes: &[&Plane], rows: usize, lane: Range<usize>, mut take: impl FnMut(usize, usize, &[u64; 64])) {
    assert!(planes.iter().all(|plane| plane.words().len() == words_for(rows)), "planes of {rows} rows");
    let square = square::fastest();
    for first in lane.clone().step_by(64 * TILE) {
        for (part, planes) in planes.chunks(64).enumerate() {
            let mut squares = [[0; 64]; TILE];
            for (j, plane) in planes.iter().enumerate() {
                let words = &plane.words()[first / 64..];
                fetch_ahead(words);
                if let Some(line) = words.first_chunk::<TILE>() {
                    line.iter().zip(&mut squares).for_each(|(word, m)| m[j & 63] = *word);
                } else {
                    words.iter().zip(&mut squares).for_each(|(word, m)| m[j] = *word);
                }
            }
            for (m, first) in squares.iter_mut().zip((first..lane.end).step_by(64)) {
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
