"""What is known of sums, extremes and orders along an axis."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.programs import intervals
from tacit.plan.programs.dtypes import Dtype
from tacit.plan.programs.facts import Array, norm1
from tacit.plan.programs.refusals import OutOfDomain
from tacit.plan.programs.shapes import without


def bare(a: Array) -> Array:
    """What is known of an array without its rows."""
    return replace(a, norm1=None, norm2=None, row_sum=None, one_hot=False, exact=None)


def total(a: Array, axis: int) -> Array:
    """The sum along an axis."""
    count = a.shape[axis]
    interval = intervals.repeated(a.interval, count)
    if axis == len(a.shape) - 1:
        interval = intervals.meet(interval, (-norm1(a), norm1(a)))
        interval = interval if a.row_sum is None else intervals.meet(interval, a.row_sum)
    return replace(
        bare(a), shape=without(a.shape, axis), low=interval[0], high=interval[1], error=a.error * count, dtype=_sum(a)
    )


def _sum(a: Array) -> Dtype:
    if a.dtype in ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"):
        return "int64"
    return a.dtype


def cumulative(a: Array, axis: int) -> Array:
    """The sums of the first elements along an axis."""
    low, high = intervals.up_to(a.interval, max(a.shape[axis], 1))
    return replace(bare(a), low=low, high=high, error=a.error * a.shape[axis], dtype=_sum(a))


def extreme(a: Array, axis: int) -> Array:
    """The largest or smallest along an axis."""
    _not_empty(a, axis)
    return replace(bare(a), shape=without(a.shape, axis))


def place(a: Array, axis: int) -> Array:
    """A position along an axis."""
    _not_empty(a, axis)
    return Array(without(a.shape, axis), "int64", 0, a.shape[axis] - 1, near=a.near or a.error > 0)


def order(a: Array, axis: int) -> Array:
    """The positions that sort an axis."""
    return Array(a.shape, "int64", 0, max(a.shape[axis] - 1, 0), near=a.near or a.error > 0)


def _not_empty(a: Array, axis: int) -> None:
    if a.shape[axis] == 0:
        raise OutOfDomain("the largest and the smallest of no elements are not defined; give at least one.")
