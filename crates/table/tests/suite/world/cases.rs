//! Plans that use every operator.

use super::resizes::resizes;
use super::steps::*;
use super::windows::{FEW, windows};
use super::{Plan, bits, ring64};
use tacit_table::Operator;
use tacit_table::operator::AggregateFunction;

/// A named plan over the tables of [`inputs`].
pub struct Case {
    pub name: &'static str,
    pub plan: Plan,
    /// Steps whose rows come in a defined order.
    pub ordered: bool,
}

const ALL: [&str; 9] = ["id", "k", "v", "r", "q", "b", "keep", "s", "u"];

/// Every case. Announced inputs where `padded` is None, otherwise padded to that number of rows.
pub fn cases(padded: Option<usize>) -> Vec<Case> {
    let t = || input_table(padded);
    let l = || input_unique(padded);
    let kept = |id: usize| filter(id, 1, &col("keep"));
    let left_kept = |id: usize| filter(id, 2, &col("lkeep"));
    let case = |name, ordered, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered };
    let mut out = vec![
        case("release", false, vec![t(), release(9, 1, &ALL, false)]),
        case("release of some", false, vec![t(), kept(3), release(9, 3, &["v", "q", "s"], false)]),
        // One column has a plane of NULLs that is not opened, one has none and is opened with it.
        case(
            "release of never NULL",
            false,
            vec![
                t(),
                kept(3),
                present_or_zero(4, 3),
                with(&release(9, 4, &["id", "k", "v"], false), "nullable", serde_json::json!(["v", "id"])),
            ],
        ),
        case("predicates", false, vec![t(), filter(3, 1, &predicate()), release(9, 3, &ALL, false)]),
        case("expressions", false, vec![t(), kept(3), project(4, 3), release(9, 4, &PROJECTED, false)]),
        // What stands under a NULL of an expression must not count.
        case(
            "sums of expressions",
            true,
            vec![
                t(),
                kept(3),
                project(4, 3),
                of_expressions(5, 4),
                sort_by(6, 5, &["less"]),
                release(9, 6, &["less", "total"], true),
            ],
        ),
        case(
            "union",
            false,
            vec![
                t(),
                l(),
                left_kept(3),
                renamed(4, 1),
                renamed_left(5, 3),
                union(6),
                release(9, 6, &["x", "y"], false),
            ],
        ),
        case(
            "group",
            true,
            vec![
                t(),
                kept(3),
                group(4, 3, &["k", "b"], "null"),
                sort_by(5, 4, &["k", "b"]),
                release(9, 5, &GROUPED, true),
            ],
        ),
        case(
            "group all",
            true,
            vec![
                t(),
                group(4, 1, &["s"], "4000"),
                sort_by(5, 4, &["s"]),
                release(9, 5, &["s", "n", "top", "least"], true),
            ],
        ),
        case(
            "group ring",
            true,
            vec![
                t(),
                kept(3),
                group(4, 3, &["r"], "null"),
                sort_by(5, 4, &["r"]),
                release(9, 5, &["r", "n", "most", "low"], true),
            ],
        ),
        case(
            "distinct",
            true,
            vec![
                t(),
                kept(3),
                distinct(4, 3, &["u", "k"]),
                sort_by(5, 4, &["u", "k"]),
                release(9, 5, &["u", "k"], true),
            ],
        ),
        case(
            "distinct, in another order",
            true,
            vec![
                t(),
                kept(3),
                distinct(4, 3, &["u", "k"]),
                sort_by(5, 4, &["k", "u"]),
                release(9, 5, &["u", "k"], true),
            ],
        ),
        case(
            "first rows in an order",
            true,
            vec![
                t(),
                kept(3),
                distinct(4, 3, &["u", "k"]),
                with(&sort_by(5, 4, &["k", "u"]), "first", serde_json::json!(4)),
                limit(6, 5, 3, 1),
                release(9, 6, &["u", "k"], true),
            ],
        ),
        case(
            "group twice",
            true,
            vec![
                t(),
                kept(3),
                group(4, 3, &["k", "b"], "null"),
                again(5, 4),
                sort_by(6, 5, &["k"]),
                release(9, 6, &["k", "groups", "all"], true),
            ],
        ),
        case("group by hash", false, vec![t(), kept(3), by_hash(4, 3), release(9, 4, &["name", "n"], false)]),
        case(
            "any of a ring",
            true,
            vec![
                t(),
                kept(3),
                two_columns(4, 3, ("k", &bits(4, true, true)), ("k", &ring64(4, true))),
                any_y(5, 4),
                sort_by(6, 5, &["x"]),
                release(9, 6, &["x", "any"], true),
            ],
        ),
        case("aggregate", false, vec![t(), kept(3), aggregate(4, 3), release(9, 4, &AGGREGATED, false)]),
        case("aggregate some", false, vec![t(), kept(3), conditional(4, 3), release(9, 4, &CONDITIONAL, false)]),
        case("aggregate some of all", false, vec![t(), conditional(4, 1), release(9, 4, &CONDITIONAL, false)]),
        case("aggregate all", false, vec![t(), aggregate(4, 1), release(9, 4, &AGGREGATED, false)]),
        case(
            "broadcast",
            false,
            vec![
                t(),
                kept(3),
                aggregate(4, 3),
                only(6, 3),
                broadcast(5, 6, 4),
                release(9, 5, &["id", "n", "total", "least"], false),
            ],
        ),
        case(
            "broadcast of none",
            false,
            vec![
                t(),
                kept(3),
                distinct(4, 3, &["u"]),
                sort_by(6, 4, &["u"]),
                limit(8, 6, 1, 0),
                only(7, 1),
                broadcast(5, 7, 8),
                release(9, 5, &["id", "u"], false),
            ],
        ),
        case("sort", true, vec![t(), kept(3), sort(4, 3), release(9, 4, &ALL, true)]),
        case("sort and limit", true, vec![t(), kept(3), sort(4, 3), limit(5, 4, 5, 2), release(9, 5, &ALL, true)]),
        case("limit", false, vec![t(), kept(3), sort(4, 3), limit(5, 4, 7, 0), release(9, 5, &["id"], false)]),
        case(
            "filter after sort",
            false,
            vec![t(), sort(3, 1), filter(4, 3, &col("keep")), release(9, 4, &["id"], false)],
        ),
    ];
    out.extend(joins(padded));
    out.extend(merged_joins(padded));
    out.extend(outer_joins(padded));
    out.extend(joins_of_repeated_keys(padded));
    out.extend(group_joins(padded));
    out.extend(trusted(padded));
    out.extend(windows(padded, &FEW));
    out.extend(resizes(padded));
    out
}

