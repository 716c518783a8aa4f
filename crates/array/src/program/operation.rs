//! What an instruction does, as docs/placed-plan.md defines its JSON.

use serde::{Deserialize, Serialize};

use super::Function;

/// An operation with its parameters. Its arguments, and what is known of its result, are those of the instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// An array that the program is given.
    Input {
        /// Its position among all that are given.
        index: usize,
    },
    /// Public numbers, row by row.
    Constant {
        /// The integers.
        values: Vec<Integer>,
    },
    /// a + b.
    Add {},
    /// a - b.
    Subtract {},
    /// -a.
    Negate {},
    /// a * b. Where a factor is of bits, the other one or zero.
    Multiply {
        /// How many last bits of the product are cut off.
        cut: usize,
        /// Whether they are cut off rounding down, else down or up.
        floor: bool,
    },
    /// a @ b, as NumPy has it.
    Matmul {
        /// How many last bits of the product are cut off.
        cut: usize,
        /// Whether they are cut off rounding down, else down or up.
        floor: bool,
    },
    /// A convolution of images by filters, or one of its two gradients: `gives` says which. Images are batch x channels
    /// x height x width. Each row of the filters is one filter: its channels, of each its pixels row by row.
    Convolve {
        /// The result: outputs, or one of the gradients. The arguments follow from it.
        gives: Convolved,
        /// Height and width of an image.
        size: [usize; 2],
        /// Height and width of a filter.
        window: [usize; 2],
        /// Rows and columns from one window to the next.
        stride: [usize; 2],
        /// Zeros on each side, above and below, left and right.
        padding: [usize; 2],
        /// How many last bits of the product are cut off.
        cut: usize,
        /// Whether they are cut off rounding down, else down or up.
        floor: bool,
    },
    /// The last bits cut off.
    Truncate {
        /// How many.
        bits: usize,
        /// Whether rounding down, else down or up.
        floor: bool,
    },
    /// The integer below a number: the last bits cut off, rounding down.
    Floor {
        /// How many.
        bits: usize,
    },
    /// a * 2^bits.
    Shift {
        /// The exponent.
        bits: usize,
    },
    /// The same numbers in the ring of 128 bits.
    Widen {},
    /// The same numbers in the ring of 64 bits.
    Narrow {},
    /// The sum along an axis.
    Sum {
        /// Which.
        axis: usize,
    },
    /// The sums of the first elements along an axis.
    CumulativeSum {
        /// Which.
        axis: usize,
    },
    /// Whether a < b.
    Less {},
    /// Whether a = b.
    Equal {},
    /// Whether a < from or a > to.
    Outside {
        /// The least number that is not outside.
        from: Integer,
        /// The largest number that is not outside.
        to: Integer,
    },
    /// Whether a bit is not set.
    Not {},
    /// Whether two bits are set.
    Both {},
    /// Whether one of two bits is set.
    Either {},
    /// Whether two bits differ.
    Differ {},
    /// Bits as the numbers 0 and 1.
    Count {},
    /// The second argument where the first, a bit, is set, else the third.
    Select {},
    /// The larger of two.
    Maximum {},
    /// The smaller of two.
    Minimum {},
    /// The first argument where it is between the second and the third, else the nearer one of them. No element of the
    /// second is above one of the third.
    Clip {},
    /// The number without its sign.
    Absolute {},
    /// The largest along an axis.
    Largest {
        /// Which.
        axis: usize,
    },
    /// The smallest along an axis.
    Smallest {
        /// Which.
        axis: usize,
    },
    /// The position of the largest or smallest along an axis, the first of equal ones.
    Place {
        /// Which.
        axis: usize,
        /// Whether of the largest.
        largest: bool,
    },
    /// Ascending along an axis.
    Sort {
        /// Which.
        axis: usize,
    },
    /// The positions that sort along an axis; equal elements stay in their order.
    Order {
        /// Which.
        axis: usize,
    },
    /// The same elements in another shape.
    Reshape {},
    /// Axes in another order.
    Transpose {
        /// Where each axis of the result was.
        axes: Vec<usize>,
    },
    /// Repeated along new axes and those of length one.
    Broadcast {},
    /// Every step-th element from a start to before a stop, for each axis. A stop of -1 is before element 0.
    Slice {
        /// Start, stop and step of each axis.
        ranges: Vec<(i64, i64, i64)>,
    },
    /// The elements at public positions along an axis.
    Take {
        /// The positions.
        positions: Vec<usize>,
        /// Which axis.
        axis: usize,
    },
    /// Arrays one behind the other along an axis.
    Concatenate {
        /// Which.
        axis: usize,
    },
    /// A function of every element.
    Function {
        /// Which.
        name: Function,
    },
    /// a / b for b of one sign.
    Divide {},
    /// a / b rounded down, for b above zero.
    FloorDivide {},
    /// Numbers of `bits` bits, which the nodes draw together and nobody knows.
    Sample {
        /// How many bits.
        bits: usize,
    },
}

