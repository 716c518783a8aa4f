"""Columns that have one value in all rows of a relation, because a condition sets them equal to a constant."""

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
from tacit.plan.facts.fields import columns_of

Names = frozenset[str]


@once
def constant_columns(relation: Relation) -> Names:
    """The columns that tell no two rows apart."""
    match relation:
        case Filter(input, predicate):
            return constant_columns(input) | _set_equal(predicate)
        case Project(input, outputs):
            known = constant_columns(input)
            return frozenset(name for name, each in outputs if columns_of(each) <= known)
        case Window(input) | Sort(input) | Limit(input) | Mark(input) | Slice(input):
            return constant_columns(input)
        case Aggregate(input, keys):
            return constant_columns(input) & frozenset(keys)
        case Join(left, right):
            mine = Names() if relation.keeps_right else constant_columns(left)
            return mine | (Names() if relation.keeps_left else constant_columns(right))
        case Pairs(left, right) | Match(left, right) | Broadcast(left, right):
            return constant_columns(left) | constant_columns(right)
        case Scan() | KeptScan() | Constants() | Opened() | Union() | FullJoin():
            return Names()


def _set_equal(predicate: Expr) -> Names:
    return Names(
        each.name
        for condition in conjuncts(predicate)
        if isinstance(condition, Call) and condition.op == "eq"
        for each, other in (condition.args, condition.args[::-1])
        if isinstance(each, ColumnRef) and isinstance(other, Literal)
    )
