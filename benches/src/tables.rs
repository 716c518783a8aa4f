//! Operations on tables: operators of a placed plan (docs/placed-plan.md), executed as in a query.

use crate::Result;
use crate::operation::Operation;
use crate::roster::names;
use serde_json::{Value, json};
use tacit_mpc::Permits;
use tacit_mpc::backends::Networked;
use tacit_net::PartyId;
use tacit_table::{ColumnData, DataColumn, DataTable, Executor, Operator, Table};

/// An operator and the shared tables it takes.
pub struct Prepared<B: Networked> {
    operator: Operator,
    tables: Vec<Table<B>>,
}

/// Shares the tables that an operation takes: the first one is party a's, the second one party b's.
///
/// # Panics
/// If the operation takes bare columns.
pub fn share<B: Networked>(node: B, operation: Operation, rows: usize) -> Result<(B, Prepared<B>)> {
    let me = node.session().me();
    let mut executor = executor(node);
    let tables: &[&str] = match operation {
        Operation::Join | Operation::JoinUnsorted => &["left", "right"],
        Operation::GroupBy => &["sales"],
        _ => unreachable!("{operation:?} takes columns"),
    };
    // At these sizes the planner merges what owners sort between two nodes, and sorts between three.
    let merges = operation == Operation::Join && B::NODES == 2;
    let mut shared = Vec::new();
    for (owner, table) in tables.iter().enumerate() {
        let data = (me == PartyId(owner)).then(|| data(table, rows));
        shared.push(executor.input(&operator(&input(merges, table, names::<B>()[owner], owner, rows))?, data)?);
    }
    let operator = operator(&secure(operation, merges))?;
    Ok((executor.into_backend(), Prepared { operator, tables: shared }))
}

/// Executes the operator.
pub fn run<B: Networked>(node: B, prepared: Prepared<B>) -> Result<(B, Table<B>)> {
    let mut executor = executor(node);
    let result = executor.run(&prepared.operator, prepared.tables)?;
    Ok((executor.into_backend(), result))
}

/// Nothing is opened and no size is announced, so there is nothing to permit.
fn executor<B: Networked>(node: B) -> Executor<B> {
    let nodes: Vec<String> = names::<B>().iter().copied().map(String::from).collect();
    Executor::new(node, Permits::default(), nodes, [0; 32])
}

fn operator(json: &Value) -> Result<Operator> {
    Ok(Operator::from_json(&json.to_string())?)
}

/// The columns of each table: a 32-bit key and 64-bit payloads.
fn columns(table: &str) -> &'static [&'static str] {
    match table {
        "left" => &["key", "a", "b"],
        "right" => &["key", "c", "d"],
        _ => &["key", "amount"],
    }
}

fn input(merges: bool, table: &str, name: &str, owner: usize, rows: usize) -> Value {
    let column = |name: &&str| {
        let kind = match *name {
            "key" => json!({"repr": "bits", "width": 32, "signed": false, "nullable": false}),
            "amount" => json!({"repr": "ring64", "width": 32, "signed": true, "nullable": false}),
            _ => json!({"repr": "ring64", "width": 64, "signed": true, "nullable": false}),
        };
        json!({"name": name, "source": name, "encode": "int", "kind": kind})
    };
    let columns: Vec<Value> = columns(table).iter().map(column).collect();
    let sorted_by: &[&str] = if merges { &["key"] } else { &[] };
    json!({
        "id": owner + 1, "op": "input", "owner": name, "rows": rows, "columns": columns, "sorted_by": sorted_by,
    })
}

fn secure(operation: Operation, merges: bool) -> Value {
    let total = json!({"repr": "ring64", "width": 64, "signed": true, "nullable": false});
    let count = json!({"repr": "ring64", "width": 32, "signed": false, "nullable": false});
    match operation {
        Operation::Join | Operation::JoinUnsorted => json!({
            "id": 3, "op": "join", "left": 1, "right": 2, "left_keys": ["key"], "right_keys": ["key"],
            "left_columns": ["a", "b"], "right_columns": ["key", "c", "d"],
            "merged": merges,
        }),
        _ => json!({
            "id": 2, "op": "group_by", "input": 1, "keys": ["key"], "groups": null, "aggregates": [
                {"name": "total", "function": "sum", "column": "amount", "kind": total},
                {"name": "sales", "function": "count_rows", "column": null, "kind": count},
            ],
        }),
    }
}

/// Numbers spread over 32 bits: a different one for each row of `left`, of which `right` meets three quarters and
/// `sales` one in sixteen.
fn data(table: &str, rows: usize) -> DataTable {
    let spread = |i: usize| i64::from((i as u32).wrapping_mul(0x9e37_79b1));
    let key = |i: usize| match table {
        "left" => spread(i),
        "right" => spread(i + rows / 4),
        _ => spread(i % rows.div_ceil(16)),
    };
    let column = |name: &&str| {
        let value = |i| if *name == "key" { key(i) } else { spread(i) - (1 << 31) };
        DataColumn { name: (*name).into(), data: ColumnData::Integers((0..rows).map(value).collect()), nulls: None }
    };
    DataTable { rows, columns: columns(table).iter().map(column).collect(), pad_to: None }
}
