//! How many elements an array may have.

/// Most elements of an array: their numbers take 32 bits.
const MOST: usize = 1 << 31;

/// The number of elements, if it is not too large.
pub(super) fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |total, &size| total.checked_mul(size)).filter(|&total| total <= MOST)
}
