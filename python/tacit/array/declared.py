"""What an owner declares of an array that a program may read, and the input that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy

from tacit.plan.programs.dtypes import Dtype, range_of, supported
from tacit.plan.programs.facts import Array
from tacit.plan.programs.refusals import ProgramError


@dataclass(frozen=True)
class Declared:
    """An array's public shape, NumPy type and bounds. row_norm: a bound of the Euclidean norms of its rows.

    Integers without min and max have the bounds of their type; other numbers need both.
    """

    shape: tuple[int, ...]
    dtype: Any = "float64"
    min: float | Fraction | None = None
    max: float | Fraction | None = None
    row_norm: float | Fraction | None = None

    def array(self, name: str, fraction: int) -> Array:
        """The facts of the input. fraction: bits after the point of numbers that are no integers."""
        dtype = supported(numpy.dtype(self.dtype).name)
        low, high = self._bounds(name, dtype)
        bits = fraction if dtype == "fixed" else 0
        scale = 1 << bits
        half = Fraction(1, 2)
        norm = None if self.row_norm is None else self._squares(Fraction(self.row_norm) * scale, bits)
        array = Array(
            tuple(self.shape),
            dtype,
            floor(low * scale + half),
            floor(high * scale + half),
            bits,
            error=half if bits else Fraction(0),
            norm2=norm,
        )
        return array if array.fits else self._wide(name, array)

    def _bounds(self, name: str, dtype: Dtype) -> tuple[Fraction, Fraction]:
        least, most = (None, None) if dtype == "fixed" else range_of(dtype)
        low = least if self.min is None else Fraction(self.min)
        high = most if self.max is None else Fraction(self.max)
        if low is None or high is None:
            raise ProgramError(f"the input {name} has no bounds; declare min and max for it.")
        if low > high:
            raise ProgramError(f"the input {name} has min {self.min} above max {self.max}; exchange them.")
        return Fraction(low), Fraction(high)

    def _squares(self, norm: Fraction, bits: int) -> int:
        """A bound of the sum of X^2 along a row: rounding moves each X by half."""
        columns = self.shape[-1] if self.shape else 1
        room = Fraction(columns, 2) if bits else Fraction(0)
        return ceil((norm + room) ** 2)

    def _wide(self, name: str, array: Array) -> Array:
        wide = Array(**{**vars(array), "ring": 128})
        if not wide.fits:
            raise ProgramError(f"the input {name} needs more than 126 bits by its bounds; declare tighter ones.")
        return wide
