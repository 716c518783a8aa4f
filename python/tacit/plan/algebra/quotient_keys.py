"""Averages and quotients as whole numbers that tell them apart, and back: keys of groups and windows, MIN and MAX.

The whole number is the fraction times a power of two (tacit.plan.algebra.quotient_orders). Of all fractions whose
denominators are as large as the public bounds allow, one has that number. Who sees the number finds the fraction, in
lowest terms, and divides as DuckDB does. So the number tells the DOUBLE: neither the dividend nor the divisor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal as OneOf

from tacit.plan.algebra import bounds, whole
from tacit.plan.algebra.quotient_orders import OrderedFraction, factor_of, fraction, told
from tacit.plan.algebra.refusals import TooWide
from tacit.plan.algebra.relations import Call, ColumnRef, Expr
from tacit.plan.algebra.types import Double, Integer, Type

EXACT_BITS = 50
"""Different fractions are different DOUBLEs where numerator and denominator have at most this many bits together.

They differ by a factor of at least 1 + 2^-50, of which rounding both numbers and the quotient takes a quarter.
"""
ORDINARY = 2.0**-500, 2.0**500
"""A quotient times or by such a constant neither overflows nor loses digits because it is small."""
STEPS_PER_BIT = 1.45
"""Steps of Euclid's algorithm for each bit of the smaller number: 1 / log2 of the golden ratio."""


@dataclass(frozen=True)
class QuotientKey:
    """A DOUBLE that is an average or a quotient of exact numbers, perhaps times constants.

    number: a whole number that stands for the quotient. rising: whether the DOUBLE grows with it. is_told: whether
    different numbers are different DOUBLEs. may_be_nan: whether it may be 0 / 0, which is the largest, and so is its
    negative.
    """

    number: Expr
    rising: bool
    is_told: bool
    may_be_nan: bool
    _value: Expr
    _quotient: Call
    _fraction: OrderedFraction

    def of(self, number: Expr) -> Expr:
        """The DOUBLE of a number, NULL where that is."""
        return _replaced(self._value, self._quotient, self._told(number))

    def _told(self, number: Expr) -> Call:
        """The quotient with the numerator and the denominator that a number tells in place of its own."""
        parts = _part("numerator", self._fraction, number), _part("denominator", self._fraction, number)
        args = (
            parts
            if self._quotient.op == "average"
            else tuple(Call("cast", (each,), Double(), each.nullable) for each in parts)
        )
        return replace(self._quotient, args=args, nullable=number.nullable)


def quotient_key(expr: Expr) -> QuotientKey | None:
    """The key of a DOUBLE; None where it is no such quotient, or its bounds are too wide for a key."""
    found = _quotient(expr)
    parts = None if found is None else fraction(found[0])
    if found is None or parts is None:
        return None
    try:
        number = parts.in_order()
    except TooWide:
        return None
    is_told = _keeps_apart(expr) and _are_told(parts.numerator.type, parts.denominator.type)
    return QuotientKey(number, found[1], is_told, parts.may_be_zero, expr, found[0], parts)


def told_number(expr: Expr) -> ColumnRef | None:
    """The column of numbers that a DOUBLE tells, of one that a key has made of it."""
    found = _quotient(expr)
    number = None if found is None else told(found[0])
    if found is None or not isinstance(number, ColumnRef):
        return None
    told_apart = _keeps_apart(expr) and _are_told(*(each.type for each in map(_uncast, found[0].args)))
    return number if told_apart else None


def _are_told(numerator: Type, denominator: Type) -> bool:
    return sum(max(map(abs, bounds.range_of(each))).bit_length() for each in (numerator, denominator)) <= EXACT_BITS


def _part(part: OneOf["numerator", "denominator"], of: OrderedFraction, number: Expr) -> Call:
    """A part of the fraction that a number tells. Of a division by 0 that is 1, -1 or 0, and 0."""
    steps = ceil(STEPS_PER_BIT * of.largest.bit_length()) + 3
    type_ = (of.numerator if part == "numerator" else of.denominator).type
    most = max(*map(abs, bounds.range_of(type_)), 1)
    found = (-most, most) if part == "numerator" else (0 if of.may_be_zero else 1, most)
    type_ = Integer(*found, "HUGEINT") if isinstance(type_, Integer) else bounds.with_range(type_, found)
    return Call(
        part, (number, whole.number(of.shift), whole.number(of.most), whole.number(steps)), type_, number.nullable
    )


def _quotient(expr: Expr) -> tuple[Call, bool] | None:
    """The one average or quotient in a DOUBLE, and whether the DOUBLE grows with it."""
    match expr:
        case Call("average", _):
            return expr, True
        case Call("neg", (inner,)):
            return _turned(_quotient(inner), -1)
        case Call("mul", (factor, inner)) if factor_of(factor):
            return _turned(_quotient(inner), factor_of(factor))
        case Call("mul" | "div", (inner, factor)) if factor_of(factor) and _quotient(inner) is not None:
            return _turned(_quotient(inner), factor_of(factor))
        case Call("div", _):
            return expr, True
        case _:
            return None


def _keeps_apart(expr: Expr) -> bool:
    """Whether different quotients in a DOUBLE stay different: beside one ordinary constant at most."""
    found: list[float] = []
    while isinstance(expr, Call) and (known := _factor(expr)) is not None:
        factor, expr = known
        found += [factor] if abs(factor) != 1 else []
    return len(found) <= 1 and all(ORDINARY[0] < abs(each) < ORDINARY[1] for each in found)


def _factor(expr: Call) -> tuple[float, Expr] | None:
    """The constant that a DOUBLE is multiplied or divided by, and the rest; None of a quotient itself."""
    match expr:
        case Call("neg", (inner,)):
            return 1.0, inner
        case Call("mul", (factor, inner)) if known := factor_of(factor):
            return float(known), inner
        case Call("mul" | "div", (inner, factor)) if (known := factor_of(factor)) and _quotient(inner) is not None:
            return float(known), inner
        case _:
            return None


def _turned(found: tuple[Call, bool] | None, factor: float | None) -> tuple[Call, bool] | None:
    return None if found is None or factor is None else (found[0], found[1] == (factor > 0))


def _replaced(expr: Expr, quotient: Call, other: Call) -> Expr:
    if expr == quotient:
        return other
    if not isinstance(expr, Call):
        return expr
    args = tuple(_replaced(each, quotient, other) for each in expr.args)
    return replace(expr, args=args, nullable=any(each.nullable for each in args))


def _uncast(expr: Expr) -> Expr:
    return expr.args[0] if isinstance(expr, Call) and expr.op == "cast" else expr
