"""Which joins merge what both owners sorted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.plan.account.explain import explain_text
from tacit.plan.algebra.types import Date, Integer, Varchar
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.operators import Join
from tacit.plan.physical.placed import InputStep, PlacedPlan, SecureStep
from tacit.sql import compile_query

from .catalogs import Columns, catalog, table

KEY = Integer(-1_000_000, 1_000_000, "INTEGER")
PEOPLE: Columns = [("id", KEY, False), ("name", Varchar(6), True), ("day", Date(0, 20_000), False)]
VISITS: Columns = [("pid", KEY, True), ("who", Varchar(6), True), ("cost", Integer(0, 1_000, "INTEGER"), False)]
THREE = catalog(
    ("a", "b", "c"),
    table("people", "a", PEOPLE, [["id"], ["name"]], rows=50_000),
    table("visits", "b", VISITS, rows=50_000),
    table("others", "a", VISITS, rows=50_000),
)
TWO = replace(THREE, parties=("a", "b"), nodes=("a", "b"), engine="two")

JOIN = "SELECT SUM(cost) AS s FROM people JOIN visits ON id = pid"


def compiled(query: str, catalog: Catalog = TWO) -> PlacedPlan:
    return compile_query(query, catalog, ("a",))


def joins(plan: PlacedPlan) -> list[Join]:
    return [step.operator for step in plan.steps if isinstance(step, SecureStep) and isinstance(step.operator, Join)]


def orders(plan: PlacedPlan) -> list[tuple[str, ...]]:
    return [step.operator.sorted_by for step in plan.steps if isinstance(step, InputStep)]


def test_two_parties_merge_what_the_owners_sorted() -> None:
    plan = compiled(JOIN)
    (join,) = joins(plan)
    assert join.merged and orders(plan) == [("id",), ("pid",)]
    text = " ".join(explain_text(plan).split())
    assert "on id = pid, by a merge of sorted inputs" in text and "sorted by pid" in text


def test_three_parties_sort_in_less_time() -> None:
    plan = compiled("SELECT MAX(cost) AS m FROM people JOIN visits ON id = pid", THREE)
    (join,) = joins(plan)
    assert not join.merged and orders(plan) == [(), ()]
    assert "on id = pid, by a sort" in " ".join(explain_text(plan).split())


@pytest.mark.parametrize(
    ("query", "merges"),
    [
        ("SELECT COUNT(*) AS n FROM people JOIN visits ON id = pid AND name = who WHERE cost < 5", True),
        ("SELECT COUNT(*) AS n FROM people JOIN visits ON name = who", True),
        # What owners cannot sort: keys computed of both tables, groups, what another join gives.
        (
            "SELECT COUNT(*) AS n FROM people JOIN (SELECT * FROM visits UNION ALL SELECT * FROM others) u ON id = pid",
            False,
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS k FROM "
            "(SELECT * FROM visits UNION ALL SELECT * FROM others) u GROUP BY pid) g JOIN visits v ON g.pid = v.pid",
            False,
        ),
    ],
)
def test_inputs_are_merged_and_nothing_else(query: str, merges: bool) -> None:
    plan = compiled(query)
    (join,) = joins(plan)
    assert (join.merged, any(orders(plan))) == (merges, merges)


def test_an_input_is_sorted_once() -> None:
    """One owner's table is joined on two columns: it has one order, so one of the joins sorts."""
    query = "SELECT COUNT(*) AS n FROM visits v JOIN people p ON p.id = v.pid JOIN people q ON q.name = v.who"
    found = [join.merged for join in joins(compiled(query))]
    assert sorted(found) == [False, True]
