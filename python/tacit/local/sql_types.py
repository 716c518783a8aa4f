"""tacit's types as DuckDB's, and values of them as DuckDB literals."""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra import moments
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Timestamp, Type, Varchar, sql_name

NO_COLUMNS = "present"
"""A column that stands in where rows are used but none of their columns, which SQL cannot write."""

PLAIN_INTEGERS = range(-(2**31) + 1, 2**31)
"""What DuckDB takes for INTEGER when it is written without a cast, the sign being an operator."""


def literal(value: int | bool | float | str | None, type_: Type) -> exp.Expr:
    """A constant. value: an encoded integer, a bool, a float, or a string; None is NULL."""
    if value is None:
        return cast(exp.Null(), type_)
    match type_:
        case Boolean():
            return exp.Boolean(this=bool(value))
        case Integer(_, _, "INTEGER") if isinstance(value, int) and value in PLAIN_INTEGERS:
            return exp.Literal.number(value)
        case Varchar():
            return exp.Literal.string(str(value))
        case Decimal(_, scale):
            return cast(exp.Literal.string(decimal_text(int(value), scale)), type_)
        case Date():
            return cast(exp.Literal.string(moments.day_text(int(value))), type_)
        case Timestamp():
            return cast(exp.Literal.string(moments.moment_text(int(value))), type_)
        case Integer() | Double():
            return cast(exp.Literal.string(repr(value)), type_)


def cast(value: exp.Expr, type_: Type) -> exp.Expr:
    """A value under another type."""
    return exp.Cast(this=value, to=exp.DataType.build(sql_name(type_), dialect="duckdb"))


def decimal_text(encoded: int, scale: int) -> str:
    """A decimal as people write it."""
    digits = str(abs(encoded)).rjust(scale + 1, "0")
    sign = "-" if encoded < 0 else ""
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def shown(encoded: int, type_: Type) -> str:
    """An encoded bound as people write it."""
    match type_:
        case Decimal(_, scale):
            return decimal_text(encoded, scale)
        case Date():
            return moments.day_text(encoded)
        case Timestamp():
            return moments.moment_text(encoded)
        case _:
            return str(encoded)
