//! How a join brings left and right rows together, and how what a row learns of another comes back to it.

use tacit_math::{Plane, Ring, ring};
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::ops::{self, Merging};
use tacit_mpc::{Backend, Linear, Rows, linear};

use crate::error::{Result, TableError};
use crate::table::Table;
use crate::wrong_input::WrongInput;

/// Where the rows of left, then right, go in sorted order, and what it takes to come back.
pub(super) struct Sorting<B: Backend> {
    /// Sorted position of every row.
    positions: B::Vector<u32>,
    /// Number of left rows before every row (meant for left rows).
    ranks: B::Vector<u32>,
    /// At every sorted position, the label of the row that is there.
    labels: Planes<B>,
    /// Labels of right rows start here; those of left rows at 0.
    first_right: usize,
}

/// The rows of left, then right, in one order.
pub(super) enum Brought<B: Backend> {
    /// All of them sorted.
    Sorted(Sorting<B>),
    /// Two sorted runs merged.
    Merged(Merging<B>),
    /// Ordered by a party that sees the keys, and has told of all left rows whether they were found.
    Told(B::Bits),
}

/// That the owner sorted the table by these columns.
pub(super) fn check_sorted<B: Backend>(table: &Table<B>, keys: &[String]) -> Result<()> {
    if table.order.encoded == keys {
        return Ok(());
    }
    Err(WrongInput::MergeOrder { keys: keys.to_vec(), order: table.order.encoded.clone() }.into())
}

/// The sort of n left and m right rows.
pub(super) fn sort<B: Backend>(b: &mut B, n: usize, m: usize, key: Planes<B>) -> Result<Sorting<B>> {
    let rows = n + m;
    let side = ops::label_width(n.max(m));
    let first_right = 1 << side;
    b.step("sort", |b| {
        let labels = ops::sorted_labels(b, &key, side + 1, |i| if i < n { i } else { first_right + i - n })?;
        let from_right = b.inject::<u32>(&[&labels[side]])?.swap_remove(0);
        let positions = b.public_vector(rows, || (0..rows as u32).collect());
        let ranks = linear::sub(&positions, &from_right.map(rows, |x| ring::prefix_sum(x)));
        let moving = Rows { r32: vec![positions, ranks], ..Rows::empty(rows) };
        let moved = ops::place_by_labels(b, moving, labels.clone(), |label| old_row(label, n, first_right))?;
        let [positions, ranks] = <[_; 2]>::try_from(moved.r32).map_err(|_| ()).expect("two columns moved");
        Ok(Sorting { positions, ranks, labels, first_right })
    })
    .map_err(TableError::from)
}

/// The row, among n left rows and then right rows, of a label. None of a number that is no label of a left row, or of
/// no row at all.
pub(super) fn old_row(label: u64, n: usize, first_right: usize) -> Option<u32> {
    let label = usize::try_from(label).ok()?;
    let row =
        if label < first_right { Some(label).filter(|&row| row < n) } else { (label - first_right).checked_add(n) };
    u32::try_from(row?).ok()
}

/// For each of m right rows, the columns of the last left row before it in sorted order; zeros if there is none.
///
/// `widen`: what becomes of the left rows when they are in sorted order.
pub(super) fn copy_down<B: Backend>(
    b: &mut B,
    mut payload: Rows<B>,
    m: usize,
    sorting: Sorting<B>,
    widen: impl FnOnce(&mut B, Rows<B>) -> tacit_mpc::Result<Rows<B>>,
) -> Result<(Rows<B>, Brought<B>)> {
    let n = payload.rows;
    let Sorting { positions, ranks, labels, .. } = &sorting;
    let copied = b.step("copy_down", |b| {
        payload.r32.push(slice_vector::<u32, B>(positions, 0, n));
        let mut ranked = ops::apply(b, payload, slice_vector::<u32, B>(ranks, 0, n))?;
        let left_positions = ranked.r32.pop().expect("the positions moved along");
        let steps = widen(b, ranked)?.differences().pad_zeros(m);
        let destinations = linear::concat_vectors(&[&left_positions, &slice_vector::<u32, B>(positions, n, m)]);
        let sums = ops::apply(b, steps, destinations)?.prefix_sums();
        let back = ops::place_by_labels(b, sums, labels.clone(), |label| old_row(label, n, sorting.first_right))?;
        Ok(back.slice(n, m))
    })?;
    Ok((copied, Brought::Sorted(sorting)))
}

