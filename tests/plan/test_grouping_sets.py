"""Grouping sets and common table expressions are computed over rows that are computed once."""

from __future__ import annotations

from collections import Counter

import pytest

from tacit.plan.physical.placed import InputStep, SecureStep
from tacit.sql import compile_query

from .catalogs import CREDIT

JOINED = "scores_a JOIN demographics USING (ssn)"


def _operators(query: str) -> Counter[str]:
    """How many secure operators of each kind a query has."""
    plan = compile_query(query, CREDIT, ("regulator",))
    return Counter(step.operator.op for step in plan.steps if isinstance(step, InputStep | SecureStep))


@pytest.mark.parametrize(
    ("sets", "groups"),
    [("ROLLUP (zip)", 1), ("CUBE (zip, score)", 3), ("GROUPING SETS ((zip), (score), (zip, score), ())", 3)],
)
def test_the_rows_beneath_grouping_sets_are_computed_once(sets: str, groups: int) -> None:
    found = _operators(f"SELECT COUNT(*) AS n, SUM(score) AS s FROM {JOINED} GROUP BY {sets}")
    assert (found["join"], found["input"]) == (1, 2)
    assert (found["group_by"], found["aggregate"]) == (groups, 1)


def test_a_common_table_expression_that_is_used_twice_is_computed_once() -> None:
    found = _operators(
        f"WITH x AS (SELECT zip, COUNT(*) AS n FROM {JOINED} GROUP BY zip)"
        " SELECT zip, n FROM x WHERE n > (SELECT MIN(n) FROM x)"
    )
    assert (found["join"] + found["group_join"], found["group_by"]) == (1, 1)
