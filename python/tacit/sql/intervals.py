"""INTERVALs of constants, as written: months, days and microseconds."""

from __future__ import annotations

import re

from sqlglot import exp

from tacit.plan.algebra import moments
from tacit.sql.calendar import named
from tacit.sql.coercion import Mismatch
from tacit.sql.text import Text

Span = tuple[int, int, int]
"""Months, days and microseconds."""

UNITS: dict[str, Span] = {
    "decade": (120, 0, 0), "year": (12, 0, 0), "quarter": (3, 0, 0), "month": (1, 0, 0),
    "week": (0, 7, 0), "day": (0, 1, 0),
    "hour": (0, 0, 3600 * moments.SECOND), "minute": (0, 0, 60 * moments.SECOND), "second": (0, 0, moments.SECOND),
    "millisecond": (0, 0, 1000), "microsecond": (0, 0, 1),
}  # fmt: skip
WRITTEN = re.compile(r"\s*(-?[0-9]+)\s*([a-zA-Z]+)")
INSTEAD = "write a whole number and a unit, as INTERVAL '3' MONTH"


def is_interval(node: exp.Expr) -> bool:
    """Whether an expression is an INTERVAL."""
    return isinstance(node.unnest(), exp.Interval)


def span(node: exp.Expr, text: Text) -> Span:
    """The INTERVAL that is written."""
    node = node.unnest()
    assert isinstance(node, exp.Interval)
    unit = node.args.get("unit")
    said = _said(node.this.unnest())
    if unit is None:
        return _listed(said or "", node, text)
    name = unit.name if isinstance(unit, exp.Var) else unit.key
    if said is None or not re.fullmatch(r"\s*-?[0-9]+\s*", said) or named(name) not in UNITS:
        raise text.unsupported(node, "such an INTERVAL", INSTEAD)
    return _times(int(said), UNITS[named(name)])


def negative(found: Span) -> Span:
    """The INTERVAL backwards."""
    return _times(-1, found)


def _said(node: exp.Expr) -> str | None:
    """How many units, as written."""
    if isinstance(node, exp.Neg):
        inner = _said(node.this.unnest())
        return None if inner is None else str(-int(inner)) if inner.isdigit() else None
    return str(node.this) if isinstance(node, exp.Literal) else None


def _listed(said: str, node: exp.Expr, text: Text) -> Span:
    """Several units in one string."""
    parts = WRITTEN.findall(said)
    if not parts or WRITTEN.sub("", said).strip() or any(named(unit) not in UNITS for _, unit in parts):
        raise text.unsupported(node, "such an INTERVAL", INSTEAD)
    spans = [_times(int(count), UNITS[named(unit)]) for count, unit in parts]
    months, days, rest = (sum(each) for each in zip(*spans, strict=True))
    return months, days, rest


def _times(count: int, found: Span) -> Span:
    months, days, rest = (count * each for each in found)
    if abs(months) >= 1 << 31 or abs(days) >= 1 << 31 or abs(rest) >= 1 << 63:
        raise Mismatch("the INTERVAL is too long")
    return months, days, rest
