//! Stable radix sort by secret keys, and the stable partition that is its one-bit case.
//!
//! Least significant digit first, three bits a pass, after Asharov et al. (CCS 2022), with these departures. A pass
//! moves what is left of the key together with the row number as Boolean shares of their true width, so that nothing is
//! composed and nothing unshuffled. Opening is part of the shuffle's last round. The last pass does not move rows: it
//! outputs, for each original row number, its destination. Six rounds a pass under rep3.

use std::cell::LazyCell;

use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{running, transpose};

use super::permute::{no_permutation, numbers_of};
use crate::circuits::Planes;
use crate::{Backend, Linear, LinearScan, Place, Result, Rows, linear};

/// Planes of the key a pass sorts by. Three send as much as two in fewer rounds and move the rows less often.
const DIGIT: usize = 3;

/// The destinations that sort rows by an unsigned key (planes, least significant first), stably. Of each only the bits
/// count that row numbers need.
///
/// Rounds under rep3: 6 a pass, a pass for three planes. No plane: the identity.
pub fn sort_order<B: Backend>(b: &mut B, rows: usize, key: &[B::Bits]) -> Result<B::Vector<u32>> {
    b.step("sort", |b| match key.len() {
        0 => Ok(b.public_vector(rows, || (0..rows as u32).collect())),
        1..=DIGIT => destinations(b, key),
        _ => {
            let width = label_width(rows);
            let mut digit = labelled(b, key, width, |i| i);
            digit = passes(b, digit, width, width + DIGIT)?;
            let labels = digit.split_off(digit.len() - width);
            let places = b.step("pass", |b| destinations(b, &digit))?;
            let moving = Rows { r32: vec![places], ..Rows::empty(rows) };
            Ok(place_by_labels(b, moving, labels, |number| u32::try_from(number).ok())?.r32.swap_remove(0))
        }
    })
}

/// The destinations that move rows whose flag is one to the front and the others behind them, both in their old order.
/// Of each only the bits count that row numbers need.
/// 3 rounds under rep3.
pub fn partition<B: Backend>(b: &mut B, flag: &B::Bits) -> Result<B::Vector<u32>> {
    b.step("partition", |b| {
        let behind = b.not(flag);
        destinations(b, &[behind])
    })
}

/// The number of planes that hold the labels 0..rows.
pub fn label_width(rows: usize) -> usize {
    (usize::BITS - rows.saturating_sub(1).leading_zeros()).max(1) as usize
}

/// Public labels of `width` planes, one a row, in the order that sorts the rows by an unsigned key of at least one
/// plane, stably.
///
/// Rounds under rep3: 6 a pass, a pass for three planes of the key.
pub fn sorted_labels<B: Backend>(
    b: &mut B,
    key: &[B::Bits],
    width: usize,
    label: impl Fn(usize) -> usize,
) -> Result<Planes<B>> {
    let columns = labelled(b, key, width, label);
    passes(b, columns, width, width)
}

/// The key, and behind it public labels.
fn labelled<B: Backend>(b: &B, key: &[B::Bits], width: usize, label: impl Fn(usize) -> usize) -> Planes<B> {
    let rows = key.first().map_or(0, |plane| plane.rows());
    let planes = LazyCell::new(|| {
        let labels: Vec<u64> = (0..rows).map(|i| label(i) as u64).collect();
        transpose::planes_of_rows(&labels, width)
    });
    let labels = (0..width).map(|j| b.public_bits(rows, || planes[j].clone()));
    key.iter().cloned().chain(labels).collect()
}

/// Sorts rows of a key and labels of `width` planes behind it by the lowest planes of the key, which are used up, until
/// at most `left` columns are left.
fn passes<B: Backend>(b: &mut B, mut columns: Planes<B>, width: usize, left: usize) -> Result<Planes<B>> {
    while columns.len() > left {
        let rest = columns.split_off(DIGIT.min(columns.len() - width));
        columns = b.step("pass", |b| {
            let to = destinations(b, &columns)?;
            let moving = Rows { bits: rest, ..Rows::empty(columns[0].rows()) };
            Ok(super::apply(b, moving, to)?.bits)
        })?;
    }
    Ok(columns)
}

/// Moves every row to the position that its secret label stands for; a number that is no label stands for none. The
/// labels, as a set, and the positions are public; a label has at most 64 planes, and no two labels one position. 3
/// rounds under rep3.
///
/// # Errors
/// [`MpcError::Misbehaved`](crate::MpcError::Misbehaved) when what the nodes reveal together is not every label once.
pub fn place_by_labels<B: Backend>(
    b: &mut B,
    rows: Rows<B>,
    labels: Planes<B>,
    place: impl Fn(u64) -> Option<u32>,
) -> Result<Rows<B>> {
    b.step("place", |b| {
        let reveal = Rows { bits: labels, ..Rows::empty(rows.rows) };
        let (moved, revealed) = b.shuffle_reveal(rows, reveal)?;
        let places: Option<Vec<u32>> = numbers_of(&revealed).into_iter().map(place).collect();
        places.and_then(|places| moved.permute_public(&places)).ok_or_else(no_permutation)
    })
}

