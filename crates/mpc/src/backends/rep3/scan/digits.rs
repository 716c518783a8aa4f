//! A digit's values, row by row: pieces of columns within the first-level cache, and the loops over them.

use std::ops::Range;

use tacit_math::Plane;
use tacit_math::plane::words_for;
use tacit_math::simd::Kernel;

/// Rows that are computed at a time; a multiple of 64.
pub(super) const PIECE: usize = 512;

/// Planes of a digit, and its values, at most.
const PLANES: usize = 3;
const VALUES: usize = 1 << PLANES;

/// A column for each value of a digit.
pub(super) type Room = [[u32; PIECE]; VALUES];

pub(super) fn room() -> Room {
    [[0; PIECE]; VALUES]
}

/// The planes of digits, least significant first.
pub(super) struct Digits<'a> {
    pub rows: usize,
    planes: Vec<&'a Plane>,
}

impl<'a> Digits<'a> {
    pub(super) fn of(planes: impl IntoIterator<Item = &'a Plane>) -> Self {
        let planes: Vec<&Plane> = planes.into_iter().collect();
        Self { rows: planes[0].rows(), planes }
    }

    /// Those of a piece of the rows.
    pub(super) fn at(&self, piece: &Range<usize>) -> Digit<'_> {
        let words = piece.start / 64..words_for(piece.end);
        let mut digit = Digit { planes: self.planes.len(), words: [&[]; PLANES] };
        digit.words.iter_mut().zip(&self.planes).for_each(|(out, plane)| *out = &plane.words()[words.clone()]);
        digit
    }
}

/// The digits of a piece.
#[derive(Clone, Copy)]
pub(super) struct Digit<'a> {
    planes: usize,
    words: [&'a [u64]; PLANES],
}

impl Digit<'_> {
    /// Whole words of rows.
    #[inline(always)]
    fn rows(&self) -> usize {
        64 * self.words[0].len()
    }

    /// The values but zero.
    #[inline(always)]
    fn values(&self) -> std::ops::RangeInclusive<usize> {
        1..=(1 << self.planes) - 1
    }

    /// The rows with a digit, 64 to a word.
    #[inline(always)]
    fn equal(&self, value: usize, word: usize) -> u64 {
        let matches =
            |plane: usize| if value >> plane & 1 == 1 { self.words[plane][word] } else { !self.words[plane][word] };
        (0..self.planes).fold(!0, |rows, plane| rows & matches(plane))
    }
}

/// Calls `each` with every row's number and its bit, 0 or 1.
#[inline(always)]
fn for_each_bit(word: u64, first: usize, mut each: impl FnMut(usize, u32)) {
    for i in 0..64 {
        each(first + i, (word >> i) as u32 & 1);
    }
}

/// The shares of e_j for node 1: e_j - c_j.
pub(super) struct Deal<'a> {
    pub s: Digit<'a>,
    pub c: &'a Room,
    pub other: &'a mut Room,
}

impl Kernel for Deal<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { s, c, other } = self;
        for j in s.values() {
            let (c, other) = (&c[j], &mut other[j]);
            for word in 0..s.words[0].len() {
                for_each_bit(s.equal(j, word), 64 * word, |row, e| other[row] = e.wrapping_sub(c[row]));
            }
        }
    }
}

/// Brings a column for each value j into the order in which it is at j xor the row's digit. The column of zero is
/// `total` less the others before that, if there is one.
pub(super) struct Permute<'a> {
    pub by: Digit<'a>,
    pub total: Option<u32>,
    pub values: &'a mut Room,
}

impl Kernel for Permute<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { by, total, values } = self;
        let rows = by.rows();
        if let Some(total) = total {
            let [zero, others @ ..] = values;
            zero[..rows].fill(total);
            for other in &others[..by.values().count()] {
                zero[..rows].iter_mut().zip(other).for_each(|(zero, x)| *zero = zero.wrapping_sub(*x));
            }
        }
        for (plane, words) in by.words[..by.planes].iter().enumerate() {
            let mut masks = [0; PIECE];
            for (word, bits) in words.iter().enumerate() {
                for_each_bit(*bits, 64 * word, |row, bit| masks[row] = bit.wrapping_neg());
            }
            for j in (0..1 << by.planes).filter(|j| j >> plane & 1 == 0) {
                let (lower, upper) = values.split_at_mut(j + (1 << plane));
                exchange(&mut lower[j][..rows], &mut upper[0][..rows], &masks);
            }
        }
    }
}

/// Adds up the columns of the values but zero.
pub(super) struct AddSums<'a> {
    pub values: &'a Room,
    pub rows: usize,
    pub sums: &'a mut [u32],
}

impl Kernel for AddSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { values, rows, sums } = self;
        for (sum, column) in sums.iter_mut().zip(&values[1..]) {
            *sum = column[..rows].iter().fold(*sum, |sum, x| sum.wrapping_add(*x));
        }
    }
}

/// Exchanges the rows of two columns where the mask is all ones.
#[inline(always)]
fn exchange(x: &mut [u32], y: &mut [u32], masks: &[u32]) {
    for ((x, y), mask) in x.iter_mut().zip(y).zip(masks) {
        let moved = (*x ^ *y) & mask;
        *x ^= moved;
        *y ^= moved;
    }
}

/// sum += e_j (u_j + u'_j), over all j.
pub(super) struct AddChosen<'a> {
    pub s: Digit<'a>,
    pub u: [&'a Room; 2],
    pub sum: &'a mut [u32; PIECE],
}

impl Kernel for AddChosen<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { s, u: [first, second], sum } = self;
        for j in s.values() {
            let (first, second) = (&first[j], &second[j]);
            for word in 0..s.words[0].len() {
                for_each_bit(s.equal(j, word), 64 * word, |row, e| {
                    let u = first[row].wrapping_add(second[row]);
                    sum[row] = sum[row].wrapping_add(u & e.wrapping_neg());
                });
            }
        }
    }
}

/// Of factors y_(j xor d_2): w_j - r_j instead, for the values j from one. sum += y_(d_2) and the node's part of the
/// products with all masks.
pub(super) struct AddMasked<'a> {
    pub values: usize,
    pub shares: &'a Room,
    /// Those of this node and those of the other one.
    pub masks: &'a [Room; 2],
    pub w: &'a mut Room,
    pub sum: &'a mut [u32; PIECE],
}

impl Kernel for AddMasked<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { values, shares, masks: [own, other], w: [zero, others @ ..], sum } = self;
        sum.iter_mut().zip(&*zero).for_each(|(sum, zero)| *sum = sum.wrapping_add(*zero));
        for (j, w) in others[..values].iter_mut().enumerate() {
            let (c, own, other) = (&shares[j + 1], &own[j + 1], &other[j + 1]);
            for row in 0..PIECE {
                w[row] = w[row].wrapping_sub(zero[row]).wrapping_sub(own[row]);
                let mask = own[row].wrapping_add(other[row]);
                sum[row] = sum[row].wrapping_add(c[row].wrapping_mul(mask));
            }
        }
    }
}
