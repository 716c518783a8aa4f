"""What an owner declares of an array that a program may read, and the input that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy

from tacit.plan.programs.declared import declared
from tacit.plan.programs.facts import Array


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
        bounds = _exact(self.min), _exact(self.max)
        return declared(name, tuple(self.shape), numpy.dtype(self.dtype).name, bounds, _exact(self.row_norm), fraction)


def _exact(number: float | Fraction | None) -> Fraction | None:
    return None if number is None else Fraction(number)
