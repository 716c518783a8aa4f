"""Sums that are added up early, for few rows, too: the golden file of sums over joins has the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.plan.algebra.relations import Aggregate
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical import early_sums, lower

from . import test_golden

FILE = next(path for path in test_golden.FILES if path.stem == "sums_over_joins")


@pytest.mark.parametrize("engine", ["clear", "rep3"])
def test_early_sums_are_the_same(engine: str, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Aggregate] = []

    def noted(relation: Aggregate, catalog: Catalog) -> Aggregate | None:
        parts = early_sums.early_sums(relation, catalog)
        found.extend([] if parts is None else [parts])
        return parts

    monkeypatch.setattr(early_sums, "FEWEST", 1)
    monkeypatch.setattr(lower, "early_sums", noted)
    monkeypatch.setattr(test_golden, "UPDATE", False)
    test_golden.test_golden(FILE, engine, keys, tmp_path, monkeypatch)
    assert len(set(found)) >= 8, "most of the file's sums are added up early"
