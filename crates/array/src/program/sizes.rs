//! How many elements an array may have.

/// Most elements of an array: their numbers take 32 bits.
const MOST: usize = 1 << 31;

/// Most axes, as NumPy has them.
const MOST_AXES: usize = 64;

/// The number of elements, if it is not too large. That of an array without elements is as large as its other axes
/// make it: whoever goes along them goes no farther than along those of an array that fits.
pub(super) fn elements(shape: &[usize]) -> Option<usize> {
    let others = shape.iter().filter(|&&size| size > 0).try_fold(1usize, |total, &size| total.checked_mul(size))?;
    let fits = others <= MOST && shape.len() <= MOST_AXES;
    fits.then(|| if shape.contains(&0) { 0 } else { others })
}
