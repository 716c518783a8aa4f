"""Parts of days and moments, and what is computed with INTERVALs, with DuckDB's types and exact bounds."""

from __future__ import annotations

from datetime import date, timedelta

from tacit.plan.algebra import bounds, moments
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Date, Double, Integer, Timestamp, Varchar, sql_name
from tacit.sql.arithmetic import binary
from tacit.sql.calls import call, number, word
from tacit.sql.coercion import Mismatch, coerce

FIXED: dict[str, bounds.Range] = {
    "quarter": (1, 4), "month": (1, 12), "day": (1, 31), "hour": (0, 23), "minute": (0, 59), "second": (0, 59),
    "millisecond": (0, 59_999), "microsecond": (0, 59_999_999), "dow": (0, 6), "isodow": (1, 7), "doy": (1, 366),
    "week": (1, 53),
}  # fmt: skip
"""Parts that are between the same numbers on any day."""

SYNONYMS = {
    "years": "year", "y": "year", "yr": "year", "months": "month", "mon": "month", "quarters": "quarter",
    "days": "day", "d": "day", "dayofmonth": "day", "hours": "hour", "h": "hour", "minutes": "minute", "min": "minute",
    "seconds": "second", "sec": "second", "s": "second", "milliseconds": "millisecond", "ms": "millisecond",
    "microseconds": "microsecond", "us": "microsecond", "dayofweek": "dow", "weekday": "dow", "dayofyear": "doy",
    "weeks": "week", "weekofyear": "week", "decades": "decade",
}  # fmt: skip

DAYS = ("Friday", "Monday", "Saturday", "Sunday", "Thursday", "Tuesday", "Wednesday")
MONTHS = (
    "April", "August", "December", "February", "January", "July", "June", "March", "May", "November", "October",
    "September",
)  # fmt: skip
MICROSECONDS = {
    "day": moments.DAY, "hour": 3600 * moments.SECOND, "minute": 60 * moments.SECOND, "second": moments.SECOND,
    "millisecond": 1000, "microsecond": 1,
}  # fmt: skip
"""Units that always have the same length."""

MONTHLY = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
"""The months of a unit."""


def named(unit: str) -> str:
    """A unit or part of a day by its one name."""
    return SYNONYMS.get(unit.lower(), unit.lower())


