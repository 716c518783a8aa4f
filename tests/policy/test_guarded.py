"""Guarded queries against their meaning, spelt out over tiny tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings

from tacit.plan.algebra.trees import scans
from tacit.plan.facts.fields import names
from tacit.plan.physical.placed import TailStep
from tacit.plan.place import place
from tacit.plan.policy.guarded import guarded, notice
from tacit.plan.policy.guards import Floor, Guard
from tacit.plan.policy.units import Uncountable
from tacit.sql import bind

from . import cases
from .worlds import CATALOG, Case, Tables, aggregates, empty_tables, tables

ALL = {**cases.CASES, **cases.FOLDED}

Database = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """A database with all owners' tables."""
    with empty_tables() as opened:
        yield opened


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=25, deadline=None, print_blob=True)
@given(data=tables())
def test_a_guarded_query_shows_what_its_floors_allow(name: str, database: Database, data: Tables) -> None:
    assert_as_by_hand(ALL[name], data, database)


EMPTY: Tables = {"people": [], "visits": [], "calls": []}


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_shown_of_empty_tables(name: str, database: Database) -> None:
    assert_as_by_hand(ALL[name], EMPTY, database)
    assert all(set(row) <= {None} for row in ALL[name].asked.prepared.evaluated(EMPTY, database))


def assert_as_by_hand(case: Case, data: Tables, database: Database) -> None:
    """DuckDB's answer to the guarded query is that of the evaluation by hand."""
    found = case.asked.prepared.evaluated(data, database)
    assert sorted(map(repr, found)) == sorted(map(repr, case.answer(data)))


def visits(*persons_of_kinds: tuple[int | None, int | None]) -> Tables:
    """Visits of persons of kinds, each at a cost of one."""
    return {**EMPTY, "visits": [(at, person, kind, 1) for at, (person, kind) in enumerate(persons_of_kinds)]}


FOLDED: dict[str, tuple[Tables, list[Any]]] = {
    "nothing is small": (visits((0, 0), (1, 0), (2, 1), (3, 1)), [(0, 2, False), (1, 2, False)]),
    "persons are not counted anew, so that the smallest group joins": (visits((0, 0), (1, 0), (2, 1), (3, 2)), []),
    "the smallest group joins a single unit": (
        visits((0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 2)),
        [(0, 3, False), (None, 3, True)],
    ),
    "all smallest groups join": (
        visits((0, 0), (1, 0), (2, None), (3, None), (4, 1), (5, 1), (6, 1), (7, 2)),
        [(1, 3, False), (None, 5, True)],
    ),
    "no group is left beside the rest": (visits((0, 0), (1, 0), (2, 1), (3, 1), (5, 2)), []),
    "one person in two small groups is one unit": (
        visits((0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (5, None)),
        [(0, 3, False), (None, 4, True)],
    ),
    "a person of a shown group and of a small one is one unit": (visits((0, 0), (1, 0), (0, 1)), []),
    "rows without a unit fill no floor": (visits((0, 0), (1, 0), (None, 1), (None, 1)), []),
}


@pytest.mark.parametrize("name", FOLDED)
def test_the_rest_holds_enough_units_itself(name: str, database: Database) -> None:
    data, expected = FOLDED[name]
    case = replace(
        cases.BY_PERSON, query="SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind", arguments=(None,), small="fold"
    )
    assert sorted(map(repr, case.asked.prepared.evaluated(data, database))) == sorted(map(repr, expected))
    assert_as_by_hand(case, data, database)


def test_small_groups_of_units_that_add_up_stand_alone(database: Database) -> None:
    """Each visit is a unit here, and so in one group."""
    data = visits((0, 0), (0, 0), (0, 1), (0, 2))
    case = replace(
        cases.BY_ROW, query="SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind", arguments=(None,), small="fold"
    )
    found = case.asked.prepared.evaluated(data, database)
    assert sorted(map(repr, found)) == sorted(map(repr, [(0, 2, False), (None, 2, True)]))
    assert_as_by_hand(case, data, database)


@pytest.mark.parametrize(
    ("query", "gains"),
    [
        ("SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind", ["kind", "n", "rest"]),
        ("SELECT COUNT(*) + 1 AS n FROM visits GROUP BY kind ORDER BY n DESC", ["n", "rest"]),
        ("SELECT kind AS rest, COUNT(*) AS n FROM visits GROUP BY kind", ["rest", "n", "rest_2"]),
        ("SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING COUNT(*) > 2", ["kind", "n"]),
        ("SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind ORDER BY n LIMIT 2", ["kind", "n"]),
        ("SELECT MAX(n) AS m FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) v", ["m"]),
        ("SELECT COUNT(*) AS n FROM visits", ["n"]),
    ],
)
def test_a_row_of_small_groups_is_marked_where_nothing_but_columns_is_chosen(query: str, gains: list[str]) -> None:
    relation = bind(query, CATALOG)
    *_, lowest = aggregates(relation)
    guard = Guard(lowest, (Floor(scans(lowest)[0], ("person",), 2),), (), "fold")
    found = guarded(relation, (guard,), CATALOG)
    assert list(names(found)) == gains
    tail = place(found, CATALOG, ("b",), query).steps[-1]
    assert isinstance(tail, TailStep)
    assert list(names(tail.relation)) == gains


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("BY_ROW", ["count_rows", "sum", "min", "max"]),  # COUNT(*) of the query is the count of units
        ("BY_KEY", ["count_rows", "sum", "min", "max"]),
        ("BY_PERSON", ["count_rows", "sum", "min", "max", "count_distinct"]),
        ("JOINED", ["count_rows", "sum", "sum", "count_distinct"]),
        ("EQUAL_UNITS", ["count_rows", "sum", "sum", "count_distinct"]),  # one count for both owners
        ("PER_PERSON", ["count_rows", "sum"]),  # grouped by person before, which is never NULL where it is joined
        ("UNION_OF_ROWS", ["count_rows", "sum", "min", "max", "count", "count"]),
        ("NULLABLE", ["count_rows", "sum", "count"]),  # those without pay are all but those with it
    ],
)
def test_counts_are_no_more_than_needed(name: str, functions: list[str]) -> None:
    highest = next(aggregates(cases.CASES[name].asked.relation))
    assert [each.function for each in highest.aggregations] == functions


