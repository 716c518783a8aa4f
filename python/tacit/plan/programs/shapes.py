"""Shapes of arrays, by NumPy's rules and with its words where they do not match."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.plan.programs.facts import Shape
from tacit.plan.programs.operations import Slice
from tacit.plan.programs.refusals import OutOfDomain

MOST_SHOWN = 8
"""Shapes that a refusal names."""


def broadcast(*shapes: Shape) -> Shape:
    """The common shape of several."""
    length = max(map(len, shapes))
    padded = [(1,) * (length - len(shape)) + shape for shape in shapes]
    return tuple(_common(sizes, shapes) for sizes in zip(*padded, strict=True))


def _common(sizes: Sequence[int], shapes: Sequence[Shape]) -> int:
    others = {size for size in sizes if size != 1}
    if len(others) > 1:
        shown = " ".join(map(str, shapes))
        raise OutOfDomain(f"operands could not be broadcast together with shapes {shown}; reshape one of them.")
    return others.pop() if others else 1


def axis_of(axis: int, shape: Shape) -> int:
    """An axis counted from the front."""
    if not -len(shape) <= axis < len(shape):
        raise OutOfDomain(f"axis {axis} is out of bounds for array of dimension {len(shape)}; it has no such axis.")
    return axis % len(shape)


def without(shape: Shape, axis: int) -> Shape:
    """A shape without one of its axes."""
    return shape[:axis] + shape[axis + 1 :]


def product_of(a: Shape, b: Shape) -> Shape:
    """The shape of a @ b."""
    if not a or not b:
        raise OutOfDomain("matmul takes no numbers without axes; write * for them.")
    rows, columns = a[:-1][-1:], b[-1:] if len(b) > 1 else ()
    inner = b[-2] if len(b) > 1 else b[0]
    if a[-1] != inner:
        raise OutOfDomain(f"matmul of shapes {a} and {b} needs the inner length {a[-1]} twice; transpose one of them.")
    return (*broadcast(a[:-2], b[:-2]), *rows, *columns)


def reshaped(shape: Shape, wanted: Sequence[int]) -> Shape:
    """A shape with its one -1 filled in."""
    count = 1
    for size in shape:
        count *= size
    known = 1
    for size in wanted:
        known *= size if size != -1 else 1
    filled = tuple(count // known if size == -1 and known else size for size in wanted)
    total = 1
    for size in filled:
        total *= size
    if total != count or list(wanted).count(-1) > 1:
        raise OutOfDomain(f"cannot reshape array of size {count} into shape {tuple(wanted)}; their sizes must agree.")
    return filled


def sliced(shape: Shape, cut: Slice) -> Shape:
    """The shape of a slice."""
    return tuple(len(range(*each)) for each in cut.ranges)


def concatenated(shapes: Sequence[Shape], axis: int) -> Shape:
    """The shape of arrays one behind the other."""
    if len({without(shape, axis) for shape in shapes}) > 1:
        shown = " ".join(map(str, dict.fromkeys(shapes[:MOST_SHOWN])))
        raise OutOfDomain(f"arrays of shapes {shown} cannot be concatenated along axis {axis}; reshape one of them.")
    return (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])
