//! Linear maps that run down the rows once, so that what they give is used while it is still in the cache.

use tacit_math::{Ring, ring};

/// A linear map from N columns to N factors and a base, computed in one pass over the rows with a state of fixed size.
///
/// It is run on each component of shares by itself, so it must be linear and must not depend on secrets otherwise.
pub trait LinearScan<R: Ring, const N: usize>: Sized {
    /// The state before a row. Parts of the rows can so be computed side by side.
    fn begin(at: Place<R, N>) -> Self;

    /// The state before the first row of columns.
    fn start(columns: [&[R]; N]) -> Self {
        Self::begin(Place { rows: columns[0].len(), row: 0, totals: columns.map(ring::sum), before: [R::ZERO; N] })
    }

    /// The next rows: from a piece of each column, as many rows of each factor and of the base.
    fn piece(&mut self, columns: [&[R]; N], factors: [&mut [R]; N], base: &mut [R]);
}

/// A row, and what a scan has to know of the others.
#[derive(Clone, Copy)]
pub struct Place<R, const N: usize> {
    /// The number of all rows.
    pub rows: usize,
    /// How many rows are before this one.
    pub row: usize,
    /// The sum of each column.
    pub totals: [R; N],
    /// The sum of each column's rows before this one.
    pub before: [R; N],
}
