//! Circuits by name.

/// What a circuit computes on planes: numbers one behind the other, each of `width` planes, least significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// x + y modulo 2^width.
    Sum {
        /// Of x and of y.
        width: usize,
    },
    /// The top plane of x + y modulo 2^width.
    SumSign {
        /// Of x and of y.
        width: usize,
    },
    /// x < y, unsigned.
    LessThan {
        /// Of x and of y.
        width: usize,
    },
    /// AND of all planes.
    All {
        /// How many.
        planes: usize,
    },
    /// The quotient of unsigned x by unsigned y, and behind it the remainder. Both are arbitrary where y is 0.
    Division {
        /// Of x and of the quotient.
        dividend: usize,
        /// Of y and of the remainder.
        divisor: usize,
    },
}

impl Function {
    /// Planes that go in.
    pub fn inputs(self) -> usize {
        match self {
            Self::Sum { width } | Self::SumSign { width } | Self::LessThan { width } => 2 * width,
            Self::All { planes } => planes,
            Self::Division { dividend, divisor } => dividend + divisor,
        }
    }

    /// Planes that come out.
    pub fn outputs(self) -> usize {
        match self {
            Self::Sum { width } => width,
            Self::SumSign { .. } | Self::LessThan { .. } | Self::All { .. } => 1,
            Self::Division { dividend, divisor } => dividend + divisor,
        }
    }
}

/// What an engine may have a better way for than gates ([`crate::Backend::evaluate`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// A whole circuit.
    Whole(Function),
    /// Fewer planes with the same conjunction as the given ones, which are at least two.
    Conjunctions {
        /// How many are given.
        planes: usize,
    },
    /// For the sum of two numbers, digit by digit, lowest first: whether a digit carries by itself. Then as many planes
    /// that say whether it hands on a carry.
    Carries {
        /// Of both numbers.
        width: usize,
        /// Whether they are the low planes of what [`crate::Backend::summands`] gave.
        summands: bool,
    },
}
