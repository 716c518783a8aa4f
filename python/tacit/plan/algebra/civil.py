"""Parts of days and moments, and quotients, as arithmetic on whole numbers, which nodes can compute.

Where a value's bounds allow few months, years or decades, it is found among their first days. These comparisons are
made at once. Over more, a day becomes a year, month and day by quotients with constants. Years begin in March there.

Source: Neri, Schneider, "Euclidean affine functions and their application to calendar algorithms" (2022).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from tacit.plan.algebra import bounds, moments, whole
from tacit.plan.algebra.fractions import in_whole_numbers
from tacit.plan.algebra.months import MARCH, Number, first_day, first_day_of, index_of, least
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Boolean, Date, Timestamp

MOST_PIECES: Final = 128
"""The most months or years that a day is compared with. It takes some 25 gates for each, and quotients some 3,000."""

MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
"""The months of a unit."""

SIZES: Final = {
    "day": moments.DAY, "hour": 3600 * moments.SECOND, "minute": 60 * moments.SECOND, "second": moments.SECOND,
    "millisecond": 1000, "microsecond": 1,
}  # fmt: skip
"""The microseconds of a unit."""

TIMES: Final = {
    "hour": ("day", "hour"), "minute": ("hour", "minute"), "second": ("minute", "second"),
    "millisecond": ("minute", "millisecond"), "microsecond": ("minute", "microsecond"),
}  # fmt: skip
"""Parts of a time of the day: of what they are a part, and in what they are counted."""


@dataclass(frozen=True)
class _Days:
    """A day as a number: the days since ``zero``, which is a day since 1970-01-01."""

    number: Expr
    zero: int

    @property
    def first(self) -> int:
        """The first day that it can be."""
        return self.zero + bounds.range_of(self.number.type)[0]

    @property
    def last(self) -> int:
        """The last day that it can be."""
        return self.zero + bounds.range_of(self.number.type)[1]

    def since(self, day: int) -> Expr:
        """The days since another day."""
        return whole.plus(self.number, self.zero - day)


def in_numbers(expr: Expr) -> Expr | None:
    """What a function of days or moments, or a fraction, is in whole numbers; None for other expressions."""
    found = _written(expr) if isinstance(expr, Call) else None
    if found is None:
        return None
    return Literal(found.value, expr.type) if isinstance(found, Literal) else replace(found, type=expr.type)


def _written(call: Call) -> Literal | Call | None:
    match call:
        case Call("date_part", (Literal(str() as unit), value)) if _is_moment(value):
            return _part(unit, value)
        case Call("date_trunc", (Literal(str() as unit), value)) if _is_moment(value):
            return _truncated(unit, value)
        case Call("date_diff", (Literal(str() as unit), start, end)) if _is_moment(start) and _is_moment(end):
            return _between(unit, start, end)
        case Call("ratio", (a, b, Literal(int() as shift))):
            return replace(call, op="int_div", args=(whole.times(a, 1 << shift), b))
        case Call("rounded"):
            return in_whole_numbers(call)
        case Call("half", (days,), Timestamp()):
            return whole.times(days, moments.DAY // 2)
        case Call(
            "plus_interval", (value, Literal(int() as months), Literal(int() as days), Literal(int() as rest))
        ) if _is_moment(value):
            return _later(value, months, days * moments.DAY + rest)
        case Call("last_day", (value,)) if _is_moment(value):
            return _last_day(_days(value))
        case Call("cast", (value,), Date()) if isinstance(value.type, Timestamp):
            return _number(_days(value))
        case _:
            return None


def _part(unit: str, value: Expr) -> Number | None:
    if unit in TIMES:
        return _time(unit, value)
    part = PARTS.get(unit)
    return None if part is None else part(_days(value))


def _time(unit: str, value: Expr) -> Number:
    if isinstance(value.type, Date):
        return _where_known(value, whole.number(0))
    outer, inner = (SIZES[each] for each in TIMES[unit])
    return whole.divided(whole.rest(_since_midnight(value), outer), inner)


def _year(days: _Days) -> Number:
    return _piece(days, "year", lambda day: day.year) or _March(days).year()


def _month(days: _Days) -> Number:
    return _piece(days, "month", lambda day: day.month) or _March(days).month()


def _day(days: _Days) -> Number:
    first = _first(days, "month")
    return _March(days).day() if first is None else whole.plus(whole.minus(days.number, first), 1)


def _day_of_year(days: _Days) -> Number:
    first = _first(days, "year")
    return _March(days).day_of_year() if first is None else whole.plus(whole.minus(days.number, first), 1)


def _quarter(days: _Days) -> Number:
    found = _piece(days, "quarter", lambda day: (day.month + 2) // 3)
    return found or whole.divided(whole.plus(whole.within(_month(days), (1, 12)), 2), 3)


def _decade(days: _Days) -> Number:
    return _piece(days, "decade", lambda day: day.year // 10) or whole.divided(_year(days), 10)


def _weekday(days: _Days, of_monday: int = 0) -> Number:
    """The day of the week, counted from one as which Monday counts. 1970-01-01 was a Thursday."""
    return whole.rest(whole.plus(days.since(days.first), (days.first + 3 + of_monday) % 7), 7)


def _thursday(days: _Days) -> _Days:
    """The Thursday of a day's week, which decides to which year the week belongs."""
    return _Days(whole.plus(whole.minus(days.number, _weekday(days)), 3), days.zero)


