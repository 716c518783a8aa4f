"""The guards that a query needs: whose units they count, who contributes, and what happens to small groups."""

from __future__ import annotations

from tacit.plan.physical.placed import SecureStep
from tacit.sql import compile_query

from .owners import OWNERS, allowed


def test_a_guard_counts_units_of_each_owner_at_the_highest_floor() -> None:
    joined = "people p JOIN visits v ON p.ssn = v.ssn"
    query = f"SELECT p.city, AVG(p.salary) AS pay, COUNT(*) AS n FROM {joined} GROUP BY p.city"
    (guard,) = allowed(query).guards
    assert [(each.scan.table, each.unit, each.least) for each in guard.floors] == [
        ("people", ("ssn",), 10), ("visits", ("ssn",), 15),
    ]  # fmt: skip
    assert guard.small == "fold"
    (refined,) = [each for each in guard.refined if each.floors]
    assert refined.conditions == ()
    assert [(each.scan.table, each.least) for each in refined.floors] == [("people", 20)]


def test_contributors_are_those_that_conditions_and_null_leave() -> None:
    query = (
        "SELECT city, SUM(CASE WHEN vip THEN points END) AS s, COUNT(bonus) AS b, COUNT(*) FROM people GROUP BY city"
    )
    found = allowed(query)
    (guard,) = found.guards
    assert [len(each.conditions) for each in guard.refined] == [2, 1]
    names = {column for column, _ in guard.aggregate.input.outputs}  # type: ignore[union-attr] # a projection
    assert any(name.startswith("condition") for name in names)


def test_conditions_on_a_recipient_s_own_rows_reach_the_guard() -> None:
    query = (
        "SELECT SUM(k.w) FROM (SELECT ssn, CASE WHEN id = 1 THEN 1 WHEN id = 2 THEN 2 ELSE 4 END AS w FROM customers)"
    )
    (guard,) = allowed(f"{query} k JOIN people p ON k.ssn = p.ssn").guards
    assert [len(each.conditions) for each in guard.refined] == [2]


def test_conditions_of_a_unit_s_rows_are_carried_to_the_guard() -> None:
    query = "SELECT SUM(t) AS s FROM (SELECT ssn, SUM(CASE WHEN clinic = 'hill' THEN cost ELSE 0 END) AS t FROM visits"
    (guard,) = allowed(f"{query} GROUP BY ssn) v").guards
    assert [len(each.conditions) for each in guard.refined] == [2]


def test_what_stands_above_groups_has_no_row_of_small_ones() -> None:
    plain = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
    assert [each.small for each in allowed(f"{plain} ORDER BY n").guards] == ["fold"]
    for query in (f"{plain} HAVING COUNT(*) > 20", f"{plain} ORDER BY n LIMIT 2", f"SELECT COUNT(*) FROM ({plain}) x"):
        assert {each.small for each in allowed(query).guards} == {"drop"}


def test_no_guard_where_rows_themselves_may_be_seen() -> None:
    assert allowed("SELECT seat, COUNT(*) FROM people GROUP BY seat").guards == ()
    assert allowed("SELECT COUNT(*) FROM rooms").guards == ()


def test_guards_name_aggregates_and_scans_of_the_query() -> None:
    query = "SELECT COUNT(*) FROM people p JOIN people q ON p.ssn = q.ssn WHERE q.vip"
    found = allowed(query)
    (guard,) = found.guards
    assert guard.aggregate == found.state.relation.input  # type: ignore[union-attr] # a projection over it
    first, second = (each.scan for each in guard.floors)
    assert first != second


def test_a_fold_judges_each_group_once() -> None:
    """The groups that stay and the rest row are made of the same ones: no condition is moved beneath one of the two."""
    joined = "customers c JOIN people p ON c.ssn = p.ssn"
    plan = compile_query(f"SELECT c.segment, COUNT(*) AS n FROM {joined} GROUP BY c.segment", OWNERS, ("north",))
    steps = [each for each in plan.steps if isinstance(each, SecureStep)]
    tests = [repr(each).count("function='ge', args=(Column(name='count')") for each in steps]
    assert sum(tests) == 1, steps
