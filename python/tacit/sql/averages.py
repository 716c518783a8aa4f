"""Comparisons of averages with exact numbers, as comparisons of sums with multiples of counts, which MPC can make.

DuckDB compares DOUBLEs: the average, perhaps times a constant, and the number. Each is the true value, rounded a few
times, by a part in 2^50 at most. True values that differ do so by at least one unit of the last digit over the count.
Where that is more than rounding can change, both comparisons have one outcome.
"""

from __future__ import annotations

from tacit.plan.algebra import bounds
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.relations import Operator as Op
from tacit.plan.algebra.types import Decimal, Integer
from tacit.plan.policy.constants import FLIPPED
from tacit.sql import arithmetic
from tacit.sql.coercion import Mismatch, coerce

EXACT = 1 << 49
"""Numbers of fewer units over a count are told apart as DOUBLEs, after a few roundings."""


def compared(op: Op, a: Expr, b: Expr, position: Position | None) -> Expr:
    """a = b and its like."""
    exact = _exact(op, a, b, position) or _exact(FLIPPED[op], b, a, position)
    return exact or arithmetic.comparison(op, a, b, position)


def _exact(op: Op, average: Expr, number: Expr, position: Position | None) -> Expr | None:
    """The comparison of an average with a number; None where it is none, or could have another outcome."""
    parts = _parts(average)
    if parts is None or not isinstance(number.type, Integer | Decimal) or number == Literal(None, number.type):
        return None
    total, count, factor = parts
    try:
        total = total if factor is None else arithmetic.binary("mul", total, factor, position)
        multiple = arithmetic.binary("mul", _wide(number), _wide(count), position)
        return arithmetic.comparison(op, total, multiple, position) if _is_told(total, number, count) else None
    except Mismatch:
        return None


def _parts(expr: Expr) -> tuple[Expr, Expr, Literal | None] | None:
    """The sum and the count of an average, and the constant that multiplies it, if one does."""
    match expr:
        case Call("average", (total, count)):
            return _wide(total), count, None
        case Call("mul", (Call("cast", (Literal() as factor,)), Call("average", (total, count)))):
            return _wide(total), count, _constant(factor)
        case Call("mul", (Call("average", (total, count)), Call("cast", (Literal() as factor,)))):
            return _wide(total), count, _constant(factor)
        case _:
            return None


def _constant(factor: Literal) -> Literal:
    """A constant factor as a wide number, so that products are computed in 128 bits."""
    found = _wide(factor)
    assert isinstance(found, Literal), "a constant stays one"
    return found


def _wide(number: Expr) -> Expr:
    return coerce(number, Integer(0, 0, "HUGEINT")) if isinstance(number.type, Integer) else number


def _is_told(total: Expr, number: Expr, count: Expr) -> bool:
    """Whether DOUBLEs tell the average from the number wherever they differ."""
    assert isinstance(number.type, Integer | Decimal) and isinstance(count.type, Integer)
    low, high = bounds.range_of(number.type)
    digits = max(_scale(total), _scale(number))
    most = max(-low, high, 1) * 10 ** (digits - _scale(number))
    return bool(most * max(count.type.high, 1) < EXACT)


def _scale(expr: Expr) -> int:
    return expr.type.scale if isinstance(expr.type, Decimal) else 0
