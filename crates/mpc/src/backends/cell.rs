//! The algebras over which sharing works, as one trait: GF(2)^64 (a word of a plane) and Z/2^k.

use bytemuck::{Pod, Zeroable};
use tacit_math::{Plane, Ring};

/// An element of an algebra, as stored and sent.
pub(in crate::backends) trait Cell: Pod + Send + Sync {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

/// 64 rows of a plane: XOR and AND.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(in crate::backends) struct Lane(u64);

impl Cell for Lane {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Lane(self.0 ^ other.0)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Lane(self.0 ^ other.0)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Lane(self.0 & other.0)
    }
}

impl<R: Ring> Cell for R {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.add(other)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.sub(other)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.mul(other)
    }
}

/// The words of a plane as cells.
pub(in crate::backends) fn lanes(plane: &Plane) -> &[Lane] {
    bytemuck::cast_slice(plane.words())
}

/// A plane of cells.
pub(in crate::backends) fn plane(rows: usize, lanes: Vec<Lane>) -> Plane {
    Plane::from_words(rows, bytemuck::cast_vec(lanes))
}
