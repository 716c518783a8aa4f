"""Grouping sets over rows that several owners decide: whatever is subtracted from what, no small group comes out.

A guard on each set alone would be wrong: the last test has that break.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from .product import Product
from .properties import surface
from .properties.surface import NORTH
from .rendered import Rendered, Unguarded

Row = tuple[Any, ...]
LEAST = 3
JOINED = "customers c JOIN people p ON c.ssn = p.ssn"
MEASURES = "COUNT(*) AS n, SUM(p.salary) AS s, COUNT(p.bonus) AS b"
ROLLED = f"SELECT c.segment AS k, {MEASURES} FROM {JOINED} GROUP BY ROLLUP (c.segment)"
CUBED = (
    f"SELECT c.segment AS k, p.city AS l, {MEASURES}, GROUPING(c.segment, p.city) AS level FROM {JOINED} "
    "GROUP BY CUBE (c.segment, p.city)"
)
FINEST = f"SELECT c.segment AS k, p.city AS l, {MEASURES} FROM {JOINED} GROUP BY c.segment, p.city HAVING COUNT(*) > 0"
TWICE = (
    f"SELECT c.segment AS k, COUNT(*) AS n FROM {JOINED} GROUP BY c.segment HAVING COUNT(*) > 0",
    f"SELECT COUNT(*) AS n FROM {JOINED}",
)
SEEDS = range(1, 40)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    return Rendered(Product(surface.offers(LEAST), tmp_path_factory.mktemp("levels")).federation.catalog)


def worlds() -> Iterator[Mapping[str, Any]]:
    for seed in SEEDS:
        yield from surface.worlds(seed, 1)


def added(rows: Sequence[Row]) -> Row:
    """The sums of columns, of which NULL is nothing; NULL where all are."""
    columns = zip(*rows, strict=True)
    return tuple(sum(each for each in column if each is not None) if any(each is not None for each in column) else None
                 for column in columns)  # fmt: skip


def test_each_set_is_a_sum_of_groups_that_the_finest_one_shows(subject: Rendered) -> None:
    """So nothing is left when groups are subtracted from totals."""
    shown, dropped = 0, 0
    for data in worlds():
        fine = subject.answer(FINEST, NORTH, data).rows
        for *keys, n, s, b, level in subject.answer(CUBED, NORTH, data).rows:
            kept = [not level >> 1, not level & 1]
            parts = [
                row[2:] for row in fine if all(not is_key or row[at] == keys[at] for at, is_key in enumerate(kept))
            ]
            assert (n, s, b) == added(parts), data
            shown += 1
        dropped += not fine
    assert shown > 20 and dropped, "some worlds show groups, and some show none"


def test_a_small_group_is_in_no_total(subject: Rendered) -> None:
    """Whom a small group has, and what they earn, changes no row."""
    found = 0
    for data in worlds():
        segments = {each["ssn"]: each["segment"] for each in data["customers"]}
        members = [each for each in data["people"] if each["ssn"] in segments]
        counts = {each: sum(segments[one["ssn"]] == each for one in members) for each in {*segments.values()}}
        for each in (one for one in members if counts[segments[one["ssn"]]] < LEAST):
            other = [{**one, "salary": one["salary"] + 1} if one is each else one for one in data["people"]]
            for changed in (other, [one for one in data["people"] if one is not each]):
                first, second = (
                    subject.answer(ROLLED, NORTH, one).seen() for one in (data, {**data, "people": changed})
                )
                assert first == second
                found += 1
    assert found > 20, "there are small groups"


def test_where_all_groups_are_large_nothing_is_missing(subject: Rendered) -> None:
    data = surface.large()
    plain = Unguarded(subject)
    for sql in (each.replace(", COUNT(p.bonus) AS b", "") for each in (ROLLED, CUBED)):
        found = sorted(map(repr, subject.answer(sql, NORTH, data).rows))
        assert found == sorted(map(repr, plain.answer(sql, NORTH, data).rows))
        assert len(found) > 2


def test_the_plan_answers_as_the_rules_say(subject: Rendered, tmp_path: Path) -> None:
    product = Product(surface.offers(LEAST), tmp_path)
    data = next(data for data in worlds() if len(subject.answer(ROLLED, NORTH, data).rows) > 1)
    expected = sorted(map(repr, subject.answer(ROLLED, NORTH, data).rows))
    assert sorted(map(repr, product.answer(ROLLED, NORTH, data).rows)) == expected


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT c.segment, COUNT(DISTINCT p.age) AS n FROM {JOINED} GROUP BY ROLLUP (c.segment)",
        f"SELECT c.segment, MEDIAN(p.age) AS n FROM {JOINED} GROUP BY ROLLUP (c.segment)",
        f"{TWICE[0]} UNION ALL SELECT 'z', COUNT(*) FROM {JOINED}",
        f"SELECT p.city, p.since, COUNT(*) AS n, SUM(p.salary) AS s FROM {JOINED} "
        "GROUP BY GROUPING SETS ((p.city), (p.since))",
        f"SELECT c.segment AS k, COUNT(*) AS n FROM {JOINED} GROUP BY c.segment "
        f"UNION ALL SELECT p.city AS k, COUNT(*) AS n FROM {JOINED} GROUP BY p.city",
        f"SELECT c.segment AS city, p.city AS segment, COUNT(*) AS n FROM {JOINED} GROUP BY c.segment, p.city "
        "UNION ALL SELECT p.city AS city, c.segment AS segment, COUNT(*) AS n "
        f"FROM {JOINED} GROUP BY p.city, c.segment",
    ],
)
def test_what_does_not_follow_from_parts_is_refused(subject: Rendered, sql: str) -> None:
    assert subject.verdict(sql, NORTH).rule == "differences"


def test_a_guard_on_each_set_alone_would_be_broken(subject: Rendered) -> None:
    """Two answers, each above its floor: the total less the groups that are shown is one of few."""
    isolated = 0
    for data in worlds():
        groups, total = (subject.answer(each, NORTH, data) for each in TWICE)
        if total.rows[0][0] is not None and groups.rows:
            isolated += 0 < total.rows[0][0] - sum(row[1] for row in groups.rows) < LEAST
    assert isolated > 0
