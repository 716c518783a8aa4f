"""Frames of window functions: ROWS and RANGE, with their bounds."""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra.relations import Frame
from tacit.sql.expressions import constant_integer
from tacit.sql.text import Text

RUNNING = Frame("range", None, 0)
"""From the partition's first row to the row's last peer: what a window with an order has where it says nothing."""


def bound_frame(spec: exp.WindowSpec | None, ordered: bool, text: Text) -> Frame:
    """The frame of an OVER clause. ordered: whether it has an order; without one all rows are peers."""
    if spec is None:
        return RUNNING if ordered else Frame()
    if spec.args.get("exclude") is not None:
        raise text.unsupported(spec, "EXCLUDE in a window", "subtract the row's own value")
    kind = str(spec.args.get("kind")).upper()
    if kind == "GROUPS":
        raise text.unsupported(spec, "a frame in GROUPS", "use ROWS, or RANGE from or to CURRENT ROW")
    start = _bound(spec, "start", text)
    end = _bound(spec, "end", text) if spec.args.get("end") is not None else 0
    if kind == "RANGE":
        if start or end:
            raise text.unsupported(spec, "a RANGE frame with a distance", "use ROWS, or join the table with itself")
        return Frame("range", start, end) if ordered else Frame()
    if start is not None and end is not None and start > end:
        raise text.invalid(spec, "the frame ends before it starts, so that it has no rows.")
    return Frame() if start is None and end is None else Frame("rows", start, end)


def _bound(spec: exp.WindowSpec, side: str, text: Text) -> int | None:
    """A distance from the row, None for the first or last row of the partition."""
    value, direction = spec.args.get(side), str(spec.args.get(f"{side}_side") or "").upper()
    if value == "CURRENT ROW":
        return 0
    if value == "UNBOUNDED":
        if direction != {"start": "PRECEDING", "end": "FOLLOWING"}[side]:
            raise text.invalid(spec, f"a frame cannot {side} at UNBOUNDED {direction}.")
        return None
    if not isinstance(value, exp.Expr):
        raise text.invalid(spec, "the frame has a bound that is no number of rows.")
    distance = constant_integer(value, text, "the bound of a frame")
    return -distance if direction == "PRECEDING" else distance
