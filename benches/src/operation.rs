//! The operations that are measured.

use crate::exchange;
use serde::{Deserialize, Serialize};

/// One operation on shared columns or tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// 64 bytes a row from every party to every other, without computing.
    Exchange,
    /// AND of two 64-bit columns in planes.
    And,
    /// Product of two 64-bit ring columns.
    Multiply,
    /// Order of two 64-bit ring columns, by the sign of their difference; values are below 2^63.
    Less,
    /// Order of two 64-bit columns in planes.
    LessPlanes,
    /// Equality of two 64-bit columns in planes.
    Equal,
    /// Shuffle of four 64-bit ring columns.
    Shuffle,
    /// Stable sort of four 64-bit ring columns by a 32-bit key.
    Sort,
    /// Join of two owners' tables of as many rows each: a 32-bit key, unique in one of them, and four 64-bit columns in
    /// all. Owners sort them where the planner has them do so.
    Join,
    /// The same of tables that nobody sorted, as other steps give them.
    JoinUnsorted,
    /// SUM and COUNT by a 32-bit key.
    GroupBy,
    /// Sums and sums of squares of a trial's outcomes by arm, four times of 32 bits a subject.
    Trial,
    /// Product of two columns of fixed-point numbers, rounded to one of the two numbers beside it.
    MultiplyDither,
    /// The same, rounded down.
    MultiplyFloor,
    /// Order of two columns of numbers of 32 bits, in a ring of 64.
    LessNarrow,
    /// Product of two columns of fixed-point numbers of 40 bits in the ring of 128, by the form that an engine has for
    /// numbers far within a ring.
    MultiplyWide,
    /// Order of two columns of such numbers.
    LessWide,
    /// Product of two square matrices of fixed-point numbers, rounded as [`Self::MultiplyDither`] is; as many rows as
    /// there are elements.
    Matrix,
    /// e^x of numbers from -8 to 8.
    Exp,
    /// The sigmoid of numbers that may be anything that a program has: they are clipped first.
    Sigmoid,
    /// The sigmoid of numbers from -8 to 8.
    SigmoidBounded,
    /// Quotient of numbers from -1024 to 1024 by numbers from 1 to 1024.
    Divide,
}

impl Operation {
    /// Those of arrays, in the order of their table.
    pub const OF_ARRAYS: [Self; 11] = [
        Self::MultiplyDither,
        Self::MultiplyFloor,
        Self::Less,
        Self::LessNarrow,
        Self::Exp,
        Self::Sigmoid,
        Self::SigmoidBounded,
        Self::Divide,
        Self::Matrix,
        Self::MultiplyWide,
        Self::LessWide,
    ];

    /// All, in the order of the table.
    pub const ALL: [Self; 12] = [
        Self::Exchange,
        Self::And,
        Self::Multiply,
        Self::Less,
        Self::LessPlanes,
        Self::Equal,
        Self::Shuffle,
        Self::Sort,
        Self::Join,
        Self::JoinUnsorted,
        Self::GroupBy,
        Self::Trial,
    ];

    /// The name in arguments and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::And => "and",
            Self::Multiply => "multiply",
            Self::Less => "less",
            Self::LessPlanes => "less-planes",
            Self::Equal => "equal",
            Self::Shuffle => "shuffle",
            Self::Sort => "sort",
            Self::Join => "join",
            Self::JoinUnsorted => "join-unsorted",
            Self::GroupBy => "group-by",
            Self::Trial => "trial",
            Self::MultiplyDither => "multiply-dither",
            Self::MultiplyFloor => "multiply-floor",
            Self::LessNarrow => "less-32",
            Self::MultiplyWide => "multiply-128",
            Self::LessWide => "less-128",
            Self::Matrix => "matrix",
            Self::Exp => "exp",
            Self::Sigmoid => "sigmoid",
            Self::SigmoidBounded => "sigmoid-8",
            Self::Divide => "divide",
        }
    }

    /// The operation of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// The operation on arrays of a name.
    pub fn of_arrays(name: &str) -> Option<Self> {
        Self::OF_ARRAYS.into_iter().find(|operation| operation.name() == name)
    }

    /// What is counted in its rate.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Exchange => "B",
            Self::And => "gates",
            Self::Matrix => "products",
            _ => "rows",
        }
    }

    /// How many of these units it handles in `rows` rows, among `parties` parties.
    pub fn units(self, rows: usize, parties: usize) -> usize {
        match self {
            Self::Exchange => rows * parties * (parties - 1) * exchange::BYTES_PER_ROW,
            Self::And => rows * 64,
            Self::Matrix => rows * rows.isqrt(),
            _ => rows,
        }
    }
}
