"""Comparisons with averages as comparisons of whole numbers, where DuckDB's DOUBLEs compare alike.

``x < AVG(y)`` is ``x * COUNT(y) < SUM(y)``. DuckDB compares DOUBLEs that are rounded. With e the precision of a DOUBLE,
2^-53, each of at most four roundings moves a number by a factor within 1 +- e (that of a 64-bit quotient adds 2^-64).
Two different numbers whose products in whole numbers are below 2^50 differ by a factor of 1 + 2^-50 at least, so that
rounding keeps their order. Equal numbers are rounded in two ways, so that DOUBLEs may tell them apart. Whether they do
is a condition on the compared number alone: its owner computes it, or the few numbers for which it holds are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import joined
from tacit.plan.algebra.relations import Call, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, Type

EXACT = 1 << 50
MOST_SCALE = 22
"""Powers of ten up to this one are DOUBLEs."""
FEW_DIGITS = 3
"""With so few digits after the point, a number and an average that equals it are the same DOUBLE.

The average is rounded to 64 bits and then to 53. That is the number's own rounding unless the first one reaches a
midpoint between two DOUBLEs. A midpoint m differs from x = X / 10^s, of X below 2^50, by 1 / (5^s 2^j) at least, where
m = M / 2^j with M below 2^54. That is more than x 2^-54 / 125, and rounding to 64 bits moves x by at most x 2^-64.
"""
MOST_VALUES = 1 << 12
"""Values of one side that are tried."""
MOST_EXCEPTIONS = 16
FLIPPED: dict[Operator, Operator] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True)
class _Average:
    """factor * total / count. factor: a constant; None where there is none."""

    total: Expr
    count: Expr
    factor: Literal | None


Local = Callable[[Expr], Expr | None]
"""An expression as its owner computes it; None where no owner can."""


def without_average(expr: Expr, local: Local) -> Expr:
    """The expression; a comparison of a number with an average as one of products, where that is the same."""
    match expr:
        case Call(("lt" | "le" | "gt" | "ge" | "eq" | "ne") as op, (a, b)):
            found = _compared(op, a, b, expr, local) or _compared(FLIPPED[op], b, a, expr, local)
            return expr if found is None else found
        case _:
            return expr


def _compared(op: Operator, a: Expr, b: Expr, whole: Call, local: Local) -> Expr | None:
    """number op average."""
    average, number = _average(b), _number(a)
    if average is None or number is None:
        return None
    left = _times(number, average.count)
    right = average.total if average.factor is None else _times(average.factor, average.total)
    left, right = _aligned(left, right)
    if max(map(abs, (*bounds.range_of(left.type), *bounds.range_of(right.type)))) > EXACT:
        return None
    exact = Call(op, (left, right), Boolean(), whole.nullable, whole.position)
    if average.factor is None and _scale(number.type) <= FEW_DIGITS:
        return exact
    same = Call("eq", (left, right), Boolean(), whole.nullable, whole.position)
    odd = _odd(op, number, average, local)
    if odd is None:
        return None
    opposite = Call("not", (exact,), Boolean(), whole.nullable)
    return Call("if", (joined("and", [same, odd]), opposite, exact), Boolean(), whole.nullable, whole.position)


def _odd(op: Operator, number: Expr, average: _Average, local: Local) -> Expr | None:
    """Whether DOUBLEs tell a number from an average that equals it; None where nothing can compute that."""
    listed = _exceptions(op, number, average)
    if listed is not None:
        tests = [Call("eq", (number, each), Boolean(), number.nullable) for each in listed]
        return joined("or", tests) if tests else Literal(False, Boolean())
    factor = average.factor
    if factor is None or _scale(number.type) > FEW_DIGITS or 10 ** _scale(factor.type) % int(factor.value or 1):
        return None
    times = 10 ** _scale(factor.type) // int(factor.value or 1)
    mean, by = _double(_times(number, Literal(times, Integer(times, times, "BIGINT")))), _double(factor)
    product = Call("mul", (by, mean), Double(), number.nullable)
    said = Call(op, (_double(number), product), Boolean(), number.nullable)
    return local(Call("not", (said,), Boolean(), number.nullable) if op in ("le", "ge", "eq") else said)


def _double(expr: Expr) -> Expr:
    return Call("cast", (expr,), Double(), expr.nullable)


def _average(expr: Expr) -> _Average | None:
    match expr:
        case Call("average", (total, count)):
            return _Average(total, count, None)
        case Call("mul", (Call("cast", (Literal() as factor,)), Call("average", (total, count)))) | Call(
            "mul", (Call("average", (total, count)), Call("cast", (Literal() as factor,)))
        ) if isinstance(factor.value, int) and factor.value > 0:
            return _Average(total, count, factor)
        case _:
            return None


def _number(expr: Expr) -> Expr | None:
    """A whole number or decimal that is taken as a DOUBLE."""
    match expr:
        case Call("cast", (inner,), Double()) if isinstance(inner.type, Integer | Decimal):
            known = max(map(abs, bounds.range_of(inner.type))) <= EXACT and _scale(inner.type) <= MOST_SCALE
            return inner if known else None
        case _:
            return None


def _times(a: Expr, b: Expr) -> Expr:
    """A product with exact bounds."""
    found = bounds.multiply(bounds.range_of(a.type), bounds.range_of(b.type))
    scale = _scale(a.type) + _scale(b.type)
    type_: Type = Decimal(38, scale, *found) if scale else Integer(*found, "HUGEINT")
    return Call("mul", (a, b), type_, a.nullable or b.nullable)


def _aligned(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Both sides with as many digits after the point."""
    scale = max(_scale(a.type), _scale(b.type))
    return _scaled(a, scale), _scaled(b, scale)


