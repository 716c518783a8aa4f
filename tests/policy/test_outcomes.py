"""Which conditions can be TRUE together: held against all rows that a table can have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.plan.algebra.relations import Relation, Scan
from tacit.plan.algebra.trees import scans
from tacit.plan.policy.conditions import positive
from tacit.plan.policy.expanded import expanded
from tacit.plan.policy.outcomes import Outcomes, outcomes
from tacit.sql import bind

from .worlds import CATALOG

Database = duckdb.DuckDBPyConnection

TESTS = (
    "ssn = 3",
    "ssn < 4",
    "ssn BETWEEN 2 AND 5",
    "ssn <> 3",
    "city IN (0, 1)",
    "city IS NULL",
    "pay > 2.5",
    "pay >= -5",
    "pay <= 20",
    "vip",
    "vip IS NOT NULL",
    "NOT vip",
    "COALESCE(pay, 0) > 0",
    "CASE WHEN vip THEN pay ELSE 1 END < 0",
    "4 > city",
    "NULLIF(city, 1) IS NULL",
    "pay + 1 IS NULL",
    "NULL > pay",
)
"""Of one column and constants each, or choices among such."""

BEYOND = ("pay + 1 > 3", "ssn = pay", "ssn + city > 4", "-pay < 2")
"""What is computed or compared with another column."""


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """All rows that the table ``people`` can have."""
    with duckdb.connect() as opened:
        columns = (range(10), (0, 1, 2, None), (*range(-5, 21), None), (True, False, None))
        opened.execute("CREATE TABLE people (ssn INTEGER, city INTEGER, pay INTEGER, vip BOOLEAN)")
        opened.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [list(row) for row in product(*columns)])
        yield opened


def conditions(listed: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Conditions joined by AND, OR and NOT."""
    return st.recursive(
        st.sampled_from(listed),
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("(NOT {})".format, inner),
        ),
        max_leaves=3,
    )


def found(relation: Relation) -> Outcomes:
    scan = scans(relation)[0]
    known = expanded(relation, scan, {scan: frozenset(source for _, source in scan.columns)})
    tested = outcomes([positive(known.columns[name]) for name in known.columns], known.holds)
    assert tested is not None
    return tested


def really(database: Database, query: str) -> Outcomes:
    rows = database.sql(f"SELECT DISTINCT * FROM ({query})").fetchall()
    return frozenset(tuple(each is True for each in row) for row in rows)


@settings(max_examples=150, deadline=None, print_blob=True)
@given(a=conditions(TESTS), b=conditions(TESTS), where=conditions(TESTS))
def test_outcomes_are_those_of_all_rows(database: Database, a: str, b: str, where: str) -> None:
    query = f"SELECT {a} AS a, {b} AS b FROM (SELECT ssn, city, pay, vip FROM people ORDER BY ssn) p WHERE {where}"
    # A filter that no row passes is not looked at where it reads other columns.
    expected = really(database, query)
    assert not expected or found(bind(query, CATALOG)) == expected


@settings(max_examples=150, deadline=None, print_blob=True)
@given(a=conditions(TESTS + BEYOND), b=conditions(TESTS + BEYOND), where=conditions(TESTS + BEYOND))
def test_what_is_computed_misses_no_outcome(database: Database, a: str, b: str, where: str) -> None:
    query = f"SELECT {a} AS a, {b} AS b FROM people WHERE {where}"
    assert found(bind(query, CATALOG)) >= really(database, query)


def of_groups(query: str) -> Outcomes:
    """Which of a unit's conditions are TRUE for some of its rows."""
    return found(bind(query, CATALOG))


@pytest.mark.parametrize(
    ("maxima", "expected"),
    [
        ("MAX(cost > 3) AS a, MAX(NOT cost > 3) AS b", {(True, False), (False, True), (True, True), (False, False)}),
        ("MAX(cost IS NULL) AS a, MAX(cost IS NOT NULL) AS b", {(True, False), (False, True), (True, True)}),
        ("MAX(cost > 9) AS a, MAX(cost IS NULL OR cost < 12) AS b", {(False, True)}),
    ],
)
def test_a_group_has_rows_of_some_cell(maxima: str, expected: set[tuple[bool, bool]]) -> None:
    grouped = f"SELECT person, {maxima} FROM visits GROUP BY person"
    assert of_groups(f"SELECT a, b FROM ({grouped}) g") == expected


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("pay", True),
        ("pay + 1", True),
        ("-pay * 2", True),
        ("ssn", True),
        ("city", False),  # which recipients may see
        ("CASE WHEN vip THEN 1 END", False),
        ("NULLIF(ssn, 3)", False),
        ("CASE WHEN ssn = 3 THEN NULL ELSE pay END", False),
        ("COALESCE(pay, city)", False),
    ],
)
def test_only_stored_values_are_null_where_an_owner_stores_none(value: str, stored: bool) -> None:
    relation = bind(f"SELECT {value} AS v FROM people", CATALOG)
    scan = people(relation)
    known = expanded(relation, scan, {scan: frozenset({"pay", "ssn"})})
    assert known.is_stored(known.columns["v"]) == stored


def people(relation: Relation) -> Scan:
    return next(each for each in scans(relation) if each.table == "people")