def guard_of(query: str, *floors: tuple[str, tuple[str, ...]], complement: bool = False) -> None:
    """Put a guard on a query's highest aggregate."""
    relation = bind(query, CATALOG)
    highest = next(aggregates(relation))
    listed = {each.table: each for each in scans(highest)}
    guard = Guard(highest, tuple(Floor(listed[name], unit, 2) for name, unit in floors), (), "drop", complement)
    guarded(relation, (guard,), CATALOG)


@pytest.mark.parametrize(
    ("query", "floor", "complement", "reason"),
    [
        ("SELECT COUNT(*) AS n FROM people p JOIN calls c ON p.ssn = c.person", "people", True, "without a partner"),
        (
            "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people ORDER BY ssn LIMIT 3) p",
            "people",
            True,
            "a LIMIT leaves out",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT ssn FROM people UNION ALL SELECT kind FROM calls) p",
            "people",
            True,
            "a UNION has rows",
        ),
        ("SELECT COUNT(*) AS n FROM people p FULL JOIN visits v ON p.ssn = v.id", "people", False, "without a partner"),
        (
            "SELECT SUM(n) AS n FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) c",
            "people",
            False,
            "no unit",
        ),
    ],
)
def test_what_no_guard_can_count_is_refused(query: str, floor: str, complement: bool, reason: str) -> None:
    with pytest.raises(Uncountable, match=reason) as caught:
        guard_of(query, (floor, ("ssn",)), complement=complement)
    assert caught.value.scan.table == floor


def test_rows_that_repeat_need_a_key_to_be_counted() -> None:
    joined = "SELECT COUNT(*) AS n FROM people p JOIN calls c ON p.ssn = c.person"
    guard_of(joined, ("people", ()))  # by ssn, which is unique
    guard_of(joined, ("calls", ()))  # whose rows do not repeat
    twice = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person, kind FROM calls) c"
    with pytest.raises(Uncountable, match="no unit"):
        guard_of(twice, ("calls", ()))


def test_the_same_lines_are_printed_whatever_the_data() -> None:
    own = replace(cases.NULLABLE, own=((1, 0, 3),)).asked.guard
    total = replace(cases.NULLABLE, query="SELECT COUNT(*) AS n, SUM(pay) AS t, COUNT(pay) AS c FROM people")
    assert notice((own, own, total.asked.guard)) == (
        "Groups of fewer than 2 different people.ssn of b are not shown.",
        "Values from fewer than 3 different people.ssn of b are not shown.",
        "Totals of fewer than 2 different people.ssn of b are not shown.",
    )
