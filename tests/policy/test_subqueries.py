"""Owners' rules judge a subquery as the join that says the same, and refuse what is not proven of those without one."""

from __future__ import annotations

import pytest

from .owners import refusal

SAME = [
    # a subquery, a join
    (
        "SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn)",
        "SELECT c.id FROM customers c JOIN people p ON p.ssn = c.ssn",
    ),
    (
        "SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn)",
        "SELECT COUNT(*) FROM customers c JOIN people p ON p.ssn = c.ssn",
    ),
    (
        "SELECT COUNT(*) FROM customers c WHERE c.ssn = ANY (SELECT ssn FROM people)",
        "SELECT COUNT(*) FROM customers c JOIN people p ON p.ssn = c.ssn",
    ),
    (
        "SELECT SUM(c.weight) FROM customers c WHERE EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn)",
        "SELECT SUM(c.weight) FROM customers c JOIN people p ON p.ssn = c.ssn",
    ),
    (
        "SELECT c.segment, COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn)"
        " GROUP BY c.segment",
        "SELECT c.segment, COUNT(*) FROM customers c JOIN people p ON p.ssn = c.ssn GROUP BY c.segment",
    ),
    (
        "SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn AND p.age = 37)",
        "SELECT COUNT(*) FROM customers c JOIN people p ON p.ssn = c.ssn WHERE p.age = 37",
    ),
    (
        "SELECT c.id FROM customers c WHERE c.revenue > (SELECT MAX(p.salary) FROM people p WHERE p.ssn = c.ssn)",
        "SELECT c.id FROM customers c JOIN (SELECT ssn, MAX(salary) AS m FROM people GROUP BY ssn) p"
        " ON p.ssn = c.ssn WHERE c.revenue > p.m",
    ),
    (
        "SELECT COUNT(*) FROM people p WHERE p.points > (SELECT AVG(q.points) FROM people q)",
        "SELECT COUNT(*) FROM people p, (SELECT AVG(points) AS m FROM people) q WHERE p.points > q.m",
    ),
]


@pytest.mark.parametrize(("subquery", "join"), SAME)
def test_a_subquery_has_the_verdict_of_the_join(subquery: str, join: str) -> None:
    found, expected = refusal(subquery), refusal(join)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.problem.rule == expected.problem.rule


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn)",
        "SELECT c.id FROM customers c WHERE c.ssn NOT IN (SELECT ssn FROM people)",
        "SELECT c.id, EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn) AS e FROM customers c",
        "SELECT c.id, c.ssn IN (SELECT ssn FROM people) AS e FROM customers c",
        "SELECT c.id FROM customers c WHERE c.id = 1 OR c.ssn IN (SELECT ssn FROM people)",
        "SELECT c.id, (SELECT COUNT(*) FROM people p WHERE p.ssn = c.ssn) AS n FROM customers c",
        "SELECT c.id, (SELECT MAX(salary) FROM people p WHERE p.ssn = c.ssn) AS n FROM customers c",
        "SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM people p WHERE p.ssn = c.ssn AND p.age <> c.revenue)",
        "SELECT c.id FROM customers c WHERE c.revenue > ALL (SELECT salary FROM people)",
        "SELECT SUM(CASE WHEN c.ssn IN (SELECT ssn FROM people) THEN c.weight ELSE 0 END) AS s FROM customers c",
        "SELECT COUNT(*) AS n FROM customers WHERE EXISTS (SELECT 1 FROM people WHERE email = 'm7@x.no')",
    ],
)
def test_what_a_subquery_tells_of_single_rows_is_refused(query: str) -> None:
    assert refusal(query) is not None
