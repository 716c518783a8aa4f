//! Tables in clear, as they are encoded, and operators as JSON.

use serde_json::{Value as Json, json};
use tacit_math::{Plane, Prg};
use tacit_mpc::Block;
use tacit_table::{ColumnData, DataColumn, DataTable, Operator};

/// A column's name, representation and width.
#[derive(Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    repr: &'static str,
    width: usize,
    nullable: bool,
}

/// A column of planes.
pub const fn bits(name: &'static str, width: usize) -> Column {
    Column { name, repr: "bits", width, nullable: false }
}

/// A column modulo 2^64.
pub const fn ring(name: &'static str, width: usize) -> Column {
    Column { name, repr: "ring64", width, nullable: false }
}

impl Column {
    /// The same with NULLs.
    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Its kind, unsigned.
    pub fn kind(&self) -> Json {
        json!({"repr": self.repr, "width": self.width, "signed": false, "nullable": self.nullable})
    }

    fn listed(&self) -> Json {
        json!({"name": self.name, "source": self.name, "encode": "int", "kind": self.kind()})
    }
}

/// What is publicly known of a table.
#[derive(Clone)]
pub struct Shape {
    pub columns: Vec<Column>,
    /// Whether rows may not be valid.
    pub padded: bool,
    /// How many rows, for tables of which the test does not choose it.
    pub rows: Option<usize>,
}

impl Shape {
    pub fn new(columns: &[Column], padded: bool) -> Self {
        Self { columns: columns.to_vec(), padded, rows: None }
    }

    /// The same of `rows` rows, whatever the test says.
    pub fn of(self, rows: usize) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// The operator that takes such a table up.
    pub fn kept(&self, id: usize, rows: usize) -> Operator {
        let columns: Vec<Json> = self.columns.iter().map(Column::listed).collect();
        operator(
            &json!({"id": id, "op": "kept", "table": "t", "columns": columns, "rows": rows, "padded": self.padded}),
        )
    }

    /// The operator that writes it.
    pub fn keep(&self) -> Operator {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        operator(&json!({"id": 9, "op": "keep", "input": 1, "table": "t", "columns": columns}))
    }

    /// What a permit says of columns that are opened.
    pub fn opened(&self, names: &[String]) -> Vec<Json> {
        let column = |name: &String| self.columns.iter().find(|column| column.name == name).expect("a column");
        names.iter().map(|name| json!({"name": name, "kind": column(name).kind()})).collect()
    }

    /// The input of such a table by the node "a": announced, padded to `rows` rows, or padded to its source.
    pub fn input(&self, rows: Option<usize>, to_source: bool) -> Operator {
        let columns: Vec<Json> = self.columns.iter().map(Column::listed).collect();
        operator(
            &json!({"id": 1, "op": "input", "owner": "a", "columns": columns, "rows": rows, "pad_to_source": to_source}),
        )
    }

    /// Random rows, of which `valid` says which are valid, as they are encoded: zero where they are NULL.
    pub fn draw(&self, rows: usize, valid: impl Fn(usize, bool) -> bool, prg: &mut Prg) -> Block {
        let mut block = Block { rows, ..Block::default() };
        for column in &self.columns {
            let null = if column.nullable { Plane::random(rows, prg) } else { Plane::zeros(rows) };
            if column.repr == "bits" {
                block.bits.extend((0..column.width).map(|_| Plane::random(rows, prg).and(&null.not())));
            } else {
                let numbers = prg.vector::<u64>(rows).into_iter().enumerate();
                let number = |(row, x): (usize, u64)| if null.get(row) { 0 } else { x >> (64 - column.width) };
                block.r64.push(numbers.map(number).collect());
            }
            block.bits.extend(column.nullable.then_some(null));
        }
        if self.padded {
            let random = Plane::random(rows, prg);
            block.bits.push(Plane::from_fn(rows, |row| valid(row, random.get(row))));
        }
        block
    }

    /// Zeros behind the first `rows` rows.
    pub fn cut(block: &Block, rows: usize) -> Block {
        let mut cut = block.clone();
        cut.bits =
            block.bits.iter().map(|plane| Plane::from_fn(block.rows, |row| row < rows && plane.get(row))).collect();
        cut.r64.iter_mut().for_each(|column| column[rows..].fill(0));
        cut
    }

