"""How many rows each row of an answer stands for, by the query's own conditions."""

from __future__ import annotations

import pytest

from tacit.plan.facts.floors import least_rows
from tacit.sql import compile_query

from .catalogs import CREDIT, MIXED
from .relations import bound

GROUPS = "(SELECT g, COUNT(*) AS n FROM padded GROUP BY g HAVING COUNT(*) > 3) t"
PARTS = "(SELECT * FROM padded UNION ALL SELECT * FROM announced UNION ALL SELECT * FROM consenting) t"


@pytest.mark.parametrize(
    ("query", "least"),
    [
        ("SELECT s FROM padded", 1),
        ("SELECT g, SUM(s) AS t FROM padded GROUP BY g", 1),
        ("SELECT SUM(s) AS t FROM padded", 0),
        ("SELECT SUM(s) AS t FROM padded HAVING COUNT(*) >= 5", 5),
        ("SELECT g FROM padded GROUP BY g HAVING COUNT(*) >= 10", 10),
        ("SELECT g FROM padded GROUP BY g HAVING COUNT(*) > 10 AND MAX(s) > 70", 11),
        ("SELECT g FROM padded GROUP BY g HAVING 10 <= COUNT(k)", 10),
        ("SELECT g FROM padded GROUP BY g HAVING 10 < COUNT(DISTINCT k)", 11),
        ("SELECT g FROM padded GROUP BY g HAVING COUNT(*) = 3 ORDER BY g LIMIT 2", 3),
        ("SELECT g FROM padded GROUP BY g HAVING COUNT(*) >= 10 OR MAX(s) > 70", 1),
        ("SELECT g FROM padded GROUP BY g HAVING COUNT(*) < 10", 1),
        ("SELECT g FROM padded GROUP BY g HAVING COUNT(*) + 8 >= 10", 1),
        ("SELECT g FROM padded GROUP BY g HAVING SUM(s) >= 10", 1),
        ("SELECT s FROM padded WHERE s >= 10", 1),
        ("SELECT n, COUNT(*) AS m FROM $GROUPS GROUP BY n", 4),
        ("SELECT g, n FROM (SELECT g, COUNT(*) AS n FROM padded GROUP BY g) t WHERE n >= 6", 6),
        ("SELECT t.n, p.s FROM $GROUPS JOIN padded p ON t.g = p.g", 1),
    ],
)
def test_least_rows(query: str, least: int) -> None:
    assert least_rows(bound(query.replace("$GROUPS", GROUPS))) == least


@pytest.mark.parametrize("counted", ["COUNT(*)", "COUNT(k)"])
@pytest.mark.parametrize("key", ["b", "g"])
def test_a_floor_outlives_the_split_into_partial_counts(counted: str, key: str) -> None:
    plan = compile_query(f"SELECT {key}, MIN(s) AS m FROM {PARTS} GROUP BY {key} HAVING {counted} >= 7", MIXED, ("p",))
    assert plan.disclosures[-1].derivation.floor == 7


def test_without_a_condition_there_is_no_floor() -> None:
    plan = compile_query("SELECT zip, COUNT(*) AS n FROM demographics GROUP BY zip", CREDIT, ("bureau_a",))
    assert [each.derivation.floor for each in plan.disclosures] == [None]
