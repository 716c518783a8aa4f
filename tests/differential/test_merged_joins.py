"""Joins of two parties, against DuckDB: types of keys, NULLs, repetitions, no rows.

What the owners can sort is merged or sorted by the nodes, whichever is predicted to take less time: with as many rows
as are assumed where sizes are announced later it is merged, with a hundred rows and narrow keys it is sorted. What
comes from other steps is always sorted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.plan.physical.operators import Join
from tacit.plan.physical.placed import SecureStep
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import Declared, pooled, store
from .running import among_threads, ask, reference

LEFT = """
columns.id = { type = "INTEGER", min = -40, max = 40, nullable = true }
columns.name = { type = "VARCHAR", max_length = 4 }
columns.long = { type = "VARCHAR", max_length = 40, nullable = true }
columns.day = { type = "DATE" }
columns.price = { type = "DECIMAL(9,2)" }
columns.v = { type = "BIGINT" }
"""
RIGHT = """
columns.pid = { type = "BIGINT", min = -90, max = 90, nullable = true }
columns.who = { type = "VARCHAR", max_length = 7, nullable = true }
columns.whole = { type = "VARCHAR", max_length = 60, nullable = true }
columns.date = { type = "DATE", nullable = true }
columns.paid = { type = "DECIMAL(11,2)" }
columns.w = { type = "DECIMAL(24,2)" }
"""
UNIQUE = 'unique = [["id"], ["long"], ["name", "day"], ["price", "id"]]'

NARROW = [
    "SELECT id, v, w FROM people JOIN visits ON id = pid",
    "SELECT id, COUNT(*) AS n, SUM(w) AS s FROM people JOIN visits ON id = pid WHERE v > 3 AND w < 20 GROUP BY id",
]
WIDE = [
    "SELECT long, v, w FROM people JOIN visits ON long = whole",
    "SELECT name, v, w FROM people JOIN visits ON name = who AND day = date",
    "SELECT price, v, w FROM people JOIN visits ON price = paid AND id = pid",
    "SELECT long, v, w FROM people FULL JOIN visits ON long = whole",
    "SELECT long, whole, v, w FROM people LEFT JOIN visits ON long = whole AND w > 3",
    "SELECT w, v FROM people RIGHT JOIN visits ON name = who AND day = date",
    "SELECT v FROM people ANTI JOIN visits ON long = whole",
]
SEEN = "(SELECT pid, whole, w FROM visits UNION ALL SELECT id AS pid, long AS whole, 0.25 AS w FROM people)"
UNSORTED = [
    f"SELECT id, v, w FROM people JOIN {SEEN} AS seen ON id = pid",
    f"SELECT long, v, w FROM people JOIN {SEEN} AS seen ON long = whole",
]


def people(rows: int) -> str:
    lines = ["id,name,long,day,price,v"]
    for i in range(rows):
        key = "" if i == 3 else i * 11 % 81 - 40
        name, long = "ab" * (i % 3) or "é", "" if i == 1 else f"{'x' * (i % 30)}{i}"
        lines.append(f"{key},{name},{long},{1900 + i * 7 % 200}-0{1 + i % 9}-11,{(i % 9 - 4) * 1.25:.2f},{i - 9}")
    return "\n".join(lines) + "\n"


def visits(rows: int, known: int) -> str:
    lines = ["pid,who,whole,date,paid,w"]
    for j in range(rows):
        i = j * 5 % (known + 3)
        key = "" if j % 6 == 5 else i * 11 % 81 - 40
        who, full = "" if j % 8 == 2 else "ab" * (i % 3) or "é", f"{'x' * (i % 30)}{i}"
        date = "" if j % 9 == 7 else f"{1900 + i * 7 % 200}-0{1 + i % 9}-11"
        lines.append(f"{key},{who},{full},{date},{(i % 9 - 4) * 1.25:.2f},{j - 20}.5")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("left", "right", "facts", "merged", "others"),
    [
        (23, 40, ("rows = 100\n", "rows = 141\n"), NARROW, UNSORTED),
        (17, 30, ("", 'consents = ["filter"]\n'), [*NARROW, *WIDE], UNSORTED),
        (0, 3, ("rows = 4\n", ""), [*NARROW, *WIDE], UNSORTED),
        (3, 0, ("", "rows = 2\n"), [*NARROW, *WIDE], UNSORTED),
    ],
)
def test_joins_of_two_parties(
    left: int,
    right: int,
    facts: tuple[str, str],
    merged: list[str],
    others: list[str],
    keys: Path,
    tmp_path: Path,
) -> None:
    tables = {
        "people": Declared(f'[tables.people]\nowner = "a"\npath = "a/p.csv"\n{facts[0]}{UNIQUE}{LEFT}', people(left)),
        "visits": Declared(f'[tables.visits]\nowner = "b"\npath = "b/v.csv"\n{facts[1]}{RIGHT}', visits(right, left)),
    }
    federation = store(tables, tmp_path, keys, engine="two")
    with pooled(federation) as database:
        for number, query in enumerate([*merged, *others]):
            plan = compile_query(query, federation.catalog, federation.recipients)
            operators = [step.operator for step in plan.steps if isinstance(step, SecureStep)]
            (join,) = [each for each in operators if isinstance(each, Join)]
            assert join.merged == (query in merged), query
            folder = tmp_path / str(number)
            folder.mkdir()
            expected = reference(database, query)
            assert expected.rows or not (left and (right or query in UNSORTED)), query
            assert_equal(ask(federation, query, among_threads, folder), expected, (), total=False)
