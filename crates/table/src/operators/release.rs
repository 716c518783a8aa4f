//! `release`: the only way out of secrecy for a table.
//!
//! Functionality: the recipients learn the valid rows of the named columns. Before opening, every row that is not valid
//! and every value that is NULL is zeroed. The rows are shuffled or, if their order is part of the answer, a sort of
//! the plan put the valid ones first. So neither the content nor the position of a row that is not valid shows. They
//! learn the number of valid rows, and the public number of opened rows. Where the plan bounds the valid rows by fewer
//! than the table has, these come to the front first, and no others are opened. A recipient that is a client of the
//! nodes does not know that number before, and telling it needs a permit of its own.
//!
//! A guard opens one bit to all parties of the run. Where it is set every party ends the run by itself: nothing behind
//! it is opened, and nobody has to be told why.

use std::sync::Arc;

use tacit_math::Plane;
use tacit_mpc::{Backend, Block, OpenedColumn, Permit, PermitKind, Permits, Rows, linear, ops};

use super::order::stated;
use crate::bundle::bundle_taken;
use crate::data::{ColumnData, DataColumn, DataTable};
use crate::decode::decode;
use crate::error::{Result, TableError};
use crate::mask::{keep_all, present};
use crate::operator::{Encoding, Kind, Release};
use crate::parties::Parties;
use crate::table::{Table, Value};
use crate::wrong_input::WrongInput;

/// Opens the columns to the recipients; None at all others.
pub(crate) fn release<B: Backend>(
    b: &mut B,
    permits: &mut Permits,
    parties: &Parties,
    table: Table<B>,
    release: &Release,
) -> Result<Option<DataTable>> {
    if release.ordered {
        stated(&table)?;
    }
    let Allowed { opening, told } = allowed(permits, parties, &table, release)?;
    for permit in [Some(&opening), told.as_ref()].into_iter().flatten() {
        permit.check_rows(opened_rows(&table, release) as u64)?;
    }
    let Masked { rows, layout } = masked(b, table, release)?;
    let opened = b.open(&rows, opening)?.map(|block| layout.decode(block));
    opened.map(|table| unless_set(release, table)).transpose()
}

/// What was opened, unless it is a guard that is set. A guard that is not one bit of one row says nothing. It does not
/// pass either: a client knows from the nodes alone how many rows they open.
///
/// # Errors
/// [`TableError::Withheld`]; [`TableError::Peer`] when a guard is not one bit.
pub(crate) fn unless_set(release: &Release, opened: DataTable) -> Result<DataTable> {
    if !release.guard {
        return Ok(opened);
    }
    match &opened.columns[..] {
        [DataColumn { data: ColumnData::Booleans(bit), nulls: None, .. }] if bit.rows() == 1 => {
            if bit.get(0) {
                Err(TableError::Withheld)
            } else {
                Ok(opened)
            }
        }
        columns => Err(TableError::Peer(format!(
            "{}.release: the nodes opened {} columns of {} rows in place of the bit that guards the run; ask them to \
             check their tacit",
            release.id,
            columns.len(),
            opened.rows,
        ))),
    }
}

/// Checks that a guard is one bit of one row, and that all parties of the run are told it.
fn check_guard<B: Backend>(parties: &Parties, table: &Table<B>, release: &Release) -> Result<()> {
    let one = |value: &Arc<Value<B>>| value.kind == Kind::TRUTH && value.encoding == Encoding::Int;
    let values = table.values(&release.columns)?;
    let is_bit = table.rows == 1 && table.valid.is_none() && values.len() == 1 && values.iter().all(one);
    let to_all = parties.names().all(|party| release.to.contains(party));
    if is_bit && to_all { Ok(()) } else { Err(WrongInput::Guard.into()) }
}

/// What a release may show.
pub(crate) struct Allowed {
    /// The columns.
    pub opening: Permit,
    /// The number of rows, to those recipients that are clients: they do not know it as the nodes do.
    pub told: Option<Permit>,
}

/// The permits of a release.
///
/// # Errors
/// [`TableError::Input`] for columns that cannot be opened, [`TableError::Policy`] without a permit.
pub(crate) fn allowed<B: Backend>(
    permits: &mut Permits,
    parties: &Parties,
    table: &Table<B>,
    release: &Release,
) -> Result<Allowed> {
    let site = format!("{}.release", release.id);
    if release.guard {
        check_guard(parties, table, release)?;
    }
    let values = table.values(&release.columns)?;
    if let Some(hashed) = release.columns.iter().zip(&values).find(|(_, value)| value.encoding == Encoding::Hash) {
        return Err(WrongInput::OpenedHash { name: hashed.0.clone() }.into());
    }
    let opened = opened_columns(table, release)?;
    let opening = permits.take(&site, &[PermitKind::Answer, PermitKind::Value], &release.to, &opened)?;
    let clients = parties.clients_among(&release.to);
    let told = if clients.is_empty() { None } else { Some(permits.take(&site, &[PermitKind::Size], &clients, &[])?) };
    Ok(Allowed { opening, told })
}

/// What is opened, and how it is read.
pub(crate) struct Masked<B: Backend> {
    pub rows: Rows<B>,
    pub layout: Layout,
}

/// The columns of opened rows, and whether a plane says which rows are valid.
pub(crate) struct Layout {
    columns: Vec<(String, Kind, Encoding)>,
    valid: bool,
}

