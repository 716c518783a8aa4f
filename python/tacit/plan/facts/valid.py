"""How many rows of a relation can be valid: fewer than it has, where conditions ask that a group counts many rows.

Of n rows no more than n / 10 groups have ten. Rows that are no longer valid stay in a shared table, so that what it
says is of use where rows are opened.
"""

from __future__ import annotations

from tacit.plan.algebra.expressions import conjuncts, substitute
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
from tacit.plan.facts.fields import added, columns_of, least, names, row_bound

COUNTS = ("count_rows", "count", "count_distinct")
"""Functions of which no value is more than the number of a group's rows."""


@once
def valid_bound(relation: Relation) -> int | None:
    """A public upper bound on the number of valid rows, or None where a table beneath declares none."""
    match relation:
        case Filter(input, predicate):
            bounds = [_groups(each, input) for each in conjuncts(predicate)]
            return min((each for each in (valid_bound(input), *bounds) if each is not None), default=None)
        case Project() | Sort() | Broadcast() | Mark() | Window() | Slice():
            return valid_bound(relation.input)
        case Union(inputs, most):
            return least(added([valid_bound(each) for each in inputs]), most)
        case Limit(input, count, _):
            return least(valid_bound(input), count)
        case Scan() | KeptScan() | Constants() | Opened() | Join() | FullJoin() | Match() | Pairs() | Aggregate():
            return row_bound(relation)


def _groups(condition: Expr, relation: Relation) -> int | None:
    """How many rows of a relation at most fulfil a condition that says how many rows a group counts; else None."""
    match relation:
        case Filter(input, _) | Sort(input, _):
            return _groups(condition, input)
        case Project(input, outputs):
            found = [_groups(each, input) for each in conjuncts(substitute(condition, dict(outputs)))]
            return min((each for each in found if each is not None), default=None)
        case Broadcast(input, _):
            return _groups(condition, input) if columns_of(condition) <= set(names(input)) else None
        case Aggregate():
            return _of_aggregate(condition, relation)
        case _:
            return None


def _of_aggregate(condition: Expr, relation: Aggregate) -> int | None:
    """The same of an aggregation: each group takes as many rows of the input as it counts."""
    counted, rows = _counted(condition), row_bound(relation.input)
    if counted is None or rows is None or counted[1] < 1:
        return None
    name, number = counted
    return (
        rows // number if any(each.name == name and each.function in COUNTS for each in relation.aggregations) else None
    )


def _counted(condition: Expr) -> tuple[str, int] | None:
    """A column, and what it is at least by a condition."""
    match condition:
        case Call("ge" | "eq", (ColumnRef(name), Literal(int(least)))) | Call(
            "le" | "eq", (Literal(int(least)), ColumnRef(name))
        ):
            return name, least
        case Call("gt", (ColumnRef(name), Literal(int(least)))) | Call("lt", (Literal(int(least)), ColumnRef(name))):
            return name, least + 1
        case _:
            return None
