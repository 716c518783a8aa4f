"""Bounds of arrays that loops carry. Ranges grow with each step of a loop, so that each such array is held within one.

On NumPy's own arrays nothing is known before the run, and nothing is held.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy

import tacit.array.namespace as np
from tacit.array.private import PrivateArray
from tacit.plan.programs.refusals import ProgramError

INFINITE = float("inf")

LEAST = 2.0**-14
"""The least variance that is told from none."""

NARROW = 0.25
"""The least range: the variance of numbers that fill it is some hundred times the least one."""


def declared_range(x: Any) -> tuple[float, float]:
    """The least and the largest number that a private array may have by what is public of it."""
    if not isinstance(x, PrivateArray):
        return -INFINITE, INFINITE
    low, high = x.node.array.real
    return float(low), float(high)


def held(x: Any, like: Any) -> Any:
    """An array within the public range of another one, where algebra says that it is, and intervals do not."""
    if not isinstance(x, PrivateArray):
        return x
    return np.clip(x, *declared_range(like))


def bounded(x: Any, bound: float, check: bool) -> Any:
    """An array that a loop carries, within -bound and bound: cut off there, or checked to be there.

    check: the run reveals nothing where a number is beyond, and tells all parties that one bit. No step waits for the
    comparison, which a cut does.
    """
    return np.bound(x, bound, check=True) if check else np.clip(x, -bound, bound)


def least_spread(x: Any, share: float) -> float:
    """A share of the squared public range of an array: a variance below it cannot be told from none.

    Of NumPy's own arrays the smallest number above zero. Raises ProgramError for a range in which usual
    variances cannot be told from none.
    """
    low, high = declared_range(x)
    if low == -INFINITE:
        return float(numpy.finfo(float).tiny)
    if high - low < NARROW:
        raise ProgramError(
            f"numbers from {low:.6g} to {high:.6g} have too small a variance; multiply them by a public number, so "
            f"that they range over {NARROW} or more."
        )
    return max((high - low) ** 2 * share, LEAST)


def ratio(total: Any, count: Any, most: int) -> Any:
    """A sum divided by a private count, or by 1 where nothing is counted. most: a bound of the count.

    Both are divided by one power of two before, which is free: quotients by large numbers have more digits, which cost.
    """
    unit = 2.0 ** -ceil(log2(max(most, 2)))
    return (total * unit) / (np.maximum(count, 1) * unit)
