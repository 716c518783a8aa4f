"""Variances, covariances and what is made of them: from exact sums of values and of products, and a count.

These three are opened, as the sum and the count of an average are, and the recipient computes the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp

from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Double, Integer
from tacit.sql import arithmetic
from tacit.sql.aggregate_calls import Aggregated, Group, filtered, number_of, numbers, place
from tacit.sql.coercion import NULL, Mismatch, coerce


def _variance(lacks: int, call: Aggregated, group: Group) -> Call:
    (number,) = numbers(call, group)
    return _covariance(number, number, lacks, call, group)


def _deviation(lacks: int, call: Aggregated, group: Group) -> Expr:
    return _root(_variance(lacks, call, group))


def _paired(call: Aggregated, group: Group) -> tuple[Expr, Expr]:
    """Both arguments, NULL where either is."""
    one, other = numbers(call, group, 2)
    return _beside(one, other, call, group), _beside(other, one, call, group)


def _beside(one: Expr, other: Expr, call: Aggregated, group: Group) -> Expr:
    if not other.nullable:
        return one
    position = place(call, group)
    return arithmetic.choice([(arithmetic.is_null(other, position), NULL)], one, position)


def _together(lacks: int, call: Aggregated, group: Group) -> Expr:
    return _covariance(*_paired(call, group), lacks, call, group)


def _correlation(call: Aggregated, group: Group) -> Expr:
    one, other = _paired(call, group)
    both = _covariance(one, other, 0, call, group)
    roots = tuple(_root(_covariance(each, each, 0, call, group)) for each in (one, other))
    return _quotient(both, Call("mul", roots, Double(), True, both.position))


def _slope(call: Aggregated, group: Group) -> Expr:
    """Of the first argument by the second one."""
    one, other = _paired(call, group)
    return _quotient(_covariance(one, other, 0, call, group), _covariance(other, other, 0, call, group))


def _root(of: Call) -> Call:
    return Call("root", (of,), Double(), True, of.position)


def _quotient(a: Call, b: Call) -> Call:
    return Call("div", (a, b), Double(), True, a.position)


def _covariance(one: Expr, other: Expr, lacks: int, call: Aggregated, group: Group) -> Call:
    """From the sums of products and of both factors, and the number of rows, as a FILTER has them."""
    position = place(call, group)
    try:
        product = arithmetic.binary("mul", _wide(one), _wide(other), position)
    except Mismatch as error:
        raise group.text.invalid(call.node, f"{error}.") from None
    parts = [filtered(each, call, group) for each in (product, one, other)]
    sums = [group.output("sum", each, call.node) for each in parts]
    less = Literal(lacks, Integer(lacks, lacks, "INTEGER"))
    return Call("covariance", (*sums, number_of(parts[1], call, group), less), Double(), True, position)


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
