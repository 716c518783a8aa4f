"""Slices over generated data: the answers are those of DuckDB. Golden files have the SQL."""

from __future__ import annotations

import random
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tacit.plan.physical.placed import KeysStep
from tacit.plan.rules import slicing
from tacit.sql import compile_query

from .asking import Asker
from .comparing import assert_equal
from .federations import make_keys, pooled
from .queries import Question
from .running import among_threads, reference
from .searching import NIGHTLY, SEED, search
from .slices import ALL, BOTH, PARTIES, Row, federation_of

ROUNDS, QUESTIONS = (40, 2000) if NIGHTLY else (2, 90)

QUERIES = (
    f"SELECT pid, COUNT(*) AS n, SUM(cost) AS total, MIN(day) AS first FROM {ALL} GROUP BY pid",
    f"SELECT pid, site, COUNT(cost) AS n FROM {BOTH} WHERE cost > 100 GROUP BY pid, site",
    f"SELECT site, MAX(cost) AS most FROM {ALL} GROUP BY site HAVING COUNT(*) > 1",
    f"SELECT DISTINCT pid FROM {BOTH} WHERE day > DATE '2020-06-01'",
    f"SELECT v.site, COUNT(*) AS n FROM people p JOIN {ALL} ON p.pid = v.pid GROUP BY v.site",
    "SELECT p.pid, v.cost FROM people p LEFT JOIN at_d v ON p.pid = v.pid AND v.cost > 0",
    "SELECT p.pid, v.cost FROM people p RIGHT JOIN at_d v ON p.pid = v.pid",
    "SELECT COUNT(*) AS n, SUM(cost) AS total FROM at_d WHERE pid IN (SELECT pid FROM people WHERE cost > 10)",
    "SELECT cost FROM at_d v WHERE NOT EXISTS (SELECT * FROM people p WHERE p.pid = v.pid)",
    f"SELECT pid, day, SUM(cost) OVER (PARTITION BY pid ORDER BY day) AS running FROM {ALL}",
    "SELECT DISTINCT pid FROM (SELECT pid, day, LAG(day) OVER (PARTITION BY pid ORDER BY day) AS before "
    f"FROM {BOTH}) w WHERE day - before BETWEEN 15 AND 56",
    f"SELECT v.site, COUNT(*) AS n FROM {BOTH} JOIN (SELECT DISTINCT pid FROM {ALL} WHERE cost > 500) p "
    "ON v.pid = p.pid GROUP BY v.site",
    f"SELECT COUNT(DISTINCT pid) AS patients, COUNT(*) AS n, SUM(cost) AS total, MIN(day) AS first FROM {ALL}",
    f"SELECT COUNT(DISTINCT v.pid) AS patients FROM people p JOIN {ALL} ON p.pid = v.pid WHERE p.cost > 10",
)


@pytest.fixture(scope="module")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("all_keys"), PARTIES)


def generated(draw: random.Random) -> dict[str, list[Row]]:
    """Tables whose keys are all shared, some, or none; with NULLs, and with no rows at all."""
    known = {name: draw.sample(range(12), draw.choice([0, 1, 3, 8])) for name in ("at_a", "at_b", "at_d")}
    apart = draw.random() < 0.3
    found = {
        name: [_row(draw, _key(draw, keys, 100 * at * apart)) for _ in range(draw.choice([0, 4, 9]) if keys else 0)]
        for at, (name, keys) in enumerate(known.items())
    }
    people = [*draw.sample(range(14), draw.choice([0, 4, 9])), *([None] if draw.random() < 0.5 else [])]
    return found | {"people": [_row(draw, pid) for pid in people]}


def _key(draw: random.Random, keys: list[int], shift: int) -> int | None:
    return None if draw.random() < 0.15 else draw.choice(keys) + shift


def _row(draw: random.Random, pid: int | None) -> Row:
    day = f"2020-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    return pid, draw.choice(["north", "east", "w"])[:4], day, draw.choice([None, -5, 50, 700])


@pytest.mark.parametrize("number", range(ROUNDS))
def test_generated_data(number: int, all_keys: Path, tmp_path: Path) -> None:
    print(f"TACIT_SEED={SEED}, round {number}")
    draw = random.Random(f"{SEED} {number}")
    federation = federation_of(tmp_path, all_keys, generated(draw))
    with pooled(federation) as database:
        for place, query in enumerate(QUERIES):
            plan = compile_query(query, federation.catalog, (draw.choice("abcd"),))
            assert any(isinstance(step, KeysStep) for step in plan.steps), query
            folder = tmp_path / str(place)
            folder.mkdir()
            assert_equal(among_threads(federation, plan, folder), reference(database, query), (), total=False)


def test_generated_questions_in_slices(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part that can be sliced is: of two plans the one that is priced last has the lower price."""
    prices, priced = count(0, -1), slicing._seconds

    def falling(*asked: Any) -> float | None:
        return None if priced(*asked) is None else float(next(prices))

    monkeypatch.setattr(slicing, "_seconds", falling)
    outcomes: Counter[str] = Counter()

    with Asker(among_threads, keys) as asker:

        def ask(question: Question) -> None:
            world = question.world
            if world.table("people").column("k").readers == world.members.parties:
                outcomes[asker.check(question)] += 1

        search(ask, QUESTIONS)
    assert sum(number for outcome, number in outcomes.items() if "sliced" in outcome) >= QUESTIONS // 30, outcomes
