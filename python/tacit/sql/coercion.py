"""SQL types of computed values, as DuckDB gives them: common types, casts between them, and literals.

Bounds come with the types: every function here returns types whose ranges are exact.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra import bounds, moments
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    IntegerName,
    Timestamp,
    Type,
    Varchar,
    sql_name,
)

RANKS: tuple[IntegerName, ...] = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGER_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": 38}
MOST_DIGITS = 38
NULL = Literal(None, Integer(0, 0, "INTEGER"))


class Mismatch(Exception):
    """Two types that have nothing in common. str(): what to tell the user."""


def integer_literal(value: int) -> Literal:
    """A whole number, of the smallest of INTEGER, BIGINT and HUGEINT that holds it."""
    for name in RANKS[2:]:
        low, high = bounds.INTEGER_RANGES[name]
        if low <= value <= high:
            return Literal(value, Integer(value, value, name))
    raise Mismatch("a whole number of more than 128 bits")


def decimal_literal(digits: str) -> Literal:
    """A number with a decimal point, as written; its precision counts the digits written."""
    whole, _, fraction = digits.partition(".")
    value = int(whole + fraction or "0")
    precision = max(len(whole) + len(fraction), 1)
    if precision > MOST_DIGITS:
        raise Mismatch(f"a number of more than {MOST_DIGITS} digits")
    return Literal(value, Decimal(precision, len(fraction), value, value))


def text_literal(value: str) -> Literal:
    """A string."""
    return Literal(value, Varchar(len(value.encode())))


def date_literal(value: str) -> Literal:
    """A day written as YYYY-MM-DD."""
    days = moments.read_day(value)
    if days is None:
        raise Mismatch(f"{value!r} is not a date; write it as 'YYYY-MM-DD'")
    return Literal(days, Date(days, days))


def moment_literal(value: str) -> Literal:
    """A moment written as YYYY-MM-DD HH:MM:SS, or a day for its first moment."""
    moment = moments.read_moment(value)
    if moment is None:
        instead = "write it as 'YYYY-MM-DD HH:MM:SS', with at most six digits after the seconds and no time zone"
        raise Mismatch(f"{value!r} is not a timestamp; {instead}")
    return Literal(moment, Timestamp(moment, moment))


def common_type(a: Expr, b: Expr) -> Type:
    """The type that both sides of a comparison, or both branches of a CASE or UNION, are brought to."""
    if _is_null(a):
        return b.type
    if _is_null(b):
        return a.type
    match a.type, b.type:
        case Boolean(), Boolean():
            return Boolean()
        case Double(), (Integer() | Decimal() | Double()):
            return Double()
        case ((Integer() | Decimal()), Double()):
            return Double()
        case Integer() as left, Integer() as right:
            return Integer(*_ranges(left, right), integer_rank(a, b))
        case (Integer() | Decimal()) as left, (Integer() | Decimal()) as right:
            return _common_decimal(left, right)
        case Date() as left, Date() as right:
            return Date(*_ranges(left, right))
        case Date() as day, Varchar() if isinstance(b, Literal):
            return _with_literal_day(day, b)
        case Varchar(), Date() as day if isinstance(a, Literal):
            return _with_literal_day(day, a)
        case (Timestamp() | Date()) as left, (Timestamp() | Date()) as right:
            return Timestamp(*bounds.either(_moments(left), _moments(right)))
        case Timestamp() as moment, Varchar() if isinstance(b, Literal):
            return _with_literal_moment(moment, b)
        case Varchar(), Timestamp() as moment if isinstance(a, Literal):
            return _with_literal_moment(moment, a)
        case Varchar() as left, Varchar() as right:
            return _common_text(a, left, b, right)
        case _:
            raise Mismatch(f"{sql_name(a.type)} and {sql_name(b.type)} do not go together")


def integer_rank(a: Expr, b: Expr) -> IntegerName:
    """The wider of two integer types; a literal takes the other side's type where it fits."""
    assert isinstance(a.type, Integer) and isinstance(b.type, Integer)
    for literal, other in ((a, b.type), (b, a.type)):
        if isinstance(literal, Literal) and isinstance(literal.value, int):
            low, high = bounds.INTEGER_RANGES[other.sql]
            if low <= literal.value <= high:
                return other.sql
    return max(a.type.sql, b.type.sql, key=RANKS.index)


def coerce(expr: Expr, target: Type) -> Expr:
    """The same value under another type. The result's bounds are the value's own, not the target's."""
    if _is_null(expr):
        return Literal(None, target)
    match expr.type, target:
        case (Integer(), Integer(_, _, sql)):
            assert isinstance(expr.type, Integer)
            return expr if expr.type.sql == sql else _retyped(expr, Integer(expr.type.low, expr.type.high, sql), "cast")
        case ((Integer() | Decimal()), Decimal(precision, scale)):
            return _to_decimal(expr, precision, scale)
        case ((Integer() | Decimal()), Double()):
            return Call("cast", (expr,), Double(), expr.nullable)
        case (Varchar(), Date()) if isinstance(expr, Literal):
            return date_literal(str(expr.value))
        case (Varchar(), Timestamp()) if isinstance(expr, Literal):
            return moment_literal(str(expr.value))
        case (Date(), Timestamp()):
            return _retyped(expr, Timestamp(*_moments(expr.type)), "rescale")
        case (Varchar(), Varchar()):
            return expr if isinstance(expr, Literal) or expr.type == target else _retyped(expr, target, "cast")
        case _:
            return expr


