"""Roundings of averages and quotients as exact ones, which nodes compute (tacit.plan.algebra.fractions)."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra import bounds
from tacit.plan.algebra.fractions import Means, quotient, rounded, rounding
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    Limit,
    Mark,
    Pairs,
    Project,
    Relation,
    Sort,
    Window,
)
from tacit.plan.algebra.types import Decimal, Double, Integer, Type
from tacit.plan.facts.fields import field_of


def exactly(expr: Expr, means: Means) -> Expr:
    """The expression with exact roundings, where there are any. means: see ``means_of``."""
    if not isinstance(expr, Call):
        return expr
    expr = replace(expr, args=tuple(exactly(each, means) for each in expr.args))
    of = rounding(expr)
    found = None if of is None else quotient(of.value, means)
    number = None if of is None or found is None else rounded(found, of.mode, of.places)
    if number is None:
        return expr
    return Call("cast", (number,), _with_bounds(expr.type, number.type), expr.nullable, expr.position)


def means_of(relation: Relation) -> Means:
    """The bounds of what sums add up, by the names of the sums' columns."""
    match relation:
        case Aggregate(input, _, aggregations):
            types = {
                each.name: field_of(input, each.column).type
                for each in aggregations
                if each.column is not None and each.function in ("sum", "sum_distinct") and each.known is None
            }
            return {name: bounds.range_of(type_) for name, type_ in types.items()}
        case Project(input, outputs):
            below = means_of(input)
            columns = {name: each.name for name, each in outputs if isinstance(each, ColumnRef)}
            return {name: below[column] for name, column in columns.items() if column in below}
        case Filter() | Sort() | Limit() | Window() | Mark():
            return means_of(relation.input)
        case Join(left, right) | Pairs(left, right) | FullJoin(left, right):
            return {**means_of(left), **means_of(right)}
        case Broadcast(input, scalar):
            return {**means_of(input), **means_of(scalar)}
        case _:
            return {}


def _with_bounds(type_: Type, number: Type) -> Type:
    assert isinstance(type_, Double | Integer | Decimal), "numbers are rounded to these"
    return type_ if isinstance(type_, Double) else bounds.with_range(type_, bounds.range_of(number))
