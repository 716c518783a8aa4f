//! Arrays repeated along new axes and those of length one, and where elements lie: local.

use tacit_mpc::Backend;

use crate::array::Array;

/// An array repeated along new axes and those of length one.
pub(super) fn repeated<B: Backend>(array: &Array<B>, shape: &[usize]) -> Array<B> {
    if array.elements() == shape.iter().product::<usize>() {
        return array.reshaped(shape);
    }
    array.gathered(shape, || places(&array.shape, shape))
}

/// Where the elements of an array lie that is repeated to a shape.
pub(super) fn places(own: &[usize], shape: &[usize]) -> Vec<u32> {
    let steps = own.iter().zip(strides(own)).map(|(&size, stride)| if size == 1 { 0 } else { stride });
    let strides: Vec<i64> = std::iter::repeat_n(0, shape.len() - own.len()).chain(steps).collect();
    positions(shape, 0, &strides)
}

/// How far apart neighbours along each axis lie.
pub(super) fn strides(shape: &[usize]) -> Vec<i64> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<usize>() as i64).collect()
}

/// Where the elements of a shape come from: from an offset and a stride along each axis.
pub(super) fn positions(shape: &[usize], offset: i64, strides: &[i64]) -> Vec<u32> {
    let (Some((&size, front)), Some((&stride, in_front))) = (shape.split_last(), strides.split_last()) else {
        return vec![offset as u32];
    };
    let next = |from: Vec<i64>, (&size, &stride): (&usize, &i64)| -> Vec<i64> {
        from.iter().flat_map(|&from| (0..size as i64).map(move |step| from + step * stride)).collect()
    };
    let starts = front.iter().zip(in_front).fold(vec![offset], next);
    let mut found = Vec::with_capacity(starts.len() * size);
    starts.iter().for_each(|start| found.extend((0..size as i64).map(|step| (start + step * stride) as u32)));
    found
}