/// What a convolution gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Convolved {
    /// The convolution of images by filters.
    Outputs,
    /// The gradient of its filters, from images and the gradient of its outputs.
    Filters,
    /// The gradient of its images, from filters and the gradient of its outputs.
    Images,
}

impl Operation {
    /// Its name, as in the JSON.
    pub fn name(&self) -> String {
        let written = serde_json::to_value(self).ok();
        written.and_then(|members| members["op"].as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// How many arguments it takes; None: one or more.
    pub(super) fn arity(&self) -> Option<usize> {
        Some(match self {
            Self::Input { .. } | Self::Constant { .. } | Self::Sample { .. } => 0,
            Self::Add {} | Self::Subtract {} | Self::Multiply { .. } | Self::Matmul { .. } | Self::Convolve { .. } => 2,
            Self::Less {} | Self::Equal {} | Self::Both {} | Self::Either {} | Self::Differ {} => 2,
            Self::Maximum {} | Self::Minimum {} | Self::FloorDivide {} | Self::Divide {} => 2,
            Self::Select {} | Self::Clip {} => 3,
            Self::Concatenate { .. } => return None,
            Self::Negate {}
            | Self::Truncate { .. }
            | Self::Floor { .. }
            | Self::Shift { .. }
            | Self::Widen {}
            | Self::Narrow {}
            | Self::Sum { .. }
            | Self::CumulativeSum { .. }
            | Self::Not {}
            | Self::Outside { .. }
            | Self::Count {}
            | Self::Absolute {}
            | Self::Function { .. }
            | Self::Largest { .. }
            | Self::Smallest { .. }
            | Self::Place { .. }
            | Self::Sort { .. }
            | Self::Order { .. }
            | Self::Reshape {}
            | Self::Transpose { .. }
            | Self::Broadcast {}
            | Self::Slice { .. }
            | Self::Take { .. } => 1,
        })
    }

    /// The axis that it goes along.
    pub(super) fn axis(&self) -> Option<usize> {
        match *self {
            Self::Sum { axis }
            | Self::CumulativeSum { axis }
            | Self::Largest { axis }
            | Self::Smallest { axis }
            | Self::Place { axis, .. }
            | Self::Sort { axis }
            | Self::Order { axis }
            | Self::Take { axis, .. }
            | Self::Concatenate { axis } => Some(axis),
            _ => None,
        }
    }
}

/// A public integer, in JSON its decimal digits in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Integer(pub i128);

impl TryFrom<String> for Integer {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        let found = digits.parse().ok().filter(|number: &i128| number.to_string() == digits);
        found.map(Self).ok_or_else(|| format!("{digits:?} is no integer of at most 127 bits"))
    }
}

impl From<Integer> for String {
    fn from(integer: Integer) -> Self {
        integer.0.to_string()
    }
}

/// In what an array is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Ring {
    /// A plane of bits.
    Bits,
    /// Integers modulo 2^64.
    Ring64,
    /// Integers modulo 2^128.
    Ring128,
}

impl Ring {
    /// Bits of an element.
    pub fn bits(self) -> usize {
        match self {
            Self::Bits => 1,
            Self::Ring64 => 64,
            Self::Ring128 => 128,
        }
    }
}

impl TryFrom<u32> for Ring {
    type Error = String;

    fn try_from(bits: u32) -> Result<Self, String> {
        match bits {
            1 => Ok(Self::Bits),
            64 => Ok(Self::Ring64),
            128 => Ok(Self::Ring128),
            _ => Err(format!("a ring of {bits} bits; there are 1, 64 and 128")),
        }
    }
}

impl From<Ring> for u32 {
    fn from(ring: Ring) -> Self {
        ring.bits() as Self
    }
}
