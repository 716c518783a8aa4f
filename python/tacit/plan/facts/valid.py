"""How many rows of a relation can be valid: fewer than it has under MPC, where rows that are not valid stay.

Of n rows no more than n / 10 groups have ten. A join has no more rows than those of one side find partners for: where
keys are unique on both sides, no more than the smaller side. It is of use where rows are opened, and where padding is
dropped.
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
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import added, columns_of, least, multiplied, names, row_bound
from tacit.plan.facts.groups import most_groups
from tacit.plan.facts.multiplicity import most_equal

COUNTS = ("count_rows", "count", "count_distinct")
"""Functions of which no value is more than the number of a group's rows."""


@once
def valid_bound(relation: Relation, catalog: Catalog) -> int | None:
    """A public upper bound on the number of valid rows, or None where a table beneath declares none."""
    return least(row_bound(relation), _by_operator(relation, catalog))


def _by_operator(relation: Relation, catalog: Catalog) -> int | None:
    match relation:
        case Filter(input, predicate):
            bounds = [_groups(each, input, catalog) for each in conjuncts(predicate)]
            return min((each for each in (valid_bound(input, catalog), *bounds) if each is not None), default=None)
        case Project() | Sort() | Broadcast() | Mark() | Window() | Slice():
            return valid_bound(relation.input, catalog)
        case Union(inputs, most):
            return least(added([valid_bound(each, catalog) for each in inputs]), most)
        case Limit(input, count, _):
            return least(valid_bound(input, catalog), count)
        case Join(kept="none") | Match():
            return _matched(relation, catalog)
        case Join(left, right):
            matched = multiplied(valid_bound(right, catalog), relation.repeats)
            return added([valid_bound(left, catalog), matched]) if relation.keeps_left else matched
        case FullJoin(left, right):
            return added([valid_bound(left, catalog), valid_bound(right, catalog)])
        case Pairs(left, right):
            return multiplied(valid_bound(left, catalog), valid_bound(right, catalog))
        case Aggregate(input, keys) if keys:
            return least(valid_bound(input, catalog), most_groups(relation))
        case Scan() | KeptScan() | Constants() | Opened() | Aggregate():
            return None


def _matched(join: Join | Match, catalog: Catalog) -> int | None:
    """Each row of one side, beside as many of the other as can have its key."""
    repeats = join.repeats if isinstance(join, Join) else 1
    partners = most_equal(join.right, frozenset(join.right_keys), catalog)
    of_left = multiplied(valid_bound(join.left, catalog), partners)
    return least(multiplied(valid_bound(join.right, catalog), repeats), of_left)


def _groups(condition: Expr, relation: Relation, catalog: Catalog) -> int | None:
    """How many rows of a relation at most fulfil a condition that says how many rows a group counts; else None."""
    match relation:
        case Filter(input, _) | Sort(input, _):
            return _groups(condition, input, catalog)
        case Project(input, outputs):
            found = [_groups(each, input, catalog) for each in conjuncts(substitute(condition, dict(outputs)))]
            return min((each for each in found if each is not None), default=None)
        case Broadcast(input, _):
            return _groups(condition, input, catalog) if columns_of(condition) <= set(names(input)) else None
        case Aggregate():
            return _of_aggregate(condition, relation, catalog)
        case _:
            return None


def _of_aggregate(condition: Expr, relation: Aggregate, catalog: Catalog) -> int | None:
    """The same of an aggregation: each group takes as many rows of the input as it counts."""
    counted, rows = _counted(condition), valid_bound(relation.input, catalog)
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