/// As [`copy_down`], where left and right rows are sorted by the key: the differences between left rows move along when
/// both are merged.
pub(super) fn copy_down_merged<B: Backend>(
    b: &mut B,
    payload: Rows<B>,
    m: usize,
    key: &[B::Bits],
) -> Result<(Rows<B>, Brought<B>)> {
    let n = payload.rows;
    let (steps, merging) = ops::merge(b, n, key, payload.differences().pad_zeros(m))?;
    Ok((merging.back(b, steps.prefix_sums())?.slice(n, m), Brought::Merged(merging)))
}

impl<B: Backend> Brought<B> {
    /// Which of n left rows were found by one of m right rows. `found`: the right rows that found one.
    pub(super) fn told(&self, b: &mut B, n: usize, m: usize, found: B::Bits) -> Result<B::Bits> {
        if n == 0 || m == 0 {
            return Ok(b.public_bits(n, || Plane::zeros(n)));
        }
        b.step("told", |b| match self {
            Self::Sorted(sorting) => sorting.told(b, n, found),
            Self::Merged(merging) => told_merged(b, merging, n, m, &found),
            Self::Told(matched) => Ok(matched.clone()),
        })
        .map_err(TableError::from)
    }
}

impl<B: Backend> Sorting<B> {
    /// Of a left row that counts: whether the next row found one.
    fn told(&self, b: &mut B, n: usize, found: B::Bits) -> tacit_mpc::Result<B::Bits> {
        let all = linear::concat_bits(&[&b.public_bits(n, || Plane::zeros(n)), &found]);
        let rows = all.rows();
        let mut sorted = ops::apply(b, Rows { bits: vec![all], ..Rows::empty(rows) }, self.positions.clone())?;
        sorted.bits = vec![sorted.bits[0].map(rows, Plane::shift_up)];
        let back = ops::place_by_labels(b, sorted, self.labels.clone(), |label| old_row(label, n, self.first_right))?;
        Ok(back.slice(0, n).bits.swap_remove(0))
    }
}

/// Whether more right rows found a left row before the next left row than before itself.
fn told_merged<B: Backend>(
    b: &mut B,
    merging: &Merging<B>,
    n: usize,
    m: usize,
    found: &B::Bits,
) -> tacit_mpc::Result<B::Bits> {
    let ones = b.inject::<u32>(&[found])?.swap_remove(0);
    let all = linear::concat_vectors(&[&b.public_vector(n, || vec![0; n]), &ones]);
    let sums = merging.again(b, Rows { r32: vec![all], ..Rows::empty(n + m) })?.prefix_sums();
    let before = merging.back(b, sums)?.slice(0, n).r32.swap_remove(0);
    let next = linear::concat_vectors(&[&slice_vector::<u32, B>(&before, 1, n - 1), &linear::total(&ones)]);
    let between = circuits::to_planes(b, &linear::sub(&next, &before), ops::label_width(m + 1))?;
    circuits::or_all(b, n, &between)
}

/// Rows start..start+rows of a vector. Local.
pub(super) fn slice_vector<R: Ring, B: Backend>(x: &B::Vector<R>, start: usize, rows: usize) -> B::Vector<R> {
    x.map(rows, |x| x[start..start + rows].to_vec())
}

#[cfg(test)]
mod tests {
    use super::old_row;

    #[test]
    fn labels_are_of_one_row_and_other_numbers_of_none() {
        let rows: Vec<_> = [0, 2, 8, 9, 15].map(|label| old_row(label, 3, 8)).to_vec();
        assert_eq!(rows, [Some(0), Some(2), Some(3), Some(4), Some(10)]);
        for none in [3, 7, 1 << 33, u64::MAX] {
            assert_eq!(old_row(none, 3, 8), None, "{none}");
        }
    }
}
