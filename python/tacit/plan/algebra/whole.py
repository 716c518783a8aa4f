"""Arithmetic on whole numbers, with exact bounds: what functions of days are written in for nodes.

Operands of quotients and remainders are not negative here, so that both round down; but for those of weeks.
"""

from __future__ import annotations

from typing import overload

from tacit.plan.algebra import bounds
from tacit.plan.algebra.relations import Call, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Integer


def number(value: int) -> Literal:
    """A constant."""
    return Literal(value, Integer(value, value, "BIGINT"))


@overload
def plus(a: Call | Literal, by: int) -> Call | Literal: ...
@overload
def plus(a: Expr, by: int) -> Expr: ...
def plus(a: Expr, by: int) -> Expr:
    """a + by."""
    return a if by == 0 else _of("add", a, number(by), bounds.add(bounds.range_of(a.type), (by, by)))


def added(a: Expr, b: Expr) -> Call:
    """a + b."""
    return _of("add", a, b, bounds.add(bounds.range_of(a.type), bounds.range_of(b.type)))


def minus(a: Expr, b: Expr) -> Call:
    """a - b."""
    return _of("sub", a, b, bounds.subtract(bounds.range_of(a.type), bounds.range_of(b.type)))


def times(a: Expr, by: int) -> Call:
    """a * by."""
    return _of("mul", a, number(by), bounds.multiply(bounds.range_of(a.type), (by, by)))


def divided(a: Expr, by: int) -> Call:
    """a / by, rounded down."""
    low, high = bounds.range_of(a.type)
    assert low >= 0, "quotients round towards zero"
    return _of("int_div", a, number(by), (low // by, high // by))


def rest(a: Expr, by: int) -> Call:
    """What a / by leaves."""
    low, high = bounds.range_of(a.type)
    assert low >= 0, "a rest has the sign of its number"
    return _of("mod", a, number(by), (0, min(high, by - 1)))


def weeks(days: Expr) -> Call:
    """The whole weeks of a number of days, rounded towards zero."""
    low, high = bounds.range_of(days.type)
    return _of("int_div", days, number(7), (-(-min(low, 0) // 7), max(high, 0) // 7))


def at_least(a: Expr, least: int) -> Call:
    """a >= least."""
    return Call("ge", (a, number(least)), Boolean(), a.nullable)


def either(condition: Expr, then: Expr, otherwise: Expr) -> Call:
    """then where the condition holds."""
    found = bounds.either(bounds.range_of(then.type), bounds.range_of(otherwise.type))
    return Call("if", (condition, then, otherwise), Integer(*found, "BIGINT"), then.nullable or otherwise.nullable)


def within(a: Expr, found: bounds.Range) -> Call:
    """A whole number of which more is known than its bounds say."""
    return Call("cast", (a,), Integer(*found, "BIGINT"), a.nullable)


def same(a: Expr) -> Call:
    """A value as a computed number."""
    return _of("add", a, number(0), bounds.range_of(a.type))


def _of(op: Operator, a: Expr, b: Expr, found: bounds.Range) -> Call:
    return Call(op, (a, b), Integer(*found, "BIGINT"), a.nullable or b.nullable)
