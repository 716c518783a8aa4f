"""Plans, accounts and permits as text files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.plan.account.explain import plan_text
from tacit.plan.account.learnt import learnt
from tacit.plan.facts.catalog import Catalog
from tacit.sql import compile_query

from .golden import check, files

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("path", files(GOLDEN), ids=lambda path: path.stem)
def test_plans(path: Path) -> None:
    check(path, _text)


def _text(query: str, catalog: Catalog, recipients: tuple[str, ...]) -> str:
    plan = compile_query(query, catalog, recipients)
    permits = [json.dumps(each.json()) for each in plan.permits]
    return "\n".join([plan_text(plan).rstrip(), *(f"* {line}" for line in learnt(plan)), *permits])
