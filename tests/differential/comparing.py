"""What it means that two results are equal: names, types and values, and the order as far as the query fixes it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from .running import Result


def assert_equal(
    found: Result, expected: Result, order: tuple[int, ...], total: bool, loose: frozenset[int] = frozenset()
) -> None:
    """order: the outputs that the query orders by. total: they fix the order of all rows that differ.

    loose: outputs that DuckDB rounds on its way, such as a variance, of which six digits are compared. Where DuckDB
    shows -0.0, 0.0 is equal: an average that is rounded is an exact number, whose zero has no sign (docs/analyst.md).
    """
    assert found.names == expected.names
    assert found.types == expected.types
    signs = frozenset(at for row in expected.rows for at, value in enumerate(row) if repr(value) == "-0.0")
    found, expected = (
        replace(each, rows=[_without_signs(_rounded(row, loose), signs) for row in each.rows])
        for each in (found, expected)
    )
    if total:
        assert list(map(_exact, found.rows)) == list(map(_exact, expected.rows))
        return
    assert Counter(map(_exact, found.rows)) == Counter(map(_exact, expected.rows))
    keys = [[_exact(tuple(row[at] for at in order)) for row in result.rows] for result in (found, expected)]
    assert keys[0] == keys[1]


def _exact(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with values that are equal only if they are the same: TRUE is not 1, and a NaN equals itself."""
    return tuple((type(value).__name__, repr(value)) for value in row)


def _rounded(row: tuple[Any, ...], loose: frozenset[int]) -> tuple[Any, ...]:
    return tuple(_few_digits(value) if at in loose else value for at, value in enumerate(row))


def _without_signs(row: tuple[Any, ...], signs: frozenset[int]) -> tuple[Any, ...]:
    return tuple(value + 0.0 if at in signs and isinstance(value, float) else value for at, value in enumerate(row))


def _few_digits(value: Any) -> Any:
    """A number near zero is zero."""
    return round(value, 6) + 0.0 if isinstance(value, float) and math.isfinite(value) else value
