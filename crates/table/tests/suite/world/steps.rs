//! Operators as JSON over the tables of [`super::tables`].

use super::{bits, ring64, ring128};

pub fn column(name: &str, encode: &str, kind: &str) -> String {
    format!(r#"{{"name":"{name}","source":"{name}","encode":"{encode}","kind":{kind}}}"#)
}

/// The input of the big table, announced or padded.
pub fn input_table(rows: Option<usize>) -> String {
    let columns = [
        column("id", "int", &bits(12, false, false)),
        column("k", "int", &bits(4, true, true)),
        column("v", "int", &bits(17, true, true)),
        column("r", "int", &ring64(20, true)),
        column("q", "int", &ring128(70, true)),
        column("b", "int", &bits(1, false, true)),
        column("keep", "int", &bits(1, false, false)),
        column("h", "hash", &bits(64, false, true)),
        column("s", "bytes", &bits(24, false, true)),
        column("u", "int", &bits(8, false, false)),
        format!(r#"{{"name":"ht","source":"h","encode":"bytes","kind":{}}}"#, bits(32, false, true)),
    ];
    input(1, "ann", &columns.join(","), rows)
}

/// The input of the table of unique keys.
pub fn input_unique(rows: Option<usize>) -> String {
    let columns = [
        column("lk", "int", &bits(6, true, true)),
        column("lh", "hash", &bits(64, false, true)),
        column("p", "int", &bits(10, true, true)),
        column("w", "int", &ring64(20, false)),
        column("lkeep", "int", &bits(1, false, false)),
    ];
    input(2, "bob", &columns.join(","), rows)
}

/// The input of the table whose keys are unique in all its rows.
pub fn input_distinct(rows: Option<usize>) -> String {
    let columns = [
        column("lk", "int", &bits(6, true, true)),
        column("l3", "int", &bits(7, true, false)),
        column("ls", "bytes", &bits(24, false, true)),
        column("lr", "int", &ring64(22, true)),
        column("lh", "hash", &bits(64, false, true)),
        column("p", "int", &bits(10, true, true)),
        column("w", "int", &ring64(20, false)),
        column("lkeep", "int", &bits(1, false, false)),
    ];
    input(6, "bob", &columns.join(","), rows)
}

pub fn input(id: usize, owner: &str, columns: &str, rows: Option<usize>) -> String {
    let rows = rows.map_or("null".into(), |rows| rows.to_string());
    format!(r#"{{"id":{id},"op":"input","owner":"{owner}","columns":[{columns}],"rows":{rows}}}"#)
}

pub fn filter(id: usize, input: usize, predicate: &str) -> String {
    format!(r#"{{"id":{id},"op":"filter","input":{input},"predicate":{predicate}}}"#)
}

pub fn release(id: usize, input: usize, columns: &[&str], ordered: bool) -> String {
    let columns = serde_json::json!(columns);
    format!(
        r#"{{"id":{id},"op":"release","input":{input},"to":["cyd","ann"],"columns":{columns},"ordered":{ordered}}}"#
    )
}

pub fn call(op: &str, arguments: &[&str], kind: &str) -> String {
    format!(r#"{{"op":"{op}","args":[{}],"kind":{kind}}}"#, arguments.join(","))
}

pub fn truth(op: &str, arguments: &[&str]) -> String {
    call(op, arguments, &bits(1, false, true))
}

pub fn int(value: i128, width: usize) -> String {
    format!(r#"{{"int":"{value}","kind":{}}}"#, bits(width, true, false))
}

pub fn col(name: &str) -> String {
    format!(r#"{{"col":"{name}"}}"#)
}

pub fn project_one(id: usize, input: usize, from: &str, to: &str, kind: &str) -> String {
    format!(
        r#"{{"id":{id},"op":"project","input":{input},"columns":[{{"name":"{to}","expr":{{"col":"{from}"}},"kind":{kind}}}]}}"#
    )
}

/// The columns id and v as they are, and k with 0 for NULL.
pub fn present_or_zero(id: usize, input: usize) -> String {
    let (k, v) = (bits(4, true, false), bits(17, true, true));
    let known = call("if", &[&call("is_null", &[&col("k")], &bits(1, false, false)), &int(0, 4), &col("k")], &k);
    let one = |name: &str, expr: &str, kind: &str| format!(r#"{{"name":"{name}","expr":{expr},"kind":{kind}}}"#);
    let columns = [one("id", &col("id"), &bits(12, false, false)), one("k", &known, &k), one("v", &col("v"), &v)];
    format!(r#"{{"id":{id},"op":"project","input":{input},"columns":[{}]}}"#, columns.join(","))
}

pub fn predicate() -> String {
    let less = truth("lt", &[&col("v"), &int(3, 5)]);
    let ring = truth("ge", &[&col("r"), &int(-5, 7)]);
    let mixed = truth("le", &[&col("r"), &col("v")]);
    let wide = truth("gt", &[&col("q"), &int(0, 2)]);
    let unsigned = truth("ne", &[&col("u"), &col("k")]);
    let text = r#"{"text":"ab","encode":"hash","kind":{"repr":"bits","width":64,"signed":false,"nullable":false}}"#;
    let hash = truth("eq", &[&col("h"), text]);
    let bytes = r#"{"text":"ab","encode":"bytes","kind":{"repr":"bits","width":16,"signed":false,"nullable":false}}"#;
    let order = truth("lt", &[&col("s"), bytes]);
    let null = truth("is_null", &[&col("k")]);
    let zero = truth("eq", &[&col("r"), &int(0, 1)]);
    let and = truth("and", &[&less, &ring, &truth("not", &[&truth("or", &[&hash, &unsigned])])]);
    truth(
        "or",
        &[&and, &truth("and", &[&mixed, &wide]), &truth("and", &[&order, &null]), &truth("and", &[&col("b"), &zero])],
    )
}

pub const PROJECTED: [&str; 23] = [
    "sum",
    "less",
    "product",
    "wide",
    "minus",
    "scaled",
    "in_bits",
    "case",
    "other",
    "pick",
    "logic",
    "none",
    "converted",
    "text",
    "quotient",
    "rest",
    "by_seven",
    "rest_of_ten",
    "down",
    "up",
    "nearest",
    "long",
    "of_long",
];

/// Divisions by numbers and by constants, in a ring and on planes.
fn divided() -> Vec<(&'static str, String, String)> {
    let rounded = |op: &str, column: &str, by: &str, kind: &str| {
        format!(r#"{{"op":"{op}","args":[{}],"by":"{by}","kind":{kind}}}"#, col(column))
    };
    let (wide, small, long) = (bits(41, true, true), bits(8, true, true), bits(91, true, true));
    vec![
        ("quotient", call("quotient", &[&col("v"), &col("k")], &wide), wide.clone()),
        ("rest", call("remainder", &[&col("v"), &col("u")], &wide), wide.clone()),
        ("by_seven", call("quotient", &[&col("r"), &int(7, 3)], &wide), wide.clone()),
        ("rest_of_ten", call("remainder", &[&col("r"), &int(10, 4)], &small), small.clone()),
        ("down", rounded("floor", "v", "10", &wide), wide.clone()),
        ("up", rounded("ceil", "r", "7", &wide), wide.clone()),
        ("nearest", rounded("round", "v", "10", &wide), wide.clone()),
        ("long", rounded("round", "q", "1000", &long), long.clone()),
        ("of_long", call("remainder", &[&col("q"), &int(10, 4)], &small), small),
    ]
}

pub fn project(id: usize, input: usize) -> String {
    let (r64, r128) = (ring64(40, true), ring128(100, true));
    let condition = truth("lt", &[&col("v"), &int(0, 1)]);
    let null = format!(r#"{{"null":{}}}"#, ring64(40, true));
    let scaled = format!(r#"{{"op":"scale","args":[{}],"by":"-100","kind":{r64}}}"#, col("v"));
    let sum = call("add", &[&col("r"), &col("v")], &r64);
    let columns = [
        ("sum", call("sub", &[&call("mul", &[&sum, &int(3, 3)], &r64), &col("u")], &r64), r64.clone()),
        ("less", call("sub", &[&int(5, 4), &col("v")], &bits(19, true, true)), bits(19, true, true)),
        ("product", call("mul", &[&col("v"), &col("r")], &r64), r64.clone()),
        ("wide", call("add", &[&col("q"), &col("r")], &r128), r128.clone()),
        ("minus", call("neg", &[&col("k")], &bits(5, true, true)), bits(5, true, true)),
        ("scaled", scaled, r64.clone()),
        ("in_bits", call("add", &[&col("k"), &col("u")], &bits(10, true, true)), bits(12, true, true)),
        ("case", call("if", &[&condition, &col("v"), &int(0, 1)], &r64), r64.clone()),
        ("other", call("if", &[&condition, &col("r"), &null], &r64), r64.clone()),
        ("pick", call("if", &[&col("b"), &int(1, 2), &int(0, 1)], &r64), r64.clone()),
        (
            "logic",
            truth("and", &[&col("b"), &truth("or", &[&condition, &col("b")]), &truth("not", &[&condition])]),
            bits(1, false, true),
        ),
        ("none", null.clone(), r64.clone()),
        ("converted", call("convert", &[&col("q")], &bits(70, true, true)), bits(70, true, true)),
        ("text", col("s"), bits(24, false, true)),
    ];
    let columns: Vec<_> = columns
        .into_iter()
        .chain(divided())
        .map(|(name, expr, kind)| format!(r#"{{"name":"{name}","expr":{expr},"kind":{kind}}}"#))
        .collect();
    format!(r#"{{"id":{id},"op":"project","input":{input},"columns":[{}]}}"#, columns.join(","))
}

pub fn renamed(id: usize, input: usize) -> String {
    two_columns(id, input, ("k", &bits(4, true, true)), ("v", &ring64(20, true)))
}

pub fn renamed_left(id: usize, input: usize) -> String {
    two_columns(id, input, ("lk", &bits(6, true, true)), ("w", &ring64(20, false)))
}

pub fn two_columns(id: usize, input: usize, x: (&str, &str), y: (&str, &str)) -> String {
    let one =
        |name: &str, (from, kind): (&str, &str)| format!(r#"{{"name":"{name}","expr":{},"kind":{kind}}}"#, col(from));
    format!(r#"{{"id":{id},"op":"project","input":{input},"columns":[{},{}]}}"#, one("x", x), one("y", y))
}

pub fn union(id: usize) -> String {
    let columns =
        format!(r#"{{"name":"x","kind":{}}},{{"name":"y","kind":{}}}"#, bits(8, true, true), ring64(20, true));
    format!(r#"{{"id":{id},"op":"union","inputs":[4,5,4],"columns":[{columns}]}}"#)
}

pub const GROUPED: [&str; 21] = [
    "k", "b", "n", "present", "total", "wide", "bits", "least", "most", "low", "top", "first", "kinds", "middle",
    "centre", "inner", "once", "alone", "tenth", "upper", "low_part",
];
pub const AGGREGATED: [&str; 19] = [
    "n", "present", "total", "wide", "bits", "least", "most", "low", "top", "first", "kinds", "middle", "centre",
    "inner", "once", "alone", "tenth", "upper", "low_part",
];

pub fn aggregates() -> String {
    let one = |name: &str, function: &str, column: &str, kind: String| {
        format!(r#"{{"name":"{name}","function":"{function}","column":{column},"kind":{kind}}}"#)
    };
    let ranked = |name: &str, column: &str, (a, b, t): (u32, u32, i32), kind: String| {
        let rank = format!(r#"{{"numerator":{a},"denominator":{b},"shift":{t}}}"#);
        format!(r#"{{"name":"{name}","function":"ranked","column":{column},"rank":{rank},"kind":{kind}}}"#)
    };
    [
        one("n", "count_rows", "null", ring64(20, false)),
        one("total", "sum", "\"v\"", ring64(40, true)),
        one("present", "count", "\"v\"", ring64(20, false)),
        one("wide", "sum", "\"q\"", ring128(90, true)),
        one("bits", "count", "\"r\"", bits(16, false, false)),
        one("least", "min", "\"v\"", bits(17, true, true)),
        one("most", "max", "\"v\"", bits(17, true, true)),
        one("low", "min", "\"u\"", bits(8, false, true)),
        one("top", "max", "\"u\"", bits(8, false, true)),
        one("first", "min", "\"s\"", bits(24, false, true)),
        one("kinds", "count_distinct", "\"h\"", bits(16, false, false)),
        one("middle", "middle", "\"v\"", ring64(18, true)),
        one("centre", "middle", "\"u\"", bits(9, false, true)),
        one("inner", "middle", "\"q\"", ring128(80, true)),
        one("once", "sum_distinct", "\"v\"", ring64(40, true)),
        one("alone", "sum_distinct", "\"u\"", bits(20, false, true)),
        ranked("tenth", "\"v\"", (1, 10, 0), ring64(17, true)),
        ranked("upper", "\"u\"", (3, 4, 1), bits(8, false, true)),
        ranked("low_part", "\"q\"", (2, 3, -1), ring128(80, true)),
    ]
    .join(",")
}

pub fn group(id: usize, input: usize, keys: &[&str], groups: &str) -> String {
    let (keys, aggregates) = (serde_json::json!(keys), aggregates());
    format!(
        r#"{{"id":{id},"op":"group_by","input":{input},"keys":{keys},"aggregates":[{aggregates}],"groups":{groups}}}"#
    )
}

pub fn distinct(id: usize, input: usize, keys: &[&str]) -> String {
    let keys = serde_json::json!(keys);
    format!(r#"{{"id":{id},"op":"group_by","input":{input},"keys":{keys},"aggregates":[],"groups":null}}"#)
}

pub const PLAIN: [&str; 8] = ["k", "b", "n", "present", "total", "wide", "bits", "small"];

/// Groups with functions that need no order of values.
pub fn plain_group(id: usize, input: usize, keys: &[&str], groups: &str) -> String {
    let one = |name: &str, function: &str, column: &str, kind: String| {
        format!(r#"{{"name":"{name}","function":"{function}","column":{column},"kind":{kind}}}"#)
    };
    let aggregates = [
        one("n", "count_rows", "null", ring64(20, false)),
        one("total", "sum", "\"v\"", ring64(40, true)),
        one("present", "count", "\"v\"", ring64(20, false)),
        one("wide", "sum", "\"q\"", ring128(90, true)),
        one("bits", "count", "\"r\"", bits(16, false, false)),
        one("small", "sum", "\"u\"", ring64(30, false)),
    ];
    let (keys, aggregates) = (serde_json::json!(keys), aggregates.join(","));
    format!(
        r#"{{"id":{id},"op":"group_by","input":{input},"keys":{keys},"aggregates":[{aggregates}],"groups":{groups}}}"#
    )
}

/// Groups by hashed strings, with the strings themselves.
pub fn by_hash(id: usize, input: usize) -> String {
    let (text, count) = (bits(32, false, true), ring64(20, false));
    format!(
        r#"{{"id":{id},"op":"group_by","input":{input},"keys":["h"],"aggregates":[
            {{"name":"name","function":"any","column":"ht","kind":{text}}},
            {{"name":"n","function":"count_rows","kind":{count}}}],"groups":null}}"#
    )
}

pub fn any_y(id: usize, input: usize) -> String {
    let kind = ring64(4, true);
    format!(
        r#"{{"id":{id},"op":"group_by","input":{input},"keys":["x"],"aggregates":[
            {{"name":"any","function":"any","column":"y","kind":{kind}}}],"groups":null}}"#
    )
}

/// Sums of one expression by another.
pub fn of_expressions(id: usize, input: usize) -> String {
    let kind = ring64(60, true);
    format!(
        r#"{{"id":{id},"op":"group_by","input":{input},"keys":["less"],"aggregates":[
            {{"name":"total","function":"sum","column":"sum","kind":{kind}}}],"groups":null}}"#
    )
}

/// Groups by k of groups by k and b, which are in that order already.
pub fn again(id: usize, input: usize) -> String {
    let kind = ring64(30, false);
    format!(
        r#"{{"id":{id},"op":"group_by","input":{input},"keys":["k"],"aggregates":[
            {{"name":"groups","function":"count_rows","kind":{kind}}},
            {{"name":"all","function":"sum","column":"n","kind":{kind}}}],"groups":null}}"#
    )
}

pub fn renamed_group(id: usize, input: usize) -> String {
    let columns = [
        ("gb", "b", bits(1, false, true)),
        ("gk", "k", bits(4, true, true)),
        ("n", "n", ring64(20, false)),
        ("total", "total", ring64(40, true)),
    ];
    let columns: Vec<_> = columns
        .iter()
        .map(|(to, from, kind)| format!(r#"{{"name":"{to}","expr":{},"kind":{kind}}}"#, col(from)))
        .collect();
    format!(r#"{{"id":{id},"op":"project","input":{input},"columns":[{}]}}"#, columns.join(","))
}

pub fn aggregate(id: usize, input: usize) -> String {
    format!(r#"{{"id":{id},"op":"aggregate","input":{input},"aggregates":[{}]}}"#, aggregates())
}

pub const CONDITIONAL: [&str; 8] = ["n", "all", "present", "bits", "total", "wide", "sum", "whole"];

/// Sums and counts of the rows where a truth value is TRUE, beside some of all rows.
pub fn conditional(id: usize, input: usize) -> String {
    let one = |name: &str, function: &str, column: &str, condition: &str, kind: String| {
        format!(r#"{{"name":"{name}","function":"{function}","column":{column},"where":{condition},"kind":{kind}}}"#)
    };
    let aggregates = [
        one("n", "count_rows", "null", "\"b\"", ring64(20, false)),
        one("all", "count_rows", "null", "null", ring64(20, false)),
        one("present", "count", "\"v\"", "\"b\"", ring64(20, false)),
        one("bits", "count", "\"r\"", "\"b\"", bits(16, false, false)),
        one("total", "sum", "\"v\"", "\"b\"", ring64(40, true)),
        one("wide", "sum", "\"q\"", "\"b\"", ring128(90, true)),
        one("sum", "sum", "\"u\"", "\"b\"", bits(20, false, true)),
        one("whole", "sum", "\"v\"", "null", ring64(40, true)),
    ];
    format!(r#"{{"id":{id},"op":"aggregate","input":{input},"aggregates":[{}]}}"#, aggregates.join(","))
}

pub fn only(id: usize, input: usize) -> String {
    project_one(id, input, "id", "id", &bits(12, false, false))
}

pub fn pairs(id: usize, left: usize, right: usize) -> String {
    format!(r#"{{"id":{id},"op":"pairs","left":{left},"right":{right}}}"#)
}

pub fn broadcast(id: usize, input: usize, scalar: usize) -> String {
    format!(r#"{{"id":{id},"op":"broadcast","input":{input},"scalar":{scalar}}}"#)
}

pub fn sort(id: usize, input: usize) -> String {
    let key = |column: &str, descending: bool, nulls_first: bool| {
        format!(r#"{{"column":"{column}","descending":{descending},"nulls_first":{nulls_first}}}"#)
    };
    let keys = [key("b", false, true), key("s", true, false), key("r", true, true), key("k", false, false)].join(",");
    // Of rows that are equal in all keys the order is not defined.
    let keys = [keys, key("id", true, false)].join(",");
    format!(r#"{{"id":{id},"op":"sort","input":{input},"keys":[{keys}]}}"#)
}

/// Ascending by these columns, NULLs last.
pub fn sort_by(id: usize, input: usize, columns: &[&str]) -> String {
    let key = |column: &&str| serde_json::json!({"column": column, "descending": false, "nulls_first": false});
    let keys: Vec<_> = columns.iter().map(key).collect();
    serde_json::json!({"id": id, "op": "sort", "input": input, "keys": keys}).to_string()
}

pub fn limit(id: usize, input: usize, count: usize, offset: usize) -> String {
    format!(r#"{{"id":{id},"op":"limit","input":{input},"count":{count},"offset":{offset}}}"#)
}

/// Without padding: `rows` is a bound on valid rows, or null, and then their number is opened.
pub fn resize(id: usize, input: usize, rows: &str) -> String {
    format!(r#"{{"id":{id},"op":"resize","input":{input},"rows":{rows}}}"#)
}

pub fn join(id: usize, left: usize, right: usize, lk: &[&str], rk: &[&str], lc: &[&str], rc: &[&str]) -> String {
    serde_json::json!({"id": id, "op": "join", "left": left, "right": right, "left_keys": lk, "right_keys": rk,
        "left_columns": lc, "right_columns": rc})
    .to_string()
}

/// Sums and counts of the big table's rows, NULLs among them or not, in every ring and in planes.
pub fn group_join(id: usize, left: usize, right: usize, lk: &[&str], rk: &[&str], lc: &[&str]) -> String {
    let all: serde_json::Value = serde_json::from_str(&format!("[{}]", aggregates())).expect("aggregates");
    let mut some: Vec<_> = all.as_array().into_iter().flatten().take(5).cloned().collect();
    let kind = |kind: String| serde_json::from_str::<serde_json::Value>(&kind).expect("a kind");
    some.push(serde_json::json!({"name": "every", "function": "sum", "column": "u", "kind": kind(ring64(30, false))}));
    some.push(
        serde_json::json!({"name": "rows", "function": "count", "column": "u", "kind": kind(bits(12, false, false))}),
    );
    some.push(serde_json::json!({"name": "far", "function": "sum", "column": "r", "kind": kind(ring64(40, true))}));
    serde_json::json!({"id": id, "op": "group_join", "left": left, "right": right, "left_keys": lk, "right_keys": rk,
        "left_columns": lc, "aggregates": some})
    .to_string()
}

/// The columns of these aggregates.
pub const JOINED: [&str; 8] = ["n", "total", "present", "wide", "bits", "every", "rows", "far"];

/// An operator with another member.
pub fn with(operator: &str, member: &str, value: serde_json::Value) -> String {
    let mut operator: serde_json::Value = serde_json::from_str(operator).expect("an operator");
    operator[member] = value;
    operator.to_string()
}
