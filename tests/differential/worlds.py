"""Generated federations: owners, tables of every type, and rows full of NULLs, duplicates and extreme values.

The tables are such that there is something to ask: ``people`` and ``places`` have unique keys, ``sales_a`` and
``sales_b`` refer to them and have the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from zlib import crc32

from hypothesis import strategies as st

from .columns import Column, Value, columns, csv_text
from .federations import PARTIES, Declared


@dataclass(frozen=True)
class Table:
    """An owner's table with its rows. rows_bound: the declared ``rows``. unique: the columns of its key, if any.

    public: columns that all parties may read.
    """

    name: str
    owner: str
    columns: tuple[Column, ...]
    unique: tuple[str, ...]
    rows_bound: int | None
    consents: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    parquet: bool = False
    public: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def section(self) -> str:
        """Its section of the offer, with owner and path."""
        path = f"{self.owner}/{self.name}.{'parquet' if self.parquet else 'csv'}"
        lines = [f"[tables.{self.name}]", f'owner = "{self.owner}"', f'path = "{path}"']
        lines += [] if self.rows_bound is None else [f"rows = {self.rows_bound}"]
        lines += [f"unique = [[{', '.join(map(_quoted, self.unique))}]]"] if self.unique else []
        lines += [f"consents = [{', '.join(map(_quoted, self.consents))}]"] if self.consents else []
        return "\n".join([*lines, *map(self._line, self.columns)])

    def _line(self, column: Column) -> str:
        readers = ", ".join(map(_quoted, PARTIES))
        return (
            column.line.removesuffix(" }") + f", readers = [{readers}] }}"
            if column.name in self.public
            else column.line
        )

    @property
    def csv(self) -> str:
        """Its rows as a CSV file."""
        lines = [",".join(column.name for column in self.columns)]
        return "\n".join([*lines, *(",".join(map(csv_text, row)) for row in self.rows)]) + "\n"

    @property
    def features(self) -> set[str]:
        """What is special about it."""
        found = {feature for column in self.columns for feature in column.features}
        found |= {"announced rows"} if self.rows_bound is None else {"padded rows"}
        found |= {f"consent to {consent}" for consent in self.consents}
        found |= {"keys for all to read"} if self.public else set()
        found |= {"empty table"} if not self.rows else set()
        found |= {"duplicate rows"} if len(set(self.rows)) < len(self.rows) else set()
        found |= {"columns that others read"} if any(column.readers for column in self.columns) else set()
        found |= {"NULL in a key"} if any(row[0] is None for row in self.rows) else set()
        return found


@dataclass(frozen=True)
class World:
    """A federation of three parties with its data."""

    tables: tuple[Table, ...]

    def table(self, name: str) -> Table:
        """A table by its name."""
        return next(table for table in self.tables if table.name == name)

    def declared(self) -> dict[str, Declared]:
        """All tables, as text."""
        return {table.name: Declared(table.section, table.csv) for table in self.tables}

    @property
    def features(self) -> set[str]:
        """What is special about it."""
        owners = len({table.owner for table in self.tables})
        return {f"{owners} owners"}.union(*(table.features for table in self.tables))


OWNERS = {"people": "a", "places": "b", "sales_a": "b", "sales_b": "c"}
"""Owners that differ where tables join, in worlds of which the rows match."""


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A federation with data."""
    key = draw(columns("k", ("whole", "whole", "text", "date", "moment", "decimal"), key=True))
    second = [draw(columns("k2", ("whole", "text"), key=True))] if draw(st.integers(0, 3)) == 0 else []
    group = draw(columns("g", ("text", "whole", "flag", "text"), key=True))
    others = [
        draw(columns("v", ("whole",))),
        draw(columns("w", ("decimal", "whole"))),
        draw(columns("t", ("text",))),
        draw(columns("d", ("date", "moment"))),
        draw(columns("b", ("flag",))),
    ]
    keys = [key, *second]
    chosen = [each for each in others if draw(st.integers(0, 3)) > 0]
    people = [each for each in others if draw(st.booleans())]
    places = [each for each in others if draw(st.integers(0, 2)) == 0]
    unique = tuple(each.name for each in keys)
    matching = draw(st.booleans())
    # Who does not consent to matches has them hidden, where both sides' keys are unique.
    consents = draw(st.integers(0, 2)) > 0
    # A party that may read nearly all columns orders rows by them.
    reader = draw(st.sampled_from([None, None, "a", "b"]))
    tables = (
        draw(_tables("people", (*keys, group, *people), unique, matching, consents)),
        draw(_tables("places", (group, *places), ("g",), matching, consents)),
        draw(_tables("sales_a", (*keys, group, *chosen), (), matching, consents)),
        draw(_tables("sales_b", (*keys, group, *chosen), (), matching, consents)),
    )
    # By chance, but not drawn, so that the questions of a seed stay the same.
    public = ("k", "k2", "g") if crc32(repr(tables).encode()) % 3 == 0 else ()
    tables = tuple(replace(each, public=public) for each in tables)
    return World(tables if reader is None else tuple(draw(_read(table, reader)) for table in tables))


