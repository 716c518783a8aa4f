//! `release`: the only way out of secrecy for a table.
//!
//! Functionality: the recipients learn the valid rows of the named columns. Before opening, every row that is not valid
//! and every value that is NULL is zeroed, and the rows are shuffled or, if their order is part of the answer, a sort of
//! the plan put the valid ones first, so that neither the content nor the place of a row that is not valid shows. They
//! learn the number of valid rows, and the public number of all rows.

use tacit_mpc::{Backend, PermitKind, Permits, linear};

use super::order::stated;
use crate::bundle::bundle;
use crate::data::DataTable;
use crate::decode::decode;
use crate::error::{Result, TableError};
use crate::mask::{keep_all, present};
use crate::operator::{Encoding, Release};
use crate::table::{Table, Value};

/// Opens the columns to the recipients; None at all others.
pub(crate) fn release<B: Backend>(
    b: &mut B,
    permits: &mut Permits,
    table: &Table<B>,
    release: &Release,
) -> Result<Option<DataTable>> {
    if release.ordered {
        stated(table)?;
    }
    let site = format!("{}.release", release.id);
    let permit = permits.take(&site, &[PermitKind::Answer, PermitKind::Value], &release.to, &release.columns)?;
    let values = table.values(&release.columns)?;
    if let Some(hashed) = release.columns.iter().zip(&values).find(|(_, value)| value.encoding == Encoding::Hash) {
        return Err(TableError::Input(format!("column {:?} is a hash, which cannot be opened as a string", hashed.0)));
    }
    let (mut rows, layout) = bundle(table.rows, values.iter().map(|value| &**value));
    rows.bits.extend(table.valid.clone());
    let rows = if release.ordered { rows } else { b.shuffle(rows)? };
    let (values, mut rest) = layout.unbundle(rows);
    let valid = rest.bits.pop();
    let values = shown(b, valid.as_ref(), values)?;
    let columns = release.columns.iter().zip(&values).map(|(name, value)| (name.clone(), value.kind, value.encoding));
    let columns: Vec<_> = columns.collect();
    let (mut rows, _) = bundle(table.rows, &values);
    rows.bits.extend(valid.clone());
    let opened = b.open(&rows, permit)?;
    Ok(opened.map(|block| decode(block, &columns, valid.is_some())))
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
