//! The same elements elsewhere, and public ones: local.

use tacit_mpc::{Backend, linear};

use super::along::Axis;
use super::call::Call;
use crate::array::{Array, Shares};
use crate::program::{Integer, Operation};

/// The result of an instruction that moves elements, or that has public ones.
pub(super) fn moved<B: Backend>(b: &B, call: &Call<'_, B>) -> Array<B> {
    let shape = &call.instruction.shape;
    match &call.instruction.operation {
        Operation::Constant { values } => {
            Array::public(b, shape, call.instruction.ring, values.iter().map(|Integer(value)| *value).collect())
        }
        Operation::Broadcast {} => repeated(call.args[0], shape),
        Operation::Transpose { axes } => {
            let strides = strides(&call.args[0].shape);
            let strides: Vec<i64> = axes.iter().map(|&axis| strides[axis]).collect();
            call.args[0].gathered(shape, || positions(shape, 0, &strides))
        }
        Operation::Slice { ranges } => sliced(call.args[0], shape, ranges),
        Operation::Take { positions, axis } => taken(call.args[0], shape, positions, *axis),
        Operation::Concatenate { axis } => concatenated(&call.args, shape, *axis),
        _ => call.args[0].reshaped(shape),
    }
}

/// An array repeated along new axes and those of length one.
pub(super) fn repeated<B: Backend>(array: &Array<B>, shape: &[usize]) -> Array<B> {
    if array.shape == shape {
        return array.clone();
    }
    if array.elements() == shape.iter().product::<usize>() {
        return array.reshaped(shape);
    }
    let added = shape.len() - array.shape.len();
    let own = array.shape.iter().zip(strides(&array.shape)).map(|(&size, stride)| if size == 1 { 0 } else { stride });
    let strides: Vec<i64> = std::iter::repeat_n(0, added).chain(own).collect();
    array.gathered(shape, || positions(shape, 0, &strides))
}

/// How far apart neighbours along each axis lie.
fn strides(shape: &[usize]) -> Vec<i64> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<usize>() as i64).collect()
}

/// Where the elements of a shape come from: from an offset and a stride along each axis.
fn positions(shape: &[usize], offset: i64, strides: &[i64]) -> Vec<u32> {
    let next = |from: Vec<i64>, (&size, &stride): (&usize, &i64)| -> Vec<i64> {
        from.iter().flat_map(|&from| (0..size as i64).map(move |step| from + step * stride)).collect()
    };
    let found = shape.iter().zip(strides).fold(vec![offset], next);
    found.into_iter().map(|position| position as u32).collect()
}

fn sliced<B: Backend>(array: &Array<B>, shape: &[usize], ranges: &[(i64, i64, i64)]) -> Array<B> {
    let own = strides(&array.shape);
    let offset = ranges.iter().zip(&own).map(|((start, _, _), stride)| start * stride).sum();
    let strides: Vec<i64> = ranges.iter().zip(&own).map(|((_, _, step), stride)| step * stride).collect();
    array.gathered(shape, || positions(shape, offset, &strides))
}

fn taken<B: Backend>(array: &Array<B>, shape: &[usize], positions: &[usize], axis: usize) -> Array<B> {
    let Axis { outer, length, inner } = Axis::of(&array.shape, axis);
    let at = |line: usize, position: usize| (line * length + position) * inner;
    array.gathered(shape, || {
        let begins = (0..outer).flat_map(|line| positions.iter().map(move |&position| at(line, position)));
        begins.flat_map(|begin| (begin..begin + inner).map(|place| place as u32)).collect()
    })
}

fn concatenated<B: Backend>(parts: &[&Array<B>], shape: &[usize], axis: usize) -> Array<B> {
    let whole = Array::new(shape, behind_each_other(parts));
    let outer = shape[..axis].iter().product::<usize>();
    if outer == 1 {
        return whole;
    }
    let lengths: Vec<usize> = parts.iter().map(|part| part.elements() / outer.max(1)).collect();
    let starts = parts.iter().scan(0, |end, part| {
        let start = *end;
        *end += part.elements();
        Some(start)
    });
    let parts: Vec<(usize, usize)> = starts.zip(lengths).collect();
    whole.gathered(shape, || {
        let begins = (0..outer).flat_map(|line| parts.iter().map(move |&(start, length)| (start + line * length, length)));
        begins.flat_map(|(begin, length)| (begin..begin + length).map(|place| place as u32)).collect()
    })
}

fn behind_each_other<B: Backend>(parts: &[&Array<B>]) -> Shares<B> {
    match parts[0].shares() {
        Shares::Bits(_) => Shares::Bits(linear::concat_bits(&parts.iter().map(|part| part.bits()).collect::<Vec<_>>())),
        Shares::Ring64(_) => {
            Shares::Ring64(linear::concat_vectors(&parts.iter().map(|part| part.vector::<u64>()).collect::<Vec<_>>()))
        }
        Shares::Ring128(_) => {
            Shares::Ring128(linear::concat_vectors(&parts.iter().map(|part| part.vector::<u128>()).collect::<Vec<_>>()))
        }
    }
}
