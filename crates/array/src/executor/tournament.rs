//! The largest and smallest along an axis, by pairs: log2 of its length many comparisons behind each other.
//!
//! Neighbours meet, and the left one stays unless the right one is better. So of equal ones the first stays, and a
//! position that moves along is that of the first. All lines of all arrays of a kind play at once.

use tacit_math::ring;
use tacit_mpc::{Backend, Linear, Result, linear};

use super::along::Axis;
use super::call::Call;
use super::choices::chosen;
use super::comparisons::{difference_bits, signs};
use super::products::numbers;
use crate::array::{Element, Shares, joined, parted};
use crate::program::Ring;

/// The largest, or smallest, along an axis.
pub(super) fn extreme<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    axis: usize,
    largest: bool,
) -> Result<Vec<Shares<B>>> {
    let values: Vec<&B::Vector<R>> = calls.iter().map(|call| call.args[0].vector::<R>()).collect();
    let lines = Lines::of(calls, axis);
    let found = lines.played::<R, B>(b, &values, largest, false)?.swap_remove(0);
    Ok(parted::<R, B>(found, &lines.each()).into_iter().map(R::shares).collect())
}

/// The position of the largest, or smallest, along an axis.
pub(super) fn place<B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    axis: usize,
    largest: bool,
) -> Result<Vec<Shares<B>>> {
    match (calls[0].args[0].ring(), calls[0].instruction.ring) {
        (Ring::Ring128, Ring::Ring64) => {
            let found = positions::<u128, B>(b, calls, axis, largest)?;
            Ok(found.iter().map(|places| Shares::Ring64(b.narrow(places))).collect())
        }
        (_, Ring::Ring128) => {
            Ok(positions::<u128, B>(b, calls, axis, largest)?.into_iter().map(u128::shares).collect())
        }
        _ => Ok(positions::<u64, B>(b, calls, axis, largest)?.into_iter().map(u64::shares).collect()),
    }
}

fn positions<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    axis: usize,
    largest: bool,
) -> Result<Vec<B::Vector<R>>> {
    let values = numbers::<R, B>(b, &calls.iter().map(|call| call.args[0]).collect::<Vec<_>>())?;
    let lines = Lines::of(calls, axis);
    let values: Vec<&B::Vector<R>> = values.iter().map(|values| &**values).collect();
    let found = lines.played::<R, B>(b, &values, largest, true)?.swap_remove(1);
    Ok(parted::<R, B>(found, &lines.each()))
}

/// The lines along an axis of arrays that are equally long along it.
struct Lines {
    axes: Vec<Axis>,
    length: usize,
    /// Bits of the difference of two elements.
    width: usize,
}

impl Lines {
    fn of<B: Backend>(calls: &[Call<'_, B>], axis: usize) -> Self {
        let axes: Vec<Axis> = calls.iter().map(|call| Axis::of(&call.args[0].shape, axis)).collect();
        let bounds = calls[0].bounds(0);
        Self { length: axes[0].length, axes, width: difference_bits(bounds, bounds) }
    }

    /// How many each array has.
    fn each(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.lines()).collect()
    }

    /// Where elements lie of all arrays behind each other: first those that are first on their lines, and so on.
    fn in_front(&self) -> Vec<u32> {
        let starts = self.axes.iter().scan(0, |end, axis| {
            let start = *end;
            *end += (axis.lines() * axis.length) as u32;
            Some(start)
        });
        let arrays: Vec<(u32, usize, Vec<u32>)> =
            starts.zip(&self.axes).map(|(start, axis)| (start, axis.lines(), axis.in_front())).collect();
        let at = |step: usize| {
            arrays.iter().flat_map(move |(start, lines, places)| {
                places[step * lines..(step + 1) * lines].iter().map(move |place| start + place)
            })
        };
        (0..self.length).flat_map(at).collect()
    }

    /// The best values of all lines, and where asked for their positions.
    fn played<R: Element, B: Backend>(
        &self,
        b: &mut B,
        values: &[&B::Vector<R>],
        largest: bool,
        places: bool,
    ) -> Result<Vec<B::Vector<R>>> {
        let (all, _) = joined::<R, B>(values);
        let (in_front, lines) = (self.in_front(), self.each().iter().sum());
        let mut left = vec![all.map(in_front.len(), |x| ring::gather(x, &in_front))];
        if places {
            let positions = || (0..self.length).flat_map(|step| std::iter::repeat_n(R::from_u128(step as u128), lines));
            left.push(b.public_vector(in_front.len(), || positions().collect()));
        }
        let mut length = self.length;
        while length > 1 {
            left = self.met::<R, B>(b, &left, length, lines, largest)?;
            length = length.div_ceil(2);
        }
        Ok(left)
    }

    /// What is left of `length` many on each line when neighbours have met.
    fn met<R: Element, B: Backend>(
        &self,
        b: &mut B,
        columns: &[B::Vector<R>],
        length: usize,
        lines: usize,
        largest: bool,
    ) -> Result<Vec<B::Vector<R>>> {
        let pairs = length / 2;
        let [left, right] = [0, 1].map(|first| {
            let taken = |x: &Vec<R>| {
                let steps = x.chunks(lines.max(1)).skip(first).step_by(2).take(pairs);
                steps.flatten().copied().collect()
            };
            columns.iter().map(|column| column.map(pairs * lines, taken)).collect::<Vec<_>>()
        });
        let [less, more] = if largest { [&left[0], &right[0]] } else { [&right[0], &left[0]] };
        let better = signs::<R, B>(b, &[&linear::sub(less, more)], self.width)?;
        let [then, other] = [&right, &left].map(|columns| columns.iter().collect::<Vec<_>>());
        let mut found = chosen::<R, B>(b, &vec![&better[0]; columns.len()], &then, &other)?;
        if length % 2 == 1 {
            for (found, column) in found.iter_mut().zip(columns) {
                let rest = column.map(lines, |x| x[2 * pairs * lines..].to_vec());
                *found = linear::concat_vectors(&[&*found, &rest]);
            }
        }
        Ok(found)
    }
}
