"""Joins whose keys repeat on both sides, over random tables against DuckDB.

Each table declares of its keys how often they repeat, mostly exactly. Keys are NULL, all the same, or there are none.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tacit.plan.physical.operators import Join
from tacit.plan.physical.placed import SecureStep
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import Declared, pooled, recipients_of_two, store
from .running import Engine, among_threads, ask, in_clear, reference

Row = tuple[int | None, str | None, int]

QUERIES = [
    "SELECT l.k, l.s, l.v, r.v AS w FROM l JOIN r ON l.k = r.k",
    "SELECT l.k, r.s, l.v, r.v AS w FROM l JOIN r ON l.s = r.s AND l.k = r.k WHERE l.v > 2",
    "SELECT l.k, l.v, r.k AS k2, r.v AS w FROM l LEFT JOIN r ON l.k = r.k AND r.v < 7",
    "SELECT l.s, l.v, r.s AS s2, r.v AS w FROM l RIGHT JOIN r ON l.s = r.s",
    "SELECT l.k, l.v, r.k AS k2, r.v AS w FROM l FULL JOIN r ON l.k = r.k AND l.v > 3",
    "SELECT l.s, COUNT(*) AS n, SUM(l.v * r.v) AS t, MAX(r.v) AS m FROM l JOIN r ON l.k = r.k GROUP BY l.s",
    "SELECT COUNT(*) AS n FROM l x JOIN l y ON x.k = y.k JOIN r ON r.s = y.s",
    "SELECT u.k, u.v, r.v AS w FROM (SELECT k, v FROM l UNION ALL SELECT k, v FROM r) u JOIN r ON u.k = r.k",
]


@dataclass(frozen=True)
class Case:
    """rows: of both tables. keys: how many different ones."""

    rows: tuple[int, int]
    keys: int
    nulls: float = 0.2
    padded: bool = True


CASES = [
    Case((6, 9), 3),
    Case((9, 5), 4, padded=False),
    Case((7, 4), 1, nulls=0),
    Case((0, 6), 2),
    Case((5, 0), 2, padded=False),
    Case((8, 8), 2, nulls=1),
    Case((12, 10), 5, nulls=0.4),
]


def rows(chance: random.Random, case: Case, count: int) -> list[Row]:
    def row() -> Row:
        key, word = chance.randrange(case.keys), f"s{chance.randrange(case.keys)}"
        none = [chance.random() < case.nulls for _ in range(2)]
        return None if none[0] else key, None if none[1] else word, chance.randrange(10)

    return [row() for _ in range(count)]


def repeats(found: list[Row], column: int, chance: random.Random) -> int:
    """How often a value occurs at most, or one more."""
    most = max(Counter(row[column] for row in found if row[column] is not None).values(), default=1)
    return most + chance.choice([0, 0, 0, 1])


def declared(name: str, owner: str, found: list[Row], case: Case, chance: random.Random) -> Declared:
    bounds = [repeats(found, column, chance) for column in (0, 1)]
    extent = f"rows = {len(found) + chance.choice([0, 2])}" if case.padded else "most_rows = 20"
    section = f"""[tables.{name}]
owner = "{owner}"
path = "{owner}/{name}.csv"
{extent}
columns.k = {{ type = "INTEGER", min = 0, max = 99, nullable = true, repeats = {bounds[0]} }}
columns.s = {{ type = "VARCHAR", max_length = 4, nullable = true, repeats = {bounds[1]} }}
columns.v = {{ type = "INTEGER", min = 0, max = 9 }}
"""
    lines = [",".join("" if value is None else str(value) for value in row) for row in found]
    return Declared(section, "\n".join(["k,s,v", *lines, ""]))


RUNS: list[tuple[Engine, str, int, slice]] = [
    *((in_clear, "rep3", number, slice(None)) for number in range(len(CASES))),
    (among_threads, "rep3", 0, slice(0, 6)),
    (among_threads, "two", 0, slice(0, 6)),
    (among_threads, "rep3", 1, slice(2, None)),
    (among_threads, "two", 2, slice(0, 3)),
]


@pytest.mark.parametrize(
    ("engine", "suite", "number", "asked"), RUNS, ids=[f"{suite} {run.__name__} {n}" for run, suite, n, _ in RUNS]
)
def test_random_tables(engine: Engine, suite: str, number: int, asked: slice, keys: Path, tmp_path: Path) -> None:
    case, chance = CASES[number], random.Random(number)
    left, right = (rows(chance, case, count) for count in case.rows)
    tables = {"l": declared("l", "a", left, case, chance), "r": declared("r", "b", right, case, chance)}
    federation = store(tables, tmp_path, keys, engine=suite)
    with pooled(federation) as database:
        for place, query in enumerate(QUERIES[asked]):
            folder = tmp_path / str(place)
            folder.mkdir()
            expected = reference(database, query)
            assert_equal(ask(federation, query, engine, folder), expected, (), total=False)


def test_keys_that_repeat_are_joined_as_such(keys: Path, tmp_path: Path) -> None:
    chance, case = random.Random(0), CASES[0]
    left, right = (rows(chance, case, count) for count in case.rows)
    tables = {"l": declared("l", "a", left, case, chance), "r": declared("r", "b", right, case, chance)}
    federation = store(tables, tmp_path, keys)
    for query in QUERIES:
        plan = compile_query(query, federation.catalog, recipients_of_two(federation.recipients))
        joins = [step.operator for step in plan.steps if isinstance(step, SecureStep)]
        assert any(isinstance(join, Join) and join.repeats > 1 for join in joins), query
