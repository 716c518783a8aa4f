"""Variances, covariances and what is made of them: from exact sums of values and of products, and a count.

These three are opened, as the sum and the count of an average are, and the recipient computes the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Double, Integer
from tacit.sql import arithmetic
from tacit.sql.aggregate_calls import Aggregated, Group, filtered, number_of, numbers, place
from tacit.sql.coercion import NULL, Mismatch, coerce


def _variance(lacks: int, call: Aggregated, group: Group) -> Expr:
    (number,) = numbers(call, group)
    return _covariance(filtered(number, call, group), None, lacks, call, group)


def _deviation(lacks: int, call: Aggregated, group: Group) -> Expr:
    found = _variance(lacks, call, group)
    return Call("root", (found,), Double(), found.nullable, place(call, group))


def _paired(call: Aggregated, group: Group) -> tuple[Expr, Expr]:
    """Both arguments, NULL where either is."""
    one, other = numbers(call, group, 2)
    for_one = _beside(one, other, call, group)
    return filtered(for_one, call, group), filtered(_beside(other, one, call, group), call, group)


def _beside(one: Expr, other: Expr, call: Aggregated, group: Group) -> Expr:
    if not other.nullable:
        return one
    position = place(call, group)
    return arithmetic.choice([(arithmetic.is_null(other, position), NULL)], one, position)


def _together(lacks: int, call: Aggregated, group: Group) -> Expr:
    one, other = _paired(call, group)
    return _covariance(one, other, lacks, call, group)


def _correlation(call: Aggregated, group: Group) -> Expr:
    one, other = _paired(call, group)
    both = _covariance(one, other, 0, call, group)
    roots = [
        Call("root", (_covariance(each, None, 0, call, group),), Double(), True, both.position) for each in (one, other)
    ]
    return _quotient(both, Call("mul", tuple(roots), Double(), True, both.position), both.position)


def _slope(call: Aggregated, group: Group) -> Expr:
    """Of the first argument by the second one."""
    one, other = _paired(call, group)
    both = _covariance(one, other, 0, call, group)
    return _quotient(both, _covariance(other, None, 0, call, group), both.position)


def _quotient(a: Expr, b: Expr, position: Position | None) -> Expr:
    return Call("div", (a, b), Double(), True, position)


def _covariance(one: Expr, other: Expr | None, lacks: int, call: Aggregated, group: Group) -> Call:
    """From the sums of products and of both factors, and the number of rows. other: None for a variance."""
    position = place(call, group)
    try:
        product = arithmetic.binary("mul", _wide(one), _wide(one if other is None else other), position)
    except Mismatch as error:
        raise group.text.invalid(call.node, f"{error}.") from None
    sums = [group.output("sum", each, call.node) for each in (product, one, one if other is None else other)]
    count = number_of(one, call, group)
    less = Literal(lacks, Integer(lacks, lacks, "INTEGER"))
    return Call("covariance", (*sums, count, less), Double(), True, position)


def _wide(number: Expr) -> Expr:
    """A whole number whose product DuckDB computes in 128 bits."""
    return coerce(number, Integer(0, 0, "HUGEINT")) if isinstance(number.type, Integer) else number


STATISTICS: Final[dict[type[exp.Expr], Callable[[Aggregated, Group], Expr]]] = {
    exp.Variance: partial(_variance, 1),
    exp.VariancePop: partial(_variance, 0),
    exp.Stddev: partial(_deviation, 1),
    exp.StddevSamp: partial(_deviation, 1),
    exp.StddevPop: partial(_deviation, 0),
    exp.CovarSamp: partial(_together, 1),
    exp.CovarPop: partial(_together, 0),
    exp.Corr: _correlation,
    exp.RegrSlope: _slope,
}
