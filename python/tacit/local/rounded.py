"""Floating-point numbers as decimals: how a column that is declared DOUBLE is read.

A value is read as DOUBLE, of whatever file. DuckDB's cast to DECIMAL rounds it to the nearest decimal of the declared
digits after the point, and from the middle between two away from zero. NaN and infinities are none.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.local.database import text
from tacit.plan.algebra.types import Decimal, Type, sql_name
from tacit.plan.facts.catalog import Table

FLOATING = r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*"
"""A text that is a floating-point number."""


@dataclass(frozen=True)
class Rounded:
    """What the values of a column are rounded to."""

    type: Decimal


def read_as(table: Table, name: str, type_: Type) -> Type | Rounded:
    """What a column of a table is read as. type_: the column's."""
    return Rounded(type_) if name in table.rounded and isinstance(type_, Decimal) else type_


def rounded(value: str, to: Rounded, attempt: str = "") -> str:
    """A number, or the text of one, as a decimal. attempt: "" fails where there is none, "TRY_" gives NULL."""
    return f"{attempt}CAST({attempt}CAST({value} AS DOUBLE) AS {sql_name(to.type)})"


def unlike_number(value: str) -> str:
    """The condition that a text is no number as people write it: DuckDB's cast reads others, too."""
    return f"NOT regexp_full_match({value}, {text(FLOATING)})"
