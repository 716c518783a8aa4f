"""Comparisons of averages and quotients as comparisons of products, which are exact and need no DOUBLE.

``a / b < c / d`` is ``a * d < c * b`` where b and d are greater than 0. The answer is that of exact arithmetic. DuckDB
answers otherwise only where rounding to DOUBLE makes two different values equal, or two equal ones different. As in
DuckDB, a number divided by 0 is beyond all numbers, on the side of its sign, and 0 / 0 is greater than all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.fractions import quotient, rounded, rounding
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer
from tacit.sql import arithmetic
from tacit.sql.coercion import MOST_DIGITS, coerce, decimal_literal
from tacit.sql.told_quotients import of_told

ONE = Literal(1, Integer(1, 1, "INTEGER"))
_LARGEST = 10**MOST_DIGITS - 1


class _NoQuotient(Exception):
    """The expression is not an exact quotient, or one of too many digits."""


@dataclass(frozen=True)
class _Quotient:
    """A number as an exact numerator over an exact denominator. divided: the denominator may be 0."""

    numerator: Expr
    denominator: Expr = ONE
    divided: bool = False


def comparison(op: Operator, a: Expr, b: Expr, position: Position | None) -> Expr:
    """a = b and its like, in exact numbers where a side is an average or a quotient."""
    sides = a.type, b.type
    if all(isinstance(each, Decimal) for each in sides):
        return _aligned(op, a, b, position)
    if not any(is_quotient(each) for each in (a, b)):
        return arithmetic.comparison(op, a, b, position)
    if (found := of_told(op, a, b, position)) is not None:
        return found
    try:
        return _compared(op, _read(a), _read(b), position)
    except _NoQuotient:
        return arithmetic.comparison(op, a, b, position)


def null_test(expr: Expr, position: Position | None) -> Expr:
    """expr IS NULL, where a DOUBLE is asked about by what it is computed from."""
    if not isinstance(expr.type, Double):
        return arithmetic.is_null(expr, position)
    match expr:
        case Call("average", (total, _)):
            return arithmetic.is_null(total, position)
        case Call("cast" | "neg", (inner,)):
            return null_test(inner, position)
        case Call("add" | "sub" | "mul" | "div", (a, b)):
            return arithmetic.logic("or", [null_test(a, position), null_test(b, position)], position)
        case _:
            return arithmetic.is_null(expr, position)


def is_quotient(expr: Expr) -> bool:
    """Whether a DOUBLE is computed by division."""
    parts = subexpressions(expr)
    return isinstance(expr.type, Double) and any(isinstance(e, Call) and e.op in ("average", "div") for e in parts)


def _compared(op: Operator, a: _Quotient, b: _Quotient, position: Position | None) -> Expr:
    if a.divided and b.divided:
        raise _NoQuotient
    a, b = (_with_positive_denominator(_without_zero_by_zero(each)) for each in (a, b))
    left = _product(a.numerator, b.denominator)
    right = _product(b.numerator, a.denominator)
    scale = max(_scale(left), _scale(right))
    if scale:
        for each in (left, right):
            _fitting(coerce(each, Decimal(MOST_DIGITS, scale, 0, 0)))
    return _aligned(op, left, right, position)


def _without_zero_by_zero(each: _Quotient) -> _Quotient:
    """0 / 0 is greater than every number, as 1 / 0 is."""
    if not each.divided or _excludes_zero(each.numerator):
        return each
    zeros = [_sign("eq", part) for part in (each.numerator, each.denominator)]
    both = Call("and", (zeros[0], zeros[1]), Boolean(), any(zero.nullable for zero in zeros))
    return replace(each, numerator=_if(both, _number(1, each.numerator), each.numerator))


def _with_positive_denominator(each: _Quotient) -> _Quotient:
    low, high = bounds.range_of(each.denominator.type)
    if low >= 0:
        return each
    negated = _negated(each.numerator), _negated(each.denominator)
    if high <= 0:
        return replace(each, numerator=negated[0], denominator=negated[1])
    negative = _sign("lt", each.denominator)
    numerator = _if(negative, negated[0], each.numerator)
    return replace(each, numerator=numerator, denominator=_if(negative, negated[1], each.denominator))


def _read(expr: Expr) -> _Quotient:
    """An expression as a quotient."""
    if isinstance(expr.type, Integer | Decimal):
        return _Quotient(expr)
    match expr:
        case Call("cast", (inner,)) if isinstance(inner.type, Integer | Decimal):
            return _Quotient(inner)
        case Call("average", (total, count)):
            return _Quotient(total, count)
        case Call("div", (a, b)):
            return _divided(_read(a), _read(b))
        case Call("mul", (a, b)):
            return _times(_read(a), _read(b))
        case Call("neg", (a,)):
            negated = _read(a)
            return replace(negated, numerator=_negated(negated.numerator))
        case Call("add" | "sub" as op, (a, b)):
            return _sum(op, _read(a), _read(b))
        case Call():
            return _rounded(expr)
        case _:
            raise _NoQuotient


def _rounded(expr: Call) -> _Quotient:
    """An average or quotient that is rounded."""
    of = rounding(expr)
    found = None if of is None else quotient(of.value)
    number = None if of is None or found is None else rounded(found, of.mode, of.places)
    if number is None:
        raise _NoQuotient
    return _Quotient(_fitting(number))


def _times(a: _Quotient, b: _Quotient) -> _Quotient:
    if a.divided or b.divided:
        raise _NoQuotient
    return _Quotient(_product(a.numerator, b.numerator), _product(a.denominator, b.denominator))


def _divided(a: _Quotient, b: _Quotient) -> _Quotient:
    if a.divided or b.divided:
        raise _NoQuotient
    by_zero = not _excludes_zero(b.numerator)
    return _Quotient(_product(a.numerator, b.denominator), _product(a.denominator, b.numerator), by_zero)


def _sum(op: Operator, a: _Quotient, b: _Quotient) -> _Quotient:
    if a.divided or b.divided:
        raise _NoQuotient
    left, right = a.numerator, b.numerator
    if a.denominator != b.denominator:
        left, right = _product(left, b.denominator), _product(right, a.denominator)
    denominator = a.denominator if a.denominator == b.denominator else _product(a.denominator, b.denominator)
    return _Quotient(_fitting(arithmetic.binary(op, _widest(left), _widest(right), None)), denominator)


def _product(a: Expr, b: Expr) -> Expr:
    """a * b in numbers of 38 digits."""
    if a == ONE:
        return b
    if b == ONE:
        return a
    if _scale(a) + _scale(b) > MOST_DIGITS:
        raise _NoQuotient
    return _fitting(arithmetic.binary("mul", _widest(a), _widest(b), None))


def _aligned(op: Operator, a: Expr, b: Expr, position: Position | None) -> Expr:
    """Two exact numbers compared, with as many digits after the point as the finer of them has."""
    if not any(isinstance(each.type, Decimal) for each in (a, b)):
        return arithmetic.comparison(op, a, b, position)
    scale = max(_scale(a), _scale(b))
    plain = arithmetic.comparison(op, a, b, position)
    exact = isinstance(plain, Call) and all(_scale(each) == scale for each in plain.args)
    if exact:
        return plain
    target = Decimal(MOST_DIGITS, scale, 0, 0)
    return Call(op, (coerce(a, target), coerce(b, target)), Boolean(), a.nullable or b.nullable, position)


def _widest(expr: Expr) -> Expr:
    """The same number in the widest type of its kind, in which a product keeps all digits."""
    if isinstance(expr.type, Decimal):
        return coerce(expr, Decimal(MOST_DIGITS, expr.type.scale, 0, 0))
    return coerce(expr, Integer(0, 0, "HUGEINT"))


def _fitting(expr: Expr) -> Expr:
    low, high = bounds.range_of(expr.type)
    if low < -_LARGEST or high > _LARGEST:
        raise _NoQuotient
    return expr


def _negated(expr: Expr) -> Expr:
    return arithmetic.negation(expr, None)


def _scale(expr: Expr) -> int:
    return expr.type.scale if isinstance(expr.type, Decimal) else 0


def _excludes_zero(expr: Expr) -> bool:
    low, high = bounds.range_of(expr.type)
    return low > 0 or high < 0


def _number(value: int, like: Expr) -> Expr:
    """A whole number of the type of an expression."""
    literal = Literal(value, Integer(value, value, "INTEGER"))
    return coerce(literal, like.type)


def _sign(op: Operator, expr: Expr) -> Expr:
    """The number compared with 0."""
    return arithmetic.comparison(op, expr, decimal_literal("0"), None)


def _if(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return arithmetic.choice([(condition, then)], otherwise, None)
