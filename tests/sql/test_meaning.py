"""The bound algebra, rendered as SQL and run by DuckDB, gives the names, types and rows that the query itself gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal as Exact
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.catalogs import MIXED, MIXED_COLUMNS

from tacit.local.macros import MACROS
from tacit.local.render import render
from tacit.plan.algebra.relations import Opened, Scan
from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, Timestamp, Type, Varchar, sql_name
from tacit.plan.facts.catalog import Column
from tacit.plan.facts.fields import fields
from tacit.sql import bind
from tacit.sql.coercion import Mismatch

QUERIES = (Path(__file__).parent / "queries.sql").read_text().split(";\n")


SEEN = Field("seen", Timestamp(-1, 1_800_000_000_000_000), True)
COLUMNS = [*MIXED_COLUMNS, (SEEN.name, SEEN.type, SEEN.nullable)]
TIMED = replace(MIXED, tables=tuple(replace(each, columns=(*each.columns, Column(SEEN))) for each in MIXED.tables))
"""The mixed catalog with moments."""


@dataclass(frozen=True)
class Leaves:
    """Tables under their own names."""

    def scanned(self, scan: Scan) -> str:
        return scan.table

    def opened(self, opened: Opened) -> str:
        raise AssertionError("nothing is opened before placement")


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of the mixed catalog, with NULLs, bounds and repeated values."""
    with duckdb.connect() as connection:
        for macro in MACROS:
            connection.execute(macro)
        generator = random.Random(7)
        for table in TIMED.tables:
            columns = ", ".join(f"{c.field.name} {sql_name(c.field.type)}" for c in table.columns)
            connection.execute(f"CREATE TABLE {table.name} ({columns})")
            for number in generator.sample(range(51), 20):
                row = [number, *(_value(each[1], each[2], generator) for each in COLUMNS[1:])]
                connection.execute(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(row))})", row)
        yield connection


@pytest.mark.parametrize("query", QUERIES)
def test_the_algebra_means_what_the_query_means(database: duckdb.DuckDBPyConnection, query: str) -> None:
    relation = bind(query, TIMED)
    found = database.execute(render(relation, fields(relation), Leaves()))
    found_shape, found_rows = _shape(found), found.fetchall()
    expected = database.execute(query)
    assert found_shape == _shape(expected)
    expected_rows = expected.fetchall()
    if _is_ordered(query):
        assert found_rows == expected_rows
    else:
        assert sorted(map(repr, found_rows)) == sorted(map(repr, expected_rows))


WINDOWS = [query for query in QUERIES if " OVER " in query]


@pytest.mark.parametrize("query", WINDOWS)
def test_a_secret_order_of_peers_changes_nothing_that_the_query_says(
    database: duckdb.DuckDBPyConnection, query: str
) -> None:
    relation = bind(query, TIMED)
    found = database.execute(render(relation, fields(relation), Leaves(), b"secret")).fetchall()
    assert sorted(map(repr, found)) == sorted(map(repr, database.execute(query).fetchall()))


@pytest.mark.parametrize("call", ["ROW_NUMBER()", "LAG(id)", "FIRST_VALUE(id)", "LAST_VALUE(id)"])
def test_a_file_tells_nothing_of_the_order_of_peers(database: duckdb.DuckDBPyConnection, call: str) -> None:
    relation = bind(f"SELECT id, {call} OVER (PARTITION BY f ORDER BY g) AS x FROM padded", TIMED)

    def rows(secret: bytes) -> set[tuple[object, ...]]:
        return set(database.execute(render(relation, fields(relation), Leaves(), secret)).fetchall())

    assert len({frozenset(rows(bytes([number]))) for number in range(5)}) > 1
    assert rows(b"one") == rows(b"one")


def _is_ordered(query: str) -> bool:
    """Whether the whole query has an order, not only a subquery or a window."""
    statement = sqlglot.parse_one(query, dialect="duckdb")
    return statement.args.get("order") is not None


def _case(parts: tuple[str, str, str]) -> str:
    return f"CASE WHEN f THEN {parts[0]} WHEN {parts[1]} = 1 THEN NULL ELSE {parts[2]} END"


NUMBERS = st.sampled_from(["k", "b", "s", "d", "e", "g", "1", "200", "2.5", "0.05", "-3", "10000000000"])
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda e: f"(-{e})"),
        st.tuples(inner, inner).map(lambda t: f"COALESCE({t[0]}, {t[1]})"),
        st.tuples(inner, inner, inner).map(_case),
        st.tuples(inner, inner).map(lambda t: f"NULLIF({t[0]}, {t[1]})"),
        st.sampled_from(["SUM", "MIN", "MAX"]).map(lambda f: f"{f}(s)"),
    ),
    max_leaves=5,
)


@settings(deadline=None)
@given(expression=EXPRESSIONS)
def test_types_are_those_of_duckdb(expression: str) -> None:
    group = " GROUP BY ALL" if any(f in expression for f in ("SUM", "MIN", "MAX")) else ""
    query = f"SELECT {expression} AS x, k, b, s, d, e, g, f FROM padded{group}"
    with duckdb.connect() as connection:
        columns = ", ".join(f"{c.field.name} {sql_name(c.field.type)}" for c in TIMED.tables[0].columns)
        connection.execute(f"CREATE TABLE padded ({columns})")
        try:
            described = connection.execute(f"DESCRIBE {query}").fetchall()[0][1]
        except duckdb.Error:
            return
    try:
        found = fields(bind(query, TIMED))[0].type
    except Mismatch as error:
        raise AssertionError("every contradiction of types becomes a sentence with a place") from error
    assert sql_name(found) == described.replace('"NULL"', "INTEGER"), query


def _shape(result: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    return [(each[0], str(each[1])) for each in result.description or []]


def _value(type_: Type, nullable: bool, generator: random.Random) -> Any:
    if nullable and generator.random() < 0.2:
        return None
    match type_:
        case Integer(low, high):
            return generator.choice([low, high, 0, 1, 2, 3])
        case Decimal(_, scale, low, high):
            return Exact(generator.choice([low, high, 0, 150])).scaleb(-scale)
        case Date(low, high):
            return date(1970, 1, 1) + timedelta(generator.choice([low, high, 1000, 1001]))
        case Timestamp(low, high):
            return datetime(1970, 1, 1) + timedelta(microseconds=generator.choice([low, high, 10**15, 10**15 + 1]))
        case Boolean():
            return generator.random() < 0.5
        case Varchar(_, None):
            return generator.choice(["", "a", "ab", "b", "äö", "abcdef"])
        case Varchar(_, values):
            return generator.choice(values)
        case _:
            raise TypeError(type_)
