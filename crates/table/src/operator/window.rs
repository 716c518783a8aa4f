//! The members of `window`: values that each row gets from rows of its partition.

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::relational::SortKey;

/// `window`: every row with values computed over its partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// Columns that the rows of a partition agree in; none: all rows are one partition.
    pub partition: Vec<String>,
    /// The order within a partition, most significant first. Rows that are equal in it are peers.
    pub order: Vec<SortKey>,
    /// The columns added.
    pub outputs: Vec<WindowOutput>,
}

/// One column of a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowOutput {
    /// Its name.
    pub name: String,
    /// The function.
    pub function: WindowFunction,
    /// The column it is applied to, of functions that have one.
    #[serde(default)]
    pub column: Option<String>,
    /// Of `lag` and `lead`, the column that a row without such a row has its value of; None: NULL.
    #[serde(default)]
    pub default: Option<String>,
    /// Of `lag` and `lead`, by how many rows; of `ntile`, how many buckets.
    #[serde(default)]
    pub number: Option<usize>,
    /// Of functions over a frame, which rows that is; by default the whole partition.
    #[serde(default)]
    pub frame: Frame,
    /// Its kind.
    pub kind: Kind,
}

/// The functions of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowFunction {
    /// The row's number in its partition, from 1.
    RowNumber,
    /// The number of its first peer.
    Rank,
    /// The number of its peers among all sets of peers.
    DenseRank,
    /// The number of its bucket, of buckets as equal in size as can be, the larger ones first.
    Ntile,
    /// The value of an earlier row.
    Lag,
    /// The value of a later row.
    Lead,
    /// The value of the frame's first row.
    FirstValue,
    /// The value of the frame's last row.
    LastValue,
    /// How many rows the frame has.
    CountRows,
    /// How many of its values are not NULL.
    Count,
    /// Their sum; NULL over nothing.
    Sum,
    /// The smallest; NULL over nothing.
    Min,
    /// The largest; NULL over nothing.
    Max,
}

/// What the bounds of a frame are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Peers: a bound of 0 is the row's first or last peer. There is no other bound of a number.
    #[default]
    Range,
}

/// Which rows of its partition a row's frame has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// What the bounds are counted in.
    pub unit: FrameUnit,
    /// The first row, by its distance behind the row itself; None: that of the partition.
    pub start: Option<i64>,
    /// The last row, in the same way; None: that of the partition.
    pub end: Option<i64>,
}
