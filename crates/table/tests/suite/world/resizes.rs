//! Plans in which padding is dropped.

use super::Plan;
use super::cases::Case;
use super::steps::*;

/// More than there are different values of 4 bits and NULL.
const MOST: &str = "17";

/// By a bound that the plan knows, and by the number of valid rows.
pub fn resizes(padded: Option<usize>) -> Vec<Case> {
    let t = || input_table(padded);
    let kept = |id: usize, input: usize| filter(id, input, &col("keep"));
    let case = |name, ordered, operators: Vec<String>| Case { name, plan: Plan::new(&operators), ordered };
    vec![
        case(
            "resize by a bound",
            false,
            vec![
                t(),
                distinct(3, 1, &["k", "keep"]),
                kept(4, 3),
                resize(5, 4, MOST),
                release(9, 5, &["k", "keep"], false),
            ],
        ),
        case(
            "resize by a bound of groups that come first",
            true,
            vec![
                t(),
                kept(3, 1),
                distinct(4, 3, &["k"]),
                resize(5, 4, MOST),
                sort_by(6, 5, &["k"]),
                release(9, 6, &["k"], true),
            ],
        ),
        case(
            "resize by a number",
            false,
            vec![
                t(),
                input_unique(padded),
                kept(3, 1),
                resize(4, 3, "null"),
                filter(5, 2, &col("lkeep")),
                join(6, 5, 4, &["lk"], &["k"], &["lk", "p", "w"], &["id", "v", "r", "q", "s"]),
                resize(7, 6, "null"),
                release(9, 7, &["id", "lk", "p", "w", "v", "r", "q", "s"], false),
            ],
        ),
        case(
            "resize by the number of all rows, and of groups",
            true,
            vec![
                t(),
                resize(3, 1, "null"),
                kept(4, 3),
                group(5, 4, &["k", "b"], "null"),
                resize(6, 5, "null"),
                sort_by(7, 6, &["k", "b"]),
                release(9, 7, &["k", "b", "n"], true),
            ],
        ),
    ]
}
