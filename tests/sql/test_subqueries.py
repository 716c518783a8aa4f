"""Subqueries mean what DuckDB says: the bound algebra, rendered as SQL, gives the rows of the query itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.plan.catalogs import MIXED, MIXED_COLUMNS

from tacit.local.macros import MACROS
from tacit.local.render import render
from tacit.plan.algebra.types import sql_name
from tacit.plan.facts.fields import fields
from tacit.plan.physical.placed import NativeStep
from tacit.sql import bind, compile_query

from .test_meaning import Leaves

QUERIES = (Path(__file__).parent / "subqueries.sql").read_text().strip().split(";\n")


@pytest.fixture(scope="module", params=range(4))
def database(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of the mixed catalog with few different values, so that rows match, miss, repeat and are NULL."""
    generator = random.Random(request.param)
    with duckdb.connect() as connection:
        for macro in MACROS:
            connection.execute(macro)
        for number, table in enumerate(MIXED.tables):
            columns = ", ".join(f"{each.field.name} {sql_name(each.field.type)}" for each in table.columns)
            connection.execute(f"CREATE TABLE {table.name} ({columns})")
            for key in generator.sample(range(15), 0 if request.param == number + 1 == 2 else 10):
                row = [key, *(_value(name, nullable, generator) for name, _, nullable in MIXED_COLUMNS[1:])]
                connection.execute(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(row))})", row)
        yield connection


@pytest.mark.parametrize("query", QUERIES)
def test_a_subquery_means_what_duckdb_says(database: duckdb.DuckDBPyConnection, query: str) -> None:
    relation = bind(query, MIXED)
    found = database.execute(render(relation, fields(relation), Leaves()))
    names = [each[0] for each in found.description or []]
    rows = found.fetchall()
    expected = database.execute(query)
    assert names == [each[0] for each in expected.description or []]
    assert sorted(map(repr, rows)) == sorted(map(repr, expected.fetchall()))


def _value(name: str, nullable: bool, generator: random.Random) -> object:
    if nullable and generator.random() < 0.25:
        return None
    match name:
        case "day":
            return f"1970-01-0{generator.randint(1, 4)}"
        case "f":
            return generator.random() < 0.5
        case "u":
            return generator.choice(("apple", "kiwi", "pear"))
        case "v" | "w" | "x":
            return generator.choice("abc")
        case _:
            return generator.randint(0, 3)


UNITED = "(SELECT * FROM padded UNION ALL SELECT * FROM announced)"


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        (
            f"WITH c AS (SELECT g, SUM(s) AS t FROM {UNITED} u GROUP BY g)"
            " SELECT g FROM c WHERE t = (SELECT MAX(t) FROM c) AND g IN (SELECT g FROM c WHERE t > 1)",
            1,
        ),
        (
            f"WITH c AS (SELECT g, SUM(s) AS t FROM {UNITED} u GROUP BY g)"
            " SELECT a.g, b.t FROM c a JOIN c b ON a.t = b.t WHERE a.g > 1",
            1,
        ),
        (
            f"WITH c AS (SELECT g, k, s FROM {UNITED} u), d AS (WITH c AS (SELECT g, SUM(s) AS t FROM c GROUP BY g)"
            " SELECT * FROM c) SELECT a.g, b.t FROM d a JOIN d b ON a.g = b.g + 1",
            1,
        ),
        (
            f"SELECT id, (SELECT MAX(s) FROM {UNITED} q WHERE q.k = p.k) AS m FROM consenting p"
            f" WHERE (SELECT MAX(s) FROM {UNITED} q WHERE q.k = p.k) > 3 OR f",
            1,
        ),
    ],
)
def test_what_is_used_several_times_is_computed_once(query: str, groups: int) -> None:
    plan = compile_query(query, MIXED, ("p",))
    found = [step for step in plan.steps if isinstance(step, NativeStep) and step.operator.op == "group_by"]
    assert len(found) == groups
