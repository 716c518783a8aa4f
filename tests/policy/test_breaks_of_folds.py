"""Rest rows that showed more than the units of their groups allow, each with what it showed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tests.plan.catalogs import catalog, table

from . import worlds
from .worlds import Asked, Case, Tables, empty_tables, is_there

ONE_VISIT_OF_A_KIND = catalog(
    ("a", "b", "c"),
    table("people", "b", worlds.PEOPLE, [["ssn"]], rows=12),
    table("visits", "a", worlds.VISITS, [["id"], ["person", "kind"]], rows=12),
    table("calls", "c", worlds.VISITS, [["id"]], rows=12),
)
"""Nobody has two visits of a kind: in each group of kinds a row is a person, who is in other groups, too."""


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with empty_tables() as opened:
        yield opened


def rest(case: Case, tables: Tables, database: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    """The row of small groups."""
    found = Asked(case, ONE_VISIT_OF_A_KIND).prepared.evaluated(tables, database)
    return next(row for row in found if row[-1])


def test_a_part_is_not_empty_because_one_group_has_none(database: duckdb.DuckDBPyConnection) -> None:
    """SUM(cost) of the rest was shown, though two visits of it have no cost, and 4 would have to.

    Visits add up over groups, and persons, who are counted by the same COUNT, do not. The visits without cost were all
    visits of the largest group less those of the group that has most with one.
    """
    case = Case(
        "SELECT v.kind, COUNT(*) AS n, SUM(v.cost) AS t FROM people p JOIN visits v ON p.ssn = v.person "
        "GROUP BY v.kind",
        (("people", ("ssn",), 2), ("visits", (), 4)),
        lambda tables: [],
        (None, "cost"),
        lambda aggregate: {1: (is_there(aggregate, aggregate.aggregations[1].column or ""),)},
        small="fold",
    )
    visits = [(person, kind, 1) for kind, many in ((1, 4), (2, 5)) for person in range(many)]
    visits += [(0, 0, None), (1, 0, None)]
    tables: Tables = {
        "people": [(ssn, 0, 0, True) for ssn in range(6)],
        "visits": [(at, *each) for at, each in enumerate(visits)],
        "calls": [],
    }
    assert rest(case, tables, database) == (None, 6, None, True)


def test_a_quotient_that_may_be_null_is_a_key_of_groups(database: duckdb.DuckDBPyConnection) -> None:
    """Ended in a traceback: different values of the rest are counted among rows that know their groups by keys."""
    case = Case(
        "SELECT cost / 2 AS half, COUNT(DISTINCT kind) AS n FROM visits GROUP BY half",
        (("visits", ("person",), 2),),
        lambda tables: [],
        (None,),
        small="fold",
    )
    visits = [(0, 0, None), (0, 1, None), (1, 1, 3), (2, 2, 3), (1, 0, 4), (2, 0, 4), (3, 0, 4)]
    tables: Tables = {"people": [], "visits": [(at, *each) for at, each in enumerate(visits)], "calls": []}
    assert rest(case, tables, database) == (None, 3, True)
