"""What is publicly known of an array: its shape, its format, and what its numbers may be.

An array's number x is held as an integer X of a ring with ``fraction`` bits after the point. All bounds are of the X
that are really there, so errors are in them. They are Python integers, rounded outwards, so that all parties agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod

from tacit.plan.programs.dtypes import Dtype

Shape = tuple[int, ...]
Interval = tuple[int, int]

RINGS = (64, 128)
SLACK = 2
"""Bits of a ring that numbers never use: they buy the exact wrap, the sign of a difference and the offset."""


@dataclass(frozen=True)
class Array:
    """The facts of one array.

    low, high: of X. error: a bound of abs(X - x 2^fraction), x being what real arithmetic gives from the true inputs.
    norm1, norm2: bounds of the sum of abs(X) and of X^2 along the last axis, where better ones are known than from low
    and high. row_sum: bounds of the sum of X along the last axis. one_hot: one 1 along the last axis, 0 elsewhere.
    near: a comparison of rounded numbers is behind it, which two numbers closer than their error may pass either way.
    exact: bounds of the x themselves, where they are known by more than those of X and the error.
    """

    shape: Shape
    dtype: Dtype
    low: int
    high: int
    fraction: int = 0
    ring: int = 64
    error: Fraction = Fraction(0)
    norm1: int | None = None
    norm2: int | None = None
    row_sum: Interval | None = None
    one_hot: bool = False
    near: bool = False
    exact: tuple[Fraction, Fraction] | None = None

    @property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    @property
    def columns(self) -> int:
        """The length of its last axis."""
        return self.shape[-1] if self.shape else 1

    @property
    def interval(self) -> Interval:
        """The bounds of X."""
        return self.low, self.high

    @property
    def largest(self) -> int:
        """A bound of abs(X)."""
        return max(-self.low, self.high, 0)

    @property
    def fits(self) -> bool:
        """Whether all X leave the slack of the ring free."""
        return self.largest < 1 << self.ring - SLACK

    @property
    def absolute_error(self) -> Fraction:
        """The error of x instead of X."""
        return self.error * unit(self.fraction)

    @property
    def real(self) -> tuple[Fraction, Fraction]:
        """The interval of the x that the X stand for."""
        low, high = (self.low - self.error) * unit(self.fraction), (self.high + self.error) * unit(self.fraction)
        return (low, high) if self.exact is None else (max(low, self.exact[0]), min(high, self.exact[1]))

    @property
    def farthest(self) -> Fraction:
        """How far X and x can be from each other by their intervals alone."""
        if self.exact is None:
            return self.high - self.low + self.error
        low, high = (each / unit(self.fraction) for each in self.real)
        return max(self.high - low, high - self.low)


def unit(fraction: int) -> Fraction:
    """What the last bit is worth."""
    return Fraction(1, 1 << fraction) if fraction >= 0 else Fraction(1 << -fraction)


def norm1(array: Array) -> int:
    """The best bound of the sum of abs(X) along the last axis."""
    bounds = [array.columns * array.largest]
    bounds += [] if array.norm1 is None else [array.norm1]
    bounds += [] if array.norm2 is None else [root_up(array.norm2 * array.columns)]
    bounds += [max(array.row_sum[1], 0)] if array.row_sum is not None and array.low >= 0 else []
    return min(bounds)


def norm2(array: Array) -> int:
    """The best bound of the sum of X^2 along the last axis."""
    bounds = [array.columns * array.largest**2, norm1(array) * array.largest]
    bounds += [] if array.norm2 is None else [array.norm2]
    return min(bounds)


def root_up(square: int) -> int:
    """The square root, rounded up."""
    return isqrt(square - 1) + 1 if square > 0 else 0