/// Joins of tables that their owners sorted, the left one with keys that are unique in all its rows.
fn merged_joins(padded: Option<usize>) -> Vec<Case> {
    let case = |name, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered: false };
    let sorted = |input: String, by: &[&str]| with(&input, "sorted_by", serde_json::json!(by));
    let merged = |join: String| with(&join, "merged", serde_json::json!(true));
    let (t, l) = (|by: &[&str]| sorted(input_table(padded), by), |by: &[&str]| sorted(input_distinct(padded), by));
    vec![
        case(
            "merged join",
            vec![
                t(&["k"]),
                l(&["lk"]),
                filter(3, 1, &col("keep")),
                filter(4, 6, &col("lkeep")),
                merged(join(5, 4, 3, &["lk"], &["k"], &["lk", "p", "w"], &["id", "v", "r", "k"])),
                release(9, 5, &["lk", "p", "w", "id", "v", "r", "k"], false),
            ],
        ),
        case(
            "merged join on hash",
            vec![
                t(&["h"]),
                l(&["lh"]),
                merged(join(5, 6, 1, &["lh"], &["h"], &["p", "w"], &["id"])),
                release(9, 5, &["id", "p", "w"], false),
            ],
        ),
        case(
            "merged join on bits, bytes and ring",
            vec![
                t(&["k", "s", "r"]),
                l(&["l3", "ls", "lr"]),
                merged(join(5, 6, 1, &["l3", "ls", "lr"], &["k", "s", "r"], &["p", "lr"], &["id"])),
                release(9, 5, &["id", "p", "lr"], false),
            ],
        ),
        case(
            "limit of a sorted input",
            vec![t(&["u", "b"]), sort_by(4, 1, &["u"]), limit(5, 4, 4000, 0), release(9, 5, &["id", "u"], false)],
        ),
    ]
}

