"""Tables of many rows: counts around the widths of packed words, and sums of values all over their types' ranges."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from .comparing import assert_equal
from .federations import Declared, pooled, store
from .running import Engine, among_threads, ask, in_clear, reference

COLUMNS = """
columns.id = { type = "INTEGER", min = 0, max = 99999 }
columns.g = { type = "INTEGER", min = 0, max = 40, nullable = true }
columns.i = { type = "INTEGER", nullable = true }
columns.l = { type = "BIGINT" }
columns.m = { type = "DECIMAL(18,4)", nullable = true }
columns.w = { type = "DECIMAL(38,2)", min = "-9999999999999999999999999", max = "9999999999999999999999999" }
columns.d = { type = "DATE" }
columns.t = { type = "VARCHAR", max_length = 10 }
columns.b = { type = "BOOLEAN", nullable = true }
"""

ROWS = """
SELECT i AS id, CASE WHEN hash(i, 1) % 9 > 0 THEN hash(i, 2) % 41 END AS g,
    CASE WHEN hash(i, 3) % 9 > 0 THEN (hash(i, 4) % 4294967296)::HUGEINT - 2147483648 END AS i,
    hash(i, 5)::HUGEINT - 9223372036854775808 AS l,
    CASE WHEN hash(i, 6) % 9 > 0 THEN ((hash(i, 7) % 1999999999999999999)::HUGEINT - 999999999999999999)::DECIMAL(38,0)
        * 0.0001::DECIMAL(5,4) END AS m,
    (hash(i, 8)::HUGEINT - 9223372036854775808) * 10000::HUGEINT AS w,
    DATE '1900-01-01' + (hash(i, 9) % 80000)::INTEGER AS d,
    chr(97 + (hash(i, 10) % 26)::INTEGER) || (hash(i, 11) % 50) AS t,
    CASE hash(i, 12) % 3 WHEN 0 THEN true WHEN 1 THEN false END AS b
FROM range({start}, {stop}) r(i) ORDER BY hash(i)
"""

UNION = "(SELECT * FROM x UNION ALL SELECT * FROM y) u"

QUERIES = [
    (f"SELECT COUNT(*) AS n, SUM(i) AS a, SUM(l) AS b, SUM(m) AS c, SUM(w) AS d FROM {UNION}", ()),
    (f"SELECT AVG(i) AS a, AVG(l) AS b, AVG(m) AS c, AVG(w) AS d FROM {UNION}", ()),
    (f"SELECT g, AVG(i) AS a, AVG(l) AS b, AVG(m) AS c, AVG(w) AS d, COUNT(i) AS n FROM {UNION} GROUP BY g", ()),
    (f"SELECT g, b, MIN(l) AS lo, MAX(w) AS hi, MIN(t) AS t, MAX(d) AS d FROM {UNION} GROUP BY g, b", ()),
    (f"SELECT t, COUNT(*) AS n, COUNT(DISTINCT g) AS k, SUM(m) AS s FROM {UNION} GROUP BY t ORDER BY t", (0,)),
    (f"SELECT DISTINCT g, b FROM {UNION}", ()),
    (f"SELECT l, t, w FROM {UNION} WHERE b AND i > 0 OR d < DATE '1950-01-01' AND NOT m <= 0", ()),
    (f"SELECT i, m, id FROM {UNION} ORDER BY i DESC NULLS LAST, m, id LIMIT 70 OFFSET 3", (0, 1, 2)),
    ("SELECT x.id, x.t, y.l, y.b FROM x JOIN y ON x.id = y.id", ()),
    ("SELECT x.g, SUM(y.l) AS s, COUNT(*) AS n FROM x, y WHERE x.id = y.id AND x.i < y.l GROUP BY x.g", ()),
    ("SELECT id, l FROM x WHERE l > (SELECT MAX(l) FROM y WHERE g = 7) OR t = 'c3'", ()),
    ("SELECT l - i AS a, CASE WHEN b THEN i ELSE g END AS c, m + w AS e FROM x WHERE id IN (SELECT id FROM y)", ()),
]


def table(name: str, owner: str, start: int, stop: int, facts: str) -> Declared:
    """A table with the rows of these numbers."""
    with duckdb.connect() as database:
        rows = database.sql(ROWS.format(start=start, stop=stop)).fetchall()
    text = "\n".join(",".join("" if value is None else str(value) for value in row) for row in rows)
    section = f'[tables.{name}]\nowner = "{owner}"\npath = "{owner}/{name}.csv"\n{facts}{COLUMNS}'
    return Declared(section, f"id,g,i,l,m,w,d,t,b\n{text}\n")


@pytest.mark.parametrize(
    ("engine", "suite", "rows"),
    [
        (in_clear, "rep3", 700),
        (among_threads, "rep3", 63),
        (among_threads, "rep3", 65),
        (among_threads, "rep3", 1300),
        (among_threads, "two", 65),
        pytest.param(among_threads, "two", 1300, marks=pytest.mark.nightly),
    ],
    ids=["clear", "63 rows", "65 rows", "1300 rows", "two, 65 rows", "two, 1300 rows"],
)
def test_many_rows(engine: Engine, suite: str, rows: int, keys: Path, tmp_path: Path) -> None:
    tables = {
        "x": table("x", "a", 0, rows, f'rows = {rows + 5}\nunique = [["id"]]'),
        "y": table("y", "b", rows // 2, rows * 3 // 2, f'rows = {rows}\nconsents = ["filter"]'),
    }
    federation = store(tables, tmp_path, keys, engine=suite)
    with pooled(federation) as database:
        for number, (query, order) in enumerate(QUERIES):
            folder = tmp_path / str(number)
            folder.mkdir()
            expected = reference(database, query)
            assert_equal(ask(federation, query, engine, folder), expected, order, total=bool(order))
