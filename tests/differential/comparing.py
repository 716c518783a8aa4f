"""What it means that two results are equal: names, types and values, and the order as far as the query fixes it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .running import Result


def assert_equal(found: Result, expected: Result, order: tuple[int, ...], total: bool) -> None:
    """order: the outputs that the query orders by. total: they fix the order of all rows that differ."""
    assert found.names == expected.names
    assert found.types == expected.types
    if total:
        assert found.rows == expected.rows
        return
    assert Counter(map(_exact, found.rows)) == Counter(map(_exact, expected.rows))
    keys = [[_exact(tuple(row[at] for at in order)) for row in result.rows] for result in (found, expected)]
    assert keys[0] == keys[1]


def _exact(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with values that are equal only if they are the same: TRUE is not 1, and a NaN equals itself."""
    return tuple((type(value).__name__, repr(value)) for value in row)
