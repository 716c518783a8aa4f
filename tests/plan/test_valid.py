"""How many rows of a relation can be valid: by conditions on how many rows a group counts, by keys of joins."""

from __future__ import annotations

import pytest

from tacit.plan.facts.valid import valid_bound

from .catalogs import MIXED
from .relations import bound

ROWS = 40
"""Of the table."""


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("SELECT s FROM padded WHERE s >= 10", ROWS),
        ("SELECT id, COUNT(*) AS n FROM padded GROUP BY id", ROWS),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) >= 10", 4),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) > 10 AND MAX(s) > 70", 3),
        ("SELECT id FROM padded GROUP BY id HAVING 7 <= COUNT(k)", 5),
        ("SELECT id FROM padded GROUP BY id HAVING 7 < COUNT(DISTINCT k)", 5),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) = 20 ORDER BY id", 2),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) >= 10 ORDER BY id LIMIT 3", 3),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) >= 41", 0),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) >= 0", ROWS),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) >= 10 OR MAX(s) > 70", ROWS),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) <= 10", ROWS),
        ("SELECT id FROM padded GROUP BY id HAVING SUM(s) >= 10", ROWS),
        ("SELECT id, n FROM (SELECT id, COUNT(*) AS n FROM padded GROUP BY id) t WHERE n >= 10", 4),
        ("SELECT id, n FROM (SELECT id, COUNT(*) + 1 AS n FROM padded GROUP BY id) t WHERE n >= 10", ROWS),
        ("SELECT id FROM padded GROUP BY id HAVING COUNT(*) >= 10 UNION ALL SELECT s FROM padded", 4 + ROWS),
        ("SELECT id FROM announced GROUP BY id HAVING COUNT(*) >= 10", 51),
        ("SELECT k FROM announced", None),
        ("SELECT a.s FROM padded p JOIN announced a ON p.id = a.id", ROWS),
        ("SELECT p.s FROM announced a JOIN padded p ON p.id = a.id", ROWS),
        ("SELECT a.s FROM padded p RIGHT JOIN announced a ON p.id = a.id", None),
        ("SELECT a.s FROM announced a WHERE a.id IN (SELECT id FROM padded ORDER BY id LIMIT 3)", 3),
        ("SELECT a.s, COUNT(*) AS n FROM padded p JOIN announced a ON p.id = a.id GROUP BY a.s", ROWS),
    ],
)
def test_valid_bound(query: str, most: int | None) -> None:
    assert valid_bound(bound(query), MIXED) == most
