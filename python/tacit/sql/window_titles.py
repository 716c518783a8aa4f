"""What DuckDB writes of a window function, for the name of an output column without an alias."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from tacit.sql.text import Text

_FUNCTIONS: dict[type[exp.Expr], str] = {exp.First: "first_value", exp.Last: "last_value"}
_NULLS_LAST = re.compile(r"[\s)]*(?:ASC|DESC)?\s*NULLS\s+LAST\b", re.IGNORECASE)
Inner = Callable[[exp.Expr], str]
"""The text of a part of an expression."""


def mark(node: exp.Expr, text: Text) -> None:
    """Keep beside each window function beneath its parts, named windows resolved, and where NULLS LAST is written."""
    for window in node.find_all(exp.Window):
        window.meta["whole"] = _whole(window)
        for ordered in window.meta["whole"].get("order") or []:
            ends = [each.meta["end"] for each in ordered.walk() if "end" in each.meta]
            ordered.meta["last"] = bool(ends) and _NULLS_LAST.match(text.sql[max(ends) + 1 :]) is not None


def window_title(node: exp.Window, inner: Inner) -> str:
    """The text of a marked window function."""
    whole = node.meta["whole"]
    parts = []
    if whole["partition_by"]:
        parts.append(f"PARTITION BY {', '.join(map(inner, whole['partition_by']))}")
    if whole["order"]:
        parts.append(f"ORDER BY {', '.join(_ordered(each, inner) for each in whole['order'])}")
    if (frame := _frame(whole["spec"], inner)) is not None:
        parts.append(frame)
    return f"{_call(node.this, inner)} OVER ({' '.join(parts)})"


def _whole(window: exp.Window) -> dict[str, exp.Expr | list[exp.Expr] | None]:
    """Partition, order and frame, with what is taken of named windows."""
    order = window.args.get("order")
    parts = {
        "partition_by": window.args.get("partition_by"),
        "order": None if order is None else order.expressions,
        "spec": window.args.get("spec"),
    }
    name, select = window.args.get("alias"), window.find_ancestor(exp.Select)
    named = [] if name is None or select is None else select.args.get("windows") or []
    for each in named:
        if name is not None and each is not window and each.this.name.lower() == name.name.lower():
            return {part: value or _whole(each)[part] for part, value in parts.items()}
    return parts


def _call(call: exp.Expr, inner: Inner) -> str:
    if isinstance(call, exp.Count) and (call.this is None or isinstance(call.this, exp.Star)):
        return "count()"
    arguments = [call.this, call.args.get("offset"), call.args.get("default"), *call.expressions]
    name = _FUNCTIONS.get(type(call)) or (call.sql_name().lower() if isinstance(call, exp.Func) else call.key)
    return f"{name}({', '.join(inner(each) for each in arguments if each is not None)})"


def _ordered(node: exp.Expr, inner: Inner) -> str:
    direction = {None: "", False: " ASC", True: " DESC"}[node.args.get("desc")]
    nulls = " NULLS FIRST" if node.args.get("nulls_first") else " NULLS LAST" if node.meta.get("last") else ""
    return f"{inner(node.this)}{direction}{nulls}"


def _frame(spec: exp.Expr | None, inner: Inner) -> str | None:
    """A frame that says no more than its default is not written."""
    if spec is None:
        return None
    end = spec.args.get("end")
    bounds = _bound(spec, "start", inner), "CURRENT ROW" if end is None else _bound(spec, "end", inner)
    kind = str(spec.args.get("kind")).upper()
    if (kind, *bounds) == ("RANGE", "UNBOUNDED PRECEDING", "CURRENT ROW"):
        return None
    if bounds == ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"):
        kind = "ROWS"
    return f"{kind} BETWEEN {bounds[0]} AND {bounds[1]}"


def _bound(spec: exp.Expr, side: str, inner: Inner) -> str:
    value, direction = spec.args.get(side), spec.args.get(f"{side}_side")
    words = [inner(value) if isinstance(value, exp.Expr) else str(value), str(direction or "").upper()]
    return " ".join(word for word in words if word)
