"""Expressions over one row, with NULL as SQL has it, and the conditions that decide them."""

from __future__ import annotations

import math
import operator
import re
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlglot import exp

from .tree import Expr, NotTold, name_of

Row = Mapping[str, Any]

COMPARISONS: Mapping[type[Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
ARITHMETIC: Mapping[type[Expr], Callable[[Any, Any], Any]] = {
    exp.Add: lambda a, b: later(a, b) if isinstance(a, date) else a + b,
    exp.Sub: lambda a, b: (a - b).days if isinstance(a, date) and isinstance(b, date) else a - b,
    exp.Mod: lambda a, b: math.fmod(a, b) if b else None,
    exp.IntDiv: lambda a, b: math.trunc(a / b) if b else None,
    exp.Like: lambda text, pattern: like(text, pattern),
    exp.Mul: operator.mul,
    exp.Div: lambda a, b: float(a) / float(b) if b else None,
}


def value(expression: Expr, row: Row) -> Any:
    """What an expression is in a row; None for NULL."""
    match expression:
        case exp.Column():
            return row[name_of(expression)]
        case exp.Literal():
            return expression.name if expression.is_string else _number(expression.name)
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(expression.this)
        case exp.Paren():
            return value(expression.this, row)
        case exp.Neg():
            return _strict(operator.neg, value(expression.this, row))
        case exp.Not():
            return _strict(operator.not_, value(expression.this, row))
        case exp.And() | exp.Or():
            return _connected(expression, value(expression.left, row), value(expression.right, row))
        case exp.Is():
            return (value(expression.this, row) is None) == isinstance(expression.expression, exp.Null)
        case exp.In():
            return _any(
                _compared(operator.eq, value(expression.this, row), value(e, row)) for e in expression.expressions
            )
        case exp.Between():
            low, high = (value(expression.args[key], row) for key in ("low", "high"))
            this = value(expression.this, row)
            return _all([_compared(operator.ge, this, low), _compared(operator.le, this, high)])
        case exp.Case():
            return value(_branch(expression, row), row)
        case exp.Coalesce():
            parts = (value(part, row) for part in (expression.this, *expression.expressions))
            return next((part for part in parts if part is not None), None)
        case exp.Nullif():
            this = value(expression.this, row)
            return None if _compared(operator.eq, this, value(expression.expression, row)) else this
        case exp.Length():
            return _strict(len, value(expression.this, row))
        case exp.Round():
            return _strict(rounded, value(expression.this, row), value(expression.args["decimals"], row))
        case exp.Interval():
            return Span(int(expression.this.name), expression.args["unit"].name)
        case exp.Cast():
            return _cast(value(expression.this, row), expression.to.sql("duckdb"))
    if (compare := COMPARISONS.get(type(expression))) is not None:
        return _compared(compare, *(value(each, row) for each in _sides(expression)))
    if (compute := ARITHMETIC.get(type(expression))) is not None:
        return _strict(compute, *(value(each, row) for each in _sides(expression)))
    raise NotTold(expression.sql("duckdb"))


@dataclass(frozen=True)
class Span:
    """An INTERVAL."""

    count: int
    unit: str


def later(day: date, by: int | Span) -> date:
    """A day so many days or months later."""
    if not isinstance(by, Span) or by.unit == "DAY":
        return day + timedelta(by.count if isinstance(by, Span) else by)
    assert by.unit == "MONTH" and day.day <= 28
    months = day.year * 12 + day.month - 1 + by.count
    return day.replace(year=months // 12, month=months % 12 + 1)


def like(text: str, pattern: str) -> bool:
    """LIKE."""
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(each, re.escape(each)) for each in pattern), text, re.DOTALL) is not None


def rounded(number: Any, digits: int) -> Any:
    """ROUND, of two nearest numbers to the one farther from zero."""
    nearest = Decimal(number).quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP)
    return type(number)(nearest)


def conditions(expression: Expr) -> list[Expr]:
    """The conditions, each as a whole, that decide which rows, or which constants, an expression takes."""
    match expression:
        case exp.Case():
            branches = expression.args["ifs"]
            values = [branch.args["true"] for branch in branches] + [expression.args.get("default") or exp.Null()]
            return [case_condition(expression, branch) for branch in branches] + _conditions(values)
        case exp.Coalesce():
            null = exp.Is(this=expression.this.copy(), expression=exp.Null())
            return [null, *_conditions([expression.this, *expression.expressions])]
        case exp.Nullif():
            same = exp.EQ(this=expression.this.copy(), expression=expression.expression.copy())
            return [same, *conditions(expression.this)]
        case exp.Predicate() | exp.Not() | exp.And() | exp.Or():
            return [expression]
    return _conditions(expression.iter_expressions())


def _conditions(parts: Iterable[Expr]) -> list[Expr]:
    return [condition for part in parts for condition in conditions(part)]


def case_condition(case: exp.Case, branch: exp.If) -> Expr:
    """When a branch is taken, if none before it is."""
    return branch.this if case.this is None else exp.EQ(this=case.this.copy(), expression=branch.this.copy())


def aggregate(expression: Expr, rows: Iterable[Row]) -> Any:
    """An aggregate over rows."""
    if isinstance(expression.this, exp.Star):
        return sum(1 for _ in rows)
    found = [each for row in rows if (each := value(argument(expression), row)) is not None]
    match expression:
        case exp.Count():
            return len(set(found) if isinstance(expression.this, exp.Distinct) else found)
        case exp.Sum():
            return sum(found) if found else None
        case exp.Avg():
            return float(sum(found)) / len(found) if found else None
        case exp.Min():
            return min(found, default=None)
        case exp.Max():
            return max(found, default=None)
        case exp.Median():
            return float(statistics.median(found)) if found else None
    raise NotTold(expression.sql("duckdb"))


def argument(expression: Expr) -> Expr:
    """What an aggregate aggregates."""
    found: Expr = expression.this.expressions[0] if isinstance(expression.this, exp.Distinct) else expression.this
    return found


def function(expression: Expr) -> str:
    """The aggregate's name among those that owners allow."""
    if isinstance(expression.this, exp.Distinct):
        return "count_distinct"
    return {"median": "quantile"}.get(expression.key, expression.key)


def _branch(case: exp.Case, row: Row) -> Expr:
    for branch in case.args["ifs"]:
        if value(case_condition(case, branch), row):
            taken: Expr = branch.args["true"]
            return taken
    return case.args.get("default") or exp.Null()


def _sides(expression: Expr) -> tuple[Expr, Expr]:
    return expression.args["this"], expression.args["expression"]


def _number(text: str) -> int | Decimal:
    return int(text) if text.isdigit() else Decimal(text)


def _cast(this: Any, to: str) -> Any:
    if this is None:
        return None
    if to == "DATE":
        return this if isinstance(this, date) else date.fromisoformat(this)
    if to in ("DOUBLE", "FLOAT"):
        return float(this)
    return this


def _strict(compute: Callable[..., Any], *parts: Any) -> Any:
    return None if None in parts else compute(*parts)


def _compared(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, date) != isinstance(right, date):
        left, right = (date.fromisoformat(each) if isinstance(each, str) else each for each in (left, right))
    return compare(left, right)


def _connected(expression: Expr, left: bool | None, right: bool | None) -> bool | None:
    return _all([left, right]) if isinstance(expression, exp.And) else _any([left, right])


def _all(parts: Iterable[bool | None]) -> bool | None:
    known = list(parts)
    return False if False in known else None if None in known else True


def _any(parts: Iterable[bool | None]) -> bool | None:
    known = list(parts)
    return True if True in known else None if None in known else False
