"""Divisions that nodes can compute: quotients and remainders of whole numbers, and roundings of decimals.

Their operands are divided as they are encoded, which are whole numbers.
"""

from __future__ import annotations

from tacit.plan.algebra.civil import in_numbers
from tacit.plan.algebra.expressions import is_rounding
from tacit.plan.algebra.functions import is_function
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Decimal, Double, Integer


def is_quotient(expr: Expr) -> bool:
    """Whether an expression is a quotient without its rest, or that rest, of exact numbers."""
    return isinstance(expr, Call) and expr.op in ("int_div", "mod") and not isinstance(expr.type, Double)


def divisor(expr: Expr) -> int | None:
    """What a rounding divides the encoding of its argument by; None for other expressions."""
    match expr:
        case Call("round", (inner, Literal(int() as places))) if isinstance(inner.type, Integer | Decimal):
            return int(10 ** (_scale(inner) - places))
        case Call("floor" | "ceil" | "trunc", (inner,)) if isinstance(inner.type, Decimal):
            return int(10 ** _scale(inner))
        case Call("cast", (inner,), Integer() | Decimal()) if isinstance(inner.type, Decimal) and is_rounding(expr):
            return int(10 ** (_scale(inner) - _scale(expr)))
        case Call("half", (_,), Decimal()):
            return 2
        case _:
            return None


def constant(expr: Expr) -> int | None:
    """The encoding of a constant, also of one under another type."""
    match expr:
        case Literal(int() as written):
            return written
        case Call("cast", (inner,)) if not is_rounding(expr) and not isinstance(expr.type, Double):
            return constant(inner)
        case Call("rescale", (inner,), Decimal() as type_):
            value = constant(inner)
            return None if value is None else int(value * 10 ** (type_.scale - _scale(inner)))
        case _:
            return None


def is_exact(expr: Expr) -> bool:
    """Whether an expression, without its arguments, is one of these divisions."""
    return is_quotient(expr) or divisor(expr) is not None


def nodes_compute(expr: Expr) -> bool:
    """Whether nodes can compute an expression over shared columns."""
    if isinstance(expr.type, Double):
        return False
    if not isinstance(expr, Call):
        return True
    known = is_exact(expr) or in_numbers(expr) is not None
    of_one_party = is_function(expr) or is_rounding(expr) or expr.op in ("half", "numerator", "denominator")
    return (known or not of_one_party) and all(map(nodes_compute, expr.args))


def _scale(expr: Expr) -> int:
    return expr.type.scale if isinstance(expr.type, Decimal) else 0
