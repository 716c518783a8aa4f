"""Aggregate calls: what each function of SQL is made of.

The algebra adds up, counts, and finds values by their position in order. A FILTER is a CASE, of which NULL is no value.
BOOL_AND and BOOL_OR are the smallest and the largest truth value, and ANY_VALUE is the smallest value, so that it is
the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from tacit.plan.algebra.relations import AggregateFunction, Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer
from tacit.sql.aggregate_calls import (
    Aggregated,
    Group,
    filtered,
    measure,
    number_of,
    numbers,
    ordered,
    place,
    read,
    truth,
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
    argument = filtered(ordered(call, group)[0], call, group)
    return group.output("count_distinct", argument, call.node) if call.distinct else group.counted(argument, call.node)


def _count_if(call: Aggregated, group: Group) -> Expr:
    """How many values are TRUE. DuckDB adds up, so that of nothing it is NULL."""
    found = truth(call, group)
    return _total(call, group, Call("cast", (found,), Integer(0, 1, "INTEGER"), found.nullable))


def _sum(call: Aggregated, group: Group) -> Expr:
    argument, part = measure(call, group)
    if isinstance(argument.type, Boolean):
        argument = Call("cast", (argument,), Integer(0, 1, "INTEGER"), argument.nullable)
    total = _total(call, group, filtered(_number(argument, call, group), call, group))
    return total if part is None else part.of(total)


def _total(call: Aggregated, group: Group, argument: Expr) -> ColumnRef:
    return group.output("sum_distinct" if call.distinct else "sum", argument, call.node)


def _average(call: Aggregated, group: Group) -> Expr:
    number, part = measure(call, group)
    argument = filtered(_number(number, call, group), call, group)
    total = _total(call, group, argument)
    distinct = group.output("count_distinct", argument, call.node) if call.distinct else None
    count = distinct or number_of(argument, call, group)
    average = Call("average", (total, count), Double(), total.nullable, place(call, group))
    return average if part is None else part.of(average)


def _number(found: Expr, call: Aggregated, group: Group) -> Expr:
    """The argument, which must be a number."""
    return found if isinstance(found.type, Integer | Decimal) else numbers(call, group)[0]


def _least(call: Aggregated, group: Group) -> Expr:
    return _outer("min", "max", call, group)


def _greatest(call: Aggregated, group: Group) -> Expr:
    return _outer("max", "min", call, group)


def _outer(function: AggregateFunction, turned: AggregateFunction, call: Aggregated, group: Group) -> Expr:
    """The least or greatest value, of a falling DOUBLE that of the other end."""
    number, part = ordered(call, group)
    argument = filtered(number, call, group)
    if part is None:
        return group.output(function, argument, call.node)
    return part.of(group.output(function if part.rising else turned, argument, call.node))


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
