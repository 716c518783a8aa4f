"""Calls of aggregates as they are written: their arguments, FILTER, DISTINCT and order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from tacit.plan.algebra.quotient_keys import QuotientKey, quotient_key
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import AggregateFunction, ColumnRef, Expr, Rank
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, sql_name
from tacit.sql import arithmetic
from tacit.sql.coercion import NULL, Mismatch
from tacit.sql.correlation import without_around
from tacit.sql.proportional import Proportional, proportional, with_common_denominator
from tacit.sql.text import Text


class Group(Protocol):
    """Where aggregate calls get their columns. argument: binds an argument over the input."""

    text: Text
    argument: Callable[[exp.Expr], Expr]

    def output(
        self, function: AggregateFunction, argument: Expr | None, node: exp.Expr, rank: Rank | None = None
    ) -> ColumnRef:
        """The column of an aggregate. node: for its place in the text."""

    def counted(self, argument: Expr, node: exp.Expr) -> ColumnRef:
        """The column with the number of values."""

    def level(self, node: exp.Grouping | exp.GroupingId) -> Expr:
        """What GROUPING says of keys."""


@dataclass(frozen=True)
class Aggregated:
    """An aggregate call. node: the function. arguments: without DISTINCT. where: of its FILTER.

    descending: values are ordered from the largest on (WITHIN GROUP).
    """

    node: exp.AggFunc
    arguments: tuple[exp.Expr, ...]
    distinct: bool
    where: exp.Expr | None = None
    descending: bool = False


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate call, with what stands around the function."""
    if isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls):
        return is_aggregate(node.this)
    return isinstance(node, exp.AggFunc)


def read(node: exp.Expr, text: Text) -> Aggregated:
    """The call that a node is, with what stands around the function."""
    match node:
        case exp.Filter():
            return replace(read(node.this, text), where=node.expression.this)
        case exp.WithinGroup():
            return _within(node, text)
        case exp.IgnoreNulls(this=exp.AnyValue() as inner):
            return read(inner, text)
        case exp.AggFunc() if isinstance(node.this, exp.Distinct):
            return Aggregated(node, tuple(node.this.expressions), True)
        case exp.AggFunc() if isinstance(node.this, exp.Order):
            raise text.unsupported(node, f"ORDER BY in {text.word(node)}", "leave it out")
        case exp.AggFunc():
            parts = [node.this, node.args.get("expression"), node.args.get("quantile"), *(node.expressions or [])]
            extra = [node.args.get("count")] if isinstance(node, exp.Min | exp.Max) else []
            return Aggregated(node, tuple(each for each in (*parts, *extra) if each is not None), False)
        case _:
            raise text.unsupported(node, "IGNORE NULLS in this aggregate", "leave it out")


def _within(node: exp.WithinGroup, text: Text) -> Aggregated:
    inner = read(node.this, text)
    terms = node.expression.expressions
    if len(terms) != 1:
        raise text.invalid(node, f"{text.word(inner.node)} orders by one column.")
    return replace(inner, arguments=(terms[0].this, *inner.arguments), descending=bool(terms[0].args.get("desc")))


def arguments(call: Aggregated, group: Group, number: int) -> list[Expr]:
    """The arguments, bound, as many as the function takes."""
    if len(call.arguments) != number:
        takes = "one argument" if number == 1 else f"{number} arguments"
        raise group.text.invalid(call.node, f"{group.text.word(call.node)} takes {takes}, not {len(call.arguments)}.")
    found = [_bound(each, group) for each in call.arguments]
    if any(isinstance(each.type, Double) for each in found):
        raise _of_double(call, group)
    return found


def measure(call: Aggregated, group: Group) -> tuple[Expr, Proportional | None]:
    """The one argument, of a DOUBLE the exact number that it is a constant times of."""
    found = [_bound(each, group) for each in call.arguments[:1]]
    if len(call.arguments) != 1 or not isinstance(found[0].type, Double):
        return arguments(call, group, 1)[0], None
    known = proportional(found[0]) or with_common_denominator(found[0])
    if known is None or (call.distinct and not known.is_told):
        raise _of_double(call, group)
    return known.number, known


def ordered(call: Aggregated, group: Group) -> tuple[Expr, Proportional | QuotientKey | None]:
    """The one argument, of a DOUBLE the exact number in whose order it is, or against it: no sum is of these."""
    found = [_bound(each, group) for each in call.arguments[:1]]
    if len(call.arguments) == 1 and isinstance(found[0].type, Double) and proportional(found[0]) is None:
        key = quotient_key(found[0])
        if key is not None and (key.is_told or not call.distinct) and (key.rising or not key.may_be_nan):
            return key.number, key
    return measure(call, group)


def _of_double(call: Aggregated, group: Group) -> Exception:
    instead = "aggregate first, then divide, or aggregate CAST(a / NULLIF(b, 0) AS DECIMAL(18,4))"
    return group.text.unsupported(call.node, "an aggregate of a DOUBLE", instead)


def _bound(node: exp.Expr, group: Group) -> Expr:
    found = group.argument(node)
    without_around(found, "in an aggregate of the subquery")
    return found


def filtered(value: Expr, call: Aggregated, group: Group) -> Expr:
    """A value where the FILTER is TRUE, else NULL."""
    if call.where is None:
        return value
    try:
        test = arithmetic.condition(group.argument(call.where))
        return arithmetic.choice([(test, value)], NULL, group.text.position(call.node))
    except Mismatch as error:
        raise group.text.invalid(call.where, f"{error}.") from None


def numbers(call: Aggregated, group: Group, number: int = 1) -> list[Expr]:
    """Arguments that are numbers, before any FILTER."""
    found = arguments(call, group, number)
    for each in found:
        if not isinstance(each.type, Integer | Decimal):
            word = group.text.word(call.node)
            raise group.text.invalid(call.node, f"{word} takes a number, not {sql_name(each.type)}.")
    return found


def truth(call: Aggregated, group: Group) -> Expr:
    """The one argument, which must be a BOOLEAN."""
    (found,) = arguments(call, group, 1)
    if not isinstance(found.type, Boolean):
        word = group.text.word(call.node)
        raise group.text.invalid(call.node, f"{word} takes a BOOLEAN, not {sql_name(found.type)}.")
    return filtered(found, call, group)


def number_of(argument: Expr, call: Aggregated, group: Group) -> ColumnRef:
    """How many values a group has, for use beside what they add up to."""
    if argument.nullable:
        return group.output("count", argument, call.node)
    return group.output("count_rows", None, call.node)


def place(call: Aggregated, group: Group) -> Position | None:
    """Where the call is."""
    return group.text.position(call.node)
