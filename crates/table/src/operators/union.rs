//! `union`: the rows of several tables, one after the other.

use std::sync::Arc;

use tacit_math::Plane;
use tacit_mpc::{Backend, linear};

use super::input::at_most;
use crate::convert::to_kind;
use crate::error::Result;
use crate::operator::{Encoding, Kind, Repr, Union};
use crate::table::{Column, Shares, Table, Value};

/// Concatenation, every column converted to its declared kind. Local but for the conversions.
pub(crate) fn union<B: Backend>(b: &mut B, mut inputs: Vec<Table<B>>, union: &Union) -> Result<Table<B>> {
    let rows = at_most(inputs.iter().map(|table| table.rows).sum(), "a union")?;
    let mut columns = Vec::new();
    for column in &union.columns {
        let parts = inputs.iter_mut().map(|table| converted(b, table.take(&column.name)?, column.kind));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        columns.push(Column::new(&column.name, concat(b, &inputs, &parts, column.kind)));
    }
    let valid: Vec<_> = inputs.iter().map(|table| table.valid.as_ref()).collect();
    Ok(Table::new(rows, concat_optional(b, &inputs, &valid, true), columns))
}

fn converted<B: Backend>(b: &mut B, value: Arc<Value<B>>, kind: Kind) -> Result<Arc<Value<B>>> {
    let same = (value.kind.repr, value.kind.width, value.kind.signed) == (kind.repr, kind.width, kind.signed);
    if same || value.kind.repr == kind.repr && kind.repr != Repr::Bits {
        return Ok(value);
    }
    Ok(Arc::new(to_kind(b, &value, kind)?))
}

fn concat<B: Backend>(b: &B, inputs: &[Table<B>], parts: &[Arc<Value<B>>], kind: Kind) -> Value<B> {
    let nulls: Vec<_> = parts.iter().map(|part| part.null.as_ref()).collect();
    let shares =
        match kind.repr {
            Repr::Bits => {
                Shares::Bits((0..kind.width).map(|j| linear::concat_bits(&each(parts, |s| plane(s, j)))).collect())
            }
            Repr::Ring64 => Shares::Ring64(linear::concat_vectors(&each(parts, |s| {
                if let Shares::Ring64(x) = s { Some(x) } else { None }
            }))),
            Repr::Ring128 => Shares::Ring128(linear::concat_vectors(&each(parts, |s| {
                if let Shares::Ring128(x) = s { Some(x) } else { None }
            }))),
        };
    let encoding =
        parts.iter().map(|part| part.encoding).find(|&encoding| encoding != Encoding::Int).unwrap_or_default();
    Value::new(kind, encoding, concat_optional(b, inputs, &nulls, false), shares)
}

fn plane<B: Backend>(shares: &Shares<B>, j: usize) -> Option<&B::Bits> {
    if let Shares::Bits(planes) = shares { planes.get(j) } else { None }
}

fn each<'a, B: Backend, T>(parts: &'a [Arc<Value<B>>], part: impl Fn(&'a Shares<B>) -> Option<&'a T>) -> Vec<&'a T> {
    parts.iter().map(|value| part(&value.shares).expect("converted to the kind")).collect()
}

/// Concatenation of planes of which an absent one is constant; None if all are absent.
fn concat_optional<B: Backend>(
    b: &B,
    inputs: &[Table<B>],
    planes: &[Option<&B::Bits>],
    absent: bool,
) -> Option<B::Bits> {
    planes.iter().any(Option::is_some).then(|| {
        let constant = |rows| b.public_bits(rows, || Plane::constant(rows, absent));
        let parts: Vec<B::Bits> = planes
            .iter()
            .zip(inputs)
            .map(|(plane, table)| plane.cloned().unwrap_or_else(|| constant(table.rows)))
            .collect();
        linear::concat_bits(&parts.iter().collect::<Vec<_>>())
    })
}