@st.composite
def _read(draw: st.DrawFn, table: Table, reader: str) -> Table:
    """The table with a party that may read most of its columns."""
    columns = [replace(each, readers=(reader,)) if draw(st.integers(0, 5)) else each for each in table.columns]
    return replace(table, columns=tuple(columns))


@st.composite
def _tables(
    draw: st.DrawFn, name: str, listed: tuple[Column, ...], unique: tuple[str, ...], matching: bool, consents: bool
) -> Table:
    """A table. matching: its rows will be matched with those of others, because plans expect many of them.

    consents: whether its owner then shows which rows match.
    """
    found = tuple(draw(_varied(column)) for column in listed)
    rows = draw(_unique_rows(found, len(unique)) if unique else _rows(found))
    return Table(
        name,
        OWNERS[name] if matching else draw(st.sampled_from(PARTIES)),
        found,
        unique,
        None if matching else draw(st.sampled_from([None, len(rows), len(rows) + 3])),
        draw(st.sampled_from([(), ("filter",), ("groups",), ("filter", "groups")]))
        + (("matches",) if (consents if matching else draw(st.booleans())) else ()),
        rows,
        draw(st.integers(0, 3)) == 3,
    )


def _rows(found: tuple[Column, ...]) -> st.SearchStrategy[tuple[tuple[Value, ...], ...]]:
    """Any rows; sometimes none."""
    row = st.tuples(*map(_values, found))
    sizes = st.sampled_from([6, 3, 9, 12, 9, 6, 12, 0])
    return sizes.flatmap(lambda size: st.lists(row, min_size=size * 2 // 3, max_size=size).map(tuple))


@st.composite
def _unique_rows(draw: st.DrawFn, found: tuple[Column, ...], width: int) -> tuple[tuple[Value, ...], ...]:
    """Rows whose first columns never repeat together: most of the possible keys, at most eight, sometimes none."""
    pools = [[*column.values, *([None] if column.nullable else [])] for column in found[:width]]
    if draw(st.integers(0, 7)) == 7:
        return ()
    keys = [key for key in product(*pools) if draw(st.integers(0, 3)) < 3]
    return tuple((*key, *(draw(_values(column)) for column in found[width:])) for key in keys[:8])


@st.composite
def _varied(draw: st.DrawFn, column: Column) -> Column:
    """The same column as another table has it: perhaps with NULL, where the other has none."""
    nullable = draw(st.sampled_from([column.nullable, column.nullable, not column.nullable]))
    return Column(
        column.name, column.family, column.declaration, column.values, nullable, column.features, column.shown
    )


def _values(column: Column) -> st.SearchStrategy[Value]:
    pool: st.SearchStrategy[Value] = st.sampled_from(column.values)
    return st.one_of(pool, pool, st.none()) if column.nullable else pool


def _quoted(name: str) -> str:
    return f'"{name}"'
