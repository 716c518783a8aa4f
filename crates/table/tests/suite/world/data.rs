//! Clear tables as rows of cells.

use tacit_math::Plane;
use tacit_table::{ColumnData, DataColumn, DataTable, Text};

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    Null,
    Int(i128),
    Text(String),
}

/// A table in clear: its valid rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clear {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Clear {
    pub fn new(names: &[&str], rows: Vec<Vec<Cell>>) -> Self {
        Self { names: names.iter().map(|&name| name.to_owned()).collect(), rows }
    }

    pub fn index(&self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| panic!("no column {name}"))
    }

    /// The rows in an order that does not depend on how they came.
    pub fn sorted(mut self) -> Self {
        self.rows.sort();
        self
    }

    /// As an owner gives it. A column of strings is recognised by its cells; `texts` names those that hold none.
    pub fn to_data(&self, texts: &[&str]) -> DataTable {
        let column = |(j, name): (usize, &String)| {
            let cells: Vec<&Cell> = self.rows.iter().map(|row| &row[j]).collect();
            let is_text = texts.contains(&name.as_str()) || cells.iter().any(|cell| matches!(cell, Cell::Text(_)));
            let data = if is_text { text(&cells) } else { integers(&cells) };
            let nulls = cells.iter().any(|cell| **cell == Cell::Null);
            let nulls = nulls.then(|| Plane::from_fn(cells.len(), |i| *cells[i] == Cell::Null));
            DataColumn { name: name.clone(), data, nulls }
        };
        let columns = self.names.iter().enumerate().map(column).collect();
        DataTable { rows: self.rows.len(), columns, pad_to: None }
    }

    /// What a recipient got.
    pub fn from_data(data: &DataTable) -> Self {
        let cell = |column: &DataColumn, row: usize| match &column.data {
            _ if column.is_null(row) => Cell::Null,
            ColumnData::Integers(x) => Cell::Int(x[row].into()),
            ColumnData::Wide(x) => Cell::Int(x[row]),
            ColumnData::Booleans(x) => Cell::Int(x.get(row).into()),
            ColumnData::Text(x) => Cell::Text(String::from_utf8(x.get(row).to_vec()).expect("UTF-8 went in")),
        };
        let rows = (0..data.rows).map(|i| data.columns.iter().map(|column| cell(column, i)).collect()).collect();
        Self { names: data.columns.iter().map(|column| column.name.clone()).collect(), rows }
    }
}

fn text(cells: &[&Cell]) -> ColumnData {
    let mut out = Text::default();
    cells.iter().for_each(|cell| out.push(if let Cell::Text(text) = cell { text.as_bytes() } else { b"" }));
    ColumnData::Text(out)
}

fn integers(cells: &[&Cell]) -> ColumnData {
    // What stands at a NULL must not matter.
    ColumnData::Wide(cells.iter().map(|cell| if let Cell::Int(x) = cell { *x } else { -77 }).collect())
}

/// JSON of a kind in planes.
pub fn bits(width: usize, signed: bool, nullable: bool) -> String {
    kind("bits", width, signed, nullable)
}

/// JSON of a signed kind modulo 2^64.
pub fn ring64(width: usize, nullable: bool) -> String {
    kind("ring64", width, true, nullable)
}

/// JSON of a signed kind modulo 2^128.
pub fn ring128(width: usize, nullable: bool) -> String {
    kind("ring128", width, true, nullable)
}

fn kind(repr: &str, width: usize, signed: bool, nullable: bool) -> String {
    format!(r#"{{"repr":"{repr}","width":{width},"signed":{signed},"nullable":{nullable}}}"#)
}
