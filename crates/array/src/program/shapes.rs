//! Shapes, by NumPy's rules.

use super::sizes::elements;
use super::{Instruction, Operation, convolution};

/// Checks that an instruction's shape follows from its arguments' shapes.
pub fn check(next: &Instruction, args: &[&Instruction]) -> Result<(), String> {
    let shapes: Vec<&[usize]> = args.iter().map(|arg| arg.shape.as_slice()).collect();
    elements(&next.shape).ok_or_else(|| format!("its shape {:?} has too many elements or axes", next.shape))?;
    if let Some(axis) = next.operation.axis().filter(|&axis| axis >= shapes[0].len()) {
        return Err(format!("an array of shape {:?} has no axis {axis}", shapes[0]));
    }
    let found = found(next, &shapes).ok_or_else(|| format!("it does not apply to shapes {shapes:?}"))?;
    if found == next.shape { Ok(()) } else { Err(format!("its shape is {found:?}, not {:?}", next.shape)) }
}

/// The shape of the result; None where there is none.
fn found(next: &Instruction, shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let (given, elsewhere) = (|| next.shape.clone(), |axis: usize| without(shapes[0], axis));
    match &next.operation {
        Operation::Input { .. } | Operation::Sample { .. } => Some(given()),
        Operation::Constant { values } => (elements(&next.shape)? == values.len()).then(given),
        Operation::Reshape {} => (elements(&next.shape) == elements(shapes[0])).then(given),
        Operation::Broadcast {} => (broadcast(&[shapes[0], &next.shape])? == next.shape).then(given),
        Operation::Sum { axis } => Some(elsewhere(*axis)),
        Operation::Largest { axis } | Operation::Smallest { axis } | Operation::Place { axis, .. } => {
            (shapes[0][*axis] > 0).then(|| elsewhere(*axis))
        }
        Operation::Transpose { axes } => transposed(shapes[0], axes),
        Operation::Slice { ranges } => sliced(shapes[0], ranges),
        Operation::Take { positions, axis } => {
            let mut shape = shapes[0].to_vec();
            let all_inside = positions.iter().all(|&position| position < shape[*axis]);
            shape[*axis] = positions.len();
            all_inside.then_some(shape)
        }
        Operation::Concatenate { axis } => concatenated(shapes, *axis),
        Operation::Convolve { .. } => convolution::shape(&next.operation, shapes),
        Operation::Matmul { .. } => Product::of(shapes[0], shapes[1]).map(|product| product.shape),
        _ => broadcast(shapes),
    }
}

/// The shape without an axis.
fn without(shape: &[usize], axis: usize) -> Vec<usize> {
    [&shape[..axis], &shape[axis + 1..]].concat()
}

/// The shape to which arrays are repeated.
fn broadcast(shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let dimensions = shapes.iter().map(|shape| shape.len()).max()?;
    let size = |axis: usize| {
        let sizes = shapes.iter().filter_map(|shape| (axis + shape.len()).checked_sub(dimensions).map(|at| shape[at]));
        sizes.reduce(|x, y| if x == 1 { y } else { x }).filter(|&size| {
            shapes.iter().all(|shape| {
                let at = (axis + shape.len()).checked_sub(dimensions);
                at.is_none_or(|at| shape[at] == size || shape[at] == 1)
            })
        })
    };
    (0..dimensions).map(size).collect()
}

fn transposed(shape: &[usize], axes: &[usize]) -> Option<Vec<usize>> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..shape.len()).then(|| axes.iter().map(|&axis| shape[axis]).collect())
}

fn sliced(shape: &[usize], ranges: &[(i64, i64, i64)]) -> Option<Vec<usize>> {
    let length = |(&size, &range): (&usize, &(i64, i64, i64))| count(range, size);
    (ranges.len() == shape.len()).then(|| shape.iter().zip(ranges).map(length).collect())?
}

/// How many positions of an axis a range has; None where one is outside, or where the step is zero.
fn count((start, stop, step): (i64, i64, i64), size: usize) -> Option<usize> {
    let distance = if step > 0 { stop.checked_sub(start)? } else { start.checked_sub(stop)? };
    let length = step.checked_abs()?;
    let count = distance.max(0).checked_add(length - 1)?.checked_div(length)?;
    let inside = |position: i64| usize::try_from(position).is_ok_and(|position| position < size);
    let last = start.checked_add((count - 1).checked_mul(step)?)?;
    (count == 0 || inside(start) && inside(last)).then_some(count as usize)
}

fn concatenated(shapes: &[&[usize]], axis: usize) -> Option<Vec<usize>> {
    let fits = |shape: &&[usize]| shape.len() == shapes[0].len() && without(shape, axis) == without(shapes[0], axis);
    let mut shape = shapes[0].to_vec();
    let fits = shapes.iter().all(fits);
    shape[axis] = if fits { shapes.iter().try_fold(0usize, |sum, shape| sum.checked_add(shape[axis]))? } else { 0 };
    fits.then_some(shape)
}

/// A product of stacks of matrices: `stack` many of (rows, inner) times (inner, columns), each as both shapes have it
/// when they are repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// The shape of the stack of products.
    pub stack: Vec<usize>,
    /// Rows of the result.
    pub rows: usize,
    /// Terms of each sum.
    pub inner: usize,
    /// Columns of the result.
    pub columns: usize,
}

impl Product {
    /// That of two shapes as NumPy's @ takes them, if it does: a vector is a row on the left and a column on the right.
    pub fn of(x: &[usize], y: &[usize]) -> Option<Self> {
        let (left, right) = (matrix(x, false)?, matrix(y, true)?);
        let ([stack_x @ .., rows, inner], [stack_y @ .., inner_of_y, columns]) = (&left[..], &right[..]) else {
            return None;
        };
        let stack = if stack_x.is_empty() && stack_y.is_empty() { vec![] } else { broadcast(&[stack_x, stack_y])? };
        let ends = [(x.len() > 1, *rows), (y.len() > 1, *columns)];
        let shape = stack.iter().copied().chain(ends.iter().filter(|(is_there, _)| *is_there).map(|end| end.1));
        let shape: Vec<usize> = shape.collect();
        let (rows, inner, columns) = (*rows, *inner, *columns);
        (inner == *inner_of_y).then_some(Self { shape, stack, rows, inner, columns })
    }
}

/// A shape with at least two axes.
fn matrix(shape: &[usize], column: bool) -> Option<Vec<usize>> {
    match shape {
        [] => None,
        &[size] => Some(if column { vec![size, 1] } else { vec![1, size] }),
        _ => Some(shape.to_vec()),
    }
}
