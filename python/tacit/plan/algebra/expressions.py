"""Helpers on typed expressions that the passes share: conjunctions, substitution, what needs clear computation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from tacit.plan.algebra.functions import is_function
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Field, Integer, Timestamp

FEW = 32
"""Conditions that are joined one behind the other. Passes go down a tree one call a level; more are halved before."""


def joined(op: Operator, conditions: Sequence[Expr], position: Position | None = None) -> Expr:
    """Conditions joined by AND or OR, at least one: a tree whose depth hardly grows with their number."""
    if len(conditions) <= FEW:
        return reduce(lambda a, b: Call(op, (a, b), Boolean(), a.nullable or b.nullable, position), conditions)
    middle = len(conditions) // 2
    return joined(op, [joined(op, each, position) for each in (conditions[:middle], conditions[middle:])], position)


def conjunction(conditions: Sequence[Expr]) -> Expr:
    """All conditions joined by AND (TRUE if there are none)."""
    return joined("and", conditions) if conditions else Literal(True, Boolean())


def conjuncts(condition: Expr) -> list[Expr]:
    """The conditions that AND joins."""
    if isinstance(condition, Call) and condition.op == "and":
        return [each for arg in condition.args for each in conjuncts(arg)]
    return [condition]


def substitute(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """The expression with columns replaced by expressions; columns that are not named stay."""
    match expr:
        case ColumnRef(name):
            return columns.get(name, expr)
        case Literal():
            return expr
        case Call():
            return replace(expr, args=tuple(substitute(arg, columns) for arg in expr.args))


def with_nulls(expr: Expr) -> Expr:
    """The same expression where its columns may be NULL."""
    match expr:
        case ColumnRef():
            return replace(expr, nullable=True)
        case Literal():
            return expr
        case Call("is_null"):
            return replace(expr, args=tuple(map(with_nulls, expr.args)))
        case Call("if", (condition, *branches)):
            args = with_nulls(condition), *map(with_nulls, branches)
            return replace(expr, args=args, nullable=any(each.nullable for each in args[1:]))
        case Call():
            return replace(expr, args=tuple(map(with_nulls, expr.args)), nullable=True)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it."""
    yield expr
    if isinstance(expr, Call):
        for arg in expr.args:
            yield from subexpressions(arg)


def is_clear_only(expr: Expr) -> bool:
    """Whether the expression needs DOUBLEs, rounding or a function, which a party computes in clear if one can."""
    return any(_is_of_one_party(each) for each in subexpressions(expr))


def is_better_in_clear(expr: Expr) -> bool:
    """Whether one party computes the expression at less cost than nodes, if they can at all."""
    return is_clear_only(expr) or any(isinstance(each, Call) and each.op == "rounded" for each in subexpressions(expr))


def _is_of_one_party(expr: Expr) -> bool:
    return isinstance(expr.type, Double) or is_rounding(expr) or is_function(expr) or _is_told(expr)


def _is_told(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.op in ("half", "numerator", "denominator")


def is_rounding(expr: Expr) -> bool:
    """Whether the expression is a number cast to fewer digits after the point, or a moment cast to its day."""
    match expr:
        case Call("cast", (inner,), Integer() | Decimal()) if isinstance(inner.type, Double):
            return True
        case Call("cast", (inner,), Integer()):
            return isinstance(inner.type, Decimal) and inner.type.scale > 0
        case Call("cast", (inner,), Decimal(_, scale)):
            return isinstance(inner.type, Decimal) and scale < inner.type.scale
        case Call("cast", (inner,), Date()):
            return isinstance(inner.type, Timestamp)
        case _:
            return False


def reference(field: Field) -> ColumnRef:
    """A reference to a field."""
    return ColumnRef(field.name, field.type, field.nullable)
