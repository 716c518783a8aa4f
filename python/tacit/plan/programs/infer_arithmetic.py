"""What is known of sums, products, quotients and choices of elements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from tacit.plan.programs import intervals, shapes
from tacit.plan.programs.dtypes import promoted
from tacit.plan.programs.facts import Array, Interval, Shape, norm1, norm2, root_up, unit
from tacit.plan.programs.refusals import OutOfDomain

DIVISION_ERROR = Fraction(2)
"""Units in the last place, declared for the Newton steps that a quotient's number of bits asks for."""


def plain(a: Array, b: Array, interval: Interval, error: Fraction) -> Array:
    """The facts of an operation on two arrays of one format."""
    return Array(
        shapes.broadcast(a.shape, b.shape),
        promoted(a.dtype, b.dtype),
        *interval,
        fraction=a.fraction,
        ring=max(a.ring, b.ring),
        error=error,
        near=a.near or b.near,
    )


def stretched(array: Array, shape: Shape) -> Array:
    """An array repeated to a shape: what is known of its rows goes where they get longer."""
    if shape[-1:] == array.shape[-1:]:
        return replace(array, shape=shape)
    return replace(array, shape=shape, norm1=None, norm2=None, row_sum=None, one_hot=False)


def add(a: Array, b: Array) -> Array:
    """a + b."""
    found = plain(a, b, intervals.add(a.interval, b.interval), a.error + b.error)
    x, y = stretched(a, found.shape), stretched(b, found.shape)
    sums = None if x.row_sum is None or y.row_sum is None else intervals.add(x.row_sum, y.row_sum)
    return replace(_with_norms(found, x, y), row_sum=sums)


def subtract(a: Array, b: Array) -> Array:
    """a - b."""
    found = plain(a, b, intervals.subtract(a.interval, b.interval), a.error + b.error)
    x, y = stretched(a, found.shape), stretched(b, found.shape)
    sums = None if x.row_sum is None or y.row_sum is None else intervals.subtract(x.row_sum, y.row_sum)
    return replace(_with_norms(found, x, y), row_sum=sums)


def _with_norms(found: Array, x: Array, y: Array) -> Array:
    return replace(found, norm1=norm1(x) + norm1(y), norm2=(root_up(norm2(x)) + root_up(norm2(y))) ** 2)


def negate(a: Array) -> Array:
    """-a."""
    sums = None if a.row_sum is None else (-a.row_sum[1], -a.row_sum[0])
    return replace(a, low=-a.high, high=-a.low, row_sum=sums, one_hot=False, exact=None)


def multiply(a: Array, b: Array, same: bool) -> Array:
    """a * b, or a * a."""
    interval = intervals.square(a.interval) if same else intervals.multiply(a.interval, b.interval)
    found = plain(a, b, interval, product_error(a, b))
    found = replace(found, fraction=a.fraction + b.fraction)
    if "bool" in (a.dtype, b.dtype):
        found = replace(found, dtype=promoted(a.dtype, b.dtype))
    x, y = stretched(a, found.shape), stretched(b, found.shape)
    return replace(
        found,
        norm1=min(norm1(x) * b.largest, norm1(y) * a.largest, root_up(norm2(x) * norm2(y))),
        norm2=min(norm2(x) * b.largest**2, norm2(y) * a.largest**2),
    )


def product_error(a: Array, b: Array) -> Fraction:
    """The error of a product: X Y - x y = X (Y - y) + y (X - x), or with X and Y exchanged."""
    return min(
        a.largest * b.error + (b.largest + b.error) * a.error, b.largest * a.error + (a.largest + a.error) * b.error
    )


def divide(a: Array, b: Array, fraction: int) -> Array:
    """a / b for b of one sign."""
    divisor = smallest_size(b, "the divisor")
    if b.real[0] <= 0 <= b.real[1]:
        raise OutOfDomain("the divisor may be zero within its error; bound it away from zero with np.maximum.")
    size = (a.largest + a.error) * unit(a.fraction) / min(map(abs, b.real))
    moved = (a.absolute_error + size * b.absolute_error) / (divisor * unit(b.fraction))
    scale = Fraction(1) / unit(fraction)
    error = moved * scale + DIVISION_ERROR
    corners = [Fraction(x) * unit(a.fraction) / (y * unit(b.fraction)) * scale for x in a.interval for y in b.interval]
    low, high = floor(min(corners) - DIVISION_ERROR), ceil(max(corners) + DIVISION_ERROR)
    found = replace(plain(a, b, (low, high), error), dtype="fixed", fraction=fraction)
    if b.exact is None:
        return found
    reals = [x / y for x in a.real for y in b.real]
    return replace(found, exact=(min(reals), max(reals)))


