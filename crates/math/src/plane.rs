//! Bit planes: one bit of every row of a column, packed 64 rows to a word.

use crate::lanes::{self, Grow};
use crate::prg::{Prg, blocks_of};

/// Words of all planes together from which on several threads compute them.
const WORTH_IT: usize = 1 << 15;

/// One bit per row. Row i is bit i % 64 of word i / 64; the bits behind the last row are zero, always.
///
/// Whoever opens a plane opens whole words. The constructors and operations therefore keep the bits behind the last row
/// zero, so that no words say anything of rows that the plane does not have. Clearing them is linear: components of a
/// share stay one when each is cleared.
///
/// Debug shows the number of rows only: planes hold shares.
#[derive(Clone, Default)]
pub struct Plane {
    rows: usize,
    words: Vec<u64>,
}

impl std::fmt::Debug for Plane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plane({} rows)", self.rows)
    }
}

/// The number of words that hold `rows` rows.
pub const fn words_for(rows: usize) -> usize {
    rows.div_ceil(64)
}

impl Plane {
    /// All rows zero.
    pub fn zeros(rows: usize) -> Self {
        Self { rows, words: vec![0; words_for(rows)] }
    }

    /// All rows one.
    pub fn ones(rows: usize) -> Self {
        Self::from_words(rows, vec![!0; words_for(rows)])
    }

    /// All rows equal to one public bit.
    pub fn constant(rows: usize, bit: bool) -> Self {
        if bit { Self::ones(rows) } else { Self::zeros(rows) }
    }

    /// A plane over given words, whose bits behind the last row are cleared. Panics unless there are exactly as many
    /// words as the rows need.
    pub fn from_words(rows: usize, words: Vec<u64>) -> Self {
        assert_eq!(words.len(), words_for(rows), "words of a plane of {rows} rows");
        let mut out = Self { rows, words };
        out.clear_behind();
        out
    }

    /// Pseudorandom rows. Draws all bits of the words.
    pub fn random(rows: usize, prg: &mut Prg) -> Self {
        Self::from_words(rows, prg.vector(words_for(rows)))
    }

    /// Pseudorandom planes of these numbers of rows, as [`Self::random`] would draw them one after the other.
    pub fn random_all(rows: &[usize], prg: &mut Prg) -> Vec<Self> {
        let words = rows.iter().map(|&rows| words_for(rows));
        let worth_it = words.clone().sum::<usize>() >= WORTH_IT;
        let parts = rows.iter().zip(prg.parts(words.map(blocks_of::<u64>))).collect();
        lanes::map(worth_it, parts, |(&rows, mut part)| Self::from_words(rows, part.vector(words_for(rows))))
    }

