//! The functions of every element, by their names.

use serde::{Deserialize, Serialize};

/// A function of every element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// e^x.
    Exp,
    /// ln x.
    Log,
    /// The square root.
    Sqrt,
    /// 1 / sqrt x.
    Rsqrt,
    /// 1 / (1 + e^-x).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
}

impl Function {
    /// The error that the planner declares (ERRORS of tacit.plan.programs.infer_functions), in units of the last place.
    pub(super) fn declared_error(self) -> f64 {
        match self {
            Self::Exp | Self::Sqrt | Self::Rsqrt | Self::Sin | Self::Cos => 2.0,
            Self::Sigmoid | Self::Tanh | Self::Erf => 4.0,
            Self::Log => 8.0,
        }
    }
}
