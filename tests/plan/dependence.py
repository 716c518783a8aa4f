"""What a relation's rows really depend on: tables change one at a time, and DuckDB computes the relation again."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from tacit.local.database import quoted
from tacit.local.macros import MACROS
from tacit.local.render import render
from tacit.plan.algebra.relations import Join, KeptScan, Match, Opened, Relation, Scan
from tacit.plan.algebra.trees import kept_scans, over_children, scans
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Type, Varchar, sql_name
from tacit.plan.facts.catalog import Catalog, KeptTable, Table
from tacit.plan.facts.fields import fields, names
from tacit.plan.facts.lineage import Lineage
from tacit.plan.facts.sources import Source, Uses
from tacit.plan.physical.lower_input import in_order

DUCKDB = duckdb.connect(config={"threads": 1})
"""One instance, with a database for each relation: to open another takes 17 ms of a processor."""

Row = tuple[Any, ...]
ROWS = 5
TRIES = 30


class _Pooled:
    """All tables are in one database, under their own names."""

    def scanned(self, scan: Scan) -> str:
        return scan.table

    def opened(self, opened: Opened) -> str:
        raise AssertionError("a tail")


def as_sql(relation: Relation) -> str:
    """A relation over the pooled tables; its rows come in its order."""
    return render(in_clear(relation), fields(relation), _Pooled())


def in_clear(relation: Relation) -> Relation:
    """The same relation of operators that one party has, over tables that it has."""
    match relation:
        case Match(left, right, left_keys, right_keys):
            return Join(in_clear(left), in_clear(right), left_keys, right_keys)
        case KeptScan(table, columns, found, rows):
            return Scan(table, "", columns, found, rows)
        case _:
            return over_children(relation, in_clear)


def sources(uses: Uses) -> frozenset[Source]:
    return frozenset(use.source for use in uses)


def touched(found: Lineage, source: Source) -> frozenset[str]:
    """The columns that may change with a source that decides no row's presence."""
    return frozenset(name for name, uses in found.values.items() if source in sources(uses))


def seen(relation: Relation, rows: Iterable[Row], columns: Iterable[str]) -> list[Row]:
    """The rows of some columns only: in their order if they have one, else in any."""
    places = [place for place, name in enumerate(names(relation)) if name in columns]
    shown = [tuple(row[place] for place in places) for row in rows]
    return shown if in_order(relation) else sorted(shown, key=repr)


class Pool:
    """Tables with random rows, of which one column after the other can be drawn anew."""

    def __init__(self, tables: Sequence[Table | KeptTable], values: Mapping[Source, Sequence[Any]], seed: int) -> None:
        self.tables = {table.name: table for table in tables}
        self.values = values
        self.draw = random.Random(seed)

    def sources(self) -> Iterator[Source]:
        """Every column, and the rows of every table."""
        for table in self.tables.values():
            yield source(table, None)
            yield from (source(table, column.field.name) for column in table.columns)

    @contextmanager
    def changed(self, database: duckdb.DuckDBPyConnection, changed: Iterable[Source]) -> Iterator[None]:
        """The database with other values in these columns, or other rows. What is declared unique stays so."""
        database.begin()
        try:
            for each in changed:
                self._change(database, each)
            yield
        finally:
            database.rollback()

    def _change(self, database: duckdb.DuckDBPyConnection, of: Source) -> None:
        table = self.tables[of.table]
        listed = [column.field.name for column in table.columns]
        before = database.sql(f"SELECT * FROM {quoted(of.table)}").fetchall()
        if of.column is None:
            # A kept table of a single row has it, whatever the data.
            after = before if is_single(table) else [row for row in before if self.draw.random() < 0.6]
        else:
            after = self._redrawn(before, listed.index(of.column), self.values[of], table)
        database.execute(f"DELETE FROM {quoted(of.table)}")
        insert(database, of.table, after)

    def _redrawn(self, before: list[Row], place: int, values: Sequence[Any], table: Table | KeptTable) -> list[Row]:
        for _ in range(TRIES):
            drawn = [self.draw.choice(values) if self.draw.random() < 0.7 else row[place] for row in before]
            after = [(*row[:place], new, *row[place + 1 :]) for row, new in zip(before, drawn, strict=True)]
            if is_unique(after, table):
                return after
        return before


def source(table: Table | KeptTable, column: str | None) -> Source:
    return Source(table.owner if isinstance(table, Table) else None, table.name, column)


def is_single(table: Table | KeptTable) -> bool:
    return isinstance(table, KeptTable) and table.single


def is_unique(rows: list[Row], table: Table | KeptTable) -> bool:
    listed = [column.field.name for column in table.columns]
    keys = [[tuple(row[listed.index(name)] for name in sorted(key)) for row in rows] for key in table.unique]
    return all(len(set(found)) == len(found) for found in keys)


def few_values(type_: Type, nullable: bool) -> list[Any]:
    """Values of a type near zero, so that they repeat and meet."""
    null = [None] if nullable else []
    match type_:
        case Boolean():
            return [False, True, *null]
        case Integer(low, high):
            return [*range(max(low, -1), min(high, max(low, -1) + 5) + 1), *null]
        case Decimal(_, scale):
            return [number / 10**scale for number in (0, 100, 250, 400)] + null
        case Date():
            return ["1970-01-01", "1970-01-02", "1980-05-05", *null]
        case Varchar(_, values):
            return [*(("a", "b", "") if values is None else values), *null]
        case Double():
            raise AssertionError("no table has one")


@contextmanager
def filled(relation: Relation, catalog: Catalog, seed: int) -> Iterator[tuple[Pool, duckdb.DuckDBPyConnection]]:
    """A database with a few random rows in each table that a relation reads."""
    read = {scan.table for scan in (*scans(relation), *kept_scans(relation))}
    tables = [table for table in (*catalog.tables, *catalog.kept) if table.name in read]
    values = {
        source(table, column.field.name): few_values(column.field.type, column.field.nullable)
        for table in tables
        for column in table.columns
    }
    pool = Pool(tables, values, seed)
    with DUCKDB.cursor() as database:
        database.execute("ATTACH ':memory:' AS filled")
        database.execute("USE filled")
        try:
            _fill(database, pool)
            yield pool, database
        finally:
            database.execute("USE memory")
            database.execute("DETACH filled")


def _fill(database: duckdb.DuckDBPyConnection, pool: Pool) -> None:
    for macro in MACROS:
        database.execute(macro)
    for table in pool.tables.values():
        listed = [f"{quoted(column.field.name)} {sql_name(column.field.type)}" for column in table.columns]
        database.execute(f"CREATE TABLE {quoted(table.name)} ({', '.join(listed)})")
        insert(database, table.name, _rows(table, pool))


def insert(database: duckdb.DuckDBPyConnection, table: str, rows: list[Row]) -> None:
    if rows:
        marks = ", ".join(f"({', '.join('?' * len(row))})" for row in rows)
        database.execute(f"INSERT INTO {quoted(table)} VALUES {marks}", [value for row in rows for value in row])


def _rows(table: Table | KeptTable, pool: Pool) -> list[Row]:
    found: list[Row] = []
    for _ in range(1 if is_single(table) else ROWS):
        row = tuple(pool.draw.choice(pool.values[source(table, column.field.name)]) for column in table.columns)
        found += [row] if is_unique([*found, row], table) else []
    return found
