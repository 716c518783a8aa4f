//! The functions that have series.

/// An odd function, or one that is odd but for its value at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// 1 / (1 + e^-x).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
}

impl Curve {
    /// By which x is multiplied before the series, and the series after it: 2 for tanh.
    pub(super) fn doubled(self) -> usize {
        usize::from(self == Self::Tanh)
    }

    /// Whose series it has.
    pub(super) fn base(self) -> Self {
        if self == Self::Tanh { Self::Sigmoid } else { self }
    }
}
