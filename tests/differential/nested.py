"""Generated subqueries of FROM: windows, the first rows of groups, set operations and joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .expressions import Name, Writer
from .worlds import Table


@dataclass(frozen=True)
class Nested:
    """A subquery without an alias. unique: columns that never repeat together, if any."""

    text: str
    names: tuple[Name, ...]
    unique: frozenset[str] = frozenset()


def windowed(writer: Writer, over: str, names: Sequence[Name], fresh: str) -> Nested:
    """A relation beside a window function, which tells rows apart by all columns that have an order."""
    shown = [name for name in names if name.shown]
    order = f"ORDER BY {', '.join(name.text for name in shown)}" if shown else ""
    calls = ["count(*)", *(["rank()", "dense_rank()"] if shown else [])]
    calls += ["row_number()", "row_number()"] if len(shown) == len(names) else []
    partition = f"PARTITION BY {writer.pick(names).text} " if writer.often(2) else ""
    listed = ", ".join(name.text for name in names)
    text = f"(SELECT {listed}, {writer.pick(calls)} OVER ({partition}{order}) AS {fresh} FROM {over})"
    return Nested(writer.note("window in a subquery", text), (*names, Name(fresh, "whole")))


def top(writer: Writer, over: str, names: Sequence[Name], keys: Sequence[str]) -> Nested | None:
    """The first row of each group, if all columns have an order."""
    grouped = [name for name in names if name.bare in keys and name.origin is not None]
    if not grouped or not all(name.shown for name in names):
        return None
    listed, by = ", ".join(name.text for name in names), ", ".join(name.text for name in grouped)
    order = ", ".join(f"{name.text}{writer.pick(['', ' DESC', ' NULLS FIRST'])}" for name in names)
    window = f"ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order})"
    text = f"(SELECT {listed} FROM {over} QUALIFY {window} = 1)"
    return Nested(writer.note("top of groups", text), tuple(names), frozenset(name.bare for name in grouped))


def combined(writer: Writer, tables: Sequence[Table], keys: Sequence[str]) -> Nested:
    """A set operation on the keys that two tables have."""
    one, other = writer.pick(tables), writer.pick(tables)
    both = [column for column in one.columns if column.name in keys and column.name in {c.name for c in other.columns}]
    listed = ", ".join(column.name for column in both)
    word = writer.pick(["UNION", "INTERSECT", "EXCEPT"])
    text = f"(SELECT {listed} FROM {one.name} {word} SELECT {listed} FROM {other.name})"
    names = tuple(Name(column.name, column.family, column) for column in both)
    return Nested(writer.note("set operation in a subquery", text), names, frozenset(name.bare for name in names))


def joined(writer: Writer, left: Table, right: Table, fresh: str) -> Nested:
    """Columns of a table beside one of another, whose key is unique."""
    on = " AND ".join(f"a.{key} = b.{key}" for key in right.unique)
    added = writer.pick(right.columns)
    kind = writer.pick(["JOIN", "LEFT JOIN", "FULL JOIN"])
    listed = ", ".join(f"a.{column.name}" for column in left.columns)
    text = f"(SELECT {listed}, b.{added.name} AS {fresh} FROM {left.name} a {kind} {right.name} b ON {on})"
    names = [Name(column.name, column.family, column) for column in left.columns]
    return Nested(writer.note("join in a subquery", text), (*names, Name(fresh, added.family, added)))
