//! `filter`: rows on which a predicate is not TRUE become invalid. Nobody learns which or how many.

use tacit_math::KeyedHash;
use tacit_mpc::Backend;

use crate::error::Result;
use crate::expression::Scope;
use crate::operator::Filter;
use crate::table::{Order, Table};

/// Validity AND predicate.
pub(crate) fn filter<B: Backend>(b: &mut B, hash: &KeyedHash, table: Table<B>, filter: &Filter) -> Result<Table<B>> {
    let holds = Scope::new(&table, hash).is_true(b, &filter.predicate)?;
    let valid = match &table.valid {
        Some(valid) => b.and(&[valid], &[&holds])?.swap_remove(0),
        None => holds,
    };
    let order = Order { encoded: table.order.encoded, ..Order::default() };
    Ok(Table { valid: Some(valid), order, ..table })
}
