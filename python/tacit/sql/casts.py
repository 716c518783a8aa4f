"""CAST: only where the value stays the same, or where a single party computes it in clear (of DOUBLE, or to a day)."""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra import bounds, moments
from tacit.plan.algebra.expressions import is_rounding
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
from tacit.sql import strings
from tacit.sql.calls import known
from tacit.sql.coercion import MOST_DIGITS, RANKS, Mismatch, coerce
from tacit.sql.text import Text

_INTEGERS = {"TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INT": "INTEGER", "BIGINT": "BIGINT", "INT128": "HUGEINT"}


def cast(value: Expr, node: exp.Cast, text: Text) -> Expr:
    """The value under the type that a CAST names. Raises a refusal where the cast could change the value."""
    target = _target(node, text)
    match value.type, target:
        case Boolean(), Integer(_, _, sql):
            return Call("cast", (value,), Integer(0, 1, sql), value.nullable)
        case (Integer(), (Integer() | Decimal() | Double())) | (Decimal(), (Decimal() | Double())):
            changed = coerce(value, target)
            if not is_rounding(changed):
                return _fitting(changed, target)
        case Decimal(), Integer(_, _, sql):
            return _fitting(_rounded(value, sql), target)
        case Double(), (Integer() | Decimal()):
            return Call("cast", (value,), _beyond(target), value.nullable)
        case (_, Varchar()):
            return strings.as_text(value, text.position(node))
        case (Date(), Timestamp()):
            return coerce(value, target)
        case (Timestamp(), Date()):
            return _day(value)
        case (
            (Boolean(), Boolean())
            | (Date(), Date())
            | (Timestamp(), Timestamp())
            | (Varchar(), Varchar())
            | (Double(), Double())
        ):
            return value
        case _:
            pass
    instead = "cast to DOUBLE, to a wider whole number or to a DECIMAL with at least as many digits"
    raise text.unsupported(node, f"a CAST from {sql_name(value.type)} to {sql_name(target)}", instead)


def _rounded(value: Expr, sql: IntegerName) -> Expr:
    """A decimal as the nearest whole number; of two, as the one farther from zero."""
    assert isinstance(value.type, Decimal)
    if isinstance(value, Literal) and isinstance(value.value, int):
        unit = 10**value.type.scale
        nearest = (2 * abs(value.value) + unit) // (2 * unit)
        return known(nearest if value.value >= 0 else -nearest, Integer(0, 0, sql))
    low, high = bounds.rescale(bounds.range_of(value.type), -value.type.scale)
    return Call("cast", (value,), Integer(low, high, sql), value.nullable)


def _beyond(target: Integer | Decimal) -> Type:
    """A type whose bounds say that a DOUBLE may not fit it, so that DuckDB may refuse the value."""
    low, high = bounds.sql_range(target) or (0, 0)
    return bounds.with_range(target, (low - 1, high + 1))


def _day(value: Expr) -> Expr:
    """The day of a moment."""
    low, high = bounds.range_of(value.type)
    day = Date(low // moments.DAY, high // moments.DAY)
    return Literal(day.low, day) if isinstance(value, Literal) else Call("cast", (value,), day, value.nullable)


def _fitting(value: Expr, target: Type) -> Expr:
    """DuckDB refuses a value outside the target; declared bounds must exclude that."""
    allowed = bounds.sql_range(target)
    if allowed is None or value.type == Double():
        return value
    low, high = bounds.range_of(value.type)
    if allowed[0] <= low and high <= allowed[1]:
        return value
    raise Mismatch(
        f"by its bounds the value does not fit {sql_name(target)}; declare tighter min and max for its columns"
    )


def _decimal(node: exp.Cast, digits: list[str], text: Text) -> Type:
    """DECIMAL of a written precision and scale."""
    if not digits:
        return Decimal(18, 3, 0, 0)
    if len(digits) <= 2 and all(each.isdecimal() for each in digits):
        precision, scale = [*map(int, digits), 0][:2]
        if 1 <= precision <= MOST_DIGITS and scale <= precision:
            return Decimal(precision, scale, 0, 0)
    instead = f"write a precision from 1 to {MOST_DIGITS} and a scale not above it"
    raise text.invalid(node, f"there is no type DECIMAL({', '.join(digits)}); {instead}.")


def _target(node: exp.Cast, text: Text) -> Type:
    to = node.to
    name = to.this.value if isinstance(to.this, exp.DType) else str(to.this)
    if name in _INTEGERS:
        return Integer(0, 0, next(each for each in RANKS if each == _INTEGERS[name]))
    match name:
        case "DECIMAL":
            return _decimal(node, [each.sql("duckdb") for each in to.expressions], text)
        case "DOUBLE":
            return Double()
        case "BOOLEAN":
            return Boolean()
        case "DATE":
            return Date(0, 0)
        case "TIMESTAMP" | "TIMESTAMPNTZ":
            return Timestamp(0, 0)
        case "TIMESTAMPTZ" | "TIMESTAMPLTZ":
            raise text.unsupported(node, "a TIMESTAMP WITH TIME ZONE", "use TIMESTAMP, with all times in one zone")
        case "TEXT" | "VARCHAR":
            return Varchar(None)
        case _:
            raise text.unsupported(
                node,
                f"the type {to.sql('duckdb')}",
                "use BOOLEAN, INTEGER, BIGINT, DECIMAL, DATE, TIMESTAMP, VARCHAR or DOUBLE",
            )
