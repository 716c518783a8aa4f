//! The largest and smallest along an axis, by pairs: log2 of its length many comparisons behind each other.
//!
//! Neighbours meet, and the left one stays unless the right one is better. So of equal ones the first stays, and a
//! position that moves along is that of the first.

use tacit_mpc::{Backend, Linear, Result};

use super::along::Axis;
use super::call::Call;
use super::choices::chosen;
use super::comparisons::{difference_bits, signs};
use super::products::numbers;
use crate::array::{Element, Shares};
use crate::program::Ring;

/// The largest, or smallest, along an axis.
pub(super) fn extreme<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    axis: usize,
    largest: bool,
) -> Result<Vec<Shares<B>>> {
    let one = |call: &Call<'_, B>| {
        let axis = Axis::of(&call.args[0].shape, axis);
        let found = played::<R, B>(b, call, call.args[0].vector::<R>(), axis, largest, false)?;
        Ok(R::shares(found.into_iter().next().expect("a column of values")))
    };
    calls.iter().map(one).collect()
}

/// The position of the largest, or smallest, along an axis.
pub(super) fn place<B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    axis: usize,
    largest: bool,
) -> Result<Vec<Shares<B>>> {
    calls.iter().map(|call| one_place(b, call, axis, largest)).collect()
}

fn one_place<B: Backend>(b: &mut B, call: &Call<'_, B>, axis: usize, largest: bool) -> Result<Shares<B>> {
    let (array, ring) = (call.args[0], call.instruction.ring);
    let axis = Axis::of(&array.shape, axis);
    match (array.ring(), ring) {
        (Ring::Ring128, Ring::Ring64) => {
            let found = played::<u128, B>(b, call, array.vector::<u128>(), axis, largest, true)?;
            Ok(Shares::Ring64(b.narrow(&found[1])))
        }
        (_, Ring::Ring128) => placed::<u128, B>(b, call, axis, largest),
        _ => placed::<u64, B>(b, call, axis, largest),
    }
}

fn placed<R: Element, B: Backend>(b: &mut B, call: &Call<'_, B>, axis: Axis, largest: bool) -> Result<Shares<B>> {
    let values = numbers::<R, B>(b, &[call.args[0]])?.swap_remove(0);
    Ok(R::shares(played::<R, B>(b, call, &values, axis, largest, true)?.swap_remove(1)))
}

/// What is left of an axis: the best values, and where asked for their positions.
fn played<R: Element, B: Backend>(
    b: &mut B,
    call: &Call<'_, B>,
    values: &B::Vector<R>,
    axis: Axis,
    largest: bool,
    places: bool,
) -> Result<Vec<B::Vector<R>>> {
    let (lines, bounds) = (axis.lines(), call.bounds(0));
    let width = difference_bits(bounds, bounds);
    let in_front = axis.in_front();
    let mut left = vec![values.map(in_front.len(), |x| tacit_math::ring::gather(x, &in_front))];
    if places {
        let positions = || (0..axis.length).flat_map(|step| std::iter::repeat_n(R::from_u128(step as u128), lines));
        left.push(b.public_vector(axis.length * lines, || positions().collect()));
    }
    let mut length = axis.length;
    while length > 1 {
        left = round::<R, B>(b, &left, length, lines, width, largest)?;
        length = length.div_ceil(2);
    }
    Ok(left)
}

/// What is left of `length` many when neighbours have met.
fn round<R: Element, B: Backend>(
    b: &mut B,
    columns: &[B::Vector<R>],
    length: usize,
    lines: usize,
    width: usize,
    largest: bool,
) -> Result<Vec<B::Vector<R>>> {
    let pairs = length / 2;
    let every_second = |first: usize| {
        move |column: &B::Vector<R>| {
            column.map(pairs * lines, |x| x.chunks(lines.max(1)).skip(first).step_by(2).take(pairs).flatten().copied().collect())
        }
    };
    let left: Vec<B::Vector<R>> = columns.iter().map(every_second(0)).collect();
    let right: Vec<B::Vector<R>> = columns.iter().map(every_second(1)).collect();
    let [less, more] = if largest { [&left[0], &right[0]] } else { [&right[0], &left[0]] };
    let better = signs::<R, B>(b, &[tacit_mpc::linear::sub(less, more)], width)?;
    let met = chosen::<R, B>(b, &vec![&better[0]; columns.len()], &right, &left)?;
    if length % 2 == 0 {
        return Ok(met);
    }
    let rest = |column: &B::Vector<R>| column.map(lines, |x| x[2 * pairs * lines..].to_vec());
    let with_rest = |(met, column): (&B::Vector<R>, &B::Vector<R>)| tacit_mpc::linear::concat_vectors(&[met, &rest(column)]);
    Ok(met.iter().zip(columns).map(with_rest).collect())
}
