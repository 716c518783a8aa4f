"""Aggregate calls: what each function of SQL is made of.

The algebra adds up, counts, and finds values by their position in order. A FILTER is a CASE, of which NULL is no value.
BOOL_AND and BOOL_OR are the smallest and the largest truth value, and ANY_VALUE is the smallest value, so that it is
the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer
from tacit.sql.aggregate_calls import (
    Aggregated,
    Group,
    arguments,
    filtered,
    number_of,
    numbers,
    place,
    read,
    truth,
    value,
)
from tacit.sql.quantiles import QUANTILES
from tacit.sql.statistics import STATISTICS

TRUE: Final = Literal(True, Boolean())
SUPPORTED: Final = "use SUM, COUNT, AVG, MIN, MAX, MEDIAN, QUANTILE_CONT, VARIANCE, STDDEV or BOOL_OR"
INSTEAD: dict[type[exp.Expr], str] = {
    exp.First: "say which value: MIN, MAX or ANY_VALUE",
    exp.Last: "say which value: MIN, MAX or ANY_VALUE",
    exp.ArgMax: "join the rows to a subquery with the MAX of each group",
    exp.ArgMin: "join the rows to a subquery with the MIN of each group",
    exp.Mode: "count the values with GROUP BY, and order by the count",
    exp.ArrayAgg: "select the rows, ordered by the key",
    exp.GroupConcat: "select the strings, ordered by the key",
    exp.ApproxDistinct: "write COUNT(DISTINCT ...), which is exact",
}


def aggregate(node: exp.Expr, group: Group) -> Expr:
    """The expression that stands for an aggregate call."""
    if isinstance(node, exp.Grouping | exp.GroupingId):
        return group.level(node)
    call = read(node, group.text)
    binder = BINDERS.get(type(call.node))
    if binder is None:
        instead = INSTEAD.get(type(call.node), SUPPORTED)
        raise group.text.unsupported(node, f"the aggregate {group.text.word(call.node)}", instead)
    if call.distinct and type(call.node) not in WITH_DISTINCT:
        instead = "aggregate a subquery with SELECT DISTINCT"
        raise group.text.unsupported(node, f"DISTINCT in {group.text.word(call.node)}", instead)
    return binder(call, group)


def _count(call: Aggregated, group: Group) -> Expr:
    if not call.arguments or isinstance(call.arguments[0], exp.Star):
        if call.where is None:
            return group.output("count_rows", None, call.node)
        return group.output("count", filtered(TRUE, call, group), call.node)
    if len(call.arguments) > 1:
        instead = "count the rows of a SELECT DISTINCT subquery"
        raise group.text.unsupported(call.node, "COUNT of several columns", instead)
    argument = value(call, group)
    return group.output("count_distinct", argument, call.node) if call.distinct else group.counted(argument, call.node)


def _count_if(call: Aggregated, group: Group) -> Expr:
    """How many values are TRUE. DuckDB adds up, so that of nothing it is NULL."""
    found = truth(call, group)
    return _total(call, group, Call("cast", (found,), Integer(0, 1, "INTEGER"), found.nullable))


def _sum(call: Aggregated, group: Group) -> Expr:
    (argument,) = arguments(call, group, 1)
    if isinstance(argument.type, Boolean):
        argument = Call("cast", (argument,), Integer(0, 1, "INTEGER"), argument.nullable)
    elif not isinstance(argument.type, Integer | Decimal):
        (argument,) = numbers(call, group)
    return _total(call, group, filtered(argument, call, group))


def _total(call: Aggregated, group: Group, argument: Expr) -> ColumnRef:
    return group.output("sum_distinct" if call.distinct else "sum", argument, call.node)


def _average(call: Aggregated, group: Group) -> Expr:
    (number,) = numbers(call, group)
    argument = filtered(number, call, group)
    total = _total(call, group, argument)
    distinct = group.output("count_distinct", argument, call.node) if call.distinct else None
    count = distinct or number_of(argument, call, group)
    return Call("average", (total, count), Double(), total.nullable, place(call, group))


def _least(call: Aggregated, group: Group) -> Expr:
    return group.output("min", value(call, group), call.node)


def _greatest(call: Aggregated, group: Group) -> Expr:
    return group.output("max", value(call, group), call.node)


def _every(call: Aggregated, group: Group) -> Expr:
    return group.output("min", truth(call, group), call.node)


def _some(call: Aggregated, group: Group) -> Expr:
    return group.output("max", truth(call, group), call.node)


BINDERS: Final[dict[type[exp.Expr], Callable[[Aggregated, Group], Expr]]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: _sum,
    exp.Avg: _average,
    exp.Min: _least,
    exp.Max: _greatest,
    exp.AnyValue: _least,
    exp.LogicalAnd: _every,
    exp.LogicalOr: _some,
    **STATISTICS,
    **QUANTILES,
}
WITH_DISTINCT: Final = {
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.AnyValue, exp.LogicalAnd, exp.LogicalOr,
}  # fmt: skip
