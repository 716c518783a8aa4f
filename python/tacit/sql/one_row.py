"""Subqueries that are one aggregate over all their rows: a relation of one row, and a value over it."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.expressions import conjuncts
from tacit.plan.algebra.relations import (
    Aggregate,
    Call,
    ColumnRef,
    Expr,
    Filter,
    Limit,
    Literal,
    Project,
    Relation,
    Sort,
)
from tacit.sql.flattening import beneath
from tacit.sql.joins import is_single_row

_STRICT = ("add", "sub", "mul", "neg", "rescale", "cast", "div", "average")


@dataclass(frozen=True)
class OneRow:
    """A relation of one row, a value over it, and the conditions (of HAVING) without which the value is NULL."""

    base: Relation
    value: Expr
    present: tuple[Expr, ...]


def one_row(relation: Relation, value: Expr) -> OneRow | None:
    """A value over a relation as one over the aggregate beneath, None if the relation may have several rows."""
    present: tuple[Expr, ...] = ()
    while True:
        match relation:
            case Project(input, outputs) if (found := beneath((value, *present), outputs)) is not None:
                value, *tests = found
                relation, present = input, tuple(tests)
            case Filter(input, predicate):
                present = (*conjuncts(predicate), *present)
                relation = input
            case Sort(input, _):
                relation = input
            case Limit(input, count, 0) if count != 0:
                relation = input
            case _:
                return OneRow(relation, value, present) if is_single_row(relation) else None


def without_outputs(relation: Relation) -> Relation:
    """A relation with rows if and only if the given one has some."""
    match relation:
        case Project(input, _) | Sort(input, _):
            return without_outputs(input)
        case Limit(input, count, 0) if count != 0:
            return without_outputs(input)
        case Aggregate(input, keys, _) if keys:
            return without_outputs(input)
        case _:
            return relation


def is_null_without_rows(one: OneRow) -> bool:
    """Whether the value of an aggregate over no rows is NULL."""
    if not isinstance(one.base, Aggregate):
        return False
    nulls = {each.name for each in one.base.aggregations if not each.function.startswith("count")}
    return _is_null(one.value, nulls)


def _is_null(expr: Expr, nulls: set[str]) -> bool:
    match expr:
        case ColumnRef(name):
            return name in nulls
        case Literal(value):
            return value is None
        case Call(op, args):
            return op in _STRICT and any(_is_null(each, nulls) for each in args)
