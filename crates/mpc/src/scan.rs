//! Linear maps that run down the rows once, so that what they give is used while it is still in the cache.

use tacit_math::Ring;

/// A linear map from N columns to N factors and a base, computed in one pass over the rows with a state of fixed size.
///
/// It is run on each component of shares by itself, so it must be linear and must not depend on secrets otherwise.
pub trait LinearScan<R: Ring, const N: usize> {
    /// The state before the first row. May look at whole columns (for totals).
    fn start(columns: [&[R]; N]) -> Self;

    /// The next rows: from a piece of each column, as many rows of each factor and of the base.
    fn piece(&mut self, columns: [&[R]; N], factors: [&mut [R]; N], base: &mut [R]);
}
