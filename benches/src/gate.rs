//! The primitives that are measured.

use serde::{Deserialize, Serialize};
use tacit_mpc::backends::Two;
use tacit_mpc::{Backend, Rows, Shape};

/// Planes of a row of ANDs.
const WIDTH: usize = 64;

/// Planes of a row of conversions.
const BITS: usize = 8;

/// A primitive, measured row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gate {
    /// 64 ANDs of different bits.
    Ands,
    /// 64 ANDs of one bit with others.
    CommonFactor,
    /// A product over Z/2^64.
    Products,
    /// 8 bits as elements of Z/2^64.
    Bits,
    /// A bit times an element of Z/2^64.
    Choices,
}

impl Gate {
    /// All, in the order of the table.
    pub const ALL: [Self; 5] = [Self::Ands, Self::CommonFactor, Self::Products, Self::Bits, Self::Choices];

    /// That of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| gate.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ands => "ands",
            Self::CommonFactor => "common-factor",
            Self::Products => "products",
            Self::Bits => "bits",
            Self::Choices => "choices",
        }
    }

    /// How many in a row.
    pub fn each(self) -> usize {
        match self {
            Self::Ands | Self::CommonFactor => WIDTH,
            Self::Bits => BITS,
            Self::Products | Self::Choices => 1,
        }
    }

    /// Shape of an input with this number of rows.
    pub fn inputs(self, rows: usize) -> Shape {
        let (bits, r64) = match self {
            Self::Ands => (2 * WIDTH, 0),
            Self::CommonFactor => (WIDTH + 1, 0),
            Self::Products => (0, 2),
            Self::Bits => (BITS, 0),
            Self::Choices => (1, 1),
        };
        Shape { rows, bits, r64, ..Shape::default() }
    }

    /// The rows of the result.
    pub fn compute(self, node: &mut Two, input: &Rows<Two>) -> tacit_mpc::Result<usize> {
        let planes: Vec<_> = input.bits.iter().collect();
        match self {
            Self::Ands => Ok(node.and(&planes[..WIDTH], &planes[WIDTH..])?.len() * input.rows),
            Self::CommonFactor => Ok(node.and(&[planes[WIDTH]; WIDTH], &planes[..WIDTH])?.len() * input.rows),
            Self::Products => Ok(node.mul(&[&input.r64[0]], &[&input.r64[1]])?.len() * input.rows),
            Self::Bits => Ok(node.inject::<u64>(&planes)?.len() * input.rows),
            Self::Choices => Ok(node.select(&planes, &[&input.r64[0]])?.len() * input.rows),
        }
    }
}