/// Joins that keep rows without a match, of both methods; and pairs.
fn outer_joins(padded: Option<usize>) -> Vec<Case> {
    let case = |name, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered: false };
    let sorted = |input: String, by: &[&str]| with(&input, "sorted_by", serde_json::json!(by));
    let kept = |join: String, sides: &str| with(&join, "kept", serde_json::json!(sides));
    let found = |join: String| with(&join, "found", serde_json::json!("found"));
    let merged = |join: String| with(&join, "merged", serde_json::json!(true));
    let columns = ["lk", "p", "w", "id", "v", "r", "k"];
    let by_k = || join(5, 4, 3, &["lk"], &["k"], &["lk", "p", "w"], &["id", "v", "r", "k"]);
    let of_sorted = |name, sides: &str| {
        let tables = [input_table(padded), input_unique(padded)];
        let filters = [filter(3, 1, &col("keep")), filter(4, 2, &col("lkeep"))];
        let steps = [kept(by_k(), sides), release(9, 5, &columns, false)];
        case(name, tables.into_iter().chain(filters).chain(steps).collect())
    };
    let of_merged = |name, sides: &str| {
        let tables = [sorted(input_table(padded), &["k"]), sorted(input_distinct(padded), &["lk"])];
        let filters = [filter(3, 1, &col("keep")), filter(4, 6, &col("lkeep"))];
        let join = merged(found(kept(by_k(), sides)));
        let steps = [join, release(9, 5, &[&columns[..], &["found"]].concat(), false)];
        case(name, tables.into_iter().chain(filters).chain(steps).collect())
    };
    vec![
        of_sorted("join with left kept", "left"),
        of_sorted("join with right kept", "right"),
        of_sorted("join with both kept", "both"),
        of_merged("merged join with left kept", "left"),
        of_merged("merged join with right kept", "right"),
        of_merged("merged join with both kept", "both"),
        case(
            "join on ring with both kept",
            vec![
                input_table(padded),
                distinct(3, 1, &["r"]),
                project_one(4, 3, "r", "gr", &ring64(20, true)),
                found(kept(join(5, 4, 1, &["gr"], &["r"], &["gr"], &["id", "s"]), "both")),
                release(9, 5, &["id", "gr", "s", "found"], false),
            ],
        ),
        case(
            "mark",
            vec![
                input_table(padded),
                input_unique(padded),
                filter(4, 2, &col("lkeep")),
                found(kept(join(5, 4, 1, &["lk"], &["k"], &[], &["id", "k"]), "right")),
                release(9, 5, &["id", "k", "found"], false),
            ],
        ),
        case(
            "pairs",
            vec![
                input_table(padded),
                input_unique(padded),
                filter(3, 1, &col("keep")),
                distinct(4, 3, &["b"]),
                pairs(5, 4, 2),
                release(9, 5, &["b", "lk", "w"], false),
            ],
        ),
    ]
}

