"""The elements of an owner's array: held against what is declared of them, and as integers with bits after the point.

Everything is exact, and computed on many elements at a time: an array may have millions, and need not fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy

PIECE = 1 << 20
"""Elements that are looked at together."""
WORD = 64

Values = numpy.ndarray[Any, Any]
Number = int | float | Fraction


@dataclass(frozen=True)
class Wrong:
    """An element, or a row, that is not as it is declared. at: its first index. problem: what is wrong with it."""

    at: int
    problem: str
    advice: str


def pieces(values: Values, width: int) -> Iterator[tuple[int, Values]]:
    """All elements in C order, as tables of whole rows of ``width``, each with the index of its first element.

    They are copies: what is checked is what is used, whatever happens to a file that elements are mapped from.
    """
    if not values.flags.c_contiguous and values.ndim:
        size = math.prod(values.shape[1:])
        step = max(1, PIECE // max(1, size))
        for first in range(0, len(values), step):
            yield first * size, numpy.array(values[first : first + step], order="C").reshape(-1, width)
        return
    flat, step = values.reshape(-1), max(1, PIECE // width) * width
    for first in range(0, flat.size, step):
        yield first, numpy.array(flat[first : first + step]).reshape(-1, width)


def out_of_bounds(piece: Values, low: Number, high: Number) -> Wrong | None:
    """The first element that is no number, or not within bounds. Bits have none."""
    if piece.dtype.kind == "b":
        return None
    if piece.dtype.kind == "f":
        real = piece.astype(numpy.float64)
        inside = (real >= _float_from(low)) & (real <= _float_to(high))
    else:
        whole = piece.astype(numpy.int64)
        inside = (whole >= math.ceil(low)) & (whole <= math.floor(high))
    if inside.all():
        return None
    at = int(numpy.argmin(inside.reshape(-1)))
    return _outside(at, piece.reshape(-1)[at].item(), low, high)


def _outside(at: int, value: Number, low: Number, high: Number) -> Wrong:
    if not math.isfinite(value):
        name = "NaN, which is no number" if math.isnan(value) else "infinite"
        return Wrong(at, f"is {name}", "correct it, or replace what is missing")
    word, entry, bound = ("below", "min", low) if value < low else ("above", "max", high)
    return Wrong(
        at, f"is {value!r}, {word} the declared {entry} {shown(bound)}", f"correct it, or declare another {entry}"
    )


def nearest(piece: Values, fraction: int) -> Values:
    """The nearest integers to the elements times 2^fraction, upwards from the middle between two.

    As float64, exactly, of numbers that are no integers; as int64 of those that are.
    """
    if piece.dtype.kind != "f":
        return piece.astype(numpy.int64)
    scaled = numpy.ldexp(piece.astype(numpy.float64), fraction)
    below = numpy.floor(scaled)
    # What is left is exact, or so near to 1 that rounding keeps it on its side of a half.
    return below + (scaled - below >= 0.5)


def words(integers: Values) -> tuple[Values, Values, Values]:
    """Signs and absolute values of integers: those of 128 bits by two words, the high one first."""
    sign = numpy.where(integers < 0, numpy.int64(-1), numpy.int64(1))
    if integers.dtype.kind == "i":
        low = numpy.where(integers < 0, ~integers.view(numpy.uint64) + numpy.uint64(1), integers.view(numpy.uint64))
        return sign, numpy.zeros(integers.shape, numpy.uint64), low
    size = numpy.abs(integers)
    high = numpy.floor(numpy.ldexp(size, -WORD))
    return sign, high.astype(numpy.uint64), (size - numpy.ldexp(high, WORD)).astype(numpy.uint64)


def too_long(integers: Values, most: int) -> int | None:
    """The first row of a table of integers whose squares add up to more than this. Near rows are added exactly."""
    real = integers.astype(numpy.float64)
    squares = numpy.einsum("ij,ij->i", real, real)
    rounding = (real.shape[1] + 8) * 2.0**-52
    for row in numpy.flatnonzero(squares * (1 + rounding) > _float_to(most)).tolist():
        if sum(int(each) ** 2 for each in integers[row]) > most:
            return int(row)
    return None


def shown(number: Number) -> str:
    """A declared number as its owner has written it: whole, or a floating-point number."""
    return str(math.floor(number)) if number == math.floor(number) else repr(float(number))


def _float_from(bound: Number) -> float:
    """The least floating-point number that is no less."""
    found = float(bound)
    return found if found >= bound else math.nextafter(found, math.inf)


def _float_to(bound: Number) -> float:
    """The largest floating-point number that is no more."""
    found = float(bound)
    return found if found <= bound else math.nextafter(found, -math.inf)
