"""From months to days, as arithmetic on whole numbers: on which day a month of any year begins.

Source: Neri, Schneider, "Euclidean affine functions and their application to calendar algorithms" (2022).
"""

from __future__ import annotations

from datetime import date
from typing import Final

from tacit.plan.algebra import bounds, whole
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Boolean

MARCH: Final = 719_468
"""Days from the first of March of the year 0 to 1970-01-01."""
CYCLE: Final = 4800, 146_097
"""The months and days of 400 years, after which the calendar repeats."""

Number = Literal | Call
"""A computed number."""


def index_of(day: date) -> int:
    """The months from January of the year 0 to that of a day."""
    return day.year * 12 + day.month - 1


def first_day(months: int) -> int:
    """The day since 1970-01-01 with which a month begins, of any year. months: since January of the year 0."""
    years, month = divmod(months - 2, 12)
    return 365 * years + years // 4 - years // 100 + years // 400 + (153 * month + 2) // 5 - MARCH


def first_day_of(months: Expr) -> Call | Literal:
    """The same of a number of months that is not known."""
    low, _ = bounds.range_of(months.type)
    cycles = -(-max(2 - low, 0) // CYCLE[0])
    since_march = whole.plus(months, cycles * CYCLE[0] - 2)
    years, month = whole.divided(since_march, 12), whole.rest(since_march, 12)
    before = whole.divided(whole.times(years, 1461), 4)
    left_out = whole.divided(whole.plus(whole.times(whole.divided(years, 100), 3), 3), 4)
    in_year = whole.divided(whole.plus(whole.times(month, 153), 2), 5)
    return whole.plus(whole.added(whole.minus(before, left_out), in_year), -MARCH - cycles * CYCLE[1])


def least(a: Expr, b: Expr) -> Call:
    """The smaller number, NULL where both are."""
    return whole.either(Call("lt", (a, b), Boolean(), a.nullable or b.nullable), a, b)
