"""Between SQL values and their integer encodings (tacit.plan.algebra.types), as DuckDB projections over whole vectors.

Strings without a dictionary have no integer encoding: they pass as they are. NULL stays NULL both ways.
"""

from __future__ import annotations

from tacit.local.database import quoted, text
from tacit.local.sql_types import literal
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Timestamp, Type, Varchar, sql_name

EPOCH = "DATE '1970-01-01'"
BIGINT = range(-(2**63), 2**63)
WIDE = "DECIMAL(38,0)"
"""What integers of more than 64 bits are passed as: Arrow's decimal128(38, 0)."""
MOST_DIGITS = 38


def encoded(column: str, type_: Type) -> str:
    """The encoding of a column: BOOLEAN, an integer of at most 64 bits, or DECIMAL(38,0) if the bounds need more."""
    value = quoted(column)
    match type_:
        case Boolean():
            return value
        case Integer(low, high, sql):
            return value if sql != "HUGEINT" else f"CAST({value} AS {_container(low, high)})"
        case Decimal(precision, scale, low, high):
            return f"CAST({_unscaled(value, precision, scale, low, high)} AS {_container(low, high)})"
        case Date():
            return f"({value} - {EPOCH})"
        case Timestamp():
            return f"epoch_us({value})"
        case Varchar(_, values):
            return value if values is None else f"enum_code(CAST({value} AS ENUM({_listed(values)})))"
        case Double():
            raise TypeError(f"{column} is a DOUBLE, which has no encoding")


def decoded(column: str, type_: Type) -> str:
    """The inverse: a column of opened encodings (BIGINT, DECIMAL(38,0), BOOLEAN or VARCHAR) as its SQL type."""
    value = quoted(column)
    match type_:
        case Decimal(precision, scale):
            unit = literal(1, Decimal(MOST_DIGITS, scale, 1, 1)).sql(dialect="duckdb")
            return f"CAST(CAST({value} AS {WIDE}) * {unit} AS DECIMAL({precision},{scale}))"
        case Date():
            return f"({EPOCH} + CAST({value} AS INTEGER))"
        case Timestamp():
            return f"make_timestamp(CAST({value} AS BIGINT))"
        case Varchar(_, values) if values is not None:
            return f"list_extract([{_listed(values)}], CAST({value} AS BIGINT) + 1)"
        case Double():
            raise TypeError(f"{column} is a DOUBLE, which has no encoding")
        case _:
            return f"CAST({value} AS {sql_name(type_)})"


def _container(low: int, high: int) -> str:
    return "BIGINT" if low in BIGINT and high in BIGINT else WIDE


def _unscaled(value: str, precision: int, scale: int, low: int, high: int) -> str:
    """value * 10**scale without overflow. By the bounds there are often fewer digits than the precision allows."""
    if scale == 0:
        return value
    digits = max(scale, min(precision, max(len(str(abs(bound))) for bound in (low, high))))
    wide = digits + scale + 1  # as many digits as the product has: DuckDB does not always widen to 38 by itself
    if wide > MOST_DIGITS:
        return f"replace(CAST({value} AS VARCHAR), '.', '')"  # no product is wide enough; the digits are the encoding
    return f"CAST({value} AS DECIMAL({wide},{scale})) * CAST({10**scale} AS DECIMAL({scale + 1},0))"


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(text(value) for value in values)
