"""Comparisons of days with moments, as comparisons of days: no day has to become a moment under MPC."""

from __future__ import annotations

from tacit.plan.algebra import moments
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.relations import Operator as Op
from tacit.plan.algebra.types import Date
from tacit.plan.policy.constants import FLIPPED


def as_days(left: Expr, right: Expr, op: Op) -> tuple[Expr, Expr]:
    """Both sides as days, where they are days taken as moments, or where one is and the other is a constant moment."""
    match left, right:
        case Call("rescale", (a,)), Call("rescale", (b,)) if isinstance(a.type, Date) and isinstance(b.type, Date):
            return a, b
        case Call("rescale", (a,)), Literal(int() as moment) if isinstance(a.type, Date):
            day = _day_beside(op, moment)
            return (left, right) if day is None else (a, day)
        case Literal(int() as moment), Call("rescale", (b,)) if isinstance(b.type, Date):
            day = _day_beside(FLIPPED[op], moment)
            return (left, right) if day is None else (day, b)
        case _:
            return left, right


def _day_beside(op: Op, moment: int) -> Literal | None:
    """The day that compares with days as a moment does; None where there is none."""
    day, rest = divmod(moment, moments.DAY)
    if rest and op in ("eq", "ne"):
        return None
    found = day + (rest > 0) if op in ("lt", "ge") else day
    return Literal(found, Date(found, found)) if found <= moments.DAYS[1] else None