def _scaled(expr: Expr, scale: int) -> Expr:
    more = scale - _scale(expr.type)
    if not more:
        return expr
    found = bounds.rescale(bounds.range_of(expr.type), more)
    return Call("rescale", (expr,), Decimal(38, scale, *found), expr.nullable)


def _scale(type_: Type) -> int:
    return type_.scale if isinstance(type_, Decimal) else 0


def _exceptions(op: Operator, number: Expr, average: _Average) -> list[Literal] | None:
    """The numbers that DOUBLEs tell from an average that equals them. None where there are too many."""
    low, high = bounds.range_of(number.type)
    if high - low >= MOST_VALUES:
        return None
    unit, wanted = 10 ** _scale(number.type), op in ("le", "ge", "eq")
    factor = average.factor
    by = Fraction(1) if factor is None else Fraction(int(factor.value or 0), 10 ** _scale(factor.type))
    apart = [each for each in range(low, high + 1) if _holds(op, Fraction(each, unit), by, factor is None) != wanted]
    if len(apart) > MOST_EXCEPTIONS:
        return None
    return [Literal(each, bounds.with_range(number.type, (each, each))) for each in apart]


def _holds(op: Operator, value: Fraction, by: Fraction, plain: bool) -> bool:
    """What DOUBLEs say of a value and the average that equals it, times a factor."""
    mean = _rounded(_rounded(value / by, 64), 53)
    left, right = float(value), float(mean) if plain else float(by) * float(mean)
    return {
        "lt": left < right, "le": left <= right, "gt": left > right, "ge": left >= right, "eq": left == right,
        "ne": left != right,
    }[op]  # fmt: skip


def _rounded(value: Fraction, bits: int) -> Fraction:
    """The nearest number with a number of significant bits, the even one of two."""
    if not value:
        return value
    size = abs(value.numerator).bit_length() - value.denominator.bit_length()
    unit = Fraction(2) ** (size - bits)
    found = round(value / unit)
    if abs(found) >= 1 << bits:
        unit *= 2
    elif abs(found) < 1 << (bits - 1):
        unit /= 2
    return round(value / unit) * unit
