"""What is known of an owner's array from what its owner declares, before anything is computed of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from tacit.plan.programs.dtypes import Dtype, range_of, supported
from tacit.plan.programs.facts import Array, Shape
from tacit.plan.programs.refusals import ProgramError

HALF = Fraction(1, 2)

Bounds = tuple[Fraction | None, Fraction | None]
"""The least and the largest element; None where those of an integer type hold."""


def declared(name: str, shape: Shape, dtype: str, bounds: Bounds, row_norm: Fraction | None, fraction: int) -> Array:
    """The facts of an input.

    dtype: NumPy's name. row_norm: a bound of the Euclidean norms of its rows. fraction: bits after the point of numbers
    that are no integers.
    """
    found = supported(dtype)
    low, high = _bounds(name, found, bounds)
    bits = bits_after_point(found, fraction)
    scale = 1 << bits
    norm2 = None if row_norm is None else _squares(shape, row_norm * scale, bits)
    return encoded_input(name, shape, found, (floor(low * scale + HALF), floor(high * scale + HALF)), norm2, fraction)


def encoded_input(
    name: str, shape: Shape, dtype: Dtype, bounds: tuple[int, int], norm2: int | None, fraction: int
) -> Array:
    """The facts of an input whose integers are within bounds, in the smallest ring that they fit."""
    bits = bits_after_point(dtype, fraction)
    array = Array(shape, dtype, *bounds, bits, error=HALF if bits else Fraction(0), norm2=norm2)
    for found in (array, replace(array, ring=128)):
        if found.fits:
            return found
    raise ProgramError(f"the input {name} needs more than 126 bits by its bounds; declare tighter ones.")


def bits_after_point(dtype: Dtype, fraction: int) -> int:
    """Of the numbers of an input."""
    return fraction if dtype == "fixed" else 0


def _bounds(name: str, dtype: Dtype, bounds: Bounds) -> tuple[Fraction, Fraction]:
    least, most = (None, None) if dtype == "fixed" else range_of(dtype)
    low = least if bounds[0] is None else bounds[0]
    high = most if bounds[1] is None else bounds[1]
    if low is None or high is None:
        raise ProgramError(f"the input {name} has no bounds; declare min and max for it.")
    if low > high:
        raise ProgramError(f"the input {name} has min {float(low):g} above max {float(high):g}; exchange them.")
    return Fraction(low), Fraction(high)


def _squares(shape: Shape, norm: Fraction, bits: int) -> int:
    """A bound of the sum of X^2 along a row: rounding moves each X by half."""
    columns = shape[-1] if shape else 1
    room = Fraction(columns, 2) if bits else Fraction(0)
    return ceil((norm + room) ** 2)
