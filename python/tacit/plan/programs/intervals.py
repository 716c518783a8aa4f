"""Exact arithmetic on intervals of integers, rounded outwards."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.plan.programs.facts import Interval


def add(a: Interval, b: Interval) -> Interval:
    """All a + b."""
    return a[0] + b[0], a[1] + b[1]


def subtract(a: Interval, b: Interval) -> Interval:
    """All a - b."""
    return a[0] - b[1], a[1] - b[0]


def multiply(a: Interval, b: Interval) -> Interval:
    """All a * b."""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def square(a: Interval) -> Interval:
    """All a * a."""
    largest = max(a[0] ** 2, a[1] ** 2)
    return (0 if a[0] <= 0 <= a[1] else min(a[0] ** 2, a[1] ** 2)), largest


def repeated(a: Interval, count: int) -> Interval:
    """The sums of ``count`` numbers."""
    return a[0] * count, a[1] * count


def up_to(a: Interval, count: int) -> Interval:
    """The sums of one to ``count`` numbers."""
    return min(a[0], a[0] * count), max(a[1], a[1] * count)


def absolute(a: Interval) -> Interval:
    """All abs(a)."""
    return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def hull(intervals: Iterable[Interval]) -> Interval:
    """All numbers of all intervals, and those between."""
    each = list(intervals)
    return min(low for low, _ in each), max(high for _, high in each)


def meet(a: Interval, b: Interval) -> Interval:
    """The numbers of both, of which there are some; the second where nothing is in both."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b


def shifted_down(a: Interval, bits: int, floor: bool) -> Interval:
    """All a / 2^bits rounded down, or also up where rounding is not exact."""
    return a[0] >> bits, (a[1] >> bits if floor else -(-a[1] >> bits))


def floor_divided(a: Interval, b: Interval) -> Interval:
    """All a // b for b of one sign."""
    corners = [x // y for x in a for y in b]
    return min(corners), max(corners)
