"""Types of columns as offers write them, with bounds; and single values of a type, as bounds and terms name them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal as Number
from decimal import InvalidOperation
from fractions import Fraction
from typing import Final

from tacit.agent.federation_section import Section, shown
from tacit.plan.algebra import moments
from tacit.plan.algebra.bounds import INTEGER_RANGES
from tacit.plan.algebra.types import Boolean, Date, Decimal, Integer, IntegerName, Timestamp, Type, Varchar

INTEGERS: Final[tuple[IntegerName, ...]] = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
TYPES = "BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, DECIMAL(p,s), DOUBLE, DATE, TIMESTAMP or VARCHAR"
MOST_DIGITS = 38
Ordered = Integer | Decimal | Date | Timestamp
WIDEST = 10**MOST_DIGITS - 1
"""The largest whole number that Arrow carries exactly, as decimal128(38, 0)."""


def read_type(column: Section) -> Type:
    """The type of a column's section."""
    written = column.text("type")
    name = " ".join(written.upper().split())
    for integer in INTEGERS:
        if name == integer:
            low, high = INTEGER_RANGES[integer]
            return Integer(*_range(column, (max(low, -WIDEST), min(high, WIDEST)), _WHOLE), integer)
    if name in OTHERS:
        return OTHERS[name](column)
    if found := DECIMAL.fullmatch(name):
        return _decimal(column, int(found[1]), int(found[2] or 0))
    raise column.error(f"type is {written!r}", f"write {TYPES}")


def is_rounded(column: Section) -> bool:
    """Whether a column's section declares floating-point numbers, which are rounded to decimals."""
    return column.text("type").strip().upper() == "DOUBLE"


def encoded_value(column: Section, key: str, value: object, type_: Ordered) -> int:
    """A value that an entry of a column's section names, encoded as bounds are. Raises FederationError."""
    bounds = _bounds_of(type_)
    encoded = bounds.encode(value)
    if encoded is None:
        raise column.error(f"{key} has {shown(value)}", f"write it {bounds.wanted}")
    if not type_.low <= encoded <= type_.high:
        raise column.error(f"{key} has {shown(value)}, which is outside the column's bounds", "leave it out")
    return encoded


def truth_value(column: Section, key: str, value: object) -> bool:
    """A value of a BOOLEAN column that an entry of its section names. Raises FederationError."""
    if not isinstance(value, bool):
        raise column.error(f"{key} has {shown(value)}", "write true or false")
    return value


def text_value(column: Section, key: str, value: object, type_: Varchar) -> str:
    """A string that a column can have and an entry of its section names. Raises FederationError."""
    if not isinstance(value, str) or "\0" in value:
        raise column.error(f"{key} has {shown(value)}", "write a text in quotes, without NUL characters")
    longest = type_.max_length
    if value not in (type_.values or (value,)) or (longest is not None and len(value.encode()) > longest):
        raise column.error(f"{key} has {shown(value)}, which the column cannot have", "correct it or leave it out")
    return value


def _bounds_of(type_: Ordered) -> _Bounds:
    match type_:
        case Integer():
            return _WHOLE
        case Date():
            return _DAY
        case Timestamp():
            return _MOMENT
        case Decimal(_, scale):
            return _decimals(scale)


def _boolean(_: Section) -> Type:
    return Boolean()


def _date(column: Section) -> Type:
    return Date(*_range(column, moments.DAYS, _DAY))


def _timestamp(column: Section) -> Type:
    return Timestamp(*_range(column, moments.MOMENTS, _MOMENT))


def _decimal(column: Section, precision: int, scale: int) -> Type:
    if not (1 <= precision <= MOST_DIGITS and scale <= precision):
        raise column.error(
            f"type is DECIMAL({precision},{scale})", "write a precision from 1 to 38 and a scale not above it"
        )
    most = 10**precision - 1
    return Decimal(precision, scale, *_range(column, (-most, most), _decimals(scale)))