def text_in(target: Type, expr: Expr) -> Expr:
    """The value, of which a constant string is as a column has it: by itself it is of no dictionary."""
    return replace(expr, type=target) if isinstance(expr, Literal) and isinstance(target, Varchar) else expr


def value_in(expr: Expr, other: Expr) -> Expr:
    """A value in the type of another expression, without a digit less. Raises Mismatch where it may not have room."""
    target = other.type
    if isinstance(expr.type, Integer | Decimal) and isinstance(target, Integer | Decimal):
        found = coerce(expr, target) if _scale(expr.type) <= _scale(target) else expr
        low, high = bounds.range_of(found.type)
        room = bounds.INTEGER_RANGES[target.sql] if isinstance(target, Integer) else _decimal_range(target)
        if _scale(found.type) == _scale(target) and room[0] <= low and high <= room[1]:
            return found
        raise Mismatch(f"a value of the type {sql_name(expr.type)} may not fit {sql_name(target)}")
    common = common_type(other, expr)
    if sql_name(common) != sql_name(target):
        raise Mismatch(f"{sql_name(expr.type)} and {sql_name(target)} do not go together")
    return coerce(expr, common)


def _scale(type_: Type) -> int:
    return type_.scale if isinstance(type_, Decimal) else 0


def _decimal_range(type_: Decimal) -> bounds.Range:
    most = 10**type_.precision - 1
    return -most, most


def as_decimal(type_: Integer | Decimal) -> tuple[int, int]:
    """Precision and scale of a number seen as a decimal."""
    return (type_.precision, type_.scale) if isinstance(type_, Decimal) else (INTEGER_DIGITS[type_.sql], 0)


def _is_null(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is None


def _ranges(a: Type, b: Type) -> bounds.Range:
    return bounds.either(bounds.range_of(a), bounds.range_of(b))


def _common_decimal(a: Integer | Decimal, b: Integer | Decimal) -> Decimal:
    (p1, s1), (p2, s2) = as_decimal(a), as_decimal(b)
    whole, scale = max(p1 - s1, p2 - s2), max(s1, s2)
    if whole + scale > MOST_DIGITS and isinstance(a, Decimal) and isinstance(b, Decimal):
        scale = MOST_DIGITS - whole  # DuckDB keeps the digits before the point, and rounds
    scaled = [bounds.rescale(bounds.range_of(t), scale - s) for t, s in ((a, s1), (b, s2))]
    return Decimal(min(whole + scale, MOST_DIGITS), scale, *bounds.either(*scaled))


def _to_decimal(expr: Expr, precision: int, scale: int) -> Expr:
    assert isinstance(expr.type, Integer | Decimal)
    if isinstance(expr.type, Decimal) and (expr.type.precision, expr.type.scale) == (precision, scale):
        return expr
    shift = scale - as_decimal(expr.type)[1]
    target = Decimal(precision, scale, *bounds.rescale(bounds.range_of(expr.type), shift))
    if shift < 0:
        return Call("cast", (expr,), target, expr.nullable)
    return _retyped(expr, target, "rescale" if shift else "cast")


def _retyped(expr: Expr, target: Type, op: str) -> Expr:
    if isinstance(expr, Literal):
        found = bounds.encoded_range(target)
        return Literal(expr.value if found is None else found[0], target)
    return Call("rescale" if op == "rescale" else "cast", (expr,), target, expr.nullable, expr.position)


def _with_literal_day(day: Date, text: Expr) -> Date:
    assert isinstance(text, Literal)
    return Date(*_ranges(day, date_literal(str(text.value)).type))


def _with_literal_moment(moment: Timestamp, text: Expr) -> Timestamp:
    assert isinstance(text, Literal)
    return Timestamp(*_ranges(moment, moment_literal(str(text.value)).type))


def _moments(type_: Type) -> bounds.Range:
    """The range of moments, or of the first moments of days."""
    found = bounds.range_of(type_)
    return found if isinstance(type_, Timestamp) else bounds.multiply(found, (moments.DAY, moments.DAY))


def _common_text(a: Expr, left: Varchar, b: Expr, right: Varchar) -> Varchar:
    """Both dictionaries merged if there are two; a literal keeps the other side's dictionary if it is in it."""
    if left.values is not None and right.values is not None:
        return left if left.values == right.values else Varchar(_longest(left, right), _merged(left, right))
    for literal, other in ((a, right), (b, left)):
        if isinstance(literal, Literal) and other.values is not None and literal.value in other.values:
            return other
    return Varchar(_longest(left, right))


def _merged(a: Varchar, b: Varchar) -> tuple[str, ...]:
    return tuple(sorted({*(a.values or ()), *(b.values or ())}, key=str.encode))


def _longest(*types: Varchar) -> int | None:
    lengths = [_length(each) for each in types]
    return None if None in lengths else max(length for length in lengths if length is not None)


def _length(type_: Varchar) -> int | None:
    if type_.values is not None:
        return max((len(value.encode()) for value in type_.values), default=0)
    return type_.max_length