impl Layout {
    /// The valid rows.
    pub fn decode(&self, opened: Block) -> DataTable {
        decode(opened, &self.columns, self.valid)
    }
}

/// The released columns with zeros in whatever nobody may see, in an order that says nothing.
pub(crate) fn masked<B: Backend>(b: &mut B, table: Table<B>, release: &Release) -> Result<Masked<B>> {
    let opened = opened_columns(&table, release)?;
    let values = table.values(&release.columns)?.into_iter().zip(&opened);
    let table = Table { columns: vec![], ..table };
    let values = values.map(|(value, opened)| with_nulls(b, table.rows, value, opened.kind.nullable));
    let (mut rows, layout) = bundle_taken(table.rows, values);
    rows.bits.extend(table.valid.clone());
    let rows = fewer(b, &table, release, rows)?;
    let opened = rows.rows;
    let rows = if release.ordered { rows } else { b.shuffle(rows)? };
    let (values, mut rest) = layout.unbundle(rows);
    let valid = rest.bits.pop();
    let values = shown(b, valid.as_ref(), values)?;
    let columns = release.columns.iter().zip(&values).map(|(name, value)| (name.clone(), value.kind, value.encoding));
    let columns: Vec<_> = columns.collect();
    let (mut rows, _) = bundle_taken(opened, values.into_iter().map(Arc::new));
    rows.bits.extend(valid.clone());
    Ok(Masked { rows, layout: Layout { columns, valid: valid.is_some() } })
}

/// How many rows are opened. Where none can be left out all are.
fn opened_rows<B: Backend>(table: &Table<B>, release: &Release) -> usize {
    let most = table.valid.as_ref().and(release.most);
    most.map_or(table.rows, |most| most.min(table.rows))
}

/// As many rows as are opened, all valid ones among them, in their order. 6 rounds under rep3 if some are left out and
/// valid ones are not known to be the first.
fn fewer<B: Backend>(b: &mut B, table: &Table<B>, release: &Release, rows: Rows<B>) -> Result<Rows<B>> {
    let opened = opened_rows(table, release);
    let Some(valid) = table.valid.as_ref().filter(|_| opened < table.rows) else { return Ok(rows) };
    if table.order.valid_first {
        return Ok(rows.slice(0, opened));
    }
    let destinations = ops::partition(b, valid)?;
    Ok(ops::apply(b, rows, destinations)?.slice(0, opened))
}

/// What can be seen of the columns that a release opens.
///
/// # Errors
/// [`TableError::Input`] when the table has no such column, or one that is not opened is called nullable.
pub(crate) fn opened_columns<B: Backend>(table: &Table<B>, release: &Release) -> Result<Vec<OpenedColumn>> {
    let Release { columns, nullable, .. } = release;
    if let Some(name) = nullable.iter().flatten().find(|name| !columns.contains(name)) {
        return Err(WrongInput::NotReleased { name: name.clone() }.into());
    }
    let column = |name: &String| {
        let kind = table.value(name)?.kind;
        let nullable = nullable.as_ref().map_or(kind.nullable, |nullable| nullable.contains(name));
        Ok(OpenedColumn { name: name.clone(), kind: Kind { nullable, ..kind }.into() })
    };
    columns.iter().map(column).collect()
}

/// The value with a plane of NULLs, or without one: a NULL then reads as 0, which is its encoding. Local.
fn with_nulls<B: Backend>(b: &B, rows: usize, value: Arc<Value<B>>, nullable: bool) -> Arc<Value<B>> {
    let Value { kind, encoding, null, shares } = Arc::unwrap_or_clone(value);
    let never = || b.public_bits(rows, || Plane::zeros(rows));
    let null = null.filter(|_| nullable).or_else(|| nullable.then(never));
    Arc::new(Value::new(kind, encoding, null, shares))
}

/// Columns with zeros, and no NULL, wherever the row is not valid, and zeros wherever they are NULL.
fn shown<B: Backend>(b: &mut B, valid: Option<&B::Bits>, values: Vec<Value<B>>) -> Result<Vec<Value<B>>> {
    let present = present(b, valid, &values.iter().collect::<Vec<_>>())?;
    // Columns without NULLs share one bit.
    let nullable = |i: &usize| values[*i].null.is_some();
    let mut bits: Vec<&B::Bits> = (0..values.len()).filter(nullable).filter_map(|i| present[i].as_ref()).collect();
    let shared = bits.len();
    bits.extend(valid);
    let (mut columns, mut next) = (Vec::new(), 0);
    for value in values.iter().filter(|value| valid.is_some() || value.null.is_some()) {
        columns.push((if value.null.is_some() { next } else { shared }, &value.shares));
        next += usize::from(value.null.is_some());
    }
    let mut kept = keep_all(b, &bits, &columns)?.into_iter();
    let mut out = Vec::new();
    for (value, present) in values.iter().zip(&present) {
        let Some(present) = present else {
            out.push(value.clone());
            continue;
        };
        let null =
            value.null.as_ref().map(|null| valid.map_or_else(|| null.clone(), |valid| linear::xor(valid, present)));
        let shares = kept.next().ok_or_else(|| TableError::Internal("a column was not masked".into()))?;
        out.push(Value::new(value.kind, value.encoding, null, shares));
    }
    Ok(out)
}
