//! The members of every operator.

use serde::{Deserialize, Serialize};

use super::expression::Expression;
use super::kind::{Encoding, Kind};

/// `input`: an owner's table becomes shared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Step id.
    pub id: usize,
    /// The owner's name.
    pub owner: String,
    /// The columns.
    pub columns: Vec<InputColumn>,
    /// The padded size; None: a size is announced.
    pub rows: Option<usize>,
    /// Whether the announced size is that of the unfiltered source instead of the exact one.
    #[serde(default)]
    pub pad_to_source: bool,
    /// The shared columns by whose encodings the owner sorts its rows before it shares them, the first one most
    /// significant. None: rows stay as they are.
    #[serde(default)]
    pub sorted_by: Vec<String>,
    /// Whether the owner's local step gives the rows in an order that the query asks for: then they may be opened in
    /// it, or cut off.
    #[serde(default)]
    pub ordered: bool,
}

/// A column of an owner's table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "InputColumnJson")]
pub struct InputColumn {
    /// Its name in the shared table.
    pub name: String,
    /// Its name in the owner's data.
    pub source: String,
    /// How values become integers.
    pub encode: Encoding,
    /// Its kind.
    pub kind: Kind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputColumnJson {
    name: String,
    source: String,
    encode: Encoding,
    kind: Kind,
}

impl TryFrom<InputColumnJson> for InputColumn {
    type Error = String;

    fn try_from(json: InputColumnJson) -> Result<Self, String> {
        let InputColumnJson { name, source, encode, kind } = json;
        if encode == Encoding::Bytes && !kind.width.is_multiple_of(8) {
            return Err(format!("column {name:?} has bytes of {} bits: the width is a multiple of 8", kind.width));
        }
        Ok(Self { name, source, encode, kind })
    }
}

/// `filter`: rows that do not satisfy a predicate become invalid.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// Rows stay where it is TRUE.
    pub predicate: Expression,
}

/// `project`: columns computed row by row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// The new columns.
    pub columns: Vec<OutputColumn>,
}

/// A computed column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its value.
    pub expr: Expression,
    /// Its kind.
    pub kind: Kind,
}

/// `union`: rows of several tables, one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Union {
    /// Step id.
    pub id: usize,
    /// Steps of the tables.
    pub inputs: Vec<usize>,
    /// The columns, which all inputs have, with the kinds of the result.
    pub columns: Vec<UnionColumn>,
}

/// A column of a union.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnionColumn {
    /// Its name in all inputs.
    pub name: String,
    /// Its kind in the result.
    pub kind: Kind,
}

/// The sides of a join whose rows without a match stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptSides {
    /// Neither: the inner join.
    #[default]
    None,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Both.
    Both,
}

impl KeptSides {
    /// Whether left rows stay.
    pub fn left(self) -> bool {
        matches!(self, Self::Left | Self::Both)
    }

    /// Whether right rows stay.
    pub fn right(self) -> bool {
        matches!(self, Self::Right | Self::Both)
    }
}

/// `join`: every right row with the left rows of equal keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// Step id.
    pub id: usize,
    /// Step of the table of whose valid rows no more than `repeats` have equal keys.
    pub left: usize,
    /// Step of the other table.
    pub right: usize,
    /// Key columns of left.
    pub left_keys: Vec<String>,
    /// Key columns of right, in the same order.
    pub right_keys: Vec<String>,
    /// Columns kept of left.
    pub left_columns: Vec<String>,
    /// Columns kept of right.
    pub right_columns: Vec<String>,
    /// Whether the owners sorted both tables by their keys, and `repeats` holds of all rows that the left one's owner
    /// shares as valid ones. Then the rows are merged instead of sorted.
    #[serde(default)]
    pub merged: bool,
    /// The most left rows of equal keys, at least 1. The result has as many rows for each right row.
    #[serde(default = "unique")]
    pub repeats: usize,
    /// The sides whose rows without a match stay, beside NULLs. Left rows stay only where `repeats` is 1.
    #[serde(default)]
    pub kept: KeptSides,
    /// A truth column of this name: whether a row is a right row that found a left row.
    #[serde(default)]
    pub found: Option<String>,
    /// The node that sees the keys of both tables and orders their rows. None: the nodes sort them without seeing them.
    #[serde(default)]
    pub trusted: Option<String>,
}

fn unique() -> usize {
    1
}

/// `pairs`: every left row beside every right row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// Step id.
    pub id: usize,
    /// Step of one table.
    pub left: usize,
    /// Step of the other table.
    pub right: usize,
}