    /// Row i is bit(i).
    pub fn from_fn(rows: usize, mut bit: impl FnMut(usize) -> bool) -> Self {
        let words = (0..words_for(rows))
            .map(|w| (w * 64..rows.min(w * 64 + 64)).fold(0, |word, i| word | (u64::from(bit(i)) << (i % 64))))
            .collect();
        Self { rows, words }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The packed words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Lets `change` write the packed words; bits that it leaves behind the last row are cleared.
    pub fn change_words<T>(&mut self, change: impl FnOnce(&mut [u64]) -> T) -> T {
        let out = change(&mut self.words);
        self.clear_behind();
        out
    }

    /// Clears the bits behind the last row.
    fn clear_behind(&mut self) {
        if let Some(last) = self.words.last_mut() {
            *last &= !0 >> ((64 - self.rows % 64) % 64);
        }
    }

    /// The bit of one row.
    pub fn get(&self, row: usize) -> bool {
        debug_assert!(row < self.rows);
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// All rows as booleans.
    pub fn to_bools(&self) -> Vec<bool> {
        (0..self.rows).map(|i| self.get(i)).collect()
    }

    /// Row by row, for an operation that maps two zeros to zero.
    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.rows, other.rows, "planes of one length");
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| op(a, b)).collect();
        Self { rows: self.rows, words }
    }

    /// Row-wise XOR.
    pub fn xor(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    /// Row-wise XOR of planes with their partners; planes are computed side by side.
    pub fn xor_all(x: &[&Self], y: &[&Self]) -> Vec<Self> {
        let mut words: Vec<Vec<u64>> = x.iter().map(|_| Vec::new()).collect();
        let mut grows: Vec<_> = words.iter_mut().zip(x).map(|(out, x)| Grow::new(out, x.words.len())).collect();
        let lengths: Vec<usize> = x.iter().map(|x| x.words.len()).filter(|&length| length > 0).collect();
        let worth_it = lengths.iter().sum::<usize>() >= WORTH_IT;
        let pairs = x.iter().zip(y).filter(|(x, _)| x.rows > 0);
        let work = lanes::rooms(&mut grows, &lengths).into_iter().zip(pairs).collect();
        lanes::each_worth(worth_it, work, |(mut room, (x, y))| {
            assert_eq!(x.rows, y.rows, "planes of one length");
            room.extend(x.words.iter().zip(&y.words).map(|(a, b)| a ^ b));
        });
        lanes::finish(grows);
        x.iter().zip(words).map(|(x, words)| Self { rows: x.rows, words }).collect()
    }

    /// The results of a function for all planes, which are computed side by side.
    pub fn map_all(planes: &[&Self], map: impl Fn(&Self) -> Self + Sync) -> Vec<Self> {
        let worth_it = planes.iter().map(|plane| plane.words.len()).sum::<usize>() >= WORTH_IT;
        lanes::map(worth_it, planes.to_vec(), map)
    }

    /// Row-wise AND.
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Row-wise complement.
    pub fn not(&self) -> Self {
        Self::from_words(self.rows, self.words.iter().map(|w| !w).collect())
    }

    /// XORs another plane into this one.
    pub fn xor_assign(&mut self, other: &Self) {
        assert_eq!(self.rows, other.rows, "planes of one length");
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a ^= b;
        }
    }

    /// Words that begin with rows start..start+rows; rows past the last one read as zero.
    fn words_from(&self, start: usize, rows: usize) -> Vec<u64> {
        let count = words_for(rows);
        let (words, shift) = (self.words.get(start / 64..).unwrap_or_default(), start % 64);
        let mut out = Vec::with_capacity(count);
        if shift == 0 {
            out.extend_from_slice(&words[..count.min(words.len())]);
        } else {
            out.extend(words.windows(2).take(count).map(|pair| pair[0] >> shift | pair[1] << (64 - shift)));
            if out.len() < count {
                out.extend(words.last().map(|last| last >> shift));
            }
        }
        out
    }

    /// Rows start..start+rows.
    pub fn slice(&self, start: usize, rows: usize) -> Self {
        assert!(start <= self.rows && rows <= self.rows - start, "slice within the plane");
        Self::from_words(rows, self.words_from(start, rows))
    }

    /// The rows of all planes, one after the other.
    pub fn concat(planes: &[&Self]) -> Self {
        let rows = planes.iter().map(|plane| plane.rows).sum();
        let mut out = Self { rows: 0, words: Vec::with_capacity(words_for(rows)) };
        for plane in planes {
            out.append(plane);
        }
        out
    }

    /// Adds the rows of another plane after the last.
    fn append(&mut self, plane: &Self) {
        let shift = self.rows % 64;
        self.rows += plane.rows;
        let (Some(first), Some(last)) = (plane.words.first(), plane.words.last()) else { return };
        if shift == 0 {
            self.words.extend_from_slice(&plane.words);
            return;
        }
        let border = self.words.len() - 1;
        self.words[border] |= first << shift;
        self.words.extend(plane.words.windows(2).map(|pair| pair[0] >> (64 - shift) | pair[1] << shift));
        if self.words.len() < words_for(self.rows) {
            self.words.push(last >> (64 - shift));
        }
    }

    /// Row i becomes the old row i-1; row 0 becomes zero.
    pub fn shift_down(&self) -> Self {
        let mut carry = 0;
        let words = self
            .words
            .iter()
            .map(|&w| {
                let out = w << 1 | carry;
                carry = w >> 63;
                out
            })
            .collect();
        Self::from_words(self.rows, words)
    }

    /// Row i becomes the old row i+1; the last row becomes zero.
    pub fn shift_up(&self) -> Self {
        Self::from_words(self.rows, self.words_from(1, self.rows))
    }

    /// Inclusive prefix XOR: row i becomes the XOR of rows 0..=i.
    pub fn prefix_xor(&self) -> Self {
        let mut carry = 0u64;
        let words = self
            .words
            .iter()
            .map(|&w| {
                let mut x = w;
                for shift in [1, 2, 4, 8, 16, 32] {
                    x ^= x << shift;
                }
                x ^= carry;
                carry = ((x as i64) >> 63) as u64;
                x
            })
            .collect();
        Self::from_words(self.rows, words)
    }

    /// `out[i] = self[indices[i]]`. Indices are public. Panics if one is not a row of this plane.
    pub fn gather(&self, indices: &[u32]) -> Self {
        let last = indices.iter().copied().max().map_or(0, |index| index as usize + 1);
        assert!(last <= self.rows, "index {} in a plane of {} rows", last - 1, self.rows);
        let bit = |index: u32| {
            // SAFETY: no index reaches self.rows, by the assertion, and every row has its word: words_for(rows) of
            // them.
            let word = unsafe { *self.words.get_unchecked(index as usize / 64) };
            // The row's bit, moved to the top.
            word << (!index & 63) & 1 << 63
        };
        let (full, rest) = indices.as_chunks::<64>();
        let mut words = Vec::with_capacity(words_for(indices.len()));
        words.extend(full.iter().map(|rows| rows.iter().fold(0, |word, &index| word >> 1 | bit(index))));
        if !rest.is_empty() {
            let word = rest.iter().fold(0, |word, &index| word >> 1 | bit(index));
            words.push(word >> (64 - rest.len()));
        }
        Self { rows: indices.len(), words }
    }
}
