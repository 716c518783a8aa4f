"""Which aggregations of a join one step computes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.algebra.types import Decimal, Integer, Varchar
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical import lower
from tacit.plan.physical import operators as ops
from tacit.plan.physical.cost import predict, total
from tacit.plan.physical.placed import PlacedPlan, PsiStep, SecureStep
from tacit.sql import compile_query

from .catalogs import Columns, catalog, table

KEY = Integer(0, 1_000_000, "INTEGER")
PEOPLE: Columns = [
    ("id", KEY, False),
    ("code", KEY, True),
    ("name", Varchar(30), True),
    ("zip", Integer(0, 99_999, "INTEGER"), False),
]
VISITS: Columns = [
    ("pid", KEY, True),
    ("cost", Integer(0, 1_000, "INTEGER"), False),
    ("price", Decimal(10, 2, 0, 10**9), True),
]
THREE = catalog(
    ("a", "b", "c"),
    table("people", "a", PEOPLE, [["id"], ["code"]], rows=10_000),
    table("visits", "b", VISITS, rows=50_000),
    table("few", "b", VISITS, rows=5_000),
    table("others", "c", VISITS, rows=50_000),
)
TWO = replace(
    catalog(("a", "b"), *THREE.tables[:2], table("others", "a", VISITS, rows=50_000)),
    engine="two",
)
BOTH = "(SELECT * FROM visits UNION ALL SELECT * FROM others) v"


def steps(query: str, catalog: Catalog = THREE) -> list[ops.Operator]:
    plan = compile_query(query, catalog, ("a",))
    return [step.operator for step in plan.steps if isinstance(step, SecureStep | PsiStep)]


def group_joins(query: str, catalog: Catalog = THREE) -> list[ops.GroupJoin]:
    return [each for each in steps(query, catalog) if isinstance(each, ops.GroupJoin)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT p.id, SUM(cost) AS s FROM people p JOIN visits ON id = pid GROUP BY p.id",
        "SELECT pid, zip, COUNT(*) AS n, COUNT(price) AS m FROM people JOIN visits ON id = pid GROUP BY pid, zip",
        "SELECT id, SUM(price * cost) AS s FROM people JOIN visits ON id = pid GROUP BY id",
        "SELECT id, AVG(cost) AS mean FROM people JOIN visits ON id = pid WHERE zip < 5 AND cost > 3 GROUP BY id",
        "SELECT id, COUNT(cost) AS n, SUM(price) AS s FROM people LEFT JOIN visits ON id = pid GROUP BY id",
        "SELECT code, COUNT(*) AS n FROM people JOIN visits ON code = pid GROUP BY code",
        "SELECT id, SUM(cost) AS s FROM people JOIN visits ON id = pid "
        "WHERE id IN (SELECT pid FROM others) GROUP BY id",
        "SELECT id, code, COUNT(cost) AS n FROM people LEFT JOIN visits ON code = pid GROUP BY id, code",
    ],
)
def test_groups_that_are_rows_of_the_unique_side(query: str) -> None:
    (step,) = group_joins(query)
    assert step.kept == ("LEFT" in query)
    assert not any(isinstance(each, ops.GroupBy) for each in steps(query))
    assert sum(isinstance(each, ops.Join | ops.CircuitPsi) for each in steps(query)) == query.count(" IN ")


@pytest.mark.parametrize(
    "query",
    [
        # People without a code are one group, in which nobody else's visits are.
        "SELECT code, COUNT(cost) AS n FROM people LEFT JOIN visits ON code = pid GROUP BY code",
        # Those without a visit have the key NULL.
        "SELECT pid, COUNT(cost) AS n FROM people LEFT JOIN visits ON id = pid GROUP BY pid",
        # What is added up is not of the visits alone, or not only added up.
        "SELECT id, SUM(cost + zip) AS s FROM people JOIN visits ON id = pid GROUP BY id",
        "SELECT id, MAX(cost) AS m FROM people JOIN visits ON id = pid GROUP BY id",
        "SELECT id, COUNT(DISTINCT cost) AS n FROM people JOIN visits ON id = pid GROUP BY id",
        "SELECT id, SUM(cost) AS s FROM people JOIN visits ON id = pid WHERE cost < zip GROUP BY id",
        # A row without a visit counts, and an expression of NULL may be a value.
        "SELECT id, COUNT(*) AS n FROM people LEFT JOIN visits ON id = pid GROUP BY id",
        "SELECT id, SUM(CASE WHEN cost IS NULL THEN 1 END) AS n FROM people LEFT JOIN visits ON id = pid GROUP BY id",
        # There are fewer visits than people.
        "SELECT id, SUM(cost) AS s FROM people JOIN few ON id = pid GROUP BY id",
        # The join's rows are read twice.
        "WITH j AS (SELECT id, zip, cost FROM people JOIN visits ON id = pid) "
        "SELECT id, SUM(cost) AS s FROM j GROUP BY id UNION ALL SELECT zip, SUM(cost) FROM j GROUP BY zip",
    ],
)
def test_other_groups(query: str) -> None:
    assert not group_joins(query)


@pytest.mark.parametrize(
    ("query", "last"),
    [
        ("SELECT zip, SUM(cost) AS s FROM people JOIN visits ON id = pid GROUP BY zip", ops.GroupBy),
        ("SELECT code, zip, COUNT(price) AS n FROM people JOIN visits ON id = pid GROUP BY code, zip", ops.GroupBy),
        # People without a code are one group.
        ("SELECT code, COUNT(cost) AS n FROM people JOIN visits ON id = pid GROUP BY code", ops.GroupBy),
        ("SELECT SUM(price) AS s, COUNT(*) AS n FROM people JOIN visits ON id = pid WHERE zip < 5", ops.Aggregate),
    ],
)
def test_several_rows_of_the_unique_side_in_a_group_are_added_up_after_that(query: str, last: type) -> None:
    (step,) = group_joins(query)
    found = steps(query)
    assert step.left_keys == ("id",) and not any(isinstance(each, ops.Join) for each in found)
    (added,) = (each for each in found if isinstance(each, ops.GroupBy | ops.Aggregate))
    assert isinstance(added, last) and {each.function for each in added.aggregates} <= {"sum", "any"}
    assert not group_joins(query, TWO), "there owners sort both sides, which are merged"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT zip, SUM(cost + zip) AS s FROM people JOIN visits ON id = pid GROUP BY zip",
        "SELECT zip, MAX(cost) AS m FROM people JOIN visits ON id = pid GROUP BY zip",
        "SELECT zip, cost, COUNT(*) AS n FROM people JOIN visits ON id = pid GROUP BY zip, cost",
        "SELECT zip, COUNT(cost) AS n FROM people LEFT JOIN visits ON id = pid GROUP BY zip",
        "SELECT zip, SUM(cost) AS s FROM people JOIN few ON id = pid GROUP BY zip",
    ],
)
def test_what_is_not_added_up_early(query: str) -> None:
    assert not group_joins(query)


def test_two_parties_merge_where_their_owners_can_sort() -> None:
    query = "SELECT id, SUM(cost) AS s FROM people JOIN {} ON id = pid GROUP BY id"
    assert not group_joins(query.format("visits"), TWO)
    assert group_joins(query.format(BOTH), TWO)


def cost(plan: PlacedPlan) -> tuple[int, int]:
    found = total(predict(plan))
    return found.rounds, found.bytes


def test_one_step_costs_less_than_two(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT id, SUM(cost) AS s, COUNT(*) AS n FROM people JOIN visits ON id = pid GROUP BY id"
    one = compile_query(query, THREE, ("a",))
    monkeypatch.setattr(lower, "grouped_join", lambda *_: None)
    two = compile_query(query, THREE, ("a",))
    assert all(mine < 0.7 * its for mine, its in zip(cost(one), cost(two), strict=True))
