"""Floors: how many rows each row of a relation stands for at least, by the query's own conditions on counts.

``HAVING COUNT(*) >= 10`` says that each group has ten rows at least. What is counted are rows of tables, whoever owns
them: ten rows can be of one person, and of one row of a table that was joined to ten others.
"""

from __future__ import annotations

from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Literal,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
)


@once
def least_rows(relation: Relation) -> int:
    """No row stands for fewer rows of tables. Of a total over all rows that is zero: there may be none."""
    match relation:
        case Scan() | KeptScan() | Opened():
            return 1
        case Constants():
            return 0
        case Filter(input, predicate):
            return max([least_rows(input), *(_least(each, input) for each in conjuncts(predicate))])
        case Project(input) | Window(input) | Sort(input) | Limit(input) | Mark(input) | Slice(input):
            return least_rows(input)
        case Aggregate(input, keys, _):
            return least_rows(input) if keys else 0
        case Union(inputs):
            return min(map(least_rows, inputs))
        case Join(left, right) | FullJoin(left, right) | Match(left, right) | Pairs(left, right):
            return min(least_rows(left), least_rows(right))
        case Broadcast(input, scalar):
            return min(least_rows(input), least_rows(scalar))


def _least(condition: Expr, input: Relation) -> int:
    """How many rows each row that fulfils a condition stands for at least."""
    match condition:
        case Call("ge" | "eq", (count, Literal(int(least)))) | Call("le" | "eq", (Literal(int(least)), count)):
            return least if _counts(count, input) else 0
        case Call("gt", (count, Literal(int(least)))) | Call("lt", (Literal(int(least)), count)):
            return least + 1 if _counts(count, input) else 0
        case _:
            return 0


def _counts(expr: Expr, input: Relation) -> bool:
    """Whether an expression is never more than the number of rows that a row of its input stands for."""
    match expr:
        case ColumnRef(name):
            return _is_count(input, name)
        case Literal(value):
            return isinstance(value, int) and value <= least_rows(input)
        case Call("cast", (inner,)):
            return _counts(inner, input)
        case Call("if", (_, then, otherwise)):
            return _counts(then, input) and _counts(otherwise, input)
        case Call():
            return False


def _is_count(relation: Relation, name: str) -> bool:
    """The same of a column."""
    match relation:
        case Scan() | KeptScan() | Constants() | Opened():
            return False
        case Filter(input, _) | Sort(input, _) | Limit(input, _, _) | Slice(input):
            return _is_count(input, name)
        case Project(input, outputs):
            return _counts(dict(outputs)[name], input)
        case Union(inputs):
            return all(_is_count(each, name) for each in inputs)
        case Join() | FullJoin() | Match() | Broadcast() | Mark() | Pairs():
            return False
        case Window(input, _, _, outputs):
            return all(each.name != name for each in outputs) and _is_count(input, name)
        case Aggregate(input, keys, aggregations):
            if name in keys:
                return _is_count(input, name)
            return any(_adds_up(each.function, each.column, input) for each in aggregations if each.name == name)


def _adds_up(function: str, column: str | None, input: Relation) -> bool:
    """Whether an aggregate counts rows of a group, or adds up counts of them."""
    match function:
        case "count" | "count_rows" | "count_distinct":
            return least_rows(input) >= 1
        case _:
            return column is not None and _is_count(input, column)