def _week(days: _Days) -> Number:
    since = whole.within(whole.plus(_day_of_year(_thursday(days)), -1), (0, 365))
    return whole.plus(whole.divided(since, 7), 1)


PARTS: Final[dict[str, Callable[[_Days], Number]]] = {
    "year": _year, "month": _month, "day": _day, "quarter": _quarter, "decade": _decade, "doy": _day_of_year,
    "dow": lambda days: _weekday(days, 1),
    "isodow": lambda days: whole.plus(_weekday(days), 1),
    "week": _week,
    "isoyear": lambda days: _year(_thursday(days)),
}  # fmt: skip
"""Parts of a day."""


def _truncated(unit: str, value: Expr) -> Number | None:
    if unit != "week" and unit not in SIZES and unit not in MONTHS:
        return None
    if unit in SIZES and isinstance(value.type, Timestamp):
        return whole.minus(value, whole.rest(_since_midnight(value), SIZES[unit]))
    days = _days(value)
    day = _number(days) if unit in SIZES else _first_day(unit, days)
    return whole.times(day, moments.DAY)


def _first_day(unit: str, days: _Days) -> Number:
    """The day since 1970-01-01 with which a unit begins."""
    if unit == "week":
        return whole.plus(whole.minus(days.number, _weekday(days)), days.zero)
    first = _first(days, unit)
    if first is not None:
        return whole.plus(first, days.zero)
    if unit in ("month", "year"):
        within = _day(days) if unit == "month" else _day_of_year(days)
        return whole.plus(whole.minus(days.number, within), days.zero + 1)
    since = _month_index(days)
    return first_day_of(whole.minus(since, whole.rest(since, MONTHS[unit])))


def _last_day(days: _Days) -> Number:
    found = _piece(days, "month", lambda day: first_day(index_of(day) + 1) - 1)
    return found or whole.plus(first_day_of(whole.plus(_month_index(days), 1)), -1)


def _later(value: Expr, months: int, rest: int) -> Number:
    """A moment months later, on the last day of a month that is too short, and then microseconds later."""
    days = _days(value)
    day = _months_later(days, months) if months else _number(days)
    moment: Number = whole.times(day, moments.DAY)
    if isinstance(value.type, Timestamp):
        moment = whole.added(moment, whole.rest(_since_midnight(value), moments.DAY))
    return whole.plus(moment, rest)


def _months_later(days: _Days, months: int) -> Number:
    """The day of another month, or the last one of that."""
    first = _piece(days, "month", lambda day: first_day(index_of(day) + months))
    following = _piece(days, "month", lambda day: first_day(index_of(day) + months + 1))
    if first is None or following is None:
        index = _month_index(days)
        first, following = (first_day_of(whole.plus(index, each)) for each in (months, months + 1))
    day = whole.plus(whole.within(_day(days), (1, 31)), -1)
    return least(whole.added(first, day), whole.plus(following, -1))


def _month_index(days: _Days) -> Number:
    """The months since January of the year 0, of many years."""
    march = _March(days)
    found = whole.plus(whole.added(whole.times(march.year(), 12), march.month()), -1)
    return whole.within(found, (index_of(_day_of(days.first)), index_of(_day_of(days.last))))


def _between(unit: str, start: Expr, end: Expr) -> Number | None:
    if unit == "week":
        return whole.weeks(whole.minus(_number(_days(end)), _number(_days(start))))
    counts = [_units(unit, each) for each in (start, end)]
    return None if counts[0] is None or counts[1] is None else whole.minus(counts[1], counts[0])


def _units(unit: str, value: Expr) -> Number | None:
    """How many units began since a fixed moment."""
    if unit in MONTHS:
        return _months(unit, _days(value))
    if unit == "day":
        return _number(_days(value))
    if unit not in SIZES or not isinstance(value.type, Timestamp):
        return None
    midnight = bounds.range_of(value.type)[0] // moments.DAY * (moments.DAY // SIZES[unit])
    return whole.plus(whole.divided(_since_midnight(value), SIZES[unit]), midnight)


