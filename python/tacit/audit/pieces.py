"""To which rows' values an aggregate's argument is a sum: its branches and where it is not NULL.

``SUM(CASE WHEN vip THEN revenue ELSE 0 END)`` adds up over the rows with ``vip`` alone. Each branch is a piece with the
rows of its own, and what the query shows is a linear combination of the sums over pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from tacit.plan.algebra.expressions import conjunction
from tacit.plan.algebra.relations import AggregateFunction, Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean

Columns = frozenset[str]


@dataclass(frozen=True)
class Piece:
    """A part of a sum. condition: of its rows, None for all. reads: columns of the table that it is computed from.

    inner: the sum is over the rows of a unit first, so that no guard asks how many units fulfil the condition.
    """

    condition: Expr | None
    reads: Columns
    inner: bool = False


Pieces = tuple[Piece, ...]


def pieces(expr: Expr, known: Mapping[str, Pieces]) -> Pieces:
    """The pieces of an expression, from those of the columns in it."""
    match expr:
        case ColumnRef(name):
            return known[name]
        case Literal(value):
            return () if value in (None, 0, False) else (Piece(None, frozenset()),)
        case Call("if", (condition, then, otherwise)):
            return (*_where(condition, pieces(then, known)), *_where(_not_true(condition), pieces(otherwise, known)))
        case Call("cast", (inner,)) if isinstance(inner.type, Boolean):
            return _where(inner, (Piece(None, frozenset().union(*(each.reads for each in pieces(inner, known)))),))
        case Call("mul", (left, right)):
            both = product(pieces(left, known), pieces(right, known))
            return tuple(_both(a, b) for a, b in both)
        case Call(_, args):
            found = tuple(each for arg in args for each in pieces(arg, known))
            return _where(not_null(expr), found) if expr.nullable else found


def aggregated(function: AggregateFunction, argument: Pieces, there: Piece) -> Pieces:
    """The pieces of an aggregate. there: where its argument is not NULL, as far as the owner knows.

    Only in sums are zeros as good as nothing.
    """
    return argument if function == "sum" else (there,) if function == "count" else (*argument, there)


def not_null(expr: Expr) -> Expr:
    """Whether a value is there."""
    return Call("not", (Call("is_null", (expr,), Boolean(), False),), Boolean(), False)


def _not_true(condition: Expr) -> Expr:
    yes, no = Literal(True, Boolean()), Literal(False, Boolean())
    return Call("if", (condition, no, yes), Boolean(), False)


def _where(condition: Expr, found: Pieces) -> Pieces:
    return tuple(replace(each, condition=_and(condition, each.condition)) for each in found)


def _both(a: Piece, b: Piece) -> Piece:
    condition = a.condition if b.condition is None else _and(b.condition, a.condition)
    return Piece(condition, a.reads | b.reads, a.inner or b.inner)


def _and(a: Expr, b: Expr | None) -> Expr:
    return a if b is None else conjunction([a, b])
