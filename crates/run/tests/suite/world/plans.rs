//! Plans that several tests run, and what they open.

use tacit_math::Plane;

use super::{NULL, NULLABLE, Plan, RING, Rows, bits, columns, table};

/// ann's customers and bob's orders: joined, the amounts of each region summed, opened to ann.
pub fn totals() -> Plan {
    let customers = columns(&[("id", bits(8)), ("region", bits(3))]);
    let orders = columns(&[("customer", bits(8)), ("amount", RING.into())]);
    let operators = [
        format!(r#"{{"id":1,"op":"input","owner":"ann","columns":{customers},"rows":6}}"#),
        format!(r#"{{"id":2,"op":"input","owner":"bob","columns":{orders},"rows":null}}"#),
        r#"{"id":3,"op":"join","left":1,"right":2,"left_keys":["id"],"right_keys":["customer"],
            "left_columns":["region"],"right_columns":["amount"]}"#
            .into(),
        format!(
            r#"{{"id":4,"op":"group_by","input":3,"keys":["region"],"groups":4,"aggregates":[
                {{"name":"total","function":"sum","column":"amount","kind":{RING}}}]}}"#
        ),
        release(5, 4, &["region", "total"]),
    ];
    let customers = table(&[("id", &[7, 3, 200, 9]), ("region", &[1, 2, 1, 4])]);
    let orders = table(&[("customer", &[3, 7, 200, 7, 8, 3]), ("amount", &[-5, 10, 1, 20, 1000, 6])]);
    Plan::new(&operators, [(1, customers), (2, orders)])
}

/// The same with its joined rows counted, and those that are not valid left out.
pub fn counted() -> Plan {
    let Plan { operators, data } = totals();
    let resized = r#"{"id":4,"op":"resize","input":3,"rows":null},{"id":5,"op":"group_by","input":4"#;
    let operators = operators
        .replace(r#""id":5,"op":"release","input":4"#, r#""id":6,"op":"release","input":5"#)
        .replace(r#"{"id":4,"op":"group_by","input":3"#, resized);
    Plan { operators, data }
}

/// What [`totals`] opens.
pub fn totals_answer() -> Rows {
    vec![vec![1, 31], vec![2, 1]]
}

/// The release of a step's columns to ann.
pub fn release(id: usize, input: usize, columns: &[&str]) -> String {
    let columns = columns.iter().map(|column| format!("{column:?}")).collect::<Vec<_>>().join(",");
    format!(r#"{{"id":{id},"op":"release","input":{input},"to":["ann"],"columns":[{columns}],"ordered":false}}"#)
}

/// A join of ann's rows with bob's by an intersection protocol, opened to ann. op: `psi` or `circuit_psi`.
pub fn matched(op: &str) -> Plan {
    let unique = if op == "psi" { r#","right_unique":true"# } else { "" };
    let side = |local: usize, owner: &str, key: &str, column: &str| {
        format!(
            r#"{{"local":{local},"owner":"{owner}","rows":null,"pad_to_source":false,
                "keys":[{{"source":"{key}","encode":"int"}}],"columns":{}}}"#,
            columns(&[(column, RING.into())])
        )
    };
    let (left, right) = (side(1, "ann", "id", "age"), side(2, "bob", "who", "score"));
    let operators =
        [format!(r#"{{"id":3,"op":"{op}","left":{left},"right":{right}{unique}}}"#), release(4, 3, &["age", "score"])];
    let left = table(&[("id", &[11, 12, 13, 14]), ("age", &[40, 41, 42, 43])]);
    let right = table(&[("who", &[14, 90, 11]), ("score", &[-1, -2, -3])]);
    Plan::new(&operators, [(1, left), (2, right)])
}

/// What [`matched`] opens.
pub fn matched_answer() -> Rows {
    vec![vec![40, -3], vec![43, -1]]
}

/// A full join of ann's rows with bob's by universal ids, opened to ann. padded: to these numbers of rows, or
/// announced. One row of ann's has no key.
pub fn identified(padded: Option<[usize; 2]>) -> Plan {
    let side = |local: usize, owner: &str, key: &str, column: &str| {
        let rows = padded.map_or("null".into(), |sizes| sizes[local - 1].to_string());
        format!(
            r#"{{"local":{local},"owner":"{owner}","rows":{rows},"pad_to_source":false,
                "keys":[{{"source":"{key}","encode":"int"}}],"columns":{}}}"#,
            columns(&[(column, NULLABLE.into())])
        )
    };
    let (left, right) = (side(1, "ann", "id", "age"), side(2, "bob", "who", "score"));
    let operators = [
        format!(r#"{{"id":3,"op":"universal_ids","left":{left},"right":{right}}}"#),
        r#"{"id":4,"op":"release","input":3,"to":["ann"],"columns":["age","score"],"nullable":["age","score"],
            "ordered":false}"#
            .into(),
    ];
    let mut left = table(&[("id", &[11, 12, 13, 14]), ("age", &[40, 41, 42, 43])]);
    left.columns[0].nulls = Some(Plane::from_fn(4, |row| row == 2));
    let right = table(&[("who", &[14, 90, 11]), ("score", &[-1, -2, -3])]);
    Plan::new(&operators, [(1, left), (2, right)])
}

/// What [`identified`] opens.
pub fn identified_answer() -> Rows {
    vec![vec![NULL, -2], vec![40, -3], vec![41, NULL], vec![42, NULL], vec![43, -1]]
}

fn stored() -> String {
    columns(&[("k", bits(5)), ("v", RING.into())])
}

/// bob's rows, kept by all nodes.
pub fn keeping() -> Plan {
    let operators = [
        format!(r#"{{"id":1,"op":"input","owner":"bob","columns":{},"rows":5}}"#, stored()),
        r#"{"id":2,"op":"keep","input":1,"table":"stored","columns":["k","v"]}"#.into(),
    ];
    Plan::new(&operators, [(1, table(&[("k", &[3, 1, 30]), ("v", &[300, -100, 7])]))])
}

/// What [`keeping`] kept, filtered and opened to ann.
pub fn reading() -> Plan {
    let predicate =
        format!(r#"{{"op":"lt","args":[{{"col":"k"}},{{"int":"10","kind":{}}}],"kind":{}}}"#, bits(5), bits(1));
    let operators = [
        format!(r#"{{"id":1,"op":"kept","table":"stored","columns":{},"rows":5,"padded":true}}"#, stored()),
        format!(r#"{{"id":2,"op":"filter","input":1,"predicate":{predicate}}}"#),
        release(3, 2, &["k", "v"]),
    ];
    Plan::new(&operators, [])
}

/// What [`reading`] opens.
pub fn reading_answer() -> Rows {
    vec![vec![1, -100], vec![3, 300]]
}
