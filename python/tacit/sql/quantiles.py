"""Medians and other quantiles: values at a position in the order of a group's values, and what lies between two.

MPC finds the values. Where the answer lies between two of them, both are opened with the count, and the recipient
computes it as DuckDB does. Of a median of numbers and days only the sum of both is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sqlglot import exp

from tacit.plan.algebra.relations import Call, Expr, Literal, Rank
from tacit.plan.algebra.types import Date, Decimal, Double, Integer, Timestamp, Type, sql_name
from tacit.sql import arithmetic
from tacit.sql.aggregate_calls import Aggregated, Group, arguments, filtered, number_of, place
from tacit.sql.arithmetic import quotient
from tacit.sql.coercion import coerce, integer_literal

FIRST_DAY: Final = Literal(0, Date(0, 0))
"""From which days are counted."""

MOST_PARTS: Final = 10_000
"""Of the whole, in whose parts a fraction is written. More of them would not fit numbers of positions."""

MIDDLE: Final = Fraction(1, 2)


def _median(call: Aggregated, group: Group) -> Expr:
    (value,) = arguments(call, group, 1)
    _orderable(value.type, call, group)
    return _halfway(filtered(value, call, group), call, group)


def _halfway(value: Expr, call: Aggregated, group: Group) -> Expr:
    position = place(call, group)
    match value.type:
        case Integer():
            return quotient(group.output("middle", value, call.node), integer_literal(2), position)
        case Decimal(precision, scale, low, high):
            both = group.output("middle", value, call.node)
            return Call("half", (both,), Decimal(precision, scale, low, high), both.nullable, position)
        case Date():
            days = arithmetic.binary("sub", value, FIRST_DAY, position)
            both = group.output("middle", days, call.node)
            return Call("half", (both,), _between(value.type), both.nullable, position)
        case _:
            return _interpolated(value, MIDDLE, call, group)


def _continuous(call: Aggregated, group: Group) -> Expr:
    value, fraction = _of(call, group)
    if fraction == MIDDLE:
        return _halfway(value, call, group)
    if fraction in (0, 1):
        return coerce(_at_end(value, fraction, call, group), _between(value.type))
    return _interpolated(value, fraction, call, group)


def _discrete(call: Aggregated, group: Group) -> Expr:
    value, fraction = _of(call, group)
    if fraction in (0, 1):
        return _at_end(value, fraction, call, group)
    a, b = fraction.numerator, fraction.denominator
    rank = Rank(b - a, b, 1) if call.descending else Rank(a, b, 0)
    return group.output("ranked", value, call.node, rank)


def _interpolated(value: Expr, fraction: Fraction, call: Aggregated, group: Group) -> Expr:
    """Between the values around position (n - 1) * fraction of n, from 0."""
    a, b = fraction.numerator, fraction.denominator
    ranks = (
        (Rank(b - a, b, a), Rank(b - a, b, a - b + 1)) if call.descending else (Rank(a, b, 1 - a), Rank(a, b, b - a))
    )
    first, second = (group.output("ranked", value, call.node, rank) for rank in ranks)
    share = Literal(float(fraction), Double())
    args = (first, second, number_of(value, call, group), share)
    return Call("interpolate", args, _between(value.type), first.nullable, place(call, group))


def _at_end(value: Expr, fraction: Fraction, call: Aggregated, group: Group) -> Expr:
    return group.output("max" if (fraction == 1) != call.descending else "min", value, call.node)


def _of(call: Aggregated, group: Group) -> tuple[Expr, Fraction]:
    """The value, NULL where a FILTER leaves it out, and the fraction."""
    if len(call.arguments) != 2:
        word = group.text.word(call.node)
        raise group.text.invalid(call.node, f"{word} takes a value and a fraction, such as {word}(x, 0.5).")
    value = group.argument(call.arguments[0])
    _orderable(value.type, call, group)
    return filtered(value, call, group), _fraction(call.arguments[1], call, group)


def _fraction(node: exp.Expr, call: Aggregated, group: Group) -> Fraction:
    text, word = group.text, group.text.word(call.node)
    if isinstance(node, exp.Array):
        raise text.unsupported(node, f"several fractions in {word}", f"write {word} once for each of them")
    if not isinstance(node, exp.Literal) or node.is_string:
        raise text.unsupported(node, f"a fraction in {word} that is no number from 0 to 1", "write the number itself")
    found = Fraction(str(node.this))
    if not 0 <= found <= 1:
        raise text.invalid(node, f"{word} takes a fraction from 0 to 1, not {node.this}.")
    if found.denominator > MOST_PARTS:
        raise text.unsupported(node, f"the fraction {node.this} in {word}", "write it with at most four digits")
    return found


def _orderable(type_: Type, call: Aggregated, group: Group) -> None:
    if not isinstance(type_, Integer | Decimal | Date | Timestamp):
        word = group.text.word(call.node)
        instead = "use MIN or MAX, or a number, a DATE or a TIMESTAMP"
        raise group.text.unsupported(call.node, f"{word} of a {sql_name(type_)}", instead)


def _between(type_: Type) -> Type:
    """The type of what lies between two values."""
    match type_:
        case Date(low, high):
            return coerce(Literal(low, Date(low, high)), Timestamp(0, 0)).type
        case Integer():
            return Double()
        case _:
            return type_


QUANTILES: Final[dict[type[exp.Expr], Callable[[Aggregated, Group], Expr]]] = {
    exp.Median: _median,
    exp.Quantile: _discrete,
    exp.PercentileDisc: _discrete,
    exp.PercentileCont: _continuous,
}
