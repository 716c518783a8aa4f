"""Orders by an average or a quotient as orders by a whole number, which nodes compute.

Two different fractions whose denominators are at most D differ by at least 1 / D^2. So a / b, times a power of two
that is at least D^2 and rounded towards zero, is in the same order as a / b, and equal where a / b is. This is the
order of exact arithmetic. DuckDB's differs only where rounding to DOUBLE makes two different values equal, which needs
numerators and denominators of more than 52 bits together. As in DuckDB, a number divided by 0 is beyond all numbers,
on the side of its sign, and 0 / 0 is beyond these.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra import bounds, whole
from tacit.plan.algebra.divisions import nodes_compute
from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.relations import Call, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer


@dataclass(frozen=True)
class _Fraction:
    """An exact numerator and denominator. may_be_zero: whether there may be a number that is divided by 0."""

    numerator: Expr
    denominator: Expr
    may_be_zero: bool


def in_order(expr: Expr) -> Expr:
    """A whole number in the order of a DOUBLE; the expression itself where it is no DOUBLE, or none is known."""
    if not isinstance(expr.type, Double) or not isinstance(expr, Call):
        return expr
    match expr:
        case Call("neg", (inner,)):
            return _turned(expr, inner)
        case Call("cast", (inner,)) if isinstance(inner.type, Integer | Decimal) and nodes_compute(inner):
            return inner
        case Call("mul" | "div", (inner, factor)) if (known := _constant(factor)) is not None and known:
            return in_order(inner) if known > 0 else _turned(expr, inner)
        case Call("mul", (factor, inner)) if (known := _constant(factor)) is not None and known:
            return in_order(inner) if known > 0 else _turned(expr, inner)
        case Call("average", (total, count)) if nodes_compute(total) and nodes_compute(count):
            return _scaled(_Fraction(total, count, False))
        case Call("div", (a, b)):
            numerator, denominator = _exact(a), _exact(b)
            if numerator is None or denominator is None:
                return expr
            return _among_infinite(_Fraction(numerator, denominator, _has_zero(denominator)))
        case _:
            return expr


def _turned(expr: Expr, inner: Expr) -> Expr:
    """The negative of a value in the order of another one. It is not, where 0 / 0 may be: that has no negative."""
    found = in_order(inner)
    if isinstance(found.type, Double) or _has_nan(inner):
        return expr
    type_ = bounds.with_range(found.type, bounds.negate(bounds.range_of(found.type)))
    return Call("neg", (found,), type_, found.nullable)


def _scaled(fraction: _Fraction) -> Call:
    numerator, denominator = fraction.numerator, fraction.denominator
    low, high = bounds.range_of(denominator.type)
    most = max(abs(low), abs(high), 1)
    raised = whole.times(numerator, 1 << (most * most - 1).bit_length())
    largest = max(map(abs, bounds.range_of(raised.type))) // (low if low > 0 else 1)
    nullable = numerator.nullable or denominator.nullable or fraction.may_be_zero
    return Call("int_div", (raised, denominator), Integer(-largest, largest, "HUGEINT"), nullable)


def _among_infinite(fraction: _Fraction) -> Call:
    found = _scaled(fraction)
    if not fraction.may_be_zero:
        return found
    low, high = bounds.range_of(found.type)
    a = fraction.numerator
    above = whole.either(_against_zero("gt", a), whole.number(high + 1), whole.number(high + 2))
    beyond: Expr = whole.either(_against_zero("lt", a), whole.number(low - 1), above)
    if a.nullable:
        missing = Call("is_null", (a,), Boolean(), False)
        beyond = Call("if", (missing, Literal(None, beyond.type), beyond), beyond.type, True)
    return whole.either(_against_zero("eq", fraction.denominator), beyond, found)


def _against_zero(op: Operator, expr: Expr) -> Call:
    return Call(op, (expr, Literal(0, bounds.with_range(expr.type, (0, 0)))), Boolean(), expr.nullable)


def _exact(expr: Expr) -> Expr | None:
    """The exact number that an operand of a DOUBLE quotient is."""
    match expr:
        case Call("cast", (inner,)) if isinstance(inner.type, Integer | Decimal) and nodes_compute(inner):
            return inner
        case _:
            return None


def _constant(expr: Expr) -> int | float | None:
    while isinstance(expr, Call) and expr.op == "cast":
        (expr,) = expr.args
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int | float) else None


def _has_nan(expr: Expr) -> bool:
    """Whether 0 may be divided by 0 in an expression of which the order is known."""
    divisors = [_exact(each.args[1]) for each in subexpressions(expr) if isinstance(each, Call) and each.op == "div"]
    return any(each is not None and _has_zero(each) for each in divisors)


def _has_zero(expr: Expr) -> bool:
    low, high = bounds.range_of(expr.type)
    return low <= 0 <= high