def smallest_size(b: Array, what: str) -> Fraction:
    """The least abs(X) of an array of one sign, refused where zero is in its interval."""
    if b.low <= 0 <= b.high:
        raise OutOfDomain(
            f"{what} may be zero by its bounds; declare min above zero, write np.maximum(x, gap), or np.where for the "
            "rows where it is zero."
        )
    return Fraction(min(abs(b.low), abs(b.high)))


def floor_divide(a: Array, b: Array) -> Array:
    """a // b for b > 0: the integer below the quotient."""
    if b.low <= 0:
        raise OutOfDomain("the divisor of // and % must be above zero by its bounds; declare min=1 for it.")
    found = plain(a, b, intervals.floor_divided(a.interval, b.interval), Fraction(0))
    return replace(found, fraction=0, near=found.near or a.error > 0 or b.error > 0)


def maximum(a: Array, b: Array) -> Array:
    """The larger of two."""
    found = plain(a, b, (max(a.low, b.low), max(a.high, b.high)), max(a.error, b.error))
    return replace(found, exact=(max(a.real[0], b.real[0]), max(a.real[1], b.real[1])))


def minimum(a: Array, b: Array) -> Array:
    """The smaller of two."""
    found = plain(a, b, (min(a.low, b.low), min(a.high, b.high)), max(a.error, b.error))
    return replace(found, exact=(min(a.real[0], b.real[0]), min(a.real[1], b.real[1])))


def absolute(a: Array) -> Array:
    """abs(a)."""
    low, high = intervals.absolute(a.interval)
    return replace(a, low=low, high=high, row_sum=None, exact=None)


def compare(a: Array, b: Array) -> Array:
    """A bit for each pair of elements."""
    near = a.near or b.near or a.error + b.error > 0
    return Array(shapes.broadcast(a.shape, b.shape), "bool", 0, 1, near=near)


def logic(*bits: Array) -> Array:
    """Bits of bits."""
    shape = shapes.broadcast(*(each.shape for each in bits))
    return Array(shape, "bool", min(each.low for each in bits), 1, near=any(each.near for each in bits))


def select(c: Array, a: Array, b: Array) -> Array:
    """a where c is set, b elsewhere."""
    found = plain(a, b, intervals.hull([a.interval, b.interval]), max(a.error, b.error))
    shape = shapes.broadcast(c.shape, found.shape)
    x, y = stretched(a, shape), stretched(b, shape)
    return replace(found, shape=shape, near=found.near or c.near, norm1=norm1(x) + norm1(y), norm2=norm2(x) + norm2(y))


def matmul(a: Array, b: Array, columns1: int, columns2: int) -> Array:
    """a @ b. columns1, columns2: bounds of the sums of abs(Y) and Y^2 along the columns of b."""
    inner = a.columns
    largest = min(
        inner * a.largest * b.largest, norm1(a) * b.largest, a.largest * columns1, root_up(norm2(a) * columns2)
    )
    interval = intervals.meet(
        intervals.repeated(intervals.multiply(a.interval, b.interval), inner), (-largest, largest)
    )
    if a.row_sum is not None and a.low >= 0:
        interval = intervals.meet(interval, intervals.multiply(a.row_sum, b.interval))
    error = min(
        norm1(a) * b.error + inner * (b.largest + b.error) * a.error,
        columns1 * a.error + inner * (a.largest + a.error) * b.error,
    )
    if a.one_hot:
        error = b.error
    return Array(
        shapes.product_of(a.shape, b.shape),
        promoted(a.dtype, b.dtype),
        *interval,
        fraction=a.fraction + b.fraction,
        ring=max(a.ring, b.ring),
        error=error,
        near=a.near or b.near,
    )
