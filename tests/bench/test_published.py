"""The bench of the literature's queries: each runs on small tables, and its answer is DuckDB's. No time is asserted."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from tests.differential.running import in_clear

from tacit.agent.federation import Federation
from tacit.sql import compile_query

BENCHES = Path(__file__).parents[2] / "benches"
ROWS = 600
NAMES = (
    "thesis-one", "thesis-two", "thesis-two-split", "thesis-three", "market", "credit", "aspirin", "comorbidity",
    "recurrence", "orq-aspirin", "orq-comorbidity", "orq-credit", "orq-password", "orq-market", "orq-secq2",
)  # fmt: skip


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench's own module, which is no part of the package."""
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("published")


@pytest.mark.parametrize("name", NAMES)
def test_each_query_has_the_answer_of_duckdb(name: str, bench: ModuleType, tmp_path: Path) -> None:
    case = bench.CASES[name]
    tables = case.tables(ROWS)
    bench.write_federation(tmp_path, tables)
    federation = Federation.load(tmp_path / "federation.toml")
    found = in_clear(federation, compile_query(case.query, federation.catalog, ("a",)), tmp_path)
    assert bench.same(sorted(found.rows), sorted(bench.pooled(tmp_path, tables, case.query)))


def test_the_queries_are_these(bench: ModuleType) -> None:
    assert tuple(bench.CASES) == NAMES


def test_use_case_two_is_the_same_question_twice(bench: ModuleType, tmp_path: Path) -> None:
    direct, split = (bench.CASES[name] for name in ("thesis-two", "thesis-two-split"))
    tables = direct.tables(ROWS)
    assert tables == split.tables(ROWS)
    bench.write_federation(tmp_path, tables)
    answers = [sorted(bench.pooled(tmp_path, tables, each.query)) for each in (direct, split)]
    assert answers[0] == answers[1] and answers[0]


def test_half_of_the_keys_match(bench: ModuleType, tmp_path: Path) -> None:
    case = bench.CASES["thesis-one"]
    tables = case.tables(ROWS)
    bench.write_federation(tmp_path, tables)
    assert len(bench.pooled(tmp_path, tables, case.query)) == ROWS // 4
