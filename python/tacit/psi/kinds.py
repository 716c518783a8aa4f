"""Kinds of key columns, by DuckDB's types: keys match within one kind only. How wide their values are in Arrow."""

from __future__ import annotations

import re

KINDS = (
    (re.compile(r"VARCHAR|UUID|ENUM\(.*"), "text"),
    (re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(.*"), "number"),
    (re.compile(r"FLOAT|DOUBLE"), "floating-point number"),
    (re.compile(r"BOOLEAN"), "boolean"),
    (re.compile(r"DATE"), "date"),
    (re.compile(r"TIMESTAMP WITH TIME ZONE"), "timestamp with time zone"),
    (re.compile(r"TIMESTAMP(_S|_MS|_NS)?"), "timestamp"),
    (re.compile(r"TIME"), "time"),
    (re.compile(r"BLOB"), "bytes"),
)
"""The kind of a DuckDB type."""

WIDTHS = (
    (re.compile(r"BOOLEAN|U?TINYINT"), 1),
    (re.compile(r"U?SMALLINT"), 2),
    (re.compile(r"U?INTEGER|FLOAT|DATE"), 4),
    (re.compile(r"U?BIGINT|DOUBLE|TIME.*"), 8),
    (re.compile(r"U?HUGEINT|DECIMAL\(.*"), 16),
)
"""Bytes that a value of a DuckDB type takes in Arrow; of other types it depends on the value."""


def kind_of(stored: str) -> str | None:
    """The kind of a DuckDB type; None if values of it cannot be matched."""
    return next((kind for pattern, kind in KINDS if pattern.fullmatch(stored)), None)


def width_of(stored: str) -> int | None:
    """Bytes of a value of a DuckDB type; None where values differ."""
    return next((width for pattern, width in WIDTHS if pattern.fullmatch(stored)), None)


def portable(value: str, stored: str) -> str:
    """A value of a DuckDB type as an Arrow type that every step can carry exactly."""
    if stored in ("HUGEINT", "UHUGEINT"):
        return f"CAST({value} AS DECIMAL(38, 0))"
    if stored.startswith("ENUM(") or stored == "UUID":
        return f"CAST({value} AS VARCHAR)"
    return value