    /// The first rows of a block as their owner has them.
    pub fn data(&self, block: &Block, rows: usize) -> DataTable {
        let (mut planes, mut vectors) = (block.bits.iter(), block.r64.iter());
        let columns = self.columns.iter().map(|column| {
            let own: Vec<&Plane> = planes.by_ref().take(if column.repr == "bits" { column.width } else { 0 }).collect();
            let of_planes = |row| own.iter().enumerate().map(|(j, plane)| i128::from(plane.get(row)) << j).sum();
            let numbers = if column.repr == "bits" {
                (0..rows).map(of_planes).collect()
            } else {
                vectors.next().expect("a column").iter().take(rows).map(|&x| i128::from(x)).collect()
            };
            let nulls = column.nullable.then(|| planes.next().expect("a plane").slice(0, rows));
            DataColumn { name: column.name.into(), data: ColumnData::Wide(numbers), nulls }
        });
        DataTable { rows, columns: columns.collect(), pad_to: None }
    }

    /// The rows that a release of these columns shows, in their order, and zeros behind them, as they are opened: the
    /// valid bits last.
    pub fn shown(&self, block: &Block, columns: &[&str]) -> Block {
        let valid = self.padded.then(|| block.bits.last().expect("valid bits"));
        let order: Vec<usize> = (0..block.rows).filter(|&row| valid.is_none_or(|valid| valid.get(row))).collect();
        let plane = |plane: &Plane| Plane::from_fn(block.rows, |row| order.get(row).is_some_and(|&row| plane.get(row)));
        let (mut planes, mut vectors) = (block.bits.iter(), block.r64.iter());
        let mut out = Block { rows: block.rows, ..Block::default() };
        for column in &self.columns {
            let is_shown = columns.contains(&column.name);
            let width = if column.repr == "bits" { column.width } else { 0 };
            let own: Vec<&Plane> = planes.by_ref().take(width + usize::from(column.nullable)).collect();
            if is_shown {
                out.bits.extend(own.into_iter().map(plane));
            }
            if column.repr == "ring64" {
                let vector = vectors.next().expect("a column");
                let number = |row: usize| order.get(row).map_or(0, |&row| vector[row]);
                out.r64.extend(is_shown.then(|| (0..block.rows).map(number).collect()));
            }
        }
        out.bits.extend(valid.map(|_| Plane::from_fn(block.rows, |row| row < order.len())));
        out
    }
}

impl Shape {
    /// What a trusted party sees of a key, of planes: zero where the row does not count, and which rows do. A row
    /// without a key counts in groups, and in no join.
    pub fn counting(&self, block: &Block, key: &str, join: bool) -> Block {
        let valid = block.bits.last().filter(|_| self.padded);
        let (mut planes, mut own, mut null) = (block.bits.iter(), vec![], None);
        for column in &self.columns {
            let width = if column.repr == "bits" { column.width } else { 0 };
            let of_column: Vec<&Plane> = planes.by_ref().take(width).collect();
            let of_nulls = if column.nullable { planes.next() } else { None };
            if column.name == key {
                (own, null) = (of_column, of_nulls);
            }
        }
        let counts =
            |row| valid.is_none_or(|valid| valid.get(row)) && !(join && null.is_some_and(|null| null.get(row)));
        let counting = Plane::from_fn(block.rows, counts);
        let shown = own.into_iter().chain(null.filter(|_| !join)).map(|plane| plane.and(&counting));
        Block { rows: block.rows, bits: shown.chain([counting.clone()]).collect(), ..Block::default() }
    }
}

/// The rows of a block in an order that depends on what they hold alone.
pub fn sorted(block: &Block) -> Block {
    let key = |&row: &u32| {
        let row = row as usize;
        let bits: Vec<bool> = block.bits.iter().rev().map(|plane| plane.get(row)).collect();
        (bits, block.r64.iter().map(|column| column[row]).collect::<Vec<_>>())
    };
    let mut order: Vec<u32> = (0..block.rows as u32).collect();
    order.sort_by_key(key);
    block.gather(&order)
}

/// A public rule by which opened rows are in order.
#[derive(Clone, Copy)]
pub struct Sorting {
    /// Planes of the key, which come first.
    pub key: usize,
    /// Whether the last plane says which rows are valid: they come first.
    pub padded: bool,
}

impl Sorting {
    /// The rows in order, equal ones as they were.
    pub fn sort(self, block: &Block) -> Block {
        let invalid = |row| self.padded && !block.bits.last().expect("valid bits").get(row);
        let number = |row| (0..self.key).map(|j| usize::from(block.bits[j].get(row)) << j).sum::<usize>();
        let mut order: Vec<u32> = (0..block.rows as u32).collect();
        order.sort_by_key(|&row| (invalid(row as usize), number(row as usize)));
        block.gather(&order)
    }
}

/// A sort of the plan by this column.
pub fn sort_by(column: &str) -> Operator {
    let key = json!({"column": column, "descending": false, "nulls_first": false});
    operator(&json!({"id": 8, "op": "sort", "input": 1, "keys": [key]}))
}

/// An operator.
pub fn operator(text: &Json) -> Operator {
    Operator::from_json(&text.to_string()).unwrap_or_else(|error| panic!("{error}: {text}"))
}
