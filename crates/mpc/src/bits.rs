//! Ring vectors as planes and back, in clear (values or single components).

use tacit_math::{Plane, Ring, transpose};

/// The low `width` planes of a vector, least significant first.
pub(crate) fn planes_of<R: Ring>(x: &[R], width: usize) -> Vec<Plane> {
    let word = |shift: u32| x.iter().map(|v| (v.to_u128() >> shift) as u64).collect::<Vec<_>>();
    let mut planes = transpose::planes_of_rows(&word(0), width.min(64));
    if width > 64 {
        planes.extend(transpose::planes_of_rows(&word(64), width - 64));
    }
    planes
}

/// The vector with the given planes, least significant first; missing ones are zero.
pub(crate) fn vector_of<R: Ring>(planes: &[&Plane], rows: usize) -> Vec<R> {
    let words: Vec<Vec<u64>> = planes.chunks(64).map(|group| transpose::rows_of_planes(group, rows)).collect();
    (0..rows).map(|i| R::from_u128(words.iter().rev().fold(0, |value, w| value << 64 | u128::from(w[i])))).collect()
}
