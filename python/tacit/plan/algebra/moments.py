"""Days and moments: as people write them, and as they are encoded.

A day is encoded as days, a moment as microseconds, since 1970-01-01 00:00:00. There are no time zones. Both go from the
year 1 to the year 9999, which fits 59 bits.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import Final

EPOCH: Final = date(1970, 1, 1).toordinal()
DAY: Final = 86_400_000_000
"""Microseconds of a day."""

DAYS: Final = (date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH)
MOMENTS: Final = (DAYS[0] * DAY, (DAYS[1] + 1) * DAY - 1)
"""The first and the last that there are."""

SECOND: Final = 1_000_000
WRITTEN_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
WRITTEN_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6})0*)?)?")


def read_day(text: str) -> int | None:
    """A day written as YYYY-MM-DD; None if it is none."""
    try:
        return date.fromisoformat(text).toordinal() - EPOCH if WRITTEN_DAY.fullmatch(text) else None
    except ValueError:
        return None


def read_moment(text: str) -> int | None:
    """A moment written as YYYY-MM-DD HH:MM:SS.ffffff; None if it is none.

    Its time may be shorter or missing (midnight), and stand behind a T.
    """
    day = read_day(text[:10])
    time = WRITTEN_TIME.fullmatch(text[11:]) if text[10:11] in (" ", "T") and len(text) > 11 else None
    if day is None or (time is None and len(text) != 10):
        return None
    return day * DAY if time is None else day * DAY + _microseconds(time)


def day_text(encoded: int) -> str:
    """A day as YYYY-MM-DD."""
    return date.fromordinal(encoded + EPOCH).isoformat()


def moment_text(encoded: int) -> str:
    """A moment as YYYY-MM-DD HH:MM:SS, with as many digits of a second as it needs."""
    day, rest = divmod(encoded, DAY)
    seconds, micro = divmod(rest, SECOND)
    fraction = f".{micro:06}".rstrip("0") if micro else ""
    return f"{day_text(day)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def starts_month(day: int) -> bool:
    """Whether a day is the first of a month."""
    return date.fromordinal(day + EPOCH).day == 1


def month_around(day: int) -> tuple[int, int | None]:
    """The first day of a day's month, and that of the month after, if there is one."""
    today = date.fromordinal(day + EPOCH)
    first = today.replace(day=1).toordinal() - EPOCH
    following = first + monthrange(today.year, today.month)[1]
    return first, following if following <= DAYS[1] else None


def _microseconds(time: re.Match[str]) -> int:
    hours, minutes, seconds, fraction = time.groups(default="0")
    return (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * SECOND + int(fraction.ljust(6, "0"))
