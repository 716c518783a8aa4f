"""Kept tables: what CREATE TABLE ... AS keeps as shares is what DuckDB would store, and is read like any table."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import pytest

from tacit.agent.federation import Federation
from tacit.agent.kept_catalog import with_kept
from tacit.plan.algebra.refusals import QueryError
from tacit.sql import compile_query

from .asking import refusal, stored
from .comparing import assert_equal
from .federations import MEMBERS, Declared, between_two, pooled, store
from .queries import Question
from .running import Result, among_threads, execute, reference
from .searching import NIGHTLY, search
from .worlds import THREE, TWO, Members

DOUBLE = "a DOUBLE in a kept table"

PEOPLE = """owner = "a"
path = "a/people.csv"
rows = 9
unique = [["name"]]
columns.name = { type = "VARCHAR", max_length = 12 }
columns.town = { type = "VARCHAR", values = ["Bergen", "Oslo", "Tromsø"] }
columns.born = { type = "DATE", min = 1900-01-01, max = 2029-12-31, nullable = true }
columns.seen = { type = "TIMESTAMP", min = 2020-01-01, max = 2029-12-31, nullable = true }
"""
VISITS = """owner = "{owner}"
path = "{owner}/{name}.csv"
{rows}columns.name = {{ type = "VARCHAR", max_length = 12 }}
columns.cost = {{ type = "DECIMAL(8,2)", min = -50, max = 1000, nullable = true }}
columns.paid = "BOOLEAN"
"""
TABLES = {
    "people": Declared(
        f"[tables.people]\n{PEOPLE}",
        "name,town,born,seen\nann,Bergen,1980-02-03,2024-02-29 12:30:00.5\nbob,Oslo,,2020-01-01\ncid,Oslo,1999-12-31,\n"
        "Åse,Tromsø,2001-01-01,2029-12-31\n",
    ),
    "visits_b": Declared(
        "[tables.visits_b]\n" + VISITS.format(owner="b", name="visits_b", rows="rows = 8\n"),
        "name,cost,paid\nann,10.50,true\nann,-3.25,false\ncid,,true\neva,99.00,false\nÅse,7.00,true\n",
    ),
    "visits_c": Declared(
        "[tables.visits_c]\n" + VISITS.format(owner="c", name="visits_c", rows=""),
        "name,cost,paid\nbob,20.00,true\nann,1.00,true\n",
    ),
}

KEEP = {
    "spent_b": "SELECT name, SUM(cost) AS cost, COUNT(*) AS visits FROM visits_b GROUP BY name",
    "spent_c": "SELECT name, SUM(cost) AS cost, COUNT(*) AS visits FROM visits_c GROUP BY name",
    "rows_c": "SELECT * FROM visits_c",
    "matched": "SELECT p.name, p.town, p.born, p.seen, v.cost, v.paid FROM people p JOIN visits_b v ON p.name = v.name",
    "total": "SELECT SUM(cost) AS cost, MIN(cost) AS least, COUNT(cost) AS n FROM visits_b WHERE paid",
    "dearest": "SELECT name, cost FROM visits_b ORDER BY cost DESC NULLS LAST, name LIMIT 3",
    "again": "SELECT town, SUM(cost) AS cost FROM matched GROUP BY town",
}
"""Tables in the order in which they are kept; the last one is made of another."""

QUERIES = [
    *(f"SELECT * FROM {name}" for name in KEEP),
    "SELECT name, SUM(cost) AS cost, SUM(visits) AS visits FROM "
    "(SELECT * FROM spent_b UNION ALL SELECT * FROM spent_c) GROUP BY name",
    "SELECT p.name, p.born, s.cost / s.visits AS each FROM people p JOIN spent_b s ON p.name = s.name WHERE s.cost > 0",
    "SELECT s.name, v.cost FROM visits_c v JOIN spent_b s ON v.name = s.name",
    "SELECT a.name, a.cost AS b, b.cost AS c FROM spent_b a JOIN spent_c b ON a.name = b.name",
    "SELECT COUNT(*) AS n FROM rows_c r JOIN people p ON p.name = r.name WHERE r.paid AND p.town <> 'Tromsø'",
    "SELECT name FROM spent_b WHERE cost > (SELECT least FROM total) AND name IN (SELECT name FROM rows_c)",
    "SELECT name, cost FROM spent_b WHERE cost IS NOT NULL ORDER BY cost DESC, name LIMIT 2",
    "SELECT name, cost FROM matched UNION ALL SELECT name, cost FROM visits_b",
    "SELECT MAX(born) AS latest, COUNT(DISTINCT town) AS towns FROM matched",
    "SELECT SUM(cost) AS cost, COUNT(*) AS n FROM dearest",
    "SELECT x.town, x.cost FROM again x JOIN again y ON x.town = y.town",
]


def run(federation: Federation, query: str) -> Result | None:
    """A statement or a query, every party a thread. The answer of a query."""
    catalog = with_kept(federation, None, federation.catalog.nodes)
    plan = compile_query(query, catalog, federation.recipients)
    with tempfile.TemporaryDirectory(prefix="tacit-test-") as folder:
        if plan.recipients:
            return among_threads(federation, plan, Path(folder))
        execute(federation, plan, {})
        return None


@pytest.mark.parametrize("engine", MEMBERS)
def test_kept_tables_are_read_like_any_other(engine: str, keys: Path, tmp_path: Path) -> None:
    tables = TABLES if engine == "rep3" else between_two(TABLES)
    if engine == "two":
        tables["visits_c"] = Declared(
            tables["visits_c"].section.replace("c/visits_c", "b/visits_c"), tables["visits_c"].csv
        )
    federation = store(tables, tmp_path, keys, engine=engine)
    with pooled(federation) as database:
        for name, query in KEEP.items():
            database.execute(f"CREATE TABLE {name} AS {query}")
            assert run(federation, f"CREATE TABLE {name} AS {query}") is None
        for query in QUERIES:
            found, expected = run(federation, query), reference(database, query)
            assert found is not None
            assert_equal(found, expected, (), "ORDER BY" in query)
        run(federation, "DROP TABLE again")
        with pytest.raises(QueryError, match="there is no table 'again'"):
            run(federation, "SELECT * FROM again")
        # A table may replace what it is made of.
        longer = "CREATE OR REPLACE TABLE rows_c AS SELECT * FROM rows_c UNION ALL SELECT * FROM visits_b"
        run(federation, longer)
        database.execute(longer)
        found, expected = run(federation, "SELECT * FROM rows_c"), reference(database, "SELECT * FROM rows_c")
        assert found is not None
        assert_equal(found, expected, (), total=False)


def check(question: Question, keys: Path) -> None:
    """Keep the answer of a question, and read it."""
    with tempfile.TemporaryDirectory(prefix="tacit-test-") as name:
        federation = stored(question.world, Path(name), keys)
        with pooled(federation) as database:
            try:
                database.execute(f"CREATE TABLE kept AS {question.query}")
            except (duckdb.OutOfRangeException, duckdb.ConversionException):
                return
            try:
                run(federation, f"CREATE TABLE kept AS {question.query}")
                found = run(federation, "SELECT * FROM kept")
            except QueryError as error:
                assert DOUBLE in str(error) or refusal(error)
                return
            assert found is not None
            assert_equal(found, reference(database, "SELECT * FROM kept"), (), total=False)


@pytest.mark.parametrize(("who", "examples"), [(THREE, 8), (TWO, 3)], ids=["rep3", "two"])
def test_generated_queries_are_kept(who: Members, examples: int, keys: Path) -> None:
    search(lambda question: check(question, keys), 500 if NIGHTLY else examples, who=lambda _: who)