/// The joins that sort, and groups, by a party that sees the keys.
fn trusted(padded: Option<usize>) -> Vec<Case> {
    let case = |name, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered: false };
    let (t, kept) = (|| input_table(padded), |id: usize| filter(id, 1, &col("keep")));
    let mut cases: Vec<Case> = joins(padded).into_iter().chain(outer_joins(padded)).collect();
    cases.extend([
        case("groups", vec![t(), kept(3), plain_group(4, 3, &["k", "b"], "null"), release(9, 4, &PLAIN, false)]),
        case("groups of all rows", vec![t(), plain_group(4, 1, &["k", "b"], "30"), release(9, 4, &PLAIN, false)]),
        case("groups by hash", vec![t(), kept(3), by_hash(4, 3), release(9, 4, &["name", "n"], false)]),
        case("groups on ring", vec![t(), kept(3), distinct(4, 3, &["r", "q"]), release(9, 4, &["r", "q"], false)]),
    ]);
    cases.into_iter().filter_map(by_bob).collect()
}

/// The same where bob sees the keys of every step that can do with it; None if there is none.
fn by_bob(case: Case) -> Option<Case> {
    let (mut plan, mut changed) = (case.plan, 0);
    for operator in &mut plan.operators {
        match operator {
            Operator::Join(join) if !join.merged => join.trusted = Some("bob".into()),
            Operator::GroupBy(group) if group.aggregates.iter().all(|each| is_plain(each.function)) => {
                group.trusted = Some("bob".into());
            }
            _ => continue,
        }
        changed += 1;
    }
    let name = || String::leak(format!("trusted: {}", case.name));
    (changed > 0).then(|| Case { name: name(), plan, ordered: case.ordered })
}

/// Whether a function needs no order of values.
fn is_plain(function: AggregateFunction) -> bool {
    use AggregateFunction::{Any, Count, CountRows, Sum};
    matches!(function, Any | Count | CountRows | Sum)
}

