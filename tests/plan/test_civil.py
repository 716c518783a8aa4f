"""Parts of days in whole numbers, as nodes compute them, against Python's calendar."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from itertools import product

import pytest

from tacit.plan.algebra import moments
from tacit.plan.algebra.civil import in_numbers
from tacit.plan.algebra.relations import Call, ColumnRef, FunctionName, Literal
from tacit.plan.algebra.types import Date, Integer, Timestamp, Type, Varchar

from .whole_numbers import value_of

NEAR = date(1967, 11, 30), date(1972, 3, 1)
"""Few months, which a day is compared with."""
FAR = date.min, date.max
PARTS: dict[str, Callable[[date], int]] = {
    "year": lambda day: day.year,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
    "quarter": lambda day: (day.month + 2) // 3,
    "decade": lambda day: day.year // 10,
    "doy": lambda day: day.timetuple().tm_yday,
    "dow": lambda day: day.isoweekday() % 7,
    "isodow": lambda day: day.isoweekday(),
    "week": lambda day: day.isocalendar().week,
    "isoyear": lambda day: day.isocalendar().year,
}
FIRST: dict[str, Callable[[date], date]] = {
    "year": lambda day: day.replace(month=1, day=1),
    "month": lambda day: day.replace(day=1),
    "week": lambda day: day - timedelta(days=day.weekday()),
    "day": lambda day: day,
}
MOMENTS = (
    datetime(1967, 11, 30, 0, 0, 0, 5), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1971, 2, 3, 4, 5, 6, 7),
)  # fmt: skip
BOUND: dict[str, tuple[int, int]] = {
    "year": (1, 9999), "month": (1, 12), "day": (1, 31), "quarter": (1, 4), "decade": (0, 999), "doy": (1, 366),
    "dow": (0, 6), "isodow": (1, 7), "week": (1, 53), "isoyear": (0, 10_000),
}  # fmt: skip


def encoded(day: date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - moments.EPOCH


def days_of(first: date, last: date) -> list[date]:
    """All days of few years; of many, those around the ends of months, and some others."""
    count = (last - first).days
    each = range(count + 1) if count < 5000 else sorted({*range(0, count + 1, 99_991), count, *_borders(count)})
    return [first + timedelta(days=place) for place in each]


def _borders(count: int) -> list[int]:
    years = [1, 4, 100, 400, 1582, 1600, 1700, 1899, 1900, 1969, 1970, 1999, 2000, 2001, 2100, 2400, 9996, 9999]
    ends = [date(year, month, 1).toordinal() - 1 for year in years for month in range(1, 13)]
    return [place for end in ends for place in (end - 1, end) if 0 <= place <= count]


def function(op: FunctionName, unit: str, type_: Type, result: Type) -> Call:
    """The function of a column."""
    return Call(op, (Literal(unit, Varchar(9)), ColumnRef("x", type_, True)), result, True)


@pytest.mark.parametrize("unit", PARTS)
@pytest.mark.parametrize("ends", [NEAR, FAR], ids=["near", "far"])
def test_parts_of_days(unit: str, ends: tuple[date, date]) -> None:
    first, last = map(encoded, ends)
    found = in_numbers(function("date_part", unit, Date(first, last), Integer(*BOUND[unit], "BIGINT")))
    assert found is not None
    for day in days_of(*ends):
        if unit not in ("week", "isoyear") or day > date(1, 1, 7):
            assert value_of(found, {"x": encoded(day)}) == PARTS[unit](day), day
    assert value_of(found, {"x": None}) is None


@pytest.mark.parametrize("unit", FIRST)
@pytest.mark.parametrize("ends", [NEAR, FAR], ids=["near", "far"])
def test_first_days(unit: str, ends: tuple[date, date]) -> None:
    first, last = map(encoded, ends)
    result = Timestamp((first - 400) * moments.DAY, last * moments.DAY)
    found = in_numbers(function("date_trunc", unit, Date(first, last), result))
    assert found is not None
    for day in days_of(*ends)[7:]:
        assert value_of(found, {"x": encoded(day)}) == encoded(FIRST[unit](day)) * moments.DAY, day


@pytest.mark.parametrize(("unit", "most"), [("hour", 23), ("minute", 59), ("second", 59), ("microsecond", 59_999_999)])
def test_parts_of_moments(unit: str, most: int) -> None:
    type_ = Timestamp(encoded(NEAR[0]) * moments.DAY + 5, encoded(NEAR[1]) * moments.DAY)
    found = in_numbers(function("date_part", unit, type_, Integer(0, most, "BIGINT")))
    assert found is not None
    for moment in MOMENTS:
        since = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        expected = moment.second * 1_000_000 + moment.microsecond if unit == "microsecond" else getattr(moment, unit)
        assert value_of(found, {"x": since}) == expected, moment


SPANS = (1, -1, 12, -14, 25, 4801, -3)
"""Months that are added to days."""


def months_later(day: date, months: int) -> int:
    """The day as encoded, on the last day of a month that is too short. Beyond the years that Python knows, too."""
    years, month = divmod(day.month - 1 + months, 12)
    cycles = -((day.year + years) // 400)
    year = day.year + years + 400 * (cycles + 1)
    last = monthrange(year, month + 1)[1]
    return encoded(date(year, month + 1, min(day.day, last))) - 146_097 * (cycles + 1)


@pytest.mark.parametrize("months", SPANS)
@pytest.mark.parametrize("ends", [NEAR, FAR], ids=["near", "far"])
def test_days_months_later(months: int, ends: tuple[date, date]) -> None:
    first, last = map(encoded, ends)
    wide = Timestamp(-(1 << 60), 1 << 60)
    numbers = [Literal(each, Integer(each, each, "BIGINT")) for each in (months, 3, 7)]
    found = in_numbers(Call("plus_interval", (ColumnRef("x", Date(first, last), True), *numbers), wide, True))
    assert found is not None
    for day in days_of(*ends):
        expected = (months_later(day, months) + 3) * moments.DAY + 7
        assert value_of(found, {"x": encoded(day)}) == expected, day
    assert value_of(found, {"x": None}) is None


@pytest.mark.parametrize("months", SPANS)
def test_moments_months_later_keep_their_time(months: int) -> None:
    type_ = Timestamp(encoded(NEAR[0]) * moments.DAY + 5, encoded(NEAR[1]) * moments.DAY)
    numbers = [Literal(each, Integer(each, each, "BIGINT")) for each in (months, 0, -9)]
    wide = Timestamp(-(1 << 60), 1 << 60)
    found = in_numbers(Call("plus_interval", (ColumnRef("x", type_, False), *numbers), wide, False))
    assert found is not None
    for moment in MOMENTS:
        since = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        time = since % moments.DAY
        assert value_of(found, {"x": since}) == months_later(moment.date(), months) * moments.DAY + time - 9, moment


@pytest.mark.parametrize("ends", [NEAR, FAR], ids=["near", "far"])
def test_last_days_and_units_of_several_months(ends: tuple[date, date]) -> None:
    first, last = map(encoded, ends)
    column = ColumnRef("x", Date(first, last), True)
    ending = in_numbers(Call("last_day", (column,), Date(first, last + 31), True))
    result = Timestamp(-(1 << 60), 1 << 60)
    quarter, decade = (in_numbers(function("date_trunc", unit, column.type, result)) for unit in ("quarter", "decade"))
    assert ending is not None and quarter is not None and decade is not None
    for day in days_of(*ends):
        row = {"x": encoded(day)}
        assert value_of(ending, row) == encoded(day.replace(day=monthrange(day.year, day.month)[1])), day
        began = encoded(day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1))
        assert value_of(quarter, row) == began * moments.DAY, day
        if day.year >= 10:
            assert value_of(decade, row) == encoded(date(day.year // 10 * 10, 1, 1)) * moments.DAY, day


def test_weeks_between_days_are_whole_ones() -> None:
    near = Date(-30, 30)
    args = Literal("week", Varchar(4)), ColumnRef("x", near, False), ColumnRef("y", near, False)
    found = in_numbers(Call("date_diff", args, Integer(-9, 9, "BIGINT"), False))
    assert found is not None
    for start, end in product(range(-30, 31), repeat=2):
        assert value_of(found, {"x": start, "y": end}) == int((end - start) / 7)


def test_a_unit_that_is_not_known() -> None:
    far = Date(encoded(date.min), encoded(date.max))
    assert in_numbers(function("date_trunc", "century", far, Timestamp(*moments.MOMENTS))) is None
