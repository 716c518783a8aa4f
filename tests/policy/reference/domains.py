"""Values of a column that matter: one for each place at or between the constants that it is compared with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

from .offers import Column

BITS = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63}


def values(column: Column, constants: Iterable[Any]) -> list[Any]:
    """Values within what is declared."""
    found = [each for each in dict.fromkeys(constants) if each is not None]
    return [*_of_type(column, found), *([None] if column.nullable else [])]


def _of_type(column: Column, constants: list[Any]) -> list[Any]:
    if column.type == "BOOLEAN":
        return [False, True]
    if column.values is not None:
        return list(column.values)
    if column.type == "VARCHAR":
        other = next(each for each in ("", *map(chr, range(97, 97 + 26))) if each not in constants)
        return [*(each for each in constants if column.length is None or len(each) <= column.length), other]
    return _on_grid(column, constants)


def _on_grid(column: Column, constants: list[Any]) -> list[Any]:
    """Numbers and dates: next to the constants, and at the ends."""
    least, most = (floor(_steps(column, each)) for each in _ends(column))
    near = [floor(_steps(column, each)) + by for each in constants for by in (-1, 0, 1)]
    ends = [least, most] if constants else [least]
    return [_typed(column, each) for each in dict.fromkeys([*ends, *near]) if least <= each <= most]


def _ends(column: Column) -> tuple[Any, Any]:
    """The least and the greatest value."""
    if column.type == "DATE":
        ends: tuple[Any, Any] = (date.min, date.max)
    elif column.type.startswith("DECIMAL"):
        ends = (-(10**38), 10**38)
    else:
        ends = (-(2 ** BITS.get(column.type, 127)), 2 ** BITS.get(column.type, 127) - 1)
    return tuple(end if own is None else own for own, end in zip((column.least, column.most), ends, strict=True))


def _steps(column: Column, given: Any) -> Fraction:
    """A value as a number of steps."""
    if column.type == "DATE":
        return Fraction((date.fromisoformat(given) if isinstance(given, str) else given).toordinal())
    return Fraction(str(given)) * Fraction(10) ** _scale(column)


def _typed(column: Column, steps: int) -> Any:
    if column.type == "DATE":
        return date.fromordinal(steps)
    return Decimal(steps).scaleb(-_scale(column)) if _scale(column) else steps


def _scale(column: Column) -> int:
    return int(column.type.rstrip(")").partition(",")[2] or 0) if column.type.startswith("DECIMAL") else 0
