"""Guarded queries against their meaning, spelt out over tiny tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from . import cases
from .by_hand import answer
from .worlds import Case, Tables, tables

ALL = {**cases.CASES, **cases.FOLDED}


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=60, deadline=None)
@given(data=tables())
def test_a_guarded_query_shows_what_its_floors_allow(name: str, data: Tables) -> None:
    case = ALL[name]
    assert_as_by_hand(case, data)


def assert_as_by_hand(case: Case, data: Tables) -> None:
    """DuckDB's answer to the guarded query is that of the evaluation by hand."""
    expected = answer(case.rows(data), case.question, bool(case.guard.aggregate.keys))
    found = case.prepared.evaluated(data)
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
