"""Guards above rows without a match, marks and windows: answers are those of SQL with the rule written by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import pytest

from . import plain
from .product import Product
from .properties import surface
from .properties.surface import NORTH
from .rendered import Rendered

LEASTS = (2, 3)
FIRST: Final = "(SELECT *, RANK() OVER (PARTITION BY ssn ORDER BY day) AS r FROM stays)"
MATCH: Final = "(SELECT p.*, c.segment, c.ssn IS NOT NULL AS m FROM people p LEFT JOIN customers c ON c.ssn = p.ssn)"

CASES = (
    # a question, and what it shows with a floor of K
    (
        "SELECT COUNT(*) AS n, SUM(salary) AS s FROM people WHERE ssn NOT IN (SELECT ssn FROM customers)",
        "SELECT CASE WHEN ok THEN n END, CASE WHEN ok THEN s END FROM (SELECT COUNT(*) FILTER (WHERE NOT m) AS n, "
        f"SUM(salary) FILTER (WHERE NOT m) AS s, n >= K AND COUNT(*) FILTER (WHERE m) >= K AS ok FROM {MATCH} x) y",
    ),
    (
        "SELECT city, COUNT(*) AS n FROM people p WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.ssn = p.ssn) "
        "GROUP BY city",
        f"SELECT city, COUNT(*) FILTER (WHERE NOT m) AS n FROM {MATCH} x GROUP BY city "
        "HAVING n >= K AND COUNT(*) FILTER (WHERE m) >= K",
    ),
    (
        "SELECT city, COUNT(*) AS n FROM people p JOIN stays s ON s.ssn = p.ssn WHERE p.vip AND "
        "p.ssn NOT IN (SELECT ssn FROM customers) GROUP BY city",
        f"SELECT city, COUNT(*) FILTER (WHERE NOT m) AS n FROM {MATCH} x JOIN stays s ON s.ssn = x.ssn WHERE vip "
        "GROUP BY city HAVING COUNT(DISTINCT x.ssn) FILTER (WHERE NOT m) >= K "
        "AND COUNT(DISTINCT x.ssn) FILTER (WHERE m) >= K",
    ),
    (
        "SELECT SUM(CASE WHEN p.ssn IN (SELECT ssn FROM customers) THEN p.salary ELSE 0 END) AS s, COUNT(*) AS n "
        "FROM people p",
        "SELECT CASE WHEN COUNT(*) FILTER (WHERE m) >= K AND COUNT(*) FILTER (WHERE NOT m) >= K "
        f"THEN SUM(salary) FILTER (WHERE m) END, CASE WHEN COUNT(*) >= K THEN COUNT(*) END FROM {MATCH} x",
    ),
    (
        "SELECT COUNT(CASE WHEN p.vip AND p.ssn NOT IN (SELECT ssn FROM customers) THEN 1 END) AS n FROM people p",
        "SELECT CASE WHEN COUNT(*) FILTER (WHERE vip AND m) >= K AND COUNT(*) FILTER (WHERE vip AND NOT m) >= K "
        "AND COUNT(*) FILTER (WHERE NOT vip AND m) >= K AND COUNT(*) FILTER (WHERE NOT vip AND NOT m) >= K "
        f"THEN COUNT(*) FILTER (WHERE vip AND NOT m) END FROM {MATCH} x",
    ),
    (
        "SELECT c.segment, COUNT(*) AS n FROM people p LEFT JOIN customers c ON c.ssn = p.ssn GROUP BY c.segment",
        f"SELECT segment, n FROM (SELECT segment, COUNT(*) AS n FROM {MATCH} x GROUP BY segment) g, "
        "(SELECT COUNT(*) FILTER (WHERE m) >= K AND COUNT(*) FILTER (WHERE NOT m) >= K AS ok "
        f"FROM {MATCH} x) t WHERE n >= K AND ok",
    ),
    (
        "SELECT city, COUNT(c.segment) AS n, COUNT(*) AS v FROM people p LEFT JOIN customers c ON c.ssn = p.ssn "
        "GROUP BY city",
        "SELECT city, CASE WHEN COUNT(*) FILTER (WHERE m) >= K AND COUNT(*) FILTER (WHERE NOT m) >= K "
        f"THEN COUNT(segment) END, COUNT(*) FROM {MATCH} x GROUP BY city HAVING COUNT(*) >= K",
    ),
    (
        f"SELECT kind, SUM(cost) AS s, COUNT(*) AS n FROM {FIRST} s WHERE s.r = 1 GROUP BY kind",
        f"SELECT kind, SUM(cost), COUNT(*) FROM {FIRST} s WHERE s.r = 1 GROUP BY kind HAVING COUNT(DISTINCT ssn) >= K",
    ),
    (
        f"SELECT COUNT(CASE WHEN s.r = 1 THEN 1 END) AS n FROM {FIRST} s",
        "SELECT CASE WHEN COUNT(DISTINCT ssn) FILTER (WHERE r = 1) >= K AND COUNT(DISTINCT ssn) FILTER (WHERE r <> 1) "
        f">= K THEN COUNT(*) FILTER (WHERE r = 1) END FROM {FIRST} s",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT ssn, day - LAG(day) OVER (PARTITION BY ssn ORDER BY day) AS gap "
        "FROM stays) s WHERE gap <= 1",
        "SELECT CASE WHEN COUNT(DISTINCT ssn) >= K THEN COUNT(*) END FROM (SELECT ssn, day - LAG(day) OVER "
        "(PARTITION BY ssn ORDER BY day) AS gap FROM stays) s WHERE gap <= 1",
    ),
    (
        "SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, SUM(COUNT(*)) OVER () AS t FROM people "
        "GROUP BY city",
        "SELECT city, n, RANK() OVER (ORDER BY n DESC), SUM(n) OVER () FROM (SELECT city, COUNT(*) AS n FROM people "
        "GROUP BY city HAVING n >= K) g",
    ),
    (
        "SELECT g.k, g.m, c.worth FROM (SELECT city AS k, COUNT(*) AS m FROM people GROUP BY city) g "
        "LEFT JOIN customers c ON c.ssn = g.m",
        "SELECT k, m, worth FROM (SELECT city AS k, COUNT(*) AS m FROM people GROUP BY city HAVING m >= K) g "
        "LEFT JOIN customers c ON c.ssn = g.m",
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Rendered]:
    """Owners who leave small groups out."""
    found = {}
    for least in LEASTS:
        offers = surface.offers(least)
        dropping = {
            owner: text.replace('unit = "ssn"', 'unit = "ssn"\nsmall = "drop"') for owner, text in offers.items()
        }
        found[least] = Rendered(Product(dropping, tmp_path_factory.mktemp(f"least{least}")).federation.catalog)
    return found


@pytest.mark.parametrize("least", LEASTS)
@pytest.mark.parametrize(("sql", "by_hand"), CASES, ids=lambda each: each[:60] if isinstance(each, str) else None)
def test_answers_are_those_of_the_rule_by_hand(
    subjects: Mapping[int, Rendered], least: int, sql: str, by_hand: str
) -> None:
    subject, seen = subjects[least], set[str]()
    for data in (*surface.worlds(21, 15), surface.large()):
        answer = subject.answer(sql, NORTH, data).rows
        expected = subject.database.sql(re.sub(r"\bK\b", str(least), by_hand)).fetchall()
        assert plain.same(answer, expected), data
        seen.add(repr(sorted(map(repr, answer))))
    assert len(seen) > 1, "some answers are shown"
