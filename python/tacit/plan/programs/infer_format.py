"""What is known of an array in another format: shifted, truncated, in another ring, or by facts of algebra."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from math import floor as floor_of

from tacit.plan.programs import intervals
from tacit.plan.programs.dtypes import Dtype, range_of
from tacit.plan.programs.facts import Array, Interval, norm1, norm2, root_up
from tacit.plan.programs.infer_along import bare
from tacit.plan.programs.operations import Known
from tacit.plan.programs.refusals import OutOfDomain, TooWide


def truncate(a: Array, bits: int, exact: bool) -> Array:
    """The last bits cut off."""
    low, high = intervals.shifted_down(a.interval, bits, exact)
    step, count = Fraction(1, 1 << bits), a.columns
    return replace(
        a,
        low=low,
        high=high,
        fraction=a.fraction - bits,
        error=a.error * step + 1,
        norm1=ceil(norm1(a) * step) + count,
        norm2=(ceil(root_up(norm2(a)) * step) + root_up(count)) ** 2,
        row_sum=None if a.row_sum is None else _around(a.row_sum, bits, count),
        one_hot=False,
    )


def coarser(a: Array, units: int) -> Array:
    """Numbers that may be wrong by more units of their last place."""
    count = a.columns
    return replace(
        a,
        low=a.low - units,
        high=a.high + units,
        error=a.error + units,
        norm1=norm1(a) + units * count,
        norm2=(root_up(norm2(a)) + units * root_up(count)) ** 2,
        row_sum=None if a.row_sum is None else (a.row_sum[0] - units * count, a.row_sum[1] + units * count),
    )


def _around(sums: Interval, bits: int, count: int) -> Interval:
    return (sums[0] >> bits) - count, (sums[1] >> bits) + 1 + count


def floor(a: Array, bits: int) -> Array:
    """The integers below. A rounded number just below an integer may be just above it without its error."""
    low, high = intervals.shifted_down(a.interval, bits, True)
    return replace(bare(a), low=low, high=high, fraction=0, error=Fraction(0), near=a.near or a.error > 0)


def shift(a: Array, bits: int) -> Array:
    """More bits after the point."""
    return replace(scaled_up(a, 1 << bits), fraction=a.fraction + bits)


def scaled_up(a: Array, factor: int) -> Array:
    """All X times a positive integer."""
    return replace(
        a,
        low=a.low * factor,
        high=a.high * factor,
        error=a.error * factor,
        norm1=norm1(a) * factor,
        norm2=norm2(a) * factor**2,
        row_sum=None if a.row_sum is None else intervals.repeated(a.row_sum, factor),
        one_hot=a.one_hot and factor == 1,
    )


def scale(a: Array, bits: int) -> Array:
    """The point moved: integers become numbers with bits after the point."""
    return replace(a, fraction=a.fraction + bits, dtype="fixed", one_hot=False, exact=None)


def cast(a: Array, dtype: Dtype) -> Array:
    """Integers of another type, refused where NumPy's would wrap around."""
    low, high = range_of(dtype)
    if a.low < low or a.high > high:
        raise OutOfDomain(
            f"{dtype} holds numbers from {low} to {high}, and the array may have {a.low} to {a.high}; bound it with "
            "np.clip, or take a wider type."
        )
    return replace(a, dtype=dtype)


def narrow(a: Array) -> Array:
    """In the ring of 64 bits."""
    found = replace(a, ring=64)
    if not found.fits:
        raise TooWide("the array", a.low, a.high, a.fraction)
    return found


def known(a: Array, fact: Known) -> Array:
    """Facts that algebra proves, met with those known."""
    low, high = intervals.meet((fact.low, fact.high), a.interval)
    return replace(
        a,
        low=low,
        high=high,
        row_sum=fact.row_sum or a.row_sum,
        one_hot=fact.one_hot or a.one_hot,
        error=a.error if fact.error is None else fact.error,
        exact=_exact(a, fact),
        near=a.near if fact.near is None else fact.near,
        norm2=a.norm2 if fact.norm2 is None else min(fact.norm2, norm2(a)),
    )


def _exact(a: Array, fact: Known) -> tuple[Fraction, Fraction] | None:
    """Bounds of what real arithmetic gives. A fact with an error of its own may be of other real numbers."""
    if fact.error is not None:
        return fact.exact
    if fact.exact is None:
        return a.exact
    return max(fact.exact[0], a.real[0]), min(fact.exact[1], a.real[1])


def check(a: Array, low: int, high: int) -> Array:
    """Bounds that the run checks."""
    found = intervals.meet((low, high), a.interval)
    return replace(a, low=found[0], high=found[1])


def within(a: Array, real: tuple[Fraction, Fraction]) -> Interval:
    """The X of numbers that real arithmetic has within bounds: those, and their error."""
    scale = Fraction(2) ** a.fraction
    return floor_of(real[0] * scale - a.error), ceil(real[1] * scale + a.error)
