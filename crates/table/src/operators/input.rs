//! `input`: an owner's table becomes shared.
//!
//! The owner may be a client of the nodes. Discloses the size where the plan announces one; nothing else. With a padded
//! size every row's validity is secret, also when the data happens to fill it.

use tacit_math::KeyedHash;
use tacit_mpc::{Backend, Block, Permit, PermitKind, Permits, Rows};
use tacit_net::PartyId;

use crate::data::DataTable;
use crate::encode::{encode, shape};
use crate::error::{Result, TableError};
use crate::operator::{Input, InputColumn, Repr};
use crate::parties::Parties;
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

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

/// Checks and encodes the owner's data, before anything is sent.
pub(crate) fn prepare(input: &Input, data: &DataTable, hash: &KeyedHash) -> Result<Prepared> {
    let rows = input.rows.map_or_else(|| data.announced_rows(input.pad_to_source), Ok)?;
    if rows < data.rows {
        let owner = input.owner.clone();
        return Err(WrongInput::Undeclared { owner, rows: data.rows, most: rows, operator: "input" }.into());
    }
    Ok(Prepared { rows, block: Some(encode(input, data, rows, !is_exact(input), hash)?) })
}

/// Shares the owner's data.
pub(crate) fn input<B: Backend>(
    b: &mut B,
    permits: &mut Permits,
    parties: &Parties,
    input: &Input,
    prepared: Option<Prepared>,
) -> Result<Table<B>> {
    let owner = parties.owner(&input.owner)?;
    let (own_rows, block) = prepared.map_or((None, None), |p| (Some(p.rows), p.block));
    let rows = match input.rows {
        Some(rows) => rows,
        None => {
            let permit = size_permit(permits, parties, input)?;
            announced_rows(b, owner, &input.owner, own_rows, permit)?
        }
    };
    share(b, parties, input, rows, block)
}

/// The permit to announce the size of an input.
pub(crate) fn size_permit(permits: &mut Permits, parties: &Parties, input: &Input) -> Result<Permit> {
    Ok(permits.take(&format!("{}.input", input.id), &[PermitKind::Size], &parties.nodes, &[])?)
}

/// A number of rows that its owner tells all nodes.
pub(crate) fn announced_rows<B: Backend>(
    b: &mut B,
    owner: PartyId,
    name: &str,
    own: Option<usize>,
    permit: Permit,
) -> Result<usize> {
    let announced = b.announce(owner, own.map(|rows| rows as u64), permit)?;
    usize::try_from(announced).map_err(|_| too_many(name, announced)).and_then(|rows| at_most(rows, name))
}

/// This number of rows, unless it is more than the planner reckons with where nobody declares how many there are. The
/// widths of sums and of string hashes follow from its bound (`UNDECLARED_ROWS` of tacit.plan.algebra.bounds).
pub(crate) fn at_most(rows: usize, what: &str) -> Result<usize> {
    if rows > 1 << 31 { Err(too_many(what, rows as u64)) } else { Ok(rows) }
}

fn too_many(what: &str, rows: u64) -> TableError {
    WrongInput::TableRows { what: what.to_owned(), rows }.into()
}

/// Shares the owner's encoded columns, of `rows` rows.
pub(crate) fn share<B: Backend>(
    b: &mut B,
    parties: &Parties,
    input: &Input,
    rows: usize,
    block: Option<Block>,
) -> Result<Table<B>> {
    let owner = parties.owner(&input.owner)?;
    let exact = is_exact(input);
    let mut shared = b.input(owner, shape(&input.columns, rows, !exact), block)?;
    let valid = if exact { None } else { shared.bits.pop() };
    let columns = columns(&input.columns, shared);
    let mut table = Table::new(rows, valid, columns);
    // Sorted by their encodings, rows that are not valid are among the others.
    let as_given = input.sorted_by.is_empty();
    table.order.valid_first |= as_given;
    table.order.encoded.clone_from(&input.sorted_by);
    table.order.stated = as_given && input.ordered;
    Ok(table)
}

/// Shared rows of the shape of these columns as columns.
pub(crate) fn columns<B: Backend>(columns: &[InputColumn], shared: Rows<B>) -> Vec<Column<B>> {
    let (mut bits, mut r64, mut r128) = (shared.bits.into_iter(), shared.r64.into_iter(), shared.r128.into_iter());
    let one = |column: &InputColumn| {
        let shares = match column.kind.repr {
            Repr::Bits => Shares::Bits(bits.by_ref().take(column.kind.width).collect()),
            Repr::Ring64 => Shares::Ring64(r64.next().expect("of the declared shape")),
            Repr::Ring128 => Shares::Ring128(r128.next().expect("of the declared shape")),
        };
        let null = if column.kind.nullable { bits.next() } else { None };
        Column::new(&column.name, Value::new(column.kind, column.encode, null, shares))
    };
    columns.iter().map(one).collect()
}
