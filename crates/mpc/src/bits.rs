//! Ring vectors as planes and back, in clear (values or single components).

use tacit_math::{Plane, Ring, transpose};

/// The low `width` planes of a vector, least significant first.
pub(crate) fn planes_of<R: Ring>(x: &[R], width: usize) -> Vec<Plane> {
    transpose::planes_of_ring(x, width)
}

/// The vector with the given planes, least significant first; missing ones are zero.
pub(crate) fn vector_of<R: Ring>(planes: &[&Plane], rows: usize) -> Vec<R> {
    transpose::ring_of_planes(planes, rows)
}
