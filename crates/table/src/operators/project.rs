//! `project`: columns computed row by row.

use tacit_math::KeyedHash;
use tacit_mpc::Backend;

use crate::error::Result;
use crate::expression::Scope;
use crate::operator::{Expression, Project};
use crate::table::{Column, Order, Table};

/// The expressions' columns, each in its declared kind. Rows, validity and order stay.
pub(crate) fn project<B: Backend>(
    b: &mut B,
    hash: &KeyedHash,
    table: &Table<B>,
    project: &Project,
) -> Result<Table<B>> {
    let mut scope = Scope::new(table, hash);
    scope.compare_ahead(b, &project.columns.iter().map(|column| &column.expr).collect::<Vec<_>>())?;
    let columns = project.columns.iter().map(|column| {
        let value = scope.value(b, &column.expr, column.kind)?;
        Ok(Column { name: column.name.clone(), value })
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let Order { valid_first, by, exact, stated, encoded } = &table.order;
    let (left, encoded) = (renamed(by, project), renamed(encoded, project));
    // Columns that are gone still order the rows that are equal in those that are left.
    let exact = *exact && left.len() == by.len();
    let order = Order { valid_first: *valid_first, by: left, exact, stated: *stated, encoded };
    Ok(Table { rows: table.rows, valid: table.valid.clone(), columns, order })
}

/// The leading columns of an order that are still there, under their new names.
fn renamed(by: &[String], project: &Project) -> Vec<String> {
    let new_name = |old: &String| {
        let column =
            project.columns.iter().find(|column| matches!(&column.expr, Expression::Column(name) if name == old));
        column.map(|column| column.name.clone())
    };
    by.iter().map_while(new_name).collect()
}
