"""Averages and quotients of exact numbers as fractions, and their roundings, which nodes compute exactly.

A DOUBLE is rounded exactly where it is an average or a quotient, also times a constant or by one. Its rounding is a
whole number of units of the last digit that stays. From the middle it goes away from zero, and in a CAST to a whole
number to the even one of two, as DuckDB rounds a DOUBLE. A divisor that may be 0 has no fraction: NULLIF excludes 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, gcd
from types import MappingProxyType
from typing import Final
from typing import Literal as OneOf

from tacit.plan.algebra import bounds, whole
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, Type, Varchar

Mode = OneOf["round", "even", "floor", "ceil", "trunc"]
Means = Mapping[str, bounds.Range]
"""Columns of sums, with the bounds of what they add up."""

WIDEST: Final = 126
"""Bits of a dividend, without a sign."""
MOST_DIGITS: Final = 38
ONE: Final = whole.number(1)
NOTHING: Final[Means] = MappingProxyType({})


@dataclass(frozen=True)
class Quotient:
    """numerator * times / (denominator * by) of encoded numbers, where ``by`` is positive.

    mean: what the quotient is an average of, as encoded numbers in the units of the numerator.
    """

    numerator: Expr
    denominator: Expr = ONE
    times: int = 1
    by: int = 1
    mean: bounds.Range | None = None


@dataclass(frozen=True)
class Rounding:
    """A DOUBLE that is rounded. places: digits after the point."""

    value: Expr
    mode: Mode
    places: int


def rounding(expr: Expr) -> Rounding | None:
    """What an expression rounds, if that is a DOUBLE."""
    match expr:
        case Call("round", (value, Literal(int() as places)), Double()):
            return Rounding(value, "round", places)
        case Call("floor" | "ceil" | "trunc" as mode, (value,), Double()):
            return Rounding(value, mode, 0)
        case Call("cast", (value,), Integer()) if isinstance(value.type, Double):
            return Rounding(value, "even", 0)
        case Call("cast", (value,), Decimal(_, scale)) if isinstance(value.type, Double):
            return Rounding(value, "round", scale)
        case _:
            return None


def quotient(expr: Expr, means: Means = NOTHING) -> Quotient | None:
    """A DOUBLE as a fraction; None where it is none. means: what is known of totals."""
    match expr:
        case Call("average", (total, count)):
            return _reduced(Quotient(total, count, by=_unit(total), mean=_mean(total, means)))
        case Call("cast", (inner,), Double()) if isinstance(inner.type, Integer | Decimal):
            return _reduced(Quotient(inner, by=_unit(inner)))
        case Call("neg", (inner,)):
            found = quotient(inner, means)
            return None if found is None else replace(found, times=-found.times)
        case Call("mul", (a, b)):
            return _scaled(a, constant(b), means) or _scaled(b, constant(a), means)
        case Call("div", (a, b)) if (by := constant(b)) is not None:
            return _scaled(a, 1 / by, means) if by else None
        case Call("div", (a, b)):
            return _divided(quotient(a, means), quotient(b, means))
        case _:
            return None


def constant(expr: Expr) -> Fraction | None:
    """The exact number that a constant operand of DOUBLE arithmetic is."""
    while isinstance(expr, Call) and expr.op == "cast":
        (expr,) = expr.args
    if not isinstance(expr, Literal) or isinstance(expr.value, bool) or not isinstance(expr.value, int):
        return None
    return Fraction(expr.value, _unit(expr))


def rounded(of: Quotient, mode: Mode, places: int) -> Call | None:
    """The fraction, rounded to a whole number of units of a digit; None where that may need too many bits."""
    up, down = (10**places, 1) if places >= 0 else (1, 10**-places)
    of = _reduced(replace(of, times=of.times * up, by=of.by * down))
    low, high = _range(of)
    largest = 2 * max(map(abs, bounds.range_of(of.numerator.type))) * abs(of.times)
    divisor = 2 * max(map(abs, bounds.range_of(of.denominator.type))) * of.by
    if places > MOST_DIGITS or (largest + divisor).bit_length() > WIDEST:
        return None
    args = of.numerator, of.denominator, Literal(mode, Varchar(len(mode))), whole.number(of.times), whole.number(of.by)
    nullable = of.numerator.nullable or of.denominator.nullable
    type_ = Decimal(MOST_DIGITS, places, low, high) if places > 0 else Integer(low, high, "HUGEINT")
    found = Call("rounded", args, type_, nullable)
    return found if places >= 0 else replace(whole.times(found, down), type=Integer(low * down, high * down, "HUGEINT"))


def in_whole_numbers(call: Call) -> Call:
    """A rounded fraction as quotients towards zero, without a sign in the divisor."""
    numerator, denominator, mode, times, by = call.args
    assert isinstance(mode, Literal) and isinstance(times, Literal) and isinstance(by, Literal)
    assert isinstance(times.value, int) and isinstance(by.value, int)
    above, below = _positive(_times(numerator, times.value), _times(denominator, by.value))
    match mode.value:
        case "floor":
            found = _towards(above, below, (-1, 0))
        case "ceil":
            found = _towards(above, below, (0, 1))
        case "round":
            found = _nearest(above, below)
        case "even":
            found = _to_even(above, below)
        case _:
            found = _whole(above, below)
    return replace(found, type=call.type, nullable=call.nullable)


def _nearest(above: Expr, below: Expr) -> Call:
    return _whole(_doubled(above, below), _times(below, 2))


def _to_even(above: Expr, below: Expr) -> Call:
    """The nearest whole number, less one step away from zero where that is odd and another one is as near."""
    doubled, divisor = _doubled(above, below), _times(below, 2)
    nearest = _whole(doubled, divisor)
    is_middle = _compared("eq", _remainder(doubled, divisor), 0)
    is_odd = Call("not", (_compared("eq", _remainder(nearest, whole.number(2)), 0),), Boolean(), nearest.nullable)
    both = Call("and", (is_middle, is_odd), Boolean(), nearest.nullable)
    step = _by_sign(above, whole.number(1), whole.number(-1))
    return whole.minus(nearest, whole.either(both, step, whole.number(0)))


def _doubled(above: Expr, below: Expr) -> Call:
    """Twice the dividend and the divisor more, on the side of its sign."""
    return whole.added(_times(above, 2), _by_sign(above, below, _negated(below)))


def _towards(above: Expr, below: Expr, side: tuple[int, int]) -> Call:
    """Rounded down (-1, 0), or up (0, 1): a step further where the quotient towards zero is on the other side."""
    low, high = bounds.range_of(above.type)
    less = whole.plus(whole.minus(above, below), 1) if side[0] and low < 0 else above
    more = whole.plus(whole.added(above, below), -1) if side[1] and high > 0 else above
    if low >= 0 or high <= 0:
        return _whole(more if low >= 0 else less, below)
    sign = _compared("lt", above, 0) if side[0] else _compared("gt", above, 0)
    return _whole(whole.either(sign, less if side[0] else more, above), below)


def _by_sign(of: Expr, positive: Expr, negative: Expr) -> Expr:
    low, high = bounds.range_of(of.type)
    if low >= 0 or high <= 0:
        return positive if low >= 0 else negative
    return whole.either(_compared("lt", of, 0), negative, positive)


def _positive(above: Expr, below: Expr) -> tuple[Expr, Expr]:
    """The same quotient with a divisor that is not negative."""
    low, high = bounds.range_of(below.type)
    if low >= 0:
        return above, below
    if high <= 0:
        return _negated(above), _negated(below)
    is_negative = _compared("lt", below, 0)
    size = whole.either(is_negative, _negated(below), below)
    return whole.either(is_negative, _negated(above), above), replace(size, type=Integer(0, max(-low, high), "BIGINT"))


def _whole(above: Expr, below: Expr) -> Call:
    """The quotient towards zero, by a number that is not negative."""
    (low, high), (least, _) = bounds.range_of(above.type), bounds.range_of(below.type)
    least = max(least, 1)
    found = Integer(-(-low // least) if low < 0 else 0, high // least if high > 0 else 0, "BIGINT")
    return Call("int_div", (above, below), found, above.nullable or below.nullable)


def _remainder(above: Expr, below: Expr) -> Call:
    (low, high), (_, most) = bounds.range_of(above.type), bounds.range_of(below.type)
    found = Integer(max(min(low, 0), 1 - most), min(max(high, 0), most - 1), "BIGINT")
    return Call("mod", (above, below), found, above.nullable or below.nullable)


def _times(expr: Expr, by: int) -> Expr:
    if isinstance(expr, Literal) and isinstance(expr.value, int):
        return whole.number(expr.value * by)
    return expr if by == 1 else whole.times(expr, by)


def _negated(expr: Expr) -> Expr:
    if isinstance(expr, Literal) and isinstance(expr.value, int):
        return whole.number(-expr.value)
    return Call("neg", (expr,), Integer(*bounds.negate(bounds.range_of(expr.type)), "BIGINT"), expr.nullable)


def _compared(op: OneOf["eq", "lt", "gt"], expr: Expr, to: int) -> Call:
    return Call(op, (expr, whole.number(to)), Boolean(), expr.nullable)


def _range(of: Quotient) -> bounds.Range:
    """The bounds of a fraction, rounded outwards."""
    if of.mean is not None:
        found = [Fraction(each * of.times, of.by) for each in of.mean]
    else:
        low, high = bounds.range_of(of.denominator.type)
        divisors = [each for each in (low, high, -1, 1) if low <= each <= high and each] or [1]
        dividends = *bounds.range_of(of.numerator.type), 0
        found = [Fraction(each * of.times, divisor * of.by) for each in dividends for divisor in divisors]
    return floor(min(found)), ceil(max(found))


def _scaled(expr: Expr, factor: Fraction | None, means: Means) -> Quotient | None:
    found = None if factor is None else quotient(expr, means)
    if found is None or factor is None:
        return None
    return _reduced(replace(found, times=found.times * factor.numerator, by=found.by * factor.denominator))


def _divided(a: Quotient | None, b: Quotient | None) -> Quotient | None:
    """a / b of exact numbers of which the second is not 0."""
    if a is None or b is None or a.denominator != ONE or b.denominator != ONE or not excludes_zero(b.numerator):
        return None
    times, by = a.times * b.by, a.by * b.times
    return _reduced(Quotient(a.numerator, b.numerator, -times if by < 0 else times, abs(by)))


def excludes_zero(expr: Expr) -> bool:
    """Whether a divisor is never 0: by its bounds, by NULLIF, or as a constant."""
    found = bounds.encoded_range(expr.type)
    if found is not None and (found[0] > 0 or found[1] < 0):
        return True
    if constant(expr):
        return True
    match expr:
        case Call("cast" | "rescale" | "neg", (inner,)):
            return excludes_zero(inner)
        case _:
            return null_if_zero(expr) is not None


def null_if_zero(expr: Expr) -> Expr | None:
    """The number in NULLIF(number, 0)."""
    match expr:
        case Call("if", (Call("eq", (tested, zero)), Literal(None), otherwise)):
            return otherwise if constant(zero) == 0 and _same(tested) == _same(otherwise) else None
        case _:
            return None


def with_null_for_zero(number: Expr) -> Call:
    """NULLIF(number, 0)."""
    zero = Literal(0, bounds.with_range(number.type, (0, 0)))
    is_zero = Call("eq", (number, zero), Boolean(), number.nullable)
    return Call("if", (is_zero, Literal(None, number.type), number), number.type, True)


def _same(expr: Expr) -> Expr:
    """The number without the changes of type that keep it."""
    while isinstance(expr, Call) and expr.op in ("cast", "rescale") and not _loses(expr.args[0].type, expr.type):
        (expr,) = expr.args
    return expr


def _loses(source: Type, target: Type) -> bool:
    return not isinstance(source, Integer | Decimal) or _scale(source) > _scale(target)


def _reduced(of: Quotient) -> Quotient:
    common = gcd(of.times, of.by)
    return replace(of, times=of.times // common, by=of.by // common)


def _mean(total: Expr, means: Means) -> bounds.Range | None:
    return means.get(total.name) if isinstance(total, ColumnRef) else None


def _unit(expr: Expr) -> int:
    return int(10 ** _scale(expr.type))


def _scale(type_: Type) -> int:
    return type_.scale if isinstance(type_, Decimal) else 0
