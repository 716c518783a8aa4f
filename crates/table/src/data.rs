//! Tables in clear: what an owner gives and what a recipient gets.

use tacit_math::{Plane, permutation};

use crate::error::Result;
use crate::wrong_input::WrongInput;

/// The values of one column in clear. At NULL rows the value is ignored on input and zero (empty) in opened tables.
#[derive(Clone)]
pub enum ColumnData {
    /// Integers of at most 64 bits.
    Integers(Vec<i64>),
    /// Wider integers.
    Wide(Vec<i128>),
    /// Booleans.
    Booleans(Plane),
    /// Strings.
    Text(Text),
}

/// Strings, one after the other: string i is `bytes[ends[i - 1]..ends[i]]`, the first one starts at 0.
#[derive(Clone, Default)]
pub struct Text {
    /// The bytes of all strings (UTF-8).
    pub bytes: Vec<u8>,
    /// Where each string ends.
    pub ends: Vec<usize>,
}

/// One column in clear.
#[derive(Clone)]
pub struct DataColumn {
    /// The column's name.
    pub name: String,
    /// Its values, as many as the table has rows.
    pub data: ColumnData,
    /// One marks a NULL. None: there is no NULL.
    pub nulls: Option<Plane>,
}

/// A table in clear. Debug shows the shape only.
#[derive(Clone, Default)]
pub struct DataTable {
    /// Rows of every column.
    pub rows: usize,
    /// The columns.
    pub columns: Vec<DataColumn>,
    /// For an input that pads to its source: the row count of the unfiltered source, which is announced instead of
    /// `rows`.
    pub pad_to: Option<usize>,
}

impl ColumnData {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Integers(x) => x.len(),
            Self::Wide(x) => x.len(),
            Self::Booleans(x) => x.rows(),
            Self::Text(x) => x.ends.len(),
        }
    }

    fn gather(&self, rows: &[u32]) -> Self {
        match self {
            Self::Integers(x) => Self::Integers(permutation::gather(x, rows)),
            Self::Wide(x) => Self::Wide(permutation::gather(x, rows)),
            Self::Booleans(x) => Self::Booleans(x.gather(rows)),
            Self::Text(x) => {
                let mut text = Text { bytes: Vec::new(), ends: Vec::with_capacity(rows.len()) };
                rows.iter().for_each(|&row| text.push(x.get(row as usize)));
                Self::Text(text)
            }
        }
    }

    /// What the values are, for messages.
    pub(crate) fn description(&self) -> &'static str {
        match self {
            Self::Integers(_) | Self::Wide(_) => "integers",
            Self::Booleans(_) => "booleans",
            Self::Text(_) => "strings",
        }
    }
}

impl Text {
    /// Appends a string.
    pub fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
    }

    /// The string of one row.
    pub fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }
}

impl DataColumn {
    /// Whether a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.get(row))
    }
}

impl DataTable {
    /// The number of rows that the owner announces: its own, or that of their source.
    ///
    /// # Errors
    /// [`WrongInput::SourceRows`] when it is to be that of the source and is not given: the table's own would show what
    /// filters left.
    pub fn announced_rows(&self, pad_to_source: bool) -> Result<usize> {
        if !pad_to_source {
            return Ok(self.rows);
        }
        Ok(self.pad_to.ok_or(WrongInput::SourceRows)?)
    }

    /// The named rows, in this order.
    ///
    /// # Panics
    /// If one is not a row of the table.
    pub fn gather(&self, rows: &[u32]) -> Self {
        let one = |column: &DataColumn| DataColumn {
            name: column.name.clone(),
            data: column.data.gather(rows),
            nulls: column.nulls.as_ref().map(|nulls| nulls.gather(rows)),
        };
        Self { rows: rows.len(), columns: self.columns.iter().map(one).collect(), pad_to: None }
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&DataColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl std::fmt::Debug for ColumnData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.rows(), self.description())
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({} strings)", self.ends.len())
    }
}

impl std::fmt::Debug for DataColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.name, self.data)
    }
}

impl std::fmt::Debug for DataTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataTable").field("rows", &self.rows).field("columns", &self.columns).finish_non_exhaustive()
    }
}