/// `broadcast`: the columns of a table of one row added to every row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broadcast {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// Step of the table of one row.
    pub scalar: usize,
}

/// `group_by`: one row a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupBy {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// Key columns.
    pub keys: Vec<String>,
    /// Aggregates; none: distinct keys.
    pub aggregates: Vec<Aggregation>,
    /// Public bound on the number of groups.
    pub groups: Option<usize>,
    /// The node that sees the keys and orders the rows. None: the nodes sort them without seeing them.
    #[serde(default)]
    pub trusted: Option<String>,
}

/// `group_join`: every left row with aggregates of the right rows of equal keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupJoin {
    /// Step id.
    pub id: usize,
    /// Step of the table whose keys are unique among valid rows.
    pub left: usize,
    /// Step of the other table.
    pub right: usize,
    /// Key columns of left.
    pub left_keys: Vec<String>,
    /// Key columns of right, in the same order.
    pub right_keys: Vec<String>,
    /// Columns kept of left.
    pub left_columns: Vec<String>,
    /// Sums and counts over right rows.
    pub aggregates: Vec<Aggregation>,
    /// Whether left rows without a right row stay.
    #[serde(default)]
    pub kept: bool,
}

/// `aggregate`: one row for the whole table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// Aggregates.
    pub aggregates: Vec<Aggregation>,
}

/// One aggregate column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aggregation {
    /// Its name.
    pub name: String,
    /// The function.
    pub function: AggregateFunction,
    /// The column it is applied to; None for `count_rows`.
    #[serde(default)]
    pub column: Option<String>,
    /// A truth value: only rows where it is TRUE are aggregated. For sums and counts of a whole table.
    #[serde(default, rename = "where")]
    pub condition: Option<String>,
    /// Which value `ranked` is.
    #[serde(default)]
    pub rank: Option<Rank>,
    /// Its kind.
    pub kind: Kind,
}

/// Of n values in order, from 1, the position (numerator * n + shift) / denominator, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// Above zero, and below the denominator.
    pub numerator: u32,
    /// What it is divided by.
    pub denominator: u32,
    /// Above -numerator, and at most denominator - numerator: so the position is one of 1..=n.
    pub shift: i32,
}

/// The aggregate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AggregateFunction {
    /// COUNT(*).
    CountRows,
    /// COUNT of non-NULL values.
    Count,
    /// SUM; NULL over nothing.
    Sum,
    /// MIN; NULL over nothing.
    Min,
    /// MAX; NULL over nothing.
    Max,
    /// COUNT of distinct non-NULL values.
    CountDistinct,
    /// SUM of distinct non-NULL values; NULL over nothing.
    SumDistinct,
    /// The sum of the two middle non-NULL values, of an odd number twice the middle one; NULL over nothing.
    Middle,
    /// The non-NULL value at a position in their order, smallest first; NULL over nothing.
    Ranked,
    /// The value of any row of a group, for a column that the keys determine.
    Any,
}

/// `sort`: valid rows first, in an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sort {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// The order, most significant first.
    pub keys: Vec<SortKey>,
    /// How many rows at the head are kept; None: all.
    #[serde(default)]
    pub first: Option<usize>,
}

/// One column of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SortKey {
    /// The column.
    pub column: String,
    /// Largest first.
    pub descending: bool,
    /// Where NULLs go, whatever the direction.
    pub nulls_first: bool,
}

/// `limit`: rows offset..offset+count of a sorted table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Step id.
    pub id: usize,
    /// Step of the sorted table.
    pub input: usize,
    /// How many rows; None: all.
    pub count: Option<usize>,
    /// How many are left out at the head.
    pub offset: usize,
}

/// `resize`: valid rows first, and no more rows than can be valid, or than are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// No more rows than this are valid; None: their number is opened to the nodes.
    pub rows: Option<usize>,
}

/// `release`: rows opened to parties.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// The recipients.
    pub to: Vec<String>,
    /// The columns opened.
    pub columns: Vec<String>,
    /// Those of them that are opened with a plane of NULLs; by default those that have one. A column that may be NULL
    /// as far as its step can tell, but never is, needs none.
    #[serde(default)]
    pub nullable: Option<Vec<String>>,
    /// Whether the rows' order is part of the answer; if not they are shuffled first.
    pub ordered: bool,
    /// No more rows than this are valid, so that no more are opened; None: all rows of the table are.
    #[serde(default)]
    pub most: Option<usize>,
    /// Whether it is one bit, opened to all parties, which ends the run where it is set.
    #[serde(default)]
    pub guard: bool,
}