/// The destinations of a stable counting sort by a digit of one to three planes.
fn destinations<B: Backend>(b: &mut B, digit: &[B::Bits]) -> Result<B::Vector<u32>> {
    let digit: Vec<&B::Bits> = digit.iter().collect();
    match digit.len() {
        1 => b.scan_product::<Places<1>, 1>(&digit),
        2 => b.scan_product::<Places<3>, 3>(&digit),
        3 => b.scan_product::<Places<7>, 7>(&digit),
        _ => unreachable!("a digit has two, four or eight values"),
    }
}

/// Which rows have the digit 1, 2, ...: exactly one is set in a row whose digit is not zero. A round for the second and
/// third plane each.
pub(crate) fn nonzero_digits<B: Backend>(b: &mut B, digit: &[&B::Bits]) -> Result<Planes<B>> {
    match *digit {
        [x] => Ok(vec![x.clone()]),
        [x, y] => {
            let xy = b.and(&[x], &[y])?.swap_remove(0);
            Ok(vec![linear::xor(x, &xy), linear::xor(y, &xy), xy])
        }
        [x, y, z] => {
            let pairs = b.and(&[x, x, y], &[y, z, z])?;
            let [xy, xz, yz] = <[_; 3]>::try_from(pairs).map_err(|_| ()).expect("three products");
            let xyz = b.and(&[&xy], &[z])?.swap_remove(0);
            let without = |x: &B::Bits, y: &B::Bits| linear::xor(x, y);
            let (only_xy, only_xz, only_yz) = (without(&xy, &xyz), without(&xz, &xyz), without(&yz, &xyz));
            let only_x = without(&without(x, &xy), &only_xz);
            let only_y = without(&without(y, &xy), &only_yz);
            let only_z = without(&without(z, &xz), &only_yz);
            Ok(vec![only_x, only_y, only_xy, only_z, only_xz, only_yz, xyz])
        }
        _ => unreachable!("a digit has one to three planes"),
    }
}

/// Where rows go, as linear functions of the flags f_1 .. f_N of the nonzero digit values. The factors are, for each of
/// them, the place a row would go to with that digit less the place it would go to with digit zero. The base is the
/// place with digit zero less the row's number.
///
/// The place of row i with digit d is the count of all rows with smaller digits plus the count of earlier rows with
/// digit d. With f_0 = 1 - f_1 - ..., the constants add up to i for digit zero and to n - i for the differences. Since
/// exactly one flag is one in a row whose digit is not zero, the latter are taken in as (n - i) (f_1 + ...), which
/// keeps the map linear.
struct Places<const N: usize> {
    /// For each digit value: earlier rows with it, less all rows with it or a greater one.
    counts: [u32; N],
    /// Earlier rows with a nonzero digit.
    earlier: u32,
    /// Rows from here on.
    left: u32,
    /// Room for a piece's earlier rows with a nonzero digit.
    room: Vec<u32>,
}

impl<const N: usize> LinearScan<u32, N> for Places<N> {
    fn begin(at: Place<u32, N>) -> Self {
        let mut greater = 0u32;
        let mut counts = at.before;
        for (count, total) in counts.iter_mut().zip(at.totals).rev() {
            greater = greater.wrapping_add(total);
            *count = count.wrapping_sub(greater);
        }
        let earlier = at.before.into_iter().fold(0, u32::wrapping_add);
        Self { counts, earlier, left: (at.rows - at.row) as u32, room: vec![] }
    }

    fn piece(&mut self, flags: [&[u32]; N], factors: [&mut [u32]; N], base: &mut [u32]) {
        self.room.resize(base.len(), 0);
        let (any, earlier) = (base, &mut self.room);
        any.copy_from_slice(flags[0]);
        flags[1..].iter().for_each(|flags| accumulate(any, flags));
        self.earlier = running::before(any, self.earlier, earlier);
        for ((flags, factors), count) in flags.iter().zip(factors).zip(&mut self.counts) {
            *count = running::before(flags, *count, factors);
            accumulate(factors, earlier);
        }
        // The base, in place of the rows with a nonzero digit.
        for ((any, earlier), left) in any.iter_mut().zip(&*earlier).zip((0..self.left).rev()) {
            *any = any.wrapping_mul(left + 1).wrapping_sub(*earlier);
        }
        self.left -= any.len() as u32;
    }
}

/// Adds row by row.
fn accumulate(sums: &mut [u32], more: &[u32]) {
    dispatch(Accumulate { sums, more });
}

struct Accumulate<'a> {
    sums: &'a mut [u32],
    more: &'a [u32],
}

impl Kernel for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().zip(self.more).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
    }
}
