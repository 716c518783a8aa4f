"""Which types a Parquet column may be stored in, where one is declared, and how its values become exactly of that."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.local.database import quoted
from tacit.local.errors import DataError
from tacit.local.rounded import Rounded, rounded
from tacit.local.sql_types import shown
from tacit.plan.algebra.types import Decimal, Field, Integer, Timestamp, Type, Varchar, sql_name

INTEGER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|HUGEINT")
DECIMAL = re.compile(r"DECIMAL\(\d+,(\d+)\)")
MOMENT = re.compile(r"TIMESTAMP(_S|_MS|_NS)?")
ZONED = "TIMESTAMP WITH TIME ZONE"
FLOATING = ("FLOAT", "DOUBLE")
NOTHING = '"NULL"'
"""DuckDB's type of a column without a value."""

WHOLE = 2**53
"""DOUBLEs up to here have one whole number each."""

SIGNED = {"UTINYINT": "SMALLINT", "USMALLINT": "INTEGER", "UINTEGER": "BIGINT", "UBIGINT": "HUGEINT"}
DOUBLE = 'type = "DOUBLE" with scale, min and max'


@dataclass(frozen=True)
class Reading:
    """How a stored column is read. value: its expression in the declared type.

    wrong: the condition of a value that is none of that type, with its problem and advice; None if there can be none.
    compared: whether the stored values may be compared with declared bounds, as statistics of the file are.
    """

    value: str
    wrong: str | None = None
    problem: str = ""
    advice: str = ""
    compared: bool = True


def reading(path: str, name: str, stored: str, read: Type | Rounded, field: Field) -> Reading:
    """How a column of a stored type is read as a declared one. Raises DataError if its values are not of that."""
    value, declared = quoted(name), sql_name(field.type)
    cast = f"CAST({value} AS {declared})"
    if stored == declared:
        return Reading(value)
    if isinstance(read, Rounded) and stored in FLOATING:
        return _rounded(value, read)
    if isinstance(read, Integer) and stored in FLOATING:
        return _whole(value, cast, stored, declared)
    if isinstance(read, Timestamp) and stored == "TIMESTAMP_NS":
        return _microseconds(value, cast)
    if not _exact(stored, field):
        raise _other_type(path, stored, read, field)
    return Reading(cast, compared=not isinstance(read, Timestamp))


def _rounded(value: str, to: Rounded) -> Reading:
    """What is not a number, or would not be one of the declared digits."""
    low, high = shown(to.type.low, to.type), shown(to.type.high, to.type)
    problem = f"is not a number between the declared min {low} and max {high}"
    wrong = f"{value} IS NOT NULL AND {rounded(value, to, 'TRY_')} IS NULL"
    advice = "correct the value, or declare another min or max in the offer"
    return Reading(rounded(value, to), wrong, problem, advice, compared=False)


def _whole(value: str, cast: str, stored: str, declared: str) -> Reading:
    """Whole numbers may be stored as DOUBLE, as pandas stores those of a column with a NULL."""
    wrong = f"{value} <> trunc({value}) OR abs({value}) > {WHOLE} OR isnan({value})"
    problem = f"is not a whole number up to 2^53, stored as {stored} where {declared} is declared"
    return Reading(cast, wrong, problem, f"round it, or declare {DOUBLE} in the offer")


def _microseconds(value: str, cast: str) -> Reading:
    wrong = f"epoch_ns({value}) % 1000 <> 0"
    problem = "is not a whole number of microseconds, which a TIMESTAMP counts"
    return Reading(cast, wrong, problem, "round the column to microseconds before it is stored", compared=False)


def _exact(stored: str, field: Field) -> bool:
    """Every stored value within the declared bounds is a value of the declared type."""
    if stored == NOTHING:
        return field.nullable
    match field.type:
        case Integer():
            return INTEGER.fullmatch(stored) is not None
        case Decimal(_, scale):
            found = DECIMAL.fullmatch(stored)
            return INTEGER.fullmatch(stored) is not None or (found is not None and int(found[1]) <= scale)
        case Timestamp():
            return stored in ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS")
        case Varchar():
            return stored.startswith("ENUM(")
        case _:
            return False


def _other_type(path: str, stored: str, read: Type | Rounded, field: Field) -> DataError:
    """What to do with a column of a type that has other values than the declared one."""
    declared = f"DOUBLE with scale {read.type.scale}" if isinstance(read, Rounded) else sql_name(field.type)
    problem = f"the file has {stored} where {declared} is declared"
    advice = f"store it as {'DOUBLE' if isinstance(read, Rounded) else declared}"
    if stored == NOTHING:
        problem, advice = "all values are missing", "fill them in, or declare the column nullable = true in the offer"
    elif stored == ZONED:
        advice += ", without a time zone and all times in one, as x AT TIME ZONE 'UTC' makes it in DuckDB"
    elif (real := _declarable(stored)) is not None:
        advice += f", or declare {real} in the offer"
    return DataError(path, problem, advice, column=field.name)


def _declarable(stored: str) -> str | None:
    """What an offer calls a stored type; None if it has no name for it."""
    if stored in FLOATING:
        return DOUBLE
    if MOMENT.fullmatch(stored):
        return 'type = "TIMESTAMP"'
    if INTEGER.fullmatch(stored) or DECIMAL.fullmatch(stored) or stored in ("BOOLEAN", "DATE", "VARCHAR"):
        return f'type = "{SIGNED.get(stored, stored)}"'
    return None
