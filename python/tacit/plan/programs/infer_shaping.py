"""What is known of the same elements in another shape."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from tacit.plan.programs import intervals, shapes
from tacit.plan.programs.dtypes import promoted
from tacit.plan.programs.facts import Array, norm1, norm2
from tacit.plan.programs.infer_along import bare
from tacit.plan.programs.infer_arithmetic import stretched
from tacit.plan.programs.operations import Broadcast, Concatenate, Reshape, Shaping, Slice, Take, Transpose


def shaped(operation: Shaping, args: tuple[Array, ...]) -> Array:
    """The facts of an operation that moves elements."""
    a = args[0]
    match operation:
        case Reshape(shape):
            return stretched(a, shape)
        case Transpose(axes):
            shape = tuple(a.shape[axis] for axis in axes)
            return replace(a if axes[-1:] == (len(axes) - 1,) else bare(a), shape=shape)
        case Broadcast(shape):
            return stretched(a, shapes.broadcast(a.shape, shape))
        case Slice(ranges):
            whole = not ranges or ranges[-1] == (0, a.shape[-1], 1)
            return replace(_rows(a, whole), shape=shapes.sliced(a.shape, operation))
        case Take(positions, axis):
            shape = (*a.shape[:axis], len(positions), *a.shape[axis + 1 :])
            distinct = len(set(positions)) == len(positions)
            return replace(a if axis < len(a.shape) - 1 else _rows(a, False, distinct), shape=shape)
        case Concatenate(axis):
            return _concatenated(args, axis)


def _rows(a: Array, whole: bool, part: bool = True) -> Array:
    """What is known of parts of rows."""
    if whole:
        return a
    found = bare(a)
    return replace(found, norm1=norm1(a), norm2=norm2(a)) if part else found


def _concatenated(args: tuple[Array, ...], axis: int) -> Array:
    low, high = intervals.hull(each.interval for each in args)
    found = replace(
        bare(args[0]),
        shape=shapes.concatenated([each.shape for each in args], axis),
        dtype=reduce(promoted, (each.dtype for each in args)),
        low=low,
        high=high,
        error=max(each.error for each in args),
        near=any(each.near for each in args),
    )
    join = sum if axis == len(found.shape) - 1 else max
    return replace(found, norm1=join(map(norm1, args)), norm2=join(map(norm2, args)))
