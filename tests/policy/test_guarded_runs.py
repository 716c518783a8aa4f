"""Guarded queries on engines, against their meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.differential.federations import make_keys
from tests.differential.running import Engine, among_threads, in_clear

from . import cases
from .plans import planned, stored
from .worlds import Case, Tables

ALL = {**cases.CASES, **cases.FOLDED}
TABLES: Tables = {
    "people": [
        (0, 0, 5, True),
        (1, 0, None, True),
        (2, 0, -2, None),
        (3, 1, 9, False),
        (4, 1, 7, False),
        (5, 2, 1, True),
        (6, None, None, None),
    ],
    "visits": [
        (0, 0, 0, 2),
        (1, 1, 0, 1),
        (2, 2, 0, None),
        (3, 3, 0, 0),
        (4, 3, 1, 2),
        (5, 4, 1, 1),
        (6, 5, 2, 1),
        (7, None, None, 2),
    ],
    "calls": [(0, 0, 0, 1), (0, 1, 0, None), (1, 7, 1, 2), (1, 6, 1, 2), (1, 6, 1, 0), (2, 4, 2, 1)],
}
"""Groups above the floors and below, units in several groups, rows without a unit or a value."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("keys"))


def check(case: Case, engine: Engine, keys: Path, folder: Path, suite: str = "rep3") -> None:
    """What an engine answers is what the evaluation by hand does."""
    federation = stored(TABLES, folder, keys, suite)
    found = engine(federation, planned(case, federation, "a"), folder)
    expected = case.answer(TABLES)
    assert sorted(map(repr, found.rows)) == sorted(map(repr, expected))
    assert found.rows


@pytest.mark.parametrize(
    "name",
    [
        "JOINED_BY_KIND",
        "TWO_OWNERS",
        "EQUAL_UNITS",
        "JOINED_BY_PERSON_AND_COST",
        "UNION",
        "UNION_REFINED",
        "CONDITIONAL",
        "COMPLEMENT_TOTAL",
        "UNION_WITHOUT_KEYS",
        "UNION_PER_PERSON",
        "JOINED_BY_KIND_FOLDED",
        "TWO_OWNERS_FOLDED",
        "UNION_FOLDED",
        "UNION_OF_ROWS_FOLDED",
        "NULLABLE_FOLDED",
        "CONDITIONAL_FOLDED",
    ],
)
def test_in_clear(name: str, keys: Path, tmp_path: Path) -> None:
    check(ALL[name], in_clear, keys, tmp_path)


@pytest.mark.parametrize(
    ("name", "suite"),
    [("JOINED_BY_KIND", "rep3"), ("UNION_FOLDED", "rep3"), ("CONDITIONAL", "two"), ("TWO_OWNERS_FOLDED", "two")],
)
def test_under_mpc_at_declared_cost(name: str, suite: str, keys: Path, tmp_path: Path) -> None:
    check(ALL[name], among_threads, keys, tmp_path, suite)
