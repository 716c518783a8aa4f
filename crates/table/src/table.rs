//! Shared tables: columns with NULLs, and which rows are valid.

use std::sync::Arc;

use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Linear, Shape};

use crate::error::Result;
use crate::operator::{Encoding, Kind, Repr};
use crate::wrong_input::WrongInput;

/// The shares of a column's values.
pub(crate) enum Shares<B: Backend> {
    /// Planes, least significant first.
    Bits(Planes<B>),
    /// Additive shares modulo 2^64.
    Ring64(B::Vector<u64>),
    /// Additive shares modulo 2^128.
    Ring128(B::Vector<u128>),
}

impl<B: Backend> Clone for Shares<B> {
    fn clone(&self) -> Self {
        match self {
            Self::Bits(x) => Self::Bits(x.clone()),
            Self::Ring64(x) => Self::Ring64(x.clone()),
            Self::Ring128(x) => Self::Ring128(x.clone()),
        }
    }
}

/// The shares of a column: its values and which of them are NULL. Where a value is NULL its encoding is 0.
pub(crate) struct Value<B: Backend> {
    /// Representation and bounds; `nullable` says whether there is a null plane.
    pub kind: Kind,
    /// What the integers stand for.
    pub encoding: Encoding,
    /// One marks a NULL.
    pub null: Option<B::Bits>,
    /// The values.
    pub shares: Shares<B>,
}

impl<B: Backend> Value<B> {
    /// A value whose representation follows from its shares.
    pub fn new(kind: Kind, encoding: Encoding, null: Option<B::Bits>, shares: Shares<B>) -> Self {
        let (repr, width) = match &shares {
            Shares::Bits(planes) => (Repr::Bits, planes.len()),
            Shares::Ring64(_) => (Repr::Ring64, kind.width.min(64)),
            Shares::Ring128(_) => (Repr::Ring128, kind.width.min(128)),
        };
        Self { kind: Kind { repr, width, signed: kind.signed, nullable: null.is_some() }, encoding, null, shares }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match &self.shares {
            Shares::Bits(planes) => planes.first().map_or(0, |plane| plane.rows()),
            Shares::Ring64(x) => x.rows(),
            Shares::Ring128(x) => x.rows(),
        }
    }

    /// The shape of one component of it.
    pub fn shape(&self, rows: usize) -> Shape {
        let nulls = usize::from(self.null.is_some());
        let (bits, r64, r128) = match &self.shares {
            Shares::Bits(planes) => (planes.len(), 0, 0),
            Shares::Ring64(_) => (0, 1, 0),
            Shares::Ring128(_) => (0, 0, 1),
        };
        Shape { rows, bits: bits + nulls, r32: 0, r64, r128 }
    }

    /// A truth value.
    pub fn truth(bit: B::Bits, null: Option<B::Bits>) -> Self {
        Self::new(Kind::TRUTH, Encoding::Int, null, Shares::Bits(vec![bit]))
    }
}

impl<B: Backend> Clone for Value<B> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, encoding: self.encoding, null: self.null.clone(), shares: self.shares.clone() }
    }
}

/// A named column. Tables that pass a column on share it.
pub(crate) struct Column<B: Backend> {
    pub name: String,
    pub value: Arc<Value<B>>,
}

impl<B: Backend> Column<B> {
    pub fn new(name: &str, value: Value<B>) -> Self {
        Self { name: name.into(), value: Arc::new(value) }
    }
}

impl<B: Backend> Clone for Column<B> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), value: Arc::clone(&self.value) }
    }
}

/// A node's shares of a table. Row count, column names and kinds are public; valid bits, NULLs and values are secret.
///
/// A row that is not valid may hold anything; it never influences a valid one. Cloning copies handles, not columns.
#[must_use]
pub struct Table<B: Backend> {
    pub(crate) rows: usize,
    /// None: every row is valid, and everyone knows it.
    pub(crate) valid: Option<B::Bits>,
    pub(crate) columns: Vec<Column<B>>,
    pub(crate) order: Order,
}

/// What is publicly known of the order of a table's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// Whether all valid rows come before all others.
    pub valid_first: bool,
    /// The valid rows ascend by these columns, NULLs last.
    pub by: Vec<String>,
    /// Whether the order tells nothing but `by`: of two valid rows that are equal in it no node knows which comes
    /// first.
    pub exact: bool,
    /// Whether a sort of the plan made the order. Other orders come from an owner's file, or from keys that nobody
    /// asked to see: no rows are opened in them, nor cut off.
    pub stated: bool,
    /// All rows, valid or not, ascend by the encodings of these columns, the first one most significant, as their owner
    /// sorted them. Of equal ones those that it shared as valid and without a NULL in them are last.
    pub encoded: Vec<String>,
}

impl<B: Backend> Table<B> {
    /// A table in no known order.
    pub(crate) fn new(rows: usize, valid: Option<B::Bits>, columns: Vec<Column<B>>) -> Self {
        let order = Order { valid_first: valid.is_none(), ..Order::default() };
        Self { rows, valid, columns, order }
    }

    /// The public number of rows, valid or not.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The column names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The column of a name.
    pub(crate) fn value(&self, name: &str) -> Result<&Arc<Value<B>>> {
        let column = self.columns.iter().find(|column| column.name == name);
        column.map(|column| &column.value).ok_or_else(|| {
            let columns = self.names().map(str::to_owned).collect();
            WrongInput::PlanColumn { name: name.to_owned(), columns }.into()
        })
    }

    /// The column of a name, which the table has no longer.
    pub(crate) fn take(&mut self, name: &str) -> Result<Arc<Value<B>>> {
        let value = Arc::clone(self.value(name)?);
        self.columns.retain(|column| column.name != name);
        Ok(value)
    }

    /// Several columns.
    pub(crate) fn values(&self, names: &[String]) -> Result<Vec<Arc<Value<B>>>> {
        names.iter().map(|name| self.value(name).cloned()).collect()
    }
}

impl<B: Backend> Clone for Table<B> {
    fn clone(&self) -> Self {
        let Self { rows, valid, columns, order } = self;
        Self { rows: *rows, valid: valid.clone(), columns: columns.clone(), order: order.clone() }
    }
}

impl<B: Backend> std::fmt::Debug for Table<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.names().collect();
        f.debug_struct("Table").field("rows", &self.rows).field("columns", &names).finish_non_exhaustive()
    }
}

/// Rows start..start+rows of a plane. Local.
pub(crate) fn slice_bits<B: Backend>(bits: &B::Bits, start: usize, rows: usize) -> B::Bits {
    bits.map(rows, |p| p.slice(start, rows))
}