/// Joins whose left keys repeat, of both methods: in two tables together, and within one.
fn joins_of_repeated_keys(padded: Option<usize>) -> Vec<Case> {
    let case = |name, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered: false };
    let sorted = |input: String, by: &[&str]| with(&input, "sorted_by", serde_json::json!(by));
    let up_to = |join: String, repeats: usize| with(&join, "repeats", serde_json::json!(repeats));
    let kept = |join: String| with(&join, "kept", serde_json::json!("right"));
    let found = |join: String| with(&join, "found", serde_json::json!("found"));
    let merged = |join: String| with(&join, "merged", serde_json::json!(true));
    let of_two = |name, change: &dyn Fn(String) -> String, shown: &[&str]| {
        let tables = [input_table(padded), input_unique(padded), input_distinct(padded)];
        let filters = [filter(3, 1, &col("keep")), filter(4, 2, &col("lkeep"))];
        let columns = [("lk", bits(6, true, true)), ("p", bits(10, true, true)), ("w", ring64(20, false))];
        let columns = columns.map(|(name, kind)| format!(r#"{{"name":"{name}","kind":{kind}}}"#)).join(",");
        let union = format!(r#"{{"id":7,"op":"union","inputs":[4,6,6],"columns":[{columns}]}}"#);
        let join = join(5, 7, 3, &["lk"], &["k"], &["p", "w", "lk"], &["id", "v", "r", "k"]);
        let steps = [union, change(join), release(9, 5, shown, false)];
        case(name, tables.into_iter().chain(filters).chain(steps).collect())
    };
    let of_one = |name, change: &dyn Fn(String) -> String, shown: &[&str]| {
        let tables = [sorted(input_table(padded), &["k", "r"]), sorted(input_distinct(padded), &["l3", "lr"])];
        let filters = [filter(3, 1, &col("keep")), filter(4, 6, &col("lkeep"))];
        let join = join(5, 4, 3, &["l3", "lr"], &["k", "r"], &["p", "lr", "ls"], &["id", "s", "q"]);
        let steps = [merged(change(join)), release(9, 5, shown, false)];
        case(name, tables.into_iter().chain(filters).chain(steps).collect())
    };
    let (two, one) = (["lk", "p", "w", "id", "v", "r", "k"], ["p", "lr", "ls", "id", "s", "q"]);
    vec![
        of_two("join of repeated keys", &|join| up_to(join, 3), &two),
        of_two("join of repeated keys with right kept", &|join| kept(up_to(join, 4)), &two),
        of_one("merged join of repeated keys", &|join| up_to(join, 7), &one),
        of_one(
            "merged join of repeated keys with right kept",
            &|join| found(kept(up_to(join, 7))),
            &[&one[..], &["found"]].concat(),
        ),
    ]
}

/// Rows with sums of those that they match: of those that match any, and of all.
fn group_joins(padded: Option<usize>) -> Vec<Case> {
    let case = |name, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered: false };
    let kept = |join: String| with(&join, "kept", serde_json::json!(true));
    let shown = |columns: &[&str]| release(9, 5, &[columns, &JOINED].concat(), false);
    let by_k = |name, change: &dyn Fn(String) -> String| {
        let tables = [input_table(padded), input_unique(padded)];
        let filters = [filter(3, 1, &col("keep")), filter(4, 2, &col("lkeep"))];
        let join = change(group_join(5, 4, 3, &["lk"], &["k"], &["lk", "p", "w"]));
        case(name, tables.into_iter().chain(filters).chain([join, shown(&["lk", "p", "w"])]).collect())
    };
    let of_all = |name, change: &dyn Fn(String) -> String| {
        let join = change(group_join(5, 6, 1, &["l3", "ls", "lr"], &["k", "s", "r"], &["lr", "p"]));
        case(name, vec![input_table(padded), input_distinct(padded), join, shown(&["lr", "p"])])
    };
    vec![
        by_k("group join", &|join| join),
        by_k("group join with left kept", &kept),
        of_all("group join of all rows, on bits, bytes and ring", &|join| join),
        of_all("group join of all rows, left ones kept", &kept),
        case(
            "group join on hash, without columns of left",
            vec![
                input_table(padded),
                input_distinct(padded),
                kept(group_join(5, 6, 1, &["lh"], &["h"], &[])),
                shown(&[]),
            ],
        ),
        case(
            "group join on ring",
            vec![
                input_table(padded),
                distinct(3, 1, &["r"]),
                project_one(4, 3, "r", "gr", &ring64(20, true)),
                group_join(5, 4, 1, &["gr"], &["r"], &["gr"]),
                shown(&["gr"]),
            ],
        ),
    ]
}

fn joins(padded: Option<usize>) -> Vec<Case> {
    let t = || input_table(padded);
    let l = || input_unique(padded);
    let case = |name, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered: false };
    let by_k = join(5, 4, 3, &["lk"], &["k"], &["lk", "p", "w"], &["id", "v", "r", "k"]);
    let columns = ["lk", "p", "w", "id", "v", "r", "k"];
    vec![
        case(
            "join",
            vec![
                t(),
                l(),
                filter(3, 1, &col("keep")),
                filter(4, 2, &col("lkeep")),
                by_k,
                release(9, 5, &columns, false),
            ],
        ),
        case(
            "join on hash",
            vec![
                t(),
                l(),
                join(5, 2, 1, &["lh"], &["h"], &["p", "w"], &["id"]),
                release(9, 5, &["id", "p", "w"], false),
            ],
        ),
        case(
            "join on two",
            vec![
                t(),
                group(3, 1, &["b", "k"], "null"),
                renamed_group(4, 3),
                join(5, 4, 1, &["gb", "gk"], &["b", "k"], &["n", "total", "gk"], &["id", "u"]),
                release(9, 5, &["id", "n", "total", "u", "gk"], false),
            ],
        ),
        case(
            "join on ring",
            vec![
                t(),
                distinct(3, 1, &["r"]),
                project_one(4, 3, "r", "gr", &bits(20, true, true)),
                join(5, 4, 1, &["gr"], &["r"], &["gr"], &["id"]),
                release(9, 5, &["id", "gr"], false),
            ],
        ),
    ]
}
