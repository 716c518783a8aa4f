"""The logical types of SQL values under tacit, with the public bounds that decide their width under MPC.

Every value has an *encoding* as an integer (or a byte string). Decimals are scaled integers, dates are days and
timestamps microseconds since 1970-01-01, dictionary strings are their position in the dictionary. Bounds are public and
inclusive, in encoded form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

IntegerName = OneOf["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"]


@dataclass(frozen=True)
class Boolean:
    """TRUE or FALSE, encoded as 1 and 0."""


@dataclass(frozen=True)
class Integer:
    """A whole number with low <= value <= high.

    sql: the SQL type it is declared with and shown as. The bounds of a computed value are exact, so they may pass that
    type's range. Secure steps compute the exact value, and only showing one outside the SQL type is an error.
    """

    low: int
    high: int
    sql: IntegerName = "BIGINT"


@dataclass(frozen=True)
class Decimal:
    """DECIMAL(precision, scale), encoded as value * 10**scale with low <= encoded <= high."""

    precision: int
    scale: int
    low: int
    high: int


@dataclass(frozen=True)
class Date:
    """A calendar day, encoded as days since 1970-01-01 with low <= encoded <= high."""

    low: int
    high: int


@dataclass(frozen=True)
class Timestamp:
    """A moment without a time zone, encoded as microseconds since 1970-01-01 00:00:00 with low <= encoded <= high."""

    low: int
    high: int


@dataclass(frozen=True)
class Varchar:
    """A string of at most max_length UTF-8 bytes (None: no bound is known), or one of a public dictionary of values.

    With a dictionary the encoding is the position in ``values``, which is sorted. Without one, equality works on a
    keyed hash, and order and output on the zero-padded bytes (which need max_length).
    """

    max_length: int | None
    values: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Double:
    """A binary64 number. Exists only where a single party computes in clear: in local parts and tails."""


Type = Boolean | Integer | Decimal | Date | Timestamp | Varchar | Double


def sql_name(type_: Type) -> str:
    """A type as SQL writes it."""
    match type_:
        case Boolean():
            return "BOOLEAN"
        case Integer(_, _, sql):
            return sql
        case Decimal(precision, scale):
            return f"DECIMAL({precision},{scale})"
        case Date():
            return "DATE"
        case Timestamp():
            return "TIMESTAMP"
        case Varchar():
            return "VARCHAR"
        case Double():
            return "DOUBLE"


@dataclass(frozen=True)
class Field:
    """A column of a relation: its name (unique within the relation), type and whether NULL may occur."""

    name: str
    type: Type
    nullable: bool