def _double(column: Section) -> Type:
    """Decimals of the declared scale, with as many digits as the bounds have."""
    missing = [each for each in ("scale", "min", "max") if not column.has(each)]
    if missing:
        example = "scale = 4, min = -1000, max = 1000, and values are rounded to 4 digits after the point"
        raise column.error(f"type is DOUBLE without {' and '.join(missing)}", f"write all three, for example {example}")
    scale = column.count("scale", least=0)
    assert scale is not None
    if scale > MOST_DIGITS:
        raise column.error(f"scale is {scale}", f"write a whole number from 0 to {MOST_DIGITS}")
    low, high = _range(column, (-WIDEST, WIDEST), _decimals(scale))
    digits = max(len(str(abs(bound))) for bound in (low, high))
    return Decimal(max(digits, scale, 1), scale, low, high)


def _varchar(column: Section) -> Type:
    max_length = column.count("max_length", least=1)
    values = column.optional("values")
    column.not_both("values", "max_length", "keep values only")
    if values is None:
        return Varchar(max_length)
    listed = column.name_list("values", values)
    if not listed:
        raise column.error("values is empty", "list the strings that occur, or leave values out")
    if any("\0" in value for value in listed):
        raise column.error("values has a string with a NUL character", "leave NUL out of strings")
    longest = max(len(value.encode()) for value in listed)
    return Varchar(longest, tuple(sorted(listed, key=str.encode)))


@dataclass(frozen=True)
class _Bounds:
    """How bounds of a type are written. encode: a TOML value to its encoding, or None if it is no value of the type."""

    encode: Callable[[object], int | None]
    wanted: str


def _range(column: Section, widest: tuple[int, int], bounds: _Bounds) -> tuple[int, int]:
    """min and max in encoded form, within the type's own range, which they default to."""
    low, high = _bound(column, "min", widest[0], widest, bounds), _bound(column, "max", widest[1], widest, bounds)
    if low > high:
        raise column.error("min is above max", "exchange them")
    return low, high


def _bound(column: Section, key: str, default: int, widest: tuple[int, int], bounds: _Bounds) -> int:
    value = column.optional(key)
    if value is None:
        return default
    encoded = bounds.encode(value)
    if encoded is None:
        raise column.error(f"{key} is {shown(value)}", f"write it {bounds.wanted}")
    if not widest[0] <= encoded <= widest[1]:
        raise column.error(f"{key} is {shown(value)}, which the type cannot hold", "correct it or take a wider type")
    return encoded


def _decimals(scale: int) -> _Bounds:
    wanted = f"as a number with at most {scale} digits after the point, in quotes if it has any"
    return _Bounds(lambda value: _scaled(value, scale), wanted)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _day(value: object) -> int | None:
    return moments.read_day(str(value)) if type(value) is date or isinstance(value, str) else None


def _moment(value: object) -> int | None:
    """A moment in no time zone. A day stands for its first one."""
    return moments.read_moment(str(value)) if isinstance(value, date | datetime | str) else None


def _scaled(value: object, scale: int) -> int | None:
    """value * 10**scale if that is whole. A TOML float is taken as it is written."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Number(str(value))
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > 2 * MOST_DIGITS:
        return None
    encoded = Fraction(number) * 10**scale
    return encoded.numerator if encoded.denominator == 1 else None


_WHOLE = _Bounds(_whole, "as a whole number")
_DAY = _Bounds(_day, "as a date, for example 2024-12-31")
_MOMENT = _Bounds(_moment, "as a date and time without a time zone, for example 2024-12-31 23:59:59")

OTHERS: Final[dict[str, Callable[[Section], Type]]] = {
    "BOOLEAN": _boolean, "DATE": _date, "DOUBLE": _double, "TIMESTAMP": _timestamp, "VARCHAR": _varchar,
}  # fmt: skip
