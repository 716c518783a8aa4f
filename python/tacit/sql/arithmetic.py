"""Typed expressions over bound operands: arithmetic, comparisons, logic and choice, with DuckDB's result types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from tacit.plan.algebra import bounds, moments
from tacit.plan.algebra.expressions import is_rounding, joined
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.relations import Operator as Op
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Timestamp, Type, Varchar, sql_name
from tacit.plan.policy.constants import FLIPPED
from tacit.sql.coercion import (
    MOST_DIGITS,
    Mismatch,
    as_decimal,
    coerce,
    common_type,
    integer_literal,
    integer_rank,
)
from tacit.sql.days import as_days

CHECKED_DIGITS = 18  # DuckDB keeps a product of 64-bit decimals in 64 bits, and checks it for overflow


def binary(op: Op, a: Expr, b: Expr, position: Position | None) -> Expr:
    """a + b, a - b or a * b."""
    if isinstance(a.type, Timestamp) or isinstance(b.type, Timestamp):
        instead = "compute the difference or the moment in a column of the table before the query"
        raise Mismatch(f"{_SIGNS[op]} does not take a TIMESTAMP; {instead}")
    if isinstance(a.type, Date) or isinstance(b.type, Date):
        return _days(op, a, b, position)
    match a.type, b.type:
        case (Double(), (Integer() | Decimal() | Double())) | ((Integer() | Decimal()), Double()):
            args = coerce(a, Double()), coerce(b, Double())
            return Call(op, args, Double(), _any_null(a, b), position)
        case Integer(), Integer():
            name = integer_rank(a, b)
            args = coerce(a, Integer(0, 0, name)), coerce(b, Integer(0, 0, name))
            return Call(op, args, Integer(*_computed(op, a, b), name), _any_null(a, b), position)
        case (Integer() | Decimal()) as left, (Integer() | Decimal()) as right:
            return _decimal(op, a, left, b, right, position)
        case left, right:
            raise Mismatch(f"{_SIGNS[op]} does not take {sql_name(left)} and {sql_name(right)}")


def negation(a: Expr, position: Position | None) -> Expr:
    """-a."""
    if not isinstance(a.type, Integer | Decimal | Double):
        raise Mismatch(f"- does not take {sql_name(a.type)}")
    if isinstance(a.type, Double):
        return Call("neg", (a,), Double(), a.nullable, position)
    found = bounds.with_range(a.type, bounds.negate(bounds.range_of(a.type)))
    if isinstance(a, Literal) and isinstance(a.value, int):
        return integer_literal(-a.value) if isinstance(a.type, Integer) else Literal(-a.value, found)
    return Call("neg", (a,), found, a.nullable, position)


def quotient(a: Expr, b: Expr, position: Position | None) -> Expr:
    """a / b, a DOUBLE."""
    for each in (a, b):
        if not isinstance(each.type, Integer | Decimal | Double):
            raise Mismatch(f"/ does not take {sql_name(each.type)}")
    return Call("div", (coerce(a, Double()), coerce(b, Double())), Double(), _any_null(a, b), position)


def comparison(op: Op, a: Expr, b: Expr, position: Position | None) -> Expr:
    """a = b and its like. A constant stays as it is beside a dictionary column: it may be none of its values."""
    if _dictionary_and_constant(a, b) or _dictionary_and_constant(b, a):
        return Call(op, (a, b), Boolean(), _any_null(a, b), position)
    target = _compared_type(a, b)
    left, right = as_days(coerce(a, target), coerce(b, target), op)
    if _is_day_of_moment(left) and _is_constant(right):
        return _day_compared(op, left, right, position)
    if _is_day_of_moment(right) and _is_constant(left):
        return _day_compared(FLIPPED[op], right, left, position)
    return Call(op, (left, right), Boolean(), _any_null(a, b), position)


def _compared_type(a: Expr, b: Expr) -> Type:
    """What both sides of a comparison are brought to. Of decimals, DuckDB keeps all digits after the point."""
    target = common_type(a, b)
    if not isinstance(target, Decimal):
        return target
    scale = max(as_decimal(each.type)[1] for each in (a, b) if isinstance(each.type, Integer | Decimal))
    return target if scale == target.scale else Decimal(MOST_DIGITS, scale, 0, 0)


def logic(op: Op, args: Sequence[Expr], position: Position | None) -> Expr:
    """AND, OR, NOT over conditions."""
    bound = tuple(condition(each) for each in args)
    if op == "not":
        return Call(op, bound, Boolean(), bound[0].nullable, position)
    return joined(op, bound, position)


def condition(expr: Expr) -> Expr:
    """An expression used as a condition must be a BOOLEAN."""
    if isinstance(expr, Literal) and expr.value is None:
        return Literal(None, Boolean())
    if not isinstance(expr.type, Boolean):
        raise Mismatch(f"a condition must be a BOOLEAN, not {sql_name(expr.type)}; compare it with something")
    return expr


def is_null(a: Expr, position: Position | None) -> Expr:
    """a IS NULL."""
    return (
        Literal(a.nullable, Boolean()) if isinstance(a, Literal) else Call("is_null", (a,), Boolean(), False, position)
    )


def choice(branches: Sequence[tuple[Expr, Expr]], otherwise: Expr, position: Position | None) -> Expr:
    """CASE: the value of the first branch whose condition is TRUE."""
    # DuckDB finds the common type from the ELSE value on.
    target = reduce(_wider, [value for _, value in branches], otherwise).type
    result = coerce(otherwise, target)
    for test, value in reversed(branches):
        then = coerce(value, target)
        result = Call(
            "if", (condition(test), then, result), _joint(target, then, result), _any_null(then, result), position
        )
    return result


def coalesce(values: Sequence[Expr], position: Position | None) -> Expr:
    """The first value that is not NULL."""
    target = reduce(_wider, values[1:], values[0]).type
    result = coerce(values[-1], target)
    for value in reversed(values[:-1]):
        first = coerce(value, target)
        if not first.nullable:
            # No longer a constant: its type must not adapt to what stands beside it.
            result = Call("cast", (first,), first.type, False, position) if isinstance(first, Literal) else first
            continue
        missing = Call("is_null", (first,), Boolean(), False, position)
        result = Call("if", (missing, result, first), _joint(target, first, result), result.nullable, position)
    return result


def nullif(a: Expr, b: Expr, position: Position | None) -> Expr:
    """NULL if a = b, else a."""
    same = comparison("eq", a, b, position)
    return Call("if", (same, Literal(None, a.type), a), a.type, True, position)


def _day_compared(op: Op, day: Expr, constant: Expr, position: Position | None) -> Expr:
    """The day of a moment compared with a constant, as comparisons of the moment itself, which any party can make."""
    assert isinstance(day, Call) and isinstance(constant, Literal) and isinstance(constant.value, int)
    moment, first = day.args[0], constant.value * moments.DAY

    def compared(sign: Op, bound: int) -> Expr:
        return Call(sign, (moment, Literal(bound, Timestamp(bound, bound))), Boolean(), moment.nullable, position)

    last = first + moments.DAY - 1
    before, since, until, after = (
        compared("lt", first),
        compared("ge", first),
        compared("le", last),
        compared("gt", last),
    )
    match op:
        case "eq":
            return logic("and", (since, until), position)
        case "ne":
            return logic("or", (before, after), position)
        case _:
            return {"lt": before, "ge": since, "le": until, "gt": after}[op]


def _is_day_of_moment(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.type, Date) and is_rounding(expr)


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is not None


def _dictionary_and_constant(a: Expr, b: Expr) -> bool:
    known = isinstance(a.type, Varchar) and a.type.values is not None
    return known and isinstance(b, Literal) and isinstance(b.value, str)


def _wider(a: Expr, b: Expr) -> Expr:
    """A stand-in of the common type; two literals stay a literal, so that they adapt to a later operand."""
    target = common_type(a, b)
    if isinstance(a, Literal) and isinstance(b, Literal):
        return b if a.value is None else Literal(a.value, target)
    return Call("cast", (a,), target, True)


def _joint(target: Type, *values: Expr) -> Type:
    """The target type with the bounds of the values it is chosen from."""
    if isinstance(target, Varchar | Double | Boolean):
        return target
    known = [bounds.range_of(each.type) for each in values if not (isinstance(each, Literal) and each.value is None)]
    return bounds.with_range(target, reduce(bounds.either, known)) if known else target


_SIGNS = {"add": "+", "sub": "-", "mul": "*"}


def _computed(op: Op, a: Expr, b: Expr) -> bounds.Range:
    functions = {"add": bounds.add, "sub": bounds.subtract, "mul": bounds.multiply}
    return functions[op](bounds.range_of(a.type), bounds.range_of(b.type))


def _decimal(
    op: Op, a: Expr, left: Integer | Decimal, b: Expr, right: Integer | Decimal, position: Position | None
) -> Expr:
    (p1, s1), (p2, s2) = as_decimal(left), as_decimal(right)
    if op == "mul":
        scale, precision = s1 + s2, p1 + p2
        if scale > MOST_DIGITS:
            raise Mismatch(f"a product with {scale} digits after the point")
        if precision > CHECKED_DIGITS and max(p1, p2) <= CHECKED_DIGITS and scale < CHECKED_DIGITS:
            precision = CHECKED_DIGITS
        args = coerce(a, Decimal(p1, s1, 0, 0)), coerce(b, Decimal(p2, s2, 0, 0))
    else:
        scale = max(s1, s2)
        precision = max(p1 - s1, p2 - s2) + scale + 1
        aligned = Decimal(min(precision - 1, MOST_DIGITS), scale, 0, 0)
        args = coerce(a, aligned), coerce(b, aligned)
    result = Decimal(min(precision, MOST_DIGITS), scale, *_computed(op, *args))
    return Call(op, args, result, _any_null(a, b), position)


def _days(op: Op, a: Expr, b: Expr, position: Position | None) -> Expr:
    """DATE + days, days + DATE, DATE - days are dates; DATE - DATE is a number of days."""
    match op, a.type, b.type:
        case "sub", Date(), Date():
            result: Type = Integer(*_computed(op, a, b), "BIGINT")
        case (("add" | "sub"), Date(), Integer()) if _small(b):
            result = Date(*_computed(op, a, b))
        case "add", Integer(), Date() if _small(a):
            result = Date(*_computed(op, a, b))
        case _:
            raise Mismatch(f"{_SIGNS[op]} does not take {sql_name(a.type)} and {sql_name(b.type)}")
    return Call(op, (a, b), result, _any_null(a, b), position)


def _small(days: Expr) -> bool:
    return isinstance(days.type, Integer) and days.type.sql in ("TINYINT", "SMALLINT", "INTEGER")


def _any_null(*args: Expr) -> bool:
    return any(each.nullable for each in args)
