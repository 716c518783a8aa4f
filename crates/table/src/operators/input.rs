//! `input`: an owner's table becomes shared.
//!
//! Discloses the size where the plan announces one; nothing else. With a padded size every row's validity is secret,
//! also when the data happens to fill it.

use tacit_math::KeyedHash;
use tacit_mpc::{Backend, Block, PermitKind, Permits};
use tacit_net::PartyId;

use crate::data::DataTable;
use crate::encode::{encode, shape};
use crate::error::{Result, TableError};
use crate::operator::{Input, Repr};
use crate::table::{Column, Shares, Table, Value};

/// The owner's data, ready to be shared.
pub(crate) struct Prepared {
    /// The rows it will have, padding included.
    pub rows: usize,
    /// The encoded columns. None in an engine without data.
    pub block: Option<Block>,
}

/// Whether every row will be known to be valid: the exact size is announced.
fn is_exact(input: &Input) -> bool {
    input.rows.is_none() && !input.pad_to_source
}

/// The owner's place among the nodes.
pub(crate) fn owner(parties: &[String], input: &Input) -> Result<PartyId> {
    let place = parties.iter().position(|name| *name == input.owner);
    place.map(PartyId).ok_or_else(|| {
        TableError::Input(format!("the owner {:?} is not one of the nodes {}", input.owner, parties.join(", ")))
    })
}

/// Checks and encodes the owner's data, before anything is sent.
pub(crate) fn prepare(input: &Input, data: &DataTable, hash: &KeyedHash) -> Result<Prepared> {
    let source = if input.pad_to_source { data.pad_to } else { None };
    let rows = input.rows.or(source).unwrap_or(data.rows);
    if rows < data.rows {
        return Err(TableError::Input(format!(
            "{} has {} rows, more than the {rows} declared for this input",
            input.owner, data.rows
        )));
    }
    Ok(Prepared { rows, block: Some(encode(input, data, rows, !is_exact(input), hash)?) })
}

/// Shares the owner's data.
pub(crate) fn input<B: Backend>(
    b: &mut B,
    permits: &mut Permits,
    parties: &[String],
    input: &Input,
    prepared: Option<Prepared>,
) -> Result<Table<B>> {
    let owner = owner(parties, input)?;
    let (own_rows, block) = prepared.map_or((None, None), |p| (Some(p.rows), p.block));
    let rows = match input.rows {
        Some(rows) => rows,
        None => {
            let permit = permits.take(&format!("{}.input", input.id), &[PermitKind::Size], parties, &[])?;
            let announced = b.announce(owner, own_rows.map(|rows| rows as u64), permit)?;
            usize::try_from(announced).unwrap_or(usize::MAX)
        }
    };
    if u32::try_from(rows).is_err() {
        return Err(TableError::Input(format!("{} announces {rows} rows; at most 2^32 - 1 are possible", input.owner)));
    }
    let exact = is_exact(input);
    let shared = b.input(owner, shape(&input.columns, rows, !exact), block)?;
    let mut bits = shared.bits;
    let valid = if exact { None } else { bits.pop() };
    let (mut bits, mut r64, mut r128) = (bits.into_iter(), shared.r64.into_iter(), shared.r128.into_iter());
    let columns = input.columns.iter().map(|column| {
        let shares = match column.kind.repr {
            Repr::Bits => Shares::Bits(bits.by_ref().take(column.kind.width).collect()),
            Repr::Ring64 => Shares::Ring64(r64.next().expect("of the declared shape")),
            Repr::Ring128 => Shares::Ring128(r128.next().expect("of the declared shape")),
        };
        let null = if column.kind.nullable { bits.next() } else { None };
        Column::new(&column.name, Value::new(column.kind, column.encode, null, shares))
    });
    let mut table = Table::new(rows, valid, columns.collect());
    table.order.valid_first = true;
    Ok(table)
}
