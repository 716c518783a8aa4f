//! The types of an engine's shared columns.

use tacit_math::{Plane, Ring};

use crate::Linear;

/// The shared columns of an engine.
pub trait SharedTypes: Sized {
    /// A shared bit plane.
    type Bits: Linear<Plane>;
    /// A shared vector over a ring.
    type Vector<R: Ring>: Linear<Vec<R>>;
}
