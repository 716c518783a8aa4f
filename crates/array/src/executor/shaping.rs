//! The same elements elsewhere, and public ones: local.

use tacit_mpc::Backend;

use super::along::Axis;
use super::call::Call;
use super::repeated::{positions, repeated, strides};
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

/// Results without elements.
pub(super) fn nothing<B: Backend>(b: &B, calls: &[Call<'_, B>]) -> Vec<Shares<B>> {
    let empty = |call: &Call<'_, B>| Array::public(b, &[0], call.instruction.ring, vec![]).into_shares();
    calls.iter().map(empty).collect()
}

fn sliced<B: Backend>(array: &Array<B>, shape: &[usize], ranges: &[(i64, i64, i64)]) -> Array<B> {
    let own = strides(&array.shape);
    // Of no element a start may be anywhere, and of one element a step may be of any size: nobody goes there.
    let begins = ranges.iter().zip(&own).filter(|_| !shape.contains(&0));
    let offset = begins.map(|((start, _, _), stride)| start * stride).sum();
    let strides: Vec<i64> = ranges.iter().zip(&own).map(|((_, _, step), stride)| step.wrapping_mul(*stride)).collect();
    array.gathered(shape, || positions(shape, offset, &strides))
}

fn taken<B: Backend>(array: &Array<B>, shape: &[usize], positions: &[usize], axis: usize) -> Array<B> {
    let Axis { outer, length, inner } = Axis::of(&array.shape, axis);
    let at = |line: usize, position: usize| (line * length + position) * inner;
    array.gathered(shape, || {
        let begins = (0..outer).flat_map(|line| positions.iter().map(move |&position| at(line, position)));
        let mut found = Vec::with_capacity(outer * positions.len() * inner);
        begins.for_each(|begin| found.extend((begin..begin + inner).map(|place| place as u32)));
        found
    })
}

fn concatenated<B: Backend>(parts: &[&Array<B>], shape: &[usize], axis: usize) -> Array<B> {
    let whole =
        Array::new(shape, Shares::behind_each_other(&parts.iter().map(|part| part.shares()).collect::<Vec<_>>()));
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
        let begins =
            (0..outer).flat_map(|line| parts.iter().map(move |&(start, length)| (start + line * length, length)));
        begins.flat_map(|(begin, length)| (begin..begin + length).map(|place| place as u32)).collect()
    })
}

#[cfg(test)]
mod tests {
    use tacit_mpc::backends::Clear;

    use super::sliced;
    use crate::array::Array;
    use crate::program::Ring;

    #[test]
    fn starts_and_steps_that_nobody_goes_to_may_be_of_any_size() {
        let b = Clear::new().expect("an engine");
        let array = Array::public(&b, &[2, 3], Ring::Ring64, (0..6).collect());
        let (far, back) = (i64::MAX, i64::MIN + 1);
        for (ranges, shape, expected) in [
            ([(1, 2, far), (2, -1, -2)], [1, 2], &[5, 3][..]),
            ([(0, 2, 1), (1, 2, back.abs())], [2, 1], &[1, 4]),
            ([(far, far, 1), (0, 3, 1)], [0, 3], &[]),
            ([(0, 2, 1), (back, back, far)], [2, 0], &[]),
        ] {
            let found = sliced(&array, &shape, &ranges);
            assert_eq!(found.public.expect("of public numbers").as_slice(), expected, "{ranges:?}");
        }
    }
}
