"""Comparisons of quotients that whole numbers tell (tacit.plan.algebra.quotient_keys) with constants.

The number is in the order of the quotient. So one comparison of it with a constant is enough, which is found here. Of
all fractions that the public bounds allow at most one has the number of the constant that the query writes.
"""

from __future__ import annotations

from fractions import Fraction

from tacit.plan.algebra import bounds, whole
from tacit.plan.algebra.fractions import constant, quotient
from tacit.plan.algebra.quotient_orders import told
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean

FLIPPED: dict[Operator, Operator] = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def of_told(op: Operator, a: Expr, b: Expr, position: Position | None) -> Expr | None:
    """The comparison of a quotient that a number tells with a constant; None of others."""
    if (known := constant(a)) is not None:
        return _compared(FLIPPED[op], b, known, position)
    return None if (known := constant(b)) is None else _compared(op, a, known, position)


def _compared(op: Operator, expr: Expr, with_: Fraction, position: Position | None) -> Expr | None:
    """expr op with_, on the number that the quotient in the expression is told by."""
    of = quotient(expr)
    parts = None if of is None else (of.numerator, of.denominator)
    number = None if parts is None else told(Call("average", parts, expr.type, expr.nullable))
    if of is None or number is None or not isinstance(of.numerator, Call):
        return None
    shift, most = (each.value for each in of.numerator.args[1:3] if isinstance(each, Literal))
    assert isinstance(shift, int) and isinstance(most, int), "constants"
    if of.times < 0:
        op = FLIPPED[op]
    _, largest = bounds.range_of(of.denominator.type)
    place, same = _place(with_ * of.by / of.times, 1 << shift, most, largest)
    match op:
        case "lt" | "ge":
            return Call(op, (number, whole.number(place)), Boolean(), number.nullable, position)
        case "le" | "gt":
            turned: Operator = "lt" if op == "le" else "ge"
            return Call(turned, (number, whole.number(place + same)), Boolean(), number.nullable, position)
        case _:
            return Call(op, (number, whole.number(place if same else most + 1)), Boolean(), number.nullable, position)


def _place(of: Fraction, power: int, most: int, largest: int) -> tuple[int, bool]:
    """The least number of a fraction that is not less than this one, and whether one is this one."""
    raised = abs(of) * power
    cut = int(raised) if of >= 0 else -int(raised)
    if abs(cut) > most:
        return (most + 1 if of > 0 else -most), False
    near = Fraction(2 * abs(cut) + 1, 2 * power).limit_denominator(largest)
    known = near if of >= 0 else -near
    if cut == 0:
        known = Fraction(0)
    if int(abs(known) * power) != abs(cut):
        return (cut if of >= 0 else cut + 1), False
    return cut + (known < of), known == of
