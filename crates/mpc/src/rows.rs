//! Whole tables as bundles of shared columns.

use tacit_math::{Plane, permutation, ring};

use crate::block::{gather_planes, padded, scatter_planes};
use crate::{Linear, Shape, SharedTypes};

/// A bundle of shared columns that move together. Not printable.
pub struct Rows<B: SharedTypes> {
    /// Rows of every column.
    pub rows: usize,
    /// Shared bit planes.
    pub bits: Vec<B::Bits>,
    /// Shared vectors over Z/2^32.
    pub r32: Vec<B::Vector<u32>>,
    /// Shared vectors over Z/2^64.
    pub r64: Vec<B::Vector<u64>>,
    /// Shared vectors over Z/2^128.
    pub r128: Vec<B::Vector<u128>>,
}

impl<B: SharedTypes> Clone for Rows<B> {
    fn clone(&self) -> Self {
        Self {
            rows: self.rows,
            bits: self.bits.clone(),
            r32: self.r32.clone(),
            r64: self.r64.clone(),
            r128: self.r128.clone(),
        }
    }
}

impl<B: SharedTypes> Rows<B> {
    /// A bundle without columns.
    pub fn empty(rows: usize) -> Self {
        Self { rows, bits: vec![], r32: vec![], r64: vec![], r128: vec![] }
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        let (bits, r32, r64, r128) = (self.bits.len(), self.r32.len(), self.r64.len(), self.r128.len());
        Shape { rows: self.rows, bits, r32, r64, r128 }
    }

    /// Row i moves to the public position p[i]. None if p is no permutation, as a peer may have it. Local. An engine
    /// without data has no positions, but as many rows.
    pub fn permute_public(&self, p: &[u32]) -> Option<Self> {
        permutation::is_permutation(p).then(|| Self {
            rows: self.rows,
            bits: map_columns(&self.bits, self.rows, |c| scatter_planes(c, p)),
            r32: map_each(&self.r32, self.rows, |c| ring::scatter(c, p)),
            r64: map_each(&self.r64, self.rows, |c| ring::scatter(c, p)),
            r128: map_each(&self.r128, self.rows, |c| ring::scatter(c, p)),
        })
    }

    /// Row i is the old row from[i], which is public. Local.
    pub fn gather_public(&self, from: &[u32]) -> Self {
        let rows = from.len();
        Self {
            rows,
            bits: map_columns(&self.bits, rows, |c| gather_planes(c, from)),
            r32: map_each(&self.r32, rows, |c| ring::gather(c, from)),
            r64: map_each(&self.r64, rows, |c| ring::gather(c, from)),
            r128: map_each(&self.r128, rows, |c| ring::gather(c, from)),
        }
    }

    /// Rows start..start+rows. Local.
    pub fn slice(&self, start: usize, rows: usize) -> Self {
        Self {
            rows,
            bits: map_columns(&self.bits, rows, |c| Plane::map_all(c, |p| p.slice(start, rows))),
            r32: map_each(&self.r32, rows, |c| c[start..start + rows].to_vec()),
            r64: map_each(&self.r64, rows, |c| c[start..start + rows].to_vec()),
            r128: map_each(&self.r128, rows, |c| c[start..start + rows].to_vec()),
        }
    }

    /// Prefix sums (prefix XORs of planes). Local.
    pub fn prefix_sums(&self) -> Self {
        Self {
            rows: self.rows,
            bits: map_columns(&self.bits, self.rows, |c| Plane::map_all(c, Plane::prefix_xor)),
            r32: map_each(&self.r32, self.rows, |c| ring::prefix_sum(c)),
            r64: map_each(&self.r64, self.rows, |c| ring::prefix_sum(c)),
            r128: map_each(&self.r128, self.rows, |c| ring::prefix_sum(c)),
        }
    }

    /// Row i minus row i-1 (row 0 unchanged): the inverse of [`Self::prefix_sums`]. Local.
    pub fn differences(&self) -> Self {
        Self {
            rows: self.rows,
            bits: map_columns(&self.bits, self.rows, |c| Plane::map_all(c, |p| p.xor(&p.shift_down()))),
            r32: map_each(&self.r32, self.rows, |c| ring::differences(c)),
            r64: map_each(&self.r64, self.rows, |c| ring::differences(c)),
            r128: map_each(&self.r128, self.rows, |c| ring::differences(c)),
        }
    }

    /// The rows of this bundle followed by `more` rows of zeros. Local.
    pub fn pad_zeros(&self, more: usize) -> Self {
        let rows = self.rows + more;
        Self {
            rows,
            bits: map_columns(&self.bits, rows, |c| Plane::map_all(c, |p| Plane::concat(&[p, &Plane::zeros(more)]))),
            r32: map_each(&self.r32, rows, |c| padded(c, more)),
            r64: map_each(&self.r64, rows, |c| padded(c, more)),
            r128: map_each(&self.r128, rows, |c| padded(c, more)),
        }
    }
}

fn map_columns<T, S: Linear<T>>(columns: &[S], rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<S> {
    S::map_each(&columns.iter().collect::<Vec<_>>(), rows, map)
}

fn map_each<T, S: Linear<T>>(columns: &[S], rows: usize, map: impl Fn(&T) -> T) -> Vec<S> {
    columns.iter().map(|c| c.map(rows, &map)).collect()
}
