"""Generated plans: permits are exactly those that the operators need; owners consent to each exact size."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.plan.permits import (
    assert_counts_are_consented,
    assert_exact_sizes_are_consented,
    assert_permits_are_those_needed,
)

from tacit.plan.algebra.refusals import QueryError
from tacit.sql import compile_query

from .asking import stored
from .queries import Question
from .searching import NIGHTLY, search


def test_permits_are_needed_and_sizes_consented(keys: Path) -> None:
    opened, exact = 0, 0

    def run(question: Question) -> None:
        nonlocal opened, exact
        with tempfile.TemporaryDirectory(prefix="tacit-test-") as folder:
            catalog = stored(question.world, Path(folder), keys).catalog
        try:
            plan = compile_query(question.query, catalog, question.to)
        except QueryError:
            return
        assert_permits_are_those_needed(plan)
        opened += len(plan.disclosures)
        exact += assert_exact_sizes_are_consented(plan)
        assert_counts_are_consented(plan)

    search(run, 1000 if NIGHTLY else 40)
    assert opened > 40 and exact > 5