def _months(unit: str, days: _Days) -> Number:
    """The months, quarters, years or decades since the year 0."""
    found = PARTS[unit](days)
    return found if unit in ("year", "decade") else whole.added(whole.times(_year(days), 12 // MONTHS[unit]), found)


class _March:
    """Year, month and day, by quotients. Years begin in March, so that the day that may be missing is the last one."""

    def __init__(self, days: _Days) -> None:
        number = whole.plus(whole.times(days.since(-MARCH), 4), 3)
        self.century = whole.divided(number, 146_097)
        in_century = whole.divided(whole.rest(number, 146_097), 4)
        quarters = whole.plus(whole.times(in_century, 4), 3)
        self.of_century = whole.divided(quarters, 1461)
        self.day_in_year = whole.divided(whole.rest(quarters, 1461), 4)
        self.is_after = whole.at_least(self.day_in_year, 306)
        self.fifths = whole.plus(whole.times(self.day_in_year, 5), 461)

    def year(self) -> Number:
        """The year."""
        before = whole.added(whole.times(self.century, 100), self.of_century)
        return whole.added(before, whole.either(self.is_after, whole.number(1), whole.number(0)))

    def month(self) -> Number:
        """The month."""
        back = whole.either(self.is_after, whole.number(12), whole.number(0))
        return whole.minus(whole.divided(self.fifths, 153), back)

    def day(self) -> Number:
        """The day of the month."""
        return whole.plus(whole.divided(whole.rest(self.fifths, 153), 5), 1)

    def day_of_year(self) -> Number:
        """The day of the year. A year is one of 366 days if a fourth of it is whole, and that of its century, too."""
        whole_century = whole.rest(self.century, 4)
        is_leap = whole.either(
            whole.at_least(whole.rest(self.of_century, 4), 1),
            whole.number(0),
            whole.either(
                whole.at_least(self.of_century, 1),
                whole.number(1),
                whole.either(whole.at_least(whole_century, 1), whole.number(0), whole.number(1)),
            ),
        )
        since = whole.added(whole.plus(self.day_in_year, 60), is_leap)
        return whole.either(self.is_after, whole.plus(self.day_in_year, -305), since)


def _first(days: _Days, unit: str) -> Number | None:
    """The first day of a unit of months, counted as the day is."""
    return _piece(days, unit, lambda day: _encoded(day) - days.zero)


def _piece(days: _Days, unit: str, value: Callable[[date], int]) -> Number | None:
    """What is the same on all days of a unit of months, of its first day; None over too many of them."""
    starts = _starts(days.first, days.last, MONTHS[unit]) if unit in MONTHS else None
    if starts is None:
        return None
    found = _among(days.number, [(_encoded(day) - days.zero, value(day)) for day in starts])
    return _where_known(days.number, found)


def _starts(low: int, high: int, size: int) -> list[date] | None:
    """The first days of the units of months that have a day from low to high; None if there are too many."""
    first, last = _day_of(low), _day_of(high)
    months = [(each.year * 12 + each.month - 1) // size * size for each in (first, last)]
    if (months[1] - months[0]) // size >= MOST_PIECES or months[0] < 12:
        return None
    return [date(month // 12, month % 12 + 1, 1) for month in range(months[0], months[1] + 1, size)]


def _among(value: Expr, pieces: Sequence[tuple[int, int]]) -> Number:
    """The number of the last piece that begins at the value or before it."""
    if len(pieces) == 1:
        return whole.number(pieces[0][1])
    middle = len(pieces) // 2
    condition = whole.at_least(value, pieces[middle][0])
    return whole.either(condition, _among(value, pieces[middle:]), _among(value, pieces[:middle]))


def _where_known(value: Expr, found: Number) -> Number:
    """A number where the value is not NULL. A choice by a comparison with NULL would be a number there, too."""
    if not value.nullable:
        return found
    missing = Call("is_null", (value,), Boolean(), False)
    return Call("if", (missing, Literal(None, found.type), found), found.type, True)


def _days(value: Expr) -> _Days:
    if isinstance(value.type, Date):
        return _Days(value, 0)
    low, _ = bounds.range_of(value.type)
    return _Days(whole.divided(_since_midnight(value), moments.DAY), low // moments.DAY)


def _number(days: _Days) -> Number:
    """The day since 1970-01-01."""
    found = days.since(0)
    return found if isinstance(found, Call | Literal) else whole.same(found)


def _since_midnight(value: Expr) -> Expr:
    """The microseconds of a moment since the first midnight before its bounds."""
    low, _ = bounds.range_of(value.type)
    return whole.plus(value, -(low // moments.DAY * moments.DAY))


def _is_moment(value: Expr) -> bool:
    return isinstance(value.type, Date | Timestamp)


def _encoded(day: date) -> int:
    return day.toordinal() - moments.EPOCH


def _day_of(encoded: int) -> date:
    """A day; the nearest one where there is none."""
    return date.fromordinal(min(max(encoded, moments.DAYS[0]), moments.DAYS[1]) + moments.EPOCH)
