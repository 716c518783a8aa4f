"""A condition moved to the nearest places at which an owner lets a column be cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from sqlglot import exp

from tacit.plan.algebra import moments
from tacit.plan.algebra.types import Date, Decimal, Timestamp, Type
from tacit.plan.facts.catalog import Column
from tacit.plan.policy.constants import unit
from tacit.sql.edits import Change, Edit

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)


def cut(edit: Edit) -> Iterator[Change]:
    """The interval of the cuts in which the condition's constant lies, or what is above or below the nearest one."""
    tree, node = edit.copy()
    test = node.find_ancestor(*COMPARISONS)
    column = edit.column
    values = [] if test is None or column is None else _values(test, column.field.type)
    if test is None or column is None or not values or not isinstance(node, exp.Column):
        return
    new = _moved(test, node, column, values)
    if new is not None:
        test.replace(new)
        yield f"write {new.sql('duckdb')}", tree


def _values(test: exp.Expr, type_: Type) -> list[int]:
    """The constants of a condition as the column encodes them."""
    found = [each for each in test.find_all(exp.Literal) if not isinstance(each.parent, exp.DataType)]
    try:
        return [_encoded(str(each.this), type_) for each in found]
    except ValueError:
        return []


def _encoded(text: str, type_: Type) -> int:
    if isinstance(type_, Date | Timestamp):
        found = moments.read_day(text) if isinstance(type_, Date) else moments.read_moment(text)
        if found is None:
            raise ValueError(text)
        return found
    return int(float(text) * (10**type_.scale if isinstance(type_, Decimal) else 1))


def _moved(test: exp.Expr, node: exp.Column, column: Column, values: list[int]) -> exp.Expr | None:
    low, high = _neighbours(column, min(values))
    above = _neighbours(column, max(values))[1]
    flipped = isinstance(test, exp.Binary) and isinstance(test.this, exp.Literal)
    upper = (exp.GT, exp.GTE) if flipped else (exp.LT, exp.LTE)
    lower = (exp.LT, exp.LTE) if flipped else (exp.GT, exp.GTE)
    parts: list[exp.Expr] = []
    if not isinstance(test, upper) and low is not None:
        parts.append(exp.GTE(this=node.copy(), expression=_written(low, column.field.type)))
    last = high if isinstance(test, upper) else above
    if not isinstance(test, lower) and last is not None:
        parts.append(exp.LT(this=node.copy(), expression=_written(last, column.field.type)))
    if not parts:
        return None
    both = exp.And(this=parts[0], expression=parts[1]) if len(parts) > 1 else parts[0]
    return exp.Paren(this=both) if len(parts) > 1 and isinstance(test.parent, exp.Or | exp.Not) else both


def _neighbours(column: Column, value: int) -> tuple[int | None, int | None]:
    """The last cut that is not above a value, and the first one above it."""
    cuts = column.terms.cuts
    if cuts is None:
        return None, None
    if cuts == "month":
        one = unit(column.field.type)
        first, following = moments.month_around(value // one)
        return first * one, None if following is None else following * one
    ordered = sorted(cuts)
    place = bisect_right(ordered, value)
    return (ordered[place - 1] if place else None), (ordered[place] if place < len(ordered) else None)


def _written(value: int, type_: Type) -> exp.Expr:
    if isinstance(type_, Date):
        return exp.cast(exp.Literal.string(moments.day_text(value)), "date")
    if isinstance(type_, Timestamp):
        return exp.cast(exp.Literal.string(moments.moment_text(value)), "timestamp")
    if isinstance(type_, Decimal):
        return exp.Literal.number(f"{value / 10**type_.scale:.{type_.scale}f}")
    return exp.Literal.number(value)
