"""Quotients, remainders and roundings as the native session computes them.

By a constant a quotient is a product with its reciprocal, in a ring that holds twice the bits. By another number
it is computed on planes.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra import bounds
from tacit.plan.algebra.divisions import constant, divisor, is_quotient
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Decimal
from tacit.plan.facts.kinds import Hashes, Kind, Rep, kind_of, width_of
from tacit.plan.physical import values
from tacit.plan.physical.values import Function, Value

NARROW = 18
"""Digits of decimals of 64 bits. Of wider ones DuckDB rounds half a sum down, of these towards zero."""


def operands(call: Call) -> list[tuple[Expr, Rep]]:
    """The arguments that are divided, with the representation each is best in."""
    if is_quotient(call) and constant(call.args[1]) is None:
        return [(arg, "bits") for arg in call.args]
    return [(call.args[0], _dividend_rep(call.args[0]))]


def written(call: Call, args: list[Value], hashed: Hashes) -> tuple[Value, Kind]:
    """The division. args: its operands."""
    kind = kind_of(call.type, call.nullable, "bits", hashed)
    if is_quotient(call):
        return _quotient(call, args, kind), kind
    by = divisor(call)
    assert by is not None, "of two kinds"
    return _rounded(call, args[0], by, kind), kind


def _quotient(call: Call, args: list[Value], kind: Kind) -> Value:
    op: Function = "quotient" if call.op == "int_div" else "remainder"
    by = constant(call.args[1])
    if by is None:
        return values.Call(op, tuple(args), kind)
    whole = Kind("bits", width_of((0, abs(by))), False, False)
    divided = args[0], values.Integer(abs(by), whole)
    if by > 0 or op == "remainder":
        return values.Call(op, divided, kind)
    turned = replace(kind, width=kind.width + 1, signed=True)
    return values.Call("neg", (values.Call(op, divided, turned),), kind)


def _rounded(call: Call, arg: Value, by: int, kind: Kind) -> Value:
    """A rounding, whose result may have more zeros than it was divided by: ROUND(x, -2)."""
    match call.op:
        case "floor" | "ceil" as op:
            return values.Call(op, (arg,), kind, by=by)
        case "half" if isinstance(call.type, Decimal) and call.type.precision > NARROW:
            return values.Call("floor", (arg,), kind, by=by)
        case "trunc" | "half":
            whole = Kind("bits", width_of((0, by)), False, False)
            return values.Call("quotient", (arg, values.Integer(by, whole)), kind)
        case _:
            zeros = _zeros(call)
            rounded = values.Call("round", (arg,), kind, by=by)
            return values.Call("scale", (rounded,), kind, by=10**zeros) if zeros else rounded


def _zeros(call: Call) -> int:
    """Digits before the point that ROUND makes zero."""
    places = call.args[1] if call.op == "round" else None
    return max(-places.value, 0) if isinstance(places, Literal) and isinstance(places.value, int) else 0


def _dividend_rep(arg: Expr) -> Rep:
    """The ring that holds the product with a reciprocal: twice the bits, and a sign."""
    width = 2 * width_of(bounds.range_of(arg.type)) + 2
    return "ring64" if width <= 64 else "ring128" if width <= 128 else "bits"
