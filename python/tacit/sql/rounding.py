"""Functions of numbers: rounding, remainders, roots and powers, with DuckDB's types and exact bounds."""

from __future__ import annotations

from functools import reduce

from tacit.plan.algebra import bounds
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, FunctionName, Literal
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, sql_name
from tacit.sql import arithmetic
from tacit.sql.calls import call, number, numeric, written
from tacit.sql.coercion import Mismatch, coerce, common_type, integer_rank

ROOTS: dict[str, FunctionName] = {
    "SQRT": "sqrt", "CBRT": "cbrt", "EXP": "exp", "LN": "ln", "LOG10": "log10", "LOG2": "log2",
}  # fmt: skip


def rounded(value: Expr, digits: Expr | None, position: Position | None) -> Expr:
    """ROUND."""
    type_, places = numeric(value, "ROUND"), 0 if digits is None else written(digits)
    if places is None:
        raise Mismatch("ROUND takes a constant number of digits")
    match type_:
        case Integer() if places >= 0:
            return value
        case Integer():
            return call("round", (value, number(places)), bounds.with_range(type_, _tens(type_, -places)), position)
        case Decimal(_, scale) if places >= scale:
            return value
        case Decimal(precision, scale):
            kept = max(places, 0)
            low, high = _tens(type_, scale - places)
            found = Decimal(precision, kept, -(-low // 10 ** (scale - kept)), high // 10 ** (scale - kept))
            return call("round", (value, number(places)), found, position)
        case Double():
            return call("round", (value, number(places)), Double(), position)


def whole(op: FunctionName, value: Expr, *, position: Position | None) -> Expr:
    """FLOOR, CEIL and TRUNC: a DOUBLE of whole numbers and DOUBLEs, a decimal without digits after the point."""
    type_ = numeric(value, op.upper())
    match type_:
        case Decimal(precision, scale):
            unit = 10**scale
            found = Decimal(precision, 0, type_.low // unit, -(-type_.high // unit))
            return call(op, (value,), found, position) if scale else value
        case Integer() if op == "trunc":
            return value
        case _:
            return call(op, (coerce(value, Double()),), Double(), position)


def whole_quotient(a: Expr, b: Expr, position: Position | None) -> Expr:
    """a // b: of whole numbers without the rest; of others, as DuckDB has it, a / b."""
    if not isinstance(numeric(a, "//"), Integer) or not isinstance(numeric(b, "//"), Integer):
        return call("int_div", (coerce(a, Double()), coerce(b, Double())), Double(), position, null=_may_be_zero(b))
    name = integer_rank(a, b)
    low, high = bounds.range_of(b.type)
    divisors = [each for each in (low, high, -1, 1) if low <= each <= high and each]
    results = [_quotient(each, divisor) for each in (*bounds.range_of(a.type), 0) for divisor in divisors] or [0]
    args = coerce(a, Integer(0, 0, name)), coerce(b, Integer(0, 0, name))
    return call("int_div", args, Integer(min(results), max(results), name), position, null=_may_be_zero(b))


def remainder(a: Expr, b: Expr, position: Position | None) -> Expr:
    """a % b, with the sign of a."""
    if isinstance(numeric(a, "%"), Double) or isinstance(numeric(b, "%"), Double):
        return call("mod", (coerce(a, Double()), coerce(b, Double())), Double(), position, null=_may_be_zero(b))
    target = common_type(a, b)
    if isinstance(target, Integer):
        target = Integer(0, 0, integer_rank(a, b))
    left, right = coerce(a, target), coerce(b, target)
    (low, high), most = bounds.range_of(left.type), max(map(abs, bounds.range_of(right.type))) - 1
    _no_overflow(left, right)
    found = bounds.with_range(target, (max(min(low, 0), -max(most, 0)), min(max(high, 0), max(most, 0))))
    return call("mod", (left, right), found, position, null=_may_be_zero(b))


def root(name: str, value: Expr, *, position: Position | None) -> Expr:
    """SQRT, EXP, LN and their like."""
    numeric(value, name)
    return call(ROOTS[name], (coerce(value, Double()),), Double(), position)


def power(a: Expr, b: Expr, position: Position | None) -> Expr:
    """POWER."""
    numeric(a, "POWER")
    numeric(b, "POWER")
    return call("power", (coerce(a, Double()), coerce(b, Double())), Double(), position)


def magnitude(value: Expr, position: Position | None) -> Expr:
    """ABS."""
    type_ = numeric(value, "ABS")
    if isinstance(type_, Double):
        return call("abs", (value,), type_, position)
    if type_.low >= 0:
        return value
    negated = arithmetic.negation(value, position)
    if isinstance(value, Literal):
        return negated
    found = bounds.with_range(type_, (0, max(-type_.low, type_.high)))
    below = Call("lt", (value, Literal(0, bounds.with_range(type_, (0, 0)))), Boolean(), value.nullable, position)
    return Call("if", (below, negated, value), found, value.nullable, position)


def sign(value: Expr, position: Position | None) -> Expr:
    """SIGN: -1, 0 or 1, a TINYINT."""
    type_ = numeric(value, "SIGN")
    zero = Literal(0.0, type_) if isinstance(type_, Double) else Literal(0, bounds.with_range(type_, (0, 0)))
    minus, none, plus = (number(each, "TINYINT") for each in (-1, 0, 1))
    above, equal = (arithmetic.comparison(op, value, zero, position) for op in ("gt", "eq"))
    inner = arithmetic.choice([(above, plus), (equal, none)], minus, position)
    if not value.nullable:
        return inner
    return arithmetic.choice([(arithmetic.is_null(value, position), Literal(None, inner.type))], inner, position)


def greatest(values: list[Expr], position: Position | None) -> Expr:
    """GREATEST: the largest of the values that are not NULL."""
    return reduce(lambda a, b: _outer(a, b, larger=True, position=position), values)


def least(values: list[Expr], position: Position | None) -> Expr:
    """LEAST: the smallest of the values that are not NULL."""
    return reduce(lambda a, b: _outer(a, b, larger=False, position=position), values)


def _outer(a: Expr, b: Expr, *, larger: bool, position: Position | None) -> Expr:
    first = arithmetic.comparison("ge" if larger else "le", a, b, position)
    missing = [(arithmetic.is_null(each, position), other) for each, other in ((a, b), (b, a)) if each.nullable]
    found = arithmetic.choice([*missing, (first, a)], b, position)
    assert isinstance(found, Call)
    return Call("if", found.args, found.type, a.nullable and b.nullable, position)


def _tens(type_: Integer | Decimal, digits: int) -> bounds.Range:
    """The bounds rounded outwards to multiples of a power of ten."""
    unit = 10**digits
    return type_.low // unit * unit, -(-type_.high // unit) * unit


def _quotient(a: int, b: int) -> int:
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def _may_be_zero(expr: Expr) -> bool:
    if isinstance(expr, Literal) and expr.value == 0:
        raise Mismatch("this divides by zero")
    found = bounds.encoded_range(expr.type)
    return found is None or found[0] <= 0 <= found[1]


def _no_overflow(a: Expr, b: Expr) -> None:
    """DuckDB divides the smallest number of a type by -1, and fails, before it takes the rest."""
    (low, _), (from_, to) = bounds.range_of(a.type), bounds.range_of(b.type)
    allowed = bounds.sql_range(a.type)
    if isinstance(a.type, Integer) and allowed is not None and low <= allowed[0] and from_ <= -1 <= to:
        raise Mismatch(f"% may leave {sql_name(a.type)} here; declare a tighter min for its columns")
