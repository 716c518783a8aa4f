"""DOUBLEs that are an exact number times a constant, in aggregates: nodes add exact numbers, and it is taken out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite, lcm
from typing import Final

from tacit.plan.algebra import bounds
from tacit.plan.algebra.bounds import is_told_by_double
from tacit.plan.algebra.fractions import Quotient, quotient, rounded, rounding
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Decimal, Double, Integer
from tacit.sql.coercion import coerce

MOST_DIVISORS: Final = 128
"""Of more whole numbers in a row no common multiple has fewer than a hundred bits."""
MOST_BITS: Final = 96
"""Of what is added up: 32 more are for the number of rows."""


@dataclass(frozen=True)
class Proportional:
    """A DOUBLE as what is computed from one exact number. rising: whether it grows with that."""

    number: Expr
    value: Expr
    rising: bool

    def of(self, other: Expr) -> Expr:
        """The same computed from another number: an aggregate of the numbers."""
        return _replaced(self.value, self.number, coerce(other, Double()))

    @property
    def is_told(self) -> bool:
        """Whether different numbers give different DOUBLEs."""
        return is_told_by_double(self.number.type)


def proportional(expr: Expr) -> Proportional | None:
    """A DOUBLE in this form, if it has one."""
    found = _number(expr)
    if found is None:
        return None
    number, factor = found
    return Proportional(number, _with_number(expr, number), factor > 0)


def with_common_denominator(expr: Expr) -> Proportional | None:
    """A quotient by whole numbers within narrow bounds, which have a common multiple: that many times it is exact.

    The nodes add exact numbers, so that the total is rounded once. DuckDB rounds each quotient and each sum.
    """
    found = quotient(expr)
    if found is None:
        return None
    low, high = bounds.range_of(found.denominator.type)
    if high - low > MOST_DIVISORS:
        return None
    multiple = lcm(*(abs(each) for each in range(low, high + 1) if each))
    number = rounded(Quotient(found.numerator, found.denominator, multiple), "trunc", 0)
    if number is None or _bits(number) > MOST_BITS:
        return None
    factor = Fraction(found.times, found.by * multiple)
    value = Call("div", (_times(number, factor.numerator), _constant(factor.denominator)), Double(), number.nullable)
    return Proportional(number, value, factor > 0)


def _times(number: Expr, by: int) -> Expr:
    return number if by == 1 else Call("mul", (number, _constant(by)), Double(), number.nullable)


def _constant(value: int) -> Expr:
    return coerce(Literal(value, Integer(value, value, "HUGEINT")), Double())


def _bits(expr: Expr) -> int:
    return max(map(abs, bounds.range_of(expr.type))).bit_length()


def _number(expr: Expr) -> tuple[Expr, float] | None:
    """The exact number that is multiplied, and a factor of the sign of all constants."""
    exact = _exact(expr)
    if exact is not None:
        return exact, 1.0
    match expr:
        case Call("neg", (inner,)):
            return _turned(_number(inner), -1.0)
        case Call("mul", (a, b)) if _sign(a) is not None:
            return _turned(_number(b), _sign(a))
        case Call("mul" | "div", (a, b)):
            return _turned(_number(a), _sign(b))
        case _:
            return None


def _exact(expr: Expr) -> Expr | None:
    """The exact number that a DOUBLE is: one that is cast, or a rounded quotient."""
    match expr:
        case Call("cast", (inner,), Double()) if isinstance(inner.type, Integer | Decimal):
            return inner
        case _:
            of = rounding(expr) if isinstance(expr.type, Double) else None
            found = None if of is None else quotient(of.value)
            return None if of is None or found is None else rounded(found, of.mode, of.places)


def _with_number(expr: Expr, number: Expr) -> Expr:
    """The expression with the number itself in place of what is rounded to it."""
    if _exact(expr) is not None:
        return number
    assert isinstance(expr, Call), "constants and columns are not computed"
    args = tuple(each if _sign(each) is not None else _with_number(each, number) for each in expr.args)
    return replace(expr, args=args)


def _replaced(expr: Expr, number: Expr, other: Expr) -> Expr:
    if expr is number:
        return other
    if not isinstance(expr, Call):
        return expr
    args = tuple(_replaced(each, number, other) for each in expr.args)
    return replace(expr, args=args, nullable=expr.nullable or other.nullable)


def _turned(found: tuple[Expr, float] | None, sign: float | None) -> tuple[Expr, float] | None:
    return None if found is None or sign is None else (found[0], found[1] * sign)


def _sign(expr: Expr) -> float | None:
    """The sign of a constant other than 0."""
    while isinstance(expr, Call) and expr.op == "cast":
        (expr,) = expr.args
    if not isinstance(expr, Literal) or isinstance(expr.value, bool) or not isinstance(expr.value, int | float):
        return None
    return None if expr.value == 0 or not isfinite(expr.value) else 1.0 if expr.value > 0 else -1.0