def part(unit: str, value: Expr, position: Position | None) -> Expr:
    """EXTRACT: a part of a day or moment."""
    name = named(unit)
    low, high = (_day(each) for each in _range(value, "EXTRACT"))
    if name == "epoch":
        return call("date_part", (word(name), value), Double(), position)
    if name in ("year", "isoyear", "decade"):
        years = {"year": (low.year, high.year), "isoyear": (low.year - 1, high.year + 1)}
        found = years.get(name, (low.year // 10, high.year // 10))
    elif name in FIXED:
        found = FIXED[name]
    else:
        known = ", ".join(["year", "isoyear", "decade", *FIXED, "epoch"])
        raise Mismatch(f"there is no part {unit!r} of a date here; the parts are {known}")
    return call("date_part", (word(name), value), Integer(*found, "BIGINT"), position)


def truncated(unit: str, value: Expr, position: Position | None) -> Expr:
    """DATE_TRUNC: the moment at which a unit of time begins."""
    name = named(unit)
    low, high = _moments(value, "DATE_TRUNC")
    if name in MONTHLY or name == "week":
        first = (_first_month(low, MONTHLY[name]), high) if name in MONTHLY else (low - 7 * moments.DAY, high)
    elif name in MICROSECONDS:
        size = MICROSECONDS[name]
        first = low // size * size, high // size * size
    else:
        raise Mismatch(f"DATE_TRUNC takes no unit {unit!r}; the units are {_units()}")
    return call("date_trunc", (word(name), value), Timestamp(*first), position)


def difference(unit: str, start: Expr, end: Expr, position: Position | None) -> Expr:
    """DATE_DIFF: how many borders of a unit of time are between two moments."""
    name = named(unit)
    if name == "day" and isinstance(start.type, Date) and isinstance(end.type, Date):
        return binary("sub", end, start, position)
    (a, b), (c, d) = _moments(start, "DATE_DIFF"), _moments(end, "DATE_DIFF")
    if name not in MONTHLY and name not in MICROSECONDS and name != "week":
        raise Mismatch(f"DATE_DIFF takes no unit {unit!r}; the units are {_units()}")
    size = MICROSECONDS.get(name, 7 * moments.DAY if name == "week" else 28 * MONTHLY.get(name, 1) * moments.DAY)
    found = -((b - c) // size) - 2, (d - a) // size + 2
    return call("date_diff", (word(name), start, end), Integer(*found, "BIGINT"), position)


def last_day(value: Expr, position: Position | None) -> Expr:
    """LAST_DAY: the last day of a day's month."""
    low, high = _moments(value, "LAST_DAY")
    return call("last_day", (value,), Date(low // moments.DAY, _last(high // moments.DAY)), position)


def day_name(value: Expr, position: Position | None) -> Expr:
    """DAYNAME."""
    _moments(value, "DAYNAME")
    return call("dayname", (value,), Varchar(9, DAYS), position)


def month_name(value: Expr, position: Position | None) -> Expr:
    """MONTHNAME."""
    _moments(value, "MONTHNAME")
    return call("monthname", (value,), Varchar(9, MONTHS), position)


def shifted(value: Expr, by: tuple[int, int, int], position: Position | None) -> Expr:
    """A day or moment plus an INTERVAL of months, days and microseconds: a TIMESTAMP.

    A day plus whole days is a sum, which nodes can compute.
    """
    months, days, rest = by
    low, high = _moments(value, "an INTERVAL")
    if isinstance(value.type, Date) and not isinstance(value, Literal) and not months and not rest:
        day = Date(value.type.low + days, value.type.high + days)
        return coerce(Call("add", (value, number(days)), day, value.nullable, position), Timestamp(0, 0))
    exact = days * moments.DAY + rest
    found = _plus_months(low, months) + exact, _plus_months(high, months) + exact
    args = (value, number(months), number(days), number(rest, "BIGINT"))
    return call("plus_interval", args, Timestamp(*found), position)


def _range(value: Expr, said: str) -> bounds.Range:
    """The first and the last day that a value can be on."""
    low, high = _moments(value, said)
    return low // moments.DAY, high // moments.DAY


def _moments(value: Expr, said: str) -> bounds.Range:
    """The range of a value as moments. NULL is on any day."""
    if isinstance(value, Literal) and value.value is None:
        return 0, 0
    if not isinstance(value.type, Date | Timestamp):
        raise Mismatch(f"{said} takes a DATE or a TIMESTAMP, not {sql_name(value.type)}")
    low, high = bounds.range_of(value.type)
    return (low * moments.DAY, high * moments.DAY) if isinstance(value.type, Date) else (low, high)


def _day(encoded: int) -> date:
    """A day; the nearest one where there is none."""
    return date.fromordinal(min(max(encoded, moments.DAYS[0]), moments.DAYS[1]) + moments.EPOCH)


def _last(day: int) -> int:
    following = moments.month_around(day)[1]
    return moments.DAYS[1] if following is None else following - 1


def _first_month(moment: int, size: int) -> int:
    """The moment at which a unit of several months, counted from the year 0, began."""
    day = _day(moment // moments.DAY)
    months = (day.year * 12 + day.month - 1) // size * size
    if months < 12:
        return moments.MOMENTS[0] - 1
    return (date(months // 12, months % 12 + 1, 1).toordinal() - moments.EPOCH) * moments.DAY


def _plus_months(moment: int, months: int) -> int:
    """A moment months later, on the last day of a month that is too short. Beyond all years it is estimated."""
    day, rest = divmod(moment, moments.DAY)
    today = _day(day)
    found = today.year * 12 + today.month - 1 + months
    if not 12 <= found < 120_000:
        return moment + months * 31 * moments.DAY
    first = date(found // 12, found % 12 + 1, 1)
    last = date.fromordinal(_last(first.toordinal() - moments.EPOCH) + moments.EPOCH).day
    new = first + timedelta(days=min(today.day, last) - 1)
    return (new.toordinal() - moments.EPOCH) * moments.DAY + rest


def _units() -> str:
    return ", ".join([*MONTHLY, "week", *MICROSECONDS])
